-- provides tf.optim.lr_scheduler: LambdaLR StepLR MultiStepLR ExponentialLR ConstantLR LinearLR PolynomialLR CosineAnnealingLR CosineAnnealingWarmRestarts OneCycleLR CyclicLR ReduceLROnPlateau
-- PyTorch's learning rates: each changes the rates of an optimizer's groups when step() is called, once an epoch (or a batch).
-- The rate of step 0 is set when the scheduler is made.
local tf, T = ...
local def = T.def
local _ = T.namespace "tf.optim.lr_scheduler"

local Scheduler = {}
Scheduler.__index = Scheduler
function Scheduler:step(n)
  self.last_epoch = n or self.last_epoch + 1
  self:apply()
end
function Scheduler:apply()
  for i, group in ipairs(self.optimizer.param_groups) do
    group.lr = self.rate(self.base_lrs[i], self.last_epoch, i)
    if self.momentum then
      local m = self.momentum(self.last_epoch)
      if group.betas then group.betas = {m, group.betas[2]} else group.momentum = m end
    end
  end
end
function Scheduler:get_last_lr()
  local out = {}
  for i, group in ipairs(self.optimizer.param_groups) do out[i] = group.lr end
  return out
end
function Scheduler:state_dict() return {last_epoch = self.last_epoch, base_lrs = {table.unpack(self.base_lrs)}} end
function Scheduler:load_state_dict(dict)
  self.last_epoch, self.base_lrs = dict.last_epoch, {table.unpack(dict.base_lrs)}
  self:apply()
end
-- rate(base, n, group) is the rate behind n steps; momentum(n), where it is cycled, too.
local function made(path, optimizer, last_epoch, rate, momentum)
  if type(optimizer) ~= "table" or type(optimizer.param_groups) ~= "table" then T.fail(path, "'optimizer' must be one of tf.optim's, not %s", T.kind(optimizer) or type(optimizer)) end
  local self = setmetatable({optimizer = optimizer, last_epoch = math.max(last_epoch, 0), rate = rate, momentum = momentum, base_lrs = {}}, Scheduler)
  for i, group in ipairs(optimizer.param_groups) do self.base_lrs[i] = group.initial_lr or group.lr end
  self:apply()
  return self
end
local function scheduler(name, signature, make)
  local path = "tf.optim.lr_scheduler." .. name
  def(path, "optimizer " .. signature .. " last_epoch=-1", function(optimizer, ...)
    local args = table.pack(...)
    local rate, momentum = make(path, optimizer, table.unpack(args, 1, args.n - 1))
    return made(path, optimizer, args[args.n], rate, momentum)
  end)
end

