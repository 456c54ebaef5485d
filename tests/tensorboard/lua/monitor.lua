-- The monitor writes rates, memory and waiting beside what the script does, by a thread of its own.
local tf = require "tfsdk"
local t = dofile((arg[0]:match "^.*/" or "./") .. "support.lua")
local function scalars(folder)
  local out = {}
  for _, path in ipairs(t.files(folder)) do
    for _, e in ipairs(t.events(path)) do
      for _, v in ipairs(e.summary and e.summary.value or {}) do
        out[v.tag] = out[v.tag] or {}
        table.insert(out[v.tag], {step = e.step, value = v.simple_value})
      end
    end
  end
  return out
end
local function last(list) return list and list[#list] or {} end

-- Runs of sessions are steps; elements of datasets may be waited for.
local folder = t.folder()
local x = tf.placeholder("float32", {256})
local sess <close> = tf.Session()
local batches = tf.data.from_tensor_slices {x = tf.zeros({100, 256}, {now = true})}:repeat_():iterator()
local m = tf.summary.monitor(folder, {secs = 0.02})
t.exact("one at a time", tostring(select(2, pcall(tf.summary.monitor, folder))):match "there is a monitor already", "there is a monitor already")
for _ = 1, 500 do sess:run(x, {[x] = batches:next().x}) end
m:close()
m:close() -- again: nothing happens
local got = scalars(folder)
t.exact("steps so far", last(got["monitor/steps_per_second"]).step, 500)
for _, tag in ipairs {"steps_per_second", "memory_bytes", "process_bytes", "input_stall_ratio"} do
  local list, fine = got["monitor/" .. tag], true
  for i, v in ipairs(list or {}) do
    fine = fine and v.value >= 0 and (i == 1 or v.step >= list[i - 1].step) and (tag ~= "input_stall_ratio" or v.value <= 1)
  end
  t.exact(tag, list ~= nil and fine, true)
end
t.exact("the process has memory", last(got["monitor/process_bytes"]).value > 1e6, true)

-- Steps and queues that the script tells of itself.
folder = t.folder()
do
  local w <close> = tf.summary.FileWriter(folder)
  local own <close> = tf.summary.monitor(w, {secs = 3600}) -- the last interval is written when it closes
  own:step(40)
  own:step()
  own:queue("work", 7)
  own:queue("work", 3)
  own:queue("results", 2)
  t.exact("back", tostring(select(2, pcall(own.step, own, -1))):match "steps only grow", "steps only grow")
end
got = scalars(folder)
t.exact("steps", last(got["monitor/steps_per_second"]).step, 41)
t.exact("queues", {last(got["monitor/queue/work"]).value, last(got["monitor/queue/results"]).value}, {3, 2})
t.exact("no dataset, no ratio", got["monitor/input_stall_ratio"], nil)
t.exact("secs", tostring(select(2, pcall(tf.summary.monitor, folder, {secs = 0}))):match "secs must be 0.01 to 86400", "secs must be 0.01 to 86400")

-- One run in trace_secs is traced: shares of ops, who holds memory, the time line.
folder = t.folder()
local a = tf.placeholder("float32", {64, 64}, {name = "a"})
local product = tf.matmul(tf.nn.relu(a, {name = "relu"}), a, {name = "product"})
local fed = tf.ones({64, 64}, {now = true})
do
  local own <close> = tf.summary.monitor(folder, {secs = 0.01, trace_secs = 0.01})
  local latest, traced = os.clock() + 30, false
  repeat
    for _ = 1, 50 do sess:run(product, {[a] = fed}) end
    for _, path in ipairs(t.files(folder)) do traced = traced or path:match "%.trace$" ~= nil end
  until traced or os.clock() > latest
end
got = scalars(folder)
local share = last(got["monitor/op_share/MatMul"]).value
t.exact("the product takes time", share ~= nil and share > 0 and share <= 1, true)
t.exact("memory", last(got["monitor/peak_bytes"]).value >= 64 * 64 * 4, true)
t.exact("who holds it", last(got["monitor/held_bytes/product"]).value, 64 * 64 * 4)
local lines = {}
for _, path in ipairs(t.files(folder)) do
  for _, e in ipairs(t.events(path)) do if e.tagged_run_metadata then lines[#lines + 1] = e.step end end
end
t.exact("time lines", #lines > 0 and lines[1] > 0, true)
folder = t.folder()
do
  local own <close> = tf.summary.monitor(folder, {secs = 0.01, trace_secs = 0})
  for _ = 1, 2000 do sess:run(product, {[a] = fed}) end
end
t.exact("none is traced", scalars(folder)["monitor/peak_bytes"], nil)
t.exact("trace_secs", tostring(select(2, pcall(tf.summary.monitor, folder, {trace_secs = -1}))):match "trace_secs must be 0", "trace_secs must be 0")
t.done() -- expect: ok
