-- provides tf.summary: pr_curve monitor
-- provides tf.summary.hp: HParam Metric IntInterval RealInterval Discrete hparams_pb hparams_config_pb session_end_pb
-- provides Monitored: trace
-- provides tf.contrib.tensorboard.plugins.projector: ProjectorConfig visualize_embeddings
-- Summaries of TensorBoard's plugins: precision-recall curves, hyperparameters, the embedding projector. Names are those of
-- tensorboard.plugins.pr_curve.summary, tensorboard.plugins.hparams.api and tensorboard.plugins.projector.
local tf, T = ...
local def = T.def
local P
local function proto()
  if T.proto == nil then local _ = T.namespace "Graph".as_graph_def, tf.io.write_graph end
  P = T.proto
end
local hp = T.namespace "tf.summary.hp"

-- ------------------------------------------------------------------------------------- precision and recall

-- One tensor of six rows (true and false positives, true and false negatives, precision, recall), a column for each of
-- the thresholds 0, 1 / (n - 1), ... 1. A prediction counts as positive from its threshold on, so counts are sums from the
-- right over buckets.
local function curve(labels, predictions, n, weights)
  labels, predictions = T.value(labels), T.value(predictions)
  local dtype = predictions.dtype
  local truth = tf.reshape(tf.cast(labels, dtype), {-1})
  local p = tf.reshape(tf.minimum(tf.maximum(predictions, 0.0), 1.0), {-1})
  local w = weights ~= nil and tf.reshape(tf.broadcast_to(tf.cast(T.value(weights), dtype), tf.shape(predictions)), {-1}) or tf.ones_like(p)
  local bucket = tf.cast(tf.floor(p * (n - 1)), "int32")
  local function count(values) return tf.cumsum(tf.math.unsorted_segment_sum(values, bucket, n), {reverse = true}) end
  local tp, fp = count(truth * w), count((1 - truth) * w)
  local function first(x) return tf.slice(x, {0}, {1}) end
  local tn, fn = first(fp) - fp, first(tp) - tp
  return tf.cast(tf.stack({tp, fp, tn, fn, tp / tf.maximum(tp + fp, 1e-7), tp / tf.maximum(tp + fn, 1e-7)}), "float32")
end
-- PrCurvePluginData{num_thresholds 2}
local function curve_metadata(n, display, description)
  proto()
  return {plugin_data = {plugin_name = "pr_curves", content = P.maybe("int", 2, n)}, display_name = display, summary_description = description}
end
local function thresholds(who, n)
  n = math.tointeger(n)
  if not n or n < 2 then T.fail(who, "num_thresholds must be a whole number of at least 2") end
  return n
end

def("tf.summary.pr_curve", "name labels predictions num_thresholds=201 weights? display_name? description? collections?",
  function(name, labels, predictions, n, weights, display, description, collections)
    n = thresholds("tf.summary.pr_curve", n)
    return tf.summary.tensor_summary(name, curve(labels, predictions, n, weights),
      {summary_metadata = curve_metadata(n, display, description), collections = collections})
  end)
-- For FileWriter:pr_curve.
function T.pr_curve(labels, predictions, n, weights)
  n = thresholds("FileWriter.pr_curve", n or 201)
  return curve(labels, predictions, n, weights), curve_metadata(n)
end

-- ------------------------------------------------------------------------------------- hyperparameters

-- Domains: HParamInfo{type 4: STRING 1, BOOL 2, FLOAT64 3; domain_discrete 5{values 1*}, domain_interval 6{min 1, max 2}}
local Interval, Discrete = {}, {}
Interval.__index, Discrete.__index = Interval, Discrete
local function interval(who, whole)
  return function(min, max)
    local fits = type(min) == "number" and type(max) == "number" and min <= max and (not whole or (math.tointeger(min) and math.tointeger(max)))
    if not fits then T.fail(who, "expected two %s, the lesser one first, not %s and %s", whole and "whole numbers" or "numbers", tostring(min), tostring(max)) end
    return setmetatable({min_value = min, max_value = max}, Interval)
  end
