-- One small net with batch normalization, trained for five steps by each library's own means, from the same weights on the same data: the same
-- losses, weights and moving averages to the bit, in graphs and define-by-run.
-- The net: a 3x3 convolution without bias, batch normalization (momentum 0.9, epsilon 0.001) with ReLU, a 2x2 max pool, a dense layer; softmax
-- cross entropy with class numbers; gradient descent with rate 0.1.
-- Two things the libraries define differently: the loss of a batch is the mean of the examples' (one rounding) or their sum divided by their number
-- (two), and the moving variance takes the batch's with n or with n - 1 in the divisor. The raw net computes both. And where the graph learns only from
-- a fed flag whether it is trained (skflow's estimators), batch normalization is made of smaller ops, which round otherwise than the op that does all
-- at once: the raw net can do that as well.
local tf = require "tfsdk"
local K, slim, pt, skflow = tf.keras, tf.slim, tf.prettytensor, tf.skflow
local STEPS, RATE = 5, 0.1
local function numbers(seed, ...) return tf.random.normal({...}, {stddev = 0.2, seed = seed, now = true}) end
local x0, y0 = numbers(1, 6, 8, 8, 2), tf.tensor({2, 0, 1, 1, 0, 2}, "int64")
local names = {"conv kernel", "gamma", "beta", "dense kernel", "dense bias", "moving mean", "moving variance"}
local values = {numbers(2, 3, 3, 2, 4), numbers(3, 4) + 0.4, numbers(4, 4), numbers(5, 64, 3), numbers(6, 3), numbers(7, 4), tf.square(numbers(8, 4)) + 1}

-- Which of `names` a variable is, by its name's end.
local kinds = {weights = true, filters = true, kernel = true, gamma = 2, beta = 3, bias = 5, biases = 5, b = 5, moving_mean = 6, moving_variance = 7, running_mean = 6, running_var = 7}
local function kind_of(name, shape)
  local kind = kinds[name:gsub(":%d+$", ""):match "[^/]*$"]
  if kind == true then kind = #shape == 4 and 1 or 4 end
  return kind
end
-- Variables begin with the values; `vars` gets them by number.
local function in_scope(label, vars, fn)
  return tf.variable_scope(label, {custom_getter = function(make, name, shape, dtype, _, _, trainable)
    local i = kind_of(name, shape)
    if not i then error("what is " .. name, 0) end
    local v = make(name, shape, dtype, function() return tf.executing_eagerly() and values[i] or tf.constant(values[i]) end, nil, trainable)
    vars[i] = v
    return v
  end, reuse = tf.AUTO_REUSE}, fn)
end
-- What a run gives: the losses of the steps and the values in the end.
local function result(losses, vars, sess, turned)
  local out = {losses = tf.tensor(losses, "float64")}
  for i = 1, #names do
    if vars[i] then
      local v = sess and sess:run(vars[i], nil, {raw = true}) or vars[i]:value()
      out[i] = turned and turned[i] and tf.transpose(v, turned[i]) or v
    end
  end
  return out
end
-- A graph: build(x, y, vars) gives the training step and the loss; the loss is that before the step.
local function graph(build)
  return tf.Graph():as_default(function()
    local x, y, vars = tf.placeholder("float32", {-1, 8, 8, 2}), tf.placeholder("int64", {-1}), {}
    local step, loss, more = build(x, y, vars)
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    local losses = {}
    local feed = {[x] = x0, [y] = y0}
    for key, value in pairs(more or {}) do feed[key] = value end
    for i = 1, STEPS do losses[i] = sess:run({loss, step}, feed)[1] end
    return result(losses, vars, sess)
  end)
end
-- Define-by-run: forward(vars) gives the loss.
local function at_once(forward, optimizer)
  return tf.eager(function()
    local vars, losses = {}, {}
    optimizer = optimizer or tf.train.GradientDescentOptimizer(RATE)
    for i = 1, STEPS do
      local tape <close> = tf.GradientTape()
      local loss = forward(vars)
      tape:stop()
      losses[i] = loss:item()
      local list, trained = {}, {}
      for k = 1, 5 do trained[k] = vars[k] end
      for k, g in ipairs(tape:gradient(loss, trained)) do list[k] = {g, trained[k]} end
      optimizer:apply_gradients(list)
    end
    return result(losses, vars)
  end)
end

local function raw_net(x, y, vars, biased, pieces)
  return in_scope("raw", vars, function()
    local function var(name, i) return tf.get_variable(name, values[i].shape, {trainable = i <= 5}) end
    local h = tf.nn.conv2d(x, var("kernel", 1), {strides = 1, padding = "SAME"})
    local none = tf.constant({}, "float32")
    local normal, mean, variance, _, population = tf.raw.FusedBatchNormV3(h, var("gamma", 2):value(), var("beta", 3):value(), none, none, {epsilon = 0.001, is_training = true})
    if biased then variance = population end
    if pieces then
      mean = tf.reduce_mean(h, {0, 1, 2})
      variance = tf.reduce_mean(tf.raw.SquaredDifference(h, mean), {0, 1, 2})
      local inv = tf.rsqrt(variance + 0.001) * vars[2]
      normal = h * inv + (vars[3] - mean * inv)
    end
    local moving = {{var("moving_mean", 6), mean}, {var("moving_variance", 7), variance}}
    local updates = {}
    for i, m in ipairs(moving) do updates[i] = m[1]:assign_sub((m[1]:value() - m[2]) * (1 - 0.9)) end
    h = tf.reshape(tf.nn.max_pool(tf.nn.relu(normal), {ksize = 2, strides = 2, padding = "VALID"}), {-1, 64})
    local logits = tf.nn.bias_add(tf.matmul(h, tf.get_variable("w/kernel", {64, 3})), var("b", 5))
    local each = tf.nn.sparse_softmax_cross_entropy_with_logits {labels = y, logits = logits}
    return tf.reduce_mean(each), updates, tf.reduce_sum(each) / 6
  end)
end
local function layers_net(x, y, vars)
  return in_scope("layers", vars, function()
    local h = tf.layers.conv2d(x, 4, 3, {padding = "same", use_bias = false, name = "c"})
    h = tf.nn.relu(tf.layers.batch_normalization(h, {momentum = 0.9, training = true, name = "n", unbiased = true}))
    h = tf.layers.dense(tf.layers.flatten(tf.layers.max_pooling2d(h, 2, 2)), 3, {name = "d"})
    return tf.losses.sparse_softmax_cross_entropy(y, h)
  end)
end
local function slim_net(x, y, vars)
  return in_scope("slim", vars, function()
    local h = slim.conv2d(x, 4, 3, {normalizer_fn = slim.batch_norm, normalizer_params = {decay = 0.9, scale = true}, scope = "c"})
    h = slim.fully_connected(slim.flatten(slim.max_pool2d(h, 2)), 3, {activation_fn = false, scope = "d"})
    return slim.losses.sparse_softmax_cross_entropy(h, y)
  end)
end
local function pretty_net(x, y, vars)
  return in_scope("pt", vars, function()
    return pt.defaults_scope({learned_moments_update_rate = 0.1, scale_after_normalization = true}, function()
      return pt.wrap(x):conv2d(3, 4, {bias = false, batch_normalize = true, activation_fn = tf.nn.relu, name = "c"}):max_pool(2, 2):flatten()
        :fully_connected(3, {name = "d"}):sparse_cross_entropy(y).tensor
    end)
  end)
end
local function skflow_net(x, labels, vars)
  return in_scope("skflow", vars, function()
    local h = skflow.ops.conv2d(x, 4, {3, 3}, {bias = false})
    h = tf.nn.relu(skflow.ops.batch_normalize(h, {epsilon = 0.001, decay = 0.9}))
    h = tf.nn.max_pool(h, {ksize = 2, strides = 2, padding = "VALID"})
    return tf.variable_scope("d", function()
      return skflow.ops.softmax_classifier(tf.reshape(h, {-1, 64}), labels, tf.get_variable("weights", {64, 3}), tf.get_variable("bias", {3}))
    end)
  end)
end
local function keras_model()
  local input = K.layers.Input({8, 8, 2})
  local layers = {K.layers.Conv2D(4, 3, {padding = "same", use_bias = false}), K.layers.BatchNormalization {momentum = 0.9, epsilon = 0.001}, K.layers.ReLU(),
    K.layers.MaxPooling2D(), K.layers.Flatten(), K.layers.Dense(3)}
  local y = input
  for _, layer in ipairs(layers) do y = layer(y) end
  local model = K.Model(input, y)
  model:set_weights {values[1], values[2], values[3], values[6], values[7], values[4], values[5]}
  model:compile {optimizer = K.optimizers.SGD(RATE), loss = K.losses.SparseCategoricalCrossentropy {from_logits = true}}
  return model
end
local function keras_run()
  local model, losses = keras_model(), {}
  for i = 1, STEPS do
    local got = model:train_on_batch(x0, y0)
    losses[i] = type(got) == "table" and (got.loss or got[1]) or got
  end
  local w = model:get_weights()
  return {losses = tf.tensor(losses, "float64"), w[1], w[2], w[3], w[6], w[7], w[4], w[5]}
end
local function torch_run()
  local nn, optim = tf.torch.nn, tf.torch.optim
  local net = nn.Sequential(nn.Conv2d(2, 4, 3, {padding = 1, bias = false}), nn.BatchNorm2d(4, {eps = 0.001, momentum = 0.1}), nn.ReLU(), nn.MaxPool2d(2),
    nn.Transpose({2, 3}, {3, 4}), nn.Flatten(), nn.Linear(64, 3))
  net:load_state_dict {["0.weight"] = tf.transpose(values[1], {3, 2, 0, 1}), ["1.weight"] = values[2], ["1.bias"] = values[3], ["1.running_mean"] = values[6],
    ["1.running_var"] = values[7], ["6.weight"] = tf.transpose(values[4]), ["6.bias"] = values[5]}
  local criterion, opt, losses = nn.CrossEntropyLoss(), optim.SGD(net:parameters(), {lr = RATE}), {}
  local x = tf.transpose(x0, {0, 3, 1, 2})
  for i = 1, STEPS do
    local tape <close> = tf.GradientTape()
    local loss = tf.eager(function() return criterion(net(x), y0) end)
    tape:stop()
    losses[i] = loss:item()
    opt:step(tape:gradient(loss, net:parameters()))
  end
  local s = net:state_dict()
  return {losses = tf.tensor(losses, "float64"), tf.transpose(s["0.weight"], {2, 3, 1, 0}), s["1.weight"], s["1.bias"], tf.transpose(s["6.weight"]), s["6.bias"],
    s["1.running_mean"], s["1.running_var"]}
end

local function simple(net)
  return function()
    return graph(function(x, y, vars)
      local loss, updates = net(x, y, vars)
      local c <close> = tf.control_dependencies(updates or tf.get_collection(tf.GraphKeys.UPDATE_OPS))
      return tf.train.GradientDescentOptimizer(RATE):minimize(loss), loss
    end)
  end, function() return at_once(function(vars) return (net(x0, y0, vars)) end) end
end
local runs = {}
runs["raw, graph"], runs["raw, define-by-run"] = simple(raw_net)
runs["tf.layers, graph"], runs["tf.layers, define-by-run"] = simple(layers_net)
runs["slim, graph"] = function()
  return graph(function(x, y, vars)
    slim_net(x, y, vars)
    local loss = slim.losses.get_total_loss()
    return slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(RATE)), loss
  end)
