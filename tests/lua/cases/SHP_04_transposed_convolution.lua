-- SHP-04: transposed convolution: the size is ambiguous, the values are exact.
-- Know: the transpose of the forward map: <conv(x), y> = <x, convT(y)> to rounding.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function transposed(n)
  return function(x, k)
    return tf.reshape(tf.nn.conv2d_transpose(x, k, {1, 1, n, 1}, {strides = {1, 2}, padding = "SAME"}), {-1})
  end
end
local x, k = tf.tensor {1, 2, 3}:reshape {1, 1, 3, 1}, tf.tensor {1, 10, 100}:reshape {1, 3, 1, 1}
t.both_modes({x, k}, transposed(5), function(r)
  t.exact(r.mode .. " to 5", r[1], {10, 102, 20, 203, 30})
  -- the sum of outputs counts each x with the taps that fall inside
  t.exact(r.mode .. " to 5, gradient", tf.reshape(r.grads[1], {-1}), {110, 111, 11})
  t.exact(r.mode .. " to 5, gradient of the kernel", tf.reshape(r.grads[2], {-1}), {5, 6, 3})
end)
t.both_modes({x, k}, transposed(6), function(r)
  t.exact(r.mode .. " to 6", r[1], {1, 10, 102, 20, 203, 30})
end)
local words = {"Conv2DBackpropInput", "4", "3"}
t.raises("to 7", function() return transposed(7)(x, k) end, table.unpack(words))
do
  local graph <close> = tf.Graph():as_default()
  t.raises("to 7 in a graph", function() return transposed(7)(tf.placeholder("float32", {1, 1, 3, 1}), k) end, table.unpack(words))
  local size, v = tf.placeholder("int32", {4}), tf.placeholder("float32", {1, 1, -1, 1})
  local y = tf.nn.conv2d_transpose(v, k, size, {strides = {1, 2}, padding = "SAME"})
  local sess <close> = tf.Session()
  t.exact("a size known when it runs", sess:run(y, {[v] = x, [size] = {1, 1, 6, 1}}):reshape {-1}, {1, 10, 102, 20, 203, 30})
  t.raises("to 7 when it runs", function() return sess:run(y, {[v] = x, [size] = {1, 1, 7, 1}}) end, table.unpack(words))
end
-- The adjoint test, in float64, for strides, paddings, dilations and channels.
local seed = 0
local function random(shape)
  seed = seed + 1
  return tf.random.normal(shape, {dtype = "float64", seed = seed, now = true})
end
for _, padding in ipairs {"SAME", "VALID", {{1, 2}, {0, 1}}} do
  for _, c in ipairs {{7, 6, 3, 3, 1, 1}, {7, 6, 3, 2, 2, 1}, {9, 8, 3, 3, 1, 2}, {8, 9, 1, 1, 3, 1}, {5, 5, 4, 5, 3, 1}} do
    local h, w, kh, kw, s, d = table.unpack(c)
    local input, filter = random {2, h, w, 3}, random {kh, kw, 3, 4}
    local options = {strides = s, padding = padding, dilations = d}
    local y = tf.nn.conv2d(input, filter, options)
    local dy = random(y.shape)
    local back = tf.nn.conv2d_transpose(dy, filter, input.shape, options)
    local left, right = tf.reduce_sum(y * dy):item(), tf.reduce_sum(input * back):item()
    t.near(("adjoint %s %s"):format(tostring(padding), table.concat(c, ",")), tf.tensor(left, "float64"), right, 1e-12, 1e-11)
  end
end
t.done() -- expect: ok
