-- DAT-07: IDX and CIFAR's binary layouts.
-- Know: arithmetic on the published layouts: numbers are big-endian; magic 2051 read in the other order is 50855936.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function idx(code, shape, data, ending)
  return t.temporary(string.pack(">BBBB", 0, 0, code, #shape) .. string.pack(">" .. ("I4"):rep(#shape), table.unpack(shape)) .. data, ending or ".idx")
end
local images = "\1\2\3\4\5\6\7\8"
t.exact("images", tf.read_idx(idx(8, {2, 2, 2}, images)), {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}})
t.exact("labels", tf.read_idx(idx(8, {2}, "\7\9")), {7, 9})
for _, c in ipairs {
  {0x08, "uint8", "\200\1", {200, 1}}, {0x09, "int8", "\xFE\1", {-2, 1}}, {0x0B, "int16", "\xFF\xFE\1\0", {-2, 256}},
  {0x0C, "int32", "\0\0\0\5\xFF\xFF\xFF\xFE", {5, -2}}, {0x0D, "float32", string.pack(">ff", 1.5, -2), {1.5, -2}},
  {0x0E, "float64", string.pack(">dd", 1.5, 1e300), {1.5, 1e300}}} do
  local x = tf.read_idx(idx(c[1], {2}, c[3]))
  t.exact("type " .. c[2], x.dtype, c[2])
  t.exact("values of " .. c[2], x, c[4])
end
-- gzip, by content; the name does not matter
local plain = idx(8, {2, 2, 2}, images)
if os.execute "gzip --version > /dev/null 2>&1" then
  os.execute(("gzip -c '%s' > '%s.gz'"):format(plain, plain))
  t.exact("gzip", tf.read_idx(plain .. ".gz"), {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}})
  os.remove(plain .. ".gz")
end
local function fails(label, path, ...)
  t.raises(label, function() return tf.read_idx(path) end, path:match "[^/]*$", ...)
end
fails("a byte short", idx(8, {2, 2, 2}, images:sub(1, -2)))
fails("a byte long", idx(8, {2, 2, 2}, images .. "x"))
fails("an unknown type", idx(0x0A, {2}, "\1\2"))
fails("2^32 images", idx(8, {4294967295, 4294967295, 4294967295}, images))
fails("no magic", t.temporary("\1\2\3\4\5\6\7\8", ".idx"))
fails("empty", t.temporary("", ".idx"))
-- CIFAR: one byte label (100: coarse, fine), then planes of 1024 bytes: red, green, blue. Byte k of the pixels is k mod 251.
local pixels = {}
for k = 0, 3071 do pixels[k + 1] = k % 251 end
local record = string.char(table.unpack(pixels))
for name, label in pairs {["CIFAR-10"] = "\7", ["CIFAR-100"] = "\3\42"} do
  local file = label .. record
  t.exact(name .. ": bytes of a record", #file, name == "CIFAR-10" and 3073 or 3074)
  local bytes = tf.tensor({file:byte(1, -1)}, "uint8")
  local image = tf.transpose(tf.reshape(bytes[{{#label + 1, -1}}], {3, 32, 32}), {1, 2, 0})
  t.exact(name .. ": its labels", bytes[{{1, #label}}], {label:byte(1, -1)})
  -- pixel (row 0, column 1, green) sits at offset 1026 (1027): t[i] counts from 1
  t.exact(name .. ": a green pixel", image[{1, 2, 2}], 1025 % 251)
  t.exact(name .. ": the byte there", bytes[(name == "CIFAR-10" and 1026 or 1027) + 1], 1025 % 251)
end
t.remove_temporary()
t.done() -- expect: ok
