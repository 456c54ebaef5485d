-- Training: Torch7's nn.StochasticGradient, optim.sgd and its kin on flat parameters, optim.ConfusionMatrix; PyTorch's optimizers are tf.optim's.
local tf, T = ...
local nn, optim = T.namespace "tf.torch.nn", T.namespace "tf.torch.optim"

local function plain(x) return tf.eager(function() return x() end) end
-- optim.NAME(feval, params, state): feval(params) gives the loss and the gradients (both flat, of net:getParameters()). Gives params and {loss}.
local function method(name, rule)
  optim[name] = T.guard("optim." .. name, function(feval, params, state)
    state = state or {}
    if type(feval) ~= "function" then T.fail("optim." .. name, "'feval' must be a function of the parameters that gives loss and gradients, not %s", T.shown(feval)) end
    if type(params) ~= "table" or not params.set then T.fail("optim." .. name, "'params' must be what net:getParameters() gave, not %s", T.shown(params)) end
    local loss, grads = feval(params)
    if grads == nil then T.fail("optim." .. name, "'feval' must give the loss and the gradients, it gave %s", T.shown(loss)) end
    local g = grads.get and grads:get() or grads
    plain(function()
      local x = params:get()
      local decay = state.weightDecay or 0
      if decay ~= 0 then g = g + x * decay end
      params:set(rule(x, g, state))
      return x
    end)
    return params, {loss}
  end)
end
-- The rate falls as lr / (1 + n decay); momentum's dampening is the momentum itself unless it is said.
method("sgd", function(x, g, s)
  local n = s.evalCounter or 0
  local lr = (s.learningRate or 1e-3) / (1 + n * (s.learningRateDecay or 0))
  local momentum = s.momentum or 0
  if momentum ~= 0 then
    local dampening = s.dampening or momentum
    if s.nesterov and (momentum <= 0 or dampening ~= 0) then T.fail("optim.sgd", "nesterov needs a momentum and dampening = 0") end
    s.dfdx = s.dfdx and s.dfdx * momentum + g * (1 - dampening) or g
    g = s.nesterov and g + s.dfdx * momentum or s.dfdx
  end
  s.evalCounter = n + 1
  return x - g * lr
end)
method("adam", function(x, g, s)
  local b1, b2, eps = s.beta1 or 0.9, s.beta2 or 0.999, s.epsilon or 1e-8
  local n = s.t or 0
  local lr = (s.learningRate or 1e-3) / (1 + n * (s.learningRateDecay or 0))
  s.t = n + 1
  s.m = (s.m and s.m * b1 or 0) + g * (1 - b1)
  s.v = (s.v and s.v * b2 or 0) + g * g * (1 - b2)
  local rate = lr * math.sqrt(1 - b2 ^ s.t) / (1 - b1 ^ s.t)
  return x - s.m * rate / (tf.sqrt(s.v) + eps)
end)
method("rmsprop", function(x, g, s)
  local alpha, eps = s.alpha or 0.99, s.epsilon or 1e-8
  s.m = (s.m and s.m * alpha or 0) + g * g * (1 - alpha)
  return x - g * (s.learningRate or 1e-2) / (tf.sqrt(s.m) + eps)
end)
method("adagrad", function(x, g, s)
  local n = s.evalCounter or 0
  local lr = (s.learningRate or 1e-3) / (1 + n * (s.learningRateDecay or 0))
  s.evalCounter = n + 1
  s.sum = s.sum and s.sum + g * g or g * g
  return x - g * lr / (tf.sqrt(s.sum) + 1e-10)
end)
-- PyTorch's classes: optim.SGD(net:parameters(), {lr = 0.1}) ...
local meta = getmetatable(optim)
local missing = meta.__index
meta.__index = function(t, key)
  local ok, value = pcall(function() return tf.optim[key] end)
  if ok and value ~= nil then return value end
  return missing(t, key)
end

-- Counts of (truth, prediction); classes count from 1.
local Confusion = {}
Confusion.__index = Confusion
function optim.ConfusionMatrix(classes)
  local n = type(classes) == "number" and classes or #classes
  local self = setmetatable({n = n, names = type(classes) == "table" and classes or nil}, Confusion)
  self:zero()
  return self
end
function Confusion:zero()
  self.mat = {}
  for i = 1, self.n do
    self.mat[i] = {}
    for k = 1, self.n do self.mat[i][k] = 0 end
  end
