-- TensorFlow's checkpoints of version 2 as we write them: every type, strings, empty tensors, thousands of names over several
-- blocks; what is there before is untouched when writing fails. That TensorFlow reads them: tests/saved_model/peer.sh.
-- Know: what was written; the reader, which is tested on TensorFlow's own files.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local folder = os.tmpname()
os.remove(folder)
local program = arg[-2] or "tfsdk"
local function convert(from, to)
  local pipe = io.popen(("'%s' ckpt convert '%s' '%s' 2>&1"):format(program, from, to))
  local text = pipe:read "a"
  local _, _, code = pipe:close()
  return text, code
end
os.execute("mkdir '" .. folder .. "'")
local tensors = {scalar = tf.tensor(2.5), empty = tf.zeros({0, 3}, "float32", {now = true}), ["a/b:c"] = tf.tensor {{1, 2}, {3, 4}}}
for _, dtype in ipairs {"float64", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"} do
  tensors["t_" .. dtype] = tf.cast(tf.tensor {0, 1, 2, 100}, dtype)
end
tensors.bool = tf.tensor({true, false, true}, "bool")
tf.write_safetensors(folder .. "/some.safetensors", tensors)
local text, code = convert(folder .. "/some.safetensors", folder .. "/out/model.index")
t.exact("written", code, 0)
t.check("which form", text:find("tf_checkpoint", 1, true) ~= nil, text)
local reader = tf.train.load_checkpoint(folder .. "/out/model")
local n = 0
for name, want in pairs(tensors) do
  n = n + 1
  local got = reader:get_tensor(name)
  t.exact(name .. ": type", got.dtype, want.dtype)
  t.shape(name, got, want.shape)
  t.check(name .. ": bytes", got:bytes() == want:bytes())
end
t.exact("nothing else", #reader.list, n)
-- strings come from TensorFlow's own file, which has some
local root = (arg[0]:match "^.*/" or "./") .. "../../data/checkpoint/checkpoints/"
_, code = convert(root .. "saver/model.ckpt-7", folder .. "/copy.index")
t.exact("copied", code, 0)
local pipe = io.popen(("'%s' ckpt diff '%s' '%s'"):format(program, root .. "saver/model.ckpt-7", folder .. "/copy"))
text = pipe:read "a"
t.check("the same, strings and all", pipe:close() and text:find("0 differ", 1, true) ~= nil, text)
-- names that share beginnings, over several blocks of the index
local many = {}
for i = 1, 9000 do many[("a_rather_long_scope_that_fills_blocks_%d/layer_%04d/weights"):format(i % 7, i)] = tf.tensor({i}, "int32") end
tf.write_safetensors(folder .. "/many.safetensors", many)
convert(folder .. "/many.safetensors", folder .. "/many.index")
reader = tf.train.load_checkpoint(folder .. "/many")
t.exact("all names", #reader.list, 9000)
for i = 1, 9000, 501 do t.exact("value " .. i, reader:get_tensor(("a_rather_long_scope_that_fills_blocks_%d/layer_%04d/weights"):format(i % 7, i))[1]:item(), i) end
text, code = convert(folder .. "/some.safetensors", "/proc/nowhere/model.index")
t.check("a folder that cannot be made", code == 1 and text:find "/proc/nowhere", text)
os.execute("rm -r '" .. folder .. "'")
t.done() -- expect: ok