end
runs["slim, define-by-run"] = function()
  return tf.eager(function()
    local vars, losses = {}, {}
    local step = slim.learning.create_train_op(function() return slim_net(x0, y0, vars) end, tf.train.GradientDescentOptimizer(RATE))
    for i = 1, STEPS do losses[i] = step():item() end
    return result(losses, vars)
  end)
end
runs["prettytensor, graph"] = function()
  return graph(function(x, y, vars) return pt.apply_optimizer(tf.train.GradientDescentOptimizer(RATE), {pretty_net(x, y, vars)}) end)
end
runs["prettytensor, define-by-run"] = function() return at_once(function(vars) return pretty_net(x0, y0, vars) end) end
runs["skflow, graph"] = function() -- the estimator's own step; its gradients have norms below 5, where it clips
  local vars, losses = {}, {}
  local e = skflow.TensorFlowEstimator {n_classes = 3, learning_rate = RATE, model_fn = function(x, y) return skflow_net(x, y, vars) end}
  e:build(x0.shape, x0.dtype, {6})
  for i = 1, STEPS do losses[i] = e.session:run({e.loss, e.step}, {[e.x] = x0, [e.y] = tf.one_hot(y0, 3), [e.training] = true})[1] end
  return result(losses, vars, e.session)
end
runs["skflow, define-by-run"] = function()
  local scope <close> = skflow.ops.training_scope(true)
  return at_once(function(vars) local _, loss = skflow_net(x0, tf.one_hot(y0, 3), vars) return loss end)
