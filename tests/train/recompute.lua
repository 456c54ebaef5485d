-- tf.recompute_grad: the gradients of the plain model to the bit, the same random numbers, state that changes once, and less memory.
-- The comparison is always with the same model that is not recomputed.
local tf = require "tfsdk"
local wrong, n = 0, 0
local function check(what, ok)
  n = n + 1
  if not ok then
    wrong = wrong + 1
    print("wrong: " .. what)
  end
end
local function equal(what, a, b)
  check(what, a and b and tf.reduce_all(tf.equal(a, b)):item() == true)
end
local function plain(f) return f end

-- ------------------------------------------------------------------------------------- define-by-run

tf.eager(function()
  local w1 = tf.Variable(tf.random.normal({8, 64}, {seed = 1}))
  local w2 = tf.Variable(tf.random.normal({64, 8}, {seed = 2, stddev = 0.1}))
  local x = tf.random.normal({4, 8}, {seed = 3})
  local function block(h)
    h = tf.nn.dropout(tf.tanh(tf.matmul(h, w1)), {keep_prob = 0.5})
    return tf.matmul(h, w2) + tf.random.normal({4, 8}, {seed = 9, stddev = 0.01})
  end
  local function train(wrap, seed)
    tf.set_random_seed(seed)
    local tape <close> = tf.GradientTape()
    tape:watch(x)
    local h = x
    for _ = 1, 3 do h = wrap(block)(h) end
    local loss = tf.reduce_sum(h * h)
    local g = tape:gradient(loss, {w1, w2, x})
    -- what is drawn behind the backward walk goes on as if nothing had been drawn twice
    return loss, g[1], g[2], g[3], tf.random.uniform{shape = {3}}, tf.random.normal({2}, {seed = 9})
  end
  local a, b = table.pack(train(plain, 5)), table.pack(train(tf.recompute_grad, 5))
  for i, what in ipairs {"loss", "dw1", "dw2", "dx", "later numbers", "later numbers of a seed"} do equal("eager " .. what, a[i], b[i]) end
  local c = train(tf.recompute_grad, 6)
  check("another seed, another loss", c:item() ~= a[1]:item())

  -- captured tensors have their gradients, too; so have nested calls
  local scale = tf.constant(3.0)
  local function captured(wrap)
    local tape <close> = tf.GradientTape()
    tape:watch(scale)
    tape:watch(x)
    local outer = wrap(function(h)
      local inner = wrap(function(z) return tf.sin(z * scale) end)
      return inner(h) * scale
    end)
    return tape:gradient(tf.reduce_sum(outer(x)), {scale, x})
  end
  local p, r = captured(plain), captured(tf.recompute_grad)
  equal("captured tensor", p[1], r[1])
  equal("argument of a nested call", p[2], r[2])

  -- second order: of sum(sin x)^2 by formula, through a persistent outer tape
  local z = tf.constant(0.7)
  local second
  do
    local outer <close> = tf.GradientTape()
    outer:watch(z)
    local inner <close> = tf.GradientTape()
    inner:watch(z)
    local g = inner:gradient(tf.recompute_grad(function(v) return tf.sin(v) end)(z), {z})[1]
    second = outer:gradient(g, {z})[1]:item()
  end
  check("second derivative of sin", math.abs(second + math.sin(0.7)) < 1e-6)

  -- what the function writes, it writes once
  local count = tf.Variable(0.0, {trainable = false})
  local tape <close> = tf.GradientTape()
  local y = tf.recompute_grad(function(h)
    count:assign_add(1)
    return tf.tanh(tf.matmul(h, w1))
  end)(x)
  tape:gradient(tf.reduce_sum(y), {w1})
  check("an update happens once", count:item() == 1)

  -- lists and tables of results; without a tape it is the function
  local function two(h) return {tf.sin(h), more = tf.cos(h)}, 7 end
  local t, seven = tf.recompute_grad(two)(x)
  equal("a table of results", t.more, tf.cos(x))
  check("a number among results", seven == 7)
  local ok, message = pcall(tf.recompute_grad, 3)
  check("wrong argument", not ok and tostring(message):find("expected a function", 1, true))
end)

