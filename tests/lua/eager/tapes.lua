-- Tapes: watch, persistent, nested, stopped, upstream gradients, no path.
local tf = require "tfsdk"
tf.eager(function()
  local x = tf.constant(3.0)
  local tape = tf.GradientTape{persistent = true}
  tape:watch(x)
  local y, z = x * x, x * x * x
  print(tape:gradient(y, x)[1]:item(), tape:gradient(z, {x})[1]:item()) -- expect: 6.0	27.0
  print(tape:gradient({y, z}, {x})[1]:item())                            -- expect: 33.0
  print(tape:gradient(y, {x}, {output_gradients = {tf.constant(2.0)}})[1]:item()) -- expect: 12.0
  local once = tf.GradientTape()
  once:watch(x)
  local q = x * x
  once:gradient(q, {x})
  print(pcall(once.gradient, once, q, {x})) -- expect match: ^false
  local second
  do
    local outer <close> = tf.GradientTape()
    outer:watch(x)
    local inner <close> = tf.GradientTape()
    inner:watch(x)
    local g = inner:gradient(x * x * x, {x})[1]
    second = outer:gradient(g, {x})[1]:item()
  end
  print(second) -- expect: 18.0
  local t <close> = tf.GradientTape()
  print(t:gradient(x * 2, {x})[1]) -- expect: false
  local v = tf.Variable(2.0)
  local f = tf.Variable(2.0, {trainable = false})
  local a <close> = tf.GradientTape()
  local loss = v * v * f
  local g = a:gradient(loss, {v, f})
  print(g[1]:item(), g[2]) -- expect: 8.0	false
end)
print(tf.executing_eagerly()) -- expect: false
