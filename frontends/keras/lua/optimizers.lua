-- tf.keras.optimizers: the rules, on top of optimizers_base.lua. Rules, slots and defaults are Keras 3's; the rates at which
-- Keras 2 started (Adadelta 1.0, Adagrad 0.01, Adamax and Nadam 0.002) have to be given. Fused ops are used where they
-- compute the same.
local tf, T = ...
local raw = tf.raw
local optimizers = T.include("keras", "optimizers_base")
local common = " weight_decay? clipnorm? clipvalue? global_clipnorm? use_ema=false ema_momentum=0.99 ema_overwrite_frequency? loss_scale_factor? gradient_accumulation_steps? decay=0 sum_repeated_rows=false name="
local function class(name, own, label, methods)
  return optimizers:class(name, own .. common .. label, methods)
end

class("SGD", "learning_rate|lr=0.01 momentum=0 nesterov=false", "SGD", {
  init = function(self, path)
    if self.momentum < 0 or self.momentum > 1 then T.fail(path, "'momentum' must lie within 0 and 1, not %g", self.momentum) end
  end,
  slots_of = function(self, v) return self.momentum ~= 0 and self:slot(v, "momentum") or nil end,
  update = function(self, v, g, lr)
    local m = self:slots_of(v)
    if not m then return raw.ResourceApplyGradientDescent(v, lr, g) end
    return raw.ResourceApplyKerasMomentum(v, m, lr, g, self:constant("momentum", v.dtype), {use_nesterov = self.nesterov})
  end,
  -- Rows that come twice add up: the same as the dense rule.
  update_rows = function(self, v, values, rows, lr)
    if self.momentum ~= 0 then return nil end
    return raw.ResourceScatterAdd(v, rows, -(values * lr), {dtype = v.dtype})
  end})

class("Adagrad", "learning_rate|lr=0.001 initial_accumulator_value=0.1 epsilon=1e-7", "adagrad", {
  slots_of = function(self, v) return self:slot(v, "accumulator", self.initial_accumulator_value) end,
  update = function(self, v, g, lr)
    local acc = self:slots_of(v)
    local sum = acc:value() + self:square(g)
    self:assign(acc, sum)
    return raw.AssignSubVariableOp(v, g * lr / raw.Sqrt(sum + self:constant("epsilon", v.dtype)), {dtype = v.dtype})
  end})

class("Adadelta", "learning_rate|lr=0.001 rho=0.95 epsilon=1e-7", "adadelta", {
  slots_of = function(self, v) return self:slot(v, "accumulated_grad"), self:slot(v, "accumulated_delta_var") end,
  update = function(self, v, g, lr)
    local squares, deltas = self:slots_of(v)
    if self.rows then
      local epsilon = self:constant("epsilon", v.dtype)
      local fresh, sum, old = self:square(g), nil, deltas:value()
      sum = squares:value() * self.rho + fresh * (1 - self.rho)
      local factor = raw.Sqrt(old + epsilon) / raw.Sqrt(sum + epsilon)
      self:assign(squares, sum)
      self:assign(deltas, old * self.rho + fresh * raw.Square(factor) * (1 - self.rho))
      return raw.AssignSubVariableOp(v, g * factor * lr, {dtype = v.dtype})
    end
    return raw.ResourceApplyAdadelta(v, squares, deltas, lr, self:constant("rho", v.dtype), self:constant("epsilon", v.dtype), g)
  end})

class("RMSprop", "learning_rate|lr=0.001 rho=0.9 momentum=0 epsilon=1e-7 centered=false", "rmsprop", {
  variable_scope = "rm_sprop",
  slots_of = function(self, v)
    return self:slot(v, "velocity"), self.momentum > 0 and self:slot(v, "momentum") or nil, self.centered and self:slot(v, "average_gradient") or nil
  end,
  update = function(self, v, g, lr)
    local velocity, mom, average = self:slots_of(v)
    local rho, epsilon = self:constant("rho", v.dtype), self:constant("epsilon", v.dtype)
    if mom then self:add_squares(velocity, g, 1 - self.rho) end
    if mom and not average then
      return raw.ResourceApplyRMSProp(v, velocity, mom, lr, rho, self:constant("momentum", v.dtype), epsilon, g)
    elseif mom then
      return raw.ResourceApplyCenteredRMSProp(v, average, velocity, mom, lr, rho, self:constant("momentum", v.dtype), epsilon, g)
    end
    local s = velocity:value() * self.rho + self:square(g) * (1 - self.rho)
    self:assign(velocity, s)
    if average then
      local a = average:value() * self.rho + g * (1 - self.rho)
      self:assign(average, a)
      s = s - raw.Square(a)
    end
    return raw.AssignSubVariableOp(v, g * lr / raw.Sqrt(s + epsilon), {dtype = v.dtype})
  end})

