-- transformer: two pre-norm blocks of width 256 with 4 heads and feed-forward 1024 (GELU), dense 100 at each token,
-- batch 8 of 128 tokens, which come as vectors.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")
local batch, tokens, width, heads = 8, 128, 256, 4
local ones, zeros = tf.ones_initializer(), tf.zeros_initializer()

local function layer_norm(x, name)
  local scale = tf.get_variable(name .. "/scale", {width}, {initializer = ones})
  local offset = tf.get_variable(name .. "/offset", {width}, {initializer = zeros})
  local mean, variance = tf.nn.moments(x, {-1}, {keepdims = true})
  return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-5)
end

-- {batch * tokens, width} to {batch, heads, tokens, width / heads} and back.
local function split_heads(x) return tf.transpose(x:reshape{batch, tokens, heads, width // heads}, {0, 2, 1, 3}) end
local function join_heads(x) return tf.transpose(x, {0, 2, 1, 3}):reshape{batch * tokens, width} end

local function attention(x, name)
  local q, k, v = table.unpack(tf.split(bench.dense(x, name .. "/qkv", 3 * width), 3, 1))
  q, k, v = split_heads(q), split_heads(k), split_heads(v)
  local weights = tf.nn.softmax(tf.matmul(q * (width // heads) ^ -0.5, k, {transpose_b = true}))
  return bench.dense(join_heads(tf.matmul(weights, v)), name .. "/out", width)
end

local x = tf.placeholder("float32", {batch, tokens, width})
local y = tf.placeholder("int64", {batch * tokens})
local net = x:reshape{batch * tokens, width}
for i = 1, 2 do
  net = net + attention(layer_norm(net, ("block%d/norm1"):format(i)), ("block%d/attention"):format(i))
  local inner = bench.dense(layer_norm(net, ("block%d/norm2"):format(i)), ("block%d/up"):format(i), 1024, tf.nn.gelu)
  net = net + bench.dense(inner, ("block%d/down"):format(i), width)
end
local logits = bench.dense(layer_norm(net, "norm"), "logits", 100)
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})

local fetches = {logits}
if bench.training then fetches = {loss, tf.train.MomentumOptimizer(0.01, 0.9):minimize(loss)} end
local feed = {[x] = bench.normal{batch, tokens, width}, [y] = bench.below(100, {batch * tokens})}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
bench.time(function() return sess:run(fetches, feed)[1] end)
