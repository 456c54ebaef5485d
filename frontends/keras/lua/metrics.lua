-- tf.keras.metrics: what is measured over many batches.
--
--     local m = tf.keras.metrics.AUC()
--     m:update_state(y_true, y_pred); print(m:result()); m:reset_state()
--
-- A metric is two functions: `stats(y_true, y_pred, sample_weight)` gives sums of one batch (values, so that they are part
-- of a training step's plan), `value(sums)` the measure from the sums of all batches, on the host. A metric of the script is
-- keras.metrics.Metric:extend{name =, stats =, value =}, or one with update_state, result and reset_state of its own.
local tf, T = ...
local raw, def = tf.raw, T.def
local registry = T.include("keras", "registry")
local losses = T.include("keras", "losses")
local same_rank = T.keras_same_rank

local Metric = {}
local kind = registry("metrics", "metric", Metric)
local public = T.namespace "tf.keras.metrics"
public.Metric = Metric

-- ------------------------------------------------------------------------------------- state

local function host(x)
  if T.kind(x) == "Variable" then x = x:value() end
  if T.kind(x) == "Tensor" and x:rank() == 0 then return x:item() end
  return x
end
-- Adds the sums of one batch, as numbers and tensors.
function Metric:add(sums)
  local state = self.state
  if not state then
    state = {}
    self.state = state
    for i, x in ipairs(sums) do state[i] = host(x) end
    return
  end
  for i, x in ipairs(sums) do state[i] = state[i] + host(x) end
end
function Metric:update_state(y_true, y_pred, sample_weight)
  local function tensor(x) return x ~= nil and not T.kind(x) and tf.tensor(x) or x end
  y_true, y_pred, sample_weight = tensor(y_true), tensor(y_pred), tensor(sample_weight)
  if T.kind(y_true) == "Node" or T.kind(y_pred) == "Node" then
    T.fail("update_state", "metric '%s' takes tensors here; in a graph use model:compile{metrics =} or tf.metrics", self.name)
  end
  self:add(tf.eager(function() return self:stats(y_true, y_pred, sample_weight) end))
end
function Metric:result()
  local state = self.state
  if not state and not self.empty then return 0.0 end
  return self:value(state or self:empty())
end
function Metric:reset_state() self.state = nil end
function Metric:reset_states() self:reset_state() end
function Metric:__call(y_true, y_pred, sample_weight)
  self:update_state(y_true, y_pred, sample_weight)
  return self:result()
end
-- A class of the script. Fields of the object are what the class is called with.
function Metric:extend(methods)
  methods = methods or {}
  methods.__index, methods.__call = methods, Metric.__call
  methods.__name = methods.name or "Metric"
  methods.names = {"name"}
  methods.name = methods.name or "metric"
  return setmetatable(methods, {__index = self, __call = function(class, fields)
    local object = {}
    for k, v in pairs(fields or {}) do object[k] = v end
    return setmetatable(object, class)
  end})
end

-- ------------------------------------------------------------------------------------- helpers

local function float(x) return tf.cast(T.value(x, not T.kind(x) and "float32" or nil), "float32") end
local function axes(first, last)
  local out = {}
  for i = first, last do out[#out + 1] = i end
  return out
end
local function divide(a, b) return b ~= 0 and a / b or 0.0 end
local function first_extent(x)
  if x:rank() == 0 then return T.value(1.0, "float32") end
  return raw.Cast(raw.StridedSlice(raw.Shape(x), {0}, {1}, {1}, {shrink_axis_mask = 1}), {DstT = "float32"})
end

-- One value per sample and the weights beside it: sample_weight is one for each sample or step, as Keras fits them.
local function per_sample(values, weights, reduce_op)
  values = float(values)
  local function over(x, list)
    if #list == 0 then return x end
    return raw[reduce_op](x, list, {})
  end
  if weights ~= nil then
    weights = float(weights)
    values, weights = same_rank(values, weights)
    local rv, rw = values:rank(), weights:rank()
    if rv > rw then values = over(values, axes(rw, rv - 1)) end
    weights = raw.Mul(weights, raw.OnesLike(values))
    values = values * weights
    if weights:rank() > 1 then weights = over(weights, axes(1, weights:rank() - 1)) end
  end
  if values:rank() > 1 then values = over(values, axes(1, values:rank() - 1)) end
  return values, weights
end
local function mean_stats(values, weights)
  local n
  values, weights = per_sample(values, weights, "Mean")
  n = weights ~= nil and tf.reduce_sum(weights) or first_extent(values)
  return {tf.reduce_sum(values), n}
end
local function mean_value(_, sums) return divide(sums[1], sums[2]) end

-- ------------------------------------------------------------------------------------- means of a function

kind:class("Mean", "name=mean dtype?", {
  stats = function(_, values, weights) return mean_stats(values, weights) end, value = mean_value,
  update_state = function(self, values, weights) return Metric.update_state(self, values, weights) end})
kind:class("Sum", "name=sum dtype?", {
  stats = function(_, values, weights) return {tf.reduce_sum((per_sample(values, weights, "Sum")))} end,
  value = function(_, sums) return sums[1] end})
-- The mean of each element over tensors of one shape.
kind:class("MeanTensor", "name=mean_tensor dtype?", {
  stats = function(self, values, weights)
    values = float(values)
    local known = self.state and self.state[1].shape
    if known and table.concat(known, "x") ~= table.concat(values.shape, "x") then
      T.fail("MeanTensor", "the values had the shape {%s} before; these have {%s}", table.concat(known, ", "), table.concat(values.shape, ", "))
    end
    if values:rank() == 0 then values = raw.Reshape(values, {1}) end
    local counts = raw.OnesLike(values)
    if weights ~= nil then
      weights = float(weights)
      for _ = weights:rank() + 1, values:rank() do weights = raw.ExpandDims(weights, -1) end
      values, counts = values * weights, counts * weights
    end
    return {values, counts}
  end,
  value = function(_, sums) return tf.eager(function() return raw.DivNoNan(sums[1], sums[2]) end) end})

-- A metric out of any function (y_true, y_pred) -> values.
kind:class("MeanMetricWrapper", "fn name? dtype?", {
  init = function(self) self.name = self.name or "metric" end,
  stats = function(self, y_true, y_pred, weights)
    local values, valid = self.fn(y_true, y_pred)
    if valid then
      local mask = raw.Cast(valid, {DstT = "float32"})
      weights = weights == nil and mask or raw.Mul(float(weights), mask)
    end
    return mean_stats(values, weights)
  end,
  value = mean_value})

-- Class NAME with the function `fn`, and keras.metrics.SNAKE as that function.
local function mean_of(class, name, options, fn, value)
  local fields = {}
  for word in options:gmatch "%S+" do fields[#fields + 1] = word:match "^[^|?=]*" end
  kind:class(class, (options ~= "" and options .. " " or "") .. ("name=%s dtype?"):format(name), {
    stats = function(self, y_true, y_pred, weights)
      local values = {}
      for i, field in ipairs(fields) do values[i] = self[field] end
      local out, valid = fn(y_true, y_pred, table.unpack(values, 1, #fields))
      if valid then
        local mask = raw.Cast(valid, {DstT = "float32"})
        weights = weights == nil and mask or raw.Mul(float(weights), mask)
      end
      return mean_stats(out, weights)
    end,
    value = value or mean_value})
end
local function by_loss(class, name, options, loss_name, value)
  mean_of(class, name, options, T.namespace "tf.keras.losses"[loss_name], value)
  kind.functions[loss_name] = T.namespace "tf.keras.losses"[loss_name]
end
by_loss("MeanSquaredError", "mean_squared_error", "", "mean_squared_error")
by_loss("MeanAbsoluteError", "mean_absolute_error", "", "mean_absolute_error")
by_loss("MeanAbsolutePercentageError", "mean_absolute_percentage_error", "", "mean_absolute_percentage_error")
by_loss("MeanSquaredLogarithmicError", "mean_squared_logarithmic_error", "", "mean_squared_logarithmic_error")
by_loss("LogCoshError", "logcosh", "", "log_cosh")
by_loss("Hinge", "hinge", "", "hinge")
by_loss("SquaredHinge", "squared_hinge", "", "squared_hinge")
by_loss("CategoricalHinge", "categorical_hinge", "", "categorical_hinge")
by_loss("KLDivergence", "kl_divergence", "", "kl_divergence")
by_loss("Poisson", "poisson", "", "poisson")
by_loss("BinaryCrossentropy", "binary_crossentropy", "from_logits=false label_smoothing=0", "binary_crossentropy")
by_loss("CategoricalCrossentropy", "categorical_crossentropy", "from_logits=false label_smoothing=0 axis=-1", "categorical_crossentropy")
by_loss("SparseCategoricalCrossentropy", "sparse_categorical_crossentropy", "from_logits=false ignore_class? axis=-1", "sparse_categorical_crossentropy")
-- The error is squared here, not its mean over a sample.
mean_of("RootMeanSquaredError", "root_mean_squared_error", "", function(y, p)
  y, p = same_rank(float(y), float(p))
  return raw.SquaredDifference(p, y)
end, function(_, sums) return math.sqrt(divide(sums[1], sums[2])) end)
-- Errors as parts of `normalizer`; where that is 0, none.
kind:class("MeanRelativeError", "normalizer name=mean_relative_error dtype?", {
  stats = function(self, y, p, weights)
    y, p = same_rank(float(y), float(p))
    local parts = raw.Add(float(self.normalizer), raw.ZerosLike(y))
    return mean_stats(raw.DivNoNan(raw.Abs(p - y), parts), weights)
  end,
  value = mean_value})
mean_of("CosineSimilarity", "cosine_similarity", "axis=-1", function(y, p, axis)
  return -T.namespace "tf.keras.losses".cosine_similarity(y, p, axis)
end)
local function centred(x, axis) return x - raw.Mean(x, {axis}, {keep_dims = true}) end
mean_of("PearsonCorrelation", "pearson_correlation", "axis=-1", function(y, p, axis)
  y, p = centred(float(y), axis), centred(float(p), axis)
  local function mean(x) return raw.Mean(x, {axis}, {}) end
  return mean(y * p) / (raw.Sqrt(mean(y * y)) * raw.Sqrt(mean(p * p)))
end)
mean_of("ConcordanceCorrelation", "concordance_correlation", "axis=-1", function(y, p, axis)
  y, p = float(y), float(p)
  local function mean(x) return raw.Mean(x, {axis}, {}) end
  local apart = raw.Square(mean(y) - mean(p))
  local yc, pc = centred(y, axis), centred(p, axis)
  return mean(yc * pc) * 2 / (mean(yc * yc) + mean(pc * pc) + apart + 1e-7)
end)

-- ------------------------------------------------------------------------------------- accuracies

local function value_of(x) return T.value(T.kind(x) and x or tf.tensor(x)) end
local function fn(name, signature, f)
  def("tf.keras.metrics." .. name, signature, function(y, p, ...) return f(value_of(y), value_of(p), ...) end)
  kind.functions[name] = public[name]
  return public[name]
end
local function equal(a, b)
  if a.dtype ~= b.dtype then a = raw.Cast(a, {DstT = b.dtype}) end
  return raw.Cast(raw.Equal(a, b), {DstT = "float32"})
end
local function class_of(x) return raw.ArgMax(x, -1, {output_type = "int64"}) end
local accuracy = fn("accuracy", "y_true y_pred", function(y, p)
  y, p = same_rank(y, p)
  return equal(y, p)
end)
local binary = fn("binary_accuracy", "y_true y_pred threshold=0.5", function(y, p, threshold)
  y, p = same_rank(y, p)
  return equal(y, raw.Cast(raw.Greater(p, threshold), {DstT = p.dtype}))
end)
local categorical = fn("categorical_accuracy", "y_true y_pred", function(y, p) return equal(class_of(y), class_of(p)) end)
-- Class numbers, one for each row of predictions.
local function classes(y, p)
  if y:rank() == p:rank() then y = raw.Squeeze(y, {squeeze_dims = {-1}}) end
  return y.dtype == "int64" and y or raw.Cast(y, {DstT = "int64"})
end
local sparse = fn("sparse_categorical_accuracy", "y_true y_pred", function(y, p) return equal(classes(y, p), class_of(p)) end)
local function in_top(y, p, k)
  local shape
  if p:rank() > 2 then
    shape = raw.Shape(y)
    p, y = raw.Reshape(p, {-1, p.shape[p:rank()]}), raw.Reshape(y, {-1})
  end
  local hits = raw.Cast(raw.InTopKV2(p, y, k), {DstT = "float32"})
  return shape and raw.Reshape(hits, shape) or hits
end
local top_sparse = fn("sparse_top_k_categorical_accuracy", "y_true y_pred k=5", function(y, p, k) return in_top(classes(y, p), p, k) end)
local top = fn("top_k_categorical_accuracy", "y_true y_pred k=5", function(y, p, k) return in_top(class_of(y), p, k) end)
mean_of("Accuracy", "accuracy", "", accuracy)
mean_of("BinaryAccuracy", "binary_accuracy", "threshold=0.5", binary)
mean_of("CategoricalAccuracy", "categorical_accuracy", "", categorical)
mean_of("SparseCategoricalAccuracy", "sparse_categorical_accuracy", "", sparse)
mean_of("TopKCategoricalAccuracy", "top_k_categorical_accuracy", "k=5", top)
mean_of("SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy", "k=5", top_sparse)

-- The losses' functions are metrics, too.
for _, name in ipairs {"mean_squared_error", "mse", "MSE", "mean_absolute_error", "mae", "MAE", "mean_absolute_percentage_error", "mape", "MAPE",
  "mean_squared_logarithmic_error", "msle", "MSLE", "hinge", "squared_hinge", "categorical_hinge", "log_cosh", "logcosh", "kl_divergence",
  "kullback_leibler_divergence", "kld", "KLD", "poisson", "binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy",
  "cosine_proximity", "cosine_similarity"} do
  rawset(public, name, T.namespace "tf.keras.losses"[name])
end
kind:alias("MeanSquaredError", "mse", "MSE")
kind:alias("MeanAbsoluteError", "mae", "MAE")
kind:alias("MeanAbsolutePercentageError", "mape", "MAPE")
kind:alias("MeanSquaredLogarithmicError", "msle", "MSLE")
kind:alias("RootMeanSquaredError", "rmse", "RMSE")
kind:alias("KLDivergence", "kld", "KLD", "kullback_leibler_divergence")
kind:alias("LogCoshError", "logcosh", "log_cosh")
kind:alias("BinaryCrossentropy", "bce", "BCE")
kind:alias("CosineSimilarity", "cosine_proximity", "cosine")
kind:alias("TopKCategoricalAccuracy", "top_k_categorical_accuracy")
kind:alias("SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy")

-- What compile takes for one metric: a name, an object, a function, or any of these as {class_name =}. `auto(name)` answers
-- for "accuracy" and "crossentropy", which depend on the loss.
function kind:as_object(x, auto, who)
  if self:is(x) then return x end
  if type(x) == "table" and x.update_state then return x end
  if type(x) == "string" then
    if x == "accuracy" or x == "acc" or x == "crossentropy" or x == "ce" then
      local class = auto(x == "ce" and "crossentropy" or x == "acc" and "accuracy" or x)
      return self.classes[class].new {name = x}
    end
    local class = self:find(x)
    if class == nil then self:unknown(who, x) end
    if type(class) == "function" then return self.classes.MeanMetricWrapper.new(class, x) end
    if class.new == nil then return class end
    local object = class.new()
    object.name = x
    return object
  end
  if type(x) == "function" then
    local name
    for known, f in pairs(self.functions) do if f == x then name = known end end
    return self.classes.MeanMetricWrapper.new(x, name or "metric")
  end
  if losses:is(x) then
    return self.classes.MeanMetricWrapper.new(function(y, p) return x:call(y, p) end, x.name)
  end
  return self:get(x, who)
end
T.keras_metric_helpers = {float = float, same_rank = same_rank, divide = divide, class_of = class_of, classes = classes}
T.include("keras", "metrics_confusion")
T.include("keras", "metrics_regions")
return kind