-- Powers of beta at the step that is about to be done.
local function powers(self, t)
  return {beta_1_power = self.beta_1 ^ t, beta_2_power = self.beta_2 ^ t}
end
-- Epsilon is added before the second moment is corrected ("epsilon hat").
local Adam = {
  numbers = powers,
  slots_of = function(self, v)
    return self:slot(v, "momentum"), self:slot(v, "velocity"), self.amsgrad and self:slot(v, "velocity_hat") or nil
  end,
  update = function(self, v, g, lr)
    local m, s, top = self:slots_of(v)
    local d = v.dtype
    local p1, p2 = self:fed("beta_1_power", d), self:fed("beta_2_power", d)
    local b1, b2, epsilon = self:constant("beta_1", d), self:constant("beta_2", d), self:constant("epsilon", d)
    self:add_squares(s, g, 1 - self.beta_2)
    local gains = {_gain1 = 1 - self.beta_1, _gain2 = 1 - self.beta_2} -- worked out before they are rounded
    if top then return raw.ResourceApplyAdamWithAmsgrad(v, m, s, top, p1, p2, lr, b1, b2, epsilon, g, gains) end
    return raw.ResourceApplyAdam(v, m, s, p1, p2, lr, b1, b2, epsilon, g, gains)
  end}
local function copy(t)
  local out = {}
  for k, v in pairs(t) do out[k] = v end
  return out
end
class("Adam", "learning_rate|lr=0.001 beta_1=0.9 beta_2=0.999 epsilon=1e-7 amsgrad=false", "adam", copy(Adam))
-- Decays weights beside the step: w -= lr * weight_decay * w, of the weights before it.
optimizers:class("AdamW", "learning_rate|lr=0.001 weight_decay=0.004 beta_1=0.9 beta_2=0.999 epsilon=1e-7 amsgrad=false" .. common:gsub(" weight_decay%?", "") .. "adamw", (function()
  local methods = copy(Adam)
  methods.variable_scope = "adam_w"
  return methods
end)())

class("Adamax", "learning_rate|lr=0.001 beta_1=0.9 beta_2=0.999 epsilon=1e-7", "adamax", {
  numbers = powers,
  slots_of = function(self, v) return self:slot(v, "momentum"), self:slot(v, "norm") end,
  update = function(self, v, g, lr)
    local m, norm = self:slots_of(v)
    local d = v.dtype
    if self.rows then
      local new = m:value() * self.beta_1 + g * (1 - self.beta_1)
      local size = raw.Maximum(norm:value() * self.beta_2, self:per_slice(raw.Abs, g))
      self:assign(m, new)
      self:assign(norm, size)
      local scale = lr / (-self:fed("beta_1_power", d) + 1)
      return raw.AssignSubVariableOp(v, new * scale / (size + self:constant("epsilon", d)), {dtype = d})
    end
    return raw.ResourceApplyAdaMax(v, m, norm, self:fed("beta_1_power", d), lr, self:constant("beta_1", d), self:constant("beta_2", d),
      self:constant("epsilon", d), g)
  end})

