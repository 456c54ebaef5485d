-- OPT-02: weight decay is not L2 under Adam; decay beside the step is multiplied by the learning rate (in TensorFlow's
-- contrib it is not; docs/conventions.md).
-- Know: float64; agrees with torch's Adam and AdamW.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

-- L2: the penalty's gradient, decay * w, goes into the moments.
local function l2(gradients, make, check)
  tf.eager(function()
    local v, opt, after = tf.Variable(1.0, {name = "v"}), make(), {}
    for i, g in ipairs(gradients) do
      opt:minimize(function() return tf.reduce_sum(v * g) + 0.1 * tf.nn.l2_loss(v) end, {var_list = {v}})
      after[i] = v:value()
    end
    check("define-by-run", after)
  end)
  local graph <close> = tf.Graph():as_default()
  local v, g, after = tf.Variable(1.0, {name = "v"}), tf.placeholder("float32", {}), {}
  local train = make():minimize(v * g + 0.1 * tf.nn.l2_loss(v))
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  for i, value in ipairs(gradients) do
    sess:run(train, {[g] = value})
    after[i] = sess:run(v)
  end
  check("graph", after)
end
local function expect(label, want)
  return function(mode, w)
    for i, x in ipairs(want) do t.near(("%s %s step %d"):format(mode, label, i), w[i], x, 1e-5) end
  end
end
local adam = function() return tf.train.AdamOptimizer(0.1) end
local adamw = function() return tf.contrib.opt.AdamWOptimizer(0.1, {learning_rate = 0.1}) end
l2({1, 1, 1}, adam, expect("L2", {0.9, 0.8000248, 0.7000914}))
l2({0, 0}, adam, expect("L2 alone", {0.9, 0.8004122}))
t.optimizer_steps(tf.tensor(1), {1, 1, 1}, adamw, expect("decoupled", {0.89, 0.7811, 0.673289}))
t.optimizer_steps(tf.tensor(1), {0, 0}, adamw, expect("decoupled alone", {0.99, 0.9801}))
-- Plain descent: both forms are the same.
l2({1, 1}, function() return tf.train.GradientDescentOptimizer(0.1) end, expect("descent with L2", {0.89, 0.7811}))
t.optimizer_steps(tf.tensor(1), {1, 1}, function() return tf.contrib.opt.MomentumWOptimizer(0.1, 0.1, 0) end,
  expect("descent, decoupled", {0.89, 0.7811}))
-- Decay of rows: all of the variable decays, whichever rows have a gradient.
t.optimizer_steps(tf.tensor {1, 1}, {{values = {0}, indices = {0}}, {values = {0}, indices = {0}}}, adamw, function(mode, w)
  t.near(mode .. " sparse, step 2", w[2], {0.9801, 0.9801})
end)
t.done() -- expect: ok
