-- tf.keras.metrics: counts of right and wrong at thresholds, and what is made of them: precision, recall, AUC, F scores.
local tf, T = ...
local raw = tf.raw
local kind = T.keras_registry("metrics", "metric")
local help = T.keras_metric_helpers
local float, divide = help.float, help.divide

local LEAST = -1e10 -- a threshold below all predictions: what is left of the top k counts
local function list_of(x)
  if type(x) == "table" then return x end
  return {x}
end
local function check_thresholds(self, path, thresholds)
  for _, t in ipairs(thresholds) do
    if type(t) ~= "number" or t < 0 or t > 1 then T.fail(path, "'thresholds' must lie within 0 and 1, not %s", tostring(t)) end
  end
end
-- True and false positives and negatives of one batch at each threshold: four rows [thresholds], or [thresholds, labels].
local function counts(self, y, p, weights, thresholds, per_label)
  y, p = help.same_rank(float(y), float(p))
  if self.from_logits then p = raw.Sigmoid(p) end
  if self.top_k then
    local kept = raw.TopKV2(p, self.top_k)
    local least = raw.Min(kept, {-1}, {keep_dims = true})
    p = raw.SelectV2(raw.GreaterEqual(p, least), p, raw.ZerosLike(p) + LEAST)
  end
  if self.class_id then
    local function column(x) return tf.gather(x, self.class_id, {axis = -1}) end
    y, p = column(y), column(p)
  end
  local w = raw.OnesLike(p)
  if weights ~= nil then
    weights = float(weights)
    while weights:rank() < p:rank() do weights = raw.ExpandDims(weights, -1) end
    w = raw.Mul(w, weights)
  end
  y = raw.Cast(raw.Cast(y, {DstT = "bool"}), {DstT = "float32"})
  local n = #thresholds
  local limit = raw.Reshape(tf.constant(thresholds, "float32"), per_label and {n, 1, 1} or {n, 1})
  local labels = per_label and p.shape[p:rank()]
  local function flat(x) return per_label and raw.Reshape(x, {1, -1, labels}) or raw.Reshape(x, {1, -1}) end
  y, p, w = flat(y), flat(p), flat(w)
  local hit = raw.Cast(raw.Greater(p, limit), {DstT = "float32"})
  local function total(x) return raw.Sum(x, {1}, {}) end
  local right, wrong = y * w, (-y + 1) * w
  local true_positive, false_positive = total(hit * right), total(hit * wrong)
  return true_positive, false_positive, total(wrong) - false_positive, total(right) - true_positive
end
-- Numbers of a row; a scalar was handed over as a number.
local function row(x)
  if type(x) == "number" then return {x} end
  return x:table()
end
local function shown(list, thresholds)
  if type(thresholds) == "table" and #thresholds > 1 then return tf.tensor(list, "float32") end
  return list[1]
end
local function thresholds_of(self)
  if self.thresholds == nil then return {self.top_k and LEAST or 0.5} end
  return list_of(self.thresholds)
end
local function zeros(n)
  local out = {}
  for i = 1, n do out[i] = 0.0 end
  return tf.tensor(out, "float32")
end
local function empty(parts) return function(self)
  local out, n = {}, #thresholds_of(self)
  for i = 1, parts do out[i] = zeros(n) end
  return out
end end

for i, name in ipairs {"TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives"} do
  local word = ({"true_positives", "false_positives", "true_negatives", "false_negatives"})[i]
  kind:class(name, "thresholds? name=" .. word .. " dtype?", {
    init = function(self, path) check_thresholds(self, path, list_of(self.thresholds or 0.5)) end,
    stats = function(self, y, p, weights) return {(select(i, counts(self, y, p, weights, thresholds_of(self))))} end,
    empty = empty(1),
    value = function(self, sums) return shown(row(sums[1]), self.thresholds) end})
