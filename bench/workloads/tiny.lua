-- tiny: 500 times x = tanh(x * w) on 4 numbers, a graph: what a node costs. Training learns w from the sum of the last x.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")

local x = tf.placeholder("float32", {4})
local w = tf.get_variable("w", {4}, {initializer = tf.random_normal_initializer()})
local net = x
for _ = 1, 500 do net = tf.tanh(net * w) end
local loss = tf.reduce_sum(net)

local fetches = {net}
if bench.training then fetches = {loss, tf.train.MomentumOptimizer(0.01, 0.9):minimize(loss)} end
local feed = {[x] = bench.normal{4}}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
bench.time(function() return sess:run(fetches, feed)[1] end)
