-- provides tf.train: exponential_decay natural_exp_decay inverse_time_decay polynomial_decay piecewise_constant piecewise_constant_decay cosine_decay cosine_decay_restarts linear_cosine_decay noisy_linear_cosine_decay
-- Learning rates as functions of the global step. With a graph's variable they give a node; in define-by-run
-- mode a function that optimizers call at each step.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope

-- f(step as a float value) now, or each time in define-by-run mode.
local function schedule(step, name, default, f)
  if step == nil then T.fail("tf.train." .. default, "the global step is missing") end
  local function compute()
    local s <close> = scope(name, default)
    return f(tf.cast(T.value(step), "float32"))
  end
  if tf.executing_eagerly() then return compute end
  return compute()
end

def("tf.train.exponential_decay", "learning_rate global_step decay_steps decay_rate staircase=false name?",
  function(lr, step, steps, rate, staircase, name)
    return schedule(step, name, "exponential_decay", function(s)
      local p = s / steps
      if staircase then p = raw.Floor(p) end
      return raw.Pow(T.value(rate, "float32"), p) * lr
    end)
  end)
def("tf.train.natural_exp_decay", "learning_rate global_step decay_steps decay_rate staircase=false name?",
  function(lr, step, steps, rate, staircase, name)
    return schedule(step, name, "natural_exp_decay", function(s)
      local p = s / steps
      if staircase then p = raw.Floor(p) end
      return raw.Exp(p * -rate) * lr
    end)
  end)
def("tf.train.inverse_time_decay", "learning_rate global_step decay_steps decay_rate staircase=false name?",
  function(lr, step, steps, rate, staircase, name)
    return schedule(step, name, "inverse_time_decay", function(s)
      local p = s / steps
      if staircase then p = raw.Floor(p) end
      return raw.RealDiv(lr, p * rate + 1)
    end)
  end)
def("tf.train.polynomial_decay", "learning_rate global_step decay_steps end_learning_rate=0.0001 power=1 cycle=false name?",
  function(lr, step, steps, final, power, cycle, name)
    return schedule(step, name, "polynomial_decay", function(s)
      local total = T.value(steps, "float32")
      if cycle then
        local times = raw.SelectV2(raw.Equal(s, 0), tf.constant(1, "float32"), raw.Ceil(s / steps))
        total = times * steps
      else
        s = raw.Minimum(s, steps)
      end
      return raw.Pow(-(s / total) + 1, power) * (lr - final) + final
    end)
  end)
-- values[1] up to and with boundaries[1], then values[2] ...
def("tf.train.piecewise_constant", "x boundaries values name?", function(x, boundaries, values, name)
  if #values ~= #boundaries + 1 then
    T.fail("tf.train.piecewise_constant", "%d boundaries need %d values, not %d", #boundaries, #boundaries + 1, #values)
  end
  if x == nil then T.fail("tf.train.piecewise_constant", "the global step is missing") end
  local function compute()
    local s <close> = scope(name, "PiecewiseConstant")
    local v = T.value(x)
    local out = tf.constant(values[#values], "float32")
    for i = #boundaries, 1, -1 do
      out = raw.SelectV2(raw.LessEqual(v, boundaries[i]), tf.constant(values[i], "float32"), out)
    end
    return out
  end
  if tf.executing_eagerly() then return compute end
  return compute()
end)
T.namespace "tf.train".piecewise_constant_decay = tf.train.piecewise_constant
def("tf.train.cosine_decay", "learning_rate global_step decay_steps alpha=0 name?", function(lr, step, steps, alpha, name)
  return schedule(step, name, "CosineDecay", function(s)
    local p = raw.Minimum(s, steps) / steps
    return ((raw.Cos(p * math.pi) + 1) * (0.5 * (1 - alpha)) + alpha) * lr
  end)
end)
def("tf.train.cosine_decay_restarts", "learning_rate global_step first_decay_steps t_mul=2 m_mul=1 alpha=0 name?",
  function(lr, step, first, t_mul, m_mul, alpha, name)
    return schedule(step, name, "SGDRDecay", function(s)
      local p = s / first
      local restart, fraction
      if t_mul == 1 then
        restart = raw.Floor(p)
        fraction = p - restart
      else
        restart = raw.Floor(raw.Log(-(p * (1 - t_mul)) + 1) / math.log(t_mul))
        local before = (-raw.Pow(T.value(t_mul, "float32"), restart) + 1) / (1 - t_mul)
        fraction = (p - before) / raw.Pow(T.value(t_mul, "float32"), restart)
      end
      local height = raw.Pow(T.value(m_mul, "float32"), restart) * 0.5
      return (height * (raw.Cos(fraction * math.pi) + 1) * (1 - alpha) + alpha) * lr
    end)
  end)
local function linear_cosine(s, steps, periods, noise)
  s = raw.Minimum(s, steps)
  local linear = (-s + steps) / steps
  if noise then linear = linear + noise(s) end
  return linear, (raw.Cos(s * (2 * math.pi * periods / steps)) + 1) * 0.5
end
def("tf.train.linear_cosine_decay", "learning_rate global_step decay_steps num_periods=0.5 alpha=0 beta=0.001 name?",
  function(lr, step, steps, periods, alpha, beta, name)
    return schedule(step, name, "LinearCosineDecay", function(s)
      local linear, cosine = linear_cosine(s, steps, periods)
      return ((linear + alpha) * cosine + beta) * lr
    end)
  end)
def("tf.train.noisy_linear_cosine_decay", "learning_rate global_step decay_steps initial_variance=1 variance_decay=0.55 num_periods=0.5 alpha=0 beta=0.001 name?",
  function(lr, step, steps, variance, decay, periods, alpha, beta, name)
    return schedule(step, name, "NoisyLinearCosineDecay", function(s)
      local linear, cosine = linear_cosine(s, steps, periods, function(at)
        local deviation = raw.Sqrt(raw.RealDiv(variance, raw.Pow(at + 1, decay)))
        return raw.RandomStandardNormal(raw.Shape(at), {dtype = "float32"}) * deviation
      end)
      return ((linear + alpha) * cosine + beta) * lr
    end)
  end)
