-- create_train_op and train: updates of statistics are never forgotten, gradients are multiplied and clipped, the loop logs and
-- stops; the same three steps in define-by-run mode give the same weights to the bit.
local tf = require "tfsdk"
local slim = tf.slim
local learning = slim.learning
local xs = tf.random.normal({3, 16, 4}, {seed = 1, now = true})
local ys = tf.random.normal({3, 16, 1}, {seed = 2, now = true})
local function model(x, y)
  local h = slim.fully_connected(x, 8, {normalizer_fn = slim.batch_norm, normalizer_params = {decay = 0.5}, scope = "h",
    weights_initializer = tf.random_normal_initializer {stddev = 0.5, seed = 3}})
  local p = slim.fully_connected(h, 1, {activation_fn = false, scope = "p", weights_initializer = tf.random_normal_initializer {stddev = 0.5, seed = 4}})
  return tf.reduce_mean(tf.square(p - y))
end
local logged, graph_values = {}, {}
local graph = tf.Graph()
graph:as_default(function()
  local x, y = tf.placeholder("float32", {-1, 4}), tf.placeholder("float32", {-1, 1})
  local train_op = learning.create_train_op(model(x, y), tf.train.MomentumOptimizer(0.1, 0.9), {clip_gradient_norm = 0.3,
    gradient_multipliers = {["p/weights"] = 2}})
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  local step = 0
  local loss = learning.train(train_op, {session = sess, number_of_steps = 3, log = function(line) logged[#logged + 1] = line end, feeds = function()
    step = step + 1
    return {[x] = xs[step], [y] = ys[step]}
  end})
  for _, v in ipairs(tf.global_variables()) do graph_values[v.op.name] = sess:run(v, nil, {raw = true}) end
  print(sess:run(tf.train.get_global_step()), loss == loss) -- expect: 3	true
end)
for i, line in ipairs(logged) do print((line:gsub("%d+%.%d%d%d%d", "L"):gsub("%d+%.%d%d%d", "S"))) end
-- expect: global step 1: loss = L (S sec/step)
-- expect: global step 2: loss = L (S sec/step)
-- expect: global step 3: loss = L (S sec/step)
print(graph_values["h/BatchNorm/moving_mean"]:abs():reduce_sum():item() > 0) -- expect: true

tf.eager(function()
  local loss_of = tf.make_template("t", model)
  local step, opt = 1, tf.train.MomentumOptimizer(0.1, 0.9)
  local list
  local train = learning.create_train_op(function()
    local loss = loss_of(xs[step], ys[step])
    return loss
  end, opt, {clip_gradient_norm = 0.3, gradient_multipliers = {["t/p/weights"] = 2}})
  for i = 1, 3 do
    step = i
    train()
  end
  local same, n = true, 0
  for _, v in ipairs(tf.global_variables()) do
    local name = v.name:match "^t/(.*):0$"
    local want = name and graph_values[name]
    if want then same, n = same and v:value():bytes() == want:bytes(), n + 1 end
  end
  print(same, n) -- expect: true	10
  -- (six variables, four of them with a momentum)
end)

-- each gradient is clipped by its own norm: sum(30 w) has the gradient 30 in each of two elements, norm 42.4, clipped to 1
tf.Graph():as_default(function()
  local w = slim.model_variable("w", {2}, {initializer = tf.zeros_initializer()})
  local op = learning.create_train_op(tf.reduce_sum(w * 30), tf.train.GradientDescentOptimizer(1), {clip_gradient_norm = 1})
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  sess:run(op)
  print(math.abs(sess:run(w):table()[1] + 1 / math.sqrt(2)) < 1e-6) -- expect: true
end)
-- a loss that is no number: the first bad value is named, with its line
tf.Graph():as_default(function()
  local w = slim.model_variable("w", {}, {initializer = tf.zeros_initializer()})
  local op = learning.create_train_op(w / w, tf.train.GradientDescentOptimizer(1))
  local ok, why = pcall(learning.train, op, {number_of_steps = 1})
  print(ok, tostring(why):find "RealDiv .truediv.: the first value of this run that is not finite" ~= nil) -- expect: false	true
end)
-- a step function of one's own, and data that end
tf.Graph():as_default(function()
  local w = slim.model_variable("w", {}, {initializer = tf.ones_initializer()})
  local x = tf.placeholder("float32", {})
  local op = learning.create_train_op(w * x, tf.train.GradientDescentOptimizer(0.5))
  local n = 0
  local last = learning.train(op, {train_step_fn = function(sess, train_op, step, kwargs)
    local loss = learning.train_step(sess, train_op, step, kwargs)
    n = n + 1
    return loss, n == 5
  end, log_every_n_steps = 0, feeds = function() return n < 2 and {[x] = 1} or nil end})
  print(n, last) -- expect: 2	0.5
end)
