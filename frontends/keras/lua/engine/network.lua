-- Input, Model (functional, or a class of a script with call()) and Sequential.
local tf, T = ...
local S = T.include("keras", "engine/state")
local Layer = T.include("keras", "engine/layer")
local keras, layers = T.namespace "tf.keras", T.keras_namespace "layers"
local getters
local list_of, shape_of, is_layer, say_shape = S.list_of, S.shape_of, S.is_layer, S.say_shape

-- ------------------------------------------------------------------------------------- inputs

local InputLayer = S.new_class("InputLayer", Layer, {names = {}, is_input = true, autocast = false})
S.classes.InputLayer = InputLayer
function InputLayer.call(_, x) return x end
function InputLayer.get_config(self)
  local shape = {}
  for i, d in ipairs(self.batch_shape) do shape[i] = d >= 0 and d or tf.json.null end
  return {name = self.name, dtype = self.dtype, batch_input_shape = shape}
end
local function new_input(o)
  local self = setmetatable({}, InputLayer)
  Layer.begin(self, {name = o.name or S.unique "input_layer", dtype = o.dtype})
  rawset(self, "batch_shape", o.batch_shape)
  rawset(self, "built", true)
  local node = o.tensor
  if not node then
    local graph = S.symbolic_graph()
    local g <close> = graph:as_default()
    local c <close> = tf.control_dependencies(false)
    local absolute <close> = tf.name_scope("")
    node = tf.placeholder(self.dtype, o.batch_shape, {name = self.name})
  end
  S.note(self, {}, node, {})
  return self, node
end
function InputLayer.from_config(_, config)
  local shape = {}
  for i, d in ipairs(config.batch_shape or config.batch_input_shape) do shape[i] = d == tf.json.null and -1 or d end
  local dtype = config.dtype
  if type(dtype) == "table" then dtype = dtype.config and dtype.config.name or "float32" end
  return (new_input {name = config.name, batch_shape = shape, dtype = dtype})
end
-- Input({28, 28, 1}): the shape without the batch; batch_shape with it; -1 where it is open.
T.def("tf.keras.layers.Input", "shape? batch_size? name? dtype? sparse=false tensor? batch_shape?", function(shape, batch, name, dtype, sparse, tensor, batch_shape)
  if sparse then T.fail_code(12, "tf.keras.layers.Input", "sparse inputs are not supported") end
  if tensor then
    batch_shape = {table.unpack(tensor.shape)}
    dtype = tensor.dtype
  end
  if type(shape) == "number" then shape = {shape} end
  if not batch_shape and shape == nil then T.fail("tf.keras.layers.Input", "'shape' is missing: the shape of one sample, {28, 28, 1}") end
  local list = {}
  for i, d in ipairs(batch_shape or {batch or -1, table.unpack(shape)}) do
    if d == false or d == tf.json.null then d = -1 end
    if math.type(d) ~= "integer" then T.fail("tf.keras.layers.Input", "extent %d of the shape is %s; it must be a whole number, or -1 where it is open", i, tostring(d)) end
    list[i] = d
  end
  local _, node = new_input {name = name, dtype = dtype or S.settings.floatx, batch_shape = list, tensor = tensor}
  return node
end)
rawset(keras, "Input", layers.Input)
T.def("tf.keras.layers.InputLayer", "input_shape? batch_size? dtype? input_tensor? sparse=false name? batch_shape?|batch_input_shape?", function(shape, batch, dtype, tensor, _, name, batch_shape)
  local list = batch_shape or {batch or -1, table.unpack(type(shape) == "number" and {shape} or shape or {})}
  return (new_input {name = name, dtype = dtype or S.settings.floatx, batch_shape = list, tensor = tensor})
end)

-- ------------------------------------------------------------------------------------- models

local Model = S.new_class("Model", Layer, {names = {}, is_model = true, autocast = false})
getters = Model.getters
S.Model = Model
S.classes.Model, S.classes.Functional = Model, Model

