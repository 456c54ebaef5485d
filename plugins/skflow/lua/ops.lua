-- tf.skflow.ops: what estimators' models are made of.
local tf, T = ...
local raw = tf.raw
local skflow = T.namespace "tf.skflow"
local ops = T.namespace "tf.skflow.ops"
rawset(skflow, "ops", ops)

-- Whether the model that is being built is for training: a boolean, or a flag of the graph that fit feeds.
local flag
-- local scope <close> = ops.training_scope(true): what dropout and batch_normalize inside do. Without a value: scope.flag, a placeholder.
function ops.training_scope(value)
  if value ~= nil and type(value) ~= "boolean" then T.fail("tf.skflow.ops.training_scope", "expects true or false, not %s", T.kind(value) or type(value)) end
  local outer = flag
  if value == nil then value = tf.placeholder_with_default(false, {}, {name = "training"}) end
  flag = value
  return setmetatable({flag = flag}, {__close = function() flag = outer end})
end
local function training() return flag or false end

local function weight(names)
  return function(role, shape, dtype, _, state)
    local w = names[role] or {role}
    return tf.get_variable(w[1], shape, dtype, w[2], nil, not state)
  end
end
-- {batch, features} to {batch, units}; weights and bias in the present scope.
function ops.fully_connected(x, units)
  local outputs = T.build_layer("dense", {x}, {units = units}, weight {kernel = {"weights"}, bias = {"bias", tf.zeros_initializer()}})
  return outputs[1]
end
-- Layers of `units` one after another, each with activation and dropout: scopes dnn/layer0, dnn/layer1 ...
T.def("tf.skflow.ops.dnn", "tensor_in hidden_units activation? keep_prob? dropout?", function(x, units, activation, keep_prob, dropout)
  if keep_prob == nil and dropout then keep_prob = 1 - dropout end
  if activation == nil then activation = tf.nn.relu end
  if type(units) ~= "table" or #units == 0 then T.fail("tf.skflow.ops.dnn", "'hidden_units' must be a list of numbers, not %s", type(units)) end
  return tf.variable_scope("dnn", function()
    for i, n in ipairs(units) do
      x = tf.variable_scope("layer" .. i - 1, function()
        local y = ops.fully_connected(x, n)
        if activation then y = activation(y) end
        if keep_prob and keep_prob < 1 then y = ops.dropout(y, keep_prob) end
        return y
      end)
    end
    return x
  end)
end)
-- Dropout in fit, nothing in predict.
function ops.dropout(x, keep_prob)
  if type(keep_prob) ~= "number" or keep_prob <= 0 or keep_prob > 1 then T.fail("tf.skflow.ops.dropout", "'keep_prob' must be a number above 0 and at most 1, not %s", T.shown(keep_prob)) end
  local f = training()
  if not T.kind(f) then return f and tf.nn.dropout(x, keep_prob) or x end
  return T.build_layer("dropout", {x, f}, {rate = 1 - keep_prob})[1]
end
T.def("tf.skflow.ops.conv2d", "tensor_in n_filters filter_shape strides? padding=SAME bias=true activation? batch_norm=false",
  function(x, filters, shape, strides, padding, bias, activation, norm)
    local stride = strides or {1, 1}
    if #stride == 4 then stride = {stride[2], stride[3]} end
    return tf.variable_scope("convolution", function()
      local y = T.build_layer("conv2d", {x}, {filters = filters, kernel_size = shape, strides = stride, padding = padding:lower(), use_bias = bias},
        weight {kernel = {"filters"}, bias = {"bias", tf.zeros_initializer()}})[1]
      if norm then y = ops.batch_normalize(y) end
      return activation and activation(y) or y
    end)
  end)
T.def("tf.skflow.ops.batch_normalize", "tensor_in epsilon=1e-5 convnet=true decay=0.9 scale_after_normalization=true", function(x, epsilon, _, decay, scale)
  return tf.variable_scope(false, "batch_norm", function()
    local inputs, params = {x, n = 1}, {momentum = decay, epsilon = epsilon, scale = scale}
    T.flexible(T.layer "batch_normalization", inputs, params, "training", training())
    local outputs, effects = T.build_layer("batch_normalization", inputs, params, weight {})
    T.collect_effects(effects)
    return outputs[1]
  end)
end)
-- Rows of a table that is learned, for class numbers of any shape.
T.def("tf.skflow.ops.categorical_variable", "tensor_in n_classes embedding_size name=embeddings", function(ids, classes, size, name)
  return tf.variable_scope(name, function()
    return tf.nn.embedding_lookup(tf.get_variable("embeddings", {classes, size}), ids)
  end)
end)
function ops.embedding_lookup(table_, ids) return tf.nn.embedding_lookup(table_, ids) end
T.def("tf.skflow.ops.one_hot_matrix", "tensor_in num_classes on_value=1.0 off_value=0.0", function(x, n, on, off)
  return tf.one_hot(x, n, {on_value = on, off_value = off})
end)
-- Slices along an axis, which goes.
function ops.split_squeeze(axis, n, x) return tf.unstack(x, n, axis) end

-- predictions = x w + b and the mean of their squared distances to the labels.
T.def("tf.skflow.ops.mean_squared_error_regressor", "tensor_in labels weights biases", function(x, labels, w, b)
  local p = tf.matmul(x, w) + b
  if #labels.shape == 1 then p = tf.squeeze(p, {axis = {1}}) end
  return p, tf.reduce_mean(tf.square(p - labels))
end)
-- Probabilities and cross entropy; labels are rows of probabilities. class_weight multiplies the logits.
T.def("tf.skflow.ops.softmax_classifier", "tensor_in labels weights biases class_weight?", function(x, labels, w, b, class_weight)
  local logits = tf.matmul(x, w) + b
  if class_weight then logits = logits * tf.tensor(class_weight, logits.dtype) end
  return tf.nn.softmax(logits), tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits {labels = labels, logits = logits})
end)
local _ = raw
T.guard_all("tf.skflow.ops.", ops)
return ops