-- ------------------------------------------------------------------------------------- graph

local data = tf.random.normal({16, 32}, {seed = 1, now = true})
local function graph_model(wrap)
  local g = tf.Graph()
  local s <close> = g:as_default()
  tf.set_random_seed(11)
  local x = tf.placeholder("float32", {-1, 32})
  local h = x
  local scale = tf.Variable(1.5, {name = "scale"})
  for i = 1, 3 do
    h = wrap(function(z)
      local w = tf.get_variable("w" .. i, {32, 32})
      z = tf.nn.dropout(tf.nn.relu(tf.matmul(z, w)), {keep_prob = 0.5})
      return tf.tanh(z * scale) + tf.random.uniform({32}, {maxval = 0.1})
    end)(h)
  end
  local loss = tf.reduce_sum(h * h)
  local vars = tf.trainable_variables()
  local grads = tf.gradients(loss, {x, table.unpack(vars)})
  local sess = tf.Session()
  sess:run(tf.global_variables_initializer())
  local feed = {[x] = data}
  local first = sess:run({loss, table.unpack(grads)}, feed, {raw = true})
  local alone = sess:run(loss, feed) -- a run without gradients: the draws go on
  local third = sess:run({loss, table.unpack(grads)}, feed, {raw = true})
  sess:close()
  return first, third, alone, #vars
end
local a1, a3, a2, vars = graph_model(plain)
local b1, b3, b2 = graph_model(tf.recompute_grad)
check("variables", vars == 4)
for i = 1, #a1 do
  equal("graph, first run, value " .. i, a1[i], b1[i])
  equal("graph, third run, value " .. i, a3[i], b3[i])
end
check("graph, run without gradients", a2 == b2)

