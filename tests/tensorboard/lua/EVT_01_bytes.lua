-- EVT-01: framing, checksums, and the bytes of the first two events, as published: the check value of CRC-32C,
-- the mask, protobuf's wire rules. tensorflow/tensorboard#5588, #3194, #4743, lanpa/tensorboardX#185.
local here = arg[0]:match "^.*/" or "./"
local tf, t = require "tfsdk", dofile(here .. "support.lua")
local function written(fn, options)
  local folder = t.folder()
  local w = tf.summary.FileWriter(folder, options or {})
  fn(w)
  w:close()
  local files = t.files(folder)
  t.check("one file", #files == 1, #files, 1)
  t.check("its name", files[1]:match "/events%.out%.tfevents%.%d%d%d%d%d%d%d%d%d%d%.[^/]+%.%d+%.%d+$" ~= nil, files[1])
  return t.read(files[1])
end
-- The file's own first event is Event{wall_time, file_version "brain.Event:2"}: 24 bytes of data, 40 in all.
local bytes = written(function(w)
  w:add_event "abc"
  w:add_event ""
  w:add_event(t.from_hex("09000000000000f83f1a0d") .. "brain.Event:2")
  w:add_event {wall_time = 2, step = 7, summary = tf.Summary{value = {{tag = "loss", simple_value = 0.25}}}}
end)
local first = bytes:sub(1, 40)
t.check("length of the version event", t.hex(first:sub(1, 12)) == "1800000000000000a37f4b22", t.hex(first:sub(1, 12)))
t.check("version event", first:sub(13, 13) == "\9" and first:sub(22, 36) == "\x1a\x0dbrain.Event:2", t.hex(first))
local wall = string.unpack("<d", first, 14)
t.check("its time is now, in whole seconds", wall % 1 == 0 and math.abs(wall - os.time()) < 100, wall, os.time())
local want = "0300000000000000b099490e" .. "616263" .. "6e57f121"
  .. "000000000000000029039807" .. "d8ea82a2"
  .. "1800000000000000a37f4b22" .. "09000000000000f83f1a0d627261696e2e4576656e743a32" .. "2a28646c"
  .. "1a00000000000000129bd82d" .. "09000000000000004010072a0d0a0b0a046c6f7373150000803e" .. "93324efe"
t.check("the other records", t.hex(bytes:sub(41)) == want, t.hex(bytes:sub(41)), want)

-- Steps 0, 2^40, -1 (a varint of ten bytes), and a NaN: read back as they were.
local folder = t.folder()
do
  local w <close> = tf.summary.FileWriter(folder)
  w:add_summary(tf.Summary{value = {{tag = "x", simple_value = 0 / 0}}}, 0)
  w:add_summary(tf.Summary{value = {{tag = "x", simple_value = -math.huge}}}, 1 << 40)
  w:add_summary(tf.Summary{value = {{tag = "x", simple_value = -0.0}}}, -1)
end
local path = t.files(folder)[1]
local last = t.records(t.read(path))[4]
t.check("-1 on the wire", last:sub(10, 20) == "\x10" .. ("\xff"):rep(9) .. "\1", t.hex(last:sub(10, 20)))
local e = t.events(path)
t.exact("steps", {e[2].step, e[3].step, e[4].step}, {0, 1 << 40, -1})
local v = {}
for i = 2, 4 do v[i - 1] = e[i].summary.value[1].simple_value end
t.exact("values", v, {0 / 0, -math.huge, -0.0}, true)
-- The mask and the checksum of "123456789": 0xe3069283, rotated right by 15, plus 0xa282ead8.
local known = written(function(w) w:add_event "123456789" end):sub(-4)
local crc = 0xe3069283
t.exact("CRC-32C", string.unpack("<I4", known), ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)
t.done() -- expect: ok
