-- Slim's layers and tf.losses against numbers recorded from tf_slim 1.1.0 and TensorFlow 2.21.0
-- (tests/data/oracle/layers/slim.*): outputs, gradients, regularization losses and statistics, in both modes, which give the same bits.
--
--     tfsdk run tests/slim/oracle.lua [CASE]
local tf = require "tfsdk"
local slim = tf.slim
local here = arg[0]:match "^(.*)/" or "."
local folder = here .. "/../data/oracle/layers/"
local only = arg[1]
local file = assert(io.open(folder .. "slim.json"))
local recorded = tf.json.decode(file:read "a")
file:close()
local data = tf.read_safetensors(folder .. "slim.safetensors")

-- The recorded Python call in Lua.
local none = false
local calls = {
  ["conv2d"] = function(x) return slim.conv2d(x, 3, {3, 3}) end,
  ["conv2d.stride"] = function(x) return slim.conv2d(x, 3, {3, 3}, {stride = 2}) end,
  ["conv2d.valid"] = function(x) return slim.conv2d(x, 3, {2, 3}, {padding = "VALID", activation_fn = none}) end,
  ["conv2d.rate"] = function(x) return slim.conv2d(x, 3, 3, {rate = 2, scope = "a"}) end,
  ["conv2d.regularized"] = function(x)
    return slim.conv2d(x, 3, 3, {weights_regularizer = slim.l2_regularizer(.1), biases_regularizer = slim.l1_regularizer(.2)})
  end,
  ["conv2d.batch_norm"] = function(x) return slim.conv2d(x, 3, 3, {normalizer_fn = slim.batch_norm}) end,
  ["conv2d.batch_norm.params"] = function(x)
    return slim.conv2d(x, 3, 3, {normalizer_fn = slim.batch_norm,
      normalizer_params = {is_training = true, decay = .9, scale = true, epsilon = .01}})
  end,
  ["conv1d"] = function(x) return slim.conv1d(x, 3, 3) end,
  ["conv3d"] = function(x) return slim.conv3d(x, 3, 2) end,
  ["conv2d_transpose"] = function(x) return slim.conv2d_transpose(x, 3, 3, {stride = 2}) end,
  ["conv2d_transpose.valid"] = function(x) return slim.conv2d_transpose(x, 3, {2, 3}, {stride = {1, 2}, padding = "VALID"}) end,
  ["separable_conv2d"] = function(x) return slim.separable_conv2d(x, 3, 3, 2) end,
  ["separable_conv2d.depthwise"] = function(x) return slim.separable_conv2d(x, none, 3, 2, {stride = 2}) end,
  ["conv2d_in_plane"] = function(x) return slim.conv2d_in_plane(x, 3) end,
  ["fully_connected"] = function(x) return slim.fully_connected(x, 3) end,
  ["fully_connected.linear"] = function(x) return slim.linear(x, 3) end,
  ["fully_connected.rank3"] = function(x) return slim.fully_connected(x, 3, {activation_fn = tf.tanh}) end,
  ["fully_connected.batch_norm"] = function(x) return slim.fully_connected(x, 3, {normalizer_fn = slim.batch_norm}) end,
  ["batch_norm.training"] = function(x) return slim.batch_norm(x) end,
  ["batch_norm.inference"] = function(x) return slim.batch_norm(x, {is_training = false}) end,
  ["batch_norm.scale"] = function(x) return slim.batch_norm(x, {scale = true, decay = .9, epsilon = .01}) end,
  ["batch_norm.unfused"] = function(x) return slim.batch_norm(x, {fused = false, decay = .9}) end,
  ["batch_norm.rank2"] = function(x) return slim.batch_norm(x, {decay = .9}) end,
  ["batch_norm.in_place"] = function(x) return slim.batch_norm(x, {decay = .9, updates_collections = none}) end,
  ["batch_norm.zero_debias"] = function(x) return slim.batch_norm(x, {decay = .9, zero_debias_moving_mean = true}) end,
  ["layer_norm"] = function(x) return slim.layer_norm(x) end,
  ["layer_norm.rank2"] = function(x) return slim.layer_norm(x) end,
  ["instance_norm"] = function(x) return slim.instance_norm(x) end,
  ["group_norm"] = function(x) return slim.group_norm(x, {groups = 2}) end,
  ["max_pool2d"] = function(x) return slim.max_pool2d(x, 2) end,
  ["max_pool2d.same"] = function(x) return slim.max_pool2d(x, 3, {stride = 2, padding = "SAME"}) end,
  ["avg_pool2d"] = function(x) return slim.avg_pool2d(x, 3, {stride = 1}) end,
  ["flatten"] = function(x) return slim.flatten(x) end,
  ["dropout.inference"] = function(x) return slim.dropout(x, {is_training = false}) end,
  ["unit_norm"] = function(x) return slim.unit_norm(x, 1) end,
  ["softmax"] = function(x) return slim.softmax(x) end,
  ["bias_add"] = function(x) return slim.bias_add(x) end,
  ["maxout"] = function(x) return slim.maxout(x, 2) end,
  ["spatial_softmax"] = function(x) return slim.spatial_softmax(x) end,
  ["repeat"] = function(x) return slim.repeat_(x, 2, slim.conv2d, 4, 3, {scope = "conv"}) end,
  ["stack"] = function(x) return slim.stack(x, slim.fully_connected, {4, 3}, {scope = "fc"}) end,
  ["stack.two"] = function(x) return slim.stack(x, slim.conv2d, {{3, {3, 3}}, {2, {1, 1}}}, {scope = "c"}) end,
  ["unnamed_twice"] = function(x) return slim.conv2d(slim.conv2d(x, 3, 1), 2, 1) end,
}

