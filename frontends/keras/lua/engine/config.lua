-- Layers and models from their configuration and back: deserialize, model JSON (of this library, Keras 2 and Keras 3), clone_model.
local tf, T = ...
local S = T.include("keras", "engine/state")
local Model, Layer = S.Model, S.Layer
local layers, keras = T.keras_namespace "layers", T.namespace "tf.keras"
local list_of, is_layer = S.list_of, S.is_layer
local null = tf.json.null

local function custom(name, more)
  if more and more[name] then return more[name] end
  for i = #(T.keras_custom_objects or {}), 1, -1 do
    if T.keras_custom_objects[i][name] then return T.keras_custom_objects[i][name] end
  end
end
local function class_of(name, more, who)
  local class = custom(name, more) or S.classes[name]
  if class then return class end
  local known = {}
  for key in pairs(S.classes) do known[#known + 1] = key end
  local near = T.nearest(name, known)
  T.fail(who, "there is no layer '%s'%s; classes of a script are named in custom_objects", name, near and ("; did you mean '%s'?"):format(near) or "")
end

-- ------------------------------------------------------------------------------------- to a configuration

function layers.serialize(layer)
  if not is_layer(layer) then T.fail("tf.keras.layers.serialize", "expects a layer, not %s", T.kind(layer) or type(layer)) end
  local class = getmetatable(layer).__name
  if layer.is_model and class == "Model" then class = "Functional" end
  return {class_name = class, config = layer:get_config()}
end
local function node_key(x, inside)
  local h = S.history[x]
  local at = 0
  for _, record in ipairs(h.record.layer.inbound_nodes) do
    if record == h.record then break end
    if inside[record] then at = at + 1 end
  end
  return {h.record.layer.name, at, h.index - 1}
end
function Model.get_config(self)
  if self.is_sequential then
    local list = {}
    for i, layer in ipairs(self._list) do list[i] = layers.serialize(layer) end
    local config = {name = self.name, layers = list}
    if self.outputs and not self._list[1].is_input and not rawget(self._list[1], "batch_input_shape") then
      local shape = {}
      for i, d in ipairs(self.inputs[1].shape) do shape[i] = d >= 0 and d or null end
      config.build_input_shape = shape
    end
    return config
  end
  if not self.order then
    T.fail_code(12, "get_config", "'%s' is a class of a script: give %s a get_config and a from_config of its own", self.name, getmetatable(self).__name)
  end
  local inside, list = {}, {}
  for _, record in ipairs(self.order) do inside[record] = true end
  for _, layer in ipairs(self._layers) do
    local entry = layers.serialize(layer)
    entry.name = layer.name
    entry.inbound_nodes = {}
    for _, record in ipairs(layer.inbound_nodes) do
      if inside[record] and not layer.is_input then
        local call = {}
        for _, x in ipairs(list_of(record.inputs)) do
          local key = T.kind(x) == "Node" and S.history[x] and node_key(x, inside)
          if not key then T.fail_code(12, "get_config", "layer '%s' reads a value that no layer made", layer.name) end
          local options = {}
          for name, value in pairs(record.options) do
            if not T.kind(value) then options[name] = value end
          end
          key[4] = next(options) and options or tf.json.decode "{}"
          call[#call + 1] = key
        end
        table.insert(entry.inbound_nodes, call)
      end
    end
    list[#list + 1] = entry
  end
  local function keys(nodes)
    local out = {}
    for i, x in ipairs(nodes) do out[i] = node_key(x, inside) end
    return out
  end
  return {name = self.name, layers = list, input_layers = keys(self.inputs), output_layers = keys(self.outputs)}
end
function Model.to_json(self)
  return tf.json.encode {class_name = layers.serialize(self).class_name, config = self:get_config(), keras_version = "2.2.4", backend = "tfsdk"}
end

Model.to_yaml = Model.to_json -- a JSON text is a YAML text, too

-- ------------------------------------------------------------------------------------- from a configuration

local deserialize

local function sequential(config, more)
  local list = {}
  for i, entry in ipairs(config.layers or config) do list[i] = deserialize(entry, more, "Sequential.from_config") end
  local model = S.classes.Sequential(list, {name = config.name})
  local shape = config.build_input_shape
  if not model.outputs and shape and shape ~= null then
    local open = {}
    for i, d in ipairs(shape) do open[i] = d == null and -1 or d end
    model:build(open)
  end
  return model
end

-- {"name", node, index} or Keras 3's {class_name = "__keras_tensor__", config = {keras_history = {...}}}
local function history_of(x)
  if type(x) ~= "table" then return nil end
  if x.class_name == "__keras_tensor__" then return x.config.keras_history end
  if type(x[1]) == "string" and math.type(x[2]) == "integer" then return x end
end
local function functional(config, more)
  local by_name, made, waiting = {}, {}, {}
  for _, entry in ipairs(config.layers) do
    local name = entry.name or entry.config.name
    by_name[name] = deserialize(entry, more, "Model.from_config")
    made[name] = {}
    if by_name[name].is_input then made[name][0] = {by_name[name].inbound_nodes[1].outputs} end
    for i, call in ipairs(entry.inbound_nodes or {}) do waiting[#waiting + 1] = {name = name, number = i - 1, call = call} end
  end
  local missing
  local function find(key)
    local outputs = made[key[1]] and made[key[1]][key[2]]
    if not outputs then
      missing = true
      return nil
    end
    return outputs[key[3] + 1]
  end
  -- values in the place of what names them
  local function resolve(x)
    local key = history_of(x)
    if key then return find(key) end
    if x == null then return nil end
    if type(x) ~= "table" then return x end
    local out = {}
    for k, v in pairs(x) do out[k] = resolve(v) end
    return out
  end
  local progress = true
  while #waiting > 0 and progress do
    progress = false
    local later = {}
    for _, w in ipairs(waiting) do
      missing = false
      local inputs, options = nil, {}
      if made[w.name][w.number] then
        progress = true
      else
        if w.call.args then
          local args = resolve(w.call.args)
          inputs = args[1]
          if #args > 1 then inputs = args end
          for key, value in pairs(w.call.kwargs or {}) do
            if value ~= null then options[key] = resolve(value) end
          end
        else
          local list = type(w.call[1]) == "table" and w.call or {w.call}
          inputs = {}
          for i, key in ipairs(list) do
            inputs[i] = find(key)
            for name, value in pairs(key[4] or {}) do options[name] = value end
          end
          if #inputs == 1 then inputs = inputs[1] end
        end
        if missing or w.number > 0 and not made[w.name][w.number - 1] then
          later[#later + 1] = w
        else
          made[w.name][w.number] = list_of(by_name[w.name](inputs, options))
          progress = true
        end
      end
    end
    waiting = later
  end
  if #waiting > 0 then T.fail("Model.from_config", "layer '%s' reads a value that no layer of the configuration makes", waiting[1].name) end
  local function ends(list)
    if type(list[1]) == "string" then list = {list} end
    local out = {}
    for i, key in ipairs(list) do
      missing = false
      out[i] = find(history_of(key) or key)
      if missing then T.fail("Model.from_config", "there is no layer '%s'", tostring(key[1])) end
    end
    return out, #list == 1
  end
  local inputs = ends(config.input_layers)
  local outputs, single = ends(config.output_layers)
  return S.classes.Model(inputs, single and outputs[1] or outputs, {name = config.name})
end

deserialize = function(x, more, who)
  who = who or "tf.keras.layers.deserialize"
  if type(x) == "string" then x = {class_name = x, config = {}} end
  if type(x) ~= "table" or not x.class_name then T.fail(who, "expects {class_name =, config =}, not %s", type(x)) end
  local name, config = x.class_name, x.config or {}
  if config == null then config = {} end
  local class = class_of(name, more, who)
  if class == S.classes.Sequential then return sequential(config, more) end
  if class == Model then return functional(config, more) end
  if class.nested then -- a layer around a layer
    local copy = {}
    for key, value in pairs(config) do copy[key] = value end
    for _, field in ipairs(class.nested) do
      if type(copy[field]) == "table" and copy[field].class_name then copy[field] = deserialize(copy[field], more, who) end
    end
    config = copy
  end
  if type(class) == "function" then return class(config) end
  if rawget(class, "from_config") and class.of_script then return class.from_config(class, config) end
  local layer = class.from_config(class, config)
  return layer
end
T.keras_deserialize = deserialize
-- Plain functions: their first argument is a table itself.
function layers.deserialize(x, more) return deserialize(x, more) end
local models = T.keras_namespace "models"
function models.model_from_config(x, more) return deserialize(x, more, "tf.keras.models.model_from_config") end
function models.model_from_json(text, more)
  if type(text) ~= "string" then T.fail("tf.keras.models.model_from_json", "expects a text, not %s", type(text)) end
  return deserialize(tf.json.decode(text), more and more.custom_objects or more, "tf.keras.models.model_from_json")
end
-- Reads what to_yaml wrote: the JSON part of YAML.
function models.model_from_yaml(text, more)
  if type(text) ~= "string" or not text:find "^%s*{" then
    T.fail("tf.keras.models.model_from_yaml", "only the texts that to_yaml writes are read (JSON); convert other YAML to JSON")
  end
  return models.model_from_json(text, more)
end
-- The same layers anew, with weights of their own.
T.def("tf.keras.models.clone_model", "model", function(model)
  if not is_layer(model) or not model.is_model then T.fail("tf.keras.models.clone_model", "expects a model, not %s", T.kind(model) or type(model)) end
  return deserialize(layers.serialize(model))
end)
local _ = keras
local _ = Layer
return deserialize
