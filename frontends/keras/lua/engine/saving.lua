-- Whole models in one file: architecture, weights, what compile was given, the optimizer's state, so that training goes on as if it had
-- not stopped. Files of Keras (.h5, .weights.h5, .keras) are read.
--
-- A file of ours is a safetensors file: "weights/0007/NAME" in the order of model.weights, "optimizer/0003/NAME" in that of its slots; the
-- metadata have the model as JSON, the arguments of compile and the optimizer.
local tf, T = ...
local S = T.include("keras", "engine/state")
local Model, Layer = S.Model, S.Layer
local losses, metrics, optimizers = T.include("keras", "losses"), T.include("keras", "metrics"), T.include("keras", "optimizers")
local null = tf.json.null

local function plain_name(v) return (v.name:gsub(":%d+$", "")) end
local function ending(path)
  if type(path) ~= "string" or path == "" then T.fail("save", "the path must be a text that is not empty, not %s", tostring(path)) end
  return path:match "%.weights%.h5$" and "h5" or path:match "%.([%w]+)$"
end
local function reader_of(path)
  local kind = ending(path)
  return (kind == "h5" or kind == "hdf5" or kind == "keras") and "hdf5" or "safetensors"
end

-- ------------------------------------------------------------------------------------- writing

-- Names and {class_name =, config =} stay, objects are written as such; functions of a script have no name.
local function described(x, kind)
  if x == nil or x == false then return null end
  if type(x) == "string" or type(x) == "number" then return x end
  if type(x) == "function" or kind:is(x) then return kind:serialize(x) end
  if type(x) == "table" and x.class_name then return x end
  if type(x) == "table" then
    local out = {}
    for key, value in pairs(x) do out[key] = described(value, kind) end
    return out
  end
  return null
end
local function training_config(model)
  local c = rawget(model, "compiled")
  if not c then return nil end
  return {optimizer = optimizers:serialize(c.optimizer), loss = described(c.loss, losses), metrics = described(c.metrics, metrics),
    weighted_metrics = described(c.weighted_metrics, metrics), loss_weights = c.loss_weights or null,
    sample_weight_mode = c.sample_weight_mode or null}
end
local function weights_into(tensors, model)
  for i, v in ipairs(model.weights) do tensors[("weights/%04d/%s"):format(i, plain_name(v))] = T.keras_read(v) end
end
local function check_path(path, overwrite, who)
  if ending(path) == "h5" or ending(path) == "hdf5" or ending(path) == "keras" then
    T.fail_code(12, who, "'" .. path .. "': HDF5 is read, not written; give the file the ending .safetensors")
  end
  if overwrite == false then
    local file = io.open(path, "rb")
    if file then
      file:close()
      T.fail(who, "'%s' is there already, and overwrite is false", path)
    end
  end
end
-- model:save(path): everything.
Model.save = T.bind("save", "self filepath overwrite=true include_optimizer=true", function(self, path, overwrite, with_optimizer)
  check_path(path, overwrite, "save")
  local tensors = {}
  weights_into(tensors, self)
  local metadata = {format = "tfsdk.keras", version = "1", model = self:to_json()}
  local training = with_optimizer and training_config(self)
  if training then
    metadata.training = tf.json.encode(training)
    local values = self.optimizer:get_weights()
    tensors["optimizer/0000/iterations"] = values[1]
    for i, v in ipairs(self.optimizer:variables()) do tensors[("optimizer/%04d/%s"):format(i, plain_name(v))] = values[i + 1] end
  end
  tf.write_safetensors(path, tensors, metadata)
end)
-- The weights alone.
Model.save_weights = T.bind("save_weights", "self filepath overwrite=true", function(self, path, overwrite)
  check_path(path, overwrite, "save_weights")
  if not self.built and #self.weights == 0 then T.fail("save_weights", "'%s' has no weights yet: call it, or build(input_shape), first", self.name) end
  local tensors = {}
  weights_into(tensors, self)
  tf.write_safetensors(path, tensors, {format = "tfsdk.keras", version = "1"})
end)

-- ------------------------------------------------------------------------------------- reading

