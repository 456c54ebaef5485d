-- provides tf: import_graph_def graph_util
-- provides tf.graph_util: convert_variables_to_constants extract_sub_graph remove_training_nodes import_graph_def graph_tool
-- Graphs as data: parts of a GraphDef, variables as constants, and GraphDefs (or files of them) as nodes of a graph.
local tf, T = ...
local def = T.def
local util = T.namespace "tf.graph_util"
tf.graph_util = util
if T.new_graph_def == nil then local _ = tf.GraphDef end
local P = T.proto

-- "^a", "a:1" -> "a"
local function plain(name) return (name:gsub("^%^", ""):gsub(":.*$", "")) end
T.node_of_input = plain
local function by_name(graph_def)
  local out = {}
  for _, n in ipairs(graph_def.node) do out[n.name] = n end
  return out
end
local function copy(n)
  local out = {name = n.name, op = n.op, device = n.device, input = {table.unpack(n.input)}, attr = {}}
  for key, value in pairs(n.attr) do out.attr[key] = value end
  return out
end
local function check(graph_def, who)
  if type(graph_def) ~= "table" or type(graph_def.node) ~= "table" then T.fail(who, "expected a GraphDef, got %s", T.kind(graph_def) or type(graph_def)) end
end

-- The nodes that these need.
def("tf.graph_util.extract_sub_graph", "graph_def dest_nodes", function(graph_def, wanted)
  check(graph_def, "tf.graph_util.extract_sub_graph")
  if type(wanted) == "string" then T.fail("tf.graph_util.extract_sub_graph", "dest_nodes is a list of names") end
  local nodes, need, stack = by_name(graph_def), {}, {}
  for _, name in ipairs(wanted) do
    if not nodes[plain(name)] then T.fail_code(5, "tf.graph_util.extract_sub_graph", ("%s is not in the graph"):format(name)) end
    stack[#stack + 1] = plain(name)
  end
  while #stack > 0 do
    local name = table.remove(stack)
    if not need[name] then
      need[name] = true
      local n = nodes[name]
      if not n then T.fail_code(15, "tf.graph_util.extract_sub_graph", ("a node reads '%s', which is not there"):format(name)) end
      for _, input in ipairs(n.input) do stack[#stack + 1] = plain(input) end
    end
  end
  local out = T.new_graph_def()
  out.library, out.versions = graph_def.library, graph_def.versions
  for _, n in ipairs(graph_def.node) do if need[n.name] then out.node[#out.node + 1] = copy(n) end end
  return out
end)

-- Leaves out checks and copies that only training wants: CheckNumerics, then Identity.
def("tf.graph_util.remove_training_nodes", "input_graph protected_nodes?", function(graph_def, protected)
  check(graph_def, "tf.graph_util.remove_training_nodes")
  local keep = {}
  for _, name in ipairs(protected or {}) do keep[plain(name)] = true end
  local out = graph_def
  for _, op in ipairs {"CheckNumerics", "Identity"} do
    local instead, waited = {}, {}
    for _, n in ipairs(out.node) do
      for _, input in ipairs(n.input) do if input:sub(1, 1) == "^" then waited[plain(input)] = true end end
    end
    for _, n in ipairs(out.node) do
      if n.op == op and #n.input == 1 and n.input[1]:sub(1, 1) ~= "^" and not keep[n.name] and not waited[n.name] then instead[n.name] = n.input[1] end
    end
    local function follow(input)
      local index = input:match ":(%d+)$"
      while instead[plain(input)] and input:sub(1, 1) ~= "^" and (not index or index == "0") do
        input = instead[plain(input)]
        index = input:match ":(%d+)$"
      end
      return input
    end
    local next_def = T.new_graph_def()
    next_def.library, next_def.versions = out.library, out.versions
    for _, n in ipairs(out.node) do
      if not instead[n.name] then
        local c = copy(n)
        for i, input in ipairs(c.input) do c.input[i] = follow(input) end
        next_def.node[#next_def.node + 1] = c
      end
    end
    out = next_def
  end
  return out
end)

-- A string of AttrValue.s; nil.
local function attr_string(value)
  for field, kind, v in P.fields(value or "", "an attribute") do if field == 2 and kind == 2 then return v end end
end
T.attr_string = attr_string
T.variable_of_handle = function(n)
  local shared = attr_string(n.attr.shared_name)
  return shared and shared ~= "" and shared or n.name
end

local readers = {ReadVariableOp = true, VariableShape = true, VarIsInitializedOp = true, AssignVariableOp = true,
  AssignAddVariableOp = true, AssignSubVariableOp = true}
-- The part of the graph that the outputs need, with the session's values in place of its variables.
def("tf.graph_util.convert_variables_to_constants", "sess input_graph_def output_node_names variable_names_whitelist? variable_names_blacklist?",
  function(sess, graph_def, outputs, whitelist, blacklist)
    local part = util.extract_sub_graph(graph_def, outputs)
    local function set(list)
      local out = {}
      for _, name in ipairs(list or {}) do out[name] = true end
      return list and out
    end
    whitelist, blacklist = set(whitelist), set(blacklist)
    local frozen = {}
    for _, n in ipairs(part.node) do
      if n.op == "VarHandleOp" then
        local name = T.variable_of_handle(n)
        if (not whitelist or whitelist[name]) and not (blacklist and blacklist[name]) then
          local value = sess:read(name)
          frozen[n.name] = true
          n.op, n.attr = "Const", {dtype = P.attribute("dtype", value.dtype), value = P.attribute("tensor", value)}
        end
      end
    end
    for _, n in ipairs(part.node) do
      for i, input in ipairs(n.input) do
        if frozen[plain(input)] and input:sub(1, 1) ~= "^" then
          if n.op == "ReadVariableOp" then
            n.op, n.attr = "Identity", {T = n.attr.dtype}
          elseif i == 1 and readers[n.op] and n.op:find "^Assign" then
            T.fail_code(9, "tf.graph_util.convert_variables_to_constants", ("'%s' (%s) writes the variable '%s'; name outputs that do not need it, or leave it out by variable_names_blacklist"):format(n.name, n.op, plain(input)))
          else
            T.fail_code(12, "tf.graph_util.convert_variables_to_constants", ("'%s' (%s) takes the variable '%s' itself, which cannot become a constant"):format(n.name, n.op, plain(input)))
          end
        end
      end
    end
    return part
  end)

-- tf.import_graph_def(graph_def, {input_map =, return_elements =, name = "import"}): adds nodes to the present graph. graph_def:
-- a GraphDef, its bytes, or the path of a file (.pb, .pbtxt). Gives a table of return_elements ("a:0": a node, "a": an operation).
def("tf.import_graph_def", "graph_def input_map? return_elements? name=import op_dict? producer_op_list?", function(graph_def, map, wanted, name)
  local options, path = {prefix = name ~= "" and name or nil, map = {}}, "the GraphDef"
  if type(graph_def) == "string" then
    if T.path_kind(graph_def) then path = graph_def else options.content = graph_def end
  else
    check(graph_def, "tf.import_graph_def")
    options.content = graph_def:SerializeToString()
  end
  for key, x in pairs(map or {}) do
    x = T.value(x)
    options.map[key] = T.kind(x) == "Node" and x or tf.constant(x)
  end
  if options.content and next(options.map) then
    local known = by_name(type(graph_def) == "string" and T.new_graph_def():ParseFromString(graph_def) or graph_def)
    for key in pairs(options.map) do
      if not known[plain(key)] then T.fail("tf.import_graph_def", "input_map: '%s' is not in the GraphDef", key) end
    end
  end
  local graph, real = tf.get_default_graph(), {}
  for _, fact in ipairs(T.graph_import(graph, path, options)) do
    if fact.kind == "node" then real[fact.name] = fact.node.op.name end
  end
  if not wanted then return nil end
  local out = {}
  for i, element in ipairs(wanted) do
    local own = real[plain(element)]
    if not own then T.fail_code(5, "tf.import_graph_def", ("return_elements: '%s' is not in the GraphDef"):format(element)) end
    out[i] = element:find ":" and graph:get_tensor_by_name(own .. ":" .. element:match ":(.*)$") or graph:get_operation_by_name(own)
  end
  return out
end)
util.import_graph_def = tf.import_graph_def

-- ------------------------------------------------------------------------------------- tfsdk graph

local usage = [[
usage: tfsdk graph show FILE             nodes in order, with types and shapes
       tfsdk graph dot FILE [OUT]        for Graphviz
       tfsdk graph json FILE [OUT]
       tfsdk graph pb FILE OUT           a GraphDef
       tfsdk graph pbtxt FILE [OUT]      a GraphDef in the text form
FILE is a saved model's folder, a GraphDef or MetaGraphDef (.pb, .pbtxt, .meta), or a script, whose default graph is meant]]
local function wrong(line) io.stderr:write("tfsdk: ", line, "\n", usage, "\n") return 2 end
local function type_of(x) return x.dtype .. (x.shape and "[" .. table.concat(x.shape, ",") .. "]" or "[?]") end

local function load_graph(path)
  if path:find "%.lua$" then
    local chunk, why = loadfile(path)
    if not chunk then T.fail(nil, "%s", why) end
    local old = arg
    arg = {[0] = path}
    chunk()
    arg = old
    return tf.get_default_graph()
  end
  local graph = tf.Graph()
  T.graph_import(graph, path, {})
  return graph
end

local forms = {}
function forms.show(graph)
  local out = {}
  for _, op in ipairs(graph:get_operations()) do
    local inputs, outputs = {}, {}
    for i, x in ipairs(op.inputs) do inputs[i] = x.value_index == 0 and x.op.name or x.name end
    for _, c in ipairs(op.control_inputs) do inputs[#inputs + 1] = "^" .. c.name end
    for i, y in ipairs(op.outputs) do outputs[i] = type_of(y) end
    out[#out + 1] = ("%s = %s(%s) %s"):format(op.name, op.type, table.concat(inputs, ", "), table.concat(outputs, " "))
  end
  out[#out + 1] = ("%d nodes"):format(#graph:get_operations())
  return table.concat(out, "\n") .. "\n"
end
function forms.dot(graph)
  local function q(s) return '"' .. s:gsub('[\\"]', "\\%0") .. '"' end
  local out = {"digraph graph_ {", "  rankdir=BT;", "  node [shape=box, style=rounded, fontsize=10];", "  edge [fontsize=8];"}
  local clusters, order = {}, {}
  for _, op in ipairs(graph:get_operations()) do
    local scope = op.name:match "^(.*)/" or ""
    if not clusters[scope] then
      clusters[scope] = {}
      order[#order + 1] = scope
    end
    table.insert(clusters[scope], ("%s [label=%s];"):format(q(op.name), q(op.name:match "[^/]*$" .. "\n" .. op.type):gsub("\n", "\\n")))
  end
  for i, scope in ipairs(order) do
    local inner = scope ~= ""
    if inner then out[#out + 1] = ("  subgraph cluster_%d { label=%s;"):format(i, q(scope)) end
    for _, line in ipairs(clusters[scope]) do out[#out + 1] = (inner and "    " or "  ") .. line end
    if inner then out[#out + 1] = "  }" end
  end
  for _, op in ipairs(graph:get_operations()) do
    for _, x in ipairs(op.inputs) do out[#out + 1] = ("  %s -> %s [label=%s];"):format(q(x.op.name), q(op.name), q(type_of(x))) end
    for _, c in ipairs(op.control_inputs) do out[#out + 1] = ("  %s -> %s [style=dashed];"):format(q(c.name), q(op.name)) end
  end
  out[#out + 1] = "}"
  return table.concat(out, "\n") .. "\n"
end
function forms.json(graph)
  local nodes = {}
  for i, op in ipairs(graph:get_operations()) do
    local n = {name = op.name, op = op.type, inputs = {}, outputs = {}, attrs = {}, device = op.device, where = op.where}
    for k, x in ipairs(op.inputs) do n.inputs[k] = x.name end
    for _, c in ipairs(op.control_inputs) do n.inputs[#n.inputs + 1] = "^" .. c.name end
    for k, y in ipairs(op.outputs) do n.outputs[k] = {dtype = y.dtype, shape = y.shape or tf.json.null} end
    for key, v in pairs(op.attrs) do
      if T.kind(v) == "Tensor" then
        v = {dtype = v.dtype, shape = v.shape}
      elseif type(v) == "number" and (v ~= v or v == math.huge or v == -math.huge) then
        v = tostring(v)
      end
      n.attrs[key] = v
    end
    nodes[i] = n
  end
  return tf.json.encode({node = nodes}, {indent = 1}) .. "\n"
end
function forms.pb(graph) return graph:as_graph_def {add_shapes = true}:SerializeToString() end
function forms.pbtxt(graph) return graph:as_graph_def():text() end

-- tf.graph_util.graph_tool(...): the arguments of `tfsdk graph`; gives its exit code.
function util.graph_tool(form, path, out, more)
  if not form then return wrong "graph needs a form" end
  if not forms[form] then return wrong(("there is no command 'graph %s'"):format(form)) end
  if not path or more then return wrong(("graph %s takes a file"):format(form)) end
  if form == "pb" and not out then return wrong "graph pb needs a file to write" end
  local text = forms[form](load_graph(path))
  if not out then
    io.stdout:write(text)
    return 0
  end
  T.write_file("graph", out, text)
  return 0
end
