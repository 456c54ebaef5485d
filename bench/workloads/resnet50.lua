-- resnet50: 224x224x3, bottleneck blocks 3-4-6-3 (the stride in the 3x3 convolution), batch norm, 1000 classes, batch 8.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")

local function bottleneck(x, name, filters, stride)
  local shortcut = x
  if x.shape[4] ~= 4 * filters then shortcut = bench.conv_bn(x, name .. "/shortcut", 4 * filters, 1, stride) end
  local net = bench.conv_bn(x, name .. "/conv1", filters, 1, 1, tf.nn.relu)
  net = bench.conv_bn(net, name .. "/conv2", filters, 3, stride, tf.nn.relu)
  net = bench.conv_bn(net, name .. "/conv3", 4 * filters, 1, 1)
  return tf.nn.relu(net + shortcut)
end

local x = tf.placeholder("float32", {-1, 224, 224, 3})
local y = tf.placeholder("int64", {-1})
local net = bench.conv_bn(x, "conv", 64, 7, 2, tf.nn.relu)
net = tf.nn.max_pool(net, {ksize = 3, strides = 2, padding = "SAME"})
for stage, blocks in ipairs {3, 4, 6, 3} do
  local filters = 32 << stage -- 64, 128, 256, 512
  for i = 1, blocks do
    net = bottleneck(net, ("stage%d_%d"):format(stage, i), filters, stage > 1 and i == 1 and 2 or 1)
  end
end
local logits = bench.dense(tf.reduce_mean(net, {1, 2}), "logits", 1000)
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})

local fetches = {logits}
if bench.training then fetches = {loss, bench.minimize(loss)} end
local feed = {[x] = bench.normal{8, 224, 224, 3}, [y] = bench.below(1000, {8})}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
bench.time(function() return sess:run(fetches, feed)[1] end)
