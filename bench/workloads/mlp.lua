-- mlp: 784-512-512-10 with ReLU, batch 128.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")

local x = tf.placeholder("float32", {-1, 784})
local y = tf.placeholder("int64", {-1})
local net = bench.dense(x, "hidden1", 512, tf.nn.relu)
net = bench.dense(net, "hidden2", 512, tf.nn.relu)
local logits = bench.dense(net, "logits", 10)
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})

local fetches = {logits}
if bench.training then fetches = {loss, tf.train.MomentumOptimizer(0.01, 0.9):minimize(loss)} end
local feed = {[x] = bench.normal{128, 784}, [y] = bench.below(10, {128})}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
bench.time(function() return sess:run(fetches, feed)[1] end)
