-- provides Debug: between watched report
-- provides tf.debug: has_inf_or_nan DumpingDebugWrapperSession DebugDumpDir inspect_tool
-- Looking at values between feeds and fetches: sess:run(..., {watch = "regex"}), {break_on_nan = true}, dumps.
local tf, T = ...
local Debug = T.namespace "Debug"
local debug = T.namespace "tf.debug"
local def = T.def

-- ------------------------------------------------------------------------------------- which values

local function floating(dtype) return dtype:find "float" ~= nil or dtype:find "complex" ~= nil end

-- The operations that a nest of fetches needs, in the order of making, up to what is fed.
local function needed(session, fetches, feeds)
  local graph, fed, seen, list = session.graph, {}, {}, {}
  local function fed_name(key) return type(key) == "string" and (key:find ":" and key or key .. ":0") or T.kind(key) == "Variable" and "" or key.name end
  for key in pairs(type(feeds) == "table" and feeds or {}) do fed[fed_name(key)] = true end
  local stack = {}
  local function push(op)
    if not seen[op.name] then
      seen[op.name] = true
      stack[#stack + 1], list[#list + 1] = op, op
    end
  end
  local function collect(x)
    local kind = T.kind(x)
    if kind == "Node" then if not fed[x.name] then push(x.op) end
    elseif kind == "Operation" then push(x)
    elseif kind == "Variable" then collect(T.value(x))
    elseif type(x) == "string" then collect(x:find ":" and graph:get_tensor_by_name(x) or graph:get_operation_by_name(x))
    elseif type(x) == "table" and (not kind or kind == "IndexedSlices") then for _, v in pairs(x) do collect(v) end end
  end
  local scope <close> = graph:as_default()
  collect(fetches)
  while #stack > 0 do
    local op = table.remove(stack)
    for _, x in ipairs(op.inputs) do if not fed[x.name] then push(x.op) end end
    for _, c in ipairs(op.control_inputs) do push(c) end
  end
  local order = {}
  for i, op in ipairs(graph:get_operations()) do order[op.name] = i end
  table.sort(list, function(a, b) return order[a.name] < order[b.name] end)
  return list, fed
end

-- What the session fetches besides: values whose name "scope/op:0" matches, and with `check` all of floating type.
function Debug.between(session, fetches, feeds, pattern, check)
  local ops, fed = needed(session, fetches, feeds)
  local nodes, names, keep, out = {}, {}, {}, {}
  for _, op in ipairs(ops) do
    for _, x in ipairs(op.outputs) do
      if x.dtype ~= "resource" and not fed[x.name] and op.type ~= "Placeholder" then
        nodes[#nodes + 1], names[#names + 1] = x, x.name
        keep[#nodes] = check and floating(x.dtype) or nil
      end
    end
  end
  if pattern then for _, i in ipairs(T.regex_filter(pattern, names)) do keep[i] = true end end
  for i, x in ipairs(nodes) do if keep[i] then out[#out + 1] = x end end
  return out
end
function Debug.watched(nodes, tensors, pattern)
  local names, out = {}, {}
  for i, x in ipairs(nodes) do names[i] = x.name end
  for _, i in ipairs(T.regex_filter(pattern, names)) do out[names[i]] = tensors[i] end
  return out
end

-- ------------------------------------------------------------------------------------- what is in a tensor

-- {n =, nan =, inf =, min =, max =, mean =}; nil for types without numbers. min and max are of what is finite.
local function summary(t)
  if t.dtype == "string" or t.dtype:find "complex" then return {n = t:size(), nan = 0, inf = 0} end
  local x = tf.cast(t, "float64")
  local n = x:size()
  if n == 0 then return {n = 0, nan = 0, inf = 0} end
  local nan, inf = tf.is_nan(x), tf.is_inf(x)
  local function count(mask) return math.tointeger(tf.reduce_sum(tf.cast(mask, "int64")):item()) end
  local out = {n = n, nan = count(nan), inf = count(inf)}
  local bad = tf.logical_or(nan, inf)
  if out.nan + out.inf < n then
    local function other(v) return tf.fill(x.shape, tf.tensor(v, "float64")) end
    out.min = tf.reduce_min(tf.where(bad, other(math.huge), x)):item()
    out.max = tf.reduce_max(tf.where(bad, other(-math.huge), x)):item()
    out.mean = tf.reduce_sum(tf.where(bad, other(0), x)):item() / (n - out.nan - out.inf)
  end
  return out
end
local function range_text(s)
  local parts = {}
  if s.nan > 0 then parts[#parts + 1] = ("%d NaN"):format(s.nan) end
  if s.inf > 0 then parts[#parts + 1] = ("%d Inf"):format(s.inf) end
  if s.min then parts[#parts + 1] = (#parts > 0 and "others " or "") .. ("%.6g to %.6g"):format(s.min, s.max) end
  return #parts > 0 and table.concat(parts, ", ") or s.n == 0 and "empty" or "no numbers"
end

-- tfdbg's filter: does the tensor hold a NaN or an Inf?
function debug.has_inf_or_nan(_, tensor)
  tensor = tensor or _
  if not floating(tensor.dtype) then return false end
  local s = summary(tensor)
  return s.nan + s.inf > 0
end

-- ------------------------------------------------------------------------------------- the first NaN

local LEVELS, LINES = 4, 24
-- Raises the error of {break_on_nan = true}.
function Debug.report(session, trace, feeds)
  local found, broken = T.trace_findings(trace)
  local node = session.graph:get_tensor_by_name(broken)
  local lines, shown = {}, {}
  for key, value in pairs(type(feeds) == "table" and feeds or {}) do
    local name = type(key) == "string" and (key:find ":" and key or key .. ":0") or key.name
    local t = T.kind(value) == "Tensor" and value or tf.tensor(value, session.graph:get_tensor_by_name(name).dtype)
    if floating(t.dtype) then
      found[name] = summary(t)
      found[name].fed = true
    end
  end
  local function known(x)
    if not found[x.name] and x.op.type == "Const" and floating(x.dtype) then found[x.name] = summary(x.op.attrs.value) end
    return found[x.name]
  end
  local function show(x, level)
    if shown[x.name] or #lines >= LINES then return end
    shown[x.name] = true
    local s = known(x)
    lines[#lines + 1] = ("%s%s%s (%s) %s%s: %s%s"):format(("  "):rep(level), level > 0 and "from " or "", x.name, x.op.type, x.dtype,
      x.shape and "[" .. table.concat(x.shape, ",") .. "]" or "", s and range_text(s) .. (s.fed and ", fed" or "") or "not looked at",
      x.op.where and x.op.where ~= "" and "  (" .. x.op.where .. ")" or "")
    if level < LEVELS and not (s and s.fed) then for _, input in ipairs(x.op.inputs) do show(input, level + 1) end end
  end
  show(node, 1)
  local s = found[broken]
  local text = ("the first value of this run that is not finite: %s\n%s"):format(range_text(s), table.concat(lines, "\n"))
  local _, e = pcall(T.fail_code, 3, node.op.type, text)
  e.node, e.run_at, e.where = node.op.name, e.where, node.op.where or e.where
  error(e, 0)
end

-- ------------------------------------------------------------------------------------- dumps

-- Each run's values between feeds and fetches go to FOLDER/run_N.safetensors; `watch` is a regular expression.
local Dumping = {}
Dumping.__index = function(self, key)
  local own = Dumping[key]
  if own then return own end
  local v = self.session[key]
  if type(v) ~= "function" then return v end
  return function(_, ...) return v(self.session, ...) end
end
Dumping.__name = "DumpingDebugWrapperSession"
Dumping.__close = function(self) self.session:close() end
def("tf.debug.DumpingDebugWrapperSession", "sess session_root watch=. log_usage=true", function(session, root, watch)
  T.make_folders(root)
  return setmetatable({session = session, root = root, watch = watch, count = 0}, Dumping)
end)
function Dumping:run(fetches, feeds, options)
  local more = {watch = self.watch}
  for key, value in pairs(options or {}) do more[key] = value end
  local out = table.pack(self.session:run(fetches, feeds, more))
  local values = table.remove(out, out.n)
  self.count = self.count + 1
  for name, t in pairs(values) do if T.kind(t) ~= "Tensor" then values[name] = tf.tensor(t) end end
  for name, t in pairs(values) do if t.dtype == "string" or t.dtype:find "complex" then values[name] = nil end end
  tf.write_safetensors(("%s/run_%d.safetensors"):format(self.root, self.count), values, {run = tostring(self.count)})
  return table.unpack(out, 1, out.n - 1)
end

-- tf.debug.DebugDumpDir(FOLDER): what runs have left. :runs(), :nodes(run), :get_tensor(name, run),
-- :find(predicate(datum, tensor)), with datum = {run =, name =}.
local Dump = {}
Dump.__index = Dump
def("tf.debug.DebugDumpDir", "dump_root", function(root)
  local runs = {}
  for i = 1, math.maxinteger do
    if T.path_kind(("%s/run_%d.safetensors"):format(root, i)) ~= "file" then break end
    runs[i] = i
  end
  if #runs == 0 then T.fail_code(5, "tf.debug.DebugDumpDir", ("%s holds no run_1.safetensors"):format(root)) end
  return setmetatable({root = root, list = runs}, Dump)
end)
local function file_of(self, run) return ("%s/run_%d.safetensors"):format(self.root, run) end
function Dump:runs() return self.list end
function Dump:nodes(run)
  local out = {}
  for i, t in ipairs(T.file_list(file_of(self, run or #self.list), "safetensors")) do out[i] = t.name end
  return out
end
function Dump:get_tensor(name, run)
  if not name:find ":" then name = name .. ":0" end
  return T.file_read(file_of(self, run or #self.list), "safetensors", {name})[1]
end
function Dump:find(predicate, first)
  local out = {}
  for _, run in ipairs(self.list) do
    for _, name in ipairs(self:nodes(run)) do
      local t = self:get_tensor(name, run)
      if predicate({run = run, name = name}, t) then
        out[#out + 1] = {run = run, name = name}
        if first and #out >= first then return out end
      end
    end
  end
  return out
end

-- ------------------------------------------------------------------------------------- tfsdk inspect

local usage = [[
usage: tfsdk inspect FILE [OPTIONS] [NAME...]
FILE is a dump (run_1.safetensors), any file of tensors that `tfsdk ckpt` reads, or a folder of dumps.
Without names: all tensors with their ranges. With names: their values.
  -f has_inf_or_nan   only tensors that hold a NaN or an Inf
  -n REGEX            only tensors of such names
  -t REGEX            only tensors of such types
  -r RANGES           part of a tensor: "1:3, 0" (counting from 0, the end left out, as in tfdbg)]]
local function wrong(line) io.stderr:write("tfsdk: ", line, "\n", usage, "\n") return 2 end

local function slice(t, ranges)
  local list, axis = {}, 0
  for part in (ranges .. ","):gmatch "%s*([^,]-)%s*," do
    axis = axis + 1
    local extent = t.shape[axis]
    if not extent then T.fail_code(11, nil, ("'%s' has more ranges than the tensor has axes (%d)"):format(ranges, #t.shape)) end
    local function place(text, default)
      local v = text == "" and default or math.tointeger(tonumber(text))
      if not v then T.fail(nil, "'%s' is no range", part) end
      return v < 0 and v + extent or v
    end
    local a, b = part:match "^(%-?%d*):(%-?%d*)$"
    local first, last
    if a then first, last = place(a, 0), place(b, extent) else first = place(part) last = first + 1 end
    if first < 0 or last > extent or first >= last then T.fail_code(11, nil, ("range '%s' is outside of axis %d, which has %d"):format(part, axis - 1, extent)) end
    list[axis] = {first + 1, last}
  end
  for i = axis + 1, #t.shape do list[i] = {} end
  return t[list]
end

local function inspect_file(path, o, names)
  local reader = tf.train.load_checkpoint(path)
  local list, bad = {}, 0
  for _, t in ipairs(reader.list) do list[#list + 1] = t end
  local function keep(pattern, field)
    if not pattern then return end
    local texts, kept = {}, {}
    for i, t in ipairs(list) do texts[i] = t[field] end
    for _, i in ipairs(T.regex_filter(pattern, texts)) do kept[#kept + 1] = list[i] end
    list = kept
  end
  keep(o.n, "name")
  keep(o.t, "dtype")
  if #names > 0 then
    for _, name in ipairs(names) do
      local full = reader.by_name[name] and name or name .. ":0"
      if not reader.by_name[full] then T.fail_code(5, nil, ("%s: there is no tensor '%s'"):format(path, name)) end
      local t = reader:get_tensor(full)
      print(("%s %s[%s]  %s"):format(full, t.dtype, table.concat(t.shape, ","), range_text(summary(t))))
      print(o.r and slice(t, o.r) or t)
    end
    return 0
  end
  local width = 4
  for _, t in ipairs(list) do width = math.max(width, #t.name) end
  print(("%-" .. width .. "s  %-9s %-14s %8s %8s %12s %12s %12s"):format("name", "type", "shape", "NaN", "Inf", "min", "max", "mean"))
  for _, info in ipairs(list) do
    local s = summary(reader:get_tensor(info.name))
    if s.nan + s.inf > 0 then bad = bad + 1 end
    if not o.f or s.nan + s.inf > 0 then
      local function number(v) return v and ("%12.6g"):format(v) or ("%12s"):format "-" end
      print(("%-" .. width .. "s  %-9s %-14s %8d %8d %s %s %s"):format(info.name, info.dtype, "[" .. table.concat(info.shape, ",") .. "]", s.nan,
        s.inf, number(s.min), number(s.max), number(s.mean)))
    end
  end
  print(("%d tensors, %d of them hold a NaN or an Inf"):format(#list, bad))
  return 0
end

-- tf.debug.inspect_tool(...): the arguments of `tfsdk inspect`; gives its exit code.
function debug.inspect_tool(...)
  local args, o, names, path = {...}, {}, {}, nil
  local i = 1
  while i <= #args do
    local option = args[i]:match "^%-([fntr])$"
    if option then
      if not args[i + 1] then return wrong(("option -%s needs a value"):format(option)) end
      o[option], i = args[i + 1], i + 1
    elseif args[i]:find "^%-%a" then
      return wrong(("unknown option '%s'"):format(args[i]))
    elseif not path then
      path = args[i]
    else
      names[#names + 1] = args[i]
    end
    i = i + 1
  end
  if not path then return wrong "inspect takes a file" end
  if o.f and o.f ~= "has_inf_or_nan" then return wrong(("there is no filter '%s'; there is has_inf_or_nan"):format(o.f)) end
  if T.path_kind(path) == "folder" and T.path_kind(path .. "/run_1.safetensors") == "file" then
    for _, run in ipairs(debug.DebugDumpDir(path):runs()) do
      print(("run %d"):format(run))
      inspect_file(("%s/run_%d.safetensors"):format(path, run), o, names)
    end
    return 0
  end
  return inspect_file(path, o, names)
end
