-- nn's losses. Torch7's criterions: criterion:forward(output, target) gives a number, criterion:backward(output, target) the gradient of the output;
-- classes count from 1. PyTorch's losses: loss(output, target) gives a scalar tensor for the tape; classes count from 0.
local tf, T = ...
local raw = tf.raw
local nn = T.namespace "tf.torch.nn"

local function value_of(x) if T.kind(x) then return x end return tf.tensor(x) end
local function number_or_tensor(x) return type(x) == "table" and T.kind(x) == nil and type(x[1]) ~= "number" and x or value_of(x) end

-- fn(output, target, self) gives the values of the elements; they are averaged (sizeAverage), or added.
local function mean_or_sum(per, average, n)
  if average == "none" then return per end
  local sum = tf.reduce_sum(per)
  return average and sum / (n or per:size()) or sum
end
local Criterion = nn.new_class("Criterion", nn.Module, {
  setup = function(self, o) rawset(self, "sizeAverage", not (o and (o.sizeAverage == false or o.reduction == "sum"))) end})
function Criterion.forward(self, output, target)
  output = number_or_tensor(output)
  rawset(self, "output", tf.eager(function() return self:loss(output, number_or_tensor(target)) end):item())
  return self.output
end
function Criterion.backward(self, output, target)
  output = number_or_tensor(output)
  return tf.eager(function()
    local tape <close> = tf.GradientTape()
    local list = T.kind(output) and {output} or output
    for _, x in ipairs(list) do tape:watch(x) end
    local value = self:loss(output, number_or_tensor(target))
    tape:stop()
    local grads = tape:gradient(value, list)
    rawset(self, "gradInput", T.kind(output) and grads[1] or grads)
    return self.gradInput
  end)
end
Criterion.run = function(self, output, target) return self:forward(output, target) end

local function ids_of(self, target, n, first)
  local ids = tf.cast(target, "int64")
  if first ~= 0 then ids = ids - first end
  if ids:size() > 0 then
    local low, high = tf.reduce_min(ids):item(), tf.reduce_max(ids):item()
    if low < 0 or high >= n then
      T.fail("nn." .. getmetatable(self).__name, "class %d is out of range: there are %d to %d", (low < 0 and low or high) + first, first, n - 1 + first)
    end
  end
  return ids
