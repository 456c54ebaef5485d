-- vgg: 64x64x3, 3x3 convolutions 2x64, 2x128, 3x256 with 2x2 max pools, dense 512, dense 100, batch 32.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")

local x = tf.placeholder("float32", {-1, 64, 64, 3})
local y = tf.placeholder("int64", {-1})
local net = x
for group, shape in ipairs {{2, 64}, {2, 128}, {3, 256}} do
  local convolutions, filters = shape[1], shape[2]
  for i = 1, convolutions do net = bench.conv(net, ("conv%d_%d"):format(group, i), filters, 3) end
  net = tf.nn.max_pool(net, {ksize = 2, strides = 2, padding = "VALID"})
end
net = bench.dense(net:reshape{-1, 8 * 8 * 256}, "dense", 512, tf.nn.relu)
local logits = bench.dense(net, "logits", 100)
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})

local fetches = {logits}
if bench.training then fetches = {loss, tf.train.MomentumOptimizer(0.01, 0.9):minimize(loss)} end
local feed = {[x] = bench.normal{32, 64, 64, 3}, [y] = bench.below(100, {32})}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
bench.time(function() return sess:run(fetches, feed)[1] end)
