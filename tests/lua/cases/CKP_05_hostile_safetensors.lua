-- CKP-05: hostile and odd tensor files (safetensors).
-- Know: the format's text: an 8-byte length, a JSON header, and ranges that tile the buffer exactly.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function file(header, data, length)
  return t.temporary(string.pack("<I8", length or #header) .. header .. (data or ""), ".safetensors")
end
local floats = string.pack("<ff", 1, 2)
local function read(header, data) return tf.read_safetensors(file(header, data)) end
local function fails(label, path)
  t.raises(label, function() return tf.read_safetensors(path) end, path:match "[^/]*$")
end
-- What loads.
t.exact("plain", read('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', floats).a, {1, 2})
local both = read('{"z":{"dtype":"F32","shape":[0,3],"data_offsets":[8,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', floats)
t.shape("zero-size", both.z, {0, 3})
t.exact("beside it", both.a, {1, 2})
local scalar = read('{"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}', string.pack("<f", 3.5)).s
t.exact("scalar", scalar, 3.5)
t.shape("scalar", scalar, {})
local sorted = read('{"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', floats)
t.exact("unsorted keys", {sorted.a:item(), sorted.b:item()}, {1, 2})
local uni = read('{"größe/\\u03b1":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', floats)
t.exact("unicode key", uni["größe/α"], {1, 2})
local _, metadata = read('{"__metadata__":{"who":"me"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', floats)
t.exact("metadata", metadata.who, "me")
t.exact("spaces behind the header", read('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}      ', floats).a, {1, 2})
t.exact("nothing at all", next((read "{}")), nil)
-- What must not.
local one = '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
fails("length 2^64 - 1", t.temporary(("\xFF"):rep(8) .. one .. floats, ".safetensors"))
fails("length 2^63", file(one, floats, math.mininteger))
fails("length beyond the file", file(one, floats, #one + #floats + 1))
fails("length 0", file("", floats))
fails("empty file", t.temporary("", ".safetensors"))
fails("seven bytes", t.temporary("1234567", ".safetensors"))
fails("no JSON", file("this is no JSON", floats))
fails("a list", file("[1,2]", floats))
fails("text behind the JSON", file(one .. "x", floats))
local function entry(name, shape, from, to, dtype)
  return ('"%s":{"dtype":"%s","shape":%s,"data_offsets":[%s,%s]}'):format(name, dtype or "F32", shape, from, to)
end
local function header(...) return "{" .. table.concat({...}, ",") .. "}" end
fails("a key twice", file(header(entry("a", "[1]", 0, 4), entry("a", "[1]", 4, 8)), floats))
fails("overlap", file(header(entry("a", "[2]", 0, 8), entry("b", "[2]", 4, 12)), floats .. "abcd"))
fails("hole", file(header(entry("a", "[1]", 0, 4), entry("b", "[1]", 8, 12)), floats .. "abcd"))
fails("bytes behind the last range", file(one, floats .. "x"))
fails("range beyond the file", file(header(entry("a", "[3]", 0, 12)), floats))
fails("shape [2] with 4 bytes", file(header(entry("a", "[2]", 0, 4)), "abcd"))
fails("shape [2^33, 2^33]", file(header(entry("a", "[8589934592,8589934592]", 0, 8)), floats))
fails("shape that wraps to 2", file(header(entry("a", "[9223372036854775809,2]", 0, 8)), floats))
fails("end before begin", file(header(entry("a", "[2]", 8, 0)), floats))
fails("negative offsets", file(header(entry("a", "[2]", -8, 0)), floats))
fails("broken offsets", file(header(entry("a", "[2]", 0.5, 8)), floats))
fails("huge offsets", file(header(entry("a", "[2]", "0", "1e300")), floats))
fails("negative extent", file(header(entry("a", "[-2]", 0, 8)), floats))
fails("unknown type", file(header(entry("a", "[2]", 0, 8, "F31")), floats))
fails("metadata of numbers", file('{"__metadata__":{"n":1},' .. entry("a", "[2]", 0, 8) .. "}", floats))
fails("metadata a text", file('{"__metadata__":"n",' .. entry("a", "[2]", 0, 8) .. "}", floats))
fails("metadata twice", file('{"__metadata__":{},"__metadata__":{},' .. entry("a", "[2]", 0, 8) .. "}", floats))
fails("no shape", file('{"a":{"dtype":"F32","data_offsets":[0,8]}}', floats))
fails("three offsets", file('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4,8]}}', floats))
fails("deep nesting", file(("["):rep(200000), floats))
fails("a NUL in the header", file(one:sub(1, 20) .. "\0" .. one:sub(21), floats))
t.raises("no such file", function() return tf.read_safetensors "/no/such/file" end, "/no/such/file")
-- Every cut of a good file is refused.
local good = string.pack("<s8", one) .. floats
for n = 0, #good - 1 do fails("cut at " .. n, t.temporary(good:sub(1, n), ".safetensors")) end
t.remove_temporary()
t.done() -- expect: ok
