-- DAT-06: npy: element order, header versions, odd shapes.
-- Know: numpy's format text.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function npy(version, header, data)
  local head = version == 1 and string.pack("<s2", header) or string.pack("<s4", header)
  return t.temporary("\x93NUMPY" .. string.char(version, 0) .. head .. data, ".npy")
end
local function described(descr, shape, data, version, fortran)
  return npy(version or 1, ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n"):format(descr, fortran or "False", shape), data)
end
local columns = string.pack("<ffffff", 0, 3, 1, 4, 2, 5)
for version = 1, 3 do
  local x = tf.read_npy(described("<f4", "(2, 3)", columns, version, "True"))
  t.exact("column-major, version " .. version, x, {{0, 1, 2}, {3, 4, 5}})
  t.shape("column-major, version " .. version, x, {2, 3})
end
t.exact("row-major", tf.read_npy(described("<f4", "(2, 3)", columns)), {{0, 3, 1}, {4, 2, 5}})
local cube = {}
for i = 1, 24 do cube[i] = i end
-- element (a, b, c) of a 2x3x4 array sits at a + 2 b + 6 c
t.exact("column-major cube", tf.read_npy(described("<f8", "(2, 3, 4)", string.pack("<" .. ("d"):rep(24), table.unpack(cube)), 1, "True")),
  tf.transpose(tf.tensor(cube, "float64"):reshape {4, 3, 2}):table())
local scalar = tf.read_npy(described("<f4", "()", string.pack("<f", 3.5)))
t.exact("scalar", scalar, 3.5)
t.shape("scalar", scalar, {})
t.shape("empty", tf.read_npy(described("<f4", "(0, 3)", "")), {0, 3})
local short = tf.read_npy(described(">i2", "(2,)", "\x00\x01\x01\x00"))
t.exact("big-endian", short, {1, 256})
t.exact("big-endian type", short.dtype, "int16")
t.exact("booleans", tf.read_npy(described("|b1", "(3,)", "\1\0\1")), {true, false, true})
local half = tf.read_npy(described("<f2", "(3,)", "\x00\x3C\x00\xC0\xFF\x7B"))
t.exact("halves", half, {1, -2, 65504})
t.exact("halves' type", half.dtype, "float16")
t.exact("keys in another order, spaces", tf.read_npy(npy(1, "{ 'shape' : (2,3) ,'fortran_order':True,  'descr' :'<f4'}          \n", columns)), {{0, 1, 2}, {3, 4, 5}})
local words = function(path) return path:match "[^/]*$" end
local function fails(label, path, ...)
  t.raises(label, function() return tf.read_npy(path) end, words(path), ...)
end
fails("unicode", described("<U3", "(1,)", ("\0"):rep(12)), "<U3")
fails("objects", described("|O", "(1,)", ("\0"):rep(8)), "|O")
fails("one byte short", described("<f4", "(2, 3)", columns:sub(1, -2)))
fails("2^40 elements", described("<f4", "(1099511627776,)", columns))
fails("2^80 elements", described("<f4", "(1099511627776, 1099511627776)", columns))
fails("a negative extent", described("<f4", "(-2, 3)", columns))
fails("no npy", t.temporary("hello, world, this is text", ".npy"))
fails("a cut header", t.temporary("\x93NUMPY\1\0\200", ".npy"))
-- There and back, of every type.
for _, dtype in ipairs {"float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"} do
  local x = tf.tensor(dtype == "bool" and {{true, false}} or {{1, 2}}, dtype)
  local path = t.temporary("", ".npy")
  x:write(path)
  local y = tf.read_npy(path)
  t.exact("there and back " .. dtype, y, x:table())
  t.exact("its type", y.dtype, dtype)
end
t.remove_temporary()
t.done() -- expect: ok
