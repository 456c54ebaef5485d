#!/bin/sh
# The examples that are graphs print the same, to the last digit, with the passes that keep every bit and with none.
#   examples.sh PROGRAM SOURCE_DIR
set -eu
program=$1 source=$2
for script in digits; do
  with=$(DIGITS_EPOCHS=2 TFSDK_PASSES=-simplify "$program" run "$source/examples/$script.lua")
  without=$(DIGITS_EPOCHS=2 TFSDK_PASSES=none "$program" run "$source/examples/$script.lua")
  [ -n "$with" ] || { echo "$script.lua printed nothing"; exit 1; }
  [ "$with" = "$without" ] || { printf '%s.lua, passes -simplify:\n%s\nnone:\n%s\n' "$script" "$with" "$without"; exit 1; }
done
