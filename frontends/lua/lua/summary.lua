-- provides tf.summary: scalar histogram image audio text tensor_summary merge merge_all FileWriter FileWriterCache Summary
-- provides tf.train: SummaryWriter summary_iterator
-- provides tf: Summary SummaryMetadata SessionLog scalar_summary histogram_summary image_summary audio_summary merge_summary merge_all_summaries
-- Summaries: ops that make serialized Summary messages, and files of events that TensorBoard reads.
local tf, T = ...
local raw, def = tf.raw, T.def
local summary = T.namespace "tf.summary"
local KEYS = tf.GraphKeys
if T.proto == nil then local _ = T.namespace "Graph".as_graph_def, tf.io.write_graph end
local P = T.proto

-- ------------------------------------------------------------------------------------- the ops

-- Tags are names: what may not stand in one becomes "_", and slashes at the beginning go.
local function clean(name) return (name:gsub("[^%-/%w_.]", "_"):gsub("^/+", "")) end

-- Calls fn(tag, name of the node, input). The node is named as its scope, so that TensorBoard shows them as one; the
-- tag is that path. input(value, dtype, name) makes a constant in the scope.
local function in_scope(name, family, fn)
  name = clean(name)
  local tag = family and clean(family) .. "/" or ""
  if tf.executing_eagerly() then return fn(tag .. name, nil, function(value, dtype) return tf.tensor(value, dtype) end) end
  local path = tf.get_default_graph():unique_name(tag .. name)
  return fn(tag .. path, tag .. name, function(value, dtype, as)
    local s <close> = tf.name_scope(path .. "/")
    return raw.Const{value = tf.tensor(value, dtype), dtype = dtype, name = as}
  end)
end
local function collect(node, collections)
  if T.kind(node) == "Node" then tf.add_to_collections(collections or {KEYS.SUMMARIES}, node) end
  return node
end

def("tf.summary.scalar", "name tensor collections? family?", function(name, x, collections, family)
  x = T.value(x)
  return collect(in_scope(name, family, function(tag, node, input)
    return raw.ScalarSummary(input(tag, "string", "tags"), x, {name = node})
  end), collections)
end)
def("tf.summary.histogram", "name values collections? family?", function(name, x, collections, family)
  x = T.value(x)
  return collect(in_scope(name, family, function(tag, node, input)
    return raw.HistogramSummary(input(tag, "string", "tag"), x, {name = node})
  end), collections)
end)
def("tf.summary.image", "name tensor max_outputs=3 collections? family?", function(name, x, max, collections, family)
  x = T.value(x)
  return collect(in_scope(name, family, function(tag, node, input)
    return raw.ImageSummary(input(tag, "string", "tag"), x, {max_images = max, name = node})
  end), collections)
end)
def("tf.summary.audio", "name tensor sample_rate max_outputs=3 collections? family?", function(name, x, rate, max, collections, family)
  x = T.value(x)
  return collect(in_scope(name, family, function(tag, node, input)
    rate = T.kind(rate) and rate or input(rate, "float32", "sample_rate")
    return raw.AudioSummaryV2(input(tag, "string", "tag"), x, rate, {max_outputs = max, name = node})
  end), collections)
end)

-- SummaryMetadata{plugin_data 1{plugin_name 1, content 2}, display_name 2, summary_description 3}
local function metadata_of(m)
  if type(m) ~= "table" then return m or "" end
  local plugin = m.plugin_data or m
  local data = P.maybe("bytes", 1, plugin.plugin_name) .. P.maybe("bytes", 2, plugin.content)
  return P.maybe("bytes", 1, data) .. P.maybe("bytes", 2, m.display_name) .. P.maybe("bytes", 3, m.summary_description)
end
function tf.SummaryMetadata(fields) return fields end
def("tf.summary.tensor_summary", "name tensor summary_description? collections? summary_metadata? family? display_name?",
  function(name, x, description, collections, metadata, family, display)
    x = T.value(x)
    if type(metadata) ~= "string" then
      local m = {}
      for key, value in pairs(metadata or {}) do m[key] = value end
      m.display_name = display or m.display_name
      m.summary_description = description or m.summary_description
      metadata = metadata_of(m)
    end
    return collect(in_scope(name, family, function(tag, node, input)
      local more = input(metadata, "string", "serialized_summary_metadata")
      return raw.TensorSummaryV2(input(tag, "string", "tag"), x, more, {name = node})
    end), collections)
  end)
