#!/bin/sh
# Each plugin exports one symbol, imports nothing of the core or of Lua, and binds at once.
set -u
bad=0
n=0
for so in "$1"/*.so; do
  n=$((n + 1))
  exported=$(nm -D --defined-only "$so" | awk '$2 ~ /[TDBRVWi]/ {print $3}' | grep -v '^_\(init\|fini\|edata\|end\|_bss_start\)$')
  [ "$exported" = tfsdk_plugin_query ] || { echo "$so exports:" $exported; bad=1; }
  nm -D --undefined-only "$so" | grep -E ' (tfsdk_|lua)' && { echo "$so imports the above"; bad=1; }
  readelf -d "$so" | grep -E 'NEEDED.*(libtfsdk|liblua)' && { echo "$so links the above"; bad=1; }
  readelf -d "$so" | grep -qE 'BIND_NOW|FLAGS.*NOW' || { echo "$so binds lazily"; bad=1; }
  readelf -d "$so" | grep -qE 'TEXTREL' && { echo "$so has text relocations"; bad=1; }
  readelf -d "$so" | grep -E '(RPATH|RUNPATH).*\[/' && { echo "$so has an absolute run path"; bad=1; }
done
[ "$n" -gt 0 ] || { echo "no plugins in $1"; exit 1; }
echo "$n plugins looked at"
exit $bad