-- lr_lambda(n), or one for each group, gives the factor.
scheduler("LambdaLR", "lr_lambda", function(_, _, fn)
  return function(base, n, i) return base * (type(fn) == "table" and fn[i] or fn)(n) end
end)
scheduler("StepLR", "step_size gamma=0.1", function(_, _, size, gamma) return function(base, n) return base * gamma ^ (n // size) end end)
scheduler("MultiStepLR", "milestones gamma=0.1", function(_, _, milestones, gamma)
  return function(base, n)
    for _, m in ipairs(milestones) do if n >= m then base = base * gamma end end
    return base
  end
end)
scheduler("ExponentialLR", "gamma", function(_, _, gamma) return function(base, n) return base * gamma ^ n end end)
scheduler("ConstantLR", "factor=0.3333333333333333 total_iters=5", function(_, _, factor, total)
  return function(base, n) return n < total and base * factor or base end
end)
scheduler("LinearLR", "start_factor=0.3333333333333333 end_factor=1 total_iters=5", function(_, _, first, last, total)
  return function(base, n) return base * (first + (last - first) * math.min(n, total) / total) end
end)
scheduler("PolynomialLR", "total_iters=5 power=1", function(_, _, total, power)
  return function(base, n) return base * (1 - math.min(n, total) / total) ^ power end
end)
local function cosine(high, low, part) return low + (high - low) * (1 + math.cos(math.pi * part)) / 2 end
scheduler("CosineAnnealingLR", "T_max eta_min=0", function(_, _, length, low)
  return function(base, n) return cosine(base, low, n / length) end
end)
scheduler("CosineAnnealingWarmRestarts", "T_0 T_mult=1 eta_min=0", function(_, _, first, factor, low)
  return function(base, n)
    local length = first
    while n >= length do n, length = n - length, length * factor end
    return cosine(base, low, n / length)
  end
end)
-- Up and down again, then far down; momentum the other way round (Smith and Topin, 2018).
scheduler("OneCycleLR", "max_lr total_steps? epochs? steps_per_epoch? pct_start=0.3 anneal_strategy=cos cycle_momentum=true base_momentum=0.85 max_momentum=0.95 div_factor=25 final_div_factor=10000 three_phase=false",
  function(path, optimizer, top, total, epochs, per_epoch, part, strategy, cycle, low_m, high_m, div, final_div, three)
    total = total or epochs and per_epoch and epochs * per_epoch
    if not total then T.fail(path, "say 'total_steps', or 'epochs' and 'steps_per_epoch'") end
    if strategy ~= "cos" and strategy ~= "linear" then T.fail(path, "'anneal_strategy' must be \"cos\" or \"linear\", not '%s'", tostring(strategy)) end
    local first, last = top / div, top / div / final_div
    local phases = three and {{part * total - 1, first, top, high_m, low_m}, {2 * part * total - 2, top, first, low_m, high_m}, {total - 1, first, last, high_m, high_m}}
      or {{part * total - 1, first, top, high_m, low_m}, {total - 1, top, last, low_m, high_m}}
    local function at(n, from, to)
      if n >= total then T.fail(path, "step %d is behind the last of %d", n, total) end
      local begin = 0
      for i, phase in ipairs(phases) do
        if n <= phase[1] or i == #phases then
          local p = (n - begin) / (phase[1] - begin)
          if strategy == "cos" then return cosine(phase[from], phase[to], p) end
          return phase[from] + (phase[to] - phase[from]) * p
        end
        begin = phase[1]
      end
    end
    return function(_, n) return at(n, 2, 3) end, cycle and function(n) return at(n, 4, 5) end or nil
  end)
scheduler("CyclicLR", "base_lr max_lr step_size_up=2000 step_size_down? mode=triangular gamma=1 cycle_momentum=true base_momentum=0.8 max_momentum=0.9",
  function(path, _, low, top, up, down, mode, gamma, cycle, low_m, high_m)
    if not ({triangular = 1, triangular2 = 1, exp_range = 1})[mode] then T.fail(path, "'mode' must be triangular, triangular2 or exp_range, not '%s'", tostring(mode)) end
    local length = up + (down or up)
    local ratio = up / length
    local function height(n)
      local round = math.floor(1 + n / length)
      local x = 1 + n / length - round
      local h = x <= ratio and x / ratio or (x - 1) / (ratio - 1)
      if mode == "triangular2" then return h / 2 ^ (round - 1) end
      return mode == "exp_range" and h * gamma ^ n or h
    end
    return function(_, n) return low + (top - low) * height(n) end, cycle and function(n) return high_m - (high_m - low_m) * height(n) end or nil
  end)

-- step(number): smaller rates where the number no longer improves.
local Plateau = {}
Plateau.__index = Plateau
def("tf.optim.lr_scheduler.ReduceLROnPlateau", "optimizer mode=min factor=0.1 patience=10 threshold=0.0001 threshold_mode=rel cooldown=0 min_lr=0 eps=1e-8",
  function(optimizer, mode, factor, patience, threshold, threshold_mode, cooldown, min_lr, eps)
    local path = "tf.optim.lr_scheduler.ReduceLROnPlateau"
    if mode ~= "min" and mode ~= "max" then T.fail(path, "'mode' must be \"min\" or \"max\", not '%s'", tostring(mode)) end
    if threshold_mode ~= "rel" and threshold_mode ~= "abs" then T.fail(path, "'threshold_mode' must be \"rel\" or \"abs\", not '%s'", tostring(threshold_mode)) end
    if factor >= 1 then T.fail(path, "'factor' must be below 1, not %g", factor) end
    return setmetatable({optimizer = optimizer, mode = mode, factor = factor, patience = patience, threshold = threshold, threshold_mode = threshold_mode,
      cooldown = cooldown, min_lr = min_lr, eps = eps, bad = 0, cooling = 0, last_epoch = 0}, Plateau)
  end)
local function better(self, a, b)
  local sign = self.mode == "min" and -1 or 1
  if b == nil then return true end
  local bound = self.threshold_mode == "rel" and b * (1 + sign * self.threshold) or b + sign * self.threshold
  if self.mode == "min" then return a < bound end
  return a > bound
end
function Plateau:step(value)
  if T.kind(value) then value = value:item() end
  self.last_epoch = self.last_epoch + 1
  if better(self, value, self.best) then self.best, self.bad = value, 0 else self.bad = self.bad + 1 end
  if self.cooling > 0 then self.cooling, self.bad = self.cooling - 1, 0 end
  if self.bad > self.patience then
    for _, group in ipairs(self.optimizer.param_groups) do
      local new = math.max(group.lr * self.factor, self.min_lr)
      if group.lr - new > self.eps then group.lr = new end
    end
    self.cooling, self.bad = self.cooldown, 0
  end
end
Plateau.get_last_lr = Scheduler.get_last_lr