def("tf.summary.text", "name tensor collections?", function(name, x, collections)
  x = T.value(x, "string")
  if x.dtype ~= "string" then T.fail("tf.summary.text", "expected strings, not %s", x.dtype) end
  return summary.tensor_summary(name, x, {summary_metadata = {plugin_name = "text"}, collections = collections})
end)

def("tf.summary.merge", "inputs collections? name?", function(inputs, collections, name)
  inputs = T.list(inputs, "tf.summary.merge", "inputs")
  if #inputs == 0 then T.fail("tf.summary.merge", "there are no summaries to merge") end
  local s <close> = T.scope(name, "Merge")
  local merged = raw.MergeSummary(inputs)
  if collections then collect(merged, collections) end
  return merged
end)
-- nil where the graph has no summaries.
def("tf.summary.merge_all", "key=summaries scope? name?", function(key, scope, name)
  local all = tf.get_collection(key, scope)
  if #all == 0 then return nil end
  return summary.merge(all, {name = name})
end)

-- ------------------------------------------------------------------------------------- messages by hand

-- tf.Summary{value = {tf.Summary.Value{tag = "loss", simple_value = 0.5}}}: a table; SerializeToString gives its bytes.
local Message = {}
Message.__index = Message
Message.__name = "Summary"
local function value_bytes(v)
  local out = {P.maybe("bytes", 1, v.tag)}
  if v.simple_value ~= nil then out[#out + 1] = P.float(2, v.simple_value) end
  for field, name in pairs {[4] = "image", [5] = "histo", [6] = "audio"} do -- serialized
    if v[name] then out[#out + 1] = P.bytes(field, v[name]) end
  end
  if v.tensor ~= nil then out[#out + 1] = P.bytes(8, P.tensor(T.value(v.tensor))) end
  if v.metadata then out[#out + 1] = P.bytes(9, metadata_of(v.metadata)) end
  return P.bytes(1, table.concat(out))
end
function Message:SerializeToString()
  local out = {}
  for i, v in ipairs(self.value) do out[i] = value_bytes(v) end
  return table.concat(out)
end
local known = {"tag", "simple_value", "image", "histo", "audio", "tensor", "metadata"}
local function check_value(v)
  for key in pairs(v) do
    local found = false
    for _, name in ipairs(known) do found = found or name == key end
    if not found then
      local near = T.nearest(tostring(key), known)
      T.fail("tf.Summary.Value", "unknown field '%s'%s", tostring(key), near and "; did you mean '" .. near .. "'?" or "")
    end
  end
  return v
end
tf.Summary = setmetatable({Value = check_value}, {__call = function(_, fields)
  local value = {}
  for i, v in ipairs(fields and fields.value or {}) do value[i] = check_value(v) end
  function value.add(v) value[#value + 1] = check_value(v) end
  return setmetatable({value = value}, Message)
end})
summary.Summary = tf.Summary
-- SessionLog{status 1, checkpoint_path 2, msg 3}
tf.SessionLog = setmetatable({STATUS_UNSPECIFIED = 0, START = 1, STOP = 2, CHECKPOINT = 3},
  {__call = function(_, fields) return fields end})
local function session_log(log)
  if type(log) == "string" then return log end
  return P.maybe("int", 1, log.status) .. P.maybe("bytes", 2, log.checkpoint_path) .. P.maybe("bytes", 3, log.msg)
end

-- RunMetadata{step_stats 1{dev_stats 1*{device 1, node_stats 2*}}}; NodeExecStats{node_name 1, all_start_micros 2,
-- op_start_rel_micros 3, op_end_rel_micros 4, all_end_rel_micros 5, memory 6*{allocator_name 1, total_bytes 2,
-- peak_bytes 3, live_bytes 4}, output 7*{slot 1, tensor_description 3{dtype 1, shape 2, allocation_description 4
-- {requested_bytes 1, allocated_bytes 2, allocator_name 3}}}, timeline_label 8, scheduled_micros 9, thread_id 10}
-- (step_stats.proto, tensor_description.proto, allocation_description.proto)
local function output_bytes(o)
  local memory = P.maybe("int", 1, o.bytes) .. P.maybe("int", 2, o.bytes) .. P.maybe("bytes", 3, o.allocator_name)
  return P.bytes(7, P.maybe("int", 1, o.slot)
    .. P.bytes(3, P.maybe("int", 1, P.types[o.dtype]) .. P.bytes(2, P.shape(o.shape)) .. P.bytes(4, memory)))
end
local function run_metadata(m)
  if type(m) == "string" then return m end
  local devices = {}
  for _, d in ipairs((m.step_stats or m).dev_stats or {}) do
    local out = {P.maybe("bytes", 1, d.device)}
    for _, n in ipairs(d.node_stats or {}) do
      local s = P.maybe("bytes", 1, n.node_name) .. P.maybe("int", 2, n.all_start_micros) .. P.maybe("int", 3, n.op_start_rel_micros)
        .. P.maybe("int", 4, n.op_end_rel_micros) .. P.maybe("int", 5, n.all_end_rel_micros)
      for _, memory in ipairs(n.memory or {}) do
        s = s .. P.bytes(6, P.maybe("bytes", 1, memory.allocator_name) .. P.maybe("int", 2, memory.total_bytes)
          .. P.maybe("int", 3, memory.peak_bytes) .. P.maybe("int", 4, memory.live_bytes))
      end
      for _, o in ipairs(n.output or {}) do s = s .. output_bytes(o) end
      s = s .. P.maybe("bytes", 8, n.timeline_label) .. P.maybe("int", 9, n.scheduled_micros) .. P.maybe("int", 10, n.thread_id)
      out[#out + 1] = P.bytes(2, s)
    end
    devices[#devices + 1] = P.bytes(1, table.concat(out))
  end
  return P.bytes(1, table.concat(devices))
end
T.run_metadata_bytes = run_metadata

-- ------------------------------------------------------------------------------------- files

local FileWriter = {}
FileWriter.__index = FileWriter
FileWriter.__name = "FileWriter"
FileWriter.__tostring = function(w) return ("FileWriter(%q%s)"):format(w.logdir, w.closed and ", closed" or "") end

-- The open file; after an error of flush a new one: what it could not write is tried once more on the way.
local function file_of(w)
  if w.closed then T.fail_code(9, "FileWriter", ("the writer of '%s' is closed; reopen() opens a new file"):format(w.logdir)) end
  if not w.file then w.file = T.events_open(w.logdir, w.max_queue, w.flush_secs, w.suffix) end
  return w.file
end
local function step_of(step)
  if step == nil then return 0 end
  local kind = T.kind(step)
  if kind == "Variable" or kind == "Tensor" then step = step:item() end
  local whole = math.tointeger(step)
  if not whole then T.fail("FileWriter", "global_step must be a whole number, not %s", kind or tostring(step)) end
  return whole
end
local function add(w, what, bytes, step, wall_time) T.events_add(file_of(w), what, bytes, step_of(step), wall_time) end

-- A summary: what a session gave, a tensor, or a tf.Summary.
local function summary_bytes(s, who)
  if type(s) == "string" then return s end
  if getmetatable(s) == Message then return s:SerializeToString() end
  if T.kind(s) == "Tensor" and s.dtype == "string" and s:size() == 1 then return s:reshape{}:item() end
  return T.fail(who, "a summary is what running a summary op gives, or a tf.Summary, not a %s", T.kind(s) or type(s))
end
function FileWriter:add_summary(s, global_step, wall_time)
  add(self, "summary", summary_bytes(s, "add_summary"), global_step, wall_time)
end
-- event: a serialized Event, or {wall_time =, step =, summary = | graph_def = | session_log = | ...}
function FileWriter:add_event(event)
  if type(event) == "string" then return add(self, "event", event, 0) end
  for _, what in ipairs {"summary", "graph_def", "meta_graph_def", "session_log", "tagged_run_metadata"} do
    local content = event[what]
    if content then
      if what == "summary" then content = summary_bytes(content, "add_event") end
      if what == "session_log" then content = session_log(content) end
      return add(self, what, content, event.step, event.wall_time)
    end
  end
  T.fail("add_event", "the event has no content; there are summary, graph_def, meta_graph_def, session_log, tagged_run_metadata")
end
function FileWriter:add_graph(graph, global_step, graph_def)
  graph = graph or graph_def
  local bytes
  if type(graph) == "string" then bytes = graph
  elseif T.kind(graph) == "Graph" then bytes = graph:as_graph_def{add_shapes = true}:SerializeToString()
  elseif type(graph) == "table" and graph.SerializeToString then bytes = graph:SerializeToString()
  else T.fail("add_graph", "expected a graph or a GraphDef, not a %s", T.kind(graph) or type(graph)) end
  add(self, "graph_def", bytes, global_step)
end
function FileWriter:add_meta_graph(bytes, global_step)
  if type(bytes) ~= "string" then T.fail("add_meta_graph", "expected a serialized MetaGraphDef, not a %s", type(bytes)) end
  add(self, "meta_graph_def", bytes, global_step)
end
-- metadata: a serialized RunMetadata, or its fields as tables. TaggedRunMetadata{tag 1, run_metadata 2}
function FileWriter:add_run_metadata(metadata, tag, global_step)
  if self.run_tags[tag] then T.fail("add_run_metadata", "the tag '%s' was used before", tostring(tag)) end
  self.run_tags[tag] = true
  add(self, "tagged_run_metadata", P.bytes(1, tag) .. P.bytes(2, run_metadata(metadata)), global_step)
end
function FileWriter:add_session_log(log, global_step) add(self, "session_log", session_log(log), global_step) end
function FileWriter:get_logdir() return self.logdir end

-- Writing in define-by-run mode: writer:scalar("loss", loss, step).
function FileWriter:scalar(tag, value, step)
  local now <close> = tf.eager()
  self:add_summary(raw.ScalarSummary(tf.tensor(tag, "string"), T.value(value)), step)
end
local function recorded(op, rest)
  return function(self, tag, value, step, options)
    local now <close> = tf.eager()
    self:add_summary(raw[op](tf.tensor(tag, "string"), T.value(value), rest and rest(options or {}) or {}), step)
  end
end
FileWriter.histogram = recorded "HistogramSummary"
FileWriter.image = recorded("ImageSummary", function(o) return {max_images = o.max_outputs or 3} end)
function FileWriter:audio(tag, value, sample_rate, step, options)
  local now <close> = tf.eager()
  self:add_summary(raw.AudioSummaryV2(tf.tensor(tag, "string"), T.value(value), tf.tensor(sample_rate, "float32"),
    {max_outputs = options and options.max_outputs or 3}), step)
end
function FileWriter:tensor(tag, value, step, metadata)
  local now <close> = tf.eager()
  self:add_summary(raw.TensorSummaryV2(tf.tensor(tag, "string"), T.value(value), tf.tensor(metadata_of(metadata), "string")), step)
end
-- options: num_thresholds, weights
function FileWriter:pr_curve(tag, labels, predictions, step, options)
  local now <close>, o = tf.eager(), options or {}
  if not T.pr_curve then local _ = summary.pr_curve end
  local value, metadata = T.pr_curve(labels, predictions, o.num_thresholds, o.weights)
  self:tensor(tag, value, step, metadata)
end
-- What the run was started with; options: trial_id, start_time_secs.
function FileWriter:hparams(hparams, options) self:add_summary(summary.hp.hparams_pb(hparams, options or {}), 0) end
function FileWriter:text(tag, value, step) self:tensor(tag, T.kind(value) and value or tf.tensor(value, "string"), step, {plugin_name = "text"}) end

-- Everything that was added is in the file when it returns; what went wrong on the way is raised here.
function FileWriter:flush()
  if self.closed or not self.file then return end
  local ok, why = pcall(T.events_flush, self.file)
  if ok then return end
  self.file = nil -- the collector closes it, which tries once more
  error(why, 0)
end
function FileWriter:close()
  local file = self.file
  self.closed, self.file = true, nil
  if file then T.events_close(file) end
end
FileWriter.__close = function(w) if not w.closed then w:close() end end
-- A new file in the same folder.
function FileWriter:reopen()
  self.closed = false
  file_of(self)
end

def("tf.summary.FileWriter", "logdir graph? max_queue=10 flush_secs=120 graph_def? filename_suffix? session?",
  function(logdir, graph, max_queue, flush_secs, graph_def, suffix)
    if type(logdir) ~= "string" then T.fail("tf.summary.FileWriter", "logdir must be a path, not a %s", T.kind(logdir) or type(logdir)) end
    local w = setmetatable({logdir = logdir, max_queue = max_queue, flush_secs = math.ceil(flush_secs), suffix = suffix, run_tags = {}},
      FileWriter)
    file_of(w)
    if graph or graph_def then w:add_graph(graph, 0, graph_def) end
    return w
  end)
tf.train.SummaryWriter = summary.FileWriter
-- One writer a folder.
local cache = {}
summary.FileWriterCache = {
  get = function(logdir)
    local w = cache[logdir]
    if not w or w.closed then w = summary.FileWriter(logdir) end
    cache[logdir] = w
    return w
  end,
  clear = function()
    for key, w in pairs(cache) do
      cache[key] = nil
      w:close()
    end
  end}

-- for event in tf.train.summary_iterator(path): {wall_time =, step =, file_version =} or {..., summary = {value = {...}}},
-- its values {tag =, kind =, plugin =, simple_value =, bytes =}.
def("tf.train.summary_iterator", "path", function(path)
  local next_of, records = tf.data.from_file(path, {reader = "tfevents"}):iter()
  local held, fault
  local function pull()
    if fault then error(fault, 0) end
    local r = held or next_of(records)
    held = nil
    return r
  end
  return function()
    local r = pull()
    if not r then return nil end
    local event = {wall_time = r.wall_time:item(), step = r.step:item(), offset = r.offset:item()}
    local kind = r.kind:item()
    if r.tag:item() == "" and (kind == "file_version" or kind:find "_" or kind == "empty") then
      event[kind] = r.data:item()
      return event
    end
    local at = event.offset
    event.summary = {value = {}}
    repeat
      local v = {tag = r.tag:item(), kind = r.kind:item(), plugin = r.plugin:item(), bytes = r.data:item()}
      if v.kind == "scalar" then v.simple_value = r.value:item() end
      table.insert(event.summary.value, v)
      local ok, more = pcall(next_of, records) -- damage behind this event is told after it
      if not ok then fault = more end
      r = ok and more
    until not r or r.offset:item() ~= at
    held = r or nil
    return event
  end
end)

-- ------------------------------------------------------------------------------------- old names

def("tf.scalar_summary", "tags values collections? name?", function(tags, values, collections, name)
  return collect(raw.ScalarSummary(T.value(tags, "string"), T.value(values), {name = name or "ScalarSummary"}), collections)
end)
def("tf.histogram_summary", "tag values collections? name?", function(tag, values, collections, name)
  return collect(raw.HistogramSummary(T.value(tag, "string"), T.value(values), {name = name or "HistogramSummary"}), collections)
end)
def("tf.image_summary", "tag tensor max_images=3 collections? name?", function(tag, x, max, collections, name)
  return collect(raw.ImageSummary(T.value(tag, "string"), T.value(x), {max_images = max, name = name or "ImageSummary"}), collections)
end)
def("tf.audio_summary", "tag tensor sample_rate max_outputs=3 collections? name?", function(tag, x, rate, max, collections, name)
  return collect(raw.AudioSummaryV2(T.value(tag, "string"), T.value(x), T.value(rate, "float32"),
    {max_outputs = max, name = name or "AudioSummary"}), collections)
end)
function tf.merge_summary(...) return summary.merge(...) end
function tf.merge_all_summaries(...) return summary.merge_all(...) end
