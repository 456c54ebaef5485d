-- FileWriter: several at once, nothing dropped, going on in a new file, closing, metadata once per tag.
local here = arg[0]:match "^.*/" or "./"
local tf, t = require "tfsdk", dofile(here .. "support.lua")
local function scalar(tag, x) return tf.Summary{value = {{tag = tag, simple_value = x}}} end
local function steps_of(path)
  local out = {}
  for _, e in ipairs(t.events(path)) do if e.summary then out[#out + 1] = e.step end end
  return out
end
local counting = {}
for i = 1, 2000 do counting[i] = i end

-- A queue of one entry: the step waits now and then, and no event is dropped or overtakes another.
local folder = t.folder()
local small = tf.summary.FileWriter(folder, {max_queue = 1, flush_secs = 0})
for i = 1, 2000 do small:add_summary(scalar("x", i), i) end
small:close()
t.exact("a queue of one", steps_of(t.files(folder)[1]), counting)

-- Eight writers of one folder, taking turns: eight files.
folder = t.folder()
local writers = {}
for k = 1, 8 do writers[k] = tf.summary.FileWriter(folder, {filename_suffix = ".w" .. k}) end
for i = 1, 100 do for k = 1, 8 do writers[k]:add_summary(scalar("x" .. k, i), i) end end
for k = 1, 8 do writers[k]:close() end
t.exact("eight files", #t.files(folder), 8)
for _, path in ipairs(t.files(folder)) do t.exact("its steps", #steps_of(path), 100) end
t.check("the suffix ends the name", t.files(folder)[1]:find "%.w%d$" ~= nil, t.files(folder)[1])

-- Going on: a new file beside the old one, whose first event is the version.
folder = t.folder()
local w = tf.summary.FileWriter(folder)
w:add_summary(scalar("x", 1), 1)
w:close()
t.raises("a closed writer", function() w:add_summary(scalar("x", 2), 2) end, "closed", folder, "reopen")
w:reopen()
w:add_summary(scalar("x", 2), 2)
w:close()
t.exact("two files", #t.files(folder), 2)
for _, path in ipairs(t.files(folder)) do
  t.exact("first the version", t.events(path)[1].file_version, "brain.Event:2")
end
w:close() -- a second time does nothing

-- A writer that nobody closed is complete once it is collected.
folder = t.folder()
do
  local forgotten = tf.summary.FileWriter(folder)
  for i = 1, 7 do forgotten:add_summary(scalar("x", i), i) end
end
collectgarbage()
collectgarbage()
t.exact("a forgotten writer", #steps_of(t.files(folder)[1]), 7)

-- TensorFlow's writer tells the metadata of a tag once: the second event has none.
folder = t.folder()
do
  local writer <close> = tf.summary.FileWriter(folder)
  for i = 1, 3 do writer:text("note", "words", i) end
  writer:text("other", "words", 3)
end
local plugins = {}
for _, e in ipairs(t.events(t.files(folder)[1])) do
  if e.summary then plugins[#plugins + 1] = e.summary.value[1].plugin end
end
t.exact("metadata", plugins, {"text", "", "", "text"})

-- What cannot be a summary is refused at the call.
folder = t.folder()
local strict <close> = tf.summary.FileWriter(folder)
t.raises("no summary", function() strict:add_summary("\255\255\255") end, "Summary")
t.raises("a wrong field", function() tf.Summary{value = {{tag = "x", simple_valeu = 1}}} end, "simple_valeu", "simple_value")
t.raises("a step", function() strict:add_summary(scalar("x", 1), 1.5) end, "global_step", "1.5")
strict:add_run_metadata({}, "once", 1)
t.raises("a tag twice", function() strict:add_run_metadata({}, "once", 2) end, "once")
t.done() -- expect: ok
