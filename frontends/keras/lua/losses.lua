-- tf.keras.losses: functions (y_true, y_pred) -> one loss per sample, and classes that weigh and reduce them.
--
--     local loss = tf.keras.losses.Huber{delta = 2}
--     local value = loss(y_true, y_pred, sample_weight)
--
-- `sum_over_batch_size` divides by the number of loss values, weights or not; `mean_with_sample_weight` by the sum of the
-- weights. Probabilities are kept within [1e-7, 1 - 1e-7]; where predictions come straight from a softmax or sigmoid of the
-- graph, the loss is computed from its input, which is the same number and does not run out of digits.
local tf, T = ...
local raw, def = tf.raw, T.def
local registry = T.include("keras", "registry")

local EPSILON = 1e-7
local Loss = {}
local kind = registry("losses", "loss", Loss)
local public = T.namespace "tf.keras.losses"
public.Loss = Loss

-- ------------------------------------------------------------------------------------- shapes and reductions

-- Predictions as a value; labels as a value of their type (class numbers stay whole).
local function both(y_true, y_pred, sparse)
  if not T.kind(y_pred) then y_pred = tf.tensor(y_pred, "float32") end
  y_pred = T.value(y_pred)
  if y_pred.dtype ~= "float32" and y_pred.dtype ~= "float64" then y_pred = raw.Cast(y_pred, {DstT = "float32"}) end -- 16 bits are too few to add up in
  if not T.kind(y_true) then y_true = tf.tensor(y_true, sparse and "int64" or y_pred.dtype) end
  y_true = T.value(y_true)
  if not sparse and y_true.dtype ~= y_pred.dtype then y_true = raw.Cast(y_true, {DstT = y_pred.dtype}) end
  return y_true, y_pred
end
-- Values of ranks n and n - 1 (a column beside a vector) come to the same rank.
local function same_rank(a, b)
  local ra, rb = a:rank(), b:rank()
  if ra and rb and ra ~= rb then
    if ra == rb + 1 then
      if a.shape[ra] == 1 then a = raw.Squeeze(a, {squeeze_dims = {-1}})
      elseif rb > 0 then b = raw.ExpandDims(b, -1) end
    elseif rb == ra + 1 then
      if b.shape[rb] == 1 then b = raw.Squeeze(b, {squeeze_dims = {-1}})
      elseif ra > 0 then a = raw.ExpandDims(a, -1) end
    end
  end
  return a, b
end
local function shape_text(x)
  local out = {}
  for i, d in ipairs(x.shape or {}) do out[i] = d < 0 and "?" or tostring(d) end
  return "(" .. table.concat(out, ", ") .. ")"
end
-- Shapes that cannot be combined are said here, in words of labels and predictions.
local function check_shapes(who, y_true, y_pred)
  local a, b = y_true.shape, y_pred.shape
  if not a or not b then return end
  local offset = #b - #a
  for i = 1, #b do
    local x, y = a[i - offset], b[i]
    if x and x >= 0 and y >= 0 and x ~= y and x ~= 1 and y ~= 1 then
      T.fail(who, "the targets have shape %s, the predictions %s", shape_text(y_true), shape_text(y_pred))
    end
  end
end
local function mean_last(x)
  local rank = x:rank()
  if rank == 0 then return x end
  return raw.Mean(x, {-1}, {})
end
local function sum_last(x, axis) return raw.Sum(x, {axis or -1}, {}) end

local reductions = {none = true, sum = true, sum_over_batch_size = true, mean = true, mean_with_sample_weight = true}
local function count(x) return raw.Cast(raw.Size(x), {DstT = x.dtype}) end

