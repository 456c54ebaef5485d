-- SHP-03: SAME convolution: the odd pixel goes to the end; strides above the kernel, even kernels, dilation.
-- Know: output length ceil(n / s), total padding max((out - 1) s + (k - 1) d + 1 - n, 0), the smaller half in front.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local same = {strides = 2, padding = "SAME"}
local kernel = t.counting(9, 0, {3, 3, 1, 1})
local function image(data) return tf.tensor(data):reshape {1, #data, #data[1], 1} end
local function plane(x) return tf.squeeze(x, {axis = {0, 3}}) end
-- (A)
t.both_modes({image {{1}}, kernel}, function(x, k) return plane(tf.nn.conv2d(x, k, same)) end, function(r)
  t.exact(r.mode .. " 1x1", r[1], {{4}})
  t.exact(r.mode .. " 1x1 gradient", r.grads[1], {{{{4}}}})
end)
t.both_modes({image {{1, 1}, {1, 1}}, kernel}, function(x, k) return plane(tf.nn.conv2d(x, k, same)) end, function(r)
  t.exact(r.mode .. " 2x2", r[1], {{8}})
  t.exact(r.mode .. " 2x2 gradient", plane(r.grads[1]), {{0, 1}, {3, 4}})
end)
local sixteen = t.counting(16, 1, {1, 4, 4, 1})
t.both_modes({sixteen, tf.ones({3, 3, 1, 1}, {now = true})}, function(x, k) return plane(tf.nn.conv2d(x, k, same)) end, function(r)
  t.exact(r.mode .. " 4x4", r[1], {{54, 45}, {72, 54}})
  -- how many windows see each pixel: rows {1,1,2,1} times columns {1,1,2,1}
  t.exact(r.mode .. " 4x4 gradient", plane(r.grads[1]), {{1, 1, 2, 1}, {1, 1, 2, 1}, {2, 2, 4, 2}, {1, 1, 2, 1}})
end)
-- the same in a depthwise convolution and in pooling
t.both_modes({sixteen, tf.ones({3, 3, 1, 1}, {now = true})}, function(x, k) return plane(tf.nn.depthwise_conv2d(x, k, same)) end, function(r)
  t.exact(r.mode .. " depthwise", r[1], {{54, 45}, {72, 54}})
end)
t.both_modes({sixteen}, function(x) return plane(tf.nn.avg_pool(x, 3, 2, "SAME")), plane(tf.nn.max_pool(x, 3, 2, "SAME")) end, function(r)
  t.exact(r.mode .. " avg_pool", r[1], {{6, 7.5}, {12, 13.5}})
  t.exact(r.mode .. " max_pool", r[2], {{11, 12}, {15, 16}})
end)

-- (B): one axis. The padding is read off the response to a kernel that picks its first tap: y[i] = x[i s - before].
for _, c in ipairs {{28, 1, 3, 1, 10, 0, 0}, {5, 2, 1, 1, 5, 0, 1}, {6, 3, 2, 1, 3, 0, 1}, {224, 7, 2, 1, 112, 2, 3},
  {5, 3, 1, 2, 5, 2, 2}, {7, 3, 3, 1, 3, 1, 1}} do
  local n, k, s, d, out, before, after = table.unpack(c)
  local taps, want_first, want_last, x = {}, {}, {}, {}
  for i = 1, n do x[i] = i end
  for i = 0, out - 1 do
    local first, last = i * s - before, i * s - before + (k - 1) * d
    want_first[i + 1] = first >= 0 and first < n and first + 1 or 0
    want_last[i + 1] = last >= 0 and last < n and last + 1 or 0
  end
  t.exact("the formula's total", math.max((out - 1) * s + (k - 1) * d + 1 - n, 0), before + after)
  for name, place in pairs {first = 1, last = k} do
    for i = 1, k do taps[i] = i == place and 1 or 0 end
    t.both_modes({tf.tensor(x):reshape {1, n, 1}, tf.tensor(taps):reshape {k, 1, 1}}, function(v, w)
      return tf.squeeze(tf.nn.conv1d(v, w, {stride = s, padding = "SAME", dilations = d}), {axis = {0, 2}})
    end, function(r)
      t.exact(("%s (%d,%d,%d,%d) %s tap"):format(r.mode, n, k, s, d, name), r[1], name == "first" and want_first or want_last)
      t.shape(r.mode .. " gradient", r.grads[1], {1, n, 1})
    end)
  end
end
t.both_modes({tf.tensor {1, 2, 3, 4, 5}:reshape {1, 5, 1}, tf.tensor {1, 1, 1}:reshape {3, 1, 1}}, function(x, k)
  return tf.squeeze(tf.nn.conv1d(x, k, {padding = "SAME", dilations = 2}), {axis = {0, 2}})
end, function(r)
  t.exact(r.mode .. " dilation 2", r[1], {4, 6, 9, 6, 8})
  t.exact(r.mode .. " dilation 2 gradient", tf.reshape(r.grads[1], {-1}), {2, 2, 3, 2, 2})
end)
t.done() -- expect: ok
