-- Event files of TensorFlow 1 and 2, PyTorch, and damaged ones: what events.json says of them, and what each damaged
-- file must do.
local here = arg[0]:match "^.*/" or "./"
local tf, t = require "tfsdk", dofile(here .. "support.lua")
local function parse(text) return tf.json.decode(text) end
local recorded = parse(t.read(t.data .. "events.json"))
local function number(x) if x == "nan" then return 0 / 0 elseif x == "inf" then return math.huge else return x end end
local count = 0
for _, case in ipairs(recorded.cases) do
  local got = t.events(t.data .. case.file)
  t.exact(case.id .. ": events", #got, #case.events)
  for i, want in ipairs(case.events) do
    local g, label = got[i], ("%s at %d"):format(case.id, want.offset)
    count = count + 1
    t.exact(label .. ": offset", g.offset, math.tointeger(want.offset))
    t.exact(label .. ": step", g.step, math.tointeger(want.step))
    t.exact(label .. ": time", g.wall_time, want.wall_time)
    if want.what == "summary" then
      t.exact(label .. ": values", #g.summary.value, #want.values)
      for k, v in ipairs(want.values) do
        local h = g.summary.value[k]
        t.exact(label .. ": tag", h.tag, v.tag)
        if v.kind == "simple_value" then t.exact(label .. ": value", h.simple_value, number(v.simple_value)) end
        if v.metadata ~= nil then t.exact(label .. ": plugin", h.plugin, v.metadata.plugin) end
        local kinds = {simple_value = "scalar", histo = "histogram", image = "image", audio = "audio"}
        local scalar = v.kind == "tensor" and #v.tensor.shape == 0 and v.tensor.dtype:find "float"
        t.exact(label .. ": kind", h.kind, scalar and "scalar" or kinds[v.kind] or v.kind == "tensor" and "tensor" or "empty")
      end
    else
      t.check(label .. ": kind", g[want.what] ~= nil, "another", want.what)
    end
  end
end
print(count) -- expect: 54
-- TensorFlow 2's scalars are tensors: loss is 1/(n+1) in v2.
local losses = {}
for _, e in ipairs(t.events(t.data .. "events/v2/events.out.tfevents.1767225600.example")) do
  for _, v in ipairs(e.summary and e.summary.value or {}) do
    if v.tag == "loss" then losses[#losses + 1] = v.simple_value end
  end
end
t.near("losses of v2", losses, {1, 1 / 2, 1 / 3})

local damaged = { -- whole events before the error (false: no error), as TensorFlow's reader has them
  growing = {4, false}, flip = {2, "checksum"}, no_version = {4, false}, newer_version = {2, false}, not_event = {1, "no Event"},
  empty = {0, false}, out_of_order = {4, false}}
for name, want in pairs(damaged) do
  local path, n = t.data .. "damaged/" .. name .. "/events.out.tfevents.1767225600.example", 0
  local ok, why = pcall(function() for _ in tf.train.summary_iterator(path) do n = n + 1 end end)
  t.exact(name .. ": events", n, want[1])
  t.exact(name .. ": goes well", ok, not want[2])
  if want[2] then
    t.check(name .. ": the error", tostring(why):find(want[2], 1, true) and tostring(why):find "byte %d+" ~= nil, tostring(why), want[2])
    t.exact(name .. ": its code", why.code, "DATA_LOSS")
  end
end
t.raises("a file that is not there", function() t.events "/nowhere/at/all" end, "/nowhere/at/all", "No such file")
-- A length that no file has, with a right checksum: nothing is asked for, the record is not there yet.
local huge = string.pack("<I8", 1 << 62)
local w = tf.summary.FileWriter(t.folder())
w:add_event(huge) -- its data checksum is that of the eight bytes
w:close()
local framed = t.read(t.files(w:get_logdir())[1])
t.exact("a huge length", #t.events(t.temporary(huge .. framed:sub(-4) .. "abc")), 0)
t.done() -- expect: ok
