-- provides tf: zeros_initializer ones_initializer constant_initializer random_uniform_initializer random_normal_initializer truncated_normal_initializer uniform_unit_scaling_initializer variance_scaling_initializer orthogonal_initializer glorot_uniform_initializer glorot_normal_initializer identity_initializer
-- provides tf.initializers: zeros ones constant random_uniform random_normal truncated_normal uniform_unit_scaling variance_scaling orthogonal glorot_uniform glorot_normal he_uniform he_normal lecun_uniform lecun_normal identity
-- Initializers: functions of (shape, dtype). Fans of a kernel [h, w, in, out] are in and out times h w.
local tf, T = ...
local raw, def = tf.raw, T.def
local initializers = T.namespace "tf.initializers"

local function fans(shape)
  local n = #shape
  if n == 0 then return 1, 1 end
  if n == 1 then return shape[1], shape[1] end
  local field = 1
  for i = 1, n - 2 do field = field * shape[i] end
  return shape[n - 1] * field, shape[n] * field
end
T.fans = fans

local function both(name, signature, make)
  local fn = def("tf.initializers." .. name, signature, make)
  tf[name .. "_initializer"] = fn
  return fn
end
local function needs_float(dtype, who)
  if not dtype:find "float" then T.fail(who, "the type must be floating, not %s", dtype) end
end

both("zeros", "dtype?", function() return function(shape, dtype) return tf.zeros(shape, dtype) end end)
both("ones", "dtype?", function() return function(shape, dtype) return tf.ones(shape, dtype) end end)
both("constant", "value=0 dtype? verify_shape=false", function(value, own)
  return function(shape, dtype)
    if type(value) == "number" or type(value) == "boolean" then
      return raw.Fill(shape, value, {T = own or dtype})
    end
    return tf.constant(value, {dtype = own or dtype, shape = shape})
  end
end)
both("random_uniform", "minval=0 maxval? seed? dtype?", function(lo, hi, seed, own)
  return function(shape, dtype)
    return tf.random_uniform(shape, lo, hi, own or dtype, seed)
  end
end)
both("random_normal", "mean=0 stddev=1 seed? dtype?", function(mean, stddev, seed, own)
  return function(shape, dtype) return tf.random_normal(shape, mean, stddev, own or dtype, seed) end
end)
both("truncated_normal", "mean=0 stddev=1 seed? dtype?", function(mean, stddev, seed, own)
  return function(shape, dtype) return tf.truncated_normal(shape, mean, stddev, own or dtype, seed) end
end)
both("uniform_unit_scaling", "factor=1 seed? dtype?", function(factor, seed, own)
  return function(shape, dtype)
    local input = 1
    for i = 1, #shape - 1 do input = input * shape[i] end
    local limit = math.sqrt(3 / math.max(input, 1)) * factor
    return tf.random_uniform(shape, -limit, limit, own or dtype, seed)
  end
end)
both("variance_scaling", "scale=1 mode=fan_in distribution=truncated_normal seed? dtype?", function(scale, mode, distribution, seed, own)
  if scale <= 0 then T.fail("variance_scaling", "'scale' must be above 0, not %g", scale) end
  if mode ~= "fan_in" and mode ~= "fan_out" and mode ~= "fan_avg" then
    T.fail("variance_scaling", "'mode' must be fan_in, fan_out or fan_avg, not '%s'", mode)
  end
  return function(shape, dtype)
    dtype = own or dtype
    needs_float(dtype, "variance_scaling")
    local fan_in, fan_out = fans(shape)
    local n = mode == "fan_in" and fan_in or mode == "fan_out" and fan_out or (fan_in + fan_out) / 2
    local variance = scale / math.max(1, n)
    if distribution == "normal" or distribution == "truncated_normal" then
      -- a normal cut at two deviations has 0.8796... of the deviation
      return tf.truncated_normal(shape, 0, math.sqrt(variance) / .87962566103423978, dtype, seed)
    elseif distribution == "untruncated_normal" then
      return tf.random_normal(shape, 0, math.sqrt(variance), dtype, seed)
    elseif distribution == "uniform" then
      local limit = math.sqrt(3 * variance)
      return tf.random_uniform(shape, -limit, limit, dtype, seed)
    end
    T.fail("variance_scaling", "'distribution' must be truncated_normal, untruncated_normal or uniform, not '%s'", distribution)
  end
end)
for name, law in pairs {glorot_uniform = {1, "fan_avg", "uniform"}, glorot_normal = {1, "fan_avg", "truncated_normal"},
  he_uniform = {2, "fan_in", "uniform"}, he_normal = {2, "fan_in", "truncated_normal"},
  lecun_uniform = {1, "fan_in", "uniform"}, lecun_normal = {1, "fan_in", "truncated_normal"}} do
  local fn = def("tf.initializers." .. name, "seed? dtype?", function(seed, dtype)
    return initializers.variance_scaling(law[1], law[2], law[3], seed, dtype)
  end)
  if name:find "glorot" then tf[name .. "_initializer"] = fn end
end
-- Rows (or columns, whichever are fewer) orthonormal: modified Gram-Schmidt of a normal matrix, in
-- double precision on the host.
both("orthogonal", "gain=1 seed? dtype?", function(gain, seed, own)
  return function(shape, dtype)
    if #shape < 2 then T.fail("orthogonal", "the shape must have at least two extents") end
    local rows, columns = 1, shape[#shape]
    for i = 1, #shape - 1 do rows = rows * shape[i] end
    local big, small = math.max(rows, columns), math.min(rows, columns)
    local values = tf.random_normal({small, big}, {seed = seed, dtype = "float64", now = true}):table()
    for i = 1, small do
      local a = values[i]
      for _ = 1, 2 do -- the second pass removes what rounding left
        for j = 1, i - 1 do
          local b, dot = values[j], 0
          for k = 1, big do dot = dot + a[k] * b[k] end
          for k = 1, big do a[k] = a[k] - dot * b[k] end
        end
      end
      local norm = 0
      for k = 1, big do norm = norm + a[k] * a[k] end
      norm = 1 / math.sqrt(norm)
      for k = 1, big do a[k] = a[k] * norm end
    end
    local q = tf.tensor(values, "float64") * gain
    if rows > columns then q = tf.transpose(q) end
    return tf.constant(tf.cast(tf.reshape(q, shape), own or dtype))
  end
end)
both("identity", "gain=1 dtype?", function(gain, own)
  return function(shape, dtype)
    if #shape ~= 2 then T.fail("identity", "the shape must have two extents") end
    local eye = tf.eye(shape[1], shape[2], nil, own or dtype)
    return gain == 1 and eye or eye * gain
  end
end)
