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
return initializers