-- The records of the calls between inputs and outputs, each after those that it reads.
local function trace_back(inputs, outputs, name)
  local order, state = {}, {}
  local stop = {}
  for _, x in ipairs(inputs) do stop[x] = true end
  local function visit(node, reader)
    local h = S.history[node]
    if not h then
      T.fail(name, "the value '%s'%s was not made by a layer: put what is computed in between into keras.layers.Lambda", tostring(node),
        reader and (" that layer '%s' reads"):format(reader.layer.name) or "")
    end
    local record = h.record
    if state[record] == "done" then return end
    if state[record] == "open" then T.fail(name, "layer '%s' reads its own output", record.layer.name) end
    if record.layer.is_input and not stop[node] then
      T.fail(name, "the outputs depend on the input '%s', which is not among the model's inputs", record.layer.name)
    end
    state[record] = "open"
    if not stop[node] then
      for _, x in ipairs(list_of(record.inputs)) do
        if T.kind(x) == "Node" and (S.history[x] or x.graph == node.graph) then visit(x, record) end
      end
      for _, x in pairs(record.options) do
        if T.kind(x) == "Node" and S.history[x] then visit(x, record) end
      end
    end
    state[record] = "done"
    order[#order + 1] = record
  end
  for _, x in ipairs(inputs) do
    if not S.history[x] then T.fail(name, "an input must come from keras.Input, not %s", tostring(x)) end
    visit(x)
  end
  for _, y in ipairs(outputs) do visit(y) end
  return order
end

-- The keras.Input values that a value comes from.
function S.sources(node, who)
  local out, seen = {}, {}
  local function visit(x)
    if seen[x] then return end
    seen[x] = true
    local h = S.history[x]
    if not h then T.fail(who, "the value '%s' was not made by keras.Input or a layer", tostring(x)) end
    if h.record.layer.is_input then out[#out + 1] = x end
    for _, y in ipairs(list_of(h.record.inputs)) do if T.kind(y) == "Node" then visit(y) end end
  end
  visit(node)
  return out
end
local function init_graph(self, inputs, outputs)
  local function nodes(x, what)
    local list = {}
    local names
    if type(x) == "table" and not T.kind(x) and x[1] == nil then -- by name, in alphabetical order
      names = {}
      for key in pairs(x) do names[#names + 1] = key end
      table.sort(names)
      for i, key in ipairs(names) do list[i] = x[key] end
    else
      list = {table.unpack(list_of(x))}
    end
    for i, v in ipairs(list) do
      if T.kind(v) ~= "Node" then T.fail(self.name, "%s[%d] must be a symbolic value (of keras.Input or a layer), not %s", what, i, T.kind(v) or type(v)) end
    end
    if #list == 0 then T.fail(self.name, "the model has no %s", what) end
    return list, names
  end
  local ins, in_names = nodes(inputs, "inputs")
  local outs, out_names = nodes(outputs, "outputs")
  rawset(self, "inputs", ins)
  rawset(self, "outputs", outs)
  rawset(self, "single_output", T.kind(outputs) == "Node")
  rawset(self, "order", trace_back(ins, outs, self.name))
  local names, seen = {}, {}
  for i, x in ipairs(ins) do names[i] = in_names and in_names[i] or S.history[x].record.layer.name end
  rawset(self, "input_names", names)
  names = {}
  for i, y in ipairs(outs) do
    local name = out_names and out_names[i] or S.history[y].record.layer.name
    local unique, k = name, 1
    while seen[unique] do
      unique = ("%s_%d"):format(name, k)
      k = k + 1
    end
    seen[unique] = true
    names[i] = unique
  end
  rawset(self, "output_names", names)
  local all, known = {}, {}
  for _, record in ipairs(self.order) do
    local layer = record.layer
    if not known[layer] then
      known[layer] = true
      for _, other in ipairs(all) do
        if other.name == layer.name then T.fail(self.name, "two layers are called '%s'; names must be different in a model", layer.name) end
      end
      all[#all + 1] = layer
    end
  end
  rawset(self, "_layers", all)
  rawset(self, "layers", all)
  rawset(self, "built", true)
  local graph = ins[1].graph
  rawset(self, "graph", graph ~= S.symbols and graph or nil)
end

local function set_mode(self)
  rawset(self, "graph", not tf.executing_eagerly() and tf.get_default_graph() or nil)
end
-- Model(inputs, outputs), or Model:extend{call =} without them.
function Model.init(self, inputs, outputs, o)
  if type(inputs) == "table" and not T.kind(inputs) and (inputs.inputs or inputs.outputs) then inputs, outputs = inputs.inputs, inputs.outputs end
  local is_options = type(inputs) == "table" and not T.kind(inputs) and outputs == nil
  if inputs ~= nil and not is_options or outputs ~= nil then
    init_graph(self, inputs, outputs)
  elseif getmetatable(self).call == Model.call then
    T.fail("tf.keras.Model", "give inputs and outputs, or extend the class with a call()")
  else
    set_mode(self)
  end
end
local function extend_model(base, name, methods)
  if type(name) == "table" then name, methods = name.class_name or "Model", name end
  methods = methods or {}
  local own = methods.init
  methods.init = function(self, ...)
    set_mode(self)
    if own then own(self, ...) end
  end
  local class = S.new_class(name, base, methods)
  S.classes[name] = S.classes[name] or class
  return class
end
Model.extend = extend_model

function Model.call(self, inputs, o)
  local values, given = {}, list_of(inputs)
  if type(inputs) == "table" and not T.kind(inputs) and inputs[1] == nil then
    given = {}
    for i, name in ipairs(self.input_names) do given[i] = inputs[name] end
  end
  if #given ~= #self.inputs then
    T.fail(self.name, "the model has %d inputs (%s), %d were given", #self.inputs, table.concat(self.input_names, ", "), #given)
  end
  for i, x in ipairs(self.inputs) do
    local value = given[i]
    if T.kind(value) then
      local want, have = x.shape, value.shape
      if want and have and #want ~= #have then
        T.fail(self.name, "input '%s' has the shape %s, the value given %s", self.input_names[i], say_shape(want), say_shape(have))
      end
      for a = 2, want and have and #want or 0 do
        if want[a] >= 0 and have[a] >= 0 and want[a] ~= have[a] then
          T.fail(self.name, "input '%s' has the shape %s, the value given %s", self.input_names[i], say_shape(want), say_shape(have))
        end
      end
      if value.dtype ~= x.dtype then value = tf.cast(value, x.dtype) end
    end
    values[x] = value
    if type(o.mask) == "table" and not T.kind(o.mask) then
      if o.mask[i] then S.masks[value] = o.mask[i] end
    elseif o.mask and i == 1 then
      S.masks[value] = o.mask
    end
  end
  for _, record in ipairs(self.order) do
    local ready = true
    for _, y in ipairs(list_of(record.outputs)) do ready = ready and values[y] ~= nil end
    if not ready then
      local x
      if T.kind(record.inputs) then
        x = values[record.inputs]
      else
        x = {}
        for i, v in ipairs(record.inputs) do x[i] = values[v] ~= nil and values[v] or v end
      end
      local options = {}
      for key, value in pairs(record.options) do
        if values[value] ~= nil then value = values[value] end
        options[key] = value
      end
      local y = record.layer(x, options)
      local got = list_of(y)
      for i, v in ipairs(list_of(record.outputs)) do values[v] = got[i] end
    end
  end
  local out = {}
  for i, y in ipairs(self.outputs) do out[i] = values[y] end
  if self.single_output then return out[1] end
  if #out == 1 then return out[1] end
  return out
end
-- A model's own masks come from its layers.
function Model.compute_mask() return nil end
function Model.compute_output_shape(self, shape, keep)
  if self.outputs and not keep then return Layer.compute_output_shape(self, shape, true) end
  return Layer.compute_output_shape(self, shape, keep)
end
function Model.get_layer(self, name, index)
  if type(name) == "table" then name, index = name.name, name.index end
  if type(name) == "number" then name, index = nil, name end
  if index then
    local layer = self.layers[index]
    if not layer then T.fail("get_layer", "there are %d layers in '%s', no layer %s (they count from 1)", #self.layers, self.name, tostring(index)) end
    return layer
  end
  local names = {}
  for i, layer in ipairs(self.layers) do
    if layer.name == name then return layer end
    names[i] = layer.name
  end
  local near = T.nearest(tostring(name), names)
  T.fail("get_layer", "'%s' has no layer '%s'%s", self.name, tostring(name), near and ("; did you mean '%s'?"):format(near) or "; it has " .. table.concat(names, ", "))
end
function getters.layers(self) return self._layers end
function getters.input(self) return self.inputs and (#self.inputs == 1 and self.inputs[1] or self.inputs) or Layer.getters.input(self) end
function getters.output(self) return self.outputs and (self.single_output and self.outputs[1] or #self.outputs == 1 and self.outputs[1] or self.outputs) or Layer.getters.output(self) end
function getters.input_shape(self) return shape_of(self.input) end
function getters.output_shape(self) return shape_of(self.output) end

-- ------------------------------------------------------------------------------------- training

function Model.keras_graph(self) return self.graph end
for name, fn in pairs(T.include("keras", "training/loop")) do Model[name] = fn end

-- ------------------------------------------------------------------------------------- Sequential

local Sequential = S.new_class("Sequential", Model, {names = {}, is_sequential = true})
S.classes.Sequential = Sequential
-- With the shape of its input known a Sequential model is a functional one.
local function connect(self, node)
  local x = node
  for _, layer in ipairs(self._list) do
    if not layer.is_input then x = layer(x) end
  end
  init_graph(self, node, x)
  local shown = {}
  for _, layer in ipairs(self._layers) do if not layer.is_input then shown[#shown + 1] = layer end end
  rawset(self, "layers", shown)
end
local function first_input(layer)
  if layer.is_input then return layer.inbound_nodes[1].outputs end
  local shape = rawget(layer, "batch_input_shape")
  if not shape and layer.is_model and layer.inputs then shape = layer.inputs[1].shape end
  if not shape then return nil end
  local dtype = layer.input_dtype or layer.is_model and layer.inputs[1].dtype or S.settings.floatx
  local _, node = new_input {name = layer.name .. "_input", batch_shape = {table.unpack(shape)}, dtype = dtype}
  return node
end
function Sequential.init(self, list, o)
  rawset(self, "_list", {})
  rawset(self, "layers", {})
  set_mode(self)
  if list == nil then return end
  if is_layer(list) then T.fail("tf.keras.Sequential", "expects a list of layers: keras.Sequential{layer, layer}") end
  for _, layer in ipairs(list) do self:add(layer) end
end
function Sequential.add(self, layer)
  if T.kind(layer) == "Node" and S.history[layer] and S.history[layer].record.layer.is_input then layer = S.history[layer].record.layer end
  if not is_layer(layer) then T.fail("Sequential:add", "expects a layer, not %s", T.kind(layer) or type(layer)) end
  for _, other in ipairs(self._list) do
    if other == layer then T.fail("Sequential:add", "layer '%s' is in the model already", layer.name) end
    if other.name == layer.name then T.fail("Sequential:add", "two layers are called '%s'; names must be different in a model", layer.name) end
  end
  table.insert(self._list, layer)
  if not layer.is_input then table.insert(self._layers, layer) end
  rawset(self, "step_plans", nil)
  if self.outputs then
    local y = layer(self.outputs[1])
    init_graph(self, self.inputs[1], y)
  elseif #self._list == 1 then
    local node = first_input(layer)
    if node then connect(self, node) end
  elseif self._list[1].is_input then
    connect(self, self._list[1].inbound_nodes[1].outputs)
  end
  local shown = {}
  for _, l in ipairs(self._list) do if not l.is_input then shown[#shown + 1] = l end end
  rawset(self, "layers", shown)
  return self
end
function Sequential.pop(self)
  if #self.layers == 0 then T.fail("Sequential:pop", "the model has no layers") end
  local last = table.remove(self._list)
  rawset(self, "step_plans", nil)
  local shown = {}
  for _, l in ipairs(self._list) do if not l.is_input then shown[#shown + 1] = l end end
  rawset(self, "layers", shown)
  if self.outputs and #shown > 0 then
    init_graph(self, self.inputs[1], shown[#shown].inbound_nodes[#shown[#shown].inbound_nodes].outputs)
    rawset(self, "layers", shown)
  elseif self.outputs then
    for _, key in ipairs {"inputs", "outputs", "order"} do rawset(self, key, nil) end
    rawset(self, "built", false)
  end
  return last
end
function Sequential.build(self, shape)
  if self.outputs or shape == nil then return end
  if #self._list == 0 then T.fail(self.name, "a Sequential model without layers cannot be built") end
  local list = {}
  for i, d in ipairs(shape) do list[i] = math.type(d) == "integer" and d or -1 end
  if not self.graph then
    tf.eager(function()
      local _, node = new_input {name = self.name .. "_input", batch_shape = list, dtype = self._list[1].input_dtype or S.settings.floatx}
      connect(self, node)
    end)
  else
    local g <close> = self.graph:as_default()
    local _, node = new_input {name = self.name .. "_input", batch_shape = list, dtype = self._list[1].input_dtype or S.settings.floatx}
    connect(self, node)
  end
end
function Sequential.call(self, inputs, o)
  if #self._list == 0 then T.fail(self.name, "a Sequential model without layers cannot be called") end
  if self.outputs then return Model.call(self, inputs, o) end
  local x = inputs
  for _, layer in ipairs(self._list) do
    if not layer.is_input then
      x = layer(x)
    end
  end
  return x
end
local function constructor(path, class)
  local fn = setmetatable({extend = function(_, name, methods) return extend_model(class, name, methods) end, new = class,
    from_config = function(config, custom) return T.keras_deserialize({class_name = class.__name, config = config}, custom) end},
    {__call = function(_, ...) return class(...) end, __tostring = function() return path end})
  return fn
end
rawset(keras, "Model", constructor("tf.keras.Model", Model))
rawset(keras, "Sequential", constructor("tf.keras.Sequential", Sequential))
T.keras_namespace "models"
for _, name in ipairs {"Model", "Sequential"} do rawset(T.namespace "tf.keras.models", name, keras[name]) end
S.connect = connect
return Model
