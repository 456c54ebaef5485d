-- tf.mixed_precision: types by the class of an op, float32 weights, and loss scales with TensorFlow's numbers (1.15: tf.train.experimental).
local tf = require "tfsdk"
local wrong, n = 0, 0
local function check(what, got, want)
  n = n + 1
  if got ~= want then
    wrong = wrong + 1
    print(("wrong: %s: %s, want %s"):format(what, tostring(got), tostring(want)))
  end
end
local function fails(what, words, fn, ...)
  local ok, message = pcall(fn, ...)
  check(what, ok and "no error" or tostring(message):find(words, 1, true) and words or tostring(message), words)
end
local mixed = tf.mixed_precision
local function both(fn)
  tf.eager(function() fn "eager" end)
  local g = tf.Graph()
  local s <close> = g:as_default()
  fn "graph"
end

-- ------------------------------------------------------------------------------------- types

for _, low in ipairs {"float16", "bfloat16"} do
  both(function(mode)
    local round = 0
    local function types(want)
      round = round + 1
      local x, w, b = tf.ones{2, 3}, tf.get_variable("w_" .. low .. mode .. round, {3, 4}), tf.ones{4}
      local p = tf.matmul(x, w)
      check(mode .. " product", p.dtype, want)
      check(mode .. " bias", tf.nn.bias_add(p, b).dtype, want)
      check(mode .. " relu", tf.nn.relu(p).dtype, want)
      check(mode .. " both types meet", (p + b).dtype, "float32")
      check(mode .. " softmax", tf.nn.softmax(p).dtype, "float32")
      check(mode .. " sum", tf.reduce_sum(p).dtype, "float32")
      check(mode .. " convolution", tf.nn.conv2d(tf.ones{1, 4, 4, 1}, tf.ones{3, 3, 1, 2}, {strides = 1, padding = "SAME"}).dtype, want)
      check(mode .. " concat", tf.concat({p, p}, 0).dtype, want)
      check(mode .. " concat of both", tf.concat({p, tf.ones{2, 4}}, 0).dtype, "float32")
      check(mode .. " float64 stays", tf.matmul(tf.ones({2, 2}, "float64"), tf.ones({2, 2}, "float64")).dtype, "float64")
      check(mode .. " variable", w.dtype, "float32")
    end
    types "float32" -- nothing unless asked for
    mixed.policy_scope("mixed_" .. low, function() types(low) end)
    types "float32"
  end)
end

-- gradients of weights are float32, layers' weights too; the layer after a product as well
mixed.policy_scope("mixed_bfloat16", function()
  local g = tf.Graph()
  local s <close> = g:as_default()
  local h = tf.slim.conv2d(tf.ones{2, 4, 4, 3}, 4, {3, 3}, {normalizer_fn = tf.slim.batch_norm})
  h = tf.slim.conv2d(h, 4, {3, 3})
  h = tf.layers.batch_normalization(h, {training = true})
  local out = tf.layers.dense(tf.layers.flatten(tf.slim.conv2d(h, 2, {1, 1})), 5)
  check("logits", out.dtype, "bfloat16")
  for _, v in ipairs(tf.global_variables()) do check(v.name, v.dtype, "float32") end
  for i, grad in ipairs(tf.gradients(tf.reduce_mean(out), tf.trainable_variables())) do check("gradient " .. i, grad and grad.dtype, "float32") end
end)

-- ------------------------------------------------------------------------------------- policies

check("no policy", mixed.global_policy().name, "float32")
mixed.set_global_policy "mixed_bfloat16"
check("the global one", mixed.global_policy().compute_dtype, "bfloat16")
check("weights", mixed.global_policy().variable_dtype, "float32")
check("is Keras'", tf.keras.mixed_precision.global_policy(), mixed.global_policy())
check("a graph made later", (function()
  local g = tf.Graph()
  local s <close> = g:as_default()
  return tf.matmul(tf.ones{2, 2}, tf.ones{2, 2}).dtype
end)(), "bfloat16")
tf.eager(function()
  local layer = tf.keras.layers.Dense(3, {activation = "softmax"})
  check("Keras' layer keeps its own rule", layer(tf.ones{2, 2}).dtype, "bfloat16")
  check("Keras' weights", layer.weights[1].dtype, "float32")
end)
mixed.set_global_policy "float32"
check("back", tf.matmul(tf.ones({2, 2}, {now = true}), tf.ones({2, 2}, {now = true})).dtype, "float32")
fails("unknown", "did you mean 'mixed_float16'", mixed.set_global_policy, "mixed_float61")
fails("no name", "argument 'name' must be a string", mixed.Policy, 3)

-- ------------------------------------------------------------------------------------- loss scales

