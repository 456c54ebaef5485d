-- provides tf.train: Saver latest_checkpoint get_checkpoint_state update_checkpoint_state checkpoint_exists remove_checkpoint list_variables load_variable load_checkpoint NewCheckpointReader get_checkpoint_mtimes catch_stop
-- provides Iterator: position
-- Checkpoints: saving and restoring variables and what else a run needs to go on, and reading the files of
-- other programs. A checkpoint is named by its prefix; tf.train.Saver writes PREFIX.json and data files beside
-- it, and restores those, TensorFlow's own, safetensors, npz and HDF5.
local tf, T = ...
local def = T.def
local train = T.namespace "tf.train"

-- ------------------------------------------------------------------------------------- paths and formats

local function folder_of(path) return path:match "^(.*)/[^/]*$" or (path:sub(1, 1) == "/" and "/" or ".") end
local function base_of(path) return path:match "[^/]*$" end
local function join(folder, name)
  if name:sub(1, 1) == "/" or folder == "." or folder == "" then return name end
  return (folder == "/" and "" or folder) .. "/" .. name
end
local endings = {safetensors = "safetensors", npz = "npz", h5 = "hdf5", hdf5 = "hdf5", keras = "hdf5", index = "tf_checkpoint",
  json = "checkpoint", pth = "pth", pt = "pth"}
local function first_bytes(path)
  local file, why = io.open(path, "rb")
  if not file then T.fail_code(5, nil, why) end
  local bytes = file:read(8) or ""
  file:close()
  return bytes
end
local function last_bytes(path)
  local file = io.open(path, "rb")
  file:seek("end", -8)
  local bytes = file:read(8)
  file:close()
  return bytes
end
-- The reader for a file, or for a checkpoint's prefix; nil when nothing is there.
local function format_of(path)
  local kind = T.path_kind(path)
  local reader = kind == "file" and endings[(path:match "%.(%w+)$" or ""):lower()]
  if reader then return reader end
  if T.path_kind(path .. ".json") == "file" then return "checkpoint" end
  if T.path_kind(path .. ".index") == "file" then return "tf_checkpoint" end
  if kind ~= "file" then return nil end
  local head = first_bytes(path)
  if head:sub(2, 4) == "HDF" then return "hdf5" end
  if head:sub(1, 2) == "PK" then return "npz" end
  if #head == 8 and string.unpack("<I8", head) < 100000000 then return "safetensors" end
  if last_bytes(path) == "\x57\xfb\x80\x8b\x24\x75\x47\xdb" then return "tf_checkpoint_v1" end -- a table's magic number
  if head:byte(1) == 0x80 then return "pth" end -- a pickle
  T.fail_code(15, nil, path .. ": this is no file of tensors that is known")
end
-- Reader and path for a file, a prefix, or a folder, whose latest checkpoint is meant.
local function find(path, who)
  if type(path) ~= "string" then T.fail(who, "expected a path, not a %s", T.kind(path) or type(path)) end
  if T.path_kind(path) == "folder" then
    local latest = train.latest_checkpoint(path)
    if not latest then T.fail_code(5, who, path .. ": there is no checkpoint in this folder (no file 'checkpoint')") end
    path = latest
  end
  local reader = format_of(path)
  if not reader then
    T.fail_code(5, who, ("%s: there is no checkpoint: neither this file, nor %s.json, nor %s.index"):format(path, path, path))
  end
  return reader, path
end

def("tf.train.checkpoint_exists", "checkpoint_prefix", function(path) return format_of(path) ~= nil end)

