-- provides tf.train: GradientDescentOptimizer MomentumOptimizer AdagradOptimizer AdagradDAOptimizer AdadeltaOptimizer RMSPropOptimizer AdamOptimizer FtrlOptimizer ProximalGradientDescentOptimizer ProximalAdagradOptimizer
-- provides tf.contrib.opt: AdamWOptimizer MomentumWOptimizer AdaMaxOptimizer LazyAdamOptimizer AddSignOptimizer PowerSignOptimizer NadamOptimizer
-- The optimizers: which slots each has, and the op that applies one step. Rules and defaults as in
-- TensorFlow 1.15 (sources: the classes' papers; see the ops' documentation).
local tf, T = ...
local raw, scope = tf.raw, T.scope
local _ = tf.train.Optimizer -- loads what they share
local optimizer = T.optimizer

optimizer("tf.train.GradientDescentOptimizer", "learning_rate use_locking=false name=GradientDescent", {
  repeats = true, -- a row may come twice: the steps add up
  apply_dense = function(self, v, g)
    return raw.ResourceApplyGradientDescent(v, self:hyper("learning_rate", v.dtype), g)
  end,
  apply_sparse = function(self, v, values, rows)
    return raw.ResourceScatterAdd(v, rows, -(values * self:hyper("learning_rate", v.dtype)), {dtype = v.dtype})
  end,
})

optimizer("tf.train.MomentumOptimizer", "learning_rate momentum use_locking=false name=Momentum use_nesterov=false", {
  apply_dense = function(self, v, g)
    return raw.ResourceApplyMomentum(v, self:zeros(v, "momentum"), self:hyper("learning_rate", v.dtype), g,
      self:hyper("momentum", v.dtype), {use_nesterov = self.use_nesterov})
  end,
  apply_sparse = function(self, v, values, rows)
    return raw.ResourceSparseApplyMomentum(v, self:zeros(v, "momentum"), self:hyper("learning_rate", v.dtype), values, rows,
      self:hyper("momentum", v.dtype), {use_nesterov = self.use_nesterov})
  end,
})

optimizer("tf.train.AdagradOptimizer", "learning_rate initial_accumulator_value=0.1 use_locking=false name=Adagrad", {
  check = function(self, path)
    if self.initial_accumulator_value <= 0 then
      T.fail(path, "'initial_accumulator_value' must be above 0, not %g", self.initial_accumulator_value)
    end
  end,
  accumulator = function(self, v) return self:slot(v, "accumulator", self.initial_accumulator_value) end,
  apply_dense = function(self, v, g)
    return raw.ResourceApplyAdagrad(v, self:accumulator(v), self:hyper("learning_rate", v.dtype), g)
  end,
  apply_sparse = function(self, v, values, rows)
    return raw.ResourceSparseApplyAdagrad(v, self:accumulator(v), self:hyper("learning_rate", v.dtype), values, rows)
  end,
})

optimizer("tf.train.AdagradDAOptimizer", "learning_rate global_step initial_gradient_squared_accumulator_value=0.1 l1_regularization_strength=0 l2_regularization_strength=0 use_locking=false name=AdagradDA", {
  step = function(self) return tf.cast(T.value(self.global_step), "int64") + 1 end,
  slots_of = function(self, v)
    return self:slot(v, "gradient_accumulator", 0), self:slot(v, "gradient_squared_accumulator", self.initial_gradient_squared_accumulator_value)
  end,
  apply_dense = function(self, v, g)
    local a, b = self:slots_of(v)
    return raw.ResourceApplyAdagradDA(v, a, b, g, self:hyper("learning_rate", v.dtype),
      self:hyper("l1_regularization_strength", v.dtype), self:hyper("l2_regularization_strength", v.dtype), self:step())
  end,
  apply_sparse = function(self, v, values, rows)
    local a, b = self:slots_of(v)
    return raw.ResourceSparseApplyAdagradDA(v, a, b, values, rows, self:hyper("learning_rate", v.dtype),
      self:hyper("l1_regularization_strength", v.dtype), self:hyper("l2_regularization_strength", v.dtype), self:step())
  end,
})

