#!/bin/sh
# tool.sh TFSDK DATA: `tfsdk ckpt` on the files of other programs: lists, compares, converts, and its exit codes.
set -u
tfsdk=$1 data=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
# run EXIT WORDS... -- ARGUMENTS: exit code, and patterns that must be in what it prints
run() {
  want=$1 words=
  shift
  while [ "$1" != -- ]; do words="$words
$1"; shift; done
  shift
  "$tfsdk" ckpt "$@" >"$dir/out" 2>&1
  rc=$?
  [ $rc = "$want" ] || { echo "ckpt $*: exit code $rc instead of $want"; cat "$dir/out"; bad=1; }
  printf '%s\n' "$words" | sed 1d | while read -r word; do
    grep -qE -- "$word" "$dir/out" || { echo "ckpt $*: '$word' is not in:"; cat "$dir/out"; exit 1; }
  done || bad=1
}
saver=$data/checkpoints/saver/model.ckpt-7
run 0 '^conv1/weights +float32 +\[3, 3, 2, 4\]$' '^strings +string +\[5\]$' '^22 tensors' -- ls "$saver"
run 0 '^model_weights/hidden/mlp/hidden/kernel +float32 +\[4, 5\]$' -- ls "$data/keras_files/mlp.h5"
run 0 '"maker": "tests"' -- show "$data/torch_files/varied.safetensors"
run 0 '^global_step$' '^\[scalar int64\]$' -- show "$data/checkpoints/rotation" global_step
run 0 '22 tensors are the same, 0 differ' -- diff "$saver" "$saver.index"
run 0 '22 tensors to .* \(checkpoint\)' -- convert "$saver" "$dir/copy"
run 0 '22 tensors are the same' -- diff "$saver" "$dir/copy"
run 0 'safetensors' -- convert "$data/arrays/stored.npz" "$dir/a.safetensors" w=weights steps=
run 1 '^- steps ' '^- w ' '^\+ weights ' '3 tensors are the same, 3 differ' -- diff "$data/arrays/stored.npz" "$dir/a.safetensors"
run 0 -- convert "$dir/a.safetensors" "$dir/a.npz"
run 0 '4 tensors are the same' -- diff "$dir/a.safetensors" "$dir/a.npz"
run 0 -- convert "$data/keras_files/mlp.keras" "$dir/mlp.safetensors"
run 0 '14 tensors are the same' -- diff "$data/keras_files/mlp.keras" "$dir/mlp.safetensors"
run 1 '^~ .* elements, by up to' -- diff "$data/checkpoints/objects/ckpt-1" "$data/checkpoints/objects/ckpt-2"
run 1 'string, which safetensors lacks' -- convert "$saver" "$dir/b.safetensors"
[ ! -e "$dir/b.safetensors" ] || { echo "half a file is there"; bad=1; }
run 1 'nowhere.*there is no checkpoint' -- ls "$dir/nowhere"
run 1 "'frobnicate'" -- show "$saver" frobnicate
run 1 'wrong checksum' -- diff "$data/damaged/checkpoint/data_flip/m" "$data/damaged/checkpoint/whole/m"
run 2 'usage' -- frobnicate
run 2 'usage' -- ls
exit $bad