-- The files of a checkpoint of ours or of TensorFlow's; nothing for other files.
local function files_of(path)
  local out, seen = {}, {}
  local function add(name)
    if not seen[name] and T.path_kind(name) == "file" then out[#out + 1], seen[name] = name, true end
  end
  if T.path_kind(path .. ".json") == "file" then
    add(path .. ".json") -- first: without it the rest is no checkpoint
    local ok, list = pcall(T.file_list, path, "checkpoint")
    if ok then for _, t in ipairs(list) do if t.file ~= "" then add(t.file) end end end
    add(path .. ".safetensors")
  end
  if T.path_kind(path .. ".index") == "file" then
    add(path .. ".index")
    local ok, list = pcall(T.file_list, path, "tf_checkpoint")
    if ok then for _, t in ipairs(list) do if t.file ~= "" then add(t.file) end end end
    add(path .. ".data-00000-of-00001")
    add(path .. ".meta")
  end
  return out
end
local function remove(path)
  for _, name in ipairs(files_of(path)) do os.remove(name) end
end
def("tf.train.remove_checkpoint", "checkpoint_prefix checkpoint_format_version? meta_graph_suffix=meta", function(path)
  if #files_of(path) == 0 then T.fail_code(5, "tf.train.remove_checkpoint", path .. ": there is no checkpoint") end
  remove(path)
end)

-- ------------------------------------------------------------------------------------- the state file

-- "checkpoint" is TensorFlow's CheckpointState as a text proto: fields `name: value`, one after another.
local escapes = {n = "\n", t = "\t", r = "\r", ['"'] = '"', ["'"] = "'", ["\\"] = "\\", a = "\a", b = "\b", f = "\f", v = "\v"}
local function unescape(text)
  return (text:gsub("\\(%d%d?%d?)", function(o)
    return o:find "[89]" and "\\" .. o or string.char(tonumber(o, 8) & 255)
  end):gsub("\\(.)", function(c) return escapes[c] or "\\" .. c end))
end
local function escape(text)
  return (text:gsub('[\\"%c\128-\255]', function(c)
    return (c == "\\" or c == '"') and "\\" .. c or ("\\%03o"):format(c:byte())
  end))
end
local known = {model_checkpoint_path = "text", all_model_checkpoint_paths = "texts", all_model_checkpoint_timestamps = "numbers",
  last_preserved_timestamp = "number"}
local function parse_state(path, text)
  local out = {all_model_checkpoint_paths = {}, all_model_checkpoint_timestamps = {}}
  local at = 1
  local function bad(what)
    local _, line = text:sub(1, at):gsub("\n", "")
    T.fail_code(15, nil, ("%s:%d: byte %d: %s"):format(path, line + 1, at - 1, what))
  end
  while true do
    at = text:match("^[%s,;]*()", at)
    if text:sub(at, at) == "#" then
      at = text:match("^[^\n]*()", at)
    elseif at > #text then
      break
    else
      local name, after = text:match("^([%a_][%w_]*)%s*:%s*()", at)
      if not name then bad "a field and ':' are expected" end
      at = after
      local value
      local quote = text:match("^[\"']", at)
      if quote then
        local close = at + 1
        while close <= #text and text:sub(close, close) ~= quote do
          if text:sub(close, close) == "\n" then bad "a string does not end" end
          close = close + (text:sub(close, close) == "\\" and 2 or 1)
        end
        if close > #text then bad "a string does not end" end
        value, at = unescape(text:sub(at + 1, close - 1)), close + 1
      else
        local word, behind = text:match("^([%w.+-]+)()", at)
        value = word and tonumber(word)
        if not value then bad "a string or a number is expected" end
        at = behind
      end
      local kind = known[name]
      if kind and (kind:sub(1, 4) == "text") ~= (type(value) == "string") then bad(name .. " is of another type") end
      if kind == "texts" or kind == "numbers" then table.insert(out[name], value) elseif kind then out[name] = value end
    end
  end
  return out
end

-- The state of a folder as a table with CheckpointState's fields, paths as they can be opened; nil when there
-- is no state file.
def("tf.train.get_checkpoint_state", "checkpoint_dir latest_filename=checkpoint", function(folder, name)
  local path = join(folder, name)
  if T.path_kind(path) ~= "file" then return nil end
  local file, why = io.open(path, "rb")
  if not file then T.fail_code(7, "tf.train.get_checkpoint_state", why) end
  local text = file:read "a"
  file:close()
  local state = parse_state(path, text)
  if not state.model_checkpoint_path then return nil end
  local function open(p) return join(folder, p) end
  state.model_checkpoint_path = open(state.model_checkpoint_path)
  for i, p in ipairs(state.all_model_checkpoint_paths) do state.all_model_checkpoint_paths[i] = open(p) end
  return state
end)

-- The newest checkpoint of a folder, nil if none was ever saved. One that the state file names and that is not
-- there is an error: a run would begin anew without a word.
def("tf.train.latest_checkpoint", "checkpoint_dir latest_filename=checkpoint", function(folder, name)
  local state = train.get_checkpoint_state(folder, name)
  if not state then return nil end
  if format_of(state.model_checkpoint_path) then return state.model_checkpoint_path end
  local there = {}
  for _, p in ipairs(state.all_model_checkpoint_paths) do if format_of(p) then there[#there + 1] = p end end
  T.fail_code(5, "tf.train.latest_checkpoint", ("%s names the checkpoint '%s', which is not there; %s"):format(join(folder, name),
    state.model_checkpoint_path, #there > 0 and "there are: " .. table.concat(there, ", ") or "nor is any other that it names"))
end)

local function relative(folder, path)
  local prefix = folder == "." and "" or folder .. "/"
  if folder ~= "." and path:sub(1, #prefix) == prefix then return path:sub(#prefix + 1) end
  return path
end
-- Paths in the state file's own folder are relative to it, so that the folder can be moved.
local function state_text(folder, latest, all, preserved)
  local lines = {('model_checkpoint_path: "%s"'):format(escape(relative(folder, latest)))}
  for _, c in ipairs(all) do lines[#lines + 1] = ('all_model_checkpoint_paths: "%s"'):format(escape(relative(folder, c.path))) end
  for _, c in ipairs(all) do lines[#lines + 1] = ("all_model_checkpoint_timestamps: %.17g"):format(c.time) end
  if preserved then lines[#lines + 1] = ("last_preserved_timestamp: %.17g"):format(preserved) end
  return table.concat(lines, "\n") .. "\n"
end
def("tf.train.update_checkpoint_state", "save_dir model_checkpoint_path all_model_checkpoint_paths? latest_filename=checkpoint all_model_checkpoint_timestamps? last_preserved_timestamp?",
  function(folder, latest, paths, name, times, preserved)
    local all = {}
    for i, p in ipairs(paths or {latest}) do all[i] = {path = p, time = times and times[i] or os.time()} end
    T.write_file("tf.train.update_checkpoint_state", join(folder, name), state_text(folder, latest, all, preserved))
  end)
def("tf.train.get_checkpoint_mtimes", "checkpoint_prefixes", function(paths)
  local out = {}
  for _, p in ipairs(paths) do
    local reader = format_of(p)
    if reader == "checkpoint" then out[#out + 1] = tf.json.decode(T.file_metadata(p, reader)).saved_at end
  end
  return out
end)

-- ------------------------------------------------------------------------------------- reading files

local Reader = {}
Reader.__index = Reader
Reader.__name = "CheckpointReader"
-- A file, a checkpoint's prefix, or a folder. {map = true}: tensors are the file's pages, see tfsdk.h.
local function new_reader(who)
  return function(path, map)
    local reader, found = find(path, who)
    local self = setmetatable({path = found, reader = reader, map = map, list = T.file_list(found, reader), by_name = {}}, Reader)
    for _, t in ipairs(self.list) do self.by_name[t.name] = t end
    return self
  end
end
def("tf.train.NewCheckpointReader", "filepattern map=false", new_reader "tf.train.NewCheckpointReader")
def("tf.train.load_checkpoint", "ckpt_dir_or_file map=false", new_reader "tf.train.load_checkpoint")
function Reader:has_tensor(name) return self.by_name[name] ~= nil end
function Reader:names()
  local out = {}
  for i, t in ipairs(self.list) do out[i] = t.name end
  return out
end
function Reader:get_variable_to_shape_map()
  local out = {}
  for _, t in ipairs(self.list) do out[t.name] = {table.unpack(t.shape)} end
  return out
end
function Reader:get_variable_to_dtype_map()
  local out = {}
  for _, t in ipairs(self.list) do out[t.name] = t.dtype end
  return out
end
function Reader:get_tensor(name)
  if type(name) ~= "string" then T.fail("get_tensor", "the name of a tensor is a string") end
  return T.file_read(self.path, self.reader, {name}, self.map)[1]
end
-- All tensors, or those of a list, by name.
function Reader:get_tensors(names)
  names = names or self:names()
  local out, list = {}, T.file_read(self.path, self.reader, names, self.map)
  for i, name in ipairs(names) do out[name] = list[i] end
  return out
end
-- What the file says besides: a checkpoint's state, the metadata of safetensors, attributes of HDF5.
function Reader:metadata() return tf.json.decode(T.file_metadata(self.path, self.reader)) end
function Reader:debug_string()
  local lines = {}
  for i, t in ipairs(self.list) do lines[i] = ("%s (%s) [%s]"):format(t.name, t.dtype, table.concat(t.shape, ",")) end
  return table.concat(lines, "\n")
end
Reader.__tostring = Reader.debug_string

def("tf.train.list_variables", "ckpt_dir_or_file", function(path)
  local out = {}
  for i, t in ipairs(train.load_checkpoint(path).list) do out[i] = {t.name, {table.unpack(t.shape)}} end
  return out
end)
def("tf.train.load_variable", "ckpt_dir_or_file name", function(path, name)
  return train.load_checkpoint(path):get_tensor((name:gsub(":0$", "")))
end)

-- ------------------------------------------------------------------------------------- Saver

local Saver = {}
Saver.__index = Saver
Saver.__name = "Saver"

local function plain_name(v) return (v.name:gsub(":0$", "")) end
-- {{name in the checkpoint, variable}, ...} by name. Two variables under one name are an error.
local function pairs_of(list, who)
  local out, seen = {}, {}
  local function add(name, v)
    if T.kind(v) ~= "Variable" then T.fail(who, "'%s' is no variable, but a %s", tostring(name), T.kind(v) or type(v)) end
    if seen[name] then T.fail(who, "two variables would be saved under the name '%s': %s and %s", name, plain_name(seen[name]), plain_name(v)) end
    seen[name] = v
    out[#out + 1] = {name, v}
  end
  if T.kind(list) == "Variable" then list = {list} end
  if type(list) ~= "table" or T.kind(list) then T.fail(who, "'var_list' is a list of variables, or a table {name = variable}") end
  for key, v in pairs(list) do
    if type(key) == "string" then add(key, v) end
  end
  for _, v in ipairs(list) do add(T.kind(v) == "Variable" and plain_name(v) or tostring(v), v) end
  table.sort(out, function(a, b) return a[1] < b[1] end)
  return out
end

-- TensorFlow's arguments; `background` lets save() return before the file is written, `shard_bytes` is the size
-- from which data files are cut (sharded = true alone: 2 GB).
def("tf.train.Saver", "var_list? reshape=false sharded=false max_to_keep=5 keep_checkpoint_every_n_hours=10000 name? restore_sequentially=false saver_def? builder? defer_build=false allow_empty=false write_version? pad_step_number=false save_relative_paths=false filename? background=false shard_bytes?",
  function(list, reshape, sharded, keep, hours, _, _, _, _, defer, empty, _, pad, _, _, background, shard_bytes)
    local self = setmetatable({list = list, reshape = reshape, max_to_keep = keep or 0, hours = hours, allow_empty = empty, pad = pad,
      background = background, shard_bytes = shard_bytes or (sharded and 2000000000 or 0), kept = {},
      next_preserved = os.time() + hours * 3600}, Saver)
    if math.type(self.max_to_keep) ~= "integer" or self.max_to_keep < 0 then
      T.fail("tf.train.Saver", "'max_to_keep' is a whole number of 0 (all) or more, not %s", tostring(keep))
    end
    if not defer then self:build() end
    return self
  end)
function Saver:build()
  if self.entries then return end
  local list = self.list
  if list == nil or (type(list) == "table" and not T.kind(list) and next(list) == nil) then -- Saver{} gives no list
    list = {table.unpack(tf.global_variables())}
    if not tf.executing_eagerly() then
      for _, v in ipairs(tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)) do list[#list + 1] = v end
    end
  end
  local entries = pairs_of(list, "tf.train.Saver")
  if #entries == 0 and not self.allow_empty then T.fail("tf.train.Saver", "there are no variables to save") end
  self.entries = entries
end

local function values_of(self, sess, who)
  local names, tensors = {}, {}
  for i, entry in ipairs(self.entries) do
    local name, v = entry[1], entry[2]
    names[i] = name
    if v.graph then
      if not sess then T.fail(who, "variable '%s' belongs to a graph: hand over the session", name) end
      if sess.graph ~= v.graph then T.fail(who, "variable '%s' is not of the session's graph", name) end
      local ok, value = pcall(sess.read, sess, plain_name(v))
      if not ok then
        if sess.closed then error(value, 0) end
        T.fail_code(9, who, ("variable '%s' has no value yet: run its initializer first"):format(plain_name(v)))
      end
      tensors[i] = value
    else
      tensors[i] = T.value(v)
    end
  end
  return names, tensors
end

local function step_number(step, sess)
  if step == nil or type(step) == "number" then return step end
  if T.kind(step) == "Tensor" then return step:item() end
  if T.kind(step) == "Variable" and not step.graph then return step:item() end
  return sess:run(step)
end

-- The plugins whose ops a graph has: what the run needs.
local function plugins_of(graph)
  local data = T.graph_data(graph)
  local ops = graph:get_operations()
  if data.saver_plugins and data.saver_plugins.n == #ops then return data.saver_plugins.list end
  local types, plugins, list = {}, {}, {}
  for _, op in ipairs(ops) do types[op.type] = true end
  for name in pairs(types) do plugins[T.op_plugin(name)] = true end
  for name in pairs(plugins) do if name ~= "" then list[#list + 1] = name end end
  table.sort(list)
  data.saver_plugins = {n = #ops, list = list}
  return list
end

-- What is left of an earlier run in this folder under this name is this saver's to rotate.
local function recover(self, folder, prefix, latest_filename)
  if self.recovered then return end
  self.recovered = true
  local ok, state = pcall(train.get_checkpoint_state, folder, latest_filename)
  if not ok or not state then return end
  for i, p in ipairs(state.all_model_checkpoint_paths) do
    local step = p:sub(1, #prefix + 1) == prefix .. "-" and p:sub(#prefix + 2)
    if step and step:find "^%d+$" and format_of(p) then
      table.insert(self.kept, {path = p, time = state.all_model_checkpoint_timestamps[i] or os.time()})
    end
  end
  if state.last_preserved_timestamp then
    self.next_preserved = math.max(state.last_preserved_timestamp + self.hours * 3600, self.next_preserved - self.hours * 3600)
  end
end

-- Enters a checkpoint into the list; returns the new list and what falls out of it.
local function rotate(self, path)
  local kept, gone = {}, {}
  for _, c in ipairs(self.kept) do if c.path ~= path then kept[#kept + 1] = c end end
  kept[#kept + 1] = {path = path, time = os.time()}
  while self.max_to_keep > 0 and #kept > self.max_to_keep do
    local oldest = table.remove(kept, 1)
    if oldest.time > self.next_preserved then -- this one stays for good
      self.next_preserved = self.next_preserved + self.hours * 3600
      self.preserved = oldest.time
    else
      gone[#gone + 1] = oldest.path
    end
  end
  return kept, gone
end

-- Waits until what is saved in the background is on the disk; raises its error.
function Saver:wait()
  local pending = self.pending
  if not pending then return end
  self.pending = nil
  T.saving_wait(pending.saving)
  for _, path in ipairs(pending.gone) do remove(path) end
end
function Saver:is_saving() return self.pending ~= nil and not T.saving_done(self.pending.saving) end
function Saver.__close(self) self:wait() end
function Saver.__gc(self) pcall(self.wait, self) end

local save = T.bind("save", "self sess? save_path global_step? latest_filename=checkpoint meta_graph_suffix=meta write_meta_graph=true write_state=true strip_default_attrs=false save_debug_info=false iterators? epoch? best_metric? state? background?",
  function(self, sess, path, step, latest_filename, _, _, write_state, _, _, iterators, epoch, best, extra, background)
    self:build()
    if latest_filename:find "/" then T.fail("save", "'latest_filename' is a name without '/', not '%s'", latest_filename) end
    local folder, base = folder_of(path), base_of(path)
    if base == "" or base == latest_filename then T.fail("save", "'%s' cannot be the prefix of a checkpoint", path) end
    path = join(folder, base)
    self:wait()
    recover(self, folder, path, latest_filename)
    local number = step_number(step, sess)
    local full = path
    if number ~= nil then
      number = math.tointeger(number)
      if not number then T.fail("save", "'global_step' must be whole") end
      full = ("%s-" .. (self.pad and "%08d" or "%d")):format(path, number)
    end
    local names, tensors = values_of(self, sess, "save")
    local state = {saved_at = os.time(), version = tf.version, global_step = number, epoch = epoch, best_metric = best,
      extra = extra, random = T.random_state(sess)}
    if sess then state.plugins = plugins_of(sess.graph) end
    if iterators then
      state.iterators = {}
      for name, it in pairs(iterators) do state.iterators[name] = type(it) == "string" and it or it:position() end
    end
    local kept, gone = rotate(self, full)
    local options = {state = tf.json.encode(state), shard_bytes = self.shard_bytes}
    if write_state then
      options.state_file = join(folder, latest_filename)
      options.state_text = state_text(folder, full, kept, self.preserved)
    end
    if background == nil then background = self.background end
    local saving = T.file_write(full, "checkpoint", names, tensors, options, background)
    self.kept = kept
    if saving then
      self.pending = {saving = saving, gone = gone}
    else
      for _, old in ipairs(gone) do remove(old) end
    end
    return full
  end)
-- saver:save(session, prefix, {global_step =, iterators = {name = iterator}, epoch =, best_metric =, state = table})
-- gives the checkpoint's prefix. In define-by-run mode there is no session: saver:save(prefix, ...).
function Saver:save(sess, path, ...)
  if type(sess) == "string" then return save(self, nil, sess, path, ...) end
  return save(self, sess, path, ...)
end

local function shape_text(shape) return shape and "[" .. table.concat(shape, ",") .. "]" or "(unknown)" end
local function count(shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end
local function fits(want, have)
  if not want then return true end
  if #want ~= #have then return false end
  for i, d in ipairs(want) do if d >= 0 and d ~= have[i] then return false end end
  return true
end
local function some(list, render)
  local out = {}
  for i = 1, math.min(#list, 8) do out[i] = render(list[i]) end
  if #list > 8 then out[9] = ("and %d more"):format(#list - 8) end
  return table.concat(out, ", ")
end

-- Compares what is wanted with what a file has; nothing is read.
local function compare(self, by_name, map)
  local report = {restored = {}, missing = {}, mismatched = {}, extra = {}, skipped = {}}
  local used, plan = {}, {}
  for _, entry in ipairs(self.entries) do
    local name, v = entry[1], entry[2]
    local source = name
    if type(map) == "function" then source = map(name) elseif map then source = map[name] == nil and name or map[name] end
    local have = source and by_name[source]
    if not source then
      table.insert(report.skipped, name)
    elseif not have then
      table.insert(report.missing, source)
    else
      used[source] = true
      local want = v.shape
      local reshaped = self.reshape and want and not fits(want, have.shape) and count(want) == count(have.shape)
      if have.dtype ~= v.dtype or not (fits(want, have.shape) or reshaped) then
        table.insert(report.mismatched, {name = source, variable = v.dtype .. " " .. shape_text(want), file = have.dtype .. " " .. shape_text(have.shape)})
      else
        table.insert(plan, {source = source, variable = v, shape = reshaped and want or nil})
        table.insert(report.restored, source)
      end
    end
  end
  for name in pairs(by_name) do if not used[name] then table.insert(report.extra, name) end end
  table.sort(report.extra)
  return report, plan
end

local restore = T.bind("restore", "self sess? save_path strict=true map? iterators? random? mmap=false",
  function(self, sess, path, strict, map, iterators, random, mmap)
    self:build()
    self:wait()
    local reader, found = find(path, "restore")
    local by_name = {}
    for _, t in ipairs(T.file_list(found, reader)) do by_name[t.name] = t end
    local report, plan = compare(self, by_name, map)
    if strict and #report.missing + #report.mismatched > 0 then
      local parts = {}
      if #report.missing > 0 then parts[#parts + 1] = "it lacks " .. some(report.missing, function(n) return "'" .. n .. "'" end) end
      if #report.mismatched > 0 then
        parts[#parts + 1] = "other shapes or types: " .. some(report.mismatched, function(m) return ("'%s' is %s, the file has %s"):format(m.name, m.variable, m.file) end)
      end
      if #report.extra > 0 then parts[#parts + 1] = "not asked for: " .. some(report.extra, function(n) return "'" .. n .. "'" end) end
      T.fail_code(#report.missing > 0 and 5 or 3, "restore", ("%s does not fit the variables; none was changed. %s. {strict = false} takes what fits, {map =} renames")
        :format(found, table.concat(parts, "; ")))
    end
    local names = {}
    for i, p in ipairs(plan) do
      names[i] = p.source
      if p.variable.graph and not sess then T.fail("restore", "variable '%s' belongs to a graph: hand over the session", p.source) end
      if p.variable.graph and sess.graph ~= p.variable.graph then T.fail("restore", "variable '%s' is not of the session's graph", p.source) end
    end
    local tensors = T.file_read(found, reader, names, mmap)
    report.state = reader == "checkpoint" and tf.json.decode(T.file_metadata(found, reader)) or {}
    for i, p in ipairs(plan) do if p.shape then tensors[i] = tensors[i]:reshape(p.shape) end end
    for i, p in ipairs(plan) do
      if p.variable.graph then T.session_assign(sess, plain_name(p.variable), tensors[i]) else p.variable:assign(tensors[i]) end
    end
    -- Random numbers go on where they were, unless weights are taken over into another model.
    if random == nil then random = strict and map == nil end
    if random and report.state.random then T.set_random_state(sess, report.state.random) end
    for name, it in pairs(iterators or {}) do
      local text = (report.state.iterators or {})[name]
      if not text then T.fail_code(5, "restore", ("%s has no position of an iterator '%s'"):format(found, name)) end
      T.seek(it, text)
    end
    return report
  end)
-- saver:restore(session, prefix, {strict =, map =, iterators =, random =, mmap =}) gives a report: lists restored,
-- missing, mismatched, extra, skipped, and the state that was saved. map: {name = name in the file, or false}, or a
-- function. Nothing changes unless all fits (strict).
function Saver:restore(sess, path, ...)
  if type(sess) == "string" then return restore(self, nil, sess, path, ...) end
  return restore(self, sess, path, ...)
end

function Saver:last_checkpoints()
  local out = {}
  for i, c in ipairs(self.kept) do out[i] = c.path end
  return out
end
function Saver:set_last_checkpoints(list)
  self.kept, self.recovered = {}, true
  for i, p in ipairs(list) do self.kept[i] = {path = p, time = os.time()} end
end
function Saver:set_last_checkpoints_with_time(list)
  self.kept, self.recovered = {}, true
  for i, c in ipairs(list) do self.kept[i] = {path = c[1], time = c[2]} end
end
function Saver:recover_last_checkpoints(list)
  self.kept, self.recovered = {}, true
  for _, p in ipairs(list) do if format_of(p) then table.insert(self.kept, {path = p, time = os.time()}) end end
end

T.namespace "Iterator".position = function(it) return T.position(it) end

-- ------------------------------------------------------------------------------------- being stopped

local Stop = {}
Stop.__index = Stop
-- While it is open, SIGINT and SIGTERM wait: stop:requested() tells "SIGINT" or "SIGTERM", so that a loop can
-- finish its step and save. When it closes, the signal does what it would have done: exit code 130 or 143.
--     local stop <close> = tf.train.catch_stop()
def("tf.train.catch_stop", "", function()
  T.catch_signals()
  return setmetatable({open = true}, Stop)
end)
function Stop:requested() return self.open and T.caught_signal() or nil end
function Stop:close()
  if not self.open then return end
  self.open = false
  T.release_signals()
end
Stop.__close, Stop.__gc = Stop.close, Stop.close