-- The part of a file that we wrote below PREFIX/, in order: {name =, key =}.
local function entries(path, reader, prefix)
  local out = {}
  for _, t in ipairs(T.file_list(path, reader)) do
    local number, name = t.name:match("^" .. prefix .. "/(%d+)/(.*)$")
    if number then out[#out + 1] = {at = tonumber(number), name = name, key = t.name, shape = t.shape} end
  end
  table.sort(out, function(a, b) return a.at < b.at end)
  return out
end
local function read(path, reader, list)
  local keys = {}
  for i, e in ipairs(list) do keys[i] = e.key end
  return T.file_read(path, reader, keys)
end
-- Where Keras keeps the weights of this model: by the names of layers and weights (.h5), or by classes and their order (.weights.h5 and
-- .keras of Keras 3: layers/dense_1/vars/0).
local function by_names(model, names)
  local out, missing = {}, {}
  local function leaf(text) return text:gsub(":%d+$", ""):match "[^/]*$" end
  local candidates = {}
  for _, name in ipairs(names) do
    if not name:find "^optimizer" then
      candidates[#candidates + 1] = {name = name, parts = "/" .. name:gsub(":%d+$", "") .. "/", leaf = leaf(name)}
    end
  end
  local function walk(layer, above)
    if layer.is_model then
      for _, inner in ipairs(layer._layers) do walk(inner, above .. layer.name .. "/") end
      return
    end
    for _, w in ipairs(layer._own) do
      local found
      for _, c in ipairs(candidates) do
        local tail = "/" .. layer.name .. "/" .. w.name .. "/"
        if c.leaf == w.name:match "[^/]*$" and (c.parts:sub(-#tail) == tail or c.parts:find("/" .. layer.name .. "/", 1, true)) and not c.used then
          if not found or c.parts:sub(-#tail) == tail then found = c end
        end
      end
      if found then
        found.used = true
        out[#out + 1] = {variable = w.variable, key = found.name}
      else
        missing[#missing + 1] = layer.name .. "/" .. w.name
      end
    end
    for _, inner in ipairs(layer._layers) do walk(inner, above) end
  end
  walk(model, "")
  return out, missing
end
local function by_place(model, names)
  local known, out, missing = {}, {}, {}
  for _, name in ipairs(names) do known[name] = true end
  local function walk(layer, path)
    local own = {}
    for _, trained in ipairs {true, false} do
      for _, w in ipairs(layer._own) do if w.trainable == trained then own[#own + 1] = w end end
    end
    for i, w in ipairs(own) do
      local key = ("%s/vars/%d"):format(path, i - 1)
      if known[key] then out[#out + 1] = {variable = w.variable, key = key} else missing[#missing + 1] = key end
    end
    local used = {}
    for _, inner in ipairs(layer.is_model and layer.layers or layer._layers) do
      local word = S.snake(getmetatable(inner).__name == "Model" and "Functional" or getmetatable(inner).__name)
      local k = used[word]
      used[word] = (k or 0) + 1
      walk(inner, path .. (path ~= "" and "/" or "") .. "layers/" .. word .. (k and "_" .. k or ""))
    end
  end
  -- the layers of the model itself
  local used = {}
  local list = model._list or model.layers
  for _, inner in ipairs(list) do
    local word = S.snake(getmetatable(inner).__name == "Model" and "Functional" or getmetatable(inner).__name)
    local k = used[word]
    used[word] = (k or 0) + 1
    walk(inner, "layers/" .. word .. (k and "_" .. k or ""))
  end
  return out, missing
end
local function says(shape) return "{" .. table.concat(shape, ", ") .. "}" end
local function put(path, reader, pairs_, skip_mismatch)
  local list = {}
  for i, p in ipairs(pairs_) do list[i] = {key = p.key} end
  local values = read(path, reader, list)
  for i, p in ipairs(pairs_) do
    if says(values[i].shape) ~= says(p.variable.shape) then
      if not skip_mismatch then
        T.fail("load_weights", "'%s': weight '%s' has the shape %s, the model's '%s' %s", path, p.key, says(values[i].shape), plain_name(p.variable), says(p.variable.shape))
      end
      values[i] = false
    end
  end
  for i, p in ipairs(pairs_) do if values[i] then T.keras_load(p.variable, values[i]) end end
end
Model.load_weights = T.bind("load_weights", "self filepath by_name=false skip_mismatch=false", function(self, path, by_name, skip_mismatch)
  local reader = reader_of(path)
  if not self.built and #self.weights == 0 then T.fail("load_weights", "'%s' has no weights yet: call it, or build(input_shape), first", self.name) end
  if reader == "safetensors" then
    local list = entries(path, reader, "weights")
    if #list > 0 and not by_name then
      local all = self.weights
      if #list ~= #all then T.fail("load_weights", "'%s' has %d weights, the model %d", path, #list, #all) end
      local pairs_ = {}
      for i, e in ipairs(list) do pairs_[i] = {variable = all[i], key = e.key} end
      return put(path, reader, pairs_, skip_mismatch)
    end
  end
  local names, placed = {}, false
  for i, t in ipairs(T.file_list(path, reader)) do
    names[i] = t.name
    placed = placed or t.name:find "^layers/.*vars/%d+$" ~= nil
  end
  local found, missing = (placed and by_place or by_names)(self, names)
  if #missing > 0 and not by_name then
    T.fail("load_weights", "'%s' has no weight for '%s'%s", path, missing[1], #missing > 1 and (" and %d others"):format(#missing - 1) or "")
  end
  put(path, reader, found, skip_mismatch)
end)

local function restored(x)
  if x == null then return nil end
  if type(x) ~= "table" or x.class_name then return x end
  local out = {}
  for key, value in pairs(x) do out[key] = restored(value) end
  return out
end
-- Slots exist once the optimizer has seen the model's weights.
local function restore_optimizer(model, path)
  local list = entries(path, "safetensors", "optimizer")
  if #list == 0 then return end
  local optimizer = model.optimizer
  local function build() if #list > 1 and not optimizer.built then optimizer:build(model.trainable_weights) end end
  if model.graph then
    local g <close> = model.graph:as_default()
    build()
  else
    tf.eager(build)
  end
  optimizer:set_weights(read(path, "safetensors", list))
end
local models = T.keras_namespace "models"
-- load_model(path), load_model(path, {Scale = Scale}), load_model(path, {custom_objects = {...}, compile = false})
function models.load_model(path, custom, more)
  local with_compile = more
  if type(custom) == "table" and (custom.custom_objects ~= nil or type(custom.compile) == "boolean") then
    custom, with_compile = custom.custom_objects, custom.compile
  end
  if with_compile == nil then with_compile = true end
  local who, reader = "tf.keras.models.load_model", reader_of(path)
  local metadata = tf.json.decode(T.file_metadata(path, reader))
  local text = metadata.model
  if reader == "hdf5" then text = (metadata["."] or {}).model_config or metadata["config.json"] end
  if type(text) == "table" then text = tf.json.encode(text) end
  if type(text) ~= "string" then T.fail(who, "'%s' holds no model, only weights: make the model and call load_weights", path) end
  local model = T.keras_deserialize(tf.json.decode(text), custom, who)
  model:load_weights(path)
  if with_compile and reader == "safetensors" and metadata.training then
    local t = tf.json.decode(metadata.training)
    local o = {optimizer = optimizers:deserialize(t.optimizer), loss = restored(t.loss), metrics = restored(t.metrics),
      weighted_metrics = restored(t.weighted_metrics), loss_weights = restored(t.loss_weights), sample_weight_mode = restored(t.sample_weight_mode)}
    if custom then
      T.keras_custom_objects = T.keras_custom_objects or {}
      table.insert(T.keras_custom_objects, custom)
    end
    local ok, why = pcall(function() model:compile(o) end)
    if custom then table.remove(T.keras_custom_objects) end
    if not ok then error(why, 0) end
    restore_optimizer(model, path)
  end
  return model
end
T.def("tf.keras.models.save_model", "model filepath overwrite=true include_optimizer=true", function(model, path, overwrite, with_optimizer)
  model:save(path, {overwrite = overwrite, include_optimizer = with_optimizer})
end)
local _ = Layer
return true
