-- provides tf.optim: SGD Adam AdamW Adamax Adagrad Adadelta RMSprop NAdam RAdam ASGD Rprop
-- PyTorch's optimizers for define-by-run programs: rules, defaults and names of state are PyTorch's, also where tf.train has another rule
-- of that name (Adam adds epsilon behind the correction, RMSprop outside of the root).
--
--     local opt = tf.optim.SGD(variables, {lr = 0.1, momentum = 0.9})
--     local loss = opt:step(function() return model_loss(x, y) end)     -- or opt:step(gradients)
--     for _, group in ipairs(opt.param_groups) do group.lr = group.lr / 10 end
local tf, T = ...
local raw = tf.raw
local _ = T.namespace "tf.optim"

local Optimizer = {}
Optimizer.__index = Optimizer

-- Makes a class: `signature` lists the options behind `params`; `lists` holds defaults that are lists; update(self, w, g, s, o, t)
-- gives the new weight. s is the state of the variable (tensors by name), o the options of its group, t counts from 1.
local function class(name, signature, lists, update, check)
  local path = "tf.optim." .. name
  local methods = setmetatable({update = update, __name = name}, Optimizer)
  methods.__index = methods
  local names = {}
  for word in signature:gmatch "%S+" do names[#names + 1] = word:match "^[^?=]*" end
  T.def(path, "params " .. signature, function(params, ...)
    local options = {}
    for i, key in ipairs(names) do
      local value = (select(i, ...))
      if value == nil then value = lists[key] end
      options[key] = value
    end
    if options.lr < 0 then T.fail(path, "'lr' must not be below 0, but is %g", options.lr) end
    if check then check(path, options) end
    local groups = T.kind(params) and {{params = {params}}} or T.kind(params[1]) and {{params = params}} or params
    local self = setmetatable({param_groups = {}, state = {}, defaults = options, path = path}, methods)
    for _, group in ipairs(groups) do self:add_param_group(group) end
    if #self.param_groups == 0 then T.fail(path, "there are no parameters") end
    return self
  end)
end
function Optimizer:add_param_group(group)
  local own = {params = {}}
  for key, value in pairs(self.defaults) do own[key] = value end
  for key, value in pairs(group) do
    if key ~= "params" and self.defaults[key] == nil then
      local known = {}
      for k in pairs(self.defaults) do known[#known + 1] = k end
      local near = T.nearest(tostring(key), known)
      T.fail(self.path, "unknown option '%s' of a group%s", tostring(key), near and ("; did you mean '%s'?"):format(near) or "")
    end
    if key ~= "params" then own[key] = value end
  end
  for i, v in ipairs(group.params or {}) do
    if T.kind(v) ~= "Variable" or v.graph then T.fail(self.path, "params[%d] is no define-by-run variable, but %s", i, T.kind(v) or type(v)) end
    for _, other in ipairs(self.param_groups) do
      for _, w in ipairs(other.params) do if w == v then T.fail(self.path, "variable '%s' is in more than one group", v.name) end end
    end
    own.params[i] = v
  end
  own.initial_lr = own.lr
  table.insert(self.param_groups, own)
end
local function each(self)
  local out = {}
  for _, group in ipairs(self.param_groups) do
    for _, v in ipairs(group.params) do out[#out + 1] = {v, group} end
  end
  return out
end
-- step(gradients): in the order of the parameters (false: none) or by variable; step(fn): of what fn() gives, which is returned.
function Optimizer:step(grads)
  return tf.eager(function()
    local all, value = each(self), nil
    if type(grads) == "function" then
      local vars = {}
      for i, p in ipairs(all) do vars[i] = p[1] end
      local tape <close> = tf.GradientTape()
      value = grads()
      tape:stop()
      grads = tape:gradient(value, vars)
    end
    if type(grads) ~= "table" then T.fail("step", "expects gradients or a function that gives the loss, not %s", type(grads)) end
    for i, p in ipairs(all) do
      local v, group = p[1], p[2]
      local g = grads[v] or grads[i]
      if g then
        if T.kind(g) == "IndexedSlices" then g = T.dense(g) end
        local s = self.state[v]
        if not s then
          s = {step = 0}
          self.state[v] = s
        end
        s.step = s.step + 1
        local w = v:value()
        if (group.weight_decay or 0) ~= 0 and not group.decoupled_weight_decay then g = g + w * group.weight_decay end
        if group.decoupled_weight_decay then w = w * (1 - group.lr * group.weight_decay) end
        v:assign(self:update(w, g, s, group, s.step))
      end
    end
    return value
  end)
end
-- Gradients are values here and nothing gathers in them: there is nothing to clear. For loops written as PyTorch's are.
function Optimizer:zero_grad() end
-- State by the place of the parameter (from 1), and the options of the groups.
function Optimizer:state_dict()
  local out, at = {state = {}, param_groups = {}}, {}
  for i, p in ipairs(each(self)) do
    at[p[1]] = i
    out.state[i] = {}
    for key, value in pairs(self.state[p[1]] or {}) do out.state[i][key] = value end
  end
  for k, group in ipairs(self.param_groups) do
    out.param_groups[k] = {params = {}}
    for key, value in pairs(group) do if key ~= "params" then out.param_groups[k][key] = value end end
    for i, v in ipairs(group.params) do out.param_groups[k].params[i] = at[v] end
  end
  return out
end
function Optimizer:load_state_dict(dict)
  local all = each(self)
  if #dict.param_groups ~= #self.param_groups then
    T.fail("load_state_dict", "there are %d groups, %d were given", #self.param_groups, #dict.param_groups)
  end
  for k, group in ipairs(self.param_groups) do
    if #dict.param_groups[k].params ~= #group.params then
      T.fail("load_state_dict", "group %d has %d parameters, %d were given", k, #group.params, #dict.param_groups[k].params)
    end
    for key, value in pairs(dict.param_groups[k]) do if key ~= "params" then group[key] = value end end
  end
  for i, p in ipairs(all) do
    self.state[p[1]] = nil
    if dict.state[i] and next(dict.state[i]) then
      self.state[p[1]] = {}
      for key, value in pairs(dict.state[i]) do self.state[p[1]][key] = value end
    end
  end
end
function Optimizer:__tostring() return ("%s(lr=%g)"):format(getmetatable(self).__name, self.param_groups[1].lr) end

-- ------------------------------------------------------------------------------------- the rules

local function zeros(w) return raw.ZerosLike(w) end
-- The state of that name, zeros at first, mixed with x: keep * old + (1 - keep) * x.
local function mix(s, name, w, keep, x)
  s[name] = (s[name] or zeros(w)) * keep + x * (1 - keep)
  return s[name]
end

class("SGD", "lr=0.001 momentum=0 dampening=0 weight_decay=0 nesterov=false", {}, function(_, w, g, s, o)
  if o.momentum ~= 0 then
    s.momentum_buffer = s.momentum_buffer and s.momentum_buffer * o.momentum + g * (1 - o.dampening) or g
    g = o.nesterov and g + s.momentum_buffer * o.momentum or s.momentum_buffer
  end
  return w - g * o.lr
end, function(path, o)
  if o.nesterov and (o.momentum <= 0 or o.dampening ~= 0) then T.fail(path, "'nesterov' needs a momentum and no dampening") end
end)
local function adam(_, w, g, s, o, t)
  local b1, b2 = o.betas[1], o.betas[2]
  local m = mix(s, "exp_avg", w, b1, g)
  local v = mix(s, "exp_avg_sq", w, b2, raw.Square(g))
  if o.amsgrad then
    s.max_exp_avg_sq = raw.Maximum(s.max_exp_avg_sq or zeros(w), v)
    v = s.max_exp_avg_sq
  end
  return w - m * (o.lr / (1 - b1 ^ t)) / (raw.Sqrt(v) / math.sqrt(1 - b2 ^ t) + o.eps)
end
class("Adam", "lr=0.001 betas? eps=1e-8 weight_decay=0 amsgrad=false decoupled_weight_decay=false", {betas = {0.9, 0.999}}, adam)
class("AdamW", "lr=0.001 betas? eps=1e-8 weight_decay=0.01 amsgrad=false decoupled_weight_decay=true", {betas = {0.9, 0.999}}, adam)
class("Adamax", "lr=0.002 betas? eps=1e-8 weight_decay=0", {betas = {0.9, 0.999}}, function(_, w, g, s, o, t)
  local m = mix(s, "exp_avg", w, o.betas[1], g)
  s.exp_inf = raw.Maximum((s.exp_inf or zeros(w)) * o.betas[2], raw.Abs(g) + o.eps)
  return w - m / s.exp_inf * (o.lr / (1 - o.betas[1] ^ t))
end)
class("NAdam", "lr=0.002 betas? eps=1e-8 weight_decay=0 momentum_decay=0.004 decoupled_weight_decay=false", {betas = {0.9, 0.999}}, function(_, w, g, s, o, t)
  local b1, b2 = o.betas[1], o.betas[2]
  local mu = b1 * (1 - 0.5 * 0.96 ^ (t * o.momentum_decay))
  local ahead = b1 * (1 - 0.5 * 0.96 ^ ((t + 1) * o.momentum_decay))
  s.mu_product = (s.mu_product or 1) * mu
  local m = mix(s, "exp_avg", w, b1, g)
  local denominator = raw.Sqrt(mix(s, "exp_avg_sq", w, b2, raw.Square(g)) / (1 - b2 ^ t)) + o.eps
  return w - (g * (o.lr * (1 - mu) / (1 - s.mu_product)) + m * (o.lr * ahead / (1 - s.mu_product * ahead))) / denominator
end)
class("RAdam", "lr=0.001 betas? eps=1e-8 weight_decay=0 decoupled_weight_decay=false", {betas = {0.9, 0.999}}, function(_, w, g, s, o, t)
  local b1, b2 = o.betas[1], o.betas[2]
  local m = mix(s, "exp_avg", w, b1, g) / (1 - b1 ^ t)
  local v = mix(s, "exp_avg_sq", w, b2, raw.Square(g))
  local longest = 2 / (1 - b2) - 1
  local length = longest - 2 * t * b2 ^ t / (1 - b2 ^ t)
  if length <= 5 then return w - m * o.lr end
  local rectified = math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
  return w - m * (o.lr * rectified * math.sqrt(1 - b2 ^ t)) / (raw.Sqrt(v) + o.eps)
end)
class("RMSprop", "lr=0.01 alpha=0.99 eps=1e-8 weight_decay=0 momentum=0 centered=false", {}, function(_, w, g, s, o)
  local v = mix(s, "square_avg", w, o.alpha, raw.Square(g))
  if o.centered then v = v - raw.Square(mix(s, "grad_avg", w, o.alpha, g)) end
  local step = g / (raw.Sqrt(v) + o.eps)
  if o.momentum > 0 then
    s.momentum_buffer = (s.momentum_buffer or zeros(w)) * o.momentum + step
    step = s.momentum_buffer
  end
  return w - step * o.lr
end)
class("Adagrad", "lr=0.01 lr_decay=0 weight_decay=0 initial_accumulator_value=0 eps=1e-10", {}, function(_, w, g, s, o, t)
  s.sum = (s.sum or zeros(w) + o.initial_accumulator_value) + raw.Square(g)
  return w - g * (o.lr / (1 + (t - 1) * o.lr_decay)) / (raw.Sqrt(s.sum) + o.eps)
end)
class("Adadelta", "lr=1 rho=0.9 eps=1e-6 weight_decay=0", {}, function(_, w, g, s, o)
  local v = mix(s, "square_avg", w, o.rho, raw.Square(g))
  local step = raw.Sqrt((s.acc_delta or zeros(w)) + o.eps) / raw.Sqrt(v + o.eps) * g
  mix(s, "acc_delta", w, o.rho, raw.Square(step))
  return w - step * o.lr
end)
-- `ax` is the average of the weights from step t0 on (Polyak and Juditsky, 1992).
class("ASGD", "lr=0.01 lambd=0.0001 alpha=0.75 t0=1000000 weight_decay=0", {}, function(_, w, g, s, o, t)
  s.eta, s.mu = s.eta or o.lr, s.mu or 1
  w = w * (1 - o.lambd * s.eta) - g * s.eta
  s.ax = s.mu == 1 and w or s.ax + (w - s.ax) * s.mu
  s.eta = o.lr / (1 + o.lambd * o.lr * t) ^ o.alpha
  s.mu = 1 / math.max(1, t - o.t0)
  return w
end)
-- Only signs count: steps grow where they keep, shrink where they turn (Riedmiller and Braun, 1993).
class("Rprop", "lr=0.01 etas? step_sizes?", {etas = {0.5, 1.2}, step_sizes = {1e-6, 50}}, function(_, w, g, s, o)
  local kept = raw.Sign(g * (s.prev or zeros(w)))
  local zero, one = zeros(w), raw.OnesLike(w)
  local factor = raw.SelectV2(raw.Greater(kept, 0), one * o.etas[2], raw.SelectV2(raw.Less(kept, 0), one * o.etas[1], one))
  s.step_size = raw.ClipByValue((s.step_size or one * o.lr) * factor, o.step_sizes[1], o.step_sizes[2])
  g = raw.SelectV2(raw.Less(kept, 0), zero, g)
  s.prev = g
  return w - raw.Sign(g) * s.step_size
end)
