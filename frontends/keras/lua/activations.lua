-- tf.keras.activations: functions of a value. What a layer's `activation` may be: a name, one of these, any function.
-- Values and defaults are Keras 3's; `hard_sigmoid` is relu6(x + 3) / 6 there (Keras 1 and 2: clip(0.2 x + 0.5, 0, 1)).
local tf, T = ...
local raw, def = tf.raw, T.def
local _ = T.include("keras", "registry")
local activations = T.keras_namespace "activations"

local functions, order = {}, {}
local function activation(name, signature, fn)
  local path = "tf.keras.activations." .. name
  def(path, "x" .. (signature ~= "" and " " .. signature or ""), function(x, ...)
    if not T.kind(x) then x = tf.tensor(x) end
    return fn(T.value(x), ...)
  end)
  functions[name] = activations[name]
  order[#order + 1] = name
end
local function alias(name, ...)
  for _, other in ipairs {...} do
    rawset(activations, other, activations[name])
    functions[other] = activations[name]
  end
end
local function where(condition, a, b) return raw.SelectV2(condition, a, b) end

activation("linear", "", function(x) return x end)
activation("relu", "negative_slope|alpha=0 max_value? threshold=0", function(x, slope, max_value, threshold)
  if threshold == 0 and not max_value then
    return slope == 0 and raw.Relu(x) or raw.LeakyRelu(x, {alpha = slope})
  end
  if threshold == 0 and slope == 0 and max_value == 6 then return raw.Relu6(x) end
  local y = where(raw.Greater(x, threshold), x, raw.ZerosLike(x))
  if max_value then y = raw.ClipByValue(y, 0, max_value) end
  if slope ~= 0 then y = y - raw.Relu(-x + threshold) * slope end
  return y
end)
activation("leaky_relu", "negative_slope|alpha=0.2", function(x, slope) return raw.LeakyRelu(x, {alpha = slope}) end)
activation("relu6", "", function(x) return raw.Relu6(x) end)
activation("softmax", "axis=-1", function(x, axis)
  local rank = x:rank()
  if rank and axis < 0 then axis = axis + rank end
  if rank and (axis < 0 or axis >= rank) then T.fail("tf.keras.activations.softmax", "axis %d does not exist in a value of rank %d", axis, rank) end
  if rank and axis ~= rank - 1 then return tf.nn.softmax(x, axis) end
  return raw.Softmax(x)
end)
activation("log_softmax", "axis=-1", function(x, axis) return tf.nn.log_softmax(x, axis) end)
activation("elu", "alpha=1", function(x, alpha)
  if alpha == 1 then return raw.Elu(x) end
  return where(raw.Greater(x, 0), x, raw.Elu(x) * alpha)
end)
activation("selu", "", function(x) return raw.Selu(x) end)
activation("celu", "alpha=1", function(x, alpha)
  return raw.Maximum(x, 0) + raw.Expm1(raw.Minimum(x, 0) / alpha) * alpha
end)
activation("softplus", "", function(x) return raw.Softplus(x) end)
activation("softsign", "", function(x) return raw.Softsign(x) end)
activation("tanh", "", function(x) return raw.Tanh(x) end)
activation("sigmoid", "", function(x) return raw.Sigmoid(x) end)
activation("log_sigmoid", "", function(x) return -raw.Softplus(-x) end)
activation("hard_sigmoid", "", function(x) return raw.Relu6(x + 3) / 6 end)
activation("hard_tanh", "", function(x) return raw.ClipByValue(x, -1, 1) end)
activation("silu", "", function(x) return x * raw.Sigmoid(x) end)
activation("hard_silu", "", function(x) return x * (raw.Relu6(x + 3) / 6) end)
activation("gelu", "approximate=false", function(x, approximate)
  if approximate then
    local inner = (x * x * x * 0.044715 + x) * math.sqrt(2 / math.pi)
    return x * (raw.Tanh(inner) + 1) * 0.5
  end
  return x * (raw.Erf(x / math.sqrt(2)) + 1) * 0.5
end)
activation("mish", "", function(x) return x * raw.Tanh(raw.Softplus(x)) end)
activation("exponential", "", function(x) return raw.Exp(x) end)
activation("tanh_shrink", "", function(x) return x - raw.Tanh(x) end)
activation("soft_shrink", "threshold=0.5", function(x, t)
  return where(raw.Greater(x, t), x - t, where(raw.Less(x, -t), x + t, raw.ZerosLike(x)))
end)
activation("hard_shrink", "threshold=0.5", function(x, t)
  return where(raw.Greater(raw.Abs(x), t), x, raw.ZerosLike(x))
end)
activation("threshold", "threshold default_value", function(x, t, value)
  return where(raw.Greater(x, t), x, raw.ZerosLike(x) + value)
end)
activation("squareplus", "b=4", function(x, b) return (x + raw.Sqrt(x * x + b)) * 0.5 end)
activation("sparse_plus", "", function(x)
  local middle = raw.Square(x + 1) * 0.25
  return where(raw.LessEqual(x, -1), raw.ZerosLike(x), where(raw.Less(x, 1), middle, x))
end)
activation("sparse_sigmoid", "", function(x)
  return where(raw.LessEqual(x, -1), raw.ZerosLike(x), where(raw.GreaterEqual(x, 1), raw.OnesLike(x), (x + 1) * 0.5))
end)
activation("glu", "axis=-1", function(x, axis)
  local halves = tf.split(x, 2, axis)
  return halves[1] * raw.Sigmoid(halves[2])
end)
-- The nearest point of the simplex: max(x - tau, 0), tau from the k largest (Martins and Astudillo, 2016).
activation("sparsemax", "axis=-1", function(x, axis)
  local rank = x:rank()
  if axis ~= -1 and axis ~= rank - 1 then
    T.fail_code(12, "tf.keras.activations.sparsemax", "only the last axis is supported, not " .. axis)
  end
  local n = x.shape[rank]
  if n < 0 then T.fail("tf.keras.activations.sparsemax", "the extent of the last axis must be known") end
  local sorted = raw.TopKV2(x, n)
  local sums = tf.cumsum(sorted, -1)
  local k = tf.cast(tf.range(1, n + 1), x.dtype)
  local support = raw.Greater(k * sorted + 1, sums)
  local count = raw.Sum(raw.Cast(support, {DstT = x.dtype}), {-1}, {keep_dims = true})
  local sum = raw.Sum(raw.SelectV2(support, sorted, raw.ZerosLike(sorted)), {-1}, {keep_dims = true})
  return raw.Relu(x - (sum - 1) / count)
end)
alias("silu", "swish")
alias("hard_silu", "hard_swish")
alias("exponential", "exp")
alias("log_sigmoid", "logsigmoid")

function activations.get(x)
  if x == nil or x == false or x == tf.json.null then return activations.linear end
  if type(x) == "function" then return x end
  if type(x) == "table" and x.class_name then x = x.config and type(x.config) == "string" and x.config or x.class_name end
  if type(x) ~= "string" then T.fail("tf.keras.activations.get", "an activation is a name or a function, not %s", T.kind(x) or type(x)) end
  for i = #(T.keras_custom_objects or {}), 1, -1 do
    local found = T.keras_custom_objects[i][x]
    if found then return found end
  end
  local fn = functions[x]
  if fn then return fn end
  local names = {}
  for name in pairs(functions) do names[#names + 1] = name end
  table.sort(names)
  local near = T.nearest(x, names)
  T.fail("tf.keras.activations.get", "there is no activation '%s'%s", x, near and ("; did you mean '%s'?"):format(near) or "")
end
-- The name of an activation, for a configuration.
function activations.serialize(fn)
  if type(fn) == "string" then return fn end
  for _, name in ipairs(order) do if functions[name] == fn then return name end end
  for i = #(T.keras_custom_objects or {}), 1, -1 do
    for name, value in pairs(T.keras_custom_objects[i]) do if value == fn then return name end end
  end
  T.fail("tf.keras.activations.serialize", "the function has no name to be saved by; put it into keras.utils.custom_object_scope and give its name")
end
function activations.deserialize(x) return activations.get(x) end
activations.functions = functions
return activations
