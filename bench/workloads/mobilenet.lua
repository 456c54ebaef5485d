-- mobilenet: version 1, width 1.0, 224x224x3, batch norm and ReLU6 after each convolution, 1000 classes, batch 8.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")

-- A depthwise 3x3 and a pointwise convolution.
local function separable(x, name, filters, stride)
  local w = tf.get_variable(name .. "/depthwise/w", {3, 3, x.shape[4], 1}, {initializer = tf.initializers.truncated_normal{stddev = 0.3}})
  local net = tf.nn.depthwise_conv2d(x, w, {strides = stride, padding = "SAME"})
  net = tf.nn.relu6(bench.batch_norm(net, name .. "/depthwise"))
  return bench.conv_bn(net, name .. "/pointwise", filters, 1, 1, tf.nn.relu6)
end

local x = tf.placeholder("float32", {-1, 224, 224, 3})
local y = tf.placeholder("int64", {-1})
local net = bench.conv_bn(x, "conv", 32, 3, 2, tf.nn.relu6)
for i, layer in ipairs {{64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2}, {512, 1}, {512, 1}, {512, 1}, {512, 1}, {512, 1},
  {1024, 2}, {1024, 1}} do
  net = separable(net, "separable" .. i, layer[1], layer[2])
end
local logits = bench.dense(tf.reduce_mean(net, {1, 2}), "logits", 1000)
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})

local fetches = {logits}
if bench.training then fetches = {loss, bench.minimize(loss)} end
local feed = {[x] = bench.normal{8, 224, 224, 3}, [y] = bench.below(1000, {8})}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
bench.time(function() return sess:run(fetches, feed)[1] end)
