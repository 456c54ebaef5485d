-- lenet: 28x28x1, two of (5x5 convolution SAME, ReLU, 2x2 max pool) with 32 and 64 filters, dense 1024, dense 10, batch 64.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")

local x = tf.placeholder("float32", {-1, 28, 28, 1})
local y = tf.placeholder("int64", {-1})
local net = tf.nn.max_pool(bench.conv(x, "conv1", 32, 5), {ksize = 2, strides = 2, padding = "SAME"})
net = tf.nn.max_pool(bench.conv(net, "conv2", 64, 5), {ksize = 2, strides = 2, padding = "SAME"})
net = bench.dense(net:reshape{-1, 7 * 7 * 64}, "dense", 1024, tf.nn.relu)
local logits = bench.dense(net, "logits", 10)
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})

local fetches = {logits}
if bench.training then fetches = {loss, tf.train.MomentumOptimizer(0.01, 0.9):minimize(loss)} end
local feed = {[x] = bench.normal{64, 28, 28, 1}, [y] = bench.below(10, {64})}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
bench.time(function() return sess:run(fetches, feed)[1] end)
