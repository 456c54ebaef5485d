-- The same run as data/events/v1, which TensorFlow wrote: every summary event is the same in each byte.
local here = arg[0]:match "^.*/" or "./"
local tf, t = require "tfsdk", dofile(here .. "support.lua")
local recorded = tf.json.decode(t.read(t.data .. "events.json")).cases[1]
local inputs = tf.read_safetensors(t.data .. "inputs.safetensors")
local loss, numbers = tf.placeholder("float32", {}), tf.placeholder("float32", {60})
do
  local s <close> = tf.name_scope "summaries"
  tf.summary.scalar("loss", loss)
  tf.summary.histogram("numbers", numbers)
  tf.summary.image("picture", tf.constant(inputs.picture), {max_outputs = 2})
  tf.summary.audio("sound", tf.constant(inputs.wave), 8000)
  tf.summary.text("note", {"**bold**", "two"})
  tf.summary.tensor_summary("raw", tf.constant {{1, 2}, {3, 4}})
end
local merged = tf.summary.merge_all()
local sess <close> = tf.Session()
local folder = t.folder()
local w = tf.summary.FileWriter(folder)
local want = {}
local odd = {nan = -(0 / 0), inf = math.huge, [0] = -0.0} -- JSON has no signed zero in Lua's hands
local theirs, at = t.read(t.data .. recorded.file), {}
for _, e in ipairs(recorded.events) do
  if e.what == "summary" then
    want[#want + 1] = theirs:sub(e.offset + 1, e.offset + 16 + e.bytes)
    local step = math.tointeger(e.step)
    local bytes = #e.values == 6 + 1 and sess:run(merged, {[loss] = e.values[1].simple_value, [numbers] = inputs.numbers * (step + 1)})
      or tf.Summary{value = {{tag = "odd", simple_value = odd[e.values[1].simple_value] or e.values[1].simple_value}}}
    w:add_summary(bytes, step, e.wall_time)
    at[#want] = ("step %d"):format(step)
  elseif e.what == "session_log" then
    want[#want + 1] = theirs:sub(e.offset + 1, e.offset + 16 + e.bytes)
    at[#want] = "session log"
    local log = e.session_log
    w:add_event {wall_time = e.wall_time, step = math.tointeger(e.step), session_log = {status = log.status, checkpoint_path = log.checkpoint_path}}
  end
end
w:close()
local ours = t.read(t.files(folder)[1])
local place = 41 -- behind our own first event
for i, bytes in ipairs(want) do
  local got = ours:sub(place, place + #bytes - 1)
  t.check(at[i], got == bytes, t.hex(got), t.hex(bytes))
  place = place + #bytes
end
t.exact("bytes in all", #ours, place - 1)
print(#want) -- expect: 9
t.done() -- expect: ok
