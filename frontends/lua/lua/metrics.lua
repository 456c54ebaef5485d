-- provides tf.metrics: mean accuracy mean_squared_error root_mean_squared_error mean_absolute_error mean_relative_error mean_cosine_distance mean_tensor percentage_below precision recall true_positives true_negatives false_positives false_negatives auc mean_iou mean_per_class_accuracy precision_at_thresholds recall_at_thresholds true_positives_at_thresholds false_positives_at_thresholds true_negatives_at_thresholds false_negatives_at_thresholds recall_at_k
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
local function pair(name, compute, updates, value_collections, update_collections)
  local value = compute()
  local update
  if T.is_graph(value) then
    local c <close> = tf.control_dependencies(updates)
    local fresh = compute(true)
    update = raw.Identity(fresh, {name = "update_op"})
  else
    update = compute()
    value = update
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
    end, {update}, mc, uc)
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
    end, updates, mc, uc)
  end)
end)
def("tf.metrics.recall_at_k", "labels predictions k class_id? weights? metrics_collections? updates_collections? name?",
  function(labels, predictions, k, class_id, weights, mc, uc, name)
    if class_id then T.fail_code(12, "tf.metrics.recall_at_k", "class_id is not there yet") end
    return tf.variable_scope(name or false, "recall_at_" .. k, function()
      local hit = tf.nn.in_top_k(predictions, raw.Reshape(T.value(labels, "int64"), {-1}), k)
      return mean_of(hit, weights, mc, uc)
    end)
  end)
