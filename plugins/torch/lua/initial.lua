-- nn.init: PyTorch's functions that draw the values of a parameter anew, in place; a weight lies as {outputs, inputs, window...}.
--
--     nn.init.kaiming_normal_(layer.weight, {nonlinearity = "relu"})
local tf, T = ...
local nn = T.namespace "tf.torch.nn"
local space = T.namespace "tf.torch.nn.init"
rawset(nn, "init", space)

local function set(who, parameter, value)
  if T.kind(parameter) ~= "Variable" then T.fail(who, "expects a parameter, not %s", T.kind(parameter) or type(parameter)) end
  parameter:assign(value)
  return parameter
end
local function def(name, signature, fn)
  local who = "tf.torch.nn.init." .. name
  T.def(who, "tensor|parameter " .. signature, function(p, ...)
    local a, b, c = ...
    return set(who, p, tf.eager(function() return fn(p, a, b, c) end))
  end)
end
local function fans(p, who)
  local s = p.shape
  if #s < 2 then T.fail("tf.torch.nn.init." .. who, "the parameter must have 2 or more dimensions, not %d", #s) end
  local window = 1
  for i = 3, #s do window = window * s[i] end
  return s[2] * window, s[1] * window
end
local gains = {linear = 1, sigmoid = 1, conv1d = 1, conv2d = 1, conv3d = 1, tanh = 5 / 3, relu = math.sqrt(2), selu = 3 / 4}
-- By how much a function behind shrinks deviations.
T.def("tf.torch.nn.init.calculate_gain", "nonlinearity param?", function(name, slope)
  if name == "leaky_relu" then return math.sqrt(2 / (1 + (slope or 0.01) ^ 2)) end
  if not gains[name] then T.fail("tf.torch.nn.init.calculate_gain", "'%s' is no function that it knows", tostring(name)) end
  return gains[name]
end)
local function uniform(p, bound) return tf.random_uniform(p.shape, -bound, bound, {dtype = p.dtype}) end
local function normal(p, deviation) return tf.random_normal(p.shape, 0, deviation, {dtype = p.dtype}) end

def("uniform_", "a=0 b=1", function(p, a, b) return tf.random_uniform(p.shape, a, b, {dtype = p.dtype}) end)
def("normal_", "mean=0 std=1", function(p, mean, deviation) return tf.random_normal(p.shape, mean, deviation, {dtype = p.dtype}) end)
def("constant_", "val", function(p, value) return tf.fill(p.shape, T.value(value, p.dtype)) end)
def("zeros_", "", function(p) return tf.zeros(p.shape, p.dtype) end)
def("ones_", "", function(p) return tf.ones(p.shape, p.dtype) end)
def("eye_", "", function(p) return tf.initializers.identity()(p.shape, p.dtype) end)
def("orthogonal_", "gain=1", function(p, gain) return tf.initializers.orthogonal(gain)(p.shape, p.dtype) end)
def("xavier_uniform_", "gain=1", function(p, gain)
  local fan_in, fan_out = fans(p, "xavier_uniform_")
  return uniform(p, gain * math.sqrt(6 / (fan_in + fan_out)))
end)
def("xavier_normal_", "gain=1", function(p, gain)
  local fan_in, fan_out = fans(p, "xavier_normal_")
  return normal(p, gain * math.sqrt(2 / (fan_in + fan_out)))
end)
local function kaiming(name, law, scale)
  def(name, "a=0 mode=fan_in nonlinearity=leaky_relu", function(p, a, mode, nonlinearity)
    local fan_in, fan_out = fans(p, name)
    if mode ~= "fan_in" and mode ~= "fan_out" then T.fail("tf.torch.nn.init." .. name, "'mode' must be fan_in or fan_out, not '%s'", tostring(mode)) end
    return law(p, scale * space.calculate_gain(nonlinearity, a) / math.sqrt(mode == "fan_in" and fan_in or fan_out))
  end)
end
kaiming("kaiming_uniform_", uniform, math.sqrt(3))
kaiming("kaiming_normal_", normal, 1)
