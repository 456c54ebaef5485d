-- EVT-02: a cut or growing file gives its whole records; damage gives those before it and an error with the
-- offset; flush shows records to others at once. tensorflow/tensorboard#3194, googledatalab/pydatalab#710.
local here = arg[0]:match "^.*/" or "./"
local tf, t = require "tfsdk", dofile(here .. "support.lua")
local folder = t.folder()
local w = tf.summary.FileWriter(folder)
for i = 1, 5 do w:add_summary(tf.Summary{value = {{tag = "v", simple_value = i}}}, i) end
w:flush()
local path = t.files(folder)[1]
local bytes = t.read(path)
local starts, at = {}, 0
for i, r in ipairs(t.records(bytes)) do
  starts[i] = at
  at = at + 16 + #r
end
t.exact("flush shows all events", #starts, 6)
w:close()
t.exact("closing adds nothing", t.read(path), bytes)

for cut = 0, #bytes do
  local file = t.temporary(bytes:sub(1, cut))
  local whole = 0
  for i = 1, 6 do if (starts[i + 1] or #bytes) <= cut then whole = i end end
  t.exact(("cut at %d"):format(cut), #t.events(file), whole)
  t.remove_temporary()
end

-- A bit flipped in record 4 (step 3): 3 events, then an error that names the byte where the record begins.
local middle = starts[4] + 14
local flipped = bytes:sub(1, middle) .. string.char(bytes:byte(middle + 1) ~ 1) .. bytes:sub(middle + 2)
local got = 0
local ok, why = pcall(function() for _ in tf.train.summary_iterator(t.temporary(flipped)) do got = got + 1 end end)
t.check("an error", not ok and why.code == "DATA_LOSS", tostring(why))
t.check("its place", tostring(why):find("byte " .. starts[4], 1, true) ~= nil, tostring(why), starts[4])
t.exact("events before it", got, 3)

-- Reading on from where the file ended: option offset of the reader.
local half = t.temporary(bytes:sub(1, starts[5] + 7))
local function read(from)
  local steps, next_ = {}, from
  for r in tf.data.from_file(half, {reader = "tfevents", offset = from}):iter() do
    if r.kind:item() == "scalar" then steps[#steps + 1] = r.step:item() end
    next_ = r.next:item()
  end
  return steps, next_
end
local steps, place = read(0)
t.exact("whole records", steps, {1, 2, 3})
local file = assert(io.open(half, "ab"))
file:write(bytes:sub(starts[5] + 8))
file:close()
t.exact("the rest, after it has grown", (read(place)), {4, 5})
-- A dataset's position in the middle of a summary of several values.
local folder2 = t.folder()
do
  local many <close> = tf.summary.FileWriter(folder2)
  many:add_summary(tf.Summary{value = {{tag = "a", simple_value = 1}, {tag = "b", simple_value = 2}, {tag = "c", simple_value = 3}}}, 1)
end
t.exact("values of one event", #t.events(t.files(folder2)[1])[2].summary.value, 3)
t.done() -- expect: ok
