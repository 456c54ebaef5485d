-- provides Graph: as_graph_def
-- provides tf.train: write_graph
-- provides tf.io: write_graph
-- provides tf: GraphDef
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
P.varint = number
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
P.types = types

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

-- ------------------------------------------------------------------------------------------ messages

-- Fields of a message, one after another: number, kind, value (a whole number, or bytes). Fails with the place.
local function fields(bytes, what)
  local at, size = 1, #bytes
  local function bad() T.fail_code(15, nil, ("%s is damaged at byte %d of %d"):format(what, at - 1, size)) end
  local function number_at()
    local v = 0
    for shift = 0, 63, 7 do
      local c = bytes:byte(at)
      if not c then bad() end
      at, v = at + 1, v | (c & 127) << shift
      if c < 128 then return v end
    end
    bad()
  end
  return function()
    if at > size then return nil end
    local key = number_at()
    local field, kind = key >> 3, key & 7
    if field == 0 or field > 0x1fffffff then bad() end
    if kind == 0 then return field, kind, number_at() end
    local n = kind == 1 and 8 or kind == 5 and 4 or kind == 2 and number_at()
    if not n or n < 0 or n > size - at + 1 then bad() end
    local value = bytes:sub(at, at + n - 1)
    at = at + n
    return field, kind, value
  end
end
P.fields = fields

-- {node = {{name =, op =, input = {}, device =, attr = {key = serialized AttrValue}}}, library = serialized, versions =}.
-- Nodes may be changed, added and taken out; SerializeToString writes what is there then.
local GraphDef = {}
local methods = {}
GraphDef.__name = "GraphDef"
function GraphDef.__index(g, key)
  if key == "bytes" then return g:SerializeToString() end
  return methods[key]