-- A number as a variable of that type holds it: Keras rounds Nadam's betas first.
local function rounded(x, dtype) return dtype == "float32" and (string.unpack("f", string.pack("f", x))) or x end
class("Nadam", "learning_rate|lr=0.001 beta_1=0.9 beta_2=0.999 epsilon=1e-7", "nadam", {
  -- Momentum warms up: u_t = beta_1 (1 - 0.96^t / 2) (Dozat, 2016).
  numbers = function(self, t)
    local function u(step) return self.beta_1 * (1 - 0.5 * 0.96 ^ step) end
    if not self.product or self.product_of ~= t - 1 then
      self.product = 1
      for i = 1, t - 1 do self.product = self.product * u(i) end
      self.product_of = t - 1
    end
    local product = self.product * u(t)
    self.next_product = product
    return {now = (1 - u(t)) / (1 - product), ahead = u(t + 1) / (1 - product * u(t + 1)), correction = 1 / (1 - self.beta_2 ^ t)}
  end,
  stepped = function(self, t) self.product, self.product_of = self.next_product, t end,
  slots_of = function(self, v) return self:slot(v, "momentum"), self:slot(v, "velocity") end,
  update = function(self, v, g, lr)
    local m, s = self:slots_of(v)
    local d = v.dtype
    local b1, b2 = rounded(self.beta_1, d), rounded(self.beta_2, d)
    local new_m = m:value() * b1 + g * (1 - b1)
    local new_s = s:value() * b2 + self:square(g) * (1 - b2)
    self:assign(m, new_m)
    self:assign(s, new_s)
    local step = new_m * self:fed("ahead", d) + g * self:fed("now", d)
    return raw.AssignSubVariableOp(v, step * lr / (raw.Sqrt(new_s * self:fed("correction", d)) + self:constant("epsilon", d)), {dtype = d})
  end})

class("Ftrl", "learning_rate|lr=0.001 learning_rate_power=-0.5 initial_accumulator_value=0.1 l1_regularization_strength=0 l2_regularization_strength=0 l2_shrinkage_regularization_strength=0 beta=0", "ftrl", {
  init = function(self, path)
    if self.initial_accumulator_value < 0 then T.fail(path, "'initial_accumulator_value' must not be below 0, but is %g", self.initial_accumulator_value) end
    if self.learning_rate_power > 0 then T.fail(path, "'learning_rate_power' must not be above 0, but is %g", self.learning_rate_power) end
    for _, name in ipairs {"l1_regularization_strength", "l2_regularization_strength", "l2_shrinkage_regularization_strength"} do
      if self[name] < 0 then T.fail(path, "'%s' must not be below 0, but is %g", name, self[name]) end
    end
  end,
  slots_of = function(self, v) return self:slot(v, "accumulator", self.initial_accumulator_value), self:slot(v, "linear") end,
  update = function(self, v, g, lr)
    local acc, linear = self:slots_of(v)
    local power = -self.learning_rate_power
    local w, old = self:fresh(v), acc:value()
    local shrunk = self.l2_shrinkage_regularization_strength ~= 0 and g + w * (2 * self.l2_shrinkage_regularization_strength) or g
    local new = old + self:square(g)
    local function root(x) return power == 0.5 and raw.Sqrt(x) or raw.Pow(x, power) end
    local z = linear:value() + shrunk - (root(new) - root(old)) / lr * w
    local quadratic = root(new) / lr + 2 * self.l2_regularization_strength
    if self.beta ~= 0 then quadratic = quadratic + raw.Reciprocal(lr) * self.beta end
    local l1 = self.l1_regularization_strength
    self:assign(acc, new)
    self:assign(linear, z)
    return raw.AssignVariableOp(v, (raw.ClipByValue(z, -l1, l1) - z) / quadratic, {dtype = v.dtype})
  end})

class("Lion", "learning_rate|lr=0.001 beta_1=0.9 beta_2=0.99", "lion", {
  slots_of = function(self, v) return self:slot(v, "momentum") end,
  update = function(self, v, g, lr)
    local m = self:slots_of(v)
    local old = m:value()
    local direction = raw.Sign(old * self.beta_1 + g * (1 - self.beta_1))
    self:assign(m, old * self.beta_2 + g * (1 - self.beta_2))
    return raw.AssignSubVariableOp(v, direction * lr, {dtype = v.dtype})
  end})

local function norm(x) return raw.Sqrt(tf.reduce_sum(raw.Square(x))) end
-- Adam's step, as long as the weights are (You et al., 2020).
class("Lamb", "learning_rate|lr=0.001 beta_1=0.9 beta_2=0.999 epsilon=1e-7", "lamb", {
  numbers = function(self, t) return {first = 1 / (1 - self.beta_1 ^ t), second = 1 / (1 - self.beta_2 ^ t)} end,
  slots_of = function(self, v) return self:slot(v, "momentum"), self:slot(v, "velocity") end,
  update = function(self, v, g, lr)
    local m, s = self:slots_of(v)
    local d, w = v.dtype, self:fresh(v)
    local new_m = m:value() * self.beta_1 + g * (1 - self.beta_1)
    local new_s = s:value() * self.beta_2 + self:square(g) * (1 - self.beta_2)
    self:assign(m, new_m)
    self:assign(s, new_s)
    local step = new_m * self:fed("first", d) / (raw.Sqrt(new_s * self:fed("second", d)) + self:constant("epsilon", d))
    local size, length = norm(w), norm(step)
    local ratio = raw.SelectV2(raw.LogicalAnd(raw.Greater(size, 0), raw.Greater(length, 0)), size / length, raw.OnesLike(size))
    return raw.AssignSubVariableOp(v, step * (ratio * lr), {dtype = d})
  end})

