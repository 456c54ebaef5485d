-- Default numbers of tf.train, tf.contrib.opt, tf.losses, tf.metrics, tf.initializers: the signatures of TensorFlow 1.15, one line a class.
-- What is no field is told by what it does.
local tf = require "tfsdk"
local wrong, n = 0, 0
local function check(what, got, want)
  n = n + 1
  if got ~= want then
    wrong = wrong + 1
    print(("%s: %s, want %s"):format(what, tostring(got), tostring(want)))
  end
end
local function near(what, got, want, limit)
  n = n + 1
  if type(got) ~= "number" or math.abs(got - want) > (limit or 1e-6) * math.max(math.abs(want), 1e-3) then
    wrong = wrong + 1
    print(("%s: %s, want %s"):format(what, tostring(got), tostring(want)))
  end
end

-- ------------------------------------------------------------------------------------- optimizers

local optimizers = [[
train GradientDescentOptimizer [learning_rate=1] use_locking false name GradientDescent
train MomentumOptimizer        [learning_rate=1 momentum=0.9] use_nesterov false name Momentum
train AdamOptimizer            learning_rate 0.001 beta1 0.9 beta2 0.999 epsilon 1e-8 name Adam
train RMSPropOptimizer         [learning_rate=1] decay 0.9 momentum 0 epsilon 1e-10 centered false name RMSProp
train AdagradOptimizer         [learning_rate=1] initial_accumulator_value 0.1 name Adagrad
train AdadeltaOptimizer        learning_rate 0.001 rho 0.95 epsilon 1e-8 name Adadelta
train AdagradDAOptimizer       [learning_rate=1 global_step=1] initial_gradient_squared_accumulator_value 0.1 l1_regularization_strength 0 l2_regularization_strength 0
train FtrlOptimizer            [learning_rate=1] learning_rate_power -0.5 initial_accumulator_value 0.1 l1_regularization_strength 0 l2_regularization_strength 0 l2_shrinkage_regularization_strength 0
train ProximalGradientDescentOptimizer [learning_rate=1] l1_regularization_strength 0 l2_regularization_strength 0
train ProximalAdagradOptimizer [learning_rate=1] initial_accumulator_value 0.1 l1_regularization_strength 0 l2_regularization_strength 0
opt   AdamWOptimizer           [weight_decay=0.1] learning_rate 0.001 beta1 0.9 beta2 0.999 epsilon 1e-8
opt   LazyAdamOptimizer        learning_rate 0.001 beta1 0.9 beta2 0.999 epsilon 1e-8
opt   AdaMaxOptimizer          learning_rate 0.001 beta1 0.9 beta2 0.999 epsilon 1e-8
opt   NadamOptimizer           learning_rate 0.001 beta1 0.9 beta2 0.999 epsilon 1e-8
opt   AddSignOptimizer         learning_rate 0.1 alpha 1 beta 0.9
opt   PowerSignOptimizer       learning_rate 0.1 base 2.718281828459045 beta 0.9
]]
for line in optimizers:gmatch "[^\n]+" do
  local space, name, rest = line:match "^(%S+)%s+(%S+)%s+(.*)$"
  local given = {}
  rest = rest:gsub("%[(.-)%]%s*", function(list)
    for key, value in list:gmatch "(%S+)=(%S+)" do given[key] = tonumber(value) end
    return ""
  end, 1)
  local object = (space == "train" and tf.train or tf.contrib.opt)[name](given)
  for key, value in rest:gmatch "(%S+)%s+(%S+)" do
    if value == "false" then value = false else value = tonumber(value) or value end
    check(name .. "." .. key, object[key], value)
  end
end
check("gate_gradients NONE", tf.train.Optimizer.GATE_NONE, 0)
check("gate_gradients OP", tf.train.Optimizer.GATE_OP, 1)
check("gate_gradients GRAPH", tf.train.Optimizer.GATE_GRAPH, 2)
local ema = tf.train.ExponentialMovingAverage(0.9)
check("ExponentialMovingAverage.zero_debias", ema.zero_debias, false)

