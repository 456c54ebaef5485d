-- provides tf: saved_model
-- provides tf.saved_model: load save simple_save contains_saved_model build_signature_def build_tensor_info builder loader utils signature_def_utils signature_constants tag_constants main_op SavedModelBuilder
-- provides tf.train: export_meta_graph import_meta_graph
-- Saved models: a graph, its weights, and signatures (names for what goes in and what comes out), in TensorFlow's own
-- format: FOLDER/saved_model.pb and FOLDER/variables/variables.{index,data-00000-of-00001}; or one file, with the weights
-- as constants. Reading is the core's (tfsdk_graph_import); this writes, and puts both under TensorFlow's names.
--   SavedModel{schema 1, meta_graphs 2*}; MetaGraphDef{meta_info 1, graph 2, saver 3, signatures 5 (map)}; MetaInfoDef{any_info 3
--   {type_url 1, value 2}, tags 4*, tensorflow_version 5, tensorflow_git_version 6}; SaverDef{filename 1, save 2, restore 3, max_to_keep 4, version 7};
--   SignatureDef{inputs 1 (map), outputs 2 (map), method_name 3}; TensorInfo{name 1, dtype 2, shape 3}
local tf, T = ...
local saved = T.namespace "tf.saved_model"
tf.saved_model = saved
local util = tf.graph_util
if T.new_graph_def == nil then local _ = tf.GraphDef end
local P = T.proto
local FORMAT = 1

saved.signature_constants = {DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default", PREDICT_METHOD_NAME = "tensorflow/serving/predict",
  PREDICT_INPUTS = "inputs", PREDICT_OUTPUTS = "outputs", CLASSIFY_METHOD_NAME = "tensorflow/serving/classify", CLASSIFY_INPUTS = "inputs",
  CLASSIFY_OUTPUT_CLASSES = "classes", CLASSIFY_OUTPUT_SCORES = "scores", REGRESS_METHOD_NAME = "tensorflow/serving/regress",
  REGRESS_INPUTS = "inputs", REGRESS_OUTPUTS = "outputs"}
saved.tag_constants = {SERVING = "serve", TRAINING = "train", EVAL = "eval", GPU = "gpu", TPU = "tpu"}
saved.main_op = {main_op = function() return nil end}

-- ------------------------------------------------------------------------------------- signatures

-- A value of the graph as TensorInfo: {name =, dtype =, tensor_shape =}.
function saved.build_tensor_info(x)
  if type(x) == "table" and not T.kind(x) and x.name then return x end
  if T.kind(x) == "Variable" then x = T.value(x) end
  if T.kind(x) ~= "Node" then T.fail("tf.saved_model.build_tensor_info", "expected a node of a graph, got %s", T.kind(x) or type(x)) end
  return {name = x.name, dtype = x.dtype, tensor_shape = x.shape or false}
end
local function infos(list, who)
  if type(list) ~= "table" or T.kind(list) then T.fail(who, "inputs and outputs are tables {name = node}") end
  local out = {}
  for key, x in pairs(list) do
    if type(key) ~= "string" then T.fail(who, "inputs and outputs have names: {name = node}, not %s", tostring(key)) end
    out[key] = saved.build_tensor_info(x)
  end
  return out
end
function saved.build_signature_def(inputs, outputs, method)
  return {inputs = infos(inputs or {}, "build_signature_def"), outputs = infos(outputs or {}, "build_signature_def"), method_name = method or ""}
end
local function predict(inputs, outputs)
  return saved.build_signature_def(inputs, outputs, saved.signature_constants.PREDICT_METHOD_NAME)
end
saved.signature_def_utils = {build_signature_def = saved.build_signature_def, predict_signature_def = predict,
  classification_signature_def = function(examples, classes, scores)
    return saved.build_signature_def({inputs = examples}, {classes = classes, scores = scores}, saved.signature_constants.CLASSIFY_METHOD_NAME)
  end,
  regression_signature_def = function(examples, predictions)
    return saved.build_signature_def({inputs = examples}, {outputs = predictions}, saved.signature_constants.REGRESS_METHOD_NAME)
  end}
