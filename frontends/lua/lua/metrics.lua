-- provides tf.metrics: mean accuracy mean_squared_error root_mean_squared_error mean_absolute_error mean_relative_error mean_cosine_distance mean_tensor percentage_below precision recall true_positives true_negatives false_positives false_negatives auc mean_iou mean_per_class_accuracy precision_at_thresholds recall_at_thresholds true_positives_at_thresholds false_positives_at_thresholds true_negatives_at_thresholds false_negatives_at_thresholds sensitivity_at_specificity specificity_at_sensitivity
-- provides tf.metrics: precision_at_k recall_at_k precision_at_top_k recall_at_top_k average_precision_at_k sparse_average_precision_at_k
-- Metrics over many batches: each gives (value, update). The counts are local variables in METRIC_VARIABLES.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope
local metrics = T.namespace "tf.metrics"
local KEYS = tf.GraphKeys

local function counter(name, shape, dtype)
  return tf.variable_scope(false, name, {auxiliary_name_scope = false}, function()
    return tf.get_variable(name, shape or {}, {dtype = dtype or "float32", initializer = tf.zeros_initializer(), trainable = false,
      collections = {KEYS.LOCAL_VARIABLES, KEYS.METRIC_VARIABLES}})
  end)
end
local function safe_div(a, b)
  local ok = raw.Greater(b, raw.ZerosLike(b))
  return raw.SelectV2(ok, a / raw.SelectV2(ok, b, raw.OnesLike(b)), raw.ZerosLike(a))
end
-- The value of a function of counters before, and after the updates.
local function pair(name, compute, updates, value_collections, update_collections, shown)
  local value = compute()
  local update
  if T.is_graph(value) then
    local c <close> = tf.control_dependencies(updates)
    local fresh = (shown or compute)()
    update = raw.Identity(fresh, {name = "update_op"})
  else
    value = compute()
    update = shown and shown() or value
  end
  for _, key in ipairs(type(value_collections) == "string" and {value_collections} or value_collections or {}) do tf.add_to_collection(key, value) end
  for _, key in ipairs(type(update_collections) == "string" and {update_collections} or update_collections or {}) do tf.add_to_collection(key, update) end
  return value, update
end
local function read(v) return raw.ReadVariableOp(v, {dtype = v.dtype}) end
local function add(v, x) return raw.AssignAddVariableOp(v, x, {dtype = v.dtype}) end

local function float(x) return tf.cast(T.value(x, not T.kind(x) and "float32" or nil), "float32") end
local function fit(weights, x)
  local w = float(weights)
  local rw, rx = w:rank(), x:rank()
  if rw and rx and rw ~= 0 then
    if rw == rx + 1 then w = raw.Squeeze(w, {squeeze_dims = {-1}})
    elseif rw + 1 == rx then w = raw.ExpandDims(w, -1) end
  end
  return w
end
local function squeeze_pair(a, b)
  local ra, rb = a:rank(), b:rank()
  if ra and rb then
    if ra == rb + 1 then a = raw.Squeeze(a, {squeeze_dims = {-1}})
    elseif rb == ra + 1 then b = raw.Squeeze(b, {squeeze_dims = {-1}}) end
  end
  return a, b
end

local tail = " weights? metrics_collections? updates_collections? name?"
local function mean_of(values, weights, mc, uc, finish)
  values = float(values)
  local total, count = counter "total", counter "count"
  local n
  if weights == nil then
    n = raw.Cast(raw.Size(values), {DstT = "float32"})
  else
    local w = raw.Mul(fit(weights, values), raw.OnesLike(values))
    values = values * w
    n = tf.reduce_sum(w)
  end
  local updates = {add(total, tf.reduce_sum(values)), add(count, n)}
  return pair("mean", function()
    local x = safe_div(read(total), read(count))
    return finish and finish(x) or x
  end, updates, mc, uc)