tf.eager(function()
  -- --------------------------------------------------------------------------------- learning rates

  local step = tf.Variable(tf.tensor(30, "int64"), {trainable = false})
  local function at(fn) return fn():item() end
  near("exponential_decay: no stairs", at(tf.train.exponential_decay(1, step, 20, 0.5)), 0.5 ^ 1.5)
  near("natural_exp_decay: no stairs", at(tf.train.natural_exp_decay(1, step, 20, 0.5)), math.exp(-0.75))
  near("inverse_time_decay: no stairs", at(tf.train.inverse_time_decay(1, step, 20, 0.5)), 1 / 1.75)
  near("polynomial_decay: ends at 0.0001, no cycle", at(tf.train.polynomial_decay(1, step, 20)), 0.0001)
  near("polynomial_decay: power 1", at(tf.train.polynomial_decay(1, step, 60)), (1 - 0.0001) * 0.5 + 0.0001)
  near("cosine_decay: alpha 0", at(tf.train.cosine_decay(1, step, 20)), 0)
  near("cosine_decay_restarts: t_mul 2, m_mul 1", at(tf.train.cosine_decay_restarts(1, step, 10)), 1)
  near("linear_cosine_decay: half a period, alpha 0, beta 0.001", at(tf.train.linear_cosine_decay(1, step, 60)), 0.5 * 0.5 * (1 + math.cos(math.pi * 0.5)) + 0.001)

  -- Linear cosine decay with normal noise of variance 1 / (1 + step)^0.55 on the linear part; 4000 draws tell the mean to 0.003, the deviation to 0.002.
  do
    tf.set_random_seed(7)
    local noisy, sum, squares, draws = tf.train.noisy_linear_cosine_decay(1, step, 60), 0, 0, 4000
    for _ = 1, draws do
      local v = at(noisy)
      sum, squares = sum + v, squares + v * v
    end
    local middle, cosine = sum / draws, 0.5 * (1 + math.cos(math.pi * 0.5))
    near("noisy_linear_cosine_decay: half a period, alpha 0, beta 0.001", middle, 0.5 * cosine + 0.001, 0.06)
    near("noisy_linear_cosine_decay: initial_variance 1, variance_decay 0.55", math.sqrt(squares / draws - middle ^ 2), cosine / math.sqrt(31 ^ 0.55), 0.06)
  end

  -- --------------------------------------------------------------------------------- losses

  local L = tf.losses
  near("huber_loss: delta 1", L.huber_loss(tf.tensor{0.0}, tf.tensor{3.0}):item(), 2.5)
  near("log_loss: epsilon 1e-7", L.log_loss(tf.tensor{1.0}, tf.tensor{0.0}):item(), -math.log(1e-7), 1e-5)
  near("sigmoid_cross_entropy: no smoothing", L.sigmoid_cross_entropy(tf.tensor{1.0}, tf.tensor{0.0}):item(), math.log(2))
  near("softmax_cross_entropy: no smoothing", L.softmax_cross_entropy(tf.tensor{{1.0, 0}}, tf.tensor{{0.0, 0}}):item(), math.log(2))
  near("smoothing of sigmoid: y (1 - s) + s / 2", L.sigmoid_cross_entropy(tf.tensor{1.0}, tf.tensor{2.0}, {label_smoothing = 0.2}):item(), math.log(1 + math.exp(2)) - 2 * 0.9)
  near("smoothing of softmax: y (1 - s) + s / C", L.softmax_cross_entropy(tf.tensor{{1.0, 0}}, tf.tensor{{2.0, 0}}, {label_smoothing = 0.2}):item(), math.log(1 + math.exp(2)) - 2 * 0.9)
  near("reduction by weights that are not zero", L.absolute_difference(tf.tensor{0.0, 0}, tf.tensor{3.0, 5}, {weights = tf.tensor{1.0, 0}}):item(), 3)

  -- --------------------------------------------------------------------------------- initial values

  local I = tf.initializers
  local many = {100, 300}
  local function law(x)
    local mean = tf.reduce_mean(x):item()
    return mean, math.sqrt(tf.reduce_mean(tf.square(x - mean)):item()), tf.reduce_min(x):item(), tf.reduce_max(x):item()
  end
  check("constant 0", I.constant()({1}, "float32"):item(), 0.0)
  local mean, deviation, low, high = law(I.random_uniform{seed = 1}(many, "float32"))
  check("random_uniform: 0 to 1", low >= 0 and low < 1e-3 and high <= 1 and high > 0.999, true)
  mean, deviation = law(I.random_normal{seed = 1}(many, "float32"))
  check("random_normal: 0 and 1", math.abs(mean) < 0.02 and math.abs(deviation - 1) < 0.02, true)
  mean, deviation, low, high = law(I.truncated_normal{seed = 1}(many, "float32"))
  check("truncated_normal: cut at 2", high <= 2 and low >= -2 and high > 1.95 and math.abs(deviation - 0.87962566) < 0.02, true)
  _, _, low, high = law(I.uniform_unit_scaling{seed = 1}(many, "float32"))
  check("uniform_unit_scaling: factor 1", math.abs(high - math.sqrt(3 / 100)) < 1e-3 and math.abs(low + math.sqrt(3 / 100)) < 1e-3, true)
  _, deviation, _, high = law(I.variance_scaling{seed = 1}(many, "float32"))
  check("variance_scaling: 1, fan_in, truncated_normal", math.abs(deviation - 0.1) < 0.002 and high <= 0.2 / 0.87962566 + 1e-6, true)
  near("orthogonal: gain 1", tf.reduce_sum(tf.square(I.orthogonal{seed = 1}({2, 3}, "float32"))):item(), 2, 1e-5)
  near("identity: gain 1", tf.reduce_sum(I.identity()({3, 3}, "float32")):item(), 3)
end)

-- ------------------------------------------------------------------------------------- metrics

tf.Graph():as_default(function()
  local y, p = tf.constant({1, 0, 1}, "float32"), tf.constant({0.9, 0.2, 0.6}, "float32")
  tf.metrics.auc(y, p)
  local thresholds
  for _, v in ipairs(tf.local_variables()) do thresholds = thresholds or #v.shape == 1 and v.shape[1] end
  check("auc: num_thresholds 200", thresholds, 200)
  local plain, said = select(2, tf.metrics.auc(y, p)), {}
  local labels, scores = tf.constant({1, 0, 1, 0, 1}, "float32"), tf.constant({0.9, 0.8, 0.6, 0.3, 0.2}, "float32")
  local _, by_default = tf.metrics.auc(labels, scores)
  for _, curve in ipairs{"ROC", "PR"} do said[curve] = select(2, tf.metrics.auc(labels, scores, {curve = curve, summation_method = "trapezoidal"})) end
  local sess <close> = tf.Session()
  sess:run(tf.local_variables_initializer())
  local r = sess:run({plain, by_default, said.ROC, said.PR})
  near("auc: 1 where the scores part the labels", r[1], 1, 1e-5)
  near("auc: curve ROC, trapezoidal", r[2], r[3], 1e-7)
  near("auc: the pairs in order, 3 of 6", r[2], 0.5, 1e-3)
  check("auc: PR is another", math.abs(r[3] - r[4]) > 0.01, true)
end)
print(("%d defaults, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and 0 or 1, true)