optimizer("tf.train.AdadeltaOptimizer", "learning_rate=0.001 rho=0.95 epsilon=1e-8 use_locking=false name=Adadelta", {
  apply_dense = function(self, v, g)
    return raw.ResourceApplyAdadelta(v, self:zeros(v, "accum"), self:zeros(v, "accum_update"),
      self:hyper("learning_rate", v.dtype), self:hyper("rho", v.dtype), self:hyper("epsilon", v.dtype), g)
  end,
  apply_sparse = function(self, v, values, rows)
    return raw.ResourceSparseApplyAdadelta(v, self:zeros(v, "accum"), self:zeros(v, "accum_update"),
      self:hyper("learning_rate", v.dtype), self:hyper("rho", v.dtype), self:hyper("epsilon", v.dtype), values, rows)
  end,
})

optimizer("tf.train.RMSPropOptimizer", "learning_rate decay=0.9 momentum=0 epsilon=1e-10 use_locking=false centered=false name=RMSProp", {
  -- the mean square starts at 1
  slots_of = function(self, v)
    local rms = self:slot(v, "rms", 1)
    local mg = self.centered and self:zeros(v, "mg") or nil
    return rms, self:zeros(v, "momentum"), mg
  end,
  numbers = function(self, v)
    return self:hyper("learning_rate", v.dtype), self:hyper("decay", v.dtype), self:hyper("momentum", v.dtype), self:hyper("epsilon", v.dtype)
  end,
  apply_dense = function(self, v, g)
    local rms, mom, mg = self:slots_of(v)
    local lr, rho, momentum, epsilon = self:numbers(v)
    if mg then return raw.ResourceApplyCenteredRMSProp(v, mg, rms, mom, lr, rho, momentum, epsilon, g) end
    return raw.ResourceApplyRMSProp(v, rms, mom, lr, rho, momentum, epsilon, g)
  end,
  apply_sparse = function(self, v, values, rows)
    local rms, mom, mg = self:slots_of(v)
    local lr, rho, momentum, epsilon = self:numbers(v)
    if mg then return raw.ResourceSparseApplyCenteredRMSProp(v, mg, rms, mom, lr, rho, momentum, epsilon, values, rows) end
    return raw.ResourceSparseApplyRMSProp(v, rms, mom, lr, rho, momentum, epsilon, values, rows)
  end,
})