end
-- A row of scores (or a class) and the class.
function Confusion:add(prediction, target)
  if T.kind(prediction) then prediction = prediction:size() == 1 and prediction:item() or tf.argmax(tf.reshape(prediction, {-1}), 0):item() + 1 end
  if T.kind(target) then target = target:item() end
  prediction, target = math.tointeger(prediction), math.tointeger(target)
  if not self.mat[target] or not self.mat[target][prediction] then T.fail("ConfusionMatrix:add", "classes %s and %s; there are 1 to %d", target, prediction, self.n) end
  self.mat[target][prediction] = self.mat[target][prediction] + 1
end
function Confusion:batchAdd(predictions, targets)
  local p = #predictions.shape == 2 and tf.argmax(predictions, 1):table() or nil
  local list = p or predictions:reshape {-1}:table()
  for i, t in ipairs(targets:reshape {-1}:table()) do self:add(p and list[i] + 1 or list[i], t) end
end
function Confusion:updateValids()
  local right, all = 0, 0
  self.valids, self.averageValid = {}, 0
  for i = 1, self.n do
    local row = 0
    for k = 1, self.n do row = row + self.mat[i][k] end
    right, all = right + self.mat[i][i], all + row
    self.valids[i] = row > 0 and self.mat[i][i] / row or 0
    self.averageValid = self.averageValid + self.valids[i] / self.n
  end
  self.totalValid = all > 0 and right / all or 0
end
function Confusion:__tostring()
  self:updateValids()
  local lines = {"ConfusionMatrix:"}
  for i = 1, self.n do
    local cells = {}
    for k = 1, self.n do cells[k] = ("%6d"):format(self.mat[i][k]) end
    lines[#lines + 1] = ("[%s]  %.3f%%  %s"):format(table.concat(cells, ""), self.valids[i] * 100, self.names and self.names[i] or "")
  end
  lines[#lines + 1] = (" + average row correct: %.6f%%\n + global correct: %.6f%%"):format(self.averageValid * 100, self.totalValid * 100)
  return table.concat(lines, "\n")
end

-- StochasticGradient(module, criterion): train(dataset), where dataset[i] = {input, target} and dataset:size() (or #dataset) tells how many.
local Trainer = {}
Trainer.__index = Trainer
function nn.StochasticGradient(module, criterion)
  if not nn.is_module(module) then T.fail("nn.StochasticGradient", "expects a module and a criterion, not %s", T.shown(module)) end
  if not nn.is_module(criterion) then T.fail("nn.StochasticGradient", "expects a criterion as second argument, not %s", T.shown(criterion)) end
  return setmetatable({module = module, criterion = criterion, learningRate = 0.01, learningRateDecay = 0, maxIteration = 25, shuffleIndices = true, verbose = true}, Trainer)
end
function Trainer:train(dataset)
  local n = type(dataset.size) == "function" and dataset:size() or #dataset
  if n == 0 then T.fail("nn.StochasticGradient", "the dataset is empty") end
  local order, rate = {}, self.learningRate
  for i = 1, n do order[i] = i end
  for iteration = 1, self.maxIteration do
    if self.shuffleIndices then
      for i = n, 2, -1 do
        local k = math.random(i)
        order[i], order[k] = order[k], order[i]
      end
    end
    local sum = 0
    for _, at in ipairs(order) do
      local example = dataset[at]
      local output = self.module:forward(example[1])
      sum = sum + self.criterion:forward(output, example[2])
      self.module:zeroGradParameters()
      self.module:backward(example[1], self.criterion:backward(output, example[2]))
      self.module:updateParameters(rate)
      if self.hookExample then self.hookExample(self, example) end
    end
    self.error = sum / n
    if self.error ~= self.error then T.fail("nn.StochasticGradient", "the error of iteration %d is not a number", iteration) end
    if self.hookIteration then self.hookIteration(self, iteration, self.error) end
    if self.verbose then io.stderr:write(("# current error = %.6g\n"):format(self.error)) end
    rate = self.learningRate / (1 + iteration * self.learningRateDecay)
  end
  return self.error
end

-- utils: clip_grad_norm_(gradients, max) scales a list of gradients together; gives the scaled list and the norm.
local utils = T.namespace "tf.torch.nn.utils"
rawset(nn, "utils", utils)
function utils.clip_grad_norm(gradients, max_norm) return tf.clip_by_global_norm(gradients, max_norm) end
function utils.clip_grad_value(gradients, value)
  local out = {}
  for i, g in ipairs(gradients) do out[i] = g and tf.clip_by_value(g, -value, value) end
  return out
end
T.guard_all("nn.StochasticGradient:", Trainer)
T.guard_all("optim.ConfusionMatrix:", Confusion)
return optim