saved.utils = {build_tensor_info = saved.build_tensor_info}

-- ------------------------------------------------------------------------------------- writing

local function sorted(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end
local function signature_bytes(s)
  local out = {}
  for field, side in ipairs {s.inputs, s.outputs} do
    for _, key in ipairs(sorted(side)) do
      local info = side[key]
      local bytes = P.bytes(1, info.name) .. P.maybe("int", 2, P.types[info.dtype]) .. P.bytes(3, P.shape(info.tensor_shape))
      out[#out + 1] = P.bytes(field, P.bytes(1, key) .. P.bytes(2, bytes))
    end
  end
  return table.concat(out) .. P.maybe("bytes", 3, s.method_name)
end

-- What a program must have to load it: one fact a line.
local function needs_of(graph_def)
  local seen, lines = {}, {"format " .. FORMAT}
  local _, version = T.op_plugin "NoOp"
  lines[2] = "version " .. version
  for _, n in ipairs(graph_def.node) do
    if not seen[n.op] and not n.saver then
      seen[n.op] = true
      local plugin = T.op_plugin(n.op)
      lines[#lines + 1] = ("op %s %s"):format(n.op, plugin ~= "" and plugin or "unknown")
    end
  end
  return table.concat(lines, "\n"), version
end

-- The nodes by which TensorFlow's own loader puts weights into the variables. Returns SaverDef.
local function add_saver(graph_def, variables)
  local scope, taken, list = "save", {}, {}
  for _, n in ipairs(graph_def.node) do taken[n.name:match "^[^/]*"] = true end
  for i = 1, math.maxinteger do
    if not taken[scope] then break end
    scope = "save_" .. i
  end
  local function add(name, op, input, attr)
    list[#list + 1] = {name = scope .. "/" .. name, op = op, input = input, attr = attr or {}, device = "", saver = true}
    return scope .. "/" .. name
  end
  local function constant(name, t) return add(name, "Const", {}, {dtype = P.attribute("dtype", t.dtype), value = P.attribute("tensor", t)}) end
  local function typed(dtype) return {T = P.attribute("dtype", dtype)} end
  local names, blanks, dtypes, reads, waits = {}, {}, {}, {}, {}
  for i, v in ipairs(variables) do names[i], blanks[i], dtypes[i] = v.name, "", v.value.dtype end
  local file = constant("filename/input", tf.tensor("model", "string"))
  file = add("Const", "PlaceholderWithDefault", {file}, {dtype = P.attribute("dtype", "string"), shape = P.attribute("shape", {})})
  local keys, slices = constant("tensor_names", tf.tensor(names, "string")), constant("shape_and_slices", tf.tensor(blanks, "string"))
  for i, v in ipairs(variables) do reads[i] = add("Read_" .. i, "ReadVariableOp", {v.handle}, {dtype = P.attribute("dtype", v.value.dtype)}) end
  local save = add("SaveV2", "SaveV2", {file, keys, slices, table.unpack(reads)}, {dtypes = P.attribute("list(dtype)", dtypes)})
  local saving = add("control_dependency", "Identity", {file, "^" .. save}, typed "string")
  local restore = add("RestoreV2", "RestoreV2", {file, keys, slices}, {dtypes = P.attribute("list(dtype)", dtypes)})
  for i, v in ipairs(variables) do
    local value = add("Identity_" .. i, "Identity", {i == 1 and restore or restore .. ":" .. i - 1}, typed(v.value.dtype))
    waits[i] = "^" .. add("AssignVariableOp_" .. i, "AssignVariableOp", {v.handle, value}, {dtype = P.attribute("dtype", v.value.dtype)})
  end
  local all = add("restore_all", "NoOp", waits)
  for _, n in ipairs(list) do graph_def.node[#graph_def.node + 1] = n end
  return P.bytes(1, file .. ":0") .. P.bytes(2, saving .. ":0") .. P.bytes(3, all) .. P.int(4, 5) .. P.int(7, 2)
end

-- The graph that the signatures need, its variables with their values, as a MetaGraphDef.
local function meta_graph(sess, tags, signatures, o, who)
  local wanted, seen = {}, {}
  for _, key in ipairs(sorted(signatures)) do
    if not next(signatures[key].outputs) then T.fail(who, "the signature '%s' has no outputs", key) end
    for _, side in ipairs {signatures[key].inputs, signatures[key].outputs} do
      for _, info in pairs(side) do
        local name = T.node_of_input(info.name)
        if not seen[name] then wanted[#wanted + 1], seen[name] = name, true end
      end
    end
  end
  if #wanted == 0 then T.fail(who, "there are no signatures: nothing says what goes in and what comes out") end
  table.sort(wanted)
  local full, graph_def = sess.graph:as_graph_def {add_shapes = true}, nil
  if o.freeze then
    graph_def = util.convert_variables_to_constants(sess, full, wanted)
  else
    graph_def = util.extract_sub_graph(full, wanted)
  end
  local variables, known = {}, {}
  for _, n in ipairs(graph_def.node) do
    if o.clear_devices then n.device = "" end
    if n.op == "VarHandleOp" then
      local name = T.variable_of_handle(n)
      if not known[name] then
        known[name] = true
        variables[#variables + 1] = {name = name, handle = n.name, value = sess:read(name)}
      end
    end
  end
  local needs, version = needs_of(graph_def)
  local saver = #variables > 0 and P.bytes(3, add_saver(graph_def, variables)) or ""
  local info = P.bytes(3, P.bytes(1, "tfsdk/needs") .. P.bytes(2, needs))
  for _, tag in ipairs(tags) do info = info .. P.bytes(4, tag) end
  info = info .. P.bytes(5, "1.15.0") .. P.bytes(6, "tfsdk " .. version) -- whose forms these are; who wrote them
  local out = {P.bytes(1, info), P.bytes(2, graph_def:SerializeToString()), saver}
  for _, key in ipairs(sorted(signatures)) do out[#out + 1] = P.bytes(5, P.bytes(1, key) .. P.bytes(2, signature_bytes(signatures[key]))) end
  return table.concat(out), variables
end

local function write_whole(path, bytes, who) T.write_file(who, path, bytes) end
local function write_weights(folder, variables)
  if #variables == 0 then return end
  local names, values = {}, {}
  for i, v in ipairs(variables) do names[i], values[i] = v.name, v.value end
  T.file_write(folder .. "/variables/variables", "tf_checkpoint", names, values)
end
local function new_folder(path, who)
  if T.path_kind(path) == "file" then T.fail_code(6, who, path .. " is a file") end
  if T.path_kind(path .. "/saved_model.pb") or T.path_kind(path .. "/saved_model.pbtxt") then
    T.fail_code(6, who, path .. " holds a saved model already")
  end
  T.make_folders(path)
end

local function signature_table(signatures, who)
  if type(signatures) ~= "table" then T.fail(who, "signatures are a table {name = {inputs =, outputs =}}") end
  if signatures.outputs and (signatures.inputs or signatures.method_name) then signatures = {serving_default = signatures} end
  local out = {}
  for key, s in pairs(signatures) do
    if type(s) ~= "table" or not s.outputs then T.fail(who, "the signature '%s' is no table {inputs =, outputs =}", tostring(key)) end
    out[key] = s.method_name and saved.build_signature_def(s.inputs, s.outputs, s.method_name) or predict(s.inputs, s.outputs)
  end
  return out
end

-- tf.saved_model.save(session, path, {inputs = {x = x}, outputs = {y = y}} or {name = {inputs =, outputs =}}, {tags =, freeze =,
-- clear_devices =}). A path that ends in .pb: one file, its weights constants.
function saved.save(sess, path, signatures, options)
  local who = "tf.saved_model.save"
  if T.kind(sess) ~= "Session" then T.fail(who, "the first argument is a session, whose values are saved; it is a %s", T.kind(sess) or type(sess)) end
  options = options or {}
  for key in pairs(options) do
    if key ~= "tags" and key ~= "freeze" and key ~= "clear_devices" then
      local near = T.nearest(tostring(key), {"tags", "freeze", "clear_devices"})
      T.fail(who, "unknown option '%s'%s", tostring(key), near and "; did you mean '" .. near .. "'?" or "")
    end
  end
  local single = path:find "%.pb$" ~= nil
  local meta, variables = meta_graph(sess, options.tags or {"serve"}, signature_table(signatures, who),
    {freeze = options.freeze or single, clear_devices = options.clear_devices}, who)
  local bytes = P.int(1, 1) .. P.bytes(2, meta)
  if single then return write_whole(path, bytes, who) end
  new_folder(path, who)
  write_weights(path, variables)
  write_whole(path .. "/saved_model.pb", bytes, who) -- last: without it the folder is no saved model
end
-- TensorFlow 1's: tf.saved_model.simple_save(session, folder, {x = x}, {y = y}).
function saved.simple_save(sess, folder, inputs, outputs)
  if type(inputs) == "table" and inputs.inputs and not outputs then inputs, outputs = inputs.inputs, inputs.outputs end
  return saved.save(sess, folder, {serving_default = predict(inputs, outputs)})
end

local Builder = {}
Builder.__index = Builder
Builder.__name = "SavedModelBuilder"
-- tf.saved_model.builder.SavedModelBuilder(folder): several graphs, told apart by tags, with the weights of the first.
function saved.SavedModelBuilder(folder)
  if T.path_kind(folder) == "folder" then
    T.fail_code(6, "SavedModelBuilder", folder .. " is there already; a saved model gets a folder of its own")
  end
  return setmetatable({folder = folder, metas = {}}, Builder)
end
saved.builder = {SavedModelBuilder = saved.SavedModelBuilder}
local function add(self, sess, tags, signatures, options, first)
  if first == (#self.metas > 0) then
    T.fail_code(9, "SavedModelBuilder", first and "the weights are there already; further graphs come by add_meta_graph"
      or "the first graph comes with its weights: add_meta_graph_and_variables")
  end
  local meta, variables = meta_graph(sess, tags, signature_table(signatures or {}, "SavedModelBuilder"), options or {}, "SavedModelBuilder")
  self.metas[#self.metas + 1] = P.bytes(2, meta)
  if first then self.variables = variables end
end
function Builder:add_meta_graph_and_variables(sess, tags, signatures, options)
  self.session = sess
  add(self, sess, tags, signatures or options and options.signature_def_map, options, true)
end
function Builder:add_meta_graph(tags, signatures, options)
  add(self, self.session, tags, signatures or options and options.signature_def_map, options, false)
end
function Builder:save()
  if #self.metas == 0 then T.fail_code(9, "SavedModelBuilder", "there is no graph: call add_meta_graph_and_variables") end
  new_folder(self.folder, "SavedModelBuilder")
  write_weights(self.folder, self.variables)
  write_whole(self.folder .. "/saved_model.pb", P.int(1, 1) .. table.concat(self.metas), "SavedModelBuilder")
  return self.folder .. "/saved_model.pb"
end

-- ------------------------------------------------------------------------------------- reading

function saved.contains_saved_model(folder)
  return T.path_kind(folder .. "/saved_model.pb") == "file" or T.path_kind(folder .. "/saved_model.pbtxt") == "file"
end

local function import(graph, sess, path, tags, prefix)
  local signatures, by_file = {}, {}
  for _, f in ipairs(T.graph_import(graph, path, {tags = tags, prefix = prefix})) do
    if f.kind == "input" or f.kind == "output" then
      local s = signatures[f.signature] or {inputs = {}, outputs = {}, method_name = f.more or ""}
      signatures[f.signature] = s
      s[f.kind .. "s"][f.key] = f.node
    elseif f.kind == "variable" then
      if f.more ~= "" then T.fail_code(12, nil, ("%s: the variable '%s' is a slice of '%s', which is not read"):format(path, f.name, f.key)) end
      by_file[f.path] = by_file[f.path] or {reader = f.reader, keys = {}, names = {}, seen = {}}
      local file = by_file[f.path]
      if not file.seen[f.name] then
        file.seen[f.name] = true
        file.keys[#file.keys + 1], file.names[#file.names + 1] = f.key, f.name
      end
    end
  end
  for name, file in pairs(by_file) do
    for i, value in ipairs(T.file_read(name, file.reader, file.keys)) do T.session_assign(sess, file.names[i], value) end
  end
  return signatures
end

local Model = {}
Model.__name = "SavedModel"
local functions = {}
function Model.__index(m, key) return functions[key] end
function Model.__tostring(m)
  local lines = {("SavedModel(%s)"):format(m.path)}
  for _, key in ipairs(sorted(m.signature_def)) do
    for _, side in ipairs {"inputs", "outputs"} do
      for _, name in ipairs(sorted(m.signature_def[key][side])) do
        local x = m.signature_def[key][side][name]
        lines[#lines + 1] = ("  %s %s %s: %s%s"):format(key, side:sub(1, -2), name, x.dtype, x.shape and "[" .. table.concat(x.shape, ",") .. "]" or "[?]")
      end
    end
  end
  return table.concat(lines, "\n")
end
local function nearest_of(name, list)
  local near = T.nearest(tostring(name), list)
  return near and ("; did you mean '%s'?"):format(near) or #list > 0 and "; there are '" .. table.concat(list, "', '") .. "'" or ""
end
local function run(m, key, inputs)
  local s = m.signature_def[key]
  local feeds, only = {}, next(s.inputs)
  if type(inputs) ~= "table" or T.kind(inputs) or #inputs > 0 then -- one value for the only input
    if not only or next(s.inputs, only) then T.fail("run", "the signature '%s' takes a table {name = value}; its inputs are '%s'", key, table.concat(sorted(s.inputs), "', '")) end
    inputs = {[only] = inputs}
  end
  for name, value in pairs(inputs) do
    if not s.inputs[name] then T.fail("run", "the signature '%s' has no input '%s'%s", key, tostring(name), nearest_of(name, sorted(s.inputs))) end
    feeds[s.inputs[name]] = value
  end
  for name, node in pairs(s.inputs) do
    if inputs[name] == nil and #node.op.inputs == 0 then T.fail("run", "the input '%s' of the signature '%s' is missing", name, key) end
  end
  return m.session:run(s.outputs, feeds, {raw = true})
end
-- model:run({x = value}, signature): a table of tensors by the signature's names.
function functions:run(inputs, signature)
  local keys = sorted(self.signature_def)
  signature = signature or self.signature_def.serving_default and "serving_default" or #keys == 1 and keys[1]
  if not signature then T.fail("run", "name one of the signatures '%s'", table.concat(keys, "', '")) end
  if not self.signature_def[signature] then T.fail_code(5, "run", ("there is no signature '%s'%s"):format(signature, nearest_of(signature, keys))) end
  return run(self, signature, inputs)
end
function functions:close() self.session:close() end
Model.__close = functions.close
function Model.__call(m, inputs) return m:run(inputs) end

-- tf.saved_model.load(path, {tags = {...}}): a folder or file, of ours or TensorFlow's, as a model to run: model:run{x = value},
-- model.signatures.NAME{x = value}; model.graph, model.session. A file without signatures is run by names of nodes:
-- model.session:run("y:0", {["x:0"] = value}).
saved.load = T.bind("tf.saved_model.load", "export_dir|path tags?", function(path, tags)
  local graph = tf.Graph()
  local sess = tf.Session {graph = graph}
  local m = {path = path, graph = graph, session = sess, signatures = {}}
  m.signature_def = import(graph, sess, path, type(tags) == "string" and {tags} or tags)
  for key in pairs(m.signature_def) do m.signatures[key] = function(inputs) return run(m, key, inputs) end end
  return setmetatable(m, Model)
end)
-- TensorFlow 1's loader: into the session's graph. Gives {signature_def = {NAME = {inputs = {key = node}, outputs =}}}.
saved.loader = {maybe_saved_model_directory = saved.contains_saved_model,
  load = T.bind("tf.saved_model.loader.load", "sess tags export_dir import_scope? saver?", function(sess, tags, path, scope)
    return {signature_def = import(sess.graph, sess, path, type(tags) == "string" and {tags} or tags, scope)}
  end)}

-- ------------------------------------------------------------------------------------- meta graphs

-- tf.train.export_meta_graph{filename =}: the default graph, without values. Gives the bytes.
T.def("tf.train.export_meta_graph", "filename? meta_info_def? graph_def? saver_def? collection_list? as_text=false graph? export_scope? clear_devices=false",
  function(path, _, graph_def, _, _, as_text, graph, _, clear)
    local who = "tf.train.export_meta_graph"
    if as_text then T.fail_code(12, who, "the text form is there for GraphDefs only: tf.train.write_graph") end
    graph_def = graph_def or (graph or tf.get_default_graph()):as_graph_def {add_shapes = true}
    for _, n in ipairs(graph_def.node) do if clear then n.device = "" end end
    local needs, version = needs_of(graph_def)
    local info = P.bytes(3, P.bytes(1, "tfsdk/needs") .. P.bytes(2, needs)) .. P.bytes(5, "1.15.0") .. P.bytes(6, "tfsdk " .. version)
    local bytes = P.bytes(1, info) .. P.bytes(2, graph_def:SerializeToString())
    if path then write_whole(path, bytes, who) end
    return bytes
  end)

local MetaSaver = {}
MetaSaver.__index = MetaSaver
MetaSaver.__name = "Saver"
-- saver:restore(sess, prefix): all of the meta graph's variables from a checkpoint or weight file.
function MetaSaver:restore(sess, path)
  local reader = tf.train.load_checkpoint(path)
  for _, name in ipairs(self.names) do
    if not reader.by_name[name] then T.fail_code(5, "restore", ("%s lacks '%s'"):format(path, name)) end
  end
  for i, value in ipairs(T.file_read(reader.path, reader.reader, self.names)) do T.session_assign(sess, self.names[i], value) end
end
-- saver:save(sess, prefix): TensorFlow's form.
function MetaSaver:save(sess, prefix)
  local values = {}
  for i, name in ipairs(self.names) do values[i] = sess:read(name) end
  T.file_write(prefix, "tf_checkpoint", self.names, values)
  return prefix
end
-- saver = tf.train.import_meta_graph "model.meta": its nodes into the default graph, and what restores its variables.
T.def("tf.train.import_meta_graph", "meta_graph_or_file clear_devices=false import_scope?", function(path, _, scope)
  local content = T.path_kind(path) == nil and path:find "%z" and path or nil
  local graph, names, seen = tf.get_default_graph(), {}, {}
  for _, f in ipairs(T.graph_import(graph, content and "the meta graph" or path, {content = content, prefix = scope})) do
    local op = f.kind == "node" and f.node.op
    if op and op.type == "VarHandleOp" then
      local name = op.attrs.shared_name ~= "" and op.attrs.shared_name or op.name
      if not seen[name] then names[#names + 1], seen[name] = name, true end
    end
  end
  return setmetatable({names = names}, MetaSaver)
end)