end
local function rows(x) return #x.shape == 1 and raw.ExpandDims(x, 0) or x end
-- Minus the log probability of the class, weighted by the class's weight, of each example, and the sum of the weights. x: log probabilities, or (raw
-- scores) what gives them by log softmax.
local function nll(self, x, target, first, scores)
  local ignore = rawget(self, "ignore")
  x = rows(x)
  if #x.shape < 2 then T.fail("nn." .. getmetatable(self).__name, "expects {classes} or {batch, classes}, but the output's shape is {%s}", table.concat(x.shape, ", ")) end
  if #x.shape > 2 then -- {batch, classes, ...}: classes last
    local order = {0}
    for a = 2, #x.shape - 1 do order[#order + 1] = a end
    order[#order + 1] = 1
    x = tf.transpose(x, order)
    x = tf.reshape(x, {-1, x.shape[#x.shape]})
  end
  target = tf.reshape(target, {-1})
  local classes = x.shape[2]
  if target:size() ~= x.shape[1] then
    T.fail("nn." .. getmetatable(self).__name, "%d classes for %d rows of the output", target:size(), x.shape[1])
  end
  local keep
  if ignore then
    keep = raw.NotEqual(tf.cast(target, "int64"), tf.tensor(ignore, "int64"))
    target = raw.SelectV2(keep, tf.cast(target, "int64"), tf.zeros_like(tf.cast(target, "int64")) + first)
  end
  local ids = ids_of(self, target, classes, first)
  local w = self.weights and tf.gather(value_of(self.weights), ids) or tf.ones {ids.shape[1]}
  if keep then w = w * tf.cast(keep, "float32") end
  local per = scores and tf.nn.sparse_softmax_cross_entropy_with_logits {labels = ids, logits = x}
    or -tf.reduce_sum(x * tf.one_hot(ids, classes), {axis = 1})
  return per * w, tf.reduce_sum(w)
end

-- name in Torch7, its loss; name in PyTorch and its loss, if other.
local function criterion(name, loss, init)
  local class = nn.new_class(name, Criterion, {loss = loss, init = function(self, a, b)
    local o = type(a) == "table" and not T.kind(a) and a[1] == nil and a or b
    self:setup(o)
    if init then init(self, a, b) end
  end})
  nn.publish(name, class)
end
local function pytorch(name, loss, init)
  local class = nn.new_class(name, nn.Module, {
    init = function(self, o)
      o = T.options("nn." .. name, o, "reduction weight ignore_index margin size_average beta delta log_target")
      local reduction = o.reduction or "mean"
      if reduction ~= "mean" and reduction ~= "sum" and reduction ~= "none" then T.fail("nn." .. name, "'reduction' must be \"mean\", \"sum\" or \"none\", not '%s'", reduction) end
      rawset(self, "sizeAverage", reduction == "mean" or (reduction == "none" and "none"))
      if init then init(self, o) end
    end,
    updateOutput = function(self, output, target, ...) return loss(self, value_of(output), value_of(target), ...) end})
  nn.publish(name, class)
end
local function weights(self, a) if T.kind(a) or type(a) == "table" and a[1] ~= nil then rawset(self, "weights", a) end end
local function class_loss(first, scores)
  return function(self, x, target)
    local per, n = nll(self, x, target, first, scores)
    if self.sizeAverage == "none" then return per end
    local sum = tf.reduce_sum(per)
    return self.sizeAverage and sum / n or sum
  end
end
local function with_weight(self, o)
  rawset(self, "weights", o.weight)
  rawset(self, "ignore", o.ignore_index or -100)
end
criterion("ClassNLLCriterion", class_loss(1, false), weights)
criterion("CrossEntropyCriterion", class_loss(1, true), weights)
pytorch("NLLLoss", class_loss(0, false), with_weight)
pytorch("CrossEntropyLoss", class_loss(0, true), with_weight)

local function both(torch, py, fn, init)
  local function loss(self, x, t) return mean_or_sum(fn(x, t, self), self.sizeAverage) end
  criterion(torch, loss, init)
  if py then pytorch(py, loss, init) end
end
both("MSECriterion", "MSELoss", function(x, t) return raw.Square(x - t) end)
both("AbsCriterion", "L1Loss", function(x, t) return raw.Abs(x - t) end)
both("SmoothL1Criterion", "SmoothL1Loss", function(x, t)
  local d = raw.Abs(x - t)
  return raw.SelectV2(raw.Less(d, 1), raw.Square(d) * 0.5, d - 0.5)
end)
-- Logarithms are at least -100, as in PyTorch.
both("BCECriterion", "BCELoss", function(x, t)
  local function log(v) return raw.Maximum(raw.Log(v), -100) end
  return -(t * log(x) + (1 - t) * log(1 - x))
end)
pytorch("BCEWithLogitsLoss", function(self, x, t)
  local per = raw.Maximum(x, 0) - x * t + raw.Softplus(-raw.Abs(x))
  return mean_or_sum(per, self.sizeAverage)
end)
-- sum t (log t - x) over the rows; Torch7 divides by the number of elements.
both("DistKLDivCriterion", "KLDivLoss", function(x, t) return raw.SelectV2(raw.Greater(t, 0), t * (raw.Log(raw.Maximum(t, 1e-38)) - x), raw.ZerosLike(x)) end)
local function margin(self, a, b)
  local m = type(a) == "number" and a or type(a) == "table" and a.margin or type(b) == "number" and b
  rawset(self, "margin", m or 1)
end
criterion("MarginCriterion", function(self, x, t) return mean_or_sum(raw.Relu(self.margin - x * t), self.sizeAverage) end, margin)
both("SoftMarginCriterion", "SoftMarginLoss", function(x, t) return raw.Softplus(-x * t) end)
both("HingeEmbeddingCriterion", "HingeEmbeddingLoss", function(x, t, self)
  return raw.SelectV2(raw.Greater(t, 0), x, raw.Relu(self.margin - x))
end, margin)
local function multi_margin(first)
  return function(self, x, t)
    x = rows(x)
    local ids = ids_of(self, tf.reshape(t, {-1}), x.shape[2], first)
    local hot = tf.one_hot(ids, x.shape[2])
    local right = tf.reduce_sum(x * hot, {axis = 1, keepdims = true})
    local per = tf.reduce_sum(raw.Relu(self.margin - right + x) * (1 - hot), {axis = 1}) / x.shape[2]
    return mean_or_sum(per, self.sizeAverage)
  end
end
criterion("MultiMarginCriterion", multi_margin(1), margin)
pytorch("MultiMarginLoss", multi_margin(0), margin)
-- {x1, x2} and 1 (x1 shall be the larger) or -1.
criterion("MarginRankingCriterion", function(self, xs, t)
  return mean_or_sum(raw.Relu(-t * (xs[1] - xs[2]) + self.margin), self.sizeAverage)
end, function(self, a) rawset(self, "margin", type(a) == "number" and a or 0) end)
criterion("CosineEmbeddingCriterion", function(self, xs, t)
  local function norm(x) return raw.Sqrt(tf.reduce_sum(raw.Square(x), {axis = -1}) + 1e-12) end
  local cos = tf.reduce_sum(xs[1] * xs[2], {axis = -1}) / (norm(xs[1]) * norm(xs[2]))
  return mean_or_sum(raw.SelectV2(raw.Greater(t, 0), 1 - cos, raw.Relu(cos - self.margin)), self.sizeAverage)
end, function(self, a) rawset(self, "margin", type(a) == "number" and a or 0) end)
-- Sums of criterions: Multi on one output, Parallel on tables.
local function sums(name, each)
  local class = nn.new_class(name, Criterion, {
    init = function(self)
      self:setup()
      rawset(self, "list", {})
    end,
    add = function(self, c, weight)
      table.insert(self.list, {c, weight or 1})
      return self
    end,
    loss = function(self, x, t)
      local sum
      for i, entry in ipairs(self.list) do
        local value = each(entry[1], x, t, i) * entry[2]
        sum = sum and sum + value or value
      end
      return sum
    end})
  nn.publish(name, class)
end
sums("MultiCriterion", function(c, x, t) return c:loss(x, t) end)
sums("ParallelCriterion", function(c, x, t, i) return c:loss(x[i], t[i]) end)
return nn
