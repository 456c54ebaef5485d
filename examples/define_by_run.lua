-- Define-by-run: the model is whatever Lua does. Here a recurrent network reads sequences of bits, each of its own
-- length, and learns to say whether the number of ones is odd. A Lua loop walks along each sequence, and an `if` on a
-- value decides whether a step is worth computing.
local tf = require "tfsdk"
tf.enable_eager_execution()
tf.set_random_seed(3)

local units = 16
local wx = tf.Variable(tf.random.normal({2, units}, {stddev = 0.6}), {name = "wx"})
local wh = tf.Variable(tf.random.normal({units, units}, {stddev = 0.35}), {name = "wh"})
local b = tf.Variable(tf.zeros{units}, {name = "b"})
local wo = tf.Variable(tf.random.normal({units, 2}, {stddev = 0.3}), {name = "wo"})
local weights = {wx, wh, b, wo}
local optimizer = tf.train.AdamOptimizer(0.01)

local function sequence(n)
  local bits, ones = {}, 0
  for i = 1, n do
    bits[i] = math.random(0, 1)
    ones = ones + bits[i]
  end
  return bits, ones % 2
end

local function logits_of(bits)
  local h = tf.zeros{1, units}
  for _, bit in ipairs(bits) do
    local x = tf.tensor{bit == 1 and {0, 1} or {1, 0}}
    h = tf.tanh(tf.matmul(x, wx) + tf.matmul(h, wh) + b)
    if h:abs():max():item() > 0.999 then h = h * 0.98 end -- a branch on a value
  end
  return tf.matmul(h, wo)
end

math.randomseed(7)
local steps, right, seen = tonumber(arg and arg[1]) or 1500, 0, 0
for step = 1, steps do
  local bits, label = sequence(math.random(1, 6))
  local tape <close> = tf.GradientTape()
  local logits = logits_of(bits)
  local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = tf.tensor({label}, "int64"), logits = logits})
  local grads = tf.clip_by_global_norm(tape:gradient(loss, weights), 1.0)
  optimizer:apply_gradients(grads, weights)
  right = right + (logits:argmax(1):item() == label and 1 or 0)
  seen = seen + 1
  if step % 250 == 0 then
    print(string.format("step %4d  loss %.3f  accuracy of the last %d: %.3f", step, loss:item(), seen, right / seen))
    right, seen = 0, 0
  end
end
