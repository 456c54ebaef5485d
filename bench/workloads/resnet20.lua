-- resnet20: 32x32x3, stages of 16, 32 and 64 filters with three basic blocks each, batch norm, projection shortcuts, batch 128.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")

local function block(x, name, filters, stride)
  local shortcut = x
  if stride > 1 then shortcut = bench.conv_bn(x, name .. "/shortcut", filters, 1, stride) end
  local net = bench.conv_bn(x, name .. "/conv1", filters, 3, stride, tf.nn.relu)
  net = bench.conv_bn(net, name .. "/conv2", filters, 3, 1)
  return tf.nn.relu(net + shortcut)
end

local x = tf.placeholder("float32", {-1, 32, 32, 3})
local y = tf.placeholder("int64", {-1})
local net = bench.conv_bn(x, "conv", 16, 3, 1, tf.nn.relu)
for stage, filters in ipairs {16, 32, 64} do
  for i = 1, 3 do
    net = block(net, ("stage%d_%d"):format(stage, i), filters, stage > 1 and i == 1 and 2 or 1)
  end
end
local logits = bench.dense(tf.reduce_mean(net, {1, 2}), "logits", 10)
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})

local fetches = {logits}
if bench.training then fetches = {loss, bench.minimize(loss)} end
local feed = {[x] = bench.normal{128, 32, 32, 3}, [y] = bench.below(10, {128})}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
bench.time(function() return sess:run(fetches, feed)[1] end)