-- Multiplies by the weights (a mask counts as weights) and reduces.
local function reduce(values, weights, mask, reduction)
  if weights ~= nil and weights ~= false then
    weights = T.value(weights, not T.kind(weights) and values.dtype or nil)
    if weights.dtype ~= values.dtype then weights = raw.Cast(weights, {DstT = values.dtype}) end
  else
    weights = nil
  end
  if mask then
    mask = raw.Cast(mask, {DstT = values.dtype})
    if reduction == "sum_over_batch_size" or reduction == "mean" then -- those that are left count as many
      mask = mask * (count(mask) / (tf.reduce_sum(mask) + EPSILON))
    end
    if weights then
      weights, mask = same_rank(weights, mask)
      weights = weights * mask
    else
      weights = mask
    end
  end
  if weights then
    values, weights = same_rank(values, weights)
    local rv, rw = values:rank(), weights:rank()
    if rv and rw and rw > 0 and rv > rw then -- weights of samples beside losses of steps
      for _ = 1, rv - rw do weights = raw.ExpandDims(weights, -1) end
    end
    values = values * weights
  end
  if reduction == "none" or values:rank() == 0 then return values end
  local sum = tf.reduce_sum(values)
  if reduction == "sum" then return sum end
  if reduction == "mean_with_sample_weight" and weights then return raw.DivNoNan(sum, tf.reduce_sum(weights)) end
  local n = 1
  for _, d in ipairs(values.shape or {-1}) do n = d >= 0 and n >= 0 and n * d or -1 end
  if n > 0 then return sum / n end
  return raw.DivNoNan(sum, count(values)) -- an empty batch costs nothing
end
T.keras_reduce = reduce
T.keras_same_rank = same_rank