-- Epsilon is added before the correction of the second moment (TensorFlow's "epsilon hat").
local Adam = {
  use_nesterov = false,
  prepare = function(self)
    self.b1 = self:scalar("beta1_power", self.beta1, "float32")
    self.b2 = self:scalar("beta2_power", self.beta2, "float32")
    self.power1, self.power2 = self.b1:value(), self.b2:value()
  end,
  slots_of = function(self, v) return self:zeros(v, "m"), self:zeros(v, "v") end,
  powers = function(self, dtype) return tf.cast(self.power1, dtype), tf.cast(self.power2, dtype) end,
  apply_dense = function(self, v, g)
    local m, s = self:slots_of(v)
    local p1, p2 = self:powers(v.dtype)
    return raw.ResourceApplyAdam(v, m, s, p1, p2, self:hyper("learning_rate", v.dtype), self:hyper("beta1", v.dtype),
      self:hyper("beta2", v.dtype), self:hyper("epsilon", v.dtype), g, {use_nesterov = self.use_nesterov})
  end,
  -- Both moments of every row decay, and every row moves: the dense rule with zeros, as in TensorFlow.
  apply_sparse = function(self, v, values, rows)
    local m, s = self:slots_of(v)
    local p1, p2 = self:powers(v.dtype)
    local one = T.value(1, v.dtype)
    local b1, b2 = self:hyper("beta1", v.dtype), self:hyper("beta2", v.dtype)
    local lr = self:hyper("learning_rate", v.dtype) * raw.Sqrt(one - p2) / (one - p1)
    local function decayed(slot, beta, part)
      local op = raw.AssignVariableOp(slot, slot:value() * beta, {dtype = slot.dtype})
      local c <close> = tf.control_dependencies{op}
      local add = raw.ResourceScatterAdd(slot, rows, part, {dtype = slot.dtype})
      local d <close> = tf.control_dependencies{add}
      return raw.ReadVariableOp(slot, {dtype = slot.dtype})
    end
    local new_m = decayed(m, b1, values * (one - b1))
    local new_s = decayed(s, b2, values * values * (one - b2))
    return raw.AssignSubVariableOp(v, new_m * lr / (raw.Sqrt(new_s) + self:hyper("epsilon", v.dtype)), {dtype = v.dtype})
  end,
  finish = function(self)
    return {raw.AssignVariableOp(self.b1, self.power1 * self.beta1, {dtype = "float32"}),
      raw.AssignVariableOp(self.b2, self.power2 * self.beta2, {dtype = "float32"})}
  end,
}
local function copy(t, more)
  local out = {}
  for k, v in pairs(t) do out[k] = v end
  for k, v in pairs(more or {}) do out[k] = v end
  return out
end
local adam_signature = "learning_rate=0.001 beta1=0.9 beta2=0.999 epsilon=1e-8 use_locking=false name="
optimizer("tf.train.AdamOptimizer", adam_signature .. "Adam", copy(Adam))
optimizer("tf.contrib.opt.NadamOptimizer", adam_signature .. "Nadam", copy(Adam, {use_nesterov = true}))
-- Only the rows that are named decay and move.
optimizer("tf.contrib.opt.LazyAdamOptimizer", adam_signature .. "Adam", copy(Adam, {
  apply_sparse = function(self, v, values, rows)
    local m, s = self:slots_of(v)
    local p1, p2 = self:powers(v.dtype)
    local one = T.value(1, v.dtype)
    local b1, b2 = self:hyper("beta1", v.dtype), self:hyper("beta2", v.dtype)
    local lr = self:hyper("learning_rate", v.dtype) * raw.Sqrt(one - p2) / (one - p1)
    local new_m = tf.gather(m, rows) * b1 + values * (one - b1)
    local new_s = tf.gather(s, rows) * b2 + values * values * (one - b2)
    local a = raw.ResourceScatterUpdate(m, rows, new_m, {dtype = v.dtype})
    local b = raw.ResourceScatterUpdate(s, rows, new_s, {dtype = v.dtype})
    local c = raw.ResourceScatterSub(v, rows, new_m * lr / (raw.Sqrt(new_s) + self:hyper("epsilon", v.dtype)), {dtype = v.dtype})
    return tf.group(a, b, c)
  end,
}))

-- Weight decay beside the gradient's step: w -= lr * decay * w, of the weights before the step.
local function decoupled(base)
  local dense, sparse = base.apply_dense, base.apply_sparse
  local function decay(self, v)
    return raw.AssignSubVariableOp(v, v:value() * (self:hyper("learning_rate", v.dtype) * self:hyper("weight_decay", v.dtype)), {dtype = v.dtype})
  end
  return copy(base, {
    apply_dense = function(self, v, g)
      local op = decay(self, v)
      local c <close> = tf.control_dependencies{op}
      return dense(self, v, g)
    end,
    apply_sparse = sparse and function(self, v, values, rows)
      local op = decay(self, v)
      local c <close> = tf.control_dependencies{op}
      return sparse(self, v, values, rows)
    end,
  })
end
optimizer("tf.contrib.opt.AdamWOptimizer", "weight_decay " .. adam_signature .. "AdamW", decoupled(Adam))
optimizer("tf.contrib.opt.MomentumWOptimizer", "weight_decay learning_rate momentum use_locking=false name=MomentumW use_nesterov=false", decoupled{
  apply_dense = function(self, v, g)
    return raw.ResourceApplyMomentum(v, self:zeros(v, "momentum"), self:hyper("learning_rate", v.dtype), g,
      self:hyper("momentum", v.dtype), {use_nesterov = self.use_nesterov})
  end,
})
optimizer("tf.contrib.opt.AdaMaxOptimizer", adam_signature .. "AdaMax", {
  prepare = function(self)
    self.b1 = self:scalar("beta1_power", self.beta1, "float32")
    self.power1 = self.b1:value()
  end,
  apply_dense = function(self, v, g)
    return raw.ResourceApplyAdaMax(v, self:zeros(v, "m"), self:zeros(v, "v"), tf.cast(self.power1, v.dtype),
      self:hyper("learning_rate", v.dtype), self:hyper("beta1", v.dtype), self:hyper("beta2", v.dtype), self:hyper("epsilon", v.dtype), g)
  end,
  finish = function(self) return {raw.AssignVariableOp(self.b1, self.power1 * self.beta1, {dtype = "float32"})} end,
})

optimizer("tf.train.FtrlOptimizer", "learning_rate learning_rate_power=-0.5 initial_accumulator_value=0.1 l1_regularization_strength=0 l2_regularization_strength=0 use_locking=false name=Ftrl accum_name? linear_name? l2_shrinkage_regularization_strength=0", {
  check = function(self, path)
    if self.initial_accumulator_value < 0 then T.fail(path, "'initial_accumulator_value' must not be below 0") end
    if self.learning_rate_power > 0 then T.fail(path, "'learning_rate_power' must not be above 0") end
    if self.l1_regularization_strength < 0 or self.l2_regularization_strength < 0 or self.l2_shrinkage_regularization_strength < 0 then
      T.fail(path, "regularization strengths must not be below 0")
    end
  end,
  call = function(self, dense, v, ...)
    local accum = self:slot(v, "accum", self.initial_accumulator_value, self.accum_name)
    local linear = self:slot(v, "linear", 0, self.linear_name)
    local d = v.dtype
    local lr, l1, l2, power = self:hyper("learning_rate", d), self:hyper("l1_regularization_strength", d),
      self:hyper("l2_regularization_strength", d), self:hyper("learning_rate_power", d)
    local op = dense and "ResourceApplyFtrl" or "ResourceSparseApplyFtrl"
    local args = {v, accum, linear, ...}
    local n = #args
    args[n + 1], args[n + 2], args[n + 3] = lr, l1, l2
    if self.l2_shrinkage_regularization_strength > 0 then
      op = op .. "V2"
      args[n + 4], args[n + 5] = self:hyper("l2_shrinkage_regularization_strength", d), power
    else
      args[n + 4] = power
    end
    return raw[op](table.unpack(args))
  end,
  apply_dense = function(self, v, g) return self:call(true, v, g) end,
  apply_sparse = function(self, v, values, rows) return self:call(false, v, values, rows) end,
})

optimizer("tf.train.ProximalGradientDescentOptimizer", "learning_rate l1_regularization_strength=0 l2_regularization_strength=0 use_locking=false name=ProximalGradientDescent", {
  apply_dense = function(self, v, g)
    return raw.ResourceApplyProximalGradientDescent(v, self:hyper("learning_rate", v.dtype),
      self:hyper("l1_regularization_strength", v.dtype), self:hyper("l2_regularization_strength", v.dtype), g)
  end,
  apply_sparse = function(self, v, values, rows)
    return raw.ResourceSparseApplyProximalGradientDescent(v, self:hyper("learning_rate", v.dtype),
      self:hyper("l1_regularization_strength", v.dtype), self:hyper("l2_regularization_strength", v.dtype), values, rows)
  end,
})
optimizer("tf.train.ProximalAdagradOptimizer", "learning_rate initial_accumulator_value=0.1 l1_regularization_strength=0 l2_regularization_strength=0 use_locking=false name=ProximalAdagrad", {
  apply_dense = function(self, v, g)
    return raw.ResourceApplyProximalAdagrad(v, self:slot(v, "accumulator", self.initial_accumulator_value), self:hyper("learning_rate", v.dtype),
      self:hyper("l1_regularization_strength", v.dtype), self:hyper("l2_regularization_strength", v.dtype), g)
  end,
  apply_sparse = function(self, v, values, rows)
    return raw.ResourceSparseApplyProximalAdagrad(v, self:slot(v, "accumulator", self.initial_accumulator_value), self:hyper("learning_rate", v.dtype),
      self:hyper("l1_regularization_strength", v.dtype), self:hyper("l2_regularization_strength", v.dtype), values, rows)
  end,
})
optimizer("tf.contrib.opt.AddSignOptimizer", "learning_rate=0.1 alpha=1 beta=0.9 sign_decay_fn? use_locking=false name=AddSignOptimizer", {
  apply_dense = function(self, v, g)
    return raw.ResourceApplyAddSign(v, self:zeros(v, "m"), self:hyper("learning_rate", v.dtype), self:hyper("alpha", v.dtype),
      T.value(1, v.dtype), self:hyper("beta", v.dtype), g)
  end,
})
optimizer("tf.contrib.opt.PowerSignOptimizer", "learning_rate=0.1 base=2.718281828459045 beta=0.9 sign_decay_fn? use_locking=false name=PowerSignOptimizer", {
  check = function(self) self.logbase = math.log(self.base) end,
  apply_dense = function(self, v, g)
    return raw.ResourceApplyPowerSign(v, self:zeros(v, "m"), self:hyper("learning_rate", v.dtype), self:hyper("logbase", v.dtype),
      T.value(1, v.dtype), self:hyper("beta", v.dtype), g)
  end,
})
