-- NUM-12: conversion to float16 and bfloat16: nearest, ties to even; NaN stays NaN.
-- Know: IEEE 754, ties to even; checked against torch and numpy.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function bits(x) return tf.bitcast(tf.tensor(x, "int32"), "float32") end
local nan = 0 / 0

local function rounding(dtype, from, pairs_)
  local x, want = {}, {}
  for i, p in ipairs(pairs_) do x[i], want[i] = p[1], p[2] end
  local one = tf.tensor(x, from)
  local function check(label, got)
    t.exact(label, tf.cast(got, "float32"), want, true)
    t.check(label .. " type", got.dtype == dtype, got.dtype, dtype)
  end
  t.both_modes({one}, function(v) return tf.cast(v, dtype) end, function(r)
    check(("%s %s to %s"):format(r.mode, from, dtype), r[1])
  end, {grads = false})
  for _, i in ipairs {1, #x} do -- one element alone
    t.exact(from .. " to " .. dtype .. ", alone", tf.cast(tf.cast(tf.tensor(x[i], from), dtype), "float32"), want[i], true)
  end
  -- many elements: loops over whole vectors of the machine
  local many = tf.cast(tf.tile(tf.tensor(x, from), tf.tensor({1000}, "int32")), dtype)
  t.check(from .. " to " .. dtype .. ", many", many:bytes() == tf.cast(one, dtype):bytes():rep(1000))
  check("the constructor, " .. dtype, tf.tensor(x, dtype))
end
for _, from in ipairs {"float32", "float64"} do
  rounding("bfloat16", from, {{0.26914088, 0.26953125}, {1.00390625, 1.0}, {1.01171875, 1.015625}, {3.14, 3.140625},
    {3.4e38, math.huge}, {-3.4e38, -math.huge}, {nan, nan}, {-0.0, -0.0}, {math.huge, math.huge}})
  rounding("float16", from, {{65519, 65504}, {65520, math.huge}, {-65520, -math.huge}, {2049, 2048}, {2051, 2052},
    {6e-8, 2 ^ -24}, {2.9e-8, 0}, {nan, nan}, {-0.0, -0.0}})
end
-- A NaN whose payload sits in the low bits is none the less NaN, and no infinity.
for _, pattern in ipairs {0x7F800001, 0x7F80FFFF, 0x7FFFFFFF, -8388607} do -- -8388607 = 0xFF800001
  for _, dtype in ipairs {"bfloat16", "float16", "float64"} do
    t.exact(("NaN 0x%08X to %s"):format(pattern & 0xFFFFFFFF, dtype), tf.cast(tf.cast(bits(pattern), dtype), "float64"), nan)
    t.exact("many of them", tf.reduce_sum(tf.cast(tf.is_nan(tf.cast(tf.fill(tf.tensor({1000}, "int32"), bits(pattern)), dtype)), "int32")), 1000)
  end
end
-- Double rounding: 1 + 2^-8 + 2^-30 lies above the tie of bfloat16 (it is one in float32).
t.exact("float64 to bfloat16 rounds once", tf.cast(tf.cast(tf.tensor(1 + 2 ^ -8 + 2 ^ -30, "float64"), "bfloat16"), "float32"), 1.0078125)
t.exact("float64 to float16 rounds once", tf.cast(tf.cast(tf.tensor(1 + 2 ^ -11 + 2 ^ -40, "float64"), "float16"), "float32"), 1 + 2 ^ -10)
-- Arithmetic rounds its result the same way: 2048 + 1 and 2050 + 1 are ties.
t.both_modes({tf.tensor({2048, 2050}, "float16"), tf.tensor({1, 1}, "float16")}, function(a, b) return a + b end, function(r)
  t.exact(r.mode .. " float16 sums", tf.cast(r[1], "float32"), {2048, 2052})
end)
-- Whole numbers, too.
t.exact("int32 to float16", tf.cast(tf.cast(tf.tensor({2049, 2051, 65519, 65520}, "int32"), "float16"), "float32"), {2048, 2052, 65504, math.huge})
t.exact("int32 to bfloat16", tf.cast(tf.cast(tf.tensor({257, 259}, "int32"), "bfloat16"), "float32"), {256, 260})
t.done() -- expect: ok
