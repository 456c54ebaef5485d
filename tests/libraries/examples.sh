#!/bin/sh
# Runs the examples of the layer libraries on small settings and looks at what they reach: examples.sh PROGRAM FOLDER
set -u
program=$1
folder=$2
failed=0
# least NAME PATTERN LOWEST COMMAND...: the number behind PATTERN in the output is at least LOWEST
least() {
  name=$1
  pattern=$2
  lowest=$3
  shift 3
  out=$("$@" 2>&1) || { echo "$name failed:"; echo "$out" | tail -5; failed=1; return; }
  got=$(echo "$out" | sed -n "s/.*$pattern *\([0-9.]*\).*/\1/p" | tail -1)
  echo "$name: $got"
  [ -n "$got" ] && awk "BEGIN { exit !($got >= $lowest) }" || { echo "$name: $pattern is '$got', at least $lowest is wanted"; failed=1; }
}
least iris 'deep *accuracy' 0.95 "$program" run "$folder/skflow/iris.lua"
least custom_layer 'accuracy' 0.95 "$program" run "$folder/keras/custom_layer.lua"
least cifarnet_like 'accuracy' 0.90 "$program" run "$folder/slim/cifarnet_like.lua" 400
out=$("$program" run "$folder/nn/char_lm.lua" "" 100 2>&1) || { echo "char_lm failed:"; echo "$out" | tail -5; failed=1; }
first=$(echo "$out" | sed -n 's/^step *20: *\([0-9.]*\).*/\1/p')
last=$(echo "$out" | sed -n 's/^step *100: *\([0-9.]*\).*/\1/p')
echo "char_lm: $first, then $last nats a character"
awk "BEGIN { exit !($last > 0 && $last < 0.85 * $first) }" || { echo "char_lm does not learn"; failed=1; }
exit $failed