end
local function rate(name, word, second)
  kind:class(name, "thresholds? top_k? class_id? name=" .. word .. " dtype?", {
    init = function(self, path) check_thresholds(self, path, list_of(self.thresholds or 0.5)) end,
    stats = function(self, y, p, weights)
      local tp, fp, _, fn = counts(self, y, p, weights, thresholds_of(self))
      return {tp, second == "fp" and fp or fn}
    end,
    empty = empty(2),
    value = function(self, sums)
      local a, b, out = row(sums[1]), row(sums[2]), {}
      for i = 1, #a do out[i] = divide(a[i], a[i] + b[i]) end
      return shown(out, self.thresholds)
    end})
end
rate("Precision", "precision", "fp")
rate("Recall", "recall", "fn")

-- ------------------------------------------------------------------------------------- one rate at a bound of the other

-- Thresholds in equal steps; `beyond` puts the first and last outside of what predictions can be.
local function steps(n, beyond)
  local out = {0.0 - beyond}
  for i = 1, n - 2 do out[#out + 1] = i / (n - 1) end
  out[#out + 1] = 1.0 + beyond
  return out
end
local function at_bound(name, bound, word, rates)
  kind:class(name, bound .. " num_thresholds=200 class_id? name=" .. word .. " dtype?", {
    init = function(self, path)
      local x = self[bound]
      if x < 0 or x > 1 then T.fail(path, "'%s' must lie within 0 and 1, not %g", bound, x) end
      if self.num_thresholds <= 0 then T.fail(path, "'num_thresholds' must be above 0, not %d", self.num_thresholds) end
    end,
    limits = function(self) return self.num_thresholds == 1 and {0.5} or steps(self.num_thresholds, 0) end,
    stats = function(self, y, p, weights) return {counts(self, y, p, weights, self:limits())} end,
    value = function(self, sums)
      local tp, fp, tn, fn = row(sums[1]), row(sums[2]), row(sums[3]), row(sums[4])
      local best = 0.0
      for i = 1, #tp do
        local constrained, wanted = rates(tp[i], fp[i], tn[i], fn[i])
        if constrained >= self[bound] then best = math.max(best, wanted) end
      end
      return best
    end})
end
at_bound("SensitivityAtSpecificity", "specificity", "sensitivity_at_specificity", function(tp, fp, tn, fn) return divide(tn, tn + fp), divide(tp, tp + fn) end)
at_bound("SpecificityAtSensitivity", "sensitivity", "specificity_at_sensitivity", function(tp, fp, tn, fn) return divide(tp, tp + fn), divide(tn, tn + fp) end)
at_bound("PrecisionAtRecall", "recall", "precision_at_recall", function(tp, fp, _, fn) return divide(tp, tp + fn), divide(tp, tp + fp) end)
at_bound("RecallAtPrecision", "precision", "recall_at_precision", function(tp, fp, _, fn) return divide(tp, tp + fp), divide(tp, tp + fn) end)

-- ------------------------------------------------------------------------------------- areas under curves

-- Between two thresholds precision is interpolated as Davis and Goadrich (2006) do.
local function precision_recall_area(tp, fp, fn)
  local area = 0.0
  for i = 1, #tp - 1 do
    local p, q = tp[i] + fp[i], tp[i + 1] + fp[i + 1]
    local step = tp[i] - tp[i + 1]
    local slope = divide(step, math.max(p - q, 0))
    local intercept = tp[i + 1] - slope * q
    local ratio = p > 0 and q > 0 and p / q or 1
    area = area + divide(slope * (step + intercept * math.log(ratio)), math.max(tp[i + 1] + fn[i + 1], 0))
  end
  return area
end
local function area(self, tp, fp, tn, fn)
  if self.curve == "PR" and self.summation_method == "interpolation" then return precision_recall_area(tp, fp, fn) end
  local function point(i)
    local recall = divide(tp[i], tp[i] + fn[i])
    if self.curve == "ROC" then return divide(fp[i], fp[i] + tn[i]), recall end
    return recall, divide(tp[i], tp[i] + fp[i])
  end
  local sum = 0.0
  local x, y = point(1)
  for i = 2, #tp do
    local x2, y2 = point(i)
    local height = self.summation_method == "minoring" and math.min(y, y2) or self.summation_method == "majoring" and math.max(y, y2) or (y + y2) / 2
    sum = sum + (x - x2) * height
    x, y = x2, y2
  end
  return sum
end
kind:class("AUC", "num_thresholds=200 curve=ROC summation_method=interpolation name=auc dtype? thresholds? multi_label=false num_labels? label_weights? from_logits=false", {
  init = function(self, path)
    if self.curve ~= "ROC" and self.curve ~= "PR" then T.fail(path, "'curve' must be \"ROC\" or \"PR\", not '%s'", tostring(self.curve)) end
    if not ({interpolation = 1, minoring = 1, majoring = 1})[self.summation_method] then
      T.fail(path, "'summation_method' must be interpolation, minoring or majoring, not '%s'", tostring(self.summation_method))
    end
    if self.thresholds then
      check_thresholds(self, path, self.thresholds)
      table.sort(self.thresholds)
      self.limits = {0.0 - 1e-7}
      for _, t in ipairs(self.thresholds) do self.limits[#self.limits + 1] = t end
      self.limits[#self.limits + 1] = 1.0 + 1e-7
      self.num_thresholds = #self.limits
    else
      if self.num_thresholds <= 1 then T.fail(path, "'num_thresholds' must be above 1, not %d", self.num_thresholds) end
      self.limits = steps(self.num_thresholds, 1e-7)
    end
  end,
  stats = function(self, y, p, weights) return {counts(self, y, p, weights, self.limits, self.multi_label)} end,
  value = function(self, sums)
    if not self.multi_label then return area(self, row(sums[1]), row(sums[2]), row(sums[3]), row(sums[4])) end
    local labels, sum, all = sums[1].shape[2], 0.0, 0.0
    local parts = {}
    for i = 1, 4 do parts[i] = tf.transpose(sums[i]):table() end
    for label = 1, labels do
      local weight = self.label_weights and self.label_weights[label] or 1
      sum = sum + weight * area(self, parts[1][label], parts[2][label], parts[3][label], parts[4][label])
      all = all + weight
    end
    return divide(sum, all)
  end})

-- ------------------------------------------------------------------------------------- F scores

local function f_score(name, signature, beta_of)
  kind:class(name, signature, {
    init = function(self, path)
      if self.average and not ({micro = 1, macro = 1, weighted = 1})[self.average] then
        T.fail(path, "'average' must be micro, macro or weighted, not '%s'", tostring(self.average))
      end
      if self.threshold and (self.threshold <= 0 or self.threshold > 1) then T.fail(path, "'threshold' must lie within 0 and 1, not %g", self.threshold) end
    end,
    stats = function(self, y, p, weights)
      y, p = float(y), float(p)
      if self.threshold then
        p = raw.Cast(raw.Greater(p, self.threshold), {DstT = "float32"})
      else
        local largest = raw.Max(p, {-1}, {keep_dims = true})
        p = raw.Cast(raw.LogicalAnd(raw.GreaterEqual(p, largest), raw.Greater(raw.Abs(p), 1e-9)), {DstT = "float32"})
      end
      local w = weights ~= nil and raw.ExpandDims(float(weights), -1) or nil
      local function total(x)
        if w then x = x * w end
        if self.average == "micro" then return tf.reduce_sum(x) end
        return raw.Sum(x, {0}, {})
      end
      return {total(p * y), total(p * (-y + 1)), total((-p + 1) * y), total(y)}
    end,
    value = function(self, sums)
      local tp, fp, fn, weight = row(sums[1]), row(sums[2]), row(sums[3]), row(sums[4])
      local b = beta_of(self) ^ 2
      local out, all = {}, 0.0
      for i = 1, #tp do
        local precision, recall = divide(tp[i], tp[i] + fp[i]), divide(tp[i], tp[i] + fn[i])
        out[i] = (1 + b) * divide(precision * recall, b * precision + recall)
        all = all + weight[i]
      end
      if not self.average then return tf.tensor(out, "float32") end
      local sum = 0.0
      for i, f in ipairs(out) do sum = sum + (self.average == "weighted" and f * divide(weight[i], all) or f / #out) end
      return sum
    end})
end
f_score("F1Score", "average? threshold? name=f1_score dtype?", function() return 1 end)
f_score("FBetaScore", "average? beta=1 threshold? name=fbeta_score dtype?", function(self) return self.beta end)
return true
