-- One small model in all layer libraries with the same weights: the same outputs and gradients to the bit, in graphs and define-by-run.
-- The model: a 3x3 convolution with ReLU, a 2x2 max pool, a dense layer with tanh, a dense layer; the gradient is that of the sum of its squares.
local tf = require "tfsdk"
local K, slim, pt, skflow = tf.keras, tf.slim, tf.prettytensor, tf.skflow
local function numbers(seed, ...) return tf.random.normal({...}, {stddev = 0.3, seed = seed, now = true}) end
local x0 = numbers(1, 5, 8, 8, 2)
local values = {numbers(2, 3, 3, 2, 4), numbers(3, 4), numbers(4, 64, 6), numbers(5, 6), numbers(6, 6, 3), numbers(7, 3)}
local names = {"conv kernel", "conv bias", "dense kernel", "dense bias", "last kernel", "last bias"}

-- Variables are made in the order of `values`, whatever their names are.
local function given(count)
  local i = 0
  return function(make, name, shape, dtype, _, _, trainable)
    i = i + 1
    local value = values[i]
    if not value or table.concat(value.shape, "x") ~= table.concat(shape, "x") then error(("variable %d is %s {%s}"):format(i, name, table.concat(shape, ",")), 0) end
    local v = make(name, shape, dtype, function() return tf.executing_eagerly() and value or tf.constant(value) end, nil, trainable)
    count[i] = v
    return v
  end
end
local function in_scope(label, vars, fn)
  return tf.variable_scope(label, {custom_getter = given(vars)}, fn)
end
-- Each: function(x, vars) gives the output and leaves its variables in vars, in the order of `values`.
local models = {}
function models.raw(x, vars)
  return in_scope("raw", vars, function()
    local function var(name, i) return tf.get_variable(name, values[i].shape) end
    local y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, var("k", 1), {strides = 1, padding = "SAME"}), var("kb", 2)))
    y = tf.nn.max_pool(y, {ksize = 2, strides = 2, padding = "VALID"})
    y = tf.reshape(y, {-1, 64})
    y = tf.tanh(tf.nn.bias_add(tf.matmul(y, var("w", 3)), var("b", 4)))
    return tf.nn.bias_add(tf.matmul(y, var("v", 5)), var("c", 6))
  end)
end
models["tf.layers"] = function(x, vars)
  return in_scope("layers", vars, function()
    local y = tf.layers.max_pooling2d(tf.layers.conv2d(x, 4, 3, {padding = "same", activation = "relu"}), 2, 2)
    y = tf.layers.dense(tf.layers.flatten(y), 6, {activation = "tanh"})
    return tf.layers.dense(y, 3)
  end)
end
function models.slim(x, vars)
  return in_scope("slim", vars, function()
    local y = slim.max_pool2d(slim.conv2d(x, 4, 3), 2)
    y = slim.fully_connected(slim.flatten(y), 6, {activation_fn = tf.tanh})
    return slim.fully_connected(y, 3, {activation_fn = false})
  end)
end
function models.prettytensor(x, vars)
  return in_scope("pt", vars, function()
    return pt.wrap(x):conv2d(3, 4, {activation_fn = tf.nn.relu}):max_pool(2, 2):flatten()
      :fully_connected(6, {activation_fn = tf.tanh}):fully_connected(3).tensor
  end)
end
function models.skflow(x, vars)
  return in_scope("skflow", vars, function()
    local y = skflow.ops.conv2d(x, 4, {3, 3}, {activation = tf.nn.relu})
    y = tf.nn.max_pool(y, {ksize = 2, strides = 2, padding = "VALID"})
    y = skflow.ops.dnn(tf.reshape(y, {-1, 64}), {6}, {activation = tf.tanh})
    return tf.variable_scope("last", function() return skflow.ops.fully_connected(y, 3) end)
  end)
end
function models.torch(x, vars)
  local nn = tf.torch.nn
  local net = nn.Sequential(nn.Conv2d(2, 4, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2), nn.Transpose({2, 3}, {3, 4}), nn.Flatten(), nn.Linear(64, 6), nn.Tanh(), nn.Linear(6, 3))
  local function turned(v, order) return tf.transpose(v, order) end
  net:load_state_dict{["0.weight"] = turned(values[1], {3, 2, 0, 1}), ["0.bias"] = values[2], ["5.weight"] = turned(values[3]), ["5.bias"] = values[4],
    ["7.weight"] = turned(values[5]), ["7.bias"] = values[6]}
  for i, v in ipairs(net:parameters()) do vars[i] = v end
  -- channels come second here, weights lie the other way
  vars.back = {{2, 3, 1, 0}, false, {1, 0}, false, {1, 0}, false}
  return net(tf.transpose(x, {0, 3, 1, 2}))
end
function models.keras(x, vars)
  local layers = {K.layers.Conv2D(4, 3, {padding = "same", activation = "relu"}), K.layers.MaxPooling2D(), K.layers.Flatten(),
    K.layers.Dense(6, {activation = "tanh"}), K.layers.Dense(3)}
  local y = x
  for _, layer in ipairs(layers) do y = layer(y) end
  for _, layer in ipairs(layers) do
    for _, v in ipairs(layer.weights) do
      vars[#vars + 1] = v
    end
  end
  vars.later = layers
  return y
end

local function in_graph(build)
  return tf.Graph():as_default(function()
    local x = tf.placeholder("float32", {-1, 8, 8, 2})
    local vars = {}
    local y = build(x, vars)
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    if vars.later then for i, v in ipairs(vars) do v:load(values[i], sess) end end
    local grads = tf.gradients(tf.reduce_sum(tf.square(y)), {x, table.unpack(vars)})
    return sess:run({y, table.unpack(grads)}, {[x] = x0}, {raw = true})
  end)
end
local function define_by_run(build)
  return tf.eager(function()
    local used, y = {}, nil
    if build == models.keras then build(x0, used) end -- objects make their variables at the first call, and keep them
    local tape <close> = tf.GradientTape()
    tape:watch(x0)
    if used.later then
      for i, v in ipairs(used) do v:assign(values[i]) end
      y = x0
      for _, layer in ipairs(used.later) do y = layer(y) end
    else
      y = build(x0, used)
    end
    local loss = tf.reduce_sum(tf.square(y))
    tape:stop()
    local out = {y}
    for i, g in ipairs(tape:gradient(loss, {x0, table.unpack(used)})) do
      local order = used.back and used.back[i - 1]
      out[i + 1] = order and tf.transpose(g, order) or g
    end
    return out
  end)
end

local want = in_graph(models.raw)
assert(#want == 8)
local failed, passed = 0, 0
for _, name in ipairs{"raw", "tf.layers", "slim", "prettytensor", "skflow", "keras", "torch"} do
  for mode, run in pairs{graph = name ~= "torch" and in_graph or nil, ["define-by-run"] = define_by_run} do -- tf.torch is define-by-run alone
    local ok, got = pcall(run, models[name])
    local why = not ok and got
    for i, t in ipairs(ok and want or {}) do
      if not why and got[i]:bytes() ~= t:bytes() then
        why = (i == 1 and "the output" or "the gradient of " .. (i == 2 and "the input" or names[i - 2])) .. " has other bits"
      end
    end
    if why then
      failed = failed + 1
      print(name, mode, why)
    else
      passed = passed + 1
    end
  end
end
print(("the same model: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
