-- AD-06: gradients through loops and nested loops: each iteration has its share.
-- Know: s = w^4 + w^3 + w^2 + w + 1 and its derivative; acc = 90 X, loss = acc^2 = 8100 X^2.
-- Define-by-run, where a loop is Lua's own or tf.while_loop; a graph unrolls a Lua loop of known length.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function polynomial(w, times)
  local s = tf.ones_like(w)
  for _ = 1, times do s = s * w + 1 end
  return s
end
local function nested(x)
  local acc = tf.zeros_like(x)
  for o = 1, 5 do
    for i = 1, 3 do acc = acc + x * (i * o) end
  end
  return acc * acc, acc
end
t.both_modes({tf.tensor(2)}, function(w) return polynomial(w, 4) end, function(r)
  t.exact(r.mode .. " s", r[1], 31)
  t.exact(r.mode .. " ds/dw", r.grads[1], 49)
end)
t.both_modes({tf.tensor(0.5)}, nested, function(r)
  t.exact(r.mode .. " acc", r[2], 45)
  t.exact(r.mode .. " dloss/dX", r.grads[1], 8100)
end)
t.both_modes({tf.tensor(1)}, function(x)
  for _ = 1, 3 do x = x + x end
  return x
end, function(r) t.exact(r.mode .. " doubled three times", r.grads[1], 8) end)
-- A loop that does not run: the value is s itself; w has no part in it, which is `false`.
tf.eager(function()
  local s, w = tf.tensor(3), tf.tensor(2)
  local tape <close> = tf.GradientTape {persistent = true}
  tape:watch(s)
  tape:watch(w)
  local function loop(n)
    local x = s
    for _ = 1, n do x = x * w + 1 end
    return x
  end
  local none = tape:gradient(loop(0), {s, w})
  t.exact("no iteration, s", none[1], 1)
  t.exact("no iteration, w", none[2], false)
  local one = tape:gradient(loop(1), {s, w})
  t.exact("one iteration, s", one[1], 2)
  t.exact("one iteration, w", one[2], 3)
end)
-- tf.while_loop, with a condition on a value; nested; and the length from data.
tf.eager(function()
  local w, x = tf.tensor(2), tf.tensor(0.5)
  local tape <close> = tf.GradientTape {persistent = true}
  tape:watch(w)
  tape:watch(x)
  local _, s = tf.while_loop(function(i) return tf.less(i, 4) end,
    function(i, s) return i + 1, s * w + 1 end, {tf.tensor(0), tf.tensor(1)})
  t.exact("while_loop", s, 31)
  t.exact("while_loop, gradient", tape:gradient(s, {w})[1], 49)
  local _, acc = tf.while_loop(function(o) return tf.less_equal(o, 5) end, function(o, a)
    local _, inner = tf.while_loop(function(i) return tf.less_equal(i, 3) end,
      function(i, b) return i + 1, b + x * i * o end, {tf.tensor(1), a})
    return o + 1, inner
  end, {tf.tensor(1), tf.tensor(0)})
  t.exact("nested while_loop", acc, 45)
  t.exact("nested while_loop, gradient", tape:gradient(acc * acc, {x})[1], 8100)
  local _, zero = tf.while_loop(function(i) return tf.less(i, 0) end, function(i, a) return i + 1, a * w end, {tf.tensor(0), x})
  t.exact("while_loop without iterations", zero, 0.5)
  local g = tape:gradient(zero, {x, w})
  t.exact("its gradient", g[1], 1)
  t.exact("its gradient by w", g[2], false)
  local steps, y = 0, x -- doubled until it passes 3: 0.5 1 2 4
  while y:item() < 3 do y, steps = y * w, steps + 1 end
  t.exact("a loop on values", steps, 3)
  t.exact("its gradient by x", tape:gradient(y, {x})[1], 8)
  t.exact("its gradient by w", tape:gradient(y, {w})[1], 0.5 * 3 * 4)
end)
-- Second order through a loop: s'' = 12 w^2 + 6 w + 2 = 62 at 2.
tf.eager(function()
  local w = tf.tensor(2)
  local outer <close> = tf.GradientTape()
  outer:watch(w)
  local inner <close> = tf.GradientTape()
  inner:watch(w)
  local ds = inner:gradient(polynomial(w, 4), {w})[1]
  t.exact("second order", outer:gradient(ds, {w})[1], 62)
end)
-- A long chain: 10000 steps back do not exhaust the stack.
tf.eager(function()
  local x = tf.tensor(1)
  local tape <close> = tf.GradientTape()
  tape:watch(x)
  local y = x
  for _ = 1, 10000 do y = y + 1 end
  t.exact("10000 steps", tape:gradient(y, {x})[1], 1)
end)
t.done() -- expect: ok