local function compare(got, want, limit, what)
  local function shape(t) return table.concat(t.shape, "x") end
  if shape(got) ~= shape(want) then error(("%s: shape %s, want %s"):format(what, shape(got), shape(want)), 0) end
  local a, b, top = got:reshape{-1}:table(), want:reshape{-1}:table(), 1e-30
  for _, v in ipairs(b) do top = math.max(top, math.abs(v)) end
  for i, v in ipairs(b) do
    if not (math.abs(a[i] - v) <= limit * top) then
      error(("%s[%d]: got %.9g, want %.9g"):format(what, i, a[i], v), 0)
    end
  end
end
local function as_tensor(v) return type(v) == "number" and tf.tensor(v) or v end

-- Calls fn in a variable scope where each variable begins with its recorded value.
local scopes = 0
local function with_values(case, fn)
  scopes = scopes + 1
  local top = "m" .. scopes
  local by_name, seen = {}, {}
  for _, v in ipairs(case.variables) do by_name[v.name] = v end
  local y = tf.variable_scope(top, {custom_getter = function(make, name, shape, dtype, _, regularizer, trainable)
    local path = (tf.get_variable_scope().name .. "/" .. name):gsub(top .. "/", "")
    local v = by_name[path]
    if not v then error("there should be no variable " .. path, 0) end
    if v.trainable ~= (trainable ~= false) then error(path .. ": trainable is " .. tostring(trainable), 0) end
    local value = data[v.key]
    local made = make(name, shape, dtype, function() return tf.constant(value) end, regularizer, trainable)
    seen[#seen + 1] = path
    v.variable = made
    return made
  end}, fn)
  for i, v in ipairs(case.variables) do -- the order of making, too
    if seen[i] ~= v.name then error(("variable %d is %s, want %s"):format(i, tostring(seen[i]), v.name), 0) end
  end
  if #seen ~= #case.variables then error(("%d variables, want %d"):format(#seen, #case.variables), 0) end
  return y
end

local function in_graph(case)
  local graph = tf.Graph()
  return graph:as_default(function()
    local x = tf.placeholder("float32", data[case.input].shape)
    local y = with_values(case, function() return calls[case.id](x) end)
    local updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    if #updates ~= case.update_ops then error(("%d update ops, want %d"):format(#updates, case.update_ops), 0) end
    local sources, keys = {x}, {case.grad_input}
    for _, v in ipairs(case.variables) do
      if v.grad then sources[#sources + 1], keys[#keys + 1] = v.variable, v.grad end
    end
    local grads = tf.gradients(y, sources, {grad_ys = {tf.constant(data[case.dy])}})
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    local feed = {[x] = data[case.input]}
    local r = sess:run({y = y, g = grads}, feed)
    local limit = 1e-5
    compare(as_tensor(r.y), data[case.output], limit, "output")
    for i, g in ipairs(r.g) do compare(as_tensor(g), data[keys[i]], limit, keys[i]) end
    for i, want in ipairs(case.regularization_losses or {}) do
      local loss = sess:run(tf.losses.get_regularization_losses()[i])
      if math.abs(loss - want.value) > 1e-6 then error(("penalty %d: %.9g, want %.9g"):format(i, loss, want.value), 0) end
    end
    if #updates > 0 then sess:run(updates, feed) end
    for _, v in ipairs(case.variables) do
      if v.after_updates then compare(as_tensor(sess:run(v.variable)), data[v.after_updates], limit, v.after_updates) end
    end
    return {as_tensor(r.y), table.unpack(r.g)}
  end)
end
local function at_once(case)
  return tf.eager(function()
    local x = data[case.input]
    local tape <close> = tf.GradientTape()
    tape:watch(x)
    local y = with_values(case, function() return calls[case.id](x) end)
    local sources, keys = {x}, {case.grad_input}
    for _, v in ipairs(case.variables) do
      if v.grad then sources[#sources + 1], keys[#keys + 1] = v.variable, v.grad end
    end
    local grads = tape:gradient(y, sources, {output_gradients = {data[case.dy]}})
    local limit = 1e-5
    compare(y, data[case.output], limit, "output")
    for i, g in ipairs(grads) do compare(g, data[keys[i]], limit, keys[i]) end
    for _, v in ipairs(case.variables) do
      if v.after_updates then compare(v.variable:value(), data[v.after_updates], limit, v.after_updates) end
    end
    return {y, table.unpack(grads)}
  end)
end
local function same_bits(a, b)
  if #a ~= #b then error(("%d values in a graph, %d define-by-run"):format(#a, #b), 0) end
  for i = 1, #a do
    local x, y = as_tensor(a[i]), as_tensor(b[i])
    if x:bytes() ~= y:bytes() then
      error(("value %d: graph and define-by-run differ by %g"):format(i, tf.reduce_max(tf.abs(x - y)):item()), 0)
    end
  end
end

local function losses(case)
  local name = case.loss:match "[^.]*$"
  local function check(options, want, what)
    compare(tf.eager(function() return tf.losses[name](data[case.labels], data[case.predictions], options) end), want, 1e-5, what)
    tf.Graph():as_default(function()
      local loss = tf.losses[name](tf.constant(data[case.labels]), tf.constant(data[case.predictions]), options)
      local sess <close> = tf.Session()
      compare(as_tensor(sess:run(loss)), want, 1e-5, what .. " in a graph")
    end)
  end
  if case.value then return check({weights = data[case.weights]}, tf.tensor(case.value), name) end
  for _, r in ipairs(case.results) do
    local w = case.weights[r.weights]
    local options = {weights = type(w) == "string" and data[w] or w, reduction = r.reduction}
    for _, key in ipairs {"delta", "label_smoothing", "axis", "epsilon"} do options[key] = case[key] end
    if name == "cosine_distance" then options.axis = options.axis or 1 end
    check(options, data[r.value], ("%s %s %s"):format(name, r.reduction, r.weights))
  end
end

local passed, failed = 0, 0
local note = dofile(here .. "/../oracle/note.lua")
for _, case in ipairs(recorded.cases) do
  if not only or case.id:find(only, 1, true) then
    local ok, why = pcall(function()
      if case.loss then return losses(case) end
      if not calls[case.id] then error("the test has no call for it", 0) end
      same_bits(in_graph(case), at_once(case))
    end)
    note("layers/slim", case.id, ok, why)
    if ok then
      passed = passed + 1
    else
      failed = failed + 1
      print(case.id, tostring(why))
    end
  end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and passed > 0 and 0 or 1, true)
