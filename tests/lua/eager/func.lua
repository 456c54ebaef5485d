-- tf.func keeps a plan for each combination of types and shapes; variables keep their present values; tapes and
-- writes to variables work as without it.
local tf = require "tfsdk"
tf.enable_eager_execution()
local calls = 0
local w = tf.Variable(2.0)
local f = tf.func(function(x, k)
  calls = calls + 1
  return {y = tf.tanh(x) * w, k = x * k}, tf.reduce_sum(x)
end)
local a = tf.tensor{1, 2}
local r, s = f(a, 3)
print(r.k:table()[2], s:item(), calls)        -- expect: 6.0	3.0	1
f(a, 3)
f(tf.tensor{5, 6}, 3)
print(calls)                                  -- expect: 1
f(tf.tensor{1}, 3)
f(a, 4)
print(calls)                                  -- expect: 3
local before = f(a, 3).y
w:assign(4.0)
print((f(a, 3).y / before):table()[1], calls) -- expect: 2.0	3
local tape <close> = tf.GradientTape()
local loss = tf.reduce_sum(f(a, 3).k * w)
print(tape:gradient(loss, {w})[1]:item())     -- expect: 9.0
tape:stop()
local bump = tf.func(function(x) w:assign_add(x) return w + 0 end)
print(bump(tf.tensor(1)):item(), bump(tf.tensor(1)):item()) -- expect: 5.0	6.0
print(pcall(tf.func(function(x) return tf.matmul(x, x) end), a)) -- expect match: ^false	.*MatMul
