-- Slim's layers: functions of a tensor, with variables named as Slim names them, on the layer records.
local tf, T = ...
local slim = T.namespace "tf.slim"
local raw, layer = tf.raw, T.slim_layer
local KEYS = tf.GraphKeys

-- ------------------------------------------------------------------------------------- what layers share

-- Collections of one kind of variable: a list for all kinds, or a table by kind.
local function variable_collections(collections, kind)
  if type(collections) ~= "table" or #collections > 0 then return collections end
  return collections[kind]
end

local aliases = setmetatable({}, {__mode = "k"}) -- outputs -> the scope that made them
function T.slim_alias(x) return aliases[x] end
-- The output of a layer, noted in its collections under the name of its scope.
local function collected(collections, alias, output)
  if collections and T.kind(output) == "Node" then
    aliases[output] = alias
    tf.add_to_collections(collections, output)
  end
  return output
end
T.slim_collected = collected

-- The function that gives a record its weights. names: role -> {name, initializer, regularizer}.
local function weights(names, trainable, collections)
  return function(role, shape, dtype, init, state)
    local w = names[role] or {role}
    local initializer = w[2]
    if initializer == nil then initializer = T.proposed_initializer(init) or slim.xavier_initializer() end
    return slim.model_variable(w[1], {shape = shape, dtype = dtype, initializer = initializer, regularizer = w[3] or nil,
      trainable = trainable and not state, collections = variable_collections(collections, w[1])})
  end
end
T.slim_weights = weights

local formats = {NHWC = "channels_last", NCHW = "channels_first", NWC = "channels_last", NCW = "channels_first",
  NDHWC = "channels_last", NCDHW = "channels_first"}
local function format_of(data_format, who)
  if not data_format then return "channels_last" end
  return formats[data_format] or T.fail(who, "'data_format' cannot be '%s'; there are NHWC, NCHW, NWC, NCW, NDHWC, NCDHW", data_format)
end
T.slim_format = format_of
local function padding_of(padding, who)
  if type(padding) ~= "string" then T.fail(who, "'padding' must be SAME or VALID, not %s", type(padding)) end
  local p = padding:lower()
  if p ~= "same" and p ~= "valid" then T.fail(who, "'padding' must be SAME or VALID, not '%s'", padding) end
  return p
end
T.slim_padding = padding_of

local function activate(fn, x)
  if not fn then return x end
  if type(fn) == "string" then return T.build_layer("activation", {x}, {activation = fn})[1] end
  return fn(x)
end
T.slim_activate = activate

-- Normaliser, bias and activation behind a linear part, which has added its bias if there is one.
local function finish(y, activation_fn, normalizer_fn, normalizer_params)
  if normalizer_fn then
    local params = {}
    for k, v in pairs(normalizer_params or {}) do params[k] = v end
    y = next(params) and normalizer_fn(y, params) or normalizer_fn(y)
  end
  if activation_fn == nil then activation_fn = tf.nn.relu end
  return activate(activation_fn, y)
end

-- ------------------------------------------------------------------------------------- dense and convolutions

local common = " activation_fn? normalizer_fn? normalizer_params? weights_initializer? weights_regularizer? biases_initializer? biases_regularizer? reuse? variables_collections? outputs_collections? trainable=true scope?"

layer("fully_connected", "inputs num_outputs" .. common, function(inputs, units, activation_fn, normalizer_fn, normalizer_params,
    weights_initializer, weights_regularizer, biases_initializer, biases_regularizer, reuse, collections, outputs, trainable, scope)
  return tf.variable_scope(scope or false, "fully_connected", {reuse = reuse}, function(sc)
    local bias = not normalizer_fn and biases_initializer ~= false
    local y = T.build_layer("dense", {inputs}, {units = units, use_bias = bias}, weights({
      kernel = {"weights", weights_initializer, weights_regularizer}, bias = {"biases", biases_initializer, biases_regularizer}},
      trainable, collections))[1]
    return collected(outputs, sc.original_name_scope, finish(y, activation_fn, normalizer_fn, normalizer_params))
  end)
end)

