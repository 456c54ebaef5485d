-- Every layer of Slim, and whole nets, in a graph and define-by-run: outputs and gradients (of the input and of all variables) have the same bits;
-- three training steps leave the same weights, averages and losses.
local tf = require "tfsdk"
local slim = tf.slim
local function numbers(seed, ...) return tf.random.normal({...}, {seed = seed, now = true}) end
local image, vector, wide = numbers(1, 3, 9, 11, 6), numbers(2, 7, 10), numbers(3, 2, 33, 35, 3)
local cube, words = numbers(4, 2, 5, 6, 7, 4), tf.tensor({{1, 4, 2}, {0, 4, 4}}, "int64")
local cases = {}
local function case(name, input, fn) cases[#cases + 1] = {name = name, input = input, fn = fn} end
local bn = {normalizer_fn = slim.batch_norm}

case("conv2d", image, function(x) return slim.conv2d(x, 8, 3) end)
case("conv2d, 1x1", image, function(x) return slim.conv2d(x, 8, 1) end)
case("conv2d, stride", image, function(x) return slim.conv2d(x, 5, {5, 3}, 2, "VALID", {activation_fn = tf.tanh}) end)
case("conv2d, rate", image, function(x) return slim.conv2d(x, 5, 3, {rate = 2, activation_fn = false}) end)
case("conv2d, channels first", tf.transpose(image, {0, 3, 1, 2}), function(x) return slim.conv2d(x, 8, 3, {data_format = "NCHW"}) end)
case("conv2d, batch_norm", image, function(x) return slim.conv2d(x, 8, 3, bn) end)
case("conv2d, all of batch_norm", image, function(x)
  return slim.conv2d(x, 8, 3, {normalizer_fn = slim.batch_norm, normalizer_params = {scale = true, decay = 0.9, fused = false, activation_fn = tf.nn.relu6}, activation_fn = false})
end)
case("conv1d", numbers(5, 3, 13, 4), function(x) return slim.conv1d(x, 6, 3) end)
case("conv3d", cube, function(x) return slim.conv3d(x, 3, 3, {stride = 2}) end)
case("separable_conv2d", image, function(x) return slim.separable_conv2d(x, 7, 3, 2, {stride = 2}) end)
case("depthwise alone", image, function(x) return slim.separable_conv2d(x, false, 3, 1, {normalizer_fn = slim.batch_norm, activation_fn = tf.nn.relu6}) end)
case("conv2d_transpose", image, function(x) return slim.conv2d_transpose(x, 5, 3, {stride = 2}) end)
case("conv3d_transpose", cube, function(x) return slim.conv3d_transpose(x, 3, 2, {stride = 2}) end)
case("conv2d_in_plane", image, function(x) return slim.conv2d_in_plane(x, 3) end)
case("fully_connected", vector, function(x) return slim.fully_connected(x, 9) end)
case("fully_connected, images", image, function(x) return slim.fully_connected(x, 9, {activation_fn = tf.sigmoid}) end)
case("fully_connected, batch_norm", vector, function(x) return slim.fully_connected(x, 9, bn) end)
case("max_pool2d", image, function(x) return slim.max_pool2d(x, 3) end)
case("avg_pool2d", image, function(x) return slim.avg_pool2d(x, {3, 2}, {stride = 1, padding = "SAME"}) end)
case("max_pool3d", cube, function(x) return slim.max_pool3d(x, 2) end)
case("avg_pool3d", cube, function(x) return slim.avg_pool3d(x, 2) end)
case("pool", image, function(x) return slim.pool(x, {2, 2}, "AVG", {stride = 2}) end)
case("batch_norm", image, function(x) return slim.batch_norm(x, {scale = true, activation_fn = tf.nn.elu}) end)
case("batch_norm, not in training", image, function(x) return slim.batch_norm(x, {scale = true, is_training = false}) end)
case("batch_norm, debiased", image, function(x) return slim.batch_norm(x, {zero_debias_moving_mean = true}) end)
case("batch_norm, vectors", vector, function(x) return slim.batch_norm(x, {scale = true}) end)
case("layer_norm", image, function(x) return slim.layer_norm(x, {activation_fn = tf.nn.relu}) end)
case("instance_norm", image, function(x) return slim.instance_norm(x) end)
case("group_norm", image, function(x) return slim.group_norm(x, {groups = 3}) end)
case("unit_norm", image, function(x) return slim.unit_norm(x, 3) end)
case("maxout", image, function(x) return slim.maxout(x, 2) end)
case("spatial_softmax", image, function(x) return slim.spatial_softmax(x) end)
case("gdn", tf.abs(image), function(x) return slim.gdn(x) end)
case("bias_add", image, function(x) return slim.bias_add(x, {activation_fn = tf.tanh}) end)
case("dropout", image, function(x) return slim.dropout(x, 0.6, {seed = 3}) end)
case("softmax", vector, function(x) return slim.softmax(x) end)
case("flatten", image, function(x) return slim.flatten(x) * 2 end)
case("scale_gradient", vector, function(x) return slim.scale_gradient(tf.tanh(x), 0.3) end)
case("poincare_normalize", vector, function(x) return slim.poincare_normalize(x) end)
case("images_to_sequence", image, function(x) return slim.sequence_to_images(tf.tanh(slim.images_to_sequence(x)), 9) end)
case("rev_block", vector, function(x)
  local function f(v) return slim.fully_connected(v, 5) end
  local a, b = slim.rev_block(x[{{}, {1, 5}}], x[{{}, {6, 10}}], f, f, {num_layers = 2})
  return tf.concat({a, b}, 1)
end)
case("embed_sequence", words, function(x) return tf.tanh(slim.embed_sequence(x, 5, 4)) end)
case("bow_encoder", words, function(x) return slim.bow_encoder(x, 5, 4) end)
case("repeat_ and stack", image, function(x)
  x = slim.repeat_(x, 2, slim.conv2d, 6, 3, {normalizer_fn = slim.batch_norm})
  return slim.stack(slim.flatten(x), slim.fully_connected, {8, 4})
end)
-- What nets are made of: branches, sums, concatenations, means.
case("a residual unit", image, function(x)
  local y = slim.conv2d(tf.nn.relu(slim.batch_norm(x)), 6, 3, bn)
  return tf.reduce_mean(x + slim.conv2d(y, 6, 1, {activation_fn = false}), {1, 2})
end)
case("an inception unit", image, function(x)
  local a, b = slim.conv2d(x, 4, 1, bn), slim.conv2d(slim.conv2d(x, 3, 1, bn), 4, 3, bn)
  return tf.concat({a, b, slim.max_pool2d(x, 3, {stride = 1, padding = "SAME"})}, 3)
end)
case("penalties", vector, function(x)
  return slim.fully_connected(slim.fully_connected(x, 6, {weights_regularizer = slim.l2_regularizer(0.1)}), 4, {biases_regularizer = slim.l1_regularizer(0.1)})
end)
local function net(name, input, options, classes)
  case(name, input, function(x)
    local fn = slim.nets.nets_factory.get_network_fn(name, classes or 5, {is_training = true, weight_decay = 0.001})
    return (fn(x, options))
  end)
end
net("lenet", numbers(6, 2, 28, 28, 1), {dropout_keep_prob = 1.0})
net("cifarnet", numbers(7, 2, 32, 32, 3), {dropout_keep_prob = 1.0})
net("mobilenet_v1_025", wide, {dropout_keep_prob = 1.0})
case("mobilenet_v2", wide, function(x)
  local v2 = slim.nets.mobilenet_v2
  return slim.arg_scope(v2.training_scope {dropout_keep_prob = 1.0}, function() return (v2.mobilenet_v2_035(x, {num_classes = 5})) end)
end)

-- Variables begin with numbers that are kept by their name and shape.
local kept = {}
local function initial(name, shape)
  local key = name .. " " .. table.concat(shape, "x")
  if not kept[key] then
    local fan = 1
    for i = 1, #shape - 1 do fan = fan * shape[i] end
    local v = tf.random.normal(shape, {stddev = #shape > 1 and math.sqrt(2 / fan) or 0.2, now = true})
    if name:find "biased" or name:find "local_step" then v = tf.zeros(shape, {now = true}) end -- as they must begin
    if name:find "variance" then v = tf.square(v) + 1 elseif name:find "gamma" or name:find "reparam" then v = tf.abs(v) + 0.5 end
    kept[key] = v
  end
  return kept[key]
end
local scope -- of a case: define-by-run keeps variables by name; random numbers follow from the scope, too
local function in_scope(vars, fn)
  return tf.variable_scope(scope, {reuse = tf.AUTO_REUSE, custom_getter = function(make, name, shape, dtype, _, _, trainable)
    local path = (tf.get_variable_scope().name .. "/" .. name):match "/(.*)" -- without the scope of the run
    local before = vars[path]
    local v = make(name, shape, dtype, before and nil or function()
      local value = initial(path, shape)
      return tf.executing_eagerly() and value or tf.constant(value)
    end, nil, trainable)
    if not before then
      vars[path] = v
      vars[#vars + 1] = v
      if trainable then vars.trained[#vars.trained + 1] = v end
    end
    return v
  end}, fn)
end
local function new() return {trained = {}} end
local function loss_of(y) return tf.reduce_sum(tf.square(y) * 0.1) end
local function is_float(x) return x.dtype:find "float" ~= nil end

local function at_once(c)
  return tf.eager(function()
    tf.set_random_seed(11)
    local vars = new()
    local tape <close> = tf.GradientTape()
    if is_float(c.input) then tape:watch(c.input) end
    local y = in_scope(vars, function() return c.fn(c.input) end)
    local loss = loss_of(y)
    tape:stop()
    local sources = is_float(c.input) and {c.input} or {}
    for _, v in ipairs(vars.trained) do sources[#sources + 1] = v end
    return {y, loss, table.unpack(tape:gradient(loss, sources))}, #vars
  end)
end
local function in_graph(c)
  return tf.Graph():as_default(function()
    tf.set_random_seed(11)
    local vars = new()
    local x = tf.placeholder(c.input.dtype, c.input.shape)
    local y = in_scope(vars, function() return c.fn(x) end)
    local loss = loss_of(y)
    local sources = is_float(c.input) and {x} or {}
    for _, v in ipairs(vars.trained) do sources[#sources + 1] = v end
    local fetches = {y, loss, table.unpack(tf.gradients(loss, sources))}
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    return sess:run(fetches, {[x] = c.input}, {raw = true}), #vars
  end)
end
local function trained_at_once(c)
  return tf.eager(function()
    tf.set_random_seed(11)
    local vars, losses = new(), {}
    local step
    for i = 1, 3 do
      step = step or slim.learning.create_train_op(function()
        local y = in_scope(vars, function() return c.fn(c.input) end)
        return loss_of(y)
      end, tf.train.MomentumOptimizer(0.01, 0.9))
      losses[i] = step()
    end
    local out = {table.unpack(losses)}
    for i, v in ipairs(vars) do out[3 + i] = v:value() end
    return out
  end)
end
local function trained_in_graph(c)
  return tf.Graph():as_default(function()
    tf.set_random_seed(11)
    local vars = new()
    local x = tf.placeholder(c.input.dtype, c.input.shape)
    local y = in_scope(vars, function() return c.fn(x) end)
    local step = slim.learning.create_train_op(loss_of(y), tf.train.MomentumOptimizer(0.01, 0.9))
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    local out = {}
    for i = 1, 3 do out[i] = sess:run(step, {[x] = c.input}, {raw = true}) end
    for i, v in ipairs(vars) do out[3 + i] = sess:run(v, nil, {raw = true}) end
    return out
  end)
end

local passed, failed = 0, 0
local function dense(t) return t and t.values and tf.convert_to_tensor and tf.convert_to_tensor(t) or t end
local function compare(what, a, b)
  local why = #a ~= #b and ("%d values and %d"):format(#a, #b)
  for i = 1, #a do
    local p, q = a[i], b[i]
    if not why and (p and 1 or 0) ~= (q and 1 or 0) then why = ("value %d is missing once"):format(i) end
    if not why and p then
      if p.bytes == nil or q.bytes == nil then p, q = dense(p), dense(q) end
      if p:bytes() ~= q:bytes() then why = ("value %d of shape {%s} differs by %g"):format(i, table.concat(p.shape, ", "), tf.reduce_max(tf.abs(p - q)):item()) end
    end
  end
  if why then
    failed = failed + 1
    print(what, why)
  else
    passed = passed + 1
  end
end
for i, c in ipairs(cases) do
  local ok, why = pcall(function()
    scope = "values" .. i
    local values, n = at_once(c)
    compare(c.name .. ": values", values, (in_graph(c)))
    scope = "training" .. i
    if n > 0 then compare(c.name .. ": training", trained_at_once(c), trained_in_graph(c)) end
  end)
  if not ok then
    failed = failed + 1
    print(c.name, why)
  end
end
print(("same bits: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1, true)
