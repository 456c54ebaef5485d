-- Layers that act in training only: dropout of elements and of whole channels, noise.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local layer = T.keras_layer

local function check_rate(self, path)
  local r = self.rate
  if type(r) ~= "number" or r < 0 or r > 1 then T.fail(path, "'rate' must lie within 0 and 1, not %s", tostring(r)) end
end
-- A training flag that only running tells computes both.
local function when_training(o, x, fn)
  if T.kind(o.training) then
    local flag = o.training
    return raw.SelectV2(tf.cast(flag, "bool"), fn(), x)
  end
  return o.training and fn() or x
end
local function drop(self, x, o, shape)
  return (self:run_record({x, T.kind(o.training) and o.training or nil, n = T.kind(o.training) and 2 or 1},
    {rate = self.rate, noise_shape = shape, seed = self.seed or nil, training = not T.kind(o.training) and o.training or nil}, "dropout"))
end
layer("Dropout", "rate noise_shape? seed?", {supports_masking = true, init = check_rate,
  call = function(self, x, o)
    local shape
    if self.noise_shape then
      shape = {}
      for i, d in ipairs(self.noise_shape) do shape[i] = d and d ~= tf.json.null and d or -1 end
    end
    return drop(self, x, o, shape)
  end})
for n = 1, 3 do
  layer(("SpatialDropout%dD"):format(n), "rate seed?" .. (n > 1 and " data_format?" or ""), {supports_masking = true, ndim = n + 2,
    init = function(self, path)
      check_rate(self, path)
      rawset(self, "padding", "valid")
      T.keras_padding(self, path)
      rawset(self, "padding", nil)
    end,
    call = function(self, x, o)
      local shape = {-1}
      for i = 1, n do shape[#shape + 1] = 1 end
      if self.data_format == "channels_first" then table.insert(shape, 2, -1) else shape[#shape + 1] = -1 end
      return drop(self, x, o, shape)
    end})
end
local function normal(x, mean, stddev, seed)
  return tf.random.normal(T.kind(x) == "Node" and tf.shape(x) or x.shape, {mean = mean, stddev = stddev, dtype = x.dtype, seed = seed or nil})
end
local function uniform(x, seed)
  return tf.random.uniform(T.kind(x) == "Node" and tf.shape(x) or x.shape, {dtype = x.dtype, seed = seed or nil})
end
layer("GaussianNoise", "stddev seed?", {supports_masking = true,
  init = function(self, path) if type(self.stddev) ~= "number" or self.stddev < 0 then T.fail(path, "'stddev' must not be below 0, but is %s", tostring(self.stddev)) end end,
  call = function(self, x, o) return when_training(o, x, function() return x + normal(x, 0, self.stddev, self.seed) end) end})
layer("GaussianDropout", "rate seed?", {supports_masking = true, init = check_rate,
  call = function(self, x, o)
    if self.rate == 0 then return x end
    return when_training(o, x, function() return x * normal(x, 1, math.sqrt(self.rate / (1 - self.rate)), self.seed) end)
  end})
-- Keeps mean and variance of inputs that SELU made (Klambauer et al., 2017): dropped elements become -alpha scale.
layer("AlphaDropout", "rate noise_shape? seed?", {supports_masking = true, init = check_rate,
  call = function(self, x, o)
    if self.rate == 0 then return x end
    return when_training(o, x, function()
      local low = -1.6732632423543772 * 1.0507009873554805
      local a = ((1 - self.rate) * (1 + self.rate * low ^ 2)) ^ -0.5
      local b = -a * low * self.rate
      local keep = tf.cast(raw.GreaterEqual(uniform(x, self.seed), T.value(self.rate, x.dtype)), x.dtype)
      return (x * keep + (1 - keep) * low) * a + b
    end)
  end})
local _ = S
return true