end
def("tf.metrics.mean", "values" .. tail, function(values, weights, mc, uc, name)
  return tf.variable_scope(name or false, "mean", function() return mean_of(values, weights, mc, uc) end)
end)
def("tf.metrics.accuracy", "labels predictions" .. tail, function(labels, predictions, weights, mc, uc, name)
  return tf.variable_scope(name or false, "accuracy", function()
    labels, predictions = squeeze_pair(T.value(labels), T.value(predictions))
    if labels.dtype ~= predictions.dtype then predictions = tf.cast(predictions, labels.dtype) end
    return mean_of(raw.Equal(predictions, labels), weights, mc, uc)
  end)
end)
for name, f in pairs {
  mean_absolute_error = function(y, p) return raw.Abs(p - y) end,
  mean_squared_error = function(y, p) return raw.SquaredDifference(p, y) end,
} do
  def("tf.metrics." .. name, "labels predictions" .. tail, function(y, p, weights, mc, uc, n)
    return tf.variable_scope(n or false, name, function()
      y, p = squeeze_pair(float(y), float(p))
      return mean_of(f(y, p), weights, mc, uc)
    end)
  end)
end
def("tf.metrics.root_mean_squared_error", "labels predictions" .. tail, function(y, p, weights, mc, uc, name)
  return tf.variable_scope(name or false, "root_mean_squared_error", function()
    y, p = squeeze_pair(float(y), float(p))
    return mean_of(raw.SquaredDifference(p, y), weights, mc, uc, raw.Sqrt)
  end)
end)
def("tf.metrics.mean_relative_error", "labels predictions normalizer" .. tail, function(y, p, normalizer, weights, mc, uc, name)
  return tf.variable_scope(name or false, "mean_relative_error", function()
    y, p = squeeze_pair(float(y), float(p))
    local d = float(normalizer)
    local zero = raw.Equal(d, raw.ZerosLike(d))
    local e = raw.SelectV2(zero, raw.ZerosLike(y), raw.Abs(y - p) / raw.SelectV2(zero, raw.OnesLike(d), d))
    return mean_of(e, weights, mc, uc)
  end)
end)
def("tf.metrics.mean_cosine_distance", "labels predictions dim" .. tail, function(y, p, dim, weights, mc, uc, name)
  return tf.variable_scope(name or false, "mean_cosine_distance", function()
    y, p = float(y), float(p)
    local sum = raw.Sum(y * p, {dim}, {keep_dims = true})
    local value, update = mean_of(sum, weights, mc, uc)
    return -value + 1, -update + 1
  end)
end)
def("tf.metrics.percentage_below", "values threshold" .. tail, function(values, threshold, weights, mc, uc, name)
  return tf.variable_scope(name or false, "percentage_below_threshold", function()
    return mean_of(raw.Less(float(values), threshold), weights, mc, uc)
  end)
end)
def("tf.metrics.mean_tensor", "values" .. tail, function(values, weights, mc, uc, name)
  return tf.variable_scope(name or false, "mean", function()
    values = float(values)
    local total, count = counter("total_tensor", values.shape), counter("count_tensor", values.shape)
    local n = raw.OnesLike(values)
    if weights ~= nil then
      n = raw.Mul(fit(weights, values), n)
      values = values * n
    end
    return pair("mean", function() return safe_div(read(total), read(count)) end, {add(total, values), add(count, n)}, mc, uc)
  end)
end)

-- ------------------------------------------------------------------------------------- counts

local function count(condition, weights, v)
  local x = raw.Cast(condition, {DstT = "float32"})
  if weights ~= nil then x = x * fit(weights, x) end
  return add(v, tf.reduce_sum(x))
end
local function booleans(labels, predictions)
  labels, predictions = squeeze_pair(tf.cast(T.value(labels), "bool"), tf.cast(T.value(predictions), "bool"))
  return labels, predictions
