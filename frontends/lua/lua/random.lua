-- provides tf: random_normal random_uniform truncated_normal random_shuffle random_crop random_gamma random_poisson multinomial set_random_seed
-- provides tf.random: normal uniform truncated_normal shuffle gamma poisson multinomial categorical set_random_seed stateless_normal stateless_uniform stateless_truncated_normal stateless_multinomial
-- Random numbers. `seed` is the op's seed; tf.set_random_seed gives the graph's (or define-by-run's).
-- The same seeds give the same numbers in both modes.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope

-- TensorFlow's pair: the graph's seed is added when the op runs. (0, 0) would mean "no seed".
local function seeds(seed, options)
  if seed then options.seed2 = seed == 0 and 2147483647 or seed end
  return options
end
T.seeds = seeds

local function shape_of(shape)
  if type(shape) == "number" then return {shape} end
  return shape
end

def("tf.random_normal", "shape mean=0 stddev=1 dtype=float32 seed? name?", function(shape, mean, stddev, dtype, seed, name)
  local s <close> = scope(name, "random_normal")
  local x = raw.RandomStandardNormal(shape_of(shape), seeds(seed, {dtype = dtype}))
  if stddev ~= 1 then x = x * stddev end
  if mean ~= 0 then x = x + mean end
  return x
end)
def("tf.truncated_normal", "shape mean=0 stddev=1 dtype=float32 seed? name?", function(shape, mean, stddev, dtype, seed, name)
  local s <close> = scope(name, "truncated_normal")
  local x = raw.TruncatedNormal(shape_of(shape), seeds(seed, {dtype = dtype}))
  if stddev ~= 1 then x = x * stddev end
  if mean ~= 0 then x = x + mean end
  return x
end)
def("tf.random_uniform", "shape minval=0 maxval? dtype=float32 seed? name?", function(shape, lo, hi, dtype, seed, name)
  local s <close> = scope(name, "random_uniform")
  if dtype:find "int" then
    if hi == nil then T.fail("tf.random_uniform", "whole numbers need 'maxval'") end
    return raw.RandomUniformInt(shape_of(shape), lo, hi, seeds(seed, {Tout = dtype}))
  end
  hi = hi == nil and 1 or hi
  local x = raw.RandomUniform(shape_of(shape), seeds(seed, {dtype = dtype}))
  if type(lo) == "number" and type(hi) == "number" then
    if hi - lo ~= 1 then x = x * (hi - lo) end
    if lo ~= 0 then x = x + lo end
    return x
  end
  return x * (T.value(hi, dtype) - lo) + lo
end)
def("tf.random_shuffle", "value seed? name?", function(value, seed, name)
  return raw.RandomShuffle(value, seeds(seed, {name = name}))
end)
def("tf.random_gamma", "shape alpha beta? dtype=float32 seed? name?", function(shape, alpha, beta, dtype, seed, name)
  local s <close> = scope(name, "random_gamma")
  alpha = T.value(alpha, dtype)
  if beta then
    beta = T.value(beta, dtype)
    alpha = raw.AddV2(alpha, raw.ZerosLike(beta))
  end
  local x = raw.RandomGamma(shape_of(shape), alpha, seeds(seed, {}))
  return beta and x / beta or x
end)
def("tf.random_poisson", "lam shape dtype=float32 seed? name?", function(lam, shape, dtype, seed, name)
  return raw.RandomPoissonV2(shape_of(shape), lam, seeds(seed, {dtype = dtype, name = name}))
end)
def("tf.multinomial", "logits num_samples seed? name? output_dtype=int64", function(logits, n, seed, name, dtype)
  return raw.Multinomial(logits, n, seeds(seed, {output_dtype = dtype, name = name}))
end)
def("tf.random_crop", "value size seed? name?", function(value, size, seed, name)
  local s <close> = scope(name, "random_crop")
  value = T.value(value)
  local shape = raw.Shape(value)
  local limit = shape - size + 1
  local offset = raw.FloorMod(raw.RandomUniformInt(raw.Shape(shape), 0, 2147483647, seeds(seed, {Tout = "int32"})), limit)
  return raw.Slice(value, offset, size)
end)
tf.set_random_seed = function(seed) T.set_seed(seed) end

local random = T.namespace "tf.random"
random.normal, random.uniform, random.truncated_normal = tf.random_normal, tf.random_uniform, tf.truncated_normal
random.shuffle, random.gamma, random.multinomial = tf.random_shuffle, tf.random_gamma, tf.multinomial
random.set_random_seed = tf.set_random_seed
def("tf.random.poisson", "lam shape dtype=float32 seed? name?", function(...) return tf.random_poisson(...) end)
def("tf.random.categorical", "logits num_samples dtype=int64 seed? name?", function(logits, n, dtype, seed, name)
  return tf.multinomial(logits, n, seed, name, dtype)
end)
for name, op in pairs {normal = "StatelessRandomNormal", uniform = "StatelessRandomUniform",
  truncated_normal = "StatelessTruncatedNormal"} do
  local first, second = "mean=0", "stddev=1"
  if name == "uniform" then first, second = "minval=0", "maxval=1" end
  def("tf.random.stateless_" .. name, ("shape seed %s %s dtype=float32 name?"):format(first, second),
    function(shape, seed, a, b, dtype, n)
      local s <close> = scope(n, "stateless_" .. name)
      local x = raw[op](shape_of(shape), seed, {dtype = dtype})
      if name == "uniform" then return x * (b - a) + a end
      return x * b + a
    end)
end
def("tf.random.stateless_multinomial", "logits num_samples seed output_dtype=int64 name?", function(logits, n, seed, dtype, name)
  return raw.StatelessMultinomial(logits, n, seed, {output_dtype = dtype, name = name})
end)
