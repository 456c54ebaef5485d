-- OPT-05: RMSProp's epsilon and start; momentum when the rate changes; Nesterov.
-- Know: float64; Nesterov agrees with torch. Ours (docs/conventions.md): the mean square starts at 1 with epsilon
-- inside the root (TensorFlow 1); the velocity does not contain the rate.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

-- (A)
local function rms() return tf.train.RMSPropOptimizer(0.1, 0.9, 0, 1) end
t.optimizer_steps(tf.tensor(0), {1, 2}, rms, function(mode, w)
  for i, want in ipairs {-0.0707107, -0.2025868} do t.near(("%s RMSProp step %d"):format(mode, i), w[i], want) end
end)
t.optimizer_steps(tf.tensor {0, 0}, {{values = {1}, indices = {1}}, {values = {2}, indices = {1}}}, rms, function(mode, w)
  for i, want in ipairs {-0.0707107, -0.2025868} do t.near(("%s sparse RMSProp step %d"):format(mode, i), w[i], {0, want}) end
end)
tf.eager(function() -- the raw op with a mean square that starts at 0
  local v, ms, mom = tf.Variable(0.0, {name = "v"}), tf.Variable(0.0, {name = "ms"}), tf.Variable(0.0, {name = "mom"})
  for i, want in ipairs {-0.0953463, -0.2591926} do
    tf.raw.ResourceApplyRMSProp(v, ms, mom, 0.1, 0.9, 0, 1, i)
    t.near("RMSProp from 0, step " .. i, v, want)
  end
end)
-- (B)
t.optimizer_steps(tf.tensor(0), {1, 1, 1}, function(rate) return tf.train.MomentumOptimizer(rate, 0.9) end, function(mode, w)
  for i, want in ipairs {-0.1, -0.29, -0.3171} do t.near(("%s momentum step %d"):format(mode, i), w[i], want) end
end, {rates = {0.1, 0.1, 0.01}})
local function nesterov() return tf.train.MomentumOptimizer(0.1, 0.9, {use_nesterov = true}) end
t.optimizer_steps(tf.tensor(0), {1, -2, 0.5}, nesterov, function(mode, w)
  for i, want in ipairs {-0.19, 0.109, 0.1031} do t.near(("%s Nesterov step %d"):format(mode, i), w[i], want) end
end)
t.optimizer_steps(tf.tensor {0, 0}, {{values = {1}, indices = {0}}, {values = {-2}, indices = {0}}, {values = {0.5}, indices = {0}}}, nesterov, function(mode, w)
  for i, want in ipairs {-0.19, 0.109, 0.1031} do t.near(("%s sparse Nesterov step %d"):format(mode, i), w[i], {want, 0}) end
end)
-- Keras' form, with the rate inside the velocity, is an op of its own.
tf.eager(function()
  local v, accum = tf.Variable(0.0, {name = "v"}), tf.Variable(0.0, {name = "accum"})
  for i, rate in ipairs {0.1, 0.1, 0.01} do
    tf.raw.ResourceApplyKerasMomentum(v, accum, rate, 1, 0.9)
    t.near("rate inside, step " .. i, v, ({-0.1, -0.29, -0.471})[i])
  end
end)
t.done() -- expect: ok