end
local cells = {
  true_positives = function(y, p) return raw.LogicalAnd(y, p) end,
  false_positives = function(y, p) return raw.LogicalAnd(raw.LogicalNot(y), p) end,
  true_negatives = function(y, p) return raw.LogicalNot(raw.LogicalOr(y, p)) end,
  false_negatives = function(y, p) return raw.LogicalAnd(y, raw.LogicalNot(p)) end,
}
for name, cell in pairs(cells) do
  def("tf.metrics." .. name, "labels predictions" .. tail, function(labels, predictions, weights, mc, uc, n)
    return tf.variable_scope(n or false, name, function()
      local y, p = booleans(labels, predictions)
      local v = counter "count"
      return pair(name, function() return read(v) end, {count(cell(y, p), weights, v)}, mc, uc)
    end)
  end)
  def("tf.metrics." .. name .. "_at_thresholds", "labels predictions thresholds" .. tail,
    function(labels, predictions, thresholds, weights, mc, uc, n)
      return tf.variable_scope(n or false, name, function()
        local v = counter(name, {#thresholds})
        local y = raw.Reshape(tf.cast(T.value(labels), "bool"), {1, -1})
        local p = raw.Greater(raw.Reshape(float(predictions), {1, -1}), raw.Reshape(tf.tensor(thresholds), {-1, 1}))
        local x = raw.Cast(cell(raw.LogicalAnd(y, raw.LogicalOr(p, raw.LogicalNot(p))), p), {DstT = "float32"})
        if weights ~= nil then
          x = x * raw.Reshape(raw.BroadcastTo(fit(weights, T.value(predictions)), raw.Shape(T.value(predictions))), {1, -1})
        end
        return pair(name, function() return read(v) end, {add(v, raw.Sum(x, {1}))}, mc, uc)
      end)
    end)
end
local function ratio(name, second)
  def("tf.metrics." .. name, "labels predictions" .. tail, function(labels, predictions, weights, mc, uc, n)
    return tf.variable_scope(n or false, name, function()
      local y, p = booleans(labels, predictions)
      local tp = tf.variable_scope(false, "true_positives", function() return counter "count" end)
      local other = tf.variable_scope(false, second, function() return counter "count" end)
      local updates = {count(cells.true_positives(y, p), weights, tp), count(cells[second](y, p), weights, other)}
      return pair(name, function()
        local a = read(tp)
        return safe_div(a, a + read(other))
      end, updates, mc, uc)
    end)
  end)
  def("tf.metrics." .. name .. "_at_thresholds", "labels predictions thresholds" .. tail,
    function(labels, predictions, thresholds, weights, mc, uc, n)
      return tf.variable_scope(n or false, name .. "_at_thresholds", function()
        local a, ua = metrics.true_positives_at_thresholds(labels, predictions, thresholds, weights)
        local b, ub = metrics[second .. "_at_thresholds"](labels, predictions, thresholds, weights)
        return a / (a + b + 1e-7), ua / (ua + ub + 1e-7)
      end)
    end)
end
ratio("precision", "false_positives")
ratio("recall", "false_negatives")

-- Area under the curve by the trapezoidal rule over evenly spaced thresholds.
def("tf.metrics.auc", "labels predictions weights? num_thresholds=200 metrics_collections? updates_collections? curve=ROC name? summation_method=trapezoidal",
  function(labels, predictions, weights, n, mc, uc, curve, name, method)
    return tf.variable_scope(name or false, "auc", function()
      local eps, thresholds = 1e-7, {}
      thresholds[1] = -eps
      for i = 1, n - 2 do thresholds[i + 1] = i / (n - 1) end
      thresholds[n] = 1 + eps
      local names = {"true_positives", "false_negatives", "true_negatives", "false_positives"}
      local now, after = {}, {}
      for _, cell in ipairs(names) do
        now[cell], after[cell] = metrics[cell .. "_at_thresholds"](labels, predictions, thresholds, weights)
      end
      local function part(t, a, b) return t[{{a, b}}] end
      local function area(c)
        local tp, fn, tn, fp = c.true_positives, c.false_negatives, c.true_negatives, c.false_positives
        if method == "careful_interpolation" then
          -- precision between two thresholds as Davis and Goadrich (2006) interpolate it
          if curve ~= "PR" then T.fail("tf.metrics.auc", "'careful_interpolation' is for the PR curve") end
          local all = tp + fp
          local dtp = part(tp, 1, n - 1) - part(tp, 2, n)
          local before, next_ = part(all, 1, n - 1), part(all, 2, n)
          local slope = safe_div(dtp, before - next_)
          local intercept = part(tp, 2, n) - slope * next_
          local both = raw.LogicalAnd(raw.Greater(before, 0), raw.Greater(next_, 0))
          local quotient = raw.SelectV2(both, safe_div(before, next_), raw.OnesLike(next_))
          return tf.reduce_sum(safe_div(slope * (dtp + intercept * raw.Log(quotient)), part(tp, 2, n) + part(fn, 2, n)))
        end
        local recall = (tp + eps) / (tp + fn + eps)
        local x, y
        if curve == "ROC" then x, y = fp / (fp + tn + eps), recall
        elseif curve == "PR" then x, y = recall, (tp + eps) / (tp + fp + eps)
        else T.fail("tf.metrics.auc", "'curve' must be ROC or PR, not '%s'", curve) end
        local width = part(x, 1, n - 1) - part(x, 2, n)
        local left, right = part(y, 1, n - 1), part(y, 2, n)
        local height
        if method == "trapezoidal" then height = (left + right) / 2
        elseif method == "minoring" then height = raw.Minimum(left, right)
        elseif method == "majoring" then height = raw.Maximum(left, right)
        else T.fail("tf.metrics.auc", "'summation_method' cannot be '%s'", method) end
        return tf.reduce_sum(width * height)
      end
      local value, update = area(now), area(after)
      for _, key in ipairs(type(mc) == "string" and {mc} or mc or {}) do tf.add_to_collection(key, value) end
      for _, key in ipairs(type(uc) == "string" and {uc} or uc or {}) do tf.add_to_collection(key, update) end
      return value, update
    end)
  end)

local function confusion(labels, predictions, classes, weights)
  local v = counter("total_confusion_matrix", {classes, classes}, "float64")
  local y, p = raw.Reshape(T.value(labels, "int64"), {-1}), raw.Reshape(T.value(predictions, "int64"), {-1})
  local w = weights ~= nil and raw.Reshape(raw.Mul(fit(weights, y), tf.ones_like(y, "float32")), {-1}) or nil
  local m = tf.confusion_matrix(y, p, classes, {dtype = "float64", weights = w})
  return v, add(v, m)
end
def("tf.metrics.mean_iou", "labels predictions num_classes" .. tail, function(labels, predictions, classes, weights, mc, uc, name)
  return tf.variable_scope(name or false, "mean_iou", function()
    local v, update = confusion(labels, predictions, classes, weights)
    local eye = tf.eye(classes, classes, nil, "float32")
    return pair("mean_iou", function()
      local m = raw.Cast(read(v), {DstT = "float32"})
      local rows, columns = raw.Sum(m, {0}), raw.Sum(m, {1})
      local hits = raw.Sum(m * eye, {1})
      local union = rows + columns - hits
      local present = raw.Greater(union, 0)
      local n = tf.reduce_sum(raw.Cast(present, {DstT = "float32"}))
      local iou = hits / raw.SelectV2(present, union, raw.OnesLike(union))
      return safe_div(tf.reduce_sum(iou), n)
    end, {update}, mc, uc, function() return read(v) end)
  end)
end)
def("tf.metrics.mean_per_class_accuracy", "labels predictions num_classes" .. tail, function(labels, predictions, classes, weights, mc, uc, name)
  return tf.variable_scope(name or false, "mean_accuracy", function()
    local total, hit = counter("total", {classes}), counter("count", {classes})
    local y, p = raw.Reshape(T.value(labels, "int64"), {-1}), raw.Reshape(T.value(predictions, "int64"), {-1})
    local ones = tf.ones_like(y, "float32")
    local good = raw.Cast(raw.Equal(y, p), {DstT = "float32"})
    if weights ~= nil then
      local w = raw.Reshape(raw.Mul(fit(weights, y), ones), {-1})
      ones, good = ones * w, good * w
    end
    local updates = {raw.ResourceScatterAdd(total, y, ones, {dtype = "float32"}), raw.ResourceScatterAdd(hit, y, good, {dtype = "float32"})}
    return pair("mean_accuracy", function()
      return tf.reduce_mean(safe_div(read(hit), read(total)))
    end, updates, mc, uc, function() return safe_div(read(hit), read(total)) end)
  end)
end)

-- The k best predictions of each row against its labels; a label that comes twice counts once.
local function rows_of(labels)
  labels = tf.cast(T.value(labels, "int64"), "int64")
  local shape = labels.shape
  if #shape == 1 then return raw.ExpandDims(labels, 1) end
  return raw.Reshape(labels, {-1, shape[#shape] >= 0 and shape[#shape] or raw.Shape(labels)[-1]})
end
local function match(labels, ids) -- [row, label, prediction]
  return raw.Equal(raw.ExpandDims(labels, 2), raw.ExpandDims(ids, 1))
end
local function first_ones(labels) -- whether no earlier label of the row is the same
  local n = raw.Range(0, raw.Shape(labels)[2], 1)
  local earlier = raw.Greater(raw.ExpandDims(n, 1), raw.ExpandDims(n, 0))
  local same = raw.Equal(raw.ExpandDims(labels, 2), raw.ExpandDims(labels, 1))
  return raw.LogicalNot(raw.Any(raw.LogicalAnd(same, earlier), {2}))
end
local function number(x) return raw.Cast(x, {DstT = "float32"}) end
local function row_weights(weights, rows)
  if weights == nil then return nil end
  return raw.Reshape(raw.Mul(float(weights), raw.OnesLike(raw.Reshape(rows, raw.Shape(float(weights))))), {-1})
end
local function weigh(rows, weights)
  if weights == nil then return tf.reduce_sum(rows) end
  return tf.reduce_sum(rows * row_weights(weights, rows))
end
local function at_k(name, which, labels, ids, class_id, weights, mc, uc)
  labels, ids = rows_of(labels), rows_of(ids)
  local found = match(labels, ids)
  local hit = raw.LogicalAnd(raw.Any(found, {2}), first_ones(labels))
  local tp_rows, other_rows = hit, nil
  if which == "recall" then
    other_rows = raw.LogicalAnd(raw.LogicalNot(raw.Any(found, {2})), first_ones(labels))
    if class_id then other_rows = raw.LogicalAnd(other_rows, raw.Equal(labels, class_id)) end
  else
    other_rows = raw.LogicalNot(raw.Any(found, {1}))
    if class_id then other_rows = raw.LogicalAnd(other_rows, raw.Equal(ids, class_id)) end
  end
  if class_id then tp_rows = raw.LogicalAnd(tp_rows, raw.Equal(labels, class_id)) end
  local tp, other = counter "true_positive", counter(which == "recall" and "false_negative" or "false_positive")
  local updates = {add(tp, weigh(raw.Sum(number(tp_rows), {1}), weights)), add(other, weigh(raw.Sum(number(other_rows), {1}), weights))}
  return pair(name, function()
    local a = read(tp)
    return safe_div(a, a + read(other))
  end, updates, mc, uc)
end
local function best(predictions, k)
  predictions = T.value(predictions)
  local _, ids = raw.TopKV2(predictions, k)
  return ids
end
for _, which in ipairs {"precision", "recall"} do
  def(("tf.metrics.%s_at_k"):format(which), "labels predictions k class_id? weights? metrics_collections? updates_collections? name?",
    function(labels, predictions, k, class_id, weights, mc, uc, name)
      return tf.variable_scope(name or false, ("%s_at_%d"):format(which, k), function()
        return at_k(which, which, labels, best(predictions, k), class_id, weights, mc, uc)
      end)
    end)
  def(("tf.metrics.%s_at_top_k"):format(which), "labels predictions_idx k? class_id? weights? metrics_collections? updates_collections? name?",
    function(labels, ids, k, class_id, weights, mc, uc, name)
      return tf.variable_scope(name or false, which .. "_at_top_k", function()
        return at_k(which, which, labels, ids, class_id, weights, mc, uc)
      end)
    end)
end
-- Mean over rows of the average precision of the k best: precision at each rank that is a label, over the
-- number of labels (or k).
def("tf.metrics.average_precision_at_k", "labels predictions k weights? metrics_collections? updates_collections? name?",
  function(labels, predictions, k, weights, mc, uc, name)
    return tf.variable_scope(name or false, "average_precision_at_" .. k, function()
      local y, ids = rows_of(labels), rows_of(best(predictions, k))
      local relevant = number(raw.Any(match(y, ids), {1}))
      local rank = number(raw.Range(1, k + 1, 1))
      local precision = raw.Cumsum(relevant, 1) / rank
      local n = raw.Minimum(raw.Sum(number(first_ones(y)), {1}), k)
      local average = safe_div(raw.Sum(precision * relevant, {1}), n)
      return mean_of(average, weights ~= nil and row_weights(weights, average) or nil, mc, uc)
    end)
  end)
metrics.sparse_average_precision_at_k = metrics.average_precision_at_k

-- One rate at the threshold where the other is nearest to a wanted value.
local function at_rate(path, signature, wanted_name)
  def("tf.metrics." .. path, ("labels predictions %s weights? num_thresholds=200 metrics_collections? updates_collections? name?"):format(signature),
    function(labels, predictions, wanted, weights, n, mc, uc, name)
      if wanted < 0 or wanted > 1 then T.fail("tf.metrics." .. path, "'%s' must be in 0..1, not %g", wanted_name, wanted) end
      return tf.variable_scope(name or false, path, function()
        local eps, thresholds = 1e-7, {}
        thresholds[1], thresholds[n] = -eps, 1 + eps
        for i = 1, n - 2 do thresholds[i + 1] = i / (n - 1) end
        local now, after = {}, {}
        for cell in pairs(cells) do
          now[cell], after[cell] = metrics[cell .. "_at_thresholds"](labels, predictions, thresholds, weights)
        end
        local function value(c)
          local sensitivity = c.true_positives / (c.true_positives + c.false_negatives + eps)
          local specificity = c.true_negatives / (c.true_negatives + c.false_positives + eps)
          if wanted_name == "specificity" then
            return raw.GatherV2(sensitivity, raw.ArgMin(raw.Abs(specificity - wanted), 0), 0)
          end
          -- of equally near thresholds the last
          local gap = raw.ReverseV2(raw.Abs(sensitivity - wanted), {0})
          return raw.GatherV2(raw.ReverseV2(specificity, {0}), raw.ArgMin(gap, 0), 0)
        end
        local v, update = value(now), value(after)
        for _, key in ipairs(type(mc) == "string" and {mc} or mc or {}) do tf.add_to_collection(key, v) end
        for _, key in ipairs(type(uc) == "string" and {uc} or uc or {}) do tf.add_to_collection(key, update) end
        return v, update
      end)
    end)
end
at_rate("sensitivity_at_specificity", "specificity", "specificity")
at_rate("specificity_at_sensitivity", "sensitivity", "sensitivity")