local dynamic = mixed.DynamicLossScale()
check("initial scale", dynamic.initial_loss_scale, 2 ^ 15)
check("growth steps", dynamic.increment_period, 2000)
check("factor", dynamic.multiplier, 2)
fails("a factor of one", "must be above 1", mixed.DynamicLossScale, {multiplier = 1})
fails("a scale of zero", "must be above 0", mixed.FixedLossScale, 0)
fails("no scale", "must be \"dynamic\"", mixed.LossScaleOptimizer, tf.train.GradientDescentOptimizer(1), "static")
fails("no optimizer", "must be one of tf.train", mixed.LossScaleOptimizer, 3)
fails("twice", "has a loss scale already", mixed.LossScaleOptimizer, mixed.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1)))

-- d(w^2 x)/dw = 2 w x at w = 1, rate 0.25: by 0.5 at x = 1. Scales by the rule: two good steps double, a bad one halves and is left out.
local feeds = {1, 1, 1, 0 / 0, 1, 1 / 0}
local want_scale, want_step = {8, 16, 16, 8, 8, 4}, {1, 2, 3, 3, 4, 4}
local function halves(k) return 0.5 ^ want_step[k] end
local adam = {}
both(function(mode)
  local rule = mixed.DynamicLossScale{initial_loss_scale = 8, increment_period = 2}
  local opt = mixed.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.25), rule)
  local w = tf.Variable(1.0, {name = "w"})
  local step = tf.Variable(tf.tensor(0, "int64"), {trainable = false, name = "step"})
  local run, read
  if mode == "eager" then
    run = function(x) opt:minimize(function() return w * w * x end, {global_step = step}) end
    read = function(v) return v:item() end
    opt:loss_scale()
  else
    local x = tf.placeholder("float32", {})
    local train = opt:minimize(w * w * x, {global_step = step})
    local sess = tf.Session()
    opt:loss_scale()
    sess:run(tf.global_variables_initializer())
    run = function(value) sess:run(train, {[x] = value}) end
    read = function(v) return sess:run(v) end
  end
  for k, x in ipairs(feeds) do
    run(x)
    check(mode .. " weight after step " .. k, read(w), halves(k))
    check(mode .. " scale after step " .. k, read(rule:variables()[1]), want_scale[k])
    check(mode .. " global step after step " .. k, read(step), want_step[k])
  end
  -- the scale does not fall below one
  for _ = 1, 4 do run(0 / 0) end
  check(mode .. " smallest scale", read(rule:variables()[1]), 1)
  check(mode .. " variables", #opt:variables(), 2)
end)

-- Slots and powers stay as they were, too: Adam with a bad step between is Adam without it.
both(function(mode)
  local w = tf.Variable(1.0, {name = "v"})
  local opt = mixed.LossScaleOptimizer(tf.train.AdamOptimizer(0.1))
  local out = {}
  if mode == "eager" then
    for _, x in ipairs {1, 0 / 0, 2, 3} do opt:minimize(function() return w * w * x end) end
    out = w:item()
  else
    local x = tf.placeholder("float32", {})
    local train = opt:minimize(w * w * x)
    local plain = tf.Variable(1.0, {name = "plain"})
    local reference = tf.train.AdamOptimizer(0.1):minimize(plain * plain * x, {var_list = {plain}})
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    for _, value in ipairs {1, 0 / 0, 2, 3} do sess:run(train, {[x] = value}) end
    for _, value in ipairs {1, 2, 3} do sess:run(reference, {[x] = value}) end
    out = sess:run(w)
    check("Adam without the bad step", out, sess:run(plain))
  end
  adam[#adam + 1] = out
end)
check("graph and eager", adam[1], adam[2])

-- A fixed scale saves what float16 loses: 1e-8 is 0 in float16, times 1024 it is not. The gradient of w is 1e-8 by formula.
do
  local g = tf.Graph()
  local s <close> = g:as_default()
  local w = tf.Variable(tf.tensor{{1}}, {name = "w"})
  local function loss()
    return mixed.policy_scope("mixed_float16", function() return tf.reduce_sum(tf.cast(tf.matmul(tf.ones{1, 1}, w), "float32") * 1e-8) end)
  end
  local opt = mixed.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1), 1024)
  local scaled = opt:compute_gradients(loss())[1][1]
  local lost = tf.gradients(loss(), w)[1]
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  check("lost without a scale", sess:run(tf.reduce_sum(lost)), 0)
  check("kept with one", math.abs(sess:run(tf.reduce_sum(scaled)) - 1e-8) < 1e-10, true)
end

if wrong > 0 then error(("%d of %d are wrong"):format(wrong, n), 0) end
print(("%d checks"):format(n))
