-- NUM-08: batch norm with one value per channel, the stored variance, and moving averages.
-- Know: (A) of [1,2,3,4] mean 2.5, population variance 1.25, with n/(n-1) 1.6666667; (B) float64. The fused op
-- stores the variance with n/(n-1) and, for n = 1, the population variance (docs/conventions.md).
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

-- (A) as a layer does it: moving = moving * momentum + batch * (1 - momentum), from mean 0, variance 1
local function fused(data, shape, want)
  local x = tf.tensor(data):reshape(shape)
  t.both_modes({x, tf.tensor {1}, tf.tensor {2}}, function(x, gamma, beta)
    local y, mean, variance = tf.nn.fused_batch_norm(x, gamma, beta, {epsilon = 1e-3})
    return y, mean * 0.1, variance * 0.1 + 0.9
  end, function(r)
    t.near(r.mode .. " output", tf.reshape(r[1], {-1}), want.y)
    t.near(r.mode .. " moving mean", r[2], {want.mean})
    t.near(r.mode .. " moving variance", r[3], {want.variance})
    for i = 1, 3 do t.finite(r.mode .. " gradient " .. i, r.grads[i]) end
  end)
end
fused({5}, {1, 1, 1, 1}, {y = {2}, mean = 0.5, variance = 0.9})
fused({1, 2, 3, 4}, {4, 1, 1, 1}, {y = {0.65889556, 1.55296518, 2.44703482, 3.34110445}, mean = 0.25, variance = 1.06666667})
fused({1, 2, 3, 4}, {1, 2, 2, 1}, {y = {0.65889556, 1.55296518, 2.44703482, 3.34110445}, mean = 0.25, variance = 1.06666667})
t.both_modes({tf.tensor {{{{5}}}}}, function(x) -- exactly beta
  return (tf.nn.fused_batch_norm(x, tf.tensor {1}, tf.tensor {2}, {epsilon = 1e-3}))
end, function(r) t.exact(r.mode .. " one value", r[1], {{{{2}}}}) end)
-- The plain form: population variance.
t.both_modes({tf.tensor {{1}, {2}, {3}, {4}}}, function(x)
  local mean, variance = tf.nn.moments(x, {0})
  return tf.nn.batch_normalization(x, mean, variance, tf.tensor {2}, tf.tensor {1}, 1e-3), mean * 0.1, variance * 0.1 + 0.9
end, function(r)
  t.near(r.mode .. " plain output", r[1], {{0.65889556}, {1.55296518}, {2.44703482}, {3.34110445}})
  t.near(r.mode .. " plain moving mean", r[2], {0.25})
  t.near(r.mode .. " plain moving variance", r[3], {1.025})
  t.finite(r.mode .. " plain gradient", r.grads[1])
end)
t.both_modes({tf.tensor {{5}}}, function(x)
  local mean, variance = tf.nn.moments(x, {0})
  return tf.nn.batch_normalization(x, mean, variance, tf.tensor {2}, tf.tensor {1}, 1e-3), variance
end, function(r)
  t.exact(r.mode .. " plain, one value", r[1], {{2}})
  t.exact(r.mode .. " plain, its variance", r[2], {0})
  t.finite(r.mode .. " plain, its gradient", r.grads[1])
end)

-- (B) averages of a variable that takes the values 4, 5, 6
local function averages(label, want, decay, counts)
  local function near(mode, i, got) t.near(("%s %s, value %d"):format(mode, label, i), got, want[i]) end
  tf.eager(function()
    local v = tf.Variable(3.0, {name = "v"})
    local n = tf.Variable(0.0, {name = "n", trainable = false})
    local average = tf.train.ExponentialMovingAverage(decay, counts and n or nil)
    average:apply {v} -- makes the shadow, whose first value is v's own: 3
    t.exact(label .. ", start", average:average(v), 3)
    for i, value in ipairs {4, 5, 6} do
      v:assign(value)
      n:assign(i - 1)
      average:apply {v}
      near("define-by-run", i, average:average(v))
    end
  end)
  local graph <close> = tf.Graph():as_default()
  local v = tf.Variable(3.0, {name = "v"})
  local n = tf.Variable(0.0, {name = "n", trainable = false})
  local average = tf.train.ExponentialMovingAverage(decay, counts and n or nil)
  local update = average:apply {v}
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  for i, value in ipairs {4, 5, 6} do
    v:load(value, sess)
    n:load(i - 1, sess)
    sess:run(update)
    near("graph", i, sess:run(average:average(v)))
  end
end
averages("decay 0.9", {3.1, 3.29, 3.561}, 0.9)
averages("decay 0.99 and a count", {3.9, 4.8, 5.7}, 0.99, true)
-- The average of a tensor starts at zero; zero_debias removes what that start weighs.
for _, debias in ipairs {true, false} do
  local graph <close> = tf.Graph():as_default()
  local x = tf.placeholder("float32", {}, {name = "x"})
  local average = tf.train.ExponentialMovingAverage(0.9, {zero_debias = debias})
  local update = average:apply {x}
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  for i, want in ipairs(debias and {4, 4.5263158, 5.0701107} or {0.4, 0.86, 1.374}) do
    sess:run(update, {[x] = i + 3})
    t.near(("zero start, zero_debias %s, value %d"):format(debias, i), sess:run(average:average(x)), want)
  end
end
t.done() -- expect: ok
