-- Stock lua5.4 with the module: LUA_CPATH="PREFIX/lib/lua/5.4/?.so;;" lua5.4 train.lua
local tf = require "tfsdk"
local x = tf.tensor{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
local y = tf.tensor{{0}, {1}, {1}, {0}} -- exclusive or
tf.enable_eager_execution()
tf.set_random_seed(2)
local w1 = tf.Variable(tf.random.normal{2, 8}, {name = "w1"})
local b1 = tf.Variable(tf.zeros{8}, {name = "b1"})
local w2 = tf.Variable(tf.random.normal{8, 1}, {name = "w2"})
local function model() return tf.sigmoid(tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2)) end
local optimizer = tf.train.AdamOptimizer(0.05)
local loss
for _ = 1, 300 do
  local value, grads = tf.value_and_gradients(function() return tf.reduce_mean((model() - y) ^ 2) end, {w1, b1, w2})
  optimizer:apply_gradients(grads, {w1, b1, w2})
  loss = value:item()
end
print(string.format("loss %.4f", loss))
print(tf.round(model()))
