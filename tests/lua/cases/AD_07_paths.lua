-- AD-07: no path, a stopped path, one variable used twice.
-- Know: calculus; a gradient has its variable's shape. No path is `false` (docs/conventions.md).
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

-- The gradient of fn(x) by x, or false.
local function slope(fn, at)
  local out = {}
  t.both_modes({tf.tensor(at)}, fn, function(r) out[#out + 1] = r.grads[1] and r.grads[1]:item() end)
  return out
end
t.exact("independent", slope(function(x) return tf.placeholder_with_default(tf.tensor(1), {}) end, 3), {false, false, false})
t.exact("x stop(x)", slope(function(x) return x * tf.stop_gradient(x) end, 3), {3, 3, 3})
t.exact("stop(x x) + x", slope(function(x) return tf.stop_gradient(x * x) + x end, 3), {1, 1, 1})
t.exact("x x", slope(function(x) return x * x end, 3), {6, 6, 6})
t.exact("only stopped", slope(function(x) return tf.stop_gradient(x) end, 3), {false, false, false})
do
  local graph <close> = tf.Graph():as_default()
  local x = tf.placeholder("float32", {})
  local sess <close> = tf.Session()
  t.exact("the same source twice", sess:run(tf.gradients(x * x, {x, x}), {[x] = 3}), {6, 6})
  local y = tf.gradients(tf.placeholder("float32", {}) * 2, {x}, {unconnected_gradients = "zero"})
  t.exact("zeros on demand", sess:run(y, {[x] = 3}), {0})
end
tf.eager(function()
  local x = tf.tensor(3)
  local tape <close> = tf.GradientTape()
  tape:watch(x)
  local g = tape:gradient(x * x, {x, x})
  t.exact("the same source twice, define-by-run", {g[1]:item(), g[2]:item()}, {6, 6})
end)

-- minimize: one variable on the path, one beside it; none; a whole-numbered one.
t.each_mode(function(mode, run)
  local a = tf.Variable(tf.tensor {1, 2}, {name = "used"})
  local b = tf.Variable(tf.tensor {0.1, -0.0, 0 / 0}, {name = "unused"})
  local before = run(b:value()):bytes()
  local function loss() return tf.reduce_sum(a * a) end
  local function step(opt, list)
    if mode == "graph" then return run(opt:minimize(loss(), {var_list = list})) end
    return opt:minimize(loss, {var_list = list})
  end
  step(tf.train.GradientDescentOptimizer(0.25), {a, b})
  t.exact(mode .. " the connected one", run(a:value()), {0.5, 1})
  t.check(mode .. " the other one keeps every bit", run(b:value()):bytes() == before)
  t.raises(mode .. " none connected", function() step(tf.train.GradientDescentOptimizer(0.25), {b}) end, "unused")
  t.raises(mode .. " apply_gradients of nothing", function()
    tf.train.GradientDescentOptimizer(0.25):apply_gradients {{false, a}, {false, b}}
  end, "used", "unused")
  t.raises(mode .. " no variables", function() step(tf.train.GradientDescentOptimizer(0.25), {}) end)
  if mode == "graph" then
    t.exact("running a gradient that is not there", run {tf.gradients(loss(), b)[1]}, {false})
    local count = tf.Variable(tf.tensor(3, "int32"), {name = "count"})
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    local g = tf.gradients(loss() * tf.cast(count:value(), "float32"), {a, count})
    t.exact("an integer variable", g[2], false)
    t.exact("beside it", sess:run(g[1]), {6, 12})
    sess:run(tf.train.GradientDescentOptimizer(0.25):minimize(loss(), {var_list = {a, count}}))
    t.exact("its value", sess:run(count), 3)
  else
    local count = tf.Variable(tf.tensor(3, "int32"), {name = "count"})
    local _, g = tf.value_and_gradients(function() return loss() * tf.cast(count:value(), "float32") end, {a, count})
    t.exact("an integer variable, define-by-run", g[2], false)
  end
end)

-- Broadcasting: the gradient has the shape of its source.
t.both_modes({tf.tensor {{1, 2, 3}}, tf.tensor {{10}, {20}}, tf.tensor(5)}, function(a, b, c) return tf.reduce_sum(a * b + c) end, function(r)
  t.exact(r.mode .. " a", r.grads[1], {{30, 30, 30}})
  t.exact(r.mode .. " b", r.grads[2], {{6}, {6}})
  t.exact(r.mode .. " c", r.grads[3], 6)
  t.shape(r.mode .. " a", r.grads[1], {1, 3})
  t.shape(r.mode .. " b", r.grads[2], {2, 1})
  t.shape(r.mode .. " c", r.grads[3], {})
end)
t.done() -- expect: ok
