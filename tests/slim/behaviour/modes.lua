-- A layer gives the same bits in a graph and define-by-run, outputs and gradients; it shares variables by scope; in tf.layers and in Slim it is the same record.
local tf = require "tfsdk"
local slim = tf.slim
local x = tf.random.normal({4, 9, 9, 3}, {seed = 1, now = true})
local dy = tf.random.normal({4, 10}, {seed = 2, now = true})
local function model(input)
  local h = slim.conv2d(input, 6, 3, {stride = 2, normalizer_fn = slim.batch_norm, scope = "c", weights_initializer = tf.random_normal_initializer {seed = 3}})
  h = slim.max_pool2d(h, 2)
  h = slim.dropout(slim.flatten(h), 0.5, {seed = 5})
  return slim.fully_connected(h, 10, {activation_fn = tf.tanh, scope = "f", weights_initializer = tf.random_normal_initializer {seed = 4}})
end
local names = {"c/weights", "c/BatchNorm/beta", "f/weights", "f/biases"}
local in_graph = tf.Graph():as_default(function()
  local p = tf.placeholder("float32", x.shape)
  local y = model(p)
  local vars = {p}
  for i, n in ipairs(names) do vars[i + 1] = slim.get_unique_variable(n) end
  local grads = tf.gradients(y, vars, {grad_ys = {tf.constant(dy)}})
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  return sess:run({y, table.unpack(grads)}, {[p] = x}, {raw = true})
end)
local at_once = tf.eager(function()
  local tape <close> = tf.GradientTape()
  tape:watch(x)
  local y = model(x)
  local vars = {x}
  for i, n in ipairs(names) do vars[i + 1] = slim.get_unique_variable(n) end
  return {y, table.unpack(tape:gradient(y, vars, {output_gradients = {dy}}))}
end)
local same = true
for i, g in ipairs(in_graph) do same = same and g:bytes() == at_once[i]:bytes() end
print(#in_graph, same) -- expect: 6	true

-- shared by scope in both modes
for _, mode in ipairs {"graph", "eager"} do
  local function twice()
    local a = slim.fully_connected(tf.ones {2, 3}, 2, {scope = "shared", reuse = tf.AUTO_REUSE})
    local b = slim.fully_connected(tf.ones {2, 3}, 2, {scope = "shared", reuse = tf.AUTO_REUSE})
    local n = 0
    for _, v in ipairs(tf.global_variables()) do if v.name:find "^shared/" then n = n + 1 end end
    return n
  end
  print(mode, mode == "graph" and tf.Graph():as_default(twice) or tf.eager(twice))
end
-- expect: graph	2
-- expect: eager	2

-- a training flag that is fed: one graph for both behaviours
tf.Graph():as_default(function()
  local training = tf.placeholder("bool", {})
  local p = tf.placeholder("float32", {-1, 2})
  local y = slim.batch_norm(p, {is_training = training, decay = 0.5, updates_collections = false})
  local d = slim.dropout(p, 0.5, {is_training = training, seed = 1})
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  local data = {{0, 10}, {2, 30}}
  -- inference from the start: mean 0, variance 1, epsilon 0.001
  print(("%.4f"):format(sess:run(y, {[p] = data, [training] = false}):table()[2][1])) -- expect: 1.9990
  -- the batch's: (x - 1) / sqrt(1 + 0.001)
  print(("%.4f"):format(sess:run(y, {[p] = data, [training] = true}):table()[2][1])) -- expect: 0.9995
  -- moving mean 0.5, variance (1 + 2) / 2: the variance is divided by n - 1
  print(("%.4f"):format(sess:run(y, {[p] = data, [training] = false}):table()[2][1])) -- expect: 1.2243
  print(sess:run(tf.reduce_sum(d - p), {[p] = data, [training] = false})) -- expect: 0.0
end)

-- the same layer as tf.layers has it, by name and position
tf.eager(function()
  local a = tf.layers.dense(x[1][1], 2, {activation = "relu", kernel_initializer = tf.ones_initializer()})
  local b = slim.fully_connected(x[1][1], 2, {weights_initializer = tf.ones_initializer()})
  print(tf.reduce_all(tf.equal(a, b)):item()) -- expect: true
end)
