-- tf.keras.backend: settings and the functions of values that scripts use most.
local tf, T = ...
local S = T.include("keras", "engine/state")
local K = T.keras_namespace "backend"
local settings = S.settings

function K.floatx() return settings.floatx end
function K.set_floatx(x)
  if not ({float16 = 1, float32 = 1, float64 = 1, bfloat16 = 1})[x] then T.fail("tf.keras.backend.set_floatx", "'%s' is no floating type", tostring(x)) end
  settings.floatx = x
end
function K.epsilon() return settings.epsilon end
function K.set_epsilon(x) settings.epsilon = x end
function K.image_data_format() return T.keras_data_format or "channels_last" end
function K.set_image_data_format(x)
  if x ~= "channels_last" and x ~= "channels_first" then T.fail("tf.keras.backend.set_image_data_format", "must be \"channels_last\" or \"channels_first\", not '%s'", tostring(x)) end
  T.keras_data_format = x
end
function K.backend() return "tfsdk" end
-- 0 or false: layers behave as in inference; 1 or true: as in training; what a call says goes before.
function K.set_learning_phase(x) S.phase = x == 1 or x == true end
function K.learning_phase() return S.phase and 1 or 0 end
-- The session that graph-mode models train and predict in.
function K.get_session() return S.initialize(tf.get_default_graph()) end
function K.set_session(session) S.set_session(session, tf.get_default_graph()) end
-- Forgets names, sessions and symbolic values; graph mode begins with a new graph.
function K.clear_session()
  S.clear()
  if not tf.executing_eagerly() then tf.reset_default_graph() end
end
function K.get_value(v) return T.kind(v) == "Variable" and T.keras_read(v) or K.get_session():run(v, nil, {raw = true}) end
function K.set_value(v, value) T.keras_load(v, value) end
function K.batch_get_value(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = K.get_value(v) end
  return out
end
function K.count_params(v)
  local n = 1
  for _, d in ipairs(v.shape) do n = n * d end
  return n
end
function K.int_shape(x) return {table.unpack(x.shape)} end
function K.ndim(x) return #x.shape end
function K.dtype(x) return x.dtype end
-- function(inputs, outputs): a function of a list of tensors that gives the outputs.
K["function"] = function(inputs, outputs, updates)
  return function(values)
    local feed, fetches = {}, {}
    for i, x in ipairs(inputs) do feed[x] = values[i] end
    for i, y in ipairs(outputs) do fetches[i] = y end
    if updates and #updates > 0 then fetches[#fetches + 1] = tf.group(updates) end
    local r = S.initialize(outputs[1].graph):run(fetches, feed, {raw = true})
    return {table.unpack(r, 1, #outputs)}
  end
end
function K.in_train_phase(x, alternative, training)
  if training == nil then training = S.call and S.call.training or S.phase end
  local function value(v) if type(v) == "function" then return v() end return v end
  if training and training ~= 0 then return value(x) end
  return value(alternative)
end
function K.in_test_phase(x, alternative, training) return K.in_train_phase(alternative, x, training) end
-- The reductions and element-wise functions under Keras' names.
for name, fn in pairs {sum = tf.reduce_sum, mean = tf.reduce_mean, max = tf.reduce_max, min = tf.reduce_min, prod = tf.reduce_prod, any = tf.reduce_any,
  all = tf.reduce_all} do
  K[name] = function(x, axis, keepdims) return fn(x, {axis = axis, keepdims = keepdims}) end
end
for _, name in ipairs {"square", "abs", "sqrt", "exp", "log", "round", "sign", "pow", "maximum", "minimum", "sin", "cos", "equal", "not_equal", "greater",
  "greater_equal", "less", "less_equal", "cast", "reshape", "transpose", "stack", "tile", "gather", "shape", "eye", "zeros_like", "ones_like", "stop_gradient",
  "gradients", "expand_dims", "squeeze", "zeros", "ones", "identity", "argmax", "argmin", "tanh", "sigmoid", "one_hot"} do
  K[name] = tf[name]
end
K.relu, K.softmax, K.softplus, K.elu, K.l2_normalize = tf.nn.relu, tf.nn.softmax, tf.nn.softplus, tf.nn.elu, tf.nn.l2_normalize
function K.concatenate(list, axis) return tf.concat(list, axis or -1) end
function K.clip(x, low, high) return tf.clip_by_value(x, low, high) end
function K.flatten(x) return tf.reshape(x, {-1}) end
function K.batch_flatten(x) return tf.reshape(x, {x.shape[1] >= 0 and x.shape[1] or -1, -1}) end
function K.dot(a, b) return tf.matmul(a, b) end
function K.permute_dimensions(x, pattern) return tf.transpose(x, pattern) end
function K.placeholder(shape, o)
  local dtype = o and o.dtype or "float32"
  local list = {}
  for i, d in ipairs(shape) do list[i] = d or -1 end
  return tf.placeholder(dtype, list)
end
function K.variable(value, dtype, name)
  return T.variable {name = name or S.unique "variable", init = T.value(value, dtype or "float32"), trainable = true}
end
function K.constant(value, dtype) return tf.tensor(value, dtype or "float32") end
return K