end
runs["keras, graph"] = function() return tf.Graph():as_default(keras_run) end
runs["keras, define-by-run"] = function() return tf.eager(keras_run) end
runs["torch, define-by-run"] = torch_run

-- Which definitions a library has.
local has_mean, has_biased = {raw = true, prettytensor = true, skflow = true}, {keras = true, prettytensor = true, skflow = true}
local wants = {}
local function wanted(mean, biased, pieces)
  local key = tostring(mean) .. tostring(biased) .. tostring(pieces)
  wants[key] = wants[key] or graph(function(x, y, vars)
    local loss, updates, by_sum = raw_net(x, y, vars, biased, pieces)
    local c <close> = tf.control_dependencies(updates)
    return tf.train.GradientDescentOptimizer(RATE):minimize(loss), mean and loss or by_sum
  end)
  return wants[key]
end
local order = {}
for name in pairs(runs) do order[#order + 1] = name end
table.sort(order)
local passed, failed = 0, 0
local losses = wanted(true).losses
assert(losses[STEPS]:item() < losses[1]:item(), "the net does not learn")
for _, name in ipairs(order) do
  local ok, got = pcall(runs[name])
  local why = not ok and tostring(got) or nil
  local library = name:match "^[^,]*"
  local want = wanted(has_mean[library], has_biased[library], name == "skflow, graph")
  if ok then
    if got.losses:bytes() ~= want.losses:bytes() then why = "other losses: " .. table.concat(got.losses:table(), " ") .. " not " .. table.concat(want.losses:table(), " ") end
    for i, t in ipairs(want) do
      if not got[i] or got[i]:bytes() ~= t:bytes() then
        why = (why and why .. "; " or "") .. ("%s differs by %g"):format(names[i], got[i] and tf.reduce_max(tf.abs(got[i] - t)):item() or -1)
      end
    end
  end
  if why then
    failed = failed + 1
    print(name, why)
  else
    passed = passed + 1
  end
end
print(("the same training: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1, true)
