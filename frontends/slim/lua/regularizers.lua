-- Regularizers: functions of a variable that give a loss. And Slim's initializers.
local tf, T = ...
local slim = T.namespace "tf.slim"
local raw, def, scope = tf.raw, T.def, T.scope

local function check(scale, who)
  if type(scale) ~= "number" then T.fail(who, "'scale' must be a number, not %s", T.kind(scale) or type(scale)) end
  if scale < 0 then T.fail(who, "'scale' must not be negative, it is %g", scale) end
end
local function none() return nil end

def("tf.slim.l1_regularizer", "scale scope?", function(scale, name)
  check(scale, "slim.l1_regularizer")
  if scale == 0 then return none end
  return function(w)
    local s <close> = scope(name, "l1_regularizer")
    w = T.value(w)
    return raw.Mul(T.value(scale, w.dtype), tf.reduce_sum(raw.Abs(w)))
  end
end)
-- scale * sum(w^2) / 2
def("tf.slim.l2_regularizer", "scale scope?", function(scale, name)
  check(scale, "slim.l2_regularizer")
  if scale == 0 then return none end
  return function(w)
    local s <close> = scope(name, "l2_regularizer")
    w = T.value(w)
    return raw.Mul(T.value(scale, w.dtype), raw.L2Loss(w))
  end
end)
def("tf.slim.sum_regularizer", "regularizer_list scope?", function(list, name)
  local used = {}
  for _, f in ipairs(list) do if f then used[#used + 1] = f end end
  if #used == 0 then return false end
  return function(w)
    local s <close> = scope(name, "sum_regularizer")
    local terms = {}
    for _, f in ipairs(used) do
      local term = f(w)
      if term then terms[#terms + 1] = term end
    end
    if #terms == 0 then return nil end
    return #terms == 1 and terms[1] or tf.add_n(terms)
  end
end)
def("tf.slim.l1_l2_regularizer", "scale_l1=1.0 scale_l2=1.0 scope?", function(l1, l2, name)
  check(l1, "slim.l1_l2_regularizer")
  check(l2, "slim.l1_l2_regularizer")
  return slim.sum_regularizer({slim.l1_regularizer(l1), slim.l2_regularizer(l2)}, name or "l1_l2_regularizer")
end)
def("tf.slim.apply_regularization", "regularizer weights_list?", function(f, list)
  list = list or tf.get_collection(tf.GraphKeys.WEIGHTS)
  local s <close> = scope("get_regularization_penalty")
  local terms = {}
  for _, w in ipairs(list) do
    local term = f(w)
    if term then
      terms[#terms + 1] = term
      tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, term)
    end
  end
  if #terms == 0 then return tf.constant(0) end
  return tf.add_n(terms)
end)

-- ------------------------------------------------------------------------------------- initializers

-- A normal law cut at two deviations, of deviation sqrt(1.3 factor / n) before it is cut; or a uniform one.
def("tf.slim.variance_scaling_initializer", "factor=2.0 mode=FAN_IN uniform=false seed? dtype?", function(factor, mode, uniform, seed, own)
  if mode ~= "FAN_IN" and mode ~= "FAN_OUT" and mode ~= "FAN_AVG" then
    T.fail("slim.variance_scaling_initializer", "'mode' must be FAN_IN, FAN_OUT or FAN_AVG, not '%s'", mode)
  end
  local _ = tf.initializers.zeros -- loads T.fans
  return function(shape, dtype)
    local fan_in, fan_out = T.fans(shape)
    local n = mode == "FAN_IN" and fan_in or mode == "FAN_OUT" and fan_out or (fan_in + fan_out) / 2
    if uniform then
      local limit = math.sqrt(3 * factor / n)
      return tf.random_uniform(shape, -limit, limit, own or dtype, seed)
    end
    return tf.truncated_normal(shape, 0, math.sqrt(1.3 * factor / n), own or dtype, seed)
  end
end)
local xavier = def("tf.slim.xavier_initializer", "uniform=true seed? dtype?", function(uniform, seed, dtype)
  return slim.variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)
end)
rawset(slim, "xavier_initializer_conv2d", xavier)
rawset(slim, "initializers", {xavier_initializer = xavier, xavier_initializer_conv2d = xavier,
  variance_scaling_initializer = slim.variance_scaling_initializer})
rawset(slim, "regularizers", {l1_regularizer = slim.l1_regularizer, l2_regularizer = slim.l2_regularizer,
  l1_l2_regularizer = slim.l1_l2_regularizer, sum_regularizer = slim.sum_regularizer, apply_regularization = slim.apply_regularization})