-- Second moments as rows and columns (Shazeer and Stern, 2018).
class("Adafactor", "learning_rate|lr=0.001 beta_2_decay=-0.8 epsilon_1=1e-30 epsilon_2=0.001 clip_threshold=1 relative_step=true", "adafactor", {
  numbers = function(self, t)
    local lr = self:rate()
    return {rate = self.relative_step and math.min(lr, 1 / math.sqrt(t)) or lr, keep = 1 - t ^ self.beta_2_decay}
  end,
  slots_of = function(self, v)
    if #v.shape < 2 then return nil, nil, self:slot(v, "velocity") end
    local rows, columns = {}, {}
    for i, d in ipairs(v.shape) do
      if i < #v.shape then rows[#rows + 1] = d end
      if i ~= #v.shape - 1 then columns[#columns + 1] = d end
    end
    return self:slot(v, "row", 0, rows), self:slot(v, "column", 0, columns), nil
  end,
  update = function(self, v, g)
    local row, column, whole = self:slots_of(v)
    local d = v.dtype
    local keep = self:fed("keep", d)
    local function mixed(old, new) return old * keep + new * (-keep + 1) end
    local fresh = self:square(g)
    local squares = fresh + self.epsilon_1
    local second
    if row then
      local r = mixed(row:value(), raw.Mean(squares, {-1}, {}))
      local c = mixed(column:value(), raw.Mean(squares, {-2}, {}))
      self:assign(row, r)
      self:assign(column, c)
      second = raw.ExpandDims(r / raw.Mean(r, {-1}, {keep_dims = true}), -1) * raw.ExpandDims(c, -2)
    else
      second = mixed(whole:value(), squares)
      self:assign(whole, second)
    end
    local function rms(x) return raw.Sqrt(tf.reduce_mean(raw.Square(x))) end
    local size = raw.Sqrt(tf.reduce_mean(fresh / second)) -- of the step g / sqrt(second)
    local step = g / raw.Sqrt(second) / raw.Maximum(size / self.clip_threshold, 1)
    local rate = raw.Maximum(rms(self:fresh(v)), self.epsilon_2) * self:fed("rate", d)
    return raw.AssignSubVariableOp(v, step * rate, {dtype = d})
  end})

-- Orthogonal steps for matrices, Adam's for all else (Jordan et al., 2024; with the lengths of Liu et al., 2025).
optimizers:class("Muon", "learning_rate|lr=0.001 adam_beta_1=0.9 adam_beta_2=0.999 adam_weight_decay=0.004 epsilon=1e-7 weight_decay=0.004" .. common:gsub(" weight_decay%?", "") ..
  "muon exclude_layers? exclude_embeddings=true muon_a=3.4445 muon_b=-4.775 muon_c=2.0315 adam_lr_ratio=1 momentum=0.95 ns_steps=5 nesterov=true rms_rate=0.2", {
  numbers = function(self, t)
    return {alpha = math.sqrt(1 - self.adam_beta_2 ^ t) / (1 - self.adam_beta_1 ^ t) * self.adam_lr_ratio}
  end,
  by_adam = function(self, v)
    if #v.shape ~= 2 or self.exclude_embeddings and v.name:lower():find("embedding", 1, true) then return true end
    for _, part in ipairs(self.exclude_layers or {}) do if v.name:find(part) then return true end end
    return false
  end,
  decay_of = function(self, v) return self.weight_decay and (self:by_adam(v) and self.adam_weight_decay or self.weight_decay) end,
  slots_of = function(self, v) return self:slot(v, "momentum"), self:by_adam(v) and self:slot(v, "velocity") or nil end,
  update = function(self, v, g, lr)
    local m, s = self:slots_of(v)
    local d = v.dtype
    if s then
      local new_m = m:value() + (g - m:value()) * (1 - self.adam_beta_1)
      local new_s = s:value() + (self:square(g) - s:value()) * (1 - self.adam_beta_2)
      self:assign(m, new_m)
      self:assign(s, new_s)
      return raw.AssignSubVariableOp(v, new_m * (lr * self:fed("alpha", d)) / (raw.Sqrt(new_s) + self:constant("epsilon", d)), {dtype = d})
    end
    local new_m = m:value() * self.momentum + g
    self:assign(m, new_m)
    local x = self.nesterov and g + new_m * self.momentum or new_m
    local tall = v.shape[1] > v.shape[2]
    if tall then x = tf.transpose(x) end
    x = x / (norm(x) + self:constant("epsilon", d))
    for _ = 1, self.ns_steps do -- Newton and Schulz: the singular values move towards 1
      local a = tf.matmul(x, x, {transpose_b = true})
      x = x * self.muon_a + tf.matmul(a * self.muon_b + tf.matmul(a, a) * self.muon_c, x)
    end
    if tall then x = tf.transpose(x) end
    local length = math.sqrt(math.max(v.shape[1], v.shape[2])) * self.rms_rate
    return raw.AssignSubVariableOp(v, x * (lr * length), {dtype = d})
  end})