-- stop_gradients that are sources: partial derivatives (TensorFlow's documentation: a = 0, b = 2a, a + b gives 1 and 1)
do
  local g = tf.Graph()
  local s <close> = g:as_default()
  local a = tf.constant(0.0)
  local b = a * 2
  local grads = tf.gradients(a + b, {a, b}, {stop_gradients = {a, b}})
  local sess <close> = tf.Session()
  local r = sess:run(grads)
  check("partial derivatives", r[1] == 1 and r[2] == 1)
end

-- ------------------------------------------------------------------------------------- memory

-- A chain of segments of ten wide layers each: kept are 60 values of 1 MB and more, recomputed 6 and those of one segment.
local wide, rows, segments, depth = 256, 1024, 6, 10
local megabyte = wide * rows * 4
local wide_data = tf.random.normal({rows, wide}, {seed = 1, now = true})
local turn = tf.random.normal({wide, wide}, {seed = 2, stddev = 0.1, now = true})
local function segment(h)
  for _ = 1, depth do h = tf.tanh(tf.matmul(h, turn)) end
  return h
end
local function peak_of(run)
  collectgarbage() collectgarbage()
  local before = tf.memory_info()
  run()
  return tf.memory_info().peak - before.in_use
end
-- the peak only grows: the lean way first
local function graph_peak(wrap)
  local g = tf.Graph()
  local s <close> = g:as_default()
  local x = tf.placeholder("float32", {rows, wide})
  local h = x
  for _ = 1, segments do h = wrap(segment)(h) end
  local grad = tf.gradients(tf.reduce_sum(h), x)[1]
  local sess <close> = tf.Session()
  local result
  local peak = peak_of(function() result = sess:run(grad, {[x] = wide_data}) end)
  return peak, result
end
local function eager_peak(wrap)
  return tf.eager(function()
    local x = tf.identity(wide_data)
    local result
    local peak = peak_of(function()
      local tape <close> = tf.GradientTape()
      tape:watch(x)
      local h = x
      for _ = 1, segments do h = wrap(segment)(h) end
      result = tape:gradient(tf.reduce_sum(h), {x})[1]
    end)
    return peak, result
  end)
end
local lean, lean_value = graph_peak(tf.recompute_grad)
local lean_eager, lean_eager_value = eager_peak(tf.recompute_grad)
local full, full_value = graph_peak(plain)
local full_eager, full_eager_value = eager_peak(plain)
if os.getenv "SHOW" then print(("graph %.1f of %.1f, eager %.1f of %.1f"):format(lean / megabyte, full / megabyte, lean_eager / megabyte, full_eager / megabyte)) end
equal("graph values", lean_value, full_value)
equal("eager values", lean_eager_value, full_eager_value)
check("graph: at most half the memory", lean < full / 2)
check("eager: at most half the memory", lean_eager < full_eager / 2)

-- ------------------------------------------------------------------------------------- layer libraries

-- Slim in a graph: default names, batch normalization with updates, arg_scope.
do
  local slim = tf.slim
  local images = tf.random.normal({2, 8, 8, 3}, {seed = 2, now = true})
  local function build(recompute)
    local g = tf.Graph()
    local s <close> = g:as_default()
    tf.set_random_seed(4)
    local x = tf.placeholder("float32", {2, 8, 8, 3})
    local function block(z)
      z = slim.conv2d(z, 8, {3, 3}, {normalizer_fn = slim.batch_norm})
      return slim.conv2d(z, 3, {3, 3})
    end
    local h = x
    for _ = 1, 2 do h = (recompute and slim.recompute_grad(block) or block)(h) end
    local loss = tf.reduce_sum(h * h)
    local vars = tf.trainable_variables()
    local names = {}
    for i, v in ipairs(vars) do names[i] = v.name end
    local grads = tf.gradients(loss, vars)
    local updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    local r = sess:run({grads = grads, updates = updates}, {[x] = images}, {raw = true})
    local state = {}
    for i, v in ipairs(tf.global_variables()) do state[i] = sess:run(v, nil, {raw = true}) end
    return r.grads, table.concat(names, " "), state, #updates
  end
  local g1, names1, state1, u1 = build(false)
  local g2, names2, state2, u2 = build(true)
  check("slim names", names1 == names2)
  check("slim updates", u1 == u2 and u1 > 0)
  for i = 1, #g1 do equal("slim gradient " .. i, g1[i], g2[i]) end
  for i = 1, #state1 do equal("slim variable " .. i, state1[i], state2[i]) end
end

-- Keras layers, define-by-run: built at the first call; the moving averages move once.
tf.eager(function()
  local K = tf.keras
  local x = tf.random.normal({6, 5}, {seed = 2})
  local function build(wrap)
    tf.set_random_seed(3)
    local layers = {K.layers.Dense(8, {activation = "tanh"}), K.layers.BatchNormalization(), K.layers.Dropout(0.5), K.layers.Dense(5)}
    local function block(h)
      for _, layer in ipairs(layers) do h = layer(h, {training = true}) end
      return h
    end
    block(x)
    tf.set_random_seed(8)
    local tape <close> = tf.GradientTape()
    local y = wrap(block)(x)
    local vars = {}
    for _, layer in ipairs(layers) do
      for _, v in ipairs(layer.trainable_weights) do vars[#vars + 1] = v end
    end
    return tape:gradient(tf.reduce_sum(y * y), vars), layers[2]:get_weights()
  end
  local g1, w1 = build(plain)
  local g2, w2 = build(tf.recompute_grad)
  for i = 1, #g1 do equal("keras gradient " .. i, g1[i], g2[i]) end
  for i = 1, #w1 do equal("keras weight " .. i, w1[i], w2[i]) end
end)

if wrong > 0 then error(("%d of %d are wrong"):format(wrong, n), 0) end
print(("%d checks"):format(n))
