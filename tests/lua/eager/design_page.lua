-- The block of the design page's section 4.
local tf = require "tfsdk"
tf.enable_eager_execution()
local bx = tf.random.normal({8, 4}, {seed = 1})
local w = tf.Variable(tf.random.normal({4, 3}, {stddev = 0.1, seed = 2}), {name = "w"})
local opt = tf.train.AdamOptimizer(0.01)
local first, last
for step = 1, 100 do
  local tape <close> = tf.GradientTape()
  local h = bx
  for i = 1, (step % 3) + 1 do h = tf.tanh(h) end -- the model is whatever Lua does
  local loss = tf.reduce_mean((tf.matmul(h, w) - 1) ^ 2)
  first, last = first or loss:item(), loss:item()
  opt:apply_gradients(tape:gradient(loss, {w}), {w})
end
print(last < first) -- expect: true
local value, grads = tf.value_and_gradients(function() return tf.reduce_sum(w * w) end, {w})
print(tf.reduce_max(tf.abs(grads[1] - w * 2)):item()) -- expect: 0.0
print(w.name, w.shape[1], tf.kind(w)) -- expect: w:0	4	Variable
