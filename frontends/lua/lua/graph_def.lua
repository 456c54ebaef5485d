-- provides Graph: as_graph_def
-- provides tf.train: write_graph
-- provides tf.io: write_graph
-- Graphs as TensorFlow's GraphDef, in protobuf's wire format; and the few messages that event files need.
--   GraphDef{node 1*, versions 4{producer 1}}; NodeDef{name 1, op 2, input 3*, device 4, attr 5*{key 1, value 2}};
--   AttrValue{list 1, s 2, i 3, f 4, b 5, type 6, shape 7, tensor 8}; TensorShapeProto{dim 2*{size 1}, unknown_rank 3}
-- (tensorflow/core/framework/{graph,node_def,attr_value}.proto). Numbers that are zero are left out, as in proto3,
-- but within attributes, where the field says the kind.
local tf, T = ...
local def = T.def
local pack = string.pack

-- ------------------------------------------------------------------------------------------ wire

local P = {}
T.proto = P
local function varint(v)
  local out = {}
  while v < 0 or v > 127 do -- negative numbers are 64 bits of two's complement
    out[#out + 1] = string.char(v & 127 | 128)
    v = v >> 7
  end
  out[#out + 1] = string.char(v)
  return table.concat(out)
end
local small = {}
for i = 0, 127 do small[i] = string.char(i) end
local function number(v) return small[v] or varint(v) end
function P.int(field, v) return number(field << 3) .. number(v) end
function P.float(field, v) return number(field << 3 | 5) .. pack("<f", v) end
function P.double(field, v) return number(field << 3 | 1) .. pack("<d", v) end
function P.bytes(field, s) return number(field << 3 | 2) .. number(#s) .. s end
-- A field that may be absent: nil, and what proto3 calls the default, are left out.
function P.maybe(kind, field, v)
  if v == nil or v == 0 or v == "" or v == false then return "" end
  if kind == "bytes" then return P.bytes(field, v) end
  if kind == "double" then return P.double(field, v + 0.0) end
  return P.int(field, v == true and 1 or math.tointeger(v) or 0)
end

local types = {float32 = 1, float64 = 2, int32 = 3, uint8 = 4, int16 = 5, int8 = 6, string = 7, complex64 = 8, int64 = 9,
  bool = 10, bfloat16 = 14, uint16 = 17, complex128 = 18, float16 = 19, resource = 20, uint32 = 22, uint64 = 23}

-- A shape: a table of extents, -1 where unknown; nil or false: nothing is known.
function P.shape(dims)
  if not dims then return P.int(3, 1) end
  local out = {}
  for i, d in ipairs(dims) do out[i] = P.bytes(2, d ~= 0 and P.int(1, d) or "") end
  return table.concat(out)
end
function P.tensor(t)
  local out = {P.int(1, types[t.dtype]), P.bytes(2, P.shape(t.shape))}
  if t.dtype == "string" then
    local flat = t:reshape{-1}
    for i = 1, flat:size() do out[#out + 1] = P.bytes(8, flat[i]:item()) end
  elseif t:size() > 0 then
    out[#out + 1] = P.bytes(4, t:bytes())
  end
  return table.concat(out)
end

-- ------------------------------------------------------------------------------------------ attributes

-- One value of a kind as (field, bytes of the field).
local writers = {
  string = function(v) return P.bytes(2, v) end,
  int = function(v) return P.int(3, v) end,
  float = function(v) return P.float(4, v) end,
  bool = function(v) return P.int(5, v and 1 or 0) end,
  dtype = function(v) return P.int(6, types[v] or 0) end,
  shape = function(v) return P.bytes(7, P.shape(v)) end,
  tensor = function(v) return P.bytes(8, P.tensor(v)) end}
local function attribute(kind, v)
  local member = kind:match "^list%((%w+)%)"
  if not member then return (writers[kind:match "^%w+"] or writers.string)(v) end
  local out = {}
  for i, x in ipairs(v) do out[i] = (writers[member] or writers.string)(x) end
  return P.bytes(1, table.concat(out))
end
local function entry(key, value) return P.bytes(5, P.bytes(1, key) .. P.bytes(2, value)) end

-- Attributes that TensorFlow has in another form.
local as_theirs = {["ImageSummary.bad_color"] = function(list) -- a tensor of uint8, in its int_val 7
  local out = {}
  for i, v in ipairs(list) do out[i] = number(v) end
  return P.bytes(8, P.int(1, types.uint8) .. P.bytes(2, P.shape {#list}) .. P.bytes(7, table.concat(out)))
end}

-- The name of a value as an input is written: "n" for output 0, "n:1" for others.
local function input_name(x)
  local name, index = x.op.name, x.value_index
  return index == 0 and name or name .. ":" .. index
end

local GraphDef = {}
GraphDef.__index = GraphDef
GraphDef.__name = "GraphDef"
function GraphDef:SerializeToString() return self.bytes end
GraphDef.__tostring = function(g) return ("GraphDef(%d nodes, %d bytes)"):format(#g.node, #g.bytes) end

-- graph:as_graph_def{add_shapes = true}: a table {node = {{name =, op =, input =, device =}, ...}} with
-- SerializeToString. `_output_shapes` is what labels edges in TensorBoard.
local as_graph_def = T.bind("as_graph_def", "graph from_version? add_shapes=false", function(graph, _, add_shapes)
  local nodes, parts, kinds = {}, {}, {}
  for _, op in ipairs(graph:get_operations()) do
    local node = {name = op.name, op = op.type, input = {}, device = op.device or ""}
    local out = {P.bytes(1, node.name), P.bytes(2, node.op)}
    for _, x in ipairs(op.inputs) do node.input[#node.input + 1] = input_name(x) end
    for _, c in ipairs(op.control_inputs) do node.input[#node.input + 1] = "^" .. c.name end
    for _, name in ipairs(node.input) do out[#out + 1] = P.bytes(3, name) end
    if node.device ~= "" then out[#out + 1] = P.bytes(4, node.device) end
    kinds[node.op] = kinds[node.op] or T.op(node.op).attrs
    local attrs, keys = op.attrs, {}
    for key in pairs(attrs) do keys[#keys + 1] = key end
    table.sort(keys)
    for _, key in ipairs(keys) do
      local own = as_theirs[node.op .. "." .. key]
      out[#out + 1] = entry(key, own and own(attrs[key]) or attribute(kinds[node.op][key] or "string", attrs[key]))
    end
    if add_shapes and #op.outputs > 0 then
      local shapes = {}
      for i, y in ipairs(op.outputs) do shapes[i] = P.bytes(7, P.shape(y.shape)) end
      out[#out + 1] = entry("_output_shapes", P.bytes(1, table.concat(shapes)))
    end
    nodes[#nodes + 1] = node
    parts[#parts + 1] = P.bytes(1, table.concat(out))
  end
  parts[#parts + 1] = P.bytes(4, P.int(1, 27)) -- the version of TensorFlow 1.15
  return setmetatable({node = nodes, bytes = table.concat(parts)}, GraphDef)
end)
T.namespace "Graph".as_graph_def = function(graph, ...) return as_graph_def(graph, ...) end

for _, path in ipairs {"tf.train.write_graph", "tf.io.write_graph"} do
  def(path, "graph_or_graph_def logdir name as_text=true", function(graph, logdir, name, as_text)
    if as_text then T.fail_code(12, path, "the text form is not there; give as_text = false") end
    local bytes = (graph.bytes and graph or graph:as_graph_def()):SerializeToString()
    local file, why = io.open(logdir .. "/" .. name, "wb")
    if not file then T.fail_code(5, path, why) end
    file:write(bytes)
    file:close()
    return logdir .. "/" .. name
  end)
end
