#!/bin/sh
# The examples run as the README says, and reach what they promise.
set -eu
src=$1 tfsdk=$2/bin/tfsdk
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

accuracy() { # accuracy FILE LEAST: the last "test accuracy: x" is at least that
  awk -v least="$2" '/test accuracy:/ { a = $NF } END { if (a + 0 < least) { print "accuracy " a " is below " least; exit 1 } }' "$1"
}

"$tfsdk" run "$src/examples/digits.lua" >"$dir/digits1"
accuracy "$dir/digits1" 0.970
"$tfsdk" run "$src/examples/digits.lua" >"$dir/digits2"
cmp "$dir/digits1" "$dir/digits2" || { echo "a second run gives other figures"; exit 1; }

"$tfsdk" run "$src/examples/define_by_run.lua" 1250 >"$dir/run"
awk '/accuracy/ { a = $NF } END { if (a + 0 < 0.85) { print "define_by_run: accuracy " a; exit 1 } }' "$dir/run"

# MNIST itself is not part of the project: the 8x8 digits, enlarged to 28x28 and sorted by class, in its file format.
mkdir "$dir/idx"
cat >"$dir/make.lua" <<'END'
local tf = require "tfsdk"
local rows = tf.read_csv(arg[1]):table()
local function write(name, first, last)
  local part = table.move(rows, first, last, 1, {})
  table.sort(part, function(a, b) return a[65] < b[65] end)
  local pixels, labels = {}, {}
  for _, row in ipairs(part) do
    labels[#labels + 1] = string.char(math.tointeger(row[65]))
    for y = 0, 27 do
      for x = 0, 27 do
        pixels[#pixels + 1] = string.char(math.tointeger(row[(y * 8 // 28) * 8 + x * 8 // 28 + 1]) * 15)
      end
    end
  end
  local f = assert(io.open(arg[2] .. "/" .. name .. "-images-idx3-ubyte", "wb"))
  f:write(string.pack(">I4I4I4I4", 0x803, #part, 28, 28), table.concat(pixels)):close()
  f = assert(io.open(arg[2] .. "/" .. name .. "-labels-idx1-ubyte", "wb"))
  f:write(string.pack(">I4I4", 0x801, #part), table.concat(labels)):close()
end
write("train", 1, 1437)
write("t10k", 1438, 1797)
END
"$tfsdk" run "$dir/make.lua" "$src/examples/data/digits.csv.gz" "$dir/idx"
"$tfsdk" run "$src/examples/mnist.lua" "$dir/idx" 4 >"$dir/mnist"
accuracy "$dir/mnist" 0.90
"$tfsdk" run "$src/examples/mnist.lua" "$dir/nowhere" >"$dir/out" 2>&1 && { echo "a missing folder is no error"; exit 1; }
grep -q "nowhere" "$dir/out"

# the model of the README
awk '/^```lua/ { on = 1; next } /^```/ { on = 0 } on' "$src/README.md" >"$dir/readme.lua"
"$tfsdk" run "$dir/readme.lua" >"$dir/out"
grep -q '\[4x1 float32\]' "$dir/out"
awk '/^ / { a[++n] = $1 } END { exit !(a[1] == 0 && a[2] == 1 && a[3] == 1 && a[4] == 0) }' "$dir/out" || { cat "$dir/out"; exit 1; }
