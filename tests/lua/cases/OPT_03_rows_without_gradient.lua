-- OPT-03: Adam on rows without gradient. AdamOptimizer lets them decay and move (TensorFlow's dense rule),
-- LazyAdamOptimizer leaves them alone; a row that was never used keeps every bit in both (docs/conventions.md).
-- Know: m and v decay; zero moments give a zero step.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local start = tf.tensor {{1, 1}, {0.1, -0.0}, {1, 1}}
local first, other = {values = {{1, 1}}, indices = {0}}, {values = {{1, 1}}, indices = {2}}
local dense, lazy = {0.9, 0.8329942, 0.7811985}, {0.9, 0.9, 0.9}
for name, c in pairs {Adam = {tf.train.AdamOptimizer, dense}, LazyAdam = {tf.contrib.opt.LazyAdamOptimizer, lazy}} do
  t.optimizer_steps(start, {first, other, other}, function() return c[1](0.1) end, function(mode, w)
    local label = mode .. " " .. name
    for i = 1, 3 do
      t.near(("%s step %d"):format(label, i), w[i][1], {c[2][i], c[2][i]})
      t.check(label .. ": an unused row keeps its bits", w[i][2]:bytes() == start[2]:bytes(), w[i][2], start[2])
    end
  end)
end
-- Dense gradients with zeros are the dense rule.
t.optimizer_steps(tf.tensor {1}, {{1}, {0}, {0}}, function() return tf.train.AdamOptimizer(0.1) end, function(mode, w)
  for i = 1, 3 do t.near(("%s dense step %d"):format(mode, i), w[i], {dense[i]}) end
end)
-- The others touch only the rows that are named.
for name, make in pairs {Momentum = function() return tf.train.MomentumOptimizer(0.1, 0.9) end,
  Adagrad = function() return tf.train.AdagradOptimizer(0.1) end, RMSProp = function() return tf.train.RMSPropOptimizer(0.1) end,
  Adadelta = function() return tf.train.AdadeltaOptimizer(0.1) end, GradientDescent = function() return tf.train.GradientDescentOptimizer(0.1) end,
  Ftrl = function() return tf.train.FtrlOptimizer(0.1) end} do
  t.optimizer_steps(start, {first, other}, make, function(mode, w)
    t.check(mode .. " " .. name .. ": rows that are not named", w[2][1]:bytes() == w[1][1]:bytes() and w[2][2]:bytes() == start[2]:bytes(), w[2], w[1])
  end)
end
t.done() -- expect: ok