local conv_signature = "inputs num_outputs kernel_size stride=1 padding=SAME data_format? rate=1" .. common
local function convolution(names, axes)
  local who = "slim." .. names:match "%S+"
  layer(names, conv_signature, function(inputs, filters, kernel_size, stride, padding, data_format, rate, activation_fn,
      normalizer_fn, normalizer_params, weights_initializer, weights_regularizer, biases_initializer, biases_regularizer,
      reuse, collections, outputs, trainable, scope)
    inputs = T.value(inputs)
    local n = axes
    if not n then
      n = (inputs:rank() or T.fail(who, "the input's rank is not known")) - 2
      if n < 1 or n > 3 then T.fail(who, "the input must have 1 to 3 axes besides batch and channels; its rank is %d", n + 2) end
    end
    return tf.variable_scope(scope or false, "Conv", {reuse = reuse}, function(sc)
      local y = T.build_layer(("conv%dd"):format(n), {inputs}, {filters = filters, kernel_size = kernel_size, strides = stride,
        padding = padding_of(padding, who), data_format = format_of(data_format, who), dilation_rate = rate,
        use_bias = not normalizer_fn and biases_initializer ~= false}, weights({
        kernel = {"weights", weights_initializer, weights_regularizer}, bias = {"biases", biases_initializer, biases_regularizer}},
        trainable, collections))[1]
      return collected(outputs, sc.original_name_scope, finish(y, activation_fn, normalizer_fn, normalizer_params))
    end)
  end)
end
convolution("convolution", nil)
convolution("conv1d convolution1d", 1)
convolution("conv2d convolution2d", 2)
convolution("conv3d convolution3d", 3)

local function transposed(names, axes)
  local who = "slim." .. names:match "%S+"
  layer(names, "inputs num_outputs kernel_size stride=1 padding=SAME data_format?" .. common, function(inputs, filters, kernel_size,
      stride, padding, data_format, activation_fn, normalizer_fn, normalizer_params, weights_initializer, weights_regularizer,
      biases_initializer, biases_regularizer, reuse, collections, outputs, trainable, scope)
    return tf.variable_scope(scope or false, ("Conv%dd_transpose"):format(axes), {reuse = reuse}, function(sc)
      local y = T.build_layer(("conv%dd_transpose"):format(axes), {inputs}, {filters = filters, kernel_size = kernel_size,
        strides = stride, padding = padding_of(padding, who), data_format = format_of(data_format, who),
        use_bias = not normalizer_fn and biases_initializer ~= false}, weights({
        kernel = {"weights", weights_initializer, weights_regularizer}, bias = {"biases", biases_initializer, biases_regularizer}},
        trainable, collections))[1]
      return collected(outputs, sc.original_name_scope, finish(y, activation_fn, normalizer_fn, normalizer_params))
    end)
  end)
end
transposed("conv2d_transpose convolution2d_transpose", 2)
transposed("conv3d_transpose convolution3d_transpose", 3)

-- num_outputs false: the depthwise part alone.
layer("separable_conv2d separable_convolution2d",
  "inputs num_outputs? kernel_size depth_multiplier=1 stride=1 padding=SAME data_format? rate=1 activation_fn? normalizer_fn? normalizer_params? weights_initializer? pointwise_initializer? weights_regularizer? biases_initializer? biases_regularizer? reuse? variables_collections? outputs_collections? trainable=true scope?",
  function(inputs, filters, kernel_size, multiplier, stride, padding, data_format, rate, activation_fn, normalizer_fn,
      normalizer_params, weights_initializer, pointwise_initializer, weights_regularizer, biases_initializer, biases_regularizer,
      reuse, collections, outputs, trainable, scope)
    local who = "slim.separable_conv2d"
    return tf.variable_scope(scope or false, "SeparableConv2d", {reuse = reuse}, function(sc)
      local params = {kernel_size = kernel_size, strides = stride, padding = padding_of(padding, who), depth_multiplier = multiplier,
        data_format = format_of(data_format, who), dilation_rate = rate, use_bias = not normalizer_fn and biases_initializer ~= false}
      if filters then params.filters = filters end
      local depthwise = {"depthwise_weights", weights_initializer, weights_regularizer}
      if pointwise_initializer == nil then pointwise_initializer = weights_initializer end
      local y = T.build_layer(filters and "separable_conv2d" or "depthwise_conv2d", {inputs}, params, weights({
        kernel = depthwise, depthwise_kernel = depthwise,
        pointwise_kernel = {"pointwise_weights", pointwise_initializer, weights_regularizer},
        bias = {"biases", biases_initializer, biases_regularizer}}, trainable, collections))[1]
      return collected(outputs, sc.original_name_scope, finish(y, activation_fn, normalizer_fn, normalizer_params))
    end)
  end)

-- ------------------------------------------------------------------------------------- normalisation

