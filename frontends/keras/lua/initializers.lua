-- tf.keras.initializers: how a weight begins. An object is called with (shape, dtype) and works as an initializer of
-- tf.get_variable, too. Laws are those of tf.initializers; defaults are Keras'.
local tf, T = ...
local registry = T.include("keras", "registry")

local Initializer = {}
function Initializer:__call(shape, dtype)
  if type(shape) == "number" then shape = {shape} end
  return self:call(shape, dtype or "float32")
end
local initializers = registry("initializers", "initializer", Initializer)
T.namespace "tf.keras.initializers".Initializer = Initializer
local law = tf.initializers

initializers:class("Zeros", "", {call = function(_, shape, dtype) return tf.zeros(shape, dtype) end})
initializers:class("Ones", "", {call = function(_, shape, dtype) return tf.ones(shape, dtype) end})
initializers:class("Constant", "value=0", {call = function(self, shape, dtype) return law.constant(self.value)(shape, dtype) end})
initializers:class("RandomNormal", "mean=0 stddev=0.05 seed?", {call = function(self, shape, dtype)
  return law.random_normal(self.mean, self.stddev, self.seed)(shape, dtype)
end})
initializers:class("RandomUniform", "minval=-0.05 maxval=0.05 seed?", {call = function(self, shape, dtype)
  return law.random_uniform(self.minval, self.maxval, self.seed)(shape, dtype)
end})
initializers:class("TruncatedNormal", "mean=0 stddev=0.05 seed?", {call = function(self, shape, dtype)
  return law.truncated_normal(self.mean, self.stddev, self.seed)(shape, dtype)
end})
initializers:class("VarianceScaling", "scale=1 mode=fan_in distribution=truncated_normal seed?", {
  init = function(self, path)
    if self.distribution == "normal" then self.distribution = "truncated_normal" end
    if self.scale <= 0 then T.fail(path, "'scale' must be above 0, not %g", self.scale) end
    if not ({fan_in = 1, fan_out = 1, fan_avg = 1})[self.mode] then T.fail(path, "'mode' must be fan_in, fan_out or fan_avg, not '%s'", tostring(self.mode)) end
    if not ({truncated_normal = 1, untruncated_normal = 1, uniform = 1})[self.distribution] then
      T.fail(path, "'distribution' must be truncated_normal, untruncated_normal or uniform, not '%s'", tostring(self.distribution))
    end
  end,
  call = function(self, shape, dtype)
    return law.variance_scaling(self.scale, self.mode, self.distribution, self.seed)(shape, dtype)
  end})
for name, scaling in pairs {GlorotUniform = {1, "fan_avg", "uniform"}, GlorotNormal = {1, "fan_avg", "truncated_normal"},
  HeUniform = {2, "fan_in", "uniform"}, HeNormal = {2, "fan_in", "truncated_normal"},
  LecunUniform = {1, "fan_in", "uniform"}, LecunNormal = {1, "fan_in", "truncated_normal"}} do
  initializers:class(name, "seed?", {call = function(self, shape, dtype)
    return law.variance_scaling(scaling[1], scaling[2], scaling[3], self.seed)(shape, dtype)
  end})
end
initializers:class("Orthogonal", "gain=1 seed?", {call = function(self, shape, dtype) return law.orthogonal(self.gain, self.seed)(shape, dtype) end})
initializers:class("Identity", "gain=1", {call = function(self, shape, dtype) return law.identity(self.gain)(shape, dtype) end})
-- A window of n samples; periodic: as if it went on. nil for none.
local function window_of(path, kind, n, periodic)
  if kind == nil or kind == false then return nil end
  if type(kind) == "table" then
    if #kind ~= n then T.fail(path, "'window' has %d numbers; the frame has %d", #kind, n) end
    return kind
  end
  local a = kind == "hann" and 0.5 or kind == "hamming" and 0.54
  if not a then T.fail(path, "'window' must be \"hann\", \"hamming\" or a list of numbers, not '%s'", tostring(kind)) end
  local out, d = {}, periodic and n or n - 1
  for i = 0, n - 1 do out[i + 1] = a - (1 - a) * math.cos(2 * math.pi * i / math.max(d, 1)) end
  return out
end
T.keras_window = window_of
-- Waves in a window as the kernel {frame, 1, bins} of a convolution that is the short-time Fourier transform. `scaling` is that of power: by the
-- window's squares ("density") or by its sum ("spectrum").
initializers:class("STFT", "side=real window=hann scaling=density periodic=false", {
  init = function(self, path)
    if self.side ~= "real" and self.side ~= "imag" then T.fail(path, "'side' must be real or imag, not '%s'", tostring(self.side)) end
    if self.scaling and self.scaling ~= "density" and self.scaling ~= "spectrum" then
      T.fail(path, "'scaling' must be density, spectrum or false, not '%s'", tostring(self.scaling))
    end
    if type(self.window) == "string" then window_of(path, self.window, 2, self.periodic) end
  end,
  call = function(self, shape, dtype)
    local frame, bins = shape[1], shape[3]
    if #shape ~= 3 or shape[2] ~= 1 then T.fail("STFT", "the shape must be {frame_length, 1, bins}, not {%s}", table.concat(shape, ", ")) end
    local window, scale = window_of("STFT", self.window, frame, self.periodic), 1
    if window and self.scaling then
      scale = 0
      for _, w in ipairs(window) do scale = scale + (self.scaling == "density" and w * w or math.abs(w)) end
      if self.scaling == "density" then scale = math.sqrt(scale) end
    end
    local wave, rows = self.side == "real" and math.cos or math.sin, {}
    for t = 0, frame - 1 do
      local row = {}
      for f = 0, bins - 1 do row[f + 1] = wave(-2 * math.pi * t * f / ((bins - 1) * 2)) * (window and window[t + 1] or 1) / scale end
      rows[t + 1] = {row}
    end
    return tf.executing_eagerly() and tf.tensor(rows, dtype) or tf.constant(rows, dtype)
  end})
initializers:public("Zeros", "zeros", "zero")
initializers:public("Ones", "ones", "one")
initializers:public("Constant", "constant")
initializers:public("RandomNormal", "random_normal", "normal")
initializers:public("RandomUniform", "random_uniform", "uniform")
initializers:public("TruncatedNormal", "truncated_normal")
initializers:public("VarianceScaling", "variance_scaling")
initializers:public("GlorotUniform", "glorot_uniform")
initializers:public("GlorotNormal", "glorot_normal")
initializers:public("HeUniform", "he_uniform")
initializers:public("HeNormal", "he_normal")
initializers:public("LecunUniform", "lecun_uniform")
initializers:public("LecunNormal", "lecun_normal")
initializers:public("Orthogonal", "orthogonal", "OrthogonalInitializer")
initializers:public("Identity", "identity", "IdentityInitializer")
initializers:public("STFT", "stft", "STFTInitializer")
return initializers
