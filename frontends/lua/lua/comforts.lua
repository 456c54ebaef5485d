-- provides tf.train: AccumulateGradientsOptimizer EarlyStopping caffe_lr_policy nmt_learning_rate ptb_learning_rate
-- Small comforts of training loops: several batches a step, stopping early, and the learning rates of Caffe, of the NMT and the PTB tutorial.
local tf, T = ...
local raw, def = tf.raw, T.def
local _ = tf.train.Optimizer
_ = tf.mixed_precision.Policy -- loads T.guarded_step

-- ------------------------------------------------------------------------------------- accumulation

local Accumulate = {__name = "AccumulateGradientsOptimizer"}
function Accumulate.__index(self, key)
  local own = rawget(Accumulate, key)
  if own ~= nil then return own end
  return rawget(self, "inner_optimizer")[key]
end
local here = "tf.train.AccumulateGradientsOptimizer"
-- An optimizer around another one (Caffe's iter_size): gradients of `steps` calls are added up, and the last of them makes the step, with
-- their mean (`average`) or sum. The global step counts steps.
def(here, "optimizer|opt steps average=true", function(inner, steps, average)
  if type(inner) ~= "table" or inner.apply_pairs == nil or inner.compute_gradients == nil then
    T.fail(here, "'optimizer' must be one of tf.train (Keras has gradient_accumulation_steps), not %s", T.kind(inner) or type(inner))
  end
  if math.type(steps) ~= "integer" or steps < 1 then T.fail(here, "'steps' must be a whole number, 1 or more, not %s", tostring(steps)) end
  return setmetatable({inner_optimizer = inner, steps = steps, average = average, sums = {}, counts = setmetatable({}, {__mode = "k"})}, Accumulate)
end)
local function own_variable(name, value)
  local absolute <close> = not tf.executing_eagerly() and tf.name_scope("") or nil
  local c <close> = tf.control_dependencies(false)
  return tf.Variable(value, {trainable = false, name = name})
end
function Accumulate:sum_of(v)
  if not self.sums[v] then
    self.sums[v] = own_variable(v.name:gsub(":%d+$", "") .. "/gradient_sum", function() return tf.zeros(v.shape, v.dtype) end)
  end
  return self.sums[v]
end
function Accumulate:count()
  local key = tf.executing_eagerly() and self or tf.get_default_graph()
  self.counts[key] = self.counts[key] or own_variable("accumulated_batches", tf.tensor(0, "int64"))
  return self.counts[key]
end
local function sum_and_share(self, list, graph)
  local step = {}
  for _, gv in ipairs(list) do
    if gv[1] then
      local sum = self:sum_of(gv[2])
      local total = sum:value() + T.dense(gv[1])
      if graph then total = raw.ReadVariableOp(sum, {dtype = sum.dtype}) + T.dense(gv[1]) end
      step[#step + 1] = {self.average and total * (1 / self.steps) or total, gv[2], total, sum}
    end
  end
  return step
end
local apply = T.bind("apply_gradients", "self grads_and_vars global_step? name?", function(self, list, global_step, name)
  local first
  for _, gv in ipairs(list) do
    if type(gv) == "table" and not T.kind(gv) and gv[1] and T.kind(gv[2]) == "Variable" then first = first or gv[2] end
  end
  if not first then return self.inner_optimizer:apply_pairs(list, global_step, name) end -- says what is wrong
  if not first.graph then
    local step, count = sum_and_share(self, list), self:count()
    count:assign_add(1)
    if count:item() % self.steps ~= 0 then
      for _, s in ipairs(step) do s[4]:assign(s[3]) end
      return true
    end
    self.inner_optimizer:apply_pairs(step, global_step, name)
    for _, s in ipairs(step) do s[4]:assign(tf.zeros_like(s[3])) end
    return true
  end
  local guard <close> = first.graph:as_default()
  local step, count = sum_and_share(self, list, true), self:count()
  local now = raw.ReadVariableOp(count, {dtype = "int64"}) + 1
  local due = tf.equal(now % self.steps, tf.constant(0, "int64"))
  local ops = T.guarded_step(self.inner_optimizer, step, due, global_step, name)
  for _, s in ipairs(step) do
    ops[#ops + 1] = raw.AssignVariableOp(s[4], raw.SelectV2(due, tf.zeros_like(s[3]), s[3]), {dtype = s[4].dtype})
  end
  ops[#ops + 1] = raw.AssignVariableOp(count, now, {dtype = "int64"})
  local done = tf.group(ops, {name = "accumulate"})
  tf.add_to_collection(tf.GraphKeys.TRAIN_OP, done)
  return done
end)
function Accumulate:apply_gradients(grads, second, ...)
  if type(second) == "table" and not T.kind(second) and T.kind(second[1]) == "Variable" then
    if #grads ~= #second then T.fail("apply_gradients", "%d gradients for %d variables", #grads, #second) end
    local zipped = {}
    for i, v in ipairs(second) do zipped[i] = {grads[i], v} end
    return apply(self, zipped, ...)
  end
  return apply(self, grads, second, ...)
end
function Accumulate.apply_pairs(...) return apply(...) end
function Accumulate:compute_gradients(...) return self.inner_optimizer:compute_gradients(...) end
local minimize = T.bind("minimize", "self loss global_step? var_list? gate_gradients? aggregation_method? colocate_gradients_with_ops=false name? grad_loss?",
  function(self, loss, global_step, var_list, _, _, _, name)
    return apply(self, self.inner_optimizer:compute_gradients(loss, var_list), global_step, name)
  end)
function Accumulate.minimize(...) return minimize(...) end
function Accumulate:variables()
  local out = self.inner_optimizer:variables()
  for _, s in pairs(self.sums) do out[#out + 1] = s end
  table.sort(out, function(a, b) return a.name < b.name end)
  return out
end

-- ------------------------------------------------------------------------------------- stopping early

local Stop = {__name = "EarlyStopping"}
Stop.__index = Stop
-- tf.train.EarlyStopping{patience =, min_delta =, mode = "min" or "max", baseline =}: stop:update(value) is true once the value has not
-- become better for `patience` calls in a row; stop.best and stop.best_call say when it was best.
def("tf.train.EarlyStopping", "patience=0 min_delta=0 mode=min baseline?", function(patience, min_delta, mode, baseline)
  if mode ~= "min" and mode ~= "max" then T.fail("tf.train.EarlyStopping", "'mode' must be \"min\" or \"max\", not '%s'", tostring(mode)) end
  return setmetatable({patience = patience, min_delta = math.abs(min_delta), mode = mode, best = baseline, wait = 0, calls = 0}, Stop)
end)
function Stop:update(value)
  if T.kind(value) then value = T.value(value):item() end
  self.calls = self.calls + 1
  local gain = self.best == nil and math.huge or (self.mode == "min" and self.best - value or value - self.best)
  if gain > self.min_delta then -- NaN never is
    self.best, self.best_call, self.wait = value, self.calls, 0
    return false
  end
  self.wait = self.wait + 1
  return self.wait >= math.max(self.patience, 1)
end

-- ------------------------------------------------------------------------------------- learning rates of others

-- As the schedules of tf.train: a node in a graph, a function in define-by-run mode.
local function schedule(step, who, f)
  if step == nil then T.fail(who, "the global step is missing") end
  local function compute() return f(tf.cast(T.value(step), "float32")) end
  if tf.executing_eagerly() then return compute end
  return compute()
end
local function power(base, x) return raw.Pow(tf.constant(base, "float32"), x) end

local caffe = {
  fixed = {"", function(s, o) return s * 0 + o.base_lr end},
  step = {"gamma stepsize", function(s, o) return power(o.gamma, raw.Floor(s / o.stepsize)) * o.base_lr end},
  exp = {"gamma", function(s, o) return power(o.gamma, s) * o.base_lr end},
  inv = {"gamma power", function(s, o) return raw.Pow(s * o.gamma + 1, tf.constant(-o.power, "float32")) * o.base_lr end},
  multistep = {"gamma stepvalue", function(s, o)
    local passed = s * 0
    for _, at in ipairs(o.stepvalue) do passed = passed + tf.cast(tf.greater_equal(s, at), "float32") end
    return power(o.gamma, passed) * o.base_lr
  end},
  poly = {"power max_iter", function(s, o) return raw.Pow(-(s / o.max_iter) + 1, tf.constant(o.power, "float32")) * o.base_lr end},
  sigmoid = {"gamma stepsize", function(s, o) return raw.Sigmoid((s - o.stepsize) * o.gamma) * o.base_lr end},
}
-- Caffe's lr_policy: fixed, step, exp, inv, multistep, poly, sigmoid. (Its sigmoid falls for a negative gamma.)
def("tf.train.caffe_lr_policy", "lr_policy base_lr global_step gamma? stepsize? power? max_iter? stepvalue?",
  function(policy, base_lr, step, gamma, stepsize, exponent, max_iter, stepvalue)
    local who, entry = "tf.train.caffe_lr_policy", caffe[policy]
    local o = {base_lr = base_lr, gamma = gamma, stepsize = stepsize, power = exponent, max_iter = max_iter, stepvalue = stepvalue}
    if not entry then
      local names = {}
      for name in pairs(caffe) do names[#names + 1] = name end
      table.sort(names)
      T.fail(who, "there is no lr_policy '%s'; there are %s", tostring(policy), table.concat(names, ", "))
    end
    for name in entry[1]:gmatch "%S+" do
      if o[name] == nil then T.fail(who, "lr_policy '%s' needs '%s'", policy, name) end
    end
    return schedule(step, who, function(s) return entry[2](s, o) end)
  end)

-- The NMT tutorial's: warmup_scheme "t2t" multiplies by 0.01^((w - s) / w) up to step w; decay_scheme "luong5" halves five times in
-- the second half of training, "luong10" ten times, "luong234" four times in the last third.
local luong = {luong5 = {0.5, 5}, luong10 = {0.5, 10}, luong234 = {2 / 3, 4}}
def("tf.train.nmt_learning_rate", "learning_rate global_step num_train_steps=12000 warmup_steps=0 warmup_scheme=t2t decay_scheme=",
  function(rate, step, total, warmup, warmup_scheme, decay_scheme)
    local who = "tf.train.nmt_learning_rate"
    local decay = luong[decay_scheme]
    if warmup_scheme ~= "t2t" then T.fail(who, "there is no warmup_scheme '%s'; there is 't2t'", tostring(warmup_scheme)) end
    if decay_scheme ~= "" and decay_scheme ~= false and not decay then
      T.fail(who, "there is no decay_scheme '%s'; there are luong5, luong10, luong234", tostring(decay_scheme))
    end
    return schedule(step, who, function(s)
      local lr = s * 0 + rate
      if warmup > 0 then
        local factor = power(0.01 ^ (1 / warmup), -s + warmup)
        lr = tf.where(tf.less(s, warmup), lr * factor, lr)
      end
      if decay then
        local start = math.floor(total * decay[1])
        local each = math.floor((total - start) / decay[2])
        lr = tf.where(tf.less(s, start), lr, lr * power(0.5, raw.Floor((s - start) / each)))
      end
      return lr
    end)
  end)
-- The PTB tutorial's: rate * lr_decay^max(epoch - max_epoch, 0); epochs count from 1.
def("tf.train.ptb_learning_rate", "learning_rate epoch lr_decay=0.5 max_epoch=4", function(rate, epoch, decay, max_epoch)
  if type(epoch) == "number" then return rate * decay ^ math.max(epoch - max_epoch, 0) end
  return schedule(epoch, "tf.train.ptb_learning_rate", function(e) return power(decay, raw.Maximum(e - max_epoch, 0)) * rate end)
end)
