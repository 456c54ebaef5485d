-- Files above 2 and 4 GB: sparse ones, so that they take no room. What lies behind their middle is read, and
-- the whole is mapped without being read.
-- Know: the formats' texts (safetensors; zip with sizes of 64 bits, APPNOTE 4.5.3); a hole in a file reads as 0.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local path = os.tmpname()
os.remove(path)
local big = 4600000000
local function write(name, parts) -- {{offset, bytes}, ...}
  local file = assert(io.open(name, "wb"))
  for _, p in ipairs(parts) do
    file:seek("set", p[1])
    file:write(p[2])
  end
  file:close()
end
-- safetensors: 4.6 GB of bytes, the last one 7, then three floats
local name = path .. ".safetensors"
local header = ('{"big":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]},"far":{"dtype":"F32","shape":[3],"data_offsets":[%d,%d]}}'):format(big, big, big, big + 12)
header = header .. (" "):rep((64 - (#header + 8) % 64) % 64)
local data = 8 + #header
write(name, {{0, string.pack("<I8", #header) .. header}, {data + big - 1, "\7" .. string.pack("<fff", 1.5, -2, 3)}})
local reader = tf.train.load_checkpoint(name, {map = true})
t.exact("its shape", reader:get_variable_to_shape_map().big, {big})
t.exact("copied from behind 4 GB", tf.train.load_variable(name, "far"), {1.5, -2, 3})
t.exact("mapped from behind 4 GB", reader:get_tensor "far", {1.5, -2, 3})
if not t.sanitized() then
  local before = t.process "VmRSS"
  local all = reader:get_tensor "big"
  t.exact("mapped: its size", all:size(), big)
  t.exact("mapped: its end", all[{{-2, -1}}]:table(), {0, 7})
  if before then t.check("mapped: not read", t.process "VmRSS" - before < 200000, t.process "VmRSS" - before, "less than 200 MB") end
end
t.raises("one byte short", function()
  write(name, {{0, string.pack("<I8", #header) .. header}, {data + big - 1, "\7" .. string.pack("<ff", 1.5, -2) .. "abc"}})
  tf.train.load_checkpoint(name)
end, name, "far")
os.remove(name)
-- npz: a member of 4.6 GB and one behind it; sizes and places stand in extra fields
name = path .. ".npz"
local function npy(descr, shape)
  local h = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }"):format(descr, shape)
  h = h .. (" "):rep((64 - (#h + 11) % 64) % 64) .. "\n"
  return "\x93NUMPY\1\0" .. string.pack("<I2", #h) .. h
end
local function crc32(bytes) -- of the small member; ISO 3309
  local crc = 0xffffffff
  for i = 1, #bytes do
    crc = crc ~ bytes:byte(i)
    for _ = 1, 8 do crc = crc & 1 == 1 and crc >> 1 ~ 0xedb88320 or crc >> 1 end
  end
  return ~crc & 0xffffffff
end
local first, small = npy("|u1", big), npy("<f4", 3) .. string.pack("<fff", 1.5, -2, 3)
local size = #first + big
local function member(n, crc, bytes, large)
  local s = large and 0xffffffff or bytes
  return string.pack("<I2I2I2I4I4I4I4I2", large and 45 or 20, 0, 0, 33 << 16, crc, s, s, #n)
end
local extra = string.pack("<I2I2I8I8", 1, 16, size, size)
local local1 = "PK\3\4" .. member("big.npy", 0, size, true) .. string.pack("<I2", #extra) .. "big.npy" .. extra
local at2 = #local1 + size
local local2 = "PK\3\4" .. member("far.npy", crc32(small), #small) .. string.pack("<I2", 0) .. "far.npy" .. small
local extra2 = string.pack("<I2I2I8", 1, 8, at2)
local directory = "PK\1\2" .. string.pack("<I2", 45) .. member("big.npy", 0, size, true) .. string.pack("<I2I2I2I2I4I4", #extra, 0, 0, 0, 0, 0) .. "big.npy" .. extra
  .. "PK\1\2" .. string.pack("<I2", 45) .. member("far.npy", crc32(small), #small) .. string.pack("<I2I2I2I2I4I4", #extra2, 0, 0, 0, 0, 0xffffffff) .. "far.npy" .. extra2
local at_directory = at2 + #local2
local ending = "PK\6\6" .. string.pack("<I8I2I2I4I4I8I8I8I8", 44, 45, 45, 0, 0, 2, 2, #directory, at_directory)
  .. "PK\6\7" .. string.pack("<I4I8I4", 0, at_directory + #directory, 1)
  .. "PK\5\6" .. string.pack("<I2I2I2I2I4I4I2", 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0)
write(name, {{0, local1 .. first}, {at2, local2 .. directory .. ending}})
reader = tf.train.load_checkpoint(name, {map = true})
t.exact("npz: its shape", reader:get_variable_to_shape_map().big, {big})
t.exact("npz: from behind 4 GB", tf.train.load_variable(name, "far"), {1.5, -2, 3})
if not t.sanitized() then t.exact("npz: mapped", reader:get_tensor "big" [{{-2, -1}}]:table(), {0, 0}) end
os.remove(name)
t.done() -- expect: ok
