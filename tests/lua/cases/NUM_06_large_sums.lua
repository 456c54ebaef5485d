-- NUM-06: accuracy of large and of low-precision sums.
-- Know: exact rational arithmetic on the stored values (a float32 0.1 is 0.100000001490116); 60000 < 65504, so
-- float16 can hold it. A single float32 accumulator gives 1087937 for (b) and stops at 2^24 for (c).
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function filled(shape, value) return tf.fill(tf.tensor(shape, "int32"), tf.tensor(value)) end
local function in_both_modes(label, x, fn, check)
  check("define-by-run " .. label, fn(x))
  local graph <close> = tf.Graph():as_default()
  local node = tf.placeholder(x.dtype, x.shape)
  local sess <close> = tf.Session()
  check("graph " .. label, sess:run(fn(node), {[node] = x}, {raw = true}))
end
local function within(want, error)
  return function(label, got) t.near(label, got, want, 0, error) end
end
local a = filled({250, 250}, 1.23456)
in_both_modes("sum of 250 x 250", a, tf.reduce_sum, within(77160.0008, 0.01))
in_both_modes("sum by rows, then of them", a, function(x) return tf.reduce_sum(tf.reduce_sum(x, 0), 0) end, within(77160.0008, 0.01))
do
  local b = filled({10000000}, 0.1)
  in_both_modes("sum of 1e7 tenths", b, tf.reduce_sum, within(1000000.015, 1))
  in_both_modes("the same as columns", b, function(x) return tf.reduce_sum(tf.reshape(x, {5000000, 2}), 0) end,
    function(label, got) t.near(label, got, {500000.0075, 500000.0075}, 0, 0.5) end)
end
collectgarbage()
in_both_modes("2e7 ones", filled({20000000}, 1), tf.reduce_sum, function(label, got) t.exact(label, got, 20000000) end)
in_both_modes("count of 2e7", filled({20000000}, 1), tf.count_nonzero, function(label, got) t.exact(label, got, 20000000) end)
collectgarbage()
in_both_modes("mean of 4500 x 4500", filled({4500, 4500}, -1), tf.reduce_mean, within(-1, 1e-6))
collectgarbage()

-- (e) float16: the sums are wider than the elements
local e = filled({3, 2}, 10000):cast "float16"
in_both_modes("float16", e, function(x)
  return {tf.reduce_sum(x), tf.reduce_mean(x), tf.math.reduce_std(x)}
end, function(label, got)
  t.exact(label .. " sum", got[1], 60000)
  t.exact(label .. " mean", got[2], 10000)
  t.exact(label .. " deviation", got[3], 0)
  t.check(label .. " type", got[1].dtype == "float16", got[1].dtype, "float16")
end)
for _, dtype in ipairs {"float16", "bfloat16"} do -- 2^12 ones: past 2^11 (2^8) one more one changes nothing
  in_both_modes(dtype, filled({4096}, 1):cast(dtype), tf.reduce_sum, function(label, got) t.exact(label .. " 4096 ones", got, 4096) end)
  in_both_modes(dtype, filled({1, 4096}, 1):cast(dtype), function(x) return tf.matmul(x, x, false, true) end,
    function(label, got) t.exact(label .. " product of 4096 ones", got, {{4096}}) end)
end
in_both_modes("float16 moments", e, function(x) return {tf.nn.moments(x, {0, 1})} end, function(label, got)
  t.exact(label .. " mean", got[1], 10000)
  t.exact(label .. " variance", got[2], 0)
end)
t.done() -- expect: ok
