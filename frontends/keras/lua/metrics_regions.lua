-- tf.keras.metrics: overlaps of regions (IoU) from a confusion matrix, and R2.
local tf, T = ...
local raw = tf.raw
local kind = T.keras_registry("metrics", "metric")
local help = T.keras_metric_helpers
local float, divide = help.float, help.divide

-- The confusion matrix of one batch, [classes * classes].
local function confusion(self, y, p, weights)
  local n = self.num_classes
  y, p = raw.Reshape(raw.Cast(y, {DstT = "int64"}), {-1}), raw.Reshape(raw.Cast(p, {DstT = "int64"}), {-1})
  local w = raw.Cast(raw.OnesLike(y), {DstT = "float32"})
  -- the matrix counts: weights are cut to whole numbers, as Keras cuts them
  if weights ~= nil then w = raw.Cast(raw.Cast(raw.Reshape(float(weights), {-1}), {DstT = "int64"}), {DstT = "float32"}) end
  if self.ignore_class then
    local valid = raw.NotEqual(y, self.ignore_class)
    local zero = raw.ZerosLike(y)
    y, p = raw.SelectV2(valid, y, zero), raw.SelectV2(valid, p, zero)
    w = w * raw.Cast(valid, {DstT = "float32"})
  end
  return {raw.UnsortedSegmentSum(w, y * n + p, n * n)}
end
local function overlap(self, sums, targets)
  local m, n = sums[1]:table(), self.num_classes
  local sum, valid = 0.0, 0
  for _, class in ipairs(targets) do
    local row, column = 0.0, 0.0
    for i = 0, n - 1 do
      row, column = row + m[class * n + i + 1], column + m[i * n + class + 1]
    end
    local right = m[class * n + class + 1]
    local all = row + column - right
    if all > 0 then
      sum, valid = sum + right / all, valid + 1
    end
  end
  return divide(sum, valid)
end
local function all_classes(self)
  local out = {}
  for i = 1, self.num_classes do out[i] = i - 1 end
  return out
end
local function classes(x, sparse, axis)
  if sparse then return x end
  return raw.ArgMax(x, axis, {output_type = "int64"})
end
local function check(self, path)
  for _, id in ipairs(self.target_class_ids or {}) do
    if id < 0 or id >= self.num_classes then
      T.fail(path, "'target_class_ids' has %d; with num_classes %d the classes are 0 to %d", id, self.num_classes, self.num_classes - 1)
    end
  end
end
local function iou(name, signature, class)
  class.init = class.init or check
  class.stats = class.stats or function(self, y, p, weights)
    local y_sparse, p_sparse = self.sparse_y_true, self.sparse_y_pred
    if self.one_hot then y_sparse = false end
    return confusion(self, classes(T.value(y), y_sparse, self.axis), classes(T.value(p), p_sparse, self.axis), weights)
  end
  class.value = function(self, sums) return overlap(self, sums, self.target_class_ids or all_classes(self)) end
  kind:class(name, signature, class)
end
local tail = " dtype? ignore_class? sparse_y_true=true sparse_y_pred=true axis=-1"
iou("IoU", "num_classes target_class_ids name=io_u" .. tail, {})
iou("MeanIoU", "num_classes name=mean_io_u" .. tail, {})
iou("OneHotIoU", "num_classes target_class_ids name=one_hot_io_u dtype? ignore_class? sparse_y_pred=false axis=-1", {one_hot = true})
iou("OneHotMeanIoU", "num_classes name=one_hot_mean_io_u dtype? ignore_class? sparse_y_pred=false axis=-1", {one_hot = true})
iou("BinaryIoU", "target_class_ids? threshold=0.5 name=binary_io_u dtype?", {
  init = function(self, path)
    self.num_classes = 2
    self.target_class_ids = self.target_class_ids or {0, 1}
    check(self, path)
  end,
  stats = function(self, y, p, weights) return confusion(self, y, raw.GreaterEqual(p, self.threshold), weights) end})

-- 1 - residual / total sum of squares, for each output and put together.
kind:class("R2Score", "class_aggregation=uniform_average num_regressors=0 name=r2_score dtype?", {
  init = function(self, path)
    if self.class_aggregation == false then self.class_aggregation = nil end
    local known = {uniform_average = 1, variance_weighted_average = 1}
    if self.class_aggregation and not known[self.class_aggregation] then
      T.fail(path, "'class_aggregation' must be uniform_average, variance_weighted_average or false, not '%s'", tostring(self.class_aggregation))
    end
    if self.num_regressors < 0 then T.fail(path, "'num_regressors' must not be below 0, not %d", self.num_regressors) end
  end,
  stats = function(_, y, p, weights)
    y, p = float(y), float(p)
    local w = weights ~= nil and raw.Mul(raw.ExpandDims(float(weights), -1), raw.OnesLike(y)) or raw.OnesLike(y)
    local function total(x) return raw.Sum(x, {0}, {}) end
    local samples = raw.Cast(raw.Size(y), {DstT = "float32"})
    return {total(y * w), total(y * y * w), total(raw.SquaredDifference(y, p) * w), total(w), samples}
  end,
  value = function(self, sums)
    local sum, squares, residual, count = sums[1]:table(), sums[2]:table(), sums[3]:table(), sums[4]:table()
    local scores, weighted, variance = {}, 0.0, 0.0
    for i = 1, #sum do
      local total = squares[i] - sum[i] * divide(sum[i], count[i])
      local score = 1 - residual[i] / total
      if score == math.huge or score == -math.huge then score = 0.0 end
      scores[i] = score
      weighted, variance = weighted + total * score, variance + total
    end
    local r2
    if not self.class_aggregation then return tf.tensor(scores, "float32") end
    if self.class_aggregation == "uniform_average" then
      r2 = 0.0
      for _, s in ipairs(scores) do r2 = r2 + s / #scores end
    else
      r2 = weighted / variance
    end
    if self.num_regressors > 0 then
      local n, k = sums[5], self.num_regressors
      if n - k - 1 > 0 then r2 = 1 - (1 - r2) * (n - 1) / (n - k - 1) end
    end
    return r2
  end})
return true
