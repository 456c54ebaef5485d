-- slim.metrics: tf.metrics with predictions first, and two helpers for many of them. Each gives (value, update).
local tf, T = ...
local metrics = T.namespace "tf.slim.metrics"
local def = T.def

local tail = " weights? metrics_collections? updates_collections? name?"
local function options(weights, mc, uc, name, more)
  local o = {weights = weights, metrics_collections = mc, updates_collections = uc, name = name}
  for k, v in pairs(more or {}) do o[k] = v end
  return o
end
for _, name in ipairs {"accuracy", "mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "precision", "recall",
  "true_positives", "true_negatives", "false_positives", "false_negatives"} do
  def("tf.slim.metrics.streaming_" .. name, "predictions labels" .. tail, function(p, y, weights, mc, uc, n)
    return tf.metrics[name](y, p, options(weights, mc, uc, n))
  end)
end
for _, name in ipairs {"mean", "mean_tensor"} do
  def("tf.slim.metrics.streaming_" .. name, "values" .. tail, function(values, weights, mc, uc, n)
    return tf.metrics[name](values, options(weights, mc, uc, n))
  end)
end
def("tf.slim.metrics.streaming_percentage_less", "values threshold" .. tail, function(values, threshold, weights, mc, uc, n)
  return tf.metrics.percentage_below(values, threshold, options(weights, mc, uc, n))
end)
def("tf.slim.metrics.streaming_mean_relative_error", "predictions labels normalizer" .. tail, function(p, y, normalizer, weights, mc, uc, n)
  return tf.metrics.mean_relative_error(y, p, normalizer, options(weights, mc, uc, n))
end)
def("tf.slim.metrics.streaming_mean_cosine_distance", "predictions labels dim" .. tail, function(p, y, dim, weights, mc, uc, n)
  return tf.metrics.mean_cosine_distance(y, p, dim, options(weights, mc, uc, n))
end)
def("tf.slim.metrics.streaming_mean_iou", "predictions labels num_classes" .. tail, function(p, y, classes, weights, mc, uc, n)
  return tf.metrics.mean_iou(y, p, classes, options(weights, mc, uc, n))
end)
def("tf.slim.metrics.streaming_auc", "predictions labels weights? num_thresholds=200 metrics_collections? updates_collections? curve=ROC name?",
  function(p, y, weights, thresholds, mc, uc, curve, n)
    return tf.metrics.auc(y, p, options(weights, mc, uc, n, {num_thresholds = thresholds, curve = curve}))
  end)
for _, name in ipairs {"precision_at_thresholds", "recall_at_thresholds", "true_positives_at_thresholds", "true_negatives_at_thresholds",
  "false_positives_at_thresholds", "false_negatives_at_thresholds"} do
  def("tf.slim.metrics.streaming_" .. name, "predictions labels thresholds" .. tail, function(p, y, thresholds, weights, mc, uc, n)
    return tf.metrics[name](y, p, thresholds, options(weights, mc, uc, n))
  end)
end
def("tf.slim.metrics.streaming_sensitivity_at_specificity", "predictions labels specificity weights? num_thresholds=200 metrics_collections? updates_collections? name?",
  function(p, y, specificity, weights, thresholds, mc, uc, n)
    return tf.metrics.sensitivity_at_specificity(y, p, specificity, options(weights, mc, uc, n, {num_thresholds = thresholds}))
  end)
def("tf.slim.metrics.streaming_specificity_at_sensitivity", "predictions labels sensitivity weights? num_thresholds=200 metrics_collections? updates_collections? name?",
  function(p, y, sensitivity, weights, thresholds, mc, uc, n)
    return tf.metrics.specificity_at_sensitivity(y, p, sensitivity, options(weights, mc, uc, n, {num_thresholds = thresholds}))
  end)

local function counter(name, shape)
  return tf.get_variable(name, shape, {dtype = "float32", initializer = tf.zeros_initializer(), trainable = false,
    collections = {tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES}})
end
local function note(value, collections)
  for _, key in ipairs(type(collections) == "string" and {collections} or collections or {}) do tf.add_to_collection(key, value) end
end
-- The value of counters now, and after `updates`.
local function pair(compute, updates, mc, uc)
  local value = compute()
  if not T.is_graph(value) then
    note(value, mc)
    return value, value
  end
  local c <close> = tf.control_dependencies(updates)
  local update = tf.identity(compute())
  note(value, mc)
  note(update, uc)
  return value, update
end
local function read(v) return tf.raw.ReadVariableOp(v, {dtype = v.dtype}) end

-- The number of values (or the sum of their weights).
def("tf.slim.metrics.count", "values" .. tail, function(values, weights, mc, uc, name)
  return tf.variable_scope(name or false, "count", function()
    local n = counter("count", {})
    values = T.value(values)
    local add = weights == nil and tf.cast(tf.size(values), "float32")
      or tf.reduce_sum(tf.cast(T.value(weights, "float32"), "float32") * tf.ones_like(values, "float32"))
    local op = tf.raw.AssignAddVariableOp(n, add, {dtype = "float32"})
    return pair(function() return read(n) end, {op}, mc, uc)
  end)
end)
-- counts[label][prediction]
def("tf.slim.metrics.confusion_matrix", "labels predictions num_classes? dtype=int32 name? weights?", function(labels, predictions, classes, dtype, name, weights)
  return tf.confusion_matrix(labels, predictions, {num_classes = classes, dtype = dtype, name = name, weights = weights})
end)
def("tf.slim.metrics.f1_score", "labels predictions" .. tail, function(labels, predictions, weights, mc, uc, name)
  return tf.variable_scope(name or false, "f1", function()
    local p, pu = tf.metrics.precision(labels, predictions, {weights = weights})
    local r, ru = tf.metrics.recall(labels, predictions, {weights = weights})
    local function f1(a, b) return tf.div_no_nan(a * b * 2, a + b) end
    local value, update = f1(p, r), f1(pu, ru)
    note(value, mc)
    note(update, uc)
    return value, update
  end)
end)

-- A list of {value, update} to a list of values and a list of updates.
function metrics.aggregate_metrics(...)
  local values, updates = {}, {}
  for i, m in ipairs {...} do
    if type(m) ~= "table" or m[2] == nil then T.fail("slim.metrics.aggregate_metrics", "entry %d is no pair {value, update}", i) end
    values[i], updates[i] = m[1], m[2]
  end
  if #values == 0 then T.fail("slim.metrics.aggregate_metrics", "there are no metrics") end
  return values, updates
end
-- name -> {value, update} to name -> value and name -> update.
function metrics.aggregate_metric_map(map)
  local values, updates = {}, {}
  for name, m in pairs(map) do
    if type(m) ~= "table" or m[2] == nil then T.fail("slim.metrics.aggregate_metric_map", "'%s' is no pair {value, update}", name) end
    values[name], updates[name] = m[1], m[2]
  end
  return values, updates
end
return metrics
