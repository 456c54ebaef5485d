#!/bin/sh
# The program: what it opens, what it says when a script is wrong, and its exit codes.
set -u
tfsdk=$1/bin/tfsdk
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
cd "$dir" || exit 2

# case NAME EXIT WORDS...: runs s.lua; every WORD (a pattern) must be in its output and errors
case_() {
  name=$1 want=$2
  shift 2
  timeout 60 "$tfsdk" run s.lua >out 2>&1 </dev/null
  rc=$?
  [ $rc = "$want" ] || { echo "$name: exit code $rc instead of $want"; cat out; bad=1; }
  for word in "$@"; do
    grep -qE -- "$word" out || { echo "$name: '$word' is not in:"; cat out; bad=1; }
  done
}

: >s.lua
case_ empty 0
LD_DEBUG=files LD_DEBUG_OUTPUT=trace "$tfsdk" run s.lua
grep -h 'tfsdk-1/plugins/.*\.so' trace.* && { echo "an empty script opens the plugins above"; bad=1; }

cat >s.lua <<'END'
local tf = require "tfsdk"
local a = tf.placeholder("float32", {8, 4})
local b = tf.placeholder("float32", {5, 3})

local c = tf.matmul(a, b, {name = "product"})
END
case_ "shape error" 1 's\.lua:5' MatMul product '\(8, 4\)' '\(5, 3\)'

cat >s.lua <<'END'
local tf = require "tfsdk"
local x = tf.placeholder("float32", {1, 8, 8, 3})
local w = tf.placeholder("float32", {3, 3, 3, 2})

tf.nn.conv2d(x, w, {strides = 1, paddign = "SAME"})
END
case_ "unknown option" 1 's\.lua:5' conv2d paddign padding

cat >s.lua <<'END'
local tf = require "tfsdk"
tf.read_npy("no/such/file.npy")
END
case_ "missing file" 1 's\.lua:2' 'no/such/file\.npy' 'No such file'

cat >s.lua <<'END'
local tf = require "tfsdk"
local function f(x) return 1 + f(tf.raw.Neg(x)) end

f(tf.tensor{1})
END
case_ "endless recursion" 1 's\.lua' 'stack overflow'

cat >s.lua <<'END'
local tf = require "tfsdk"
tf.enable_eager_execution()
print(pcall(tf.zeros, {1e6, 1e6, 1e6}))
print(tf.zeros({2}))
tf.zeros({1e6, 1e6, 1e6})
END
case_ "a shape that does not fit" 1 's\.lua:5' '1000000, 1000000, 1000000' '\[2 float32\]'

cat >s.lua <<'END'
local tf = require "tfsdk"
local x = tf.placeholder("float32", {2}, {name = "x"})
local y = tf.log(x)
local sess <close> = tf.Session()
print(pcall(sess.run, sess, y))
print(sess:run(y, {[x] = {1, 1}}))
END
case_ "an unfed placeholder, and the session goes on" 0 "'x'" 's\.lua:2' '0\.0 +0\.0'

cat >s.lua <<'END'
local tf = require "tfsdk"
tf.raw.MatMull(tf.tensor{{1}}, tf.tensor{{1}})
END
case_ "unknown op" 1 's\.lua:2' MatMull "MatMul"

printf 'local x = = 1\n' >s.lua
case_ "syntax error" 1 's\.lua:1'

for args in "frobnicate" "run" "run --no-such-option s.lua" "run --threads x s.lua"; do
  # shellcheck disable=SC2086
  "$tfsdk" $args >out 2>&1 </dev/null
  [ $? = 2 ] || { echo "tfsdk $args: exit code is not 2"; cat out; bad=1; }
done
: >s.lua
"$tfsdk" run --plugin "$dir/absent.so" s.lua >out 2>&1
[ $? = 3 ] && grep -q 'absent\.so' out || { echo "an absent plugin: not 3 and named"; cat out; bad=1; }
"$tfsdk" run --device warp:9 s.lua >out 2>&1
[ $? = 3 ] && grep -q 'warp:9' out && grep -q 'cpu:0' out || { echo "an absent device: not 3, named, with those that exist"; cat out; bad=1; }

echo 'while true do end' >s.lua
"$tfsdk" run s.lua >out 2>&1 &
pid=$!
sleep 1
kill -INT $pid
wait $pid
rc=$?
[ $rc = 130 ] || { echo "SIGINT: exit code $rc instead of 130"; bad=1; }
exit $bad
