-- SHP-06: pooling at the border: padding does not count in the mean and never wins the maximum.
-- Know: TensorFlow's rule leaves padding out of the divisor; the maximum is over real elements only.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function image(data) return tf.tensor(data):reshape {1, #data, #data[1], 1} end
local function plane(x) return tf.squeeze(x, {axis = {0, 3}}) end
t.both_modes({image {{1, 2}, {3, 4}}}, function(x) return plane(tf.nn.avg_pool(x, 3, 1, "SAME")) end, function(r)
  t.exact(r.mode .. " average 3x3", r[1], {{2.5, 2.5}, {2.5, 2.5}})
  t.exact(r.mode .. " its gradient", plane(r.grads[1]), {{1, 1}, {1, 1}})
end)
t.both_modes({t.counting(9, 1, {1, 3, 3, 1})}, function(x) return plane(tf.nn.avg_pool(x, 2, 2, "SAME")) end, function(r)
  t.exact(r.mode .. " average 2x2", r[1], {{3, 4.5}, {7.5, 9}})
  t.exact(r.mode .. " its gradient", plane(r.grads[1]), {{0.25, 0.25, 0.5}, {0.25, 0.25, 0.5}, {0.5, 0.5, 1}})
end)
t.both_modes({-t.counting(9, 1, {1, 3, 3, 1})}, function(x) return plane(tf.nn.max_pool(x, 3, 1, "SAME")) end, function(r)
  t.exact(r.mode .. " maximum", r[1], {{-1, -1, -2}, {-1, -1, -2}, {-4, -4, -5}})
  t.exact(r.mode .. " its gradient", plane(r.grads[1]), {{4, 2, 0}, {2, 1, 0}, {0, 0, 0}})
end)
for name, pool in pairs {max = tf.nn.max_pool1d, avg = tf.nn.avg_pool1d} do
  t.both_modes({t.counting(20, 1, {1, 20, 1})}, function(x) return pool(x, 3, 1, "VALID") end, function(r)
    t.shape(r.mode .. " " .. name .. " of 20", r[1], {1, 18, 1})
    t.exact(r.mode .. " its last", r[1][{1, 18, 1}], name == "max" and 20 or 19)
  end)
end
-- A width that is no multiple of the window; and explicit padding, where only real elements count for a maximum.
t.both_modes({t.counting(5, 1, {1, 1, 5, 1})}, function(x)
  return tf.nn.max_pool(x, {1, 2}, {1, 2}, "VALID"), tf.nn.max_pool(x, {1, 2}, {1, 2}, "SAME"), tf.nn.avg_pool(x, {1, 2}, {1, 2}, "SAME")
end, function(r)
  t.exact(r.mode .. " VALID", tf.reshape(r[1], {-1}), {2, 4})
  t.exact(r.mode .. " SAME", tf.reshape(r[2], {-1}), {2, 4, 5})
  t.exact(r.mode .. " SAME mean", tf.reshape(r[3], {-1}), {1.5, 3.5, 5})
end)
t.both_modes({-t.counting(4, 1, {1, 1, 4, 1})}, function(x)
  return tf.nn.max_pool(x, {1, 3}, {1, 2}, {{0, 0}, {1, 1}})
end, function(r) t.exact(r.mode .. " explicit padding", tf.reshape(r[1], {-1}), {-1, -2}) end)
-- Three axes.
t.both_modes({-t.counting(8, 1, {1, 2, 2, 2, 1})}, function(x)
  return tf.nn.max_pool3d(x, 3, 1, "SAME"), tf.nn.avg_pool3d(x, 3, 1, "SAME")
end, function(r)
  t.exact(r.mode .. " maximum in 3 axes", tf.reshape(r[1], {-1}), {-1, -1, -1, -1, -1, -1, -1, -1})
  t.exact(r.mode .. " mean in 3 axes", tf.reshape(r[2], {-1}), {-4.5, -4.5, -4.5, -4.5, -4.5, -4.5, -4.5, -4.5})
end)
t.done() -- expect: ok
