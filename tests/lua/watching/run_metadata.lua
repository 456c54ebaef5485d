-- TensorFlow's RunOptions and RunMetadata: step stats by node, in microseconds since 1970; timeline and profiler.
-- Know: step_stats.proto, config.proto; names of devices as TensorFlow writes them.
package.path = (arg[0]:match "^.*/" or "./") .. "../cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local x = tf.placeholder("float32", {5, 3}, {name = "x"})
local y = tf.matmul(x, tf.ones {3, 2}, {name = "y"})
local z = tf.reduce_sum(tf.tanh(y * 2) + 1, {name = "z"})
local sess <close> = tf.Session()
local m = tf.RunMetadata()
local feed = {[x] = tf.ones({5, 3}, "float32", {now = true})}
sess:run(z, feed, {options = tf.RunOptions {trace_level = tf.RunOptions.NO_TRACE}, run_metadata = m})
t.exact("nothing was asked for", #m.step_stats.dev_stats, 0)
sess:run(z, feed, {options = tf.RunOptions {trace_level = tf.RunOptions.FULL_TRACE}, run_metadata = m})
local d = m.step_stats.dev_stats[1]
t.exact("the device", d.device, "/job:localhost/replica:0/task:0/device:CPU:0")
local by_name = {}
for _, n in ipairs(d.node_stats) do by_name[n.node_name] = n end
for _, name in ipairs {"y", "z", "mul", "Tanh"} do
  local n = by_name[name]
  t.check(name .. " is there", n ~= nil)
  t.check(name .. ": now", n and math.abs(n.all_start_micros / 1e6 - os.time()) < 100, n and n.all_start_micros)
  t.check(name .. ": takes time", n and n.op_end_rel_micros >= ((name == "y" or name == "z") and 1 or 0) and n.all_end_rel_micros >= n.op_end_rel_micros)
end
t.exact("z's output", {by_name.z.output[1].dtype, #by_name.z.output[1].shape, by_name.z.output[1].bytes}, {"float32", 0, 4})
-- the message: step_stats 1 > dev_stats 1 > device 1
local bytes = m:SerializeToString()
t.exact("field 1 of each", {bytes:byte(1), bytes:find(("\n%c%s"):format(#d.device, d.device), 1, true) ~= nil}, {10, true})
local timeline = tf.json.decode(tf.timeline.Timeline(m.step_stats):generate_chrome_trace_format())
local names = {}
for _, e in ipairs(timeline.traceEvents) do if e.ph == "X" then names[e.args.name] = e.name end end
t.exact("timeline", {names.y, names.z}, {"MatMul", "Sum"})
t.check("profiler by op", tf.profiler.profile({run_meta = m, cmd = "op"}):find("by op", 1, true) ~= nil)
t.check("profiler by code", tf.profiler.profile({run_meta = m, cmd = "code"}):find("run_metadata.lua:7", 1, true) ~= nil)
t.raises("no metadata", function() tf.profiler.profile {cmd = "op"} end, "run_meta")
t.raises("no such view", function() tf.profiler.profile {run_meta = m, cmd = "advise"} end, "advise")
-- TensorBoard's writer takes it
local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir '" .. folder .. "'")
local writer = tf.summary.FileWriter(folder, sess.graph)
writer:add_run_metadata(m, "step 1", 1)
writer:close()
local tags = {}
local pipe = io.popen("ls '" .. folder .. "'")
for event in tf.train.summary_iterator(folder .. "/" .. pipe:read "l") do
  if event.tagged_run_metadata then tags[#tags + 1] = event.tagged_run_metadata:match "step %d" end -- TaggedRunMetadata{tag 1, run_metadata 2}
end
pipe:close()
t.exact("in the event file", tags, {"step 1"})
os.execute("rm -r '" .. folder .. "'")
t.raises("metadata is a table", function() sess:run(z, feed, {run_metadata = 1}) end, "run_metadata")
t.done() -- expect: ok