end
hp.IntInterval = interval("hp.IntInterval", true)
hp.RealInterval = interval("hp.RealInterval")
local function google_value(v) -- google.protobuf.Value{number 2, string 3, bool 4}
  if type(v) == "boolean" then return P.int(4, v and 1 or 0) end
  if type(v) == "number" then return P.double(2, v) end
  return P.bytes(3, tostring(v))
end
function Interval:bytes()
  return P.int(4, 3) .. P.bytes(6, P.maybe("double", 1, self.min_value) .. P.maybe("double", 2, self.max_value))
end
function Discrete:bytes()
  local out = {}
  for i, v in ipairs(self.values) do out[i] = P.bytes(1, google_value(v)) end
  local kind = type(self.values[1])
  return P.int(4, kind == "string" and 1 or kind == "boolean" and 2 or 3) .. P.bytes(5, table.concat(out))
end
function hp.Discrete(values)
  if type(values) ~= "table" or #values == 0 then T.fail("hp.Discrete", "expected a list of values") end
  for _, v in ipairs(values) do
    if type(v) ~= type(values[1]) then T.fail("hp.Discrete", "values must be of one type, not %s and %s", type(values[1]), type(v)) end
  end
  return setmetatable({values = values}, Discrete)
end
def("tf.summary.hp.HParam", "name domain? display_name? description?", function(name, domain, display, description)
  local kind = domain ~= nil and getmetatable(domain)
  if domain ~= nil and kind ~= Interval and kind ~= Discrete then T.fail("hp.HParam", "the domain is one of IntInterval, RealInterval, Discrete") end
  return {name = name, domain = domain, display_name = display, description = description}
end)
local datasets = {training = 1, validation = 2}
def("tf.summary.hp.Metric", "tag group? display_name? description? dataset_type?", function(tag, group, display, description, dataset)
  if dataset ~= nil and not datasets[dataset] then T.fail("hp.Metric", "dataset_type is 'training' or 'validation', not %s", tostring(dataset)) end
  return {tag = tag, group = group, display_name = display, description = description, dataset_type = dataset}
end)

-- A Summary of one value whose metadata carry HParamsPluginData{experiment 2, session_start_info 3, session_end_info 4};
-- its tensor is empty.
local function message(tag, field, content)
  local metadata = P.bytes(1, P.bytes(1, "hparams") .. P.bytes(2, P.bytes(field, content)))
  local empty = P.int(1, 1) .. P.bytes(2, P.bytes(2, ""))
  return P.bytes(1, P.bytes(1, "_hparams_/" .. tag) .. P.bytes(8, empty) .. P.bytes(9, metadata))