-- No schedule of rates is needed: gradients are taken between the moving point z (slot "momentum") and the average x of all z (Defazio et al., 2024).
-- In training the variable is that point between; swap_to_eval puts the average into it, swap_to_train puts it back.
local function between(self, list, weight_of_z, weight_of_v)
  for _, v in ipairs(list) do
    local z = self:get_slot(v, "momentum")
    if z then
      local read = v.graph and T.keras_read or function(x) return x:value() end
      local value = tf.eager(function() return read(z) * weight_of_z + read(v) * weight_of_v end)
      if v.graph then T.keras_load(v, value) else v:assign(value) end
    end
  end
end
class("ScheduleFreeAdamW", "learning_rate|lr=0.0025 beta_1=0.9 beta_2=0.999 epsilon=1e-8 warmup_steps=0", "schedule_free_adamw", {
  variable_scope = "schedule_free_adam_w",
  numbers = function(self, t)
    return {warm = self.warmup_steps > 0 and math.min(t / self.warmup_steps, 1) or 1, correction = 1 / (1 - self.beta_2 ^ t), new = 1 / t}
  end,
  slots_of = function(self, v)
    return self:slot(v, "momentum", self.slots[v] and 0 or (v.graph and T.keras_read(v) or v:value())), self:slot(v, "velocity")
  end,
  update = function(self, v, g, lr)
    local z, s = self:slots_of(v)
    local d = v.dtype
    local b1, b2 = rounded(self.beta_1, d), rounded(self.beta_2, d)
    local new_s = s:value() + (self:square(g) - s:value()) * (1 - b2)
    self:assign(s, new_s)
    local step = g * (lr * self:fed("warm", d)) / (raw.Sqrt(new_s * self:fed("correction", d)) + self:constant("epsilon", d))
    local moved = z:value() - step
    self:assign(z, moved)
    local weight = self:fed("new", d)
    local x = (self:fresh(v) - moved * (1 - b1)) / b1 -- by the z that has moved, as Keras computes it
    x = x * (-weight + 1) + moved * weight
    return raw.AssignVariableOp(v, moved * (1 - b1) + x * b1, {dtype = d})
  end,
  swap_to_train = function(self, list) between(self, list or self.stepped_variables or {}, 1 - self.beta_1, self.beta_1) end,
  swap_to_eval = function(self, list) between(self, list or self.stepped_variables or {}, -(1 - self.beta_1) / self.beta_1, 1 / self.beta_1) end})

-- An optimizer of tf.train in compile, as Keras 2 wraps it.
optimizers:class("TFOptimizer", "optimizer learning_rate|lr=0" .. common .. "tf_optimizer", {
  init = function(self, path)
    if type(self.optimizer) ~= "table" or not self.optimizer.apply_pairs then T.fail(path, "'optimizer' must be one of tf.train's, not %s", type(self.optimizer)) end
    if type(self.optimizer.learning_rate) == "number" then self.learning_rate = self.optimizer.learning_rate end
  end,
  emit = function(self, list)
    local done = self.optimizer:apply_gradients(list)
    self.made, self.built = self.optimizer:variables(), true
    return T.kind(done) and {done} or {}
  end})

optimizers:alias("RMSprop", "rmsprop", "rms_prop")
optimizers:alias("AdamW", "adamw")
T.include("keras", "loss_scale")
return optimizers