end
local function node_bytes(n)
  local out, keys = {P.bytes(1, n.name), P.bytes(2, n.op)}, {}
  for _, name in ipairs(n.input or {}) do out[#out + 1] = P.bytes(3, name) end
  if n.device and n.device ~= "" then out[#out + 1] = P.bytes(4, n.device) end
  for key in pairs(n.attr or {}) do keys[#keys + 1] = key end
  table.sort(keys)
  local last = n.attr and n.attr._output_shapes
  for _, key in ipairs(keys) do if key ~= "_output_shapes" then out[#out + 1] = entry(key, n.attr[key]) end end
  if last then out[#out + 1] = entry("_output_shapes", last) end
  return table.concat(out)
end
function methods:SerializeToString()
  local parts = {}
  for i, n in ipairs(self.node) do parts[i] = P.bytes(1, node_bytes(n)) end
  if self.library then parts[#parts + 1] = P.bytes(2, self.library) end
  parts[#parts + 1] = P.bytes(4, self.versions or P.int(1, 27)) -- the version of TensorFlow 1.15
  return table.concat(parts)
end
GraphDef.__tostring = function(g) return ("GraphDef(%d nodes, %d bytes)"):format(#g.node, #g:SerializeToString()) end
local function new_graph_def() return setmetatable({node = {}}, GraphDef) end
T.new_graph_def = new_graph_def

local function parse_node(bytes)
  local n = {input = {}, attr = {}, device = ""}
  for field, kind, value in fields(bytes, "a NodeDef") do
    if kind == 2 then
      if field == 1 then n.name = value
      elseif field == 2 then n.op = value
      elseif field == 3 then n.input[#n.input + 1] = value
      elseif field == 4 then n.device = value
      elseif field == 5 then
        local key, attr = "", ""
        for f, k, v in fields(value, "a NodeDef") do
          if k == 2 and f == 1 then key = v elseif k == 2 and f == 2 then attr = v end
        end
        n.attr[key] = attr
      end
    end
  end
  if not n.name or not n.op then T.fail_code(15, nil, "a GraphDef has a node without name or op") end
  return n
end
function methods:ParseFromString(bytes)
  self.node, self.library, self.versions = {}, nil, nil
  for field, kind, value in fields(bytes, "a GraphDef") do
    if kind == 2 then
      if field == 1 then self.node[#self.node + 1] = parse_node(value)
      elseif field == 2 then self.library = (self.library or "") .. value
      elseif field == 4 then self.versions = value end
    end
  end
  return self
end
function methods:CopyFrom(other) return self:ParseFromString(other:SerializeToString()) end
-- tf.GraphDef(): an empty one, to parse into or to build by hand.
tf.GraphDef = new_graph_def

-- graph:as_graph_def{add_shapes = true}: a table {node = {{name =, op =, input =, device =}, ...}} with
-- SerializeToString. `_output_shapes` is what labels edges in TensorBoard.
local as_graph_def = T.bind("as_graph_def", "graph from_version? add_shapes=false", function(graph, _, add_shapes)
  local out, kinds = new_graph_def(), {}
  for _, op in ipairs(graph:get_operations()) do
    local node = {name = op.name, op = op.type, input = {}, device = op.device or "", attr = {}}
    for _, x in ipairs(op.inputs) do node.input[#node.input + 1] = input_name(x) end
    for _, c in ipairs(op.control_inputs) do node.input[#node.input + 1] = "^" .. c.name end
    kinds[node.op] = kinds[node.op] or T.op(node.op).attrs
    for key, value in pairs(op.attrs) do
      local own = as_theirs[node.op .. "." .. key]
      node.attr[key] = own and own(value) or attribute(kinds[node.op][key] or "string", value)
    end
    if add_shapes and #op.outputs > 0 then
      local shapes = {}
      for i, y in ipairs(op.outputs) do -- a resource is a scalar; its shape here is that of its values
        shapes[i] = P.bytes(7, P.shape(y.dtype == "resource" and {} or y.shape))
      end
      node.attr._output_shapes = P.bytes(1, table.concat(shapes))
    end
    out.node[#out.node + 1] = node
  end
  return out
end)
P.attribute = attribute
T.namespace "Graph".as_graph_def = function(graph, ...) return as_graph_def(graph, ...) end

-- ------------------------------------------------------------------------------------------ text form

-- Messages for the text form: field number -> name, kind; a table as kind: a message.
local type_names = {}
for name, number in pairs(types) do
  type_names[number] = "DT_" .. (({float32 = "FLOAT", float64 = "DOUBLE", float16 = "HALF"})[name] or name:upper())
end
local dims = {[1] = {"size", "int"}, [2] = {"name", "bytes"}}
local shape_text = {[2] = {"dim", dims}, [3] = {"unknown_rank", "bool"}}
local tensor_text = {[1] = {"dtype", "type"}, [2] = {"tensor_shape", shape_text}, [4] = {"tensor_content", "bytes"}, [5] = {"float_val", "float"},
  [6] = {"double_val", "double"}, [7] = {"int_val", "int"}, [8] = {"string_val", "bytes"}, [9] = {"scomplex_val", "float"}, [10] = {"int64_val", "int"},
  [11] = {"bool_val", "bool"}, [12] = {"dcomplex_val", "double"}, [13] = {"half_val", "int"}, [16] = {"uint32_val", "int"}, [17] = {"uint64_val", "int"}}
local values = {[2] = {"s", "bytes"}, [3] = {"i", "int"}, [4] = {"f", "float"}, [5] = {"b", "bool"}, [6] = {"type", "type"},
  [7] = {"shape", shape_text}, [8] = {"tensor", tensor_text}}
local value_text = {[1] = {"list", values}, [9] = {"placeholder", "bytes"}}
for number, v in pairs(values) do value_text[number] = v end
local node_text = {[1] = {"name", "bytes"}, [2] = {"op", "bytes"}, [3] = {"input", "bytes"}, [4] = {"device", "bytes"},
  [5] = {"attr", {[1] = {"key", "bytes"}, [2] = {"value", value_text}}}}
local graph_text = {[1] = {"node", node_text}, [3] = {"version", "int"},
  [4] = {"versions", {[1] = {"producer", "int"}, [2] = {"min_consumer", "int"}, [3] = {"bad_consumers", "int"}}}}

local escapes = {["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ['"'] = '\\"', ["\\"] = "\\\\"}
local function quote(s)
  return '"' .. s:gsub('[%c"\\\128-\255]', function(c) return escapes[c] or ("\\%03o"):format(c:byte()) end) .. '"'
end
local function scalar(kind, v)
  if kind == "bytes" then return quote(v) end
  if kind == "bool" then return v ~= 0 and "true" or "false" end
  if kind == "type" then return type_names[v > 100 and v - 100 or v] and type_names[v > 100 and v - 100 or v] .. (v > 100 and "_REF" or "") or tostring(v) end
  if kind == "int" then return ("%d"):format(v) end
  local x = string.unpack(kind == "float" and "<f" or "<d", v)
  if x ~= x then return "nan" end
  if x == math.huge or x == -math.huge then return x > 0 and "inf" or "-inf" end
  return (kind == "float" and "%.9g" or "%.17g"):format(x)
end
local widths = {float = 4, double = 8}
local function write_text(out, bytes, message, indent)
  for field, kind, value in fields(bytes, "a GraphDef") do
    local f = message[field]
    if f and type(f[2]) == "table" and kind == 2 then
      out[#out + 1] = indent .. f[1] .. " {"
      write_text(out, value, f[2], indent .. "  ")
      out[#out + 1] = indent .. "}"
    elseif f and kind == 2 and f[2] ~= "bytes" then -- packed
      local at = 1
      while at <= #value do
        local one
        if widths[f[2]] then
          one, at = value:sub(at, at + widths[f[2]] - 1), at + widths[f[2]]
        else
          local v, shift, c = 0, 0, nil
          repeat
            c = value:byte(at) or 0
            v, shift, at = v | (c & 127) << shift, shift + 7, at + 1
          until c < 128
          one = v
        end
        out[#out + 1] = indent .. f[1] .. ": " .. scalar(f[2], one)
      end
    elseif f then
      out[#out + 1] = indent .. f[1] .. ": " .. scalar(f[2], value)
    end
  end
end
-- graph_def:text(): protobuf's text form (functions of the library are not in it).
function methods:text()
  local out = {}
  write_text(out, self:SerializeToString(), graph_text, "")
  return table.concat(out, "\n") .. "\n"
end

for _, path in ipairs {"tf.train.write_graph", "tf.io.write_graph"} do
  def(path, "graph_or_graph_def logdir name as_text=true", function(graph, logdir, name, as_text)
    local graph_def = T.kind(graph) == "Graph" and graph:as_graph_def() or graph
    T.write_file(path, logdir .. "/" .. name, as_text and graph_def:text() or graph_def:SerializeToString())
    return logdir .. "/" .. name
  end)
end
