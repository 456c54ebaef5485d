#!/bin/sh
# Arrows point to the SDK only: nothing outside core/ includes a header of core/, and no plugin one of another's.
set -u
cd "$1" || exit 2
bad=0
for f in $(find backends plugins frontends examples tests -name '*.[ch]' -o -name '*.cu'); do
  dir=$(dirname "$f")
  root=$(echo "$dir" | cut -d/ -f1-2)
  for h in $(sed -n 's/^#include "\(.*\)".*/\1/p' "$f"); do
    case $h in
    *core/*|internal.h) echo "$f includes $h of the core"; bad=1 ;;
    units.h) ;;
    *) [ -e "$dir/$h" ] || [ -e "$root/$h" ] || [ -e "tests/$h" ] || { echo "$f includes $h, which is not its own"; bad=1; } ;;
    esac
  done
done
for f in core/*.h; do
  b=$(basename "$f")
  grep -rln "#include \"$b\"" backends plugins frontends examples 2>/dev/null | while read -r g; do
    [ -e "$(dirname "$g")/$b" ] || [ -e "$(echo "$g" | cut -d/ -f1-2)/$b" ] || echo "$g includes $f"
  done | grep . && bad=1
done
exit $bad
