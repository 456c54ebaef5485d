-- OPT-01: Adam: which epsilon. Ours is TensorFlow's form (docs/conventions.md): lr_t = lr sqrt(1 - b2^t) / (1 - b1^t),
-- w -= lr_t m / (sqrt(v) + epsilon). The paper's algorithm (and torch) would give the other numbers.
-- Know: float64; the paper form agrees with torch.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function adam(epsilon) return function() return tf.train.AdamOptimizer(0.1, 0.9, 0.999, epsilon) end end
local large, small = {1, 1, 1}, {0.001, -0.002, 0.003}
-- The powers of beta are kept in float32, as in TensorFlow: 1e-4 of what a step moves is about their rounding.
for _, dtype in ipairs {"float32", "float64"} do
  t.optimizer_steps(tf.tensor(1, dtype), large, adam(0.1), function(mode, w)
    for i, want in ipairs {0.9759747, 0.9450783, 0.9097008} do t.near(("%s %s step %d"):format(mode, dtype, i), w[i], want, 2e-5, 0) end
    t.check(mode .. " is not the paper's form", w[1]:item() > 0.95, w[1], 0.9759747) -- that gives 0.9090909
  end)
  t.optimizer_steps(tf.tensor(1, dtype), small, adam(1e-8), function(mode, w)
    for i, want in ipairs {0.9000316, 0.9366368, 0.9023156} do t.near(("%s %s small step %d"):format(mode, dtype, i), w[i], want, 2e-5, 0) end
  end)
end
-- The same through the sparse path, for which the rule is written a second time; and by the raw op.
for name, make in pairs {Adam = adam(0.1), LazyAdam = function() return tf.contrib.opt.LazyAdamOptimizer(0.1, 0.9, 0.999, 0.1) end} do
  local gradients = {}
  for i = 1, 3 do gradients[i] = {values = {1}, indices = {0}} end
  t.optimizer_steps(tf.tensor {1, 1}, gradients, make, function(mode, w)
    for i, want in ipairs {0.9759747, 0.9450783, 0.9097008} do t.near(("%s sparse %s step %d"):format(mode, name, i), w[i], {want, 1}, 2e-5, 0) end
  end)
end
tf.eager(function()
  local v, m, s = tf.Variable(1.0, {name = "v"}), tf.Variable(0.0, {name = "m"}), tf.Variable(0.0, {name = "s"})
  for i, want in ipairs {0.9759747, 0.9450783, 0.9097008} do
    tf.raw.ResourceApplyAdam(v, m, s, 0.9 ^ i, 0.999 ^ i, 0.1, 0.9, 0.999, 0.1, 1)
    t.near("raw op, step " .. i, v, want, 2e-5, 0)
  end
end)
t.done() -- expect: ok