local function axis_of(data_format, who) return format_of(data_format, who) == "channels_first" and 1 or -1 end
local function named(param_initializers, param_regularizers, names)
  local out = {}
  for _, role in ipairs(names) do
    out[role] = {role, (param_initializers or {})[role], (param_regularizers or {})[role]}
  end
  return out
end

-- Where the updates of the statistics go: a collection (UPDATE_OPS), or false: done whenever the output is computed.
layer("batch_norm", "inputs decay=0.999 center=true scale=false epsilon=0.001 activation_fn? param_initializers? param_regularizers? updates_collections=update_ops is_training=true reuse? variables_collections? outputs_collections? trainable=true batch_weights? fused? data_format? zero_debias_moving_mean=false scope? renorm=false renorm_clipping? renorm_decay=0.99 adjustment?",
  function(inputs, decay, center, scale, epsilon, activation_fn, param_initializers, param_regularizers, updates_collections,
      is_training, reuse, collections, outputs, trainable, batch_weights, fused, data_format, zero_debias, scope, renorm, _, _, adjustment)
    local who = "slim.batch_norm"
    if renorm then T.fail_code(12, who, "'renorm' is not supported") end
    if adjustment then T.fail_code(12, who, "'adjustment' is not supported") end
    if batch_weights then T.fail_code(12, who, "'batch_weights' is not supported") end
    inputs = T.value(inputs)
    return tf.variable_scope(scope or false, "BatchNorm", {reuse = reuse}, function(sc)
      local rank = inputs:rank()
      if fused == nil then fused = rank == 2 or rank == 4 end
      if fused and rank and rank ~= 2 and rank ~= 4 then
        T.fail(who, "'fused' is for inputs of rank 2 and 4; this one has %d", rank)
      end
      local params = {axis = axis_of(data_format, who), momentum = decay, epsilon = epsilon, center = center, scale = scale,
        fused = fused, unbiased = fused, zero_debias = zero_debias}
      local list = {inputs}
      T.flexible(T.layer "batch_normalization", list, params, "training", is_training)
      local names = named(param_initializers, param_regularizers, {"beta", "gamma", "moving_mean", "moving_variance"})
      local prefix = sc.name == "" and "" or sc.name .. "/"
      for _, extra in ipairs {"biased", "local_step"} do
        names["moving_mean/" .. extra] = {prefix .. "moving_mean/" .. extra}
      end
      local result, effects = T.build_layer("batch_normalization", list, params, weights(names, trainable, collections))
      local y, updates = result[1], {}
      for _, e in ipairs(effects) do updates[#updates + 1] = e.value end
      if #updates > 2 then -- the average of the mean and what it is made of count as one
        updates = {tf.group {table.unpack(updates, 1, #updates - 1)}, updates[#updates]}
      end
      if updates_collections == false then
        if #updates > 0 then
          local c <close> = tf.control_dependencies(updates)
          y = raw.Identity(y)
        end
      else
        for _, op in ipairs(updates) do tf.add_to_collections(updates_collections, op) end
      end
      return collected(outputs, sc.original_name_scope, activate(activation_fn, y))
    end)
  end)

layer("layer_norm", "inputs center=true scale=true activation_fn? reuse? variables_collections? outputs_collections? trainable=true begin_norm_axis=1 begin_params_axis=-1 scope?",
  function(inputs, center, scale, activation_fn, reuse, collections, outputs, trainable, begin_norm, begin_params, scope)
    local who = "slim.layer_norm"
    inputs = T.value(inputs)
    local rank = inputs:rank() or T.fail(who, "the input's rank is not known")
    local function from(begin, what)
      if begin < 0 then begin = begin + rank end
      if begin < 0 or begin >= rank then T.fail(who, "'%s' is %d for an input of rank %d", what, begin, rank) end
      local out = {}
      for i = begin, rank - 1 do out[#out + 1] = i end
      return out
    end
    return tf.variable_scope(scope or false, "LayerNorm", {reuse = reuse}, function(sc)
      local narrow = inputs.dtype == "float16" or inputs.dtype == "bfloat16"
      local y = T.build_layer("layer_normalization", {inputs}, {axis = from(begin_norm, "begin_norm_axis"),
        params_axis = from(begin_params, "begin_params_axis"), epsilon = narrow and 1e-3 or 1e-12, center = center, scale = scale},
        weights({}, trainable, collections))[1]
      return collected(outputs, sc.original_name_scope, activate(activation_fn, y))
    end)
  end)

local function grouped(name, default_scope, signature, params_of)
  layer(name, signature, function(inputs, ...)
    inputs = T.value(inputs)
    local o = params_of(...)
    return tf.variable_scope(o.scope or false, default_scope, {reuse = o.reuse}, function(sc)
      local y = T.build_layer("group_normalization", {inputs}, o.params,
        weights(named(o.initializers, o.regularizers, {"beta", "gamma"}), o.trainable, o.collections))[1]
      return collected(o.outputs, sc.original_name_scope, activate(o.activation_fn, y))
    end)
  end)
end
grouped("instance_norm", "InstanceNorm",
  "inputs center=true scale=true epsilon=1e-06 activation_fn? param_initializers? reuse? variables_collections? outputs_collections? trainable=true data_format? scope?",
  function(center, scale, epsilon, activation_fn, initializers, reuse, collections, outputs, trainable, data_format, scope)
    return {params = {groups = -1, axis = axis_of(data_format, "slim.instance_norm"), epsilon = epsilon, center = center, scale = scale},
      activation_fn = activation_fn, initializers = initializers, reuse = reuse, collections = collections, outputs = outputs,
      trainable = trainable, scope = scope}
  end)
grouped("group_norm", "GroupNorm",
  "inputs groups=32 channels_axis=-1 reduction_axes? center=true scale=true epsilon=1e-06 activation_fn? param_initializers? reuse? variables_collections? outputs_collections? trainable=true scope? mean_close_to_zero=false",
  function(groups, axis, reduction_axes, center, scale, epsilon, activation_fn, initializers, reuse, collections, outputs, trainable, scope)
    return {params = {groups = groups, axis = axis, reduction_axes = reduction_axes or {-3, -2}, epsilon = epsilon, center = center,
      scale = scale}, activation_fn = activation_fn, initializers = initializers, reuse = reuse, collections = collections,
      outputs = outputs, trainable = trainable, scope = scope}
  end)

-- ------------------------------------------------------------------------------------- without weights

local function scoped(scope, default, fn)
  local s <close> = T.scope(scope, default)
  return fn(T.name_scope())
end
local function pooling(names, record, default)
  local who = "slim." .. names:match "%S+"
  layer(names, "inputs kernel_size stride=2 padding=VALID data_format? outputs_collections? scope?",
    function(inputs, kernel_size, stride, padding, data_format, outputs, scope)
      return scoped(scope, default, function(name)
        local y = T.build_layer(record, {inputs}, {pool_size = kernel_size, strides = stride, padding = padding_of(padding, who),
          data_format = format_of(data_format, who)})[1]
        return collected(outputs, name, y)
      end)
    end)
end
pooling("max_pool2d", "max_pooling2d", "MaxPool2D")
pooling("avg_pool2d", "average_pooling2d", "AvgPool2D")
pooling("max_pool3d", "max_pooling3d", "MaxPool3D")
pooling("avg_pool3d", "average_pooling3d", "AvgPool3D")
layer("pool", "inputs kernel_size pooling_type padding=VALID data_format? dilation_rate=1 stride=1 outputs_collections? scope?",
  function(inputs, kernel_size, kind, padding, _, rate, stride, outputs, scope)
    return scoped(scope, kind:lower() .. "_pool", function(name)
      return collected(outputs, name, tf.nn.pool(inputs, kernel_size, kind, padding, rate, stride))
    end)
  end)

layer("dropout", "inputs keep_prob=0.5 noise_shape? is_training=true outputs_collections? scope? seed?",
  function(inputs, keep_prob, noise_shape, is_training, outputs, scope, seed)
    return scoped(scope, "Dropout", function(name)
      local list, params = {inputs}, {noise_shape = noise_shape, seed = seed == 0 and 2147483647 or seed}
      local record = T.layer "dropout"
      if type(keep_prob) == "number" and (keep_prob <= 0 or keep_prob > 1) then
        T.fail("slim.dropout", "'keep_prob' must be above 0 and at most 1, not %g", keep_prob)
      end
      T.flexible(record, list, params, "rate", T.kind(keep_prob) and -keep_prob + 1 or 1 - keep_prob)
      T.flexible(record, list, params, "training", is_training)
      return collected(outputs, name, T.build_layer("dropout", list, params)[1])
    end)
  end)
layer("flatten", "inputs outputs_collections? scope?", function(inputs, outputs, scope)
  return scoped(scope, "Flatten", function(name) return collected(outputs, name, T.build_layer("flatten", {inputs}, {})[1]) end)
end)
layer("softmax", "logits scope?", function(logits, scope)
  return scoped(scope, "softmax", function() return T.build_layer("activation", {logits}, {activation = "softmax"})[1] end)
end)
layer("one_hot_encoding", "labels num_classes on_value=1.0 off_value=0.0 outputs_collections? scope?",
  function(labels, num_classes, on, off, outputs, scope)
    return scoped(scope, "OneHotEncoding", function(name)
      if not T.kind(labels) then labels = tf.tensor(labels, "int64") end
      labels = T.value(labels)
      if labels.dtype == "int32" then labels = tf.cast(labels, "int64") end
      return collected(outputs, name, tf.one_hot(labels, num_classes, {on_value = on, off_value = off}))
    end)
  end)
layer("bias_add", "inputs activation_fn? initializer? regularizer? reuse? variables_collections? outputs_collections? trainable=true data_format? scope?",
  function(inputs, activation_fn, initializer, regularizer, reuse, collections, outputs, trainable, data_format, scope)
    return tf.variable_scope(scope or false, "BiasAdd", {reuse = reuse}, function(sc)
      local y = T.build_layer("bias_add", {inputs}, {data_format = format_of(data_format, "slim.bias_add")},
        weights({bias = {"biases", initializer, regularizer}}, trainable, collections))[1]
      return collected(outputs, sc.original_name_scope, activate(activation_fn, y))
    end)
  end)

-- ------------------------------------------------------------------------------------- many layers

-- slim.repeat_(inputs, n, layer, arguments ..., {options, scope =}): `repeat` is a word of Lua's own;
-- slim["repeat"] is the same function.
local function last_options(args)
  if args.n > 0 and T.is_options(args[args.n]) then
    local options = {}
    for k, v in pairs(args[args.n]) do options[k] = v end
    args.n = args.n - 1
    return options
  end
  return {}
end
function slim.repeat_(inputs, repetitions, fn, ...)
  local who = "slim.repeat_"
  local args = table.pack(...)
  local options = last_options(args)
  if math.type(repetitions) ~= "integer" or repetitions < 1 then T.fail(who, "the count must be a whole number above 0, not %s", repetitions) end
  if type(fn) ~= "function" then T.fail(who, "expected a layer, got %s", T.kind(fn) or type(fn)) end
  local scope = options.scope
  return tf.variable_scope(scope or false, "Repeat", function()
    local name = type(scope) == "string" and scope:match "[^/]*$" or T.slim_name(fn) or "repeat"
    local y = inputs
    for i = 1, repetitions do
      local own = {}
      for k, v in pairs(options) do own[k] = v end
      own.scope = name .. "_" .. i
      args[args.n + 1] = own
      y = fn(y, table.unpack(args, 1, args.n + 1))
    end
    return y
  end)
end
rawset(slim, "repeat", slim.repeat_)
function slim.stack(inputs, fn, stack_args, ...)
  local who = "slim.stack"
  local args = table.pack(...)
  local options = last_options(args)
  if type(fn) ~= "function" then T.fail(who, "expected a layer, got %s", T.kind(fn) or type(fn)) end
  if type(stack_args) ~= "table" or T.kind(stack_args) or #stack_args == 0 then T.fail(who, "'stack_args' must be a list, one entry for each layer") end
  local scope = options.scope
  return tf.variable_scope(scope or false, "Stack", function()
    local name = type(scope) == "string" and scope:match "[^/]*$" or T.slim_name(fn) or "stack"
    local y = inputs
    for i, one in ipairs(stack_args) do
      local list = type(one) == "table" and not T.kind(one) and {table.unpack(one)} or {one}
      local own = {}
      for k, v in pairs(options) do own[k] = v end
      own.scope = name .. "_" .. i
      list[#list + 1] = own
      y = fn(y, table.unpack(list))
    end
    return y
  end)
end

-- Layers with their activation given.
local function partial(name, activation)
  rawset(slim, name, function(...)
    local args = table.pack(...)
    local options = last_options(args)
    if options.activation_fn == nil then options.activation_fn = activation end
    args[args.n + 1] = options
    return slim.fully_connected(table.unpack(args, 1, args.n + 1))
  end)
end
partial("relu", function(x) return tf.nn.relu(x) end)
partial("relu6", function(x) return tf.nn.relu6(x) end)
partial("elu", function(x) return tf.nn.elu(x) end)
partial("linear", false)
rawset(slim, "layers", slim)
