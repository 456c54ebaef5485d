-- NUM-05: ties of argmax and of maxima, and NaN among them.
-- Know: numpy and ONNX (select_last_index = 0) fix the first occurrence; the subdifferential of a maximum is the
-- convex hull of the gradients that are active, so the parts are not negative and sum to 1. Which of those is ours
-- stands in docs/conventions.md.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local nan = 0 / 0

-- (A)
local function arg_ties(data, axis, want)
  t.both_modes({tf.tensor(data)}, function(x) return tf.argmax(x, axis), tf.argmin(-x, axis) end, function(r)
    t.exact(r.mode .. " argmax", r[1], want)
    t.exact(r.mode .. " argmin of the negation", r[2], want)
  end, {grads = false})
end
arg_ties({2, 3, 0, 3, 3}, 0, 1)
arg_ties({1, nan, 3, nan}, 0, 1) -- the first NaN, as numpy has it
arg_ties({3, 1, nan}, 0, 2)
arg_ties({{2, 3, 3}, {nan, 5, nan}, {7, 7, 7}}, 1, {1, 0, 0})
arg_ties({{2, nan, 7}, {3, 5, 7}, {3, nan, 7}}, 0, {1, 0, 0})
local sixteen = {}
for i = 1, 16 do sixteen[i] = 4 end
arg_ties(sixteen, 0, 0)
local zeros = tf.zeros({40, 900, 1}, {now = true})
t.both_modes({tf.random.normal({40, 900, 1}, {seed = 1, now = true})}, function(x)
  return tf.argmax(x, 2), tf.argmin(x, 2)
end, function(r)
  t.exact(r.mode .. " argmax over an axis of 1", r[1], zeros:reshape {40, 900}:cast "int64")
  t.exact(r.mode .. " argmin over an axis of 1", r[2], zeros:reshape {40, 900}:cast "int64")
end, {grads = false})
-- Long rows, cut into parts by threads: the two maxima lie far apart; every run says the same.
local long = tf.random.uniform({4, 100000}, {seed = 2, now = true}):table()
for i, row in ipairs(long) do row[10 * i], row[90000], row[100000] = 2, 2, 2 end
long = tf.tensor(long)
for _ = 1, 20 do t.exact("argmax of long rows", tf.argmax(long, 1), {9, 19, 29, 39}) end
for _, dtype in ipairs {"float64", "float16", "bfloat16", "int32", "int64", "uint8", "int8"} do
  t.exact("argmax of " .. dtype, tf.argmax(tf.tensor({2, 3, 0, 3, 3}, dtype), 0), 1)
end

-- (B) reduce_max and reduce_min: equal parts
for name, sign in pairs {max = 1, min = -1} do
  t.both_modes({tf.tensor {1, 2, 2, 2} * sign}, tf["reduce_" .. name], function(r)
    t.exact(r.mode .. " reduce_" .. name, r[1], 2 * sign)
    t.near(r.mode .. " reduce_" .. name .. " gradient", r.grads[1], {0, 1 / 3, 1 / 3, 1 / 3})
  end)
end
-- max pooling: the first in row order
t.both_modes({tf.tensor {{{{1}, {2}}, {{2}, {2}}}}}, function(x)
  return tf.nn.max_pool(x, 2, 1, "VALID")
end, function(r)
  t.exact(r.mode .. " max_pool", r[1], {{{{2}}}})
  t.exact(r.mode .. " max_pool gradient", r.grads[1], {{{{0}, {1}}, {{0}, {0}}}})
end)
-- maximum and minimum: all of it to the first argument
for name, fn in pairs {maximum = tf.maximum, minimum = tf.minimum} do
  t.both_modes({tf.tensor {1}, tf.tensor {1}}, fn, function(r)
    t.exact(r.mode .. " " .. name, r[1], {1})
    t.exact(r.mode .. " " .. name .. " gradient", {r.grads[1]:table()[1], r.grads[2]:table()[1]}, {1, 0})
  end)
end
t.both_modes({tf.tensor {0}}, tf.nn.relu, function(r) t.exact(r.mode .. " relu'(0)", r.grads[1], {0}) end)
t.both_modes({tf.tensor {0}}, tf.abs, function(r) t.exact(r.mode .. " abs'(0)", r.grads[1], {0}) end)
-- segment maxima split the gradient equally, too
t.both_modes({tf.tensor {2, 2, 1}, tf.tensor({0, 0, 0}, "int32")}, tf.segment_max, function(r)
  t.near(r.mode .. " segment_max gradient", r.grads[1], {0.5, 0.5, 0})
end)
-- clip_by_value at its bound lets the gradient through once
t.both_modes({tf.tensor {-1, 0, 1}}, function(x) return tf.clip_by_value(x, -1, 1) end, function(r)
  t.exact(r.mode .. " clip_by_value gradient", r.grads[1], {1, 1, 1})
end)
-- NaN is not hidden by a maximum
t.both_modes({tf.tensor {1, nan, 3}}, tf.reduce_max, function(r) t.exact(r.mode .. " reduce_max of NaN", r[1], nan) end)
t.done() -- expect: ok
