-- embed: a table of 100,000 x 64, the mean of 20 rows, dense 10, batch 64; plain SGD, whose gradient for the table is sparse.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")

local x = tf.placeholder("int64", {-1, 20})
local y = tf.placeholder("int64", {-1})
local rows = tf.get_variable("table", {100000, 64}, {initializer = tf.random_normal_initializer()})
local net = tf.reduce_mean(tf.nn.embedding_lookup(rows, x), 1)
local logits = bench.dense(net, "logits", 10)
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})

local fetches = {logits}
if bench.training then fetches = {loss, tf.train.GradientDescentOptimizer(0.01):minimize(loss)} end
local feed = {[x] = bench.below(100000, {64, 20}), [y] = bench.below(10, {64})}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
bench.time(function() return sess:run(fetches, feed)[1] end)
