-- provides Trace: table chrome write run_metadata fill report rows memory read
-- provides tf: RunOptions RunMetadata
-- provides tf.timeline: Timeline
-- provides tf.profiler: profile
-- What watched runs did: text tables, Chrome's trace format, TensorFlow's RunMetadata. T.trace_read gives the record.
--   A step may compute several nodes. Fused nodes share its time equally; what follows a product or convolution, or
--   leads into a reduction, counts for that kernel.
local tf, T = ...
local Trace = T.namespace "Trace"

local function human(bytes)
  for _, unit in ipairs {"B", "kB", "MB", "GB"} do
    if bytes < 1000 or unit == "GB" then return unit == "B" and ("%.0f B"):format(bytes) or ("%.1f %s"):format(bytes, unit) end
    bytes = bytes / 1000
  end
end
local function span(ns)
  if ns < 1e3 then return ("%.0f ns"):format(ns) end
  if ns < 1e6 then return ("%.1f us"):format(ns / 1e3) end
  if ns < 1e9 then return ("%.2f ms"):format(ns / 1e6) end
  return ("%.2f s"):format(ns / 1e9)
end

-- trace:read(): plans, steps, events as tables; see T.trace_read. Read once.
local records = setmetatable({}, {__mode = "k"})
function Trace.read(trace)
  local known = records[trace]
  local now = T.trace_read(trace)
  if known and known.runs == now.runs then return known end
  records[trace] = now
  return now
end

-- Calls fn(node, ns, calls, step) for each node's share of time.
local function shares(record, fn)
  for _, step in ipairs(record.steps) do
    if step.kind then
      local n = step.kind == "fused" and #step.nodes or math.min(#step.nodes, 1)
      for i = 1, n do fn(step.nodes[i], step.ns / n, step.count, step) end
    end
  end
end

