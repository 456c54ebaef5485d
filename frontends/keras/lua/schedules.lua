-- tf.keras.optimizers.schedules: learning rates as functions of the number of steps done. An object is called with that
-- number and gives a number; an optimizer calls it before each step.
local tf, T = ...
local registry = T.include("keras", "registry")

local Schedule = {}
function Schedule:__call(step)
  if T.kind(step) then step = step:item() end
  return self:call(step)
end
-- A schedule of the script: LearningRateSchedule:extend{call = function(self, step) return ... end}
function Schedule:extend(methods)
  methods.__index, methods.__call, methods.__name, methods.names = methods, Schedule.__call, methods.name or "LearningRateSchedule", {}
  return setmetatable(methods, {__index = self, __call = function(class, fields)
    local object = {}
    for k, v in pairs(fields or {}) do object[k] = v end
    return setmetatable(object, class)
  end})
end
local schedules = registry("optimizers.schedules", "learning rate schedule", Schedule)
T.namespace "tf.keras.optimizers.schedules".LearningRateSchedule = Schedule

local function positive(name) return function(self, path)
  if self[name] <= 0 then T.fail(path, "'%s' must be above 0, not %g", name, self[name]) end
end end

schedules:class("ExponentialDecay", "initial_learning_rate decay_steps decay_rate staircase=false name=ExponentialDecay", {
  init = positive "decay_steps",
  call = function(self, step)
    local p = step / self.decay_steps
    if self.staircase then p = math.floor(p) end
    return self.initial_learning_rate * self.decay_rate ^ p
  end})
schedules:class("NaturalExpDecay", "initial_learning_rate decay_steps decay_rate staircase=false name=NaturalExpDecay", {
  init = positive "decay_steps",
  call = function(self, step)
    local p = step / self.decay_steps
    if self.staircase then p = math.floor(p) end
    return self.initial_learning_rate * math.exp(-self.decay_rate * p)
  end})
schedules:class("InverseTimeDecay", "initial_learning_rate decay_steps decay_rate staircase=false name=InverseTimeDecay", {
  init = positive "decay_steps",
  call = function(self, step)
    local p = step / self.decay_steps
    if self.staircase then p = math.floor(p) end
    return self.initial_learning_rate / (1 + self.decay_rate * p)
  end})
schedules:class("PiecewiseConstantDecay", "boundaries values name=PiecewiseConstant", {
  init = function(self, path)
    if #self.values ~= #self.boundaries + 1 then
      T.fail(path, "%d boundaries need %d values, not %d", #self.boundaries, #self.boundaries + 1, #self.values)
    end
  end,
  call = function(self, step)
    for i, bound in ipairs(self.boundaries) do
      if step <= bound then return self.values[i] end
    end
    return self.values[#self.values]
  end})
schedules:class("PolynomialDecay", "initial_learning_rate decay_steps end_learning_rate=0.0001 power=1 cycle=false name=PolynomialDecay", {
  init = positive "decay_steps",
  call = function(self, step)
    local total = self.decay_steps
    if self.cycle then
      total = total * (step == 0 and 1 or math.ceil(step / total))
    else
      step = math.min(step, total)
    end
    return (self.initial_learning_rate - self.end_learning_rate) * (1 - step / total) ^ self.power + self.end_learning_rate
  end})
local function cosine(part, alpha) return (1 - alpha) * 0.5 * (1 + math.cos(math.pi * part)) + alpha end
schedules:class("CosineDecay", "initial_learning_rate decay_steps alpha=0 name=CosineDecay warmup_target? warmup_steps=0", {
  init = positive "decay_steps",
  call = function(self, step)
    local start = self.initial_learning_rate
    if self.warmup_target then
      if step < self.warmup_steps then
        return start + (self.warmup_target - start) * step / self.warmup_steps
      end
      start, step = self.warmup_target, step - self.warmup_steps
    end
    return start * cosine(math.min(step, self.decay_steps) / self.decay_steps, self.alpha)
  end})
-- Each period is t_mul times as long as the one before and starts m_mul times as high.
schedules:class("CosineDecayRestarts", "initial_learning_rate first_decay_steps t_mul=2 m_mul=1 alpha=0 name=SGDRDecay", {
  init = positive "first_decay_steps",
  call = function(self, step)
    local length, height = self.first_decay_steps, 1.0
    while step >= length do
      step, length, height = step - length, length * self.t_mul, height * self.m_mul
    end
    return self.initial_learning_rate * ((1 - self.alpha) * 0.5 * height * (1 + math.cos(math.pi * step / length)) + self.alpha)
  end})
return schedules
