-- npy, npz, safetensors and JSON come back as they were written.
local tf = require "tfsdk"
local dir = os.tmpname()
os.remove(dir)
local function same(a, b) return a.dtype == b.dtype and table.concat(a.shape, "x") == table.concat(b.shape, "x") and a:bytes() == b:bytes() end
local a, b, c = tf.tensor{{1, 2, 3}, {4, 5, 6}}, tf.tensor({1, -2}, "int64"), tf.tensor(3.5, "float64")
tf.write_npz(dir .. ".npz", {a = a, b = b})
local back = tf.read_npz(dir .. ".npz")
print(same(back.a, a), same(back.b, b)) -- expect: true	true
tf.write_safetensors(dir .. ".safetensors", {a = a, b = b, c = c}, {note = "hi"})
local list, meta = tf.read_safetensors(dir .. ".safetensors")
print(same(list.a, a), same(list.b, b), same(list.c, c), meta.note) -- expect: true	true	true	hi
for _, t in ipairs{a, b, c, a:cast "float16", a:cast "uint8", a:gt(2), tf.zeros({0, 3}, {now = true})} do
  t:write(dir .. ".npy")
  io.write(tostring(same(tf.read_npy(dir .. ".npy"), t)), " ")
end
print() -- expect: true true true true true true true
for _, ending in ipairs{".npz", ".npy", ".safetensors"} do os.remove(dir .. ending) end
local text = tf.json.encode{name = "x", list = {1, 2.5, true}, none = tf.json.null}
print(text) -- expect: {"list":[1,2.5,true],"name":"x","none":null}
local v = tf.json.decode(text)
print(v.list[2], math.type(v.list[1]), v.none == tf.json.null) -- expect: 2.5	integer	true
print(pcall(tf.json.decode, "{\n1")) -- expect match: ^false	.*line 2
print(pcall(tf.read_npy, "/nonexistent.npy")) -- expect match: ^false	.*/nonexistent.npy: No such file
