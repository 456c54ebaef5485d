#!/bin/sh
# The program at the head of each public header compiles.
set -eu
src=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
for h in "$src"/sdk/include/tfsdk/*.h; do
  name=$(basename "$h" .h)
  # the first block of indented lines of the first comment
  awk '/\*\// { exit } /^ \*     / { on = 1; print substr($0, 8); next } on && !/^ \*$/ { exit }' "$h" >"$dir/body"
  [ -s "$dir/body" ] || continue
  {
    echo "#include <stdio.h>"
    for i in tfsdk unit device shape; do echo "#include <tfsdk/$i.h>"; done
    [ -e "$src/sdk/include/tfsdk/$name.h" ] && echo "#include <tfsdk/$name.h>"
    if [ "$name" = tfsdk ]; then
      echo "int main(void) {"
      cat "$dir/body"
      echo "return 0; }"
    else
      cat "$dir/body"
    fi
  } >"$dir/$name.c"
  cc -std=c11 -fsyntax-only -Wno-unused -I"$src/sdk/include" "$dir/$name.c" || { echo "the program at the head of $name.h does not compile"; exit 1; }
  n=$((n + 1))
done
echo "$n programs compiled"
[ "$n" -ge 6 ]