function Loss:init(path)
  if not reductions[self.reduction] then
    local names = {}
    for name in pairs(reductions) do names[#names + 1] = name end
    table.sort(names)
    T.fail(path, "'reduction' cannot be '%s'; there are %s", tostring(self.reduction), table.concat(names, ", "))
  end
end
-- loss(y_true, y_pred, sample_weight, mask)
function Loss:__call(y_true, y_pred, sample_weight, mask)
  local values, own = self:call(y_true, y_pred)
  values = T.value(values)
  if own then mask = mask and raw.LogicalAnd(tf.cast(mask, "bool"), own) or own end
  return reduce(values, sample_weight, mask, self.reduction)
end
-- A loss of the script: keras.losses.Loss:extend{name =, call = function(self, y_true, y_pred) ... end}
function Loss:extend(methods)
  methods = methods or {}
  methods.__index, methods.__call = methods, Loss.__call
  methods.__name = methods.name or methods.__name or "Loss"
  methods.names = {"reduction", "name"}
  methods.reduction = methods.reduction or "sum_over_batch_size"
  setmetatable(methods, {__index = self, __call = function(class, fields)
    local object = {}
    for k, v in pairs(fields or {}) do object[k] = v end
    return setmetatable(object, class)
  end})
  return methods
end

-- ------------------------------------------------------------------------------------- the functions

-- fn(y_true, y_pred, options...) as keras.losses.NAME with aliases, and as the class CLASS.
local function loss(class, class_name, names, options, fn, sparse)
  local name = names[1]
  local path = "tf.keras.losses." .. name
  local fields = {}
  for word in options:gmatch "%S+" do fields[#fields + 1] = word:match "^[^|?=]*" end
  local function compute(y_true, y_pred, ...)
    y_true, y_pred = both(y_true, y_pred, sparse)
    if not sparse then
      y_true, y_pred = same_rank(y_true, y_pred)
      check_shapes(path, y_true, y_pred)
    end
    return fn(y_true, y_pred, ...)
  end
  def(path, "y_true y_pred" .. (options ~= "" and " " .. options or ""), compute)
  kind.functions[name] = public[name]
  for i = 2, #names do rawset(public, names[i], public[name]) end
  kind:class(class, (options ~= "" and options .. " " or "") .. ("reduction=sum_over_batch_size name=%s dtype?"):format(class_name), {
    call = function(self, y_true, y_pred)
      local values = {}
      for i, field in ipairs(fields) do values[i] = self[field] end
      return compute(y_true, y_pred, table.unpack(values, 1, #fields))
    end})
  kind:alias(class, table.unpack(names))
end

loss("MeanSquaredError", "mean_squared_error", {"mean_squared_error", "mse", "MSE"}, "", function(y, p)
  return mean_last(raw.SquaredDifference(p, y))
end)
loss("MeanAbsoluteError", "mean_absolute_error", {"mean_absolute_error", "mae", "MAE"}, "", function(y, p)
  return mean_last(raw.Abs(p - y))
end)
loss("MeanAbsolutePercentageError", "mean_absolute_percentage_error", {"mean_absolute_percentage_error", "mape", "MAPE"}, "", function(y, p)
  return mean_last(raw.Abs((y - p) / raw.Maximum(raw.Abs(y), EPSILON))) * 100
end)
loss("MeanSquaredLogarithmicError", "mean_squared_logarithmic_error", {"mean_squared_logarithmic_error", "msle", "MSLE"}, "", function(y, p)
  local function log(x) return raw.Log(raw.Maximum(x, EPSILON) + 1) end
  return mean_last(raw.SquaredDifference(log(p), log(y)))
end)
local function unit(x, axis)
  local squares = raw.Sum(raw.Square(x), {axis}, {keep_dims = true})
  return x * raw.Minimum(raw.Rsqrt(squares), 1 / EPSILON)
end
loss("CosineSimilarity", "cosine_similarity", {"cosine_similarity", "cosine_proximity", "cosine"}, "axis=-1", function(y, p, axis)
  return -sum_last(unit(y, axis) * unit(p, axis), axis)
end)
loss("LogCosh", "log_cosh", {"log_cosh", "logcosh"}, "", function(y, p)
  local d = p - y
  return mean_last(d + raw.Softplus(d * -2) - math.log(2))
end)
loss("Huber", "huber_loss", {"huber", "huber_loss"}, "delta=1", function(y, p, delta)
  local size = raw.Abs(p - y)
  local near = raw.LessEqual(size, delta)
  return mean_last(raw.SelectV2(near, size * size * 0.5, size * delta - 0.5 * delta * delta))
end)
-- Labels of 0 and 1 become -1 and 1.
local function signs(y)
  local binary = tf.reduce_all(raw.LogicalOr(raw.Equal(y, 0), raw.Equal(y, 1)))
  return raw.SelectV2(binary, y * 2 - 1, y)
end
loss("Hinge", "hinge", {"hinge"}, "", function(y, p) return mean_last(raw.Maximum(-(signs(y) * p) + 1, 0)) end)
loss("SquaredHinge", "squared_hinge", {"squared_hinge"}, "", function(y, p)
  return mean_last(raw.Square(raw.Maximum(-(signs(y) * p) + 1, 0)))
end)
loss("CategoricalHinge", "categorical_hinge", {"categorical_hinge"}, "", function(y, p)
  local right = sum_last(y * p)
  local wrong = tf.reduce_max((-y + 1) * p, -1)
  return raw.Maximum(wrong - right + 1, 0)
end)
loss("KLDivergence", "kl_divergence", {"kl_divergence", "kullback_leibler_divergence", "kld", "KLD"}, "", function(y, p)
  y, p = raw.ClipByValue(y, EPSILON, 1), raw.ClipByValue(p, EPSILON, 1)
  return sum_last(y * raw.Log(y / p))
end)
loss("Poisson", "poisson", {"poisson"}, "", function(y, p) return mean_last(p - y * raw.Log(p + EPSILON)) end)

-- ------------------------------------------------------------------------------------- cross entropies

-- The input of the op of this type that made the node, if one did (a shape-keeping step between them is stepped over).
local function logits_of(p, op_type)
  if T.kind(p) ~= "Node" then return nil end
  local op = p.op
  while op and (op.type == "Identity" or op.type == "Cast" and op.inputs[1].dtype == p.dtype) do op = op.inputs[1].op end
  if op and op.type == op_type then return op.inputs[1] end
end
local function clipped(p) return raw.ClipByValue(p, EPSILON, 1 - EPSILON) end
local function smooth(y, smoothing, classes) return y * (1 - smoothing) + smoothing / classes end
local function last_axis(x, axis) return axis == -1 or axis == x:rank() - 1 end

local function from_probabilities(y, p, axis)
  p = clipped(p / raw.Sum(p, {axis}, {keep_dims = true}))
  return -sum_last(y * raw.Log(p), axis)
end
loss("CategoricalCrossentropy", "categorical_crossentropy", {"categorical_crossentropy"}, "from_logits=false label_smoothing=0 axis=-1",
  function(y, p, from_logits, smoothing, axis)
    if smoothing > 0 then
      local classes = p.shape[axis < 0 and p:rank() + axis + 1 or axis + 1]
      y = smooth(y, smoothing, classes)
    end
    local logits = from_logits and p or last_axis(p, axis) and logits_of(p, "Softmax")
    if not logits then return from_probabilities(y, p, axis) end
    if last_axis(p, axis) then return tf.nn.softmax_cross_entropy_with_logits_v2 {labels = y, logits = logits} end
    return -sum_last(y * tf.nn.log_softmax(logits, axis), axis)
  end)
loss("SparseCategoricalCrossentropy", "sparse_categorical_crossentropy", {"sparse_categorical_crossentropy"}, "from_logits=false ignore_class? axis=-1",
  function(y, p, from_logits, ignore, axis)
    local who = "tf.keras.losses.sparse_categorical_crossentropy"
    local ry, rp = y:rank(), p:rank()
    if ry and rp and ry == rp then
      if y.shape[ry] >= 0 and y.shape[ry] ~= 1 then
        T.fail(who, "the targets are class numbers, one for each row of predictions %s; their shape is %s (one-hot targets go with categorical_crossentropy)",
          shape_text(p), shape_text(y))
      end
      y = raw.Squeeze(y, {squeeze_dims = {-1}})
    elseif ry and rp and ry ~= rp - 1 then
      T.fail(who, "the targets have shape %s, the predictions %s: rank %d is needed, one class number for each row", shape_text(y), shape_text(p), rp - 1)
    end
    if y.dtype ~= "int32" and y.dtype ~= "int64" then y = raw.Cast(y, {DstT = "int64"}) end
    if not last_axis(p, axis) then T.fail_code(12, who, ("'axis' must be the last one, not %d"):format(axis)) end
    local valid
    if ignore then
      valid = raw.NotEqual(y, ignore)
      y = raw.SelectV2(valid, y, raw.ZerosLike(y))
    end
    local logits = from_logits and p or logits_of(p, "Softmax") or raw.Log(clipped(p))
    local values = tf.nn.sparse_softmax_cross_entropy_with_logits {labels = y, logits = logits}
    if valid then values = raw.SelectV2(valid, values, raw.ZerosLike(values)) end
    return values, valid
  end, true)

local function binary_each(y, p, from_logits)
  local logits = from_logits and p or logits_of(p, "Sigmoid")
  if logits then return tf.nn.sigmoid_cross_entropy_with_logits {labels = y, logits = logits} end
  p = clipped(p)
  return -(y * raw.Log(p)) - (-y + 1) * raw.Log(-p + 1)
end
loss("BinaryCrossentropy", "binary_crossentropy", {"binary_crossentropy", "bce", "BCE"}, "from_logits=false label_smoothing=0 axis=-1",
  function(y, p, from_logits, smoothing, axis)
    if smoothing > 0 then y = smooth(y, smoothing, 2) end
    local each = binary_each(y, p, from_logits)
    return each:rank() == 0 and each or raw.Mean(each, {axis}, {})
  end)
loss("BinaryFocalCrossentropy", "binary_focal_crossentropy", {"binary_focal_crossentropy"},
  "apply_class_balancing=false alpha=0.25 gamma=2 from_logits=false label_smoothing=0 axis=-1",
  function(y, p, balancing, alpha, gamma, from_logits, smoothing, axis)
    if smoothing > 0 then y = smooth(y, smoothing, 2) end
    if from_logits then p = raw.Sigmoid(p) end
    local each = binary_each(y, p, false)
    local right = y * p + (-y + 1) * (-p + 1)
    each = raw.Pow(-right + 1, gamma) * each
    if balancing then each = (y * alpha + (-y + 1) * (1 - alpha)) * each end
    return raw.Mean(each, {axis}, {})
  end)
loss("CategoricalFocalCrossentropy", "categorical_focal_crossentropy", {"categorical_focal_crossentropy"},
  "alpha=0.25 gamma=2 from_logits=false label_smoothing=0 axis=-1", function(y, p, alpha, gamma, from_logits, smoothing, axis)
    if smoothing > 0 then y = smooth(y, smoothing, p.shape[axis < 0 and p:rank() + axis + 1 or axis + 1]) end
    if from_logits then p = tf.nn.softmax(p, axis) end
    p = clipped(p / raw.Sum(p, {axis}, {keep_dims = true}))
    return sum_last(raw.Pow(-p + 1, gamma) * alpha * -(y * raw.Log(p)), axis)
  end)
loss("CategoricalGeneralizedCrossEntropy", "categorical_generalized_cross_entropy", {"categorical_generalized_cross_entropy"}, "q=0.5",
  function(y, p, q)
    local right
    if y:rank() == p:rank() and y.shape[y:rank()] == p.shape[p:rank()] then
      right = sum_last(y * p)
    else
      y = raw.Cast(y, {DstT = "int64"})
      if y:rank() == p:rank() then y = raw.Squeeze(y, {squeeze_dims = {-1}}) end
      right = sum_last(tf.one_hot(y, p.shape[p:rank()], {dtype = p.dtype}) * p)
    end
    return (-raw.Pow(right, q) + 1) / q
  end, true)

-- ------------------------------------------------------------------------------------- overlaps and embeddings

local function sums(x, axis)
  if axis == nil then return tf.reduce_sum(x) end
  return raw.Sum(x, type(axis) == "table" and axis or {axis}, {})
end
loss("Dice", "dice", {"dice"}, "axis?", function(y, p, axis)
  return -((sums(y * p, axis) * 2) / (sums(y, axis) + sums(p, axis) + EPSILON)) + 1
end)
loss("Tversky", "tversky", {"tversky"}, "alpha=0.5 beta=0.5 axis?", function(y, p, alpha, beta, axis)
  local both_ = sums(y * p, axis)
  local false_negative, false_positive = sums((-y + 1) * p, axis), sums(y * (-p + 1), axis)
  return -(both_ / (both_ + false_positive * alpha + false_negative * beta + EPSILON)) + 1
end)
-- Similarities within and between classes, each with its own pace (Sun et al., 2020). Predictions are unit vectors.
loss("Circle", "circle", {"circle"}, "gamma=80 margin=0.4 remove_diagonal=true", function(y, p, gamma, margin, remove_diagonal)
  if y:rank() > 1 then y = raw.Reshape(y, {-1}) end
  local distances = raw.Maximum(-raw.MatMul(p, p, {transpose_b = true}) + 1, 0)
  local same = raw.Equal(raw.ExpandDims(y, 1), raw.ExpandDims(y, 0))
  local other = raw.LogicalNot(same)
  if remove_diagonal then
    same = raw.LogicalAnd(same, raw.LogicalNot(raw.Cast(raw.MatrixBandPart(raw.OnesLike(distances), 0, 0), {DstT = "bool"})))
  end
  local zeros = raw.ZerosLike(distances)
  local near = raw.Maximum(raw.SelectV2(same, distances + margin, zeros), 0)
  local far = raw.Maximum(raw.SelectV2(other, -distances + (1 + margin), zeros), 0)
  local positive = near * (-distances + margin) * -gamma
  local negative = far * (-distances + (1 - margin)) * gamma
  local least = zeros - 1e30
  local values = raw.Softplus(tf.reduce_logsumexp(raw.SelectV2(same, positive, least), -1) + tf.reduce_logsumexp(raw.SelectV2(other, negative, least), -1))
  return values, raw.Greater(values, 0)
end, true)

-- Connectionist temporal classification: labels {batch, most} padded with 0, which is also the blank; logits {batch, steps, classes}.
loss("CTC", "ctc", {"ctc"}, "", function(y, p)
  if p:rank() ~= 3 or y:rank() ~= 2 then
    T.fail("tf.keras.losses.CTC", "the labels must have rank 2 (batch, labels) and the logits rank 3 (batch, steps, classes); their shapes are %s and %s", shape_text(y), shape_text(p))
  end
  y = raw.Cast(y, {DstT = "int32"})
  local lengths = raw.Sum(raw.Cast(raw.NotEqual(y, raw.ZerosLike(y)), {DstT = "int32"}), {-1}, {})
  local shape = raw.Shape(p)
  local steps = raw.Fill(raw.StridedSlice(shape, {0}, {1}, {1}), raw.GatherV2(shape, 1, 0))
  return tf.nn.ctc_loss_v2(y, p, lengths, steps, {logits_time_major = false, blank_index = 0})
end, true)

kind:alias("CosineSimilarity", "CosineProximity")

-- What compile and add_loss take: an object; a function becomes one with the usual reduction.
function kind:as_object(x, who)
  local found = self:get(x, who)
  if type(found) ~= "function" then return found end
  return setmetatable({reduction = "sum_over_batch_size", name = "loss", fn = found}, self.wrapper)
end
kind.wrapper = {call = function(self, y_true, y_pred) return self.fn(y_true, y_pred) end, __call = Loss.__call, names = {"reduction", "name"},
  __name = "LossFunctionWrapper"}
kind.wrapper.__index = kind.wrapper
setmetatable(kind.wrapper, Loss)
return kind
