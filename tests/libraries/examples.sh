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
exit $failed
