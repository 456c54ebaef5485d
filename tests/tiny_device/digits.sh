#!/bin/sh
# digits.sh PROGRAM PLUGIN SCRIPT: the example learns on the pretend accelerator as it does on the CPU, which
# reaches 0.88 in three epochs.
out=$(DIGITS_EPOCHS=3 "$1" run --device tiny:0 --plugin "$2" "$3") || exit 1
echo "$out"
echo "$out" | grep -Eq '^test accuracy: 0\.(8[5-9]|9)'