local function scope_of(name, depth)
  local parts = {}
  for part in name:gmatch "([^/]+)/" do parts[#parts + 1] = part end
  if #parts == 0 then return "(no scope)" end
  return table.concat(parts, "/", 1, math.min(depth, #parts))
end
local keys = {
  op = function(node) return node.op end,
  node = function(node) return node.name end,
  graph = function(node) return node.name end,
  scope = function(node, depth) return scope_of(node.name, depth) end,
  line = function(node) return node.where or "(no line)" end,
  device = function(_, _, step) return step.device end,
  kernel = function(_, _, step) return step.kernel ~= "" and step.plugin .. ": " .. step.kernel or "(" .. step.kind .. ")" end}
keys.code = keys.line

-- trace:rows("op"): {{name =, ns =, calls =, share =}, ...}, the slowest first; also "node", "scope" (of that depth),
-- "line", "device", "kernel".
function Trace.rows(trace, by, depth)
  local key = keys[by]
  if not key then T.fail("rows", "there is no '%s'; there are op, node, scope, line, device, kernel", tostring(by)) end
  local record = Trace.read(trace)
  local rows, at, total = {}, {}, 0
  shares(record, function(node, ns, calls, step)
    local name = key(node, depth or 2, step)
    local row = at[name]
    if not row then
      row = {name = name, ns = 0, calls = 0}
      at[name], rows[#rows + 1] = row, row
    end
    row.ns, row.calls, total = row.ns + ns, row.calls + calls, total + ns
  end)
  for _, row in ipairs(rows) do row.share = total > 0 and row.ns / total or 0 end
  table.sort(rows, function(a, b) if a.ns ~= b.ns then return a.ns > b.ns end return a.name < b.name end)
  return rows, total
end

-- trace:memory(plan): {steps = {bytes that values hold after each step}, peak =, at = step, holders = {{name =, bytes =}}}
-- of the plan's values. Those in its block share it; the curve counts what is alive. Variables are not in it.
function Trace.memory(trace, which)
  local record = Trace.read(trace)
  local plan = record.plans[which or 1]
  if not plan then return {steps = {}, peak = 0, at = 0, holders = {}} end
  local curve, values, arena = {}, {}, 0
  for i = 1, plan.n_steps do curve[i] = 0 end
  for i = 1, plan.n_steps do
    local step = record.steps[plan.first + i - 1]
    for _, v in ipairs(step.kind ~= "variable" and step.kind ~= "view" and step.outputs or {}) do
      for _, old in ipairs(values) do -- computed in place: the memory is the new value's
        if v.offset >= 0 and old.offset == v.offset and old.last == i then old.last = i - 1 end
      end
      values[#values + 1] = {name = v.name, bytes = v.bytes, first = i, last = math.min(v.last, plan.n_steps), offset = v.offset}
      if v.offset >= 0 then arena = math.max(arena, v.offset + v.bytes) end
    end
  end
  for _, v in ipairs(values) do for k = v.first, v.last do curve[k] = curve[k] + v.bytes end end
  local out = {steps = curve, peak = 0, at = 0, holders = {}, arena = arena}
  for i, bytes in ipairs(curve) do if bytes > out.peak then out.peak, out.at = bytes, i end end
  for _, v in ipairs(values) do
    if v.first <= out.at and v.last >= out.at then out.holders[#out.holders + 1] = v end
  end
  table.sort(out.holders, function(a, b) if a.bytes ~= b.bytes then return a.bytes > b.bytes end return a.name < b.name end)
  return out
end

local function add_rows(out, title, rows, runs, limit)
  local width = #title
  for i = 1, math.min(limit, #rows) do width = math.max(width, #rows[i].name) end
  width = math.min(width, 60)
  out[#out + 1] = ("\n%-" .. width .. "s %10s %7s %9s %10s"):format(title, "a run", "share", "calls", "a call")
  local rest, n_rest = 0, 0
  for i, row in ipairs(rows) do
    if i <= limit then
      local name = #row.name > width and "..." .. row.name:sub(-(width - 3)) or row.name
      out[#out + 1] = ("%-" .. width .. "s %10s %6.1f%% %9d %10s"):format(name, span(row.ns / runs), 100 * row.share, row.calls,
        span(row.ns / math.max(row.calls, 1)))
    else
      rest, n_rest = rest + row.ns, n_rest + 1
    end
  end
  if n_rest > 0 then out[#out + 1] = ("%-" .. width .. "s %10s"):format(("(%d more)"):format(n_rest), span(rest / runs)) end
end

local blocks = {"\u{2581}", "\u{2582}", "\u{2583}", "\u{2584}", "\u{2585}", "\u{2586}", "\u{2587}", "\u{2588}"}
local function sparkline(curve, most, width)
  local out = {}
  width = math.min(width, #curve)
  for i = 1, width do
    local from, to, top = (i - 1) * #curve // width + 1, i * #curve // width, 0
    for k = from, to do top = math.max(top, curve[k]) end
    out[i] = most == 0 and blocks[1] or blocks[math.max(1, math.ceil(top / most * 8))]
  end
  return table.concat(out)
end
local function add_memory(out, trace, record, limit)
  local which, most = nil, -1
  for i in ipairs(record.plans) do
    local m = Trace.memory(trace, i)
    if m.peak > most then which, most = i, m.peak end
  end
  if not which then return end
  local m, plan = Trace.memory(trace, which), record.plans[which]
  out[#out + 1] = ("\nmemory of values: %s at most, after step %d of %d%s; the block that they share has %s"):format(human(m.peak),
    m.at, plan.n_steps, m.at > 0 and " (" .. record.steps[plan.first + m.at - 1].nodes[1].name .. ")" or "", human(m.arena))
  out[#out + 1] = "  " .. sparkline(m.steps, m.peak, 60)
  for i = 1, math.min(limit, #m.holders) do
    local v = m.holders[i]
    out[#out + 1] = ("  %10s  %s (steps %d to %d)"):format(human(v.bytes), v.name, v.first, v.last)
  end
end

-- trace:table{by = {"op", "scope", "line"}, limit = 12, depth = 2}: the text.
Trace.table = T.bind("table", "trace by? limit=12 depth=2", function(trace, by, limit, depth)
  local record, out = Trace.read(trace), {}
  if record.runs == 0 then return "no session ran" end
  local inside = 0
  for _, step in ipairs(record.steps) do inside = inside + step.ns end
  out[1] = ("%d run%s of %d plan%s, %s each: %.0f %% in steps"):format(record.runs, record.runs == 1 and "" or "s", #record.plans,
    #record.plans == 1 and "" or "s", span(record.ns / record.runs), 100 * inside / math.max(record.ns, 1))
    .. (record.runs == #record.plans and " (a plan's first run makes it, too)" or "")
  local all = record.ended - record.began
  if record.runs > 1 and all > 0 then
    out[#out + 1] = ("%s in all: %.0f %% in runs, %.0f %% waiting for datasets, %.0f %% elsewhere; %.1f runs a second"):format(span(all),
      100 * record.ns / all, 100 * record.input_ns / all, 100 * math.max(0, all - record.ns - record.input_ns) / all, record.runs / all * 1e9)
    if record.input_ns > 0.2 * all then
      out[#out + 1] = ("input-bound: %.0f %% of the time waits for data"):format(100 * record.input_ns / all)
    end
  end
  for _, key in ipairs(type(by) == "string" and {by} or by or {"op", "scope", "line"}) do
    add_rows(out, "by " .. key, (Trace.rows(trace, key, depth)), record.runs, limit)
  end
  add_memory(out, trace, record, limit // 2)
  if record.incomplete then out[#out + 1] = "memory was out while this was recorded: it is not complete" end
  return table.concat(out, "\n")
end)

-- ------------------------------------------------------------------------------------- Chrome's format

-- Which step computes a node, by plan.
local function makers(record)
  local out = {}
  for i, step in ipairs(record.steps) do
    out[step.plan] = out[step.plan] or {}
    for _, node in ipairs(step.nodes) do out[step.plan][node.name] = out[step.plan][node.name] or i end
  end
  return out
end

-- trace:chrome{show_dataflow = false, show_memory = true}: JSON for chrome://tracing and Perfetto.
Trace.chrome = T.bind("chrome", "trace show_dataflow=false show_memory=true", function(trace, flow, memory)
  local record = Trace.read(trace)
  local out, pids, n = {}, {}, 0
  local encode = tf.json.encode
  local function add(event) out[#out + 1] = encode(event) end
  local function pid_of(device)
    if not pids[device] then
      pids[device], n = n, n + 1
      add {ph = "M", name = "process_name", pid = pids[device], args = {name = device}}
      add {ph = "M", name = "thread_name", pid = pids[device], tid = 0, args = {name = "session"}}
    end
    return pids[device]
  end
  local from = flow and makers(record)
  local base = record.events[1] and record.events[1][2] or 0
  local ends, flows = {}, 0
  for _, e in ipairs(record.events) do
    local step = record.steps[e[1]]
    local pid, node = pid_of(step.device), step.nodes[1] or {name = step.kind, op = step.kind}
    local args = {name = node.name, op = node.op, line = node.where, kind = step.kind}
    if step.kernel ~= "" then args.kernel, args.plugin = step.kernel, step.plugin end
    for i, v in ipairs(step.outputs) do
      args["output" .. i - 1] = v.dtype .. (v.shape and "[" .. table.concat(v.shape, ",") .. "]" or "")
    end
    if #step.nodes > 1 then
      local names = {}
      for i, x in ipairs(step.nodes) do names[i] = x.name end
      args.nodes = table.concat(names, " ")
    end
    local ts = (e[2] - base) / 1000
    add {ph = "X", cat = "Op", name = step.kind == "fused" and #step.nodes > 1 and "fused " .. #step.nodes or node.op, pid = pid, tid = 0,
      ts = ts, dur = (e[3] - e[2]) / 1000, args = args}
    if memory then add {ph = "C", name = "memory", pid = pid, ts = (e[3] - base) / 1000, args = {bytes = e[4]}} end
    ends[e[1]] = {pid, (e[3] - base) / 1000}
    if flow then
      local seen = {}
      for _, x in ipairs(step.nodes) do
        for _, input in ipairs(record.plans[step.plan].graph:get_operation_by_name(x.name).inputs) do
          local maker = from[step.plan][input.op.name]
          if maker and maker ~= e[1] and ends[maker] and not seen[maker] then
            seen[maker], flows = true, flows + 1
            add {ph = "s", cat = "DataFlow", name = input.name, id = flows, pid = ends[maker][1], tid = 0, ts = ends[maker][2]}
            add {ph = "t", cat = "DataFlow", name = input.name, id = flows, pid = pid, tid = 0, ts = ts}
          end
        end
      end
    end
  end
  return '{"displayTimeUnit":"ns","traceEvents":[\n' .. table.concat(out, ",\n") .. "\n]}\n"
end)

local write_file = T.write_file
-- trace:write "x.json": Chrome's format.
Trace.write = T.bind("write", "trace path show_dataflow=false show_memory=true", function(trace, path, flow, memory)
  write_file("write", path, Trace.chrome(trace, {show_dataflow = flow, show_memory = memory}))
end)

-- ------------------------------------------------------------------------------------- TensorFlow's messages

local RunMetadata = {}
RunMetadata.__index = RunMetadata
RunMetadata.__name = "RunMetadata"
function RunMetadata:SerializeToString()
  if T.run_metadata_bytes == nil then local _ = tf.summary.FileWriter end
  return T.run_metadata_bytes(self)
end
-- A table that sess:run(fetches, feeds, {options = tf.RunOptions{...}, run_metadata = it}) fills.
function tf.RunMetadata() return setmetatable({step_stats = {dev_stats = {}}}, RunMetadata) end
tf.RunOptions = setmetatable({NO_TRACE = 0, SOFTWARE_TRACE = 1, HARDWARE_TRACE = 2, FULL_TRACE = 3},
  {__call = function(_, fields) return fields or {} end})

-- Of the last run. Times are microseconds since 1970, as TensorFlow's.
local function step_stats(trace)
  local record = Trace.read(trace)
  local shift = os.time() * 1000000 - math.floor(tf.time() * 1e6)
  local devices, at, seen = {}, {}, {}
  for i = #record.events, 1, -1 do
    local e = record.events[i]
    local step = record.steps[e[1]]
    if seen[e[1]] then break end -- the run before
    seen[e[1]] = true
    local name = "/job:localhost/replica:0/task:0/device:" .. step.device:gsub("^%l+", string.upper)
    if not at[name] then
      at[name] = {device = name, node_stats = {}}
      devices[#devices + 1] = at[name]
    end
    local fused = step.kind == "fused" -- else what follows the kernel or leads into it takes no time of its own
    local part = (e[3] - e[2]) // math.max(fused and #step.nodes or 1, 1)
    for k = #step.nodes, 1, -1 do
      local node, outputs, bytes = step.nodes[k], {}, 0
      for _, v in ipairs(step.outputs) do
        if v.name == node.name then
          outputs[#outputs + 1] = {slot = v.index, dtype = v.dtype, shape = v.shape, bytes = v.bytes, allocator_name = step.device}
          bytes = bytes + v.bytes
        end
      end
      local micros = (fused and e[2] + (k - 1) * part or k == 1 and e[2] or e[3]) // 1000
      local finished = (fused or k == 1) and math.max(1, (part + 999) // 1000) or 0
      table.insert(at[name].node_stats, 1, {node_name = node.name, all_start_micros = micros + shift, op_start_rel_micros = 0,
        op_end_rel_micros = finished, all_end_rel_micros = finished, scheduled_micros = micros + shift, thread_id = 0,
        timeline_label = ("%s = %s()"):format(node.name, node.op), output = outputs,
        memory = bytes > 0 and {{allocator_name = step.device, total_bytes = bytes, peak_bytes = bytes}} or nil})
    end
  end
  return {dev_stats = devices}
end
-- trace:run_metadata(): for tf.summary.FileWriter's add_run_metadata.
function Trace.run_metadata(trace)
  local out = tf.RunMetadata()
  out.step_stats, out.trace = step_stats(trace), trace
  return out
end
function Trace.fill(trace, metadata)
  if getmetatable(metadata) == nil then setmetatable(metadata, RunMetadata) end
  metadata.step_stats, metadata.trace = step_stats(trace), trace
end

-- TensorFlow's timeline.Timeline(run_metadata.step_stats):generate_chrome_trace_format().
local Timeline = {}
Timeline.__index = Timeline
local function events_of(stats)
  local list, least = {}, math.huge
  for pid, d in ipairs(stats.dev_stats) do
    list[#list + 1] = {ph = "M", name = "process_name", pid = pid - 1, args = {name = d.device .. " Compute"}}
    for _, n in ipairs(d.node_stats) do
      local op = (n.timeline_label or ""):match " = ([%w_]+)%(" or n.node_name
      list[#list + 1] = {ph = "X", cat = "Op", name = op, pid = pid - 1, tid = n.thread_id or 0, ts = n.all_start_micros + n.op_start_rel_micros,
        dur = n.op_end_rel_micros - n.op_start_rel_micros, args = {name = n.node_name, op = op}}
      least = math.min(least, n.all_start_micros)
    end
  end
  return list
end
function Timeline:generate_chrome_trace_format()
  local out = {}
  for i, e in ipairs(events_of(self.step_stats)) do out[i] = tf.json.encode(e) end
  return '{"traceEvents":[\n' .. table.concat(out, ",\n") .. "\n]}\n"
end
-- (A function of its own: the argument is a table, which elsewhere means options.)
T.namespace "tf.timeline".Timeline = function(stats)
  if type(stats) ~= "table" then T.fail("tf.timeline.Timeline", "step_stats are those of a tf.RunMetadata()") end
  return setmetatable({step_stats = stats.step_stats or stats}, Timeline)
end

-- tf.profiler.profile{run_meta = metadata, cmd = "scope"}: the table of one view: scope, op, code, graph.
T.def("tf.profiler.profile", "graph? run_meta? op_log? cmd=scope options?", function(_, metadata, _, cmd)
  local trace = metadata and (metadata.trace or T.kind(metadata) == "Trace" and metadata)
  if not trace then T.fail("tf.profiler.profile", "run_meta is what a run filled: sess:run(fetches, feeds, {options = tf.RunOptions{trace_level = 3}, run_metadata = m})") end
  if not ({scope = 1, op = 1, code = 1, graph = 1})[cmd] then T.fail("tf.profiler.profile", "there is no cmd '%s'; there are scope, graph, op, code", tostring(cmd)) end
  return Trace.table(trace, {by = cmd, limit = 50})
end)

-- ------------------------------------------------------------------------------------- the program

-- After `tfsdk profile FILE` and `tfsdk run --trace FILE`.
function Trace.report(show, path, logdir)
  local trace = T.profile()
  if not trace or Trace.read(trace).runs == 0 then
    if show then io.stderr:write "tfsdk: no session ran; define-by-run calls are not recorded\n" end
    return
  end
  if show then print(Trace.table(trace)) end
  if path then
    Trace.write(trace, path)
    local dropped = Trace.read(trace).dropped
    io.stderr:write(("tfsdk: %d steps in %s%s\n"):format(#Trace.read(trace).events, path, dropped > 0 and (", %d later ones are not"):format(dropped) or ""))
  end
  if logdir then
    local writer = tf.summary.FileWriter(logdir, Trace.read(trace).plans[1].graph)
    writer:add_run_metadata(Trace.run_metadata(trace), "profile", 0)
    writer:close()
  end
end
