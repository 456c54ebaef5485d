-- lstm: two layers of 200 units, 20 steps unrolled, batch 20, embedding and softmax over 10,000 words.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")
local batch, steps, units, words = 20, 20, 200, 10000

-- A layer: takes and gives a list with one {batch, units} per step.
local function lstm(inputs, name)
  local small = tf.random_uniform_initializer(-0.1, 0.1)
  local w = tf.get_variable(name .. "/w", {2 * units, 4 * units}, {initializer = small})
  local b = tf.get_variable(name .. "/b", {4 * units}, {initializer = tf.zeros_initializer()})
  local c, h, outputs = tf.zeros{batch, units}, tf.zeros{batch, units}, {}
  for t, x in ipairs(inputs) do
    local i, j, f, o = table.unpack(tf.split(tf.nn.bias_add(tf.matmul(tf.concat({x, h}, 1), w), b), 4, 1))
    c = tf.sigmoid(f + 1) * c + tf.sigmoid(i) * tf.tanh(j)
    h = tf.sigmoid(o) * tf.tanh(c)
    outputs[t] = h
  end
  return outputs
end

local x = tf.placeholder("int64", {steps, batch})
local y = tf.placeholder("int64", {steps * batch})
local table_of_words = tf.get_variable("embedding", {words, units}, {initializer = tf.random_normal_initializer()})
local net = tf.unstack(tf.nn.embedding_lookup(table_of_words, x))
net = lstm(lstm(net, "lstm1"), "lstm2")
local logits = bench.dense(tf.concat(net, 0), "softmax", words)
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})

local fetches = {logits}
if bench.training then fetches = {loss, tf.train.MomentumOptimizer(0.01, 0.9):minimize(loss)} end
local feed = {[x] = bench.below(words, {steps, batch}), [y] = bench.below(words, {steps * batch})}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
bench.time(function() return sess:run(fetches, feed)[1] end)