end
local function sorted(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = k end
  table.sort(keys)
  return keys
end
-- By name; lists become text.
local function plain(hparams)
  if type(hparams) ~= "table" then T.fail("hp.hparams_pb", "expected a table of values by name, not a %s", T.kind(hparams) or type(hparams)) end
  local out = {}
  for k, v in pairs(hparams) do
    local name = type(k) == "table" and k.name or k
    if T.kind(v) == "Tensor" then v = v:item() end
    if type(v) == "table" then
      local parts = {}
      for i, x in ipairs(v) do parts[i] = tostring(x) end
      v = "[" .. table.concat(parts, ", ") .. "]"
    end
    if type(name) ~= "string" then T.fail("hp.hparams_pb", "names are strings, not %s", tostring(k)) end
    if type(v) ~= "number" and type(v) ~= "string" and type(v) ~= "boolean" then
      T.fail("hp.hparams_pb", "'%s' must be a number, a string, a boolean or a list, not a %s", name, T.kind(v) or type(v))
    end
    if out[name] ~= nil then T.fail("hp.hparams_pb", "there are two values of '%s'", name) end
    out[name] = v
  end
  return out
end

-- What a run was started with: writer:add_summary(tf.summary.hp.hparams_pb{rate = 0.1}). Runs with the same trial_id (left
-- out: with the same values) are one group.
-- The first table holds names of the caller's, so it is never taken for options.
local options_of = T.bind("tf.summary.hp.hparams_pb", "trial_id? start_time_secs?", function(trial, start) return trial, start end)
function hp.hparams_pb(hparams, options)
  proto()
  local trial, start = options_of(options or {})
  local all = plain(hparams)
  local names, parts, text = sorted(all), {}, {}
  for i, name in ipairs(names) do -- SessionStartInfo{hparams 1*{key 1, value 2}, group_name 4, start_time_secs 5}
    parts[i] = P.bytes(1, P.bytes(1, name) .. P.bytes(2, google_value(all[name])))
    text[i] = ("%s=%s"):format(name, type(all[name]) == "number" and ("%.17g"):format(all[name]) or tostring(all[name]))
  end
  return message("session_start_info", 3, table.concat(parts) .. P.maybe("bytes", 4, trial or table.concat(text, ","))
    .. P.maybe("double", 5, start or os.time()))
end
-- Which hyperparameters and metrics an experiment has, for the folder above its runs.
def("tf.summary.hp.hparams_config_pb", "hparams metrics time_created_secs?", function(hparams, metrics, created)
  proto()
  local out = {P.maybe("double", 3, created or os.time())} -- Experiment{time_created_secs 3, hparam_infos 4*, metric_infos 5*}
  for _, h in ipairs(hparams) do
    if type(h) == "string" then h = {name = h} end
    out[#out + 1] = P.bytes(4, P.bytes(1, h.name) .. P.maybe("bytes", 2, h.display_name) .. P.maybe("bytes", 3, h.description)
      .. (h.domain and h.domain:bytes() or ""))
  end
  for _, m in ipairs(metrics) do -- MetricInfo{name 1{group 1, tag 2}, display_name 3, description 4, dataset_type 5}
    if type(m) == "string" then m = {tag = m} end
    out[#out + 1] = P.bytes(5, P.bytes(1, P.maybe("bytes", 1, m.group) .. P.bytes(2, m.tag)) .. P.maybe("bytes", 3, m.display_name)
      .. P.maybe("bytes", 4, m.description) .. P.maybe("int", 5, datasets[m.dataset_type]))
  end
  return message("experiment", 2, table.concat(out))
end)
-- status: success, failure, running. SessionEndInfo{status 1, end_time_secs 2}
local states = {unknown = 0, success = 1, failure = 2, running = 3}
def("tf.summary.hp.session_end_pb", "status=success end_time_secs?", function(status, ended)
  proto()
  local state = states[status]
  if not state then T.fail("hp.session_end_pb", "status is success, failure, running or unknown, not '%s'", tostring(status)) end
  return message("session_end_info", 4, P.maybe("int", 1, state) .. P.maybe("double", 2, ended or os.time()))
end)

-- ------------------------------------------------------------------------------------- the monitor

-- Writes steps a second, memory and the part of the time that waits for data into the folder, every `secs` seconds, until
-- it is closed: local m <close> = tf.summary.monitor("run"). m:step() counts steps where no session runs; m:queue(name, n)
-- tells how full a queue is. Once in `trace_secs` seconds (0: never) one run of a session is traced: which ops took its
-- time, and which values held its memory.
def("tf.summary.monitor", "logdir secs=1 trace_secs=30", function(logdir, secs, trace_secs)
  if type(logdir) == "table" and logdir.get_logdir then logdir = logdir:get_logdir() end
  if type(logdir) ~= "string" then T.fail("tf.summary.monitor", "expected a log folder or a FileWriter, not a %s", T.kind(logdir) or type(logdir)) end
  if type(trace_secs) ~= "number" then T.fail("tf.summary.monitor", "trace_secs must be a number of seconds, not a %s", T.kind(trace_secs) or type(trace_secs)) end
  return T.monitor(logdir, secs, trace_secs)
end)

-- For monitor.c: what a traced run did. Its writer is the calling thread's own; flush_secs = 0 keeps it live.
local Monitored, writers = T.namespace "Monitored", {}
local MOST_OPS, MOST_HOLDERS, MOST_TAG = 5, 4, 112
function Monitored.trace(trace, logdir, step)
  local w = writers[logdir]
  if not w then
    w = tf.summary.FileWriter(logdir, {flush_secs = 0, filename_suffix = ".trace"})
    writers[logdir] = w
  end
  local s, tag, memory = tf.Summary(), ("run %d"):format(step), trace:memory()
  if w.run_tags[tag] then return end
  for i, row in ipairs((trace:rows "op")) do
    if i > MOST_OPS then break end
    s.value.add {tag = ("monitor/op_share/" .. row.name):sub(1, MOST_TAG), simple_value = row.share}
  end
  s.value.add {tag = "monitor/peak_bytes", simple_value = memory.peak}
  for i = 1, math.min(MOST_HOLDERS, #memory.holders) do
    s.value.add {tag = ("monitor/held_bytes/" .. memory.holders[i].name):sub(1, MOST_TAG), simple_value = memory.holders[i].bytes}
  end
  w:add_summary(s, step)
  w:add_run_metadata(trace:run_metadata(), tag, step)
end

-- ------------------------------------------------------------------------------------- embeddings

local projector = T.namespace "tf.contrib.tensorboard.plugins.projector"
local known = {tensor_name = "string", metadata_path = "string", bookmarks_path = "string", tensor_path = "string", tensor_shape = "table", sprite = "table"}

-- {model_checkpoint_path =, embeddings = {{tensor_name =, metadata_path =}, ...}}; config.embeddings.add() makes one more.
function projector.ProjectorConfig(fields)
  local config = {embeddings = {}}
  for k, v in pairs(fields or {}) do config[k] = v end
  function config.embeddings.add(e)
    e = type(e) == "table" and e ~= config.embeddings and e or {}
    table.insert(config.embeddings, e)
    return e
  end
  return config
end

local function quoted(s) return '"' .. s:gsub('[\\"]', "\\%0"):gsub("\n", "\\n") .. '"' end
local function embedding_text(e)
  local out = {"embeddings {\n"}
  for key in pairs(e) do
    if not known[key] then
      local near = T.nearest(tostring(key), sorted(known))
      T.fail("projector", "unknown field '%s' of an embedding%s", tostring(key), near and "; did you mean '" .. near .. "'?" or "")
    end
  end
  for _, key in ipairs {"tensor_name", "metadata_path", "bookmarks_path", "tensor_path"} do
    if e[key] then out[#out + 1] = ("  %s: %s\n"):format(key, quoted(T.kind(e[key]) and e[key].name or e[key])) end
  end
  for _, n in ipairs(e.tensor_shape or {}) do out[#out + 1] = ("  tensor_shape: %d\n"):format(n) end
  if e.sprite then
    out[#out + 1] = ("  sprite {\n    image_path: %s\n"):format(quoted(e.sprite.image_path))
    for _, n in ipairs(e.sprite.single_image_dim or {}) do out[#out + 1] = ("    single_image_dim: %d\n"):format(n) end
    out[#out + 1] = "  }\n"
  end
  out[#out + 1] = "}\n"
  return table.concat(out)
end

-- Writes projector_config.pbtxt into the log folder: what TensorBoard and `tfsdk board` show as embeddings, out of the
-- folder's latest checkpoint where the config names none.
function projector.visualize_embeddings(logdir, config)
  local folder = type(logdir) == "table" and logdir.get_logdir and logdir:get_logdir() or logdir
  if type(folder) ~= "string" then T.fail("visualize_embeddings", "expected a log folder or a FileWriter, not a %s", T.kind(logdir) or type(logdir)) end
  local out = {}
  if config.model_checkpoint_path then out[1] = "model_checkpoint_path: " .. quoted(config.model_checkpoint_path) .. "\n" end
  for _, e in ipairs(config.embeddings) do out[#out + 1] = embedding_text(e) end
  T.write_file("visualize_embeddings", folder .. "/projector_config.pbtxt", table.concat(out))
end
