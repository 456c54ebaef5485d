-- The GraphDef of the run that data/events/v1 is of: names, ops, inputs and attributes are those TensorFlow wrote, for
-- all nodes that both have. Attributes are compared byte by byte: types, shapes, constants, _output_shapes.
local here = arg[0]:match "^.*/" or "./"
local tf, t = require "tfsdk", dofile(here .. "support.lua")
-- A message's fields in order: {number, value or bytes}.
local function fields(bytes)
  local out, at = {}, 1
  local function varint()
    local v, shift = 0, 0
    repeat
      local b = bytes:byte(at)
      v, shift, at = v | (b & 127) << shift, shift + 7, at + 1
    until b < 128
    return v
  end
  while at <= #bytes do
    local key = varint()
    local number, wire, v = key >> 3, key & 7, nil
    if wire == 0 then v = varint()
    else
      local n = wire == 2 and varint() or wire == 1 and 8 or 4
      v, at = bytes:sub(at, at + n - 1), at + n
    end
    out[#out + 1] = {number, v}
  end
  return out
end
local function nodes_of(graph)
  local out = {}
  for _, f in ipairs(fields(graph)) do
    if f[1] == 1 then
      local node = {inputs = {}, attrs = {}}
      for _, g in ipairs(fields(f[2])) do
        if g[1] == 1 then node.name = g[2] end
        if g[1] == 2 then node.op = g[2] end
        if g[1] == 3 then node.inputs[#node.inputs + 1] = g[2] end
        if g[1] == 5 then
          local entry = fields(g[2])
          node.attrs[entry[1][2]] = t.hex(entry[2][2])
        end
      end
      out[node.name] = node
    end
  end
  return out
end
local theirs
for _, e in ipairs(t.events(t.data .. "events/v1/events.out.tfevents.1767225600.example")) do theirs = theirs or e.graph_def end
theirs = nodes_of(theirs)

local w, y
do
  local s <close> = tf.name_scope "layer1"
  local x = tf.placeholder("float32", {-1, 3}, {name = "x"})
  w = tf.placeholder("float32", {3, 2}, {name = "w"}) -- variables differ: theirs have other nodes
  y = tf.nn.relu(tf.matmul(x, w, {name = "MatMul"}), {name = "y"})
end
local loss = tf.reduce_mean(y, {name = "loss"})
local numbers = tf.placeholder("float32", {-1}, {name = "Placeholder"})
do
  local s <close> = tf.name_scope "summaries"
  local inputs = tf.read_safetensors(t.data .. "inputs.safetensors")
  tf.summary.scalar("loss", loss)
  tf.summary.histogram("numbers", numbers)
  tf.summary.image("picture", tf.constant(inputs.picture), {max_outputs = 2})
  tf.summary.audio("sound", tf.constant(inputs.wave), 8000)
  tf.summary.text("note", {"**bold**", "two"})
  tf.summary.tensor_summary("raw", tf.constant {{1, 2}, {3, 4}})
  tf.summary.merge_all()
end
local ours = nodes_of(tf.get_default_graph():as_graph_def{add_shapes = true}:SerializeToString())
-- Theirs were made in another way: variables, and constants by the very function that takes them.
local differs = {["layer1/w"] = "layer1/MatMul/ReadVariableOp", ["summaries/Const"] = "summaries/picture/tensor",
  ["summaries/Const_1"] = "summaries/sound/tensor", ["summaries/Const_2"] = "summaries/Const", ["summaries/Const_3"] = "summaries/Const_1"}
for _, name in ipairs {"layer1/x", "layer1/MatMul", "layer1/y", "loss", "Placeholder", "summaries/loss/tags", "summaries/loss", "summaries/numbers/tag",
  "summaries/numbers", "summaries/picture/tag", "summaries/picture", "summaries/sound/tag", "summaries/sound", "summaries/note/tag",
  "summaries/note/serialized_summary_metadata", "summaries/note", "summaries/raw/tag", "summaries/raw", "summaries/Merge/MergeSummary"} do
  local a, b = ours[name], theirs[name]
  if t.check(name .. " is there", a ~= nil and b ~= nil, a ~= nil and "theirs missing" or "ours missing") then
    t.exact(name .. ": op", a.op, b.op)
    for i, input in ipairs(a.inputs) do a.inputs[i] = differs[input] or input end
    t.exact(name .. ": inputs", a.inputs, b.inputs)
    for key, v in pairs(b.attrs) do t.exact(name .. ": " .. key, a.attrs[key], v) end
    for key in pairs(a.attrs) do t.check(name .. ": " .. key .. " is an attribute of theirs, too", b.attrs[key] ~= nil, "it is not") end
  end
end
t.done() -- expect: ok
