-- Checkpoints and weight files as TensorFlow, Keras, PyTorch and NumPy wrote them: every tensor bit for bit.
-- Know: what the program that wrote a file reads from it, tests/data/checkpoint/README.md.
local here = arg[0]:match "^.*/" or "./"
package.path = here .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local root = here .. "../../data/checkpoint/"
local file = assert(io.open(root .. "files.json"))
local cases = tf.json.decode(file:read "a").cases
file:close()
local function hex(s) return (s:gsub("..", function(h) return string.char(tonumber(h, 16)) end)) end
local function text(v)
  if type(v) ~= "table" then return tostring(v) end
  local out = {}
  for i, x in ipairs(v) do out[i] = text(x) end
  return table.concat(out, "|")
end
-- What h5py calls a type, as ours.
local types = {[">f4"] = "float32", object = "string", float8_e4m3 = "float32", float8_e5m2 = "float32"}
local read = 0
for _, c in ipairs(cases) do
  local ok, reader = pcall(tf.train.NewCheckpointReader, root .. c.path)
  if not ok then
    t.check(c.id, false, tostring(reader))
  else
    local values = tf.read_safetensors(root .. c.values .. ".safetensors")
    local known = {}
    for _, d in ipairs(c.contents or {}) do
      local label = c.id .. ": " .. d.name
      local got = reader:get_tensor(d.name)
      known[d.name] = true
      read = read + 1
      t.exact(label .. ": type", got.dtype, types[d.dtype] or d.dtype)
      t.shape(label, got, d.shape)
      if d.strings then
        local list = got:rank() == 0 and {got:item()} or got:table()
        for i, s in ipairs(d.strings) do t.exact(label .. ": string " .. i, list[i], s.text or hex(s.hex)) end
      else
        t.check(label .. ": bytes", got:bytes() == values[d.as_float32 or d.key]:bytes())
        -- from the file's pages, the same
        t.check(label .. ": mapped", tf.train.load_checkpoint(root .. c.path, {map = true}):get_tensor(d.name):bytes() == got:bytes())
      end
    end
    for _, name in ipairs(c.contents and reader:names() or {}) do t.check(c.id .. ": nothing else", known[name], name) end
    for key, value in pairs(c.scalars or {}) do -- numbers, texts and lists between PyTorch's tensors
      local got, want = reader:metadata()[key], value
      t.check(c.id .. ": " .. key, got ~= nil and tf.json.encode(got) == tf.json.encode(want), got and tf.json.encode(got), tf.json.encode(want))
    end
    for key, value in pairs(c.metadata or {}) do t.exact(c.id .. ": metadata " .. key, reader:metadata()[key], value) end
    local meta = c.attributes and reader:metadata()
    for _, a in ipairs(c.attributes or {}) do
      local got = (meta[a.object == "/" and "." or a.object] or {})[a.name]
      t.check(c.id .. ": attribute " .. a.name, text(got) == text(a.value), text(got))
    end
    if c.name_rule then -- tensor i holds i
      t.exact(c.id .. ": names", #reader.list, 4000)
      for i = 0, 3999, 97 do
        t.exact(c.id, reader:get_tensor(("tower_%d/layer_%02d/some_quite_long_scope_name_to_fill_blocks/weights"):format(i // 64, i % 64)):item(), i)
      end
    end
  end
end
t.check("many tensors", read > 200, read)
t.done() -- expect: ok
