-- AD-05: gather with repeated indices, and mixed with a dense path.
-- Know: the gradient is the sum over the occurrences.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local params = tf.tensor {{1, 2}, {3, 4}, {5, 6}}
local rows = tf.tensor({2, 0, 2, 2}, "int32")
local upstream = tf.tensor {{1, 1}, {10, 10}, {100, 100}, {1000, 1000}}
for name, fn in pairs {gather = tf.gather, embedding_lookup = tf.nn.embedding_lookup,
  gather_nd = function(p, i) return tf.gather_nd(p, tf.expand_dims(i, 1)) end} do
  t.both_modes({params, rows}, fn, function(r)
    t.exact(r.mode .. " " .. name, r[1], {{5, 6}, {1, 2}, {5, 6}, {5, 6}})
    t.exact(r.mode .. " " .. name .. " gradient", r.grads[1], {{10, 10}, {0, 0}, {1101, 1101}})
  end, {dy = upstream})
end
t.both_modes({tf.transpose(params), rows}, function(p, i) return tf.transpose(tf.gather(p, i, {axis = 1})) end, function(r)
  t.exact(r.mode .. " along axis 1", r.grads[1], {{10, 0, 1101}, {10, 0, 1101}})
end, {dy = upstream})
-- The same of a variable, whose gradient stays in rows; and mixed with a dense path.
t.each_mode(function(mode, run)
  local v = tf.Variable(params, {name = "v"})
  local w = tf.Variable(tf.ones({3, 5}, {now = true}), {name = "w"})
  local function sparse() return tf.gather(v, rows) * upstream end
  local function mixed() return tf.reduce_sum(tf.gather(w, tf.tensor({1}, "int32")) ^ 2) + tf.reduce_sum(w:value() ^ 2) end
  local gv, gw
  if mode == "graph" then
    gv, gw = tf.gradients(sparse(), v)[1], tf.gradients(mixed(), w)[1]
  else
    local _
    _, gv = tf.value_and_gradients(sparse, {v})
    _, gw = tf.value_and_gradients(mixed, {w})
    gv, gw = gv[1], gw[1]
  end
  t.exact(mode .. ": rows stay rows", tf.kind(gv), "IndexedSlices")
  t.exact(mode .. " variable", run(tf.convert_to_tensor(gv)), {{10, 10}, {0, 0}, {1101, 1101}})
  t.exact(mode .. " mixed", run(tf.convert_to_tensor(gw)), {{2, 2, 2, 2, 2}, {4, 4, 4, 4, 4}, {2, 2, 2, 2, 2}})
end)
-- Two lookups of one variable: their rows are put together.
t.each_mode(function(mode, run)
  local v = tf.Variable(params, {name = "v"})
  local function loss() return tf.reduce_sum(tf.gather(v, rows)) + 10 * tf.reduce_sum(tf.gather(v, tf.tensor({1, 2}, "int32"))) end
  local g
  if mode == "graph" then g = tf.gradients(loss(), v)[1]
  else g = select(2, tf.value_and_gradients(loss, {v}))[1] end
  t.exact(mode .. " two lookups", run(tf.convert_to_tensor(g)), {{1, 1}, {10, 10}, {13, 13}})
  -- and a step of each optimizer sees each row once: the sum, not the last one
  local opt = tf.train.GradientDescentOptimizer(1)
  if mode == "graph" then
    run(opt:minimize(loss()))
  else
    opt:minimize(loss, {var_list = {v}})
  end
  t.exact(mode .. " a step", run(v), {{0, 1}, {-7, -6}, {-8, -7}})
end)
-- Adagrad and Adam with a row named twice equal one step with the sum of its gradients.
for name, make in pairs {Adagrad = function() return tf.train.AdagradOptimizer(0.1) end, Adam = function() return tf.train.AdamOptimizer(0.1) end,
  Momentum = function() return tf.train.MomentumOptimizer(0.1, 0.9) end, RMSProp = function() return tf.train.RMSPropOptimizer(0.1) end} do
  tf.eager(function()
    local a, b = tf.Variable(params, {name = "a"}), tf.Variable(params, {name = "b"})
    make():apply_gradients({{tf.IndexedSlices(upstream, rows, {3, 2}), a}})
    make():apply_gradients({{tf.IndexedSlices(tf.tensor {{10, 10}, {1101, 1101}}, tf.tensor({0, 2}, "int32"), {3, 2}), b}})
    t.near(name .. " with repeated rows", a, b:value(), 1e-6)
  end)
end
t.done() -- expect: ok
