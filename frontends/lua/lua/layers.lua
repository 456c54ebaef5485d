-- provides tf.layers: help dense conv1d conv2d conv3d conv2d_transpose conv3d_transpose separable_conv1d separable_conv2d batch_normalization dropout flatten max_pooling1d max_pooling2d max_pooling3d average_pooling1d average_pooling2d average_pooling3d activation
-- provides Plugin: open layer
-- Layers as functions, made from their records: inputs and parameters in the record's order, or by name.
--
--   local y = tf.layers.dense(x, 10, {activation = "relu", name = "fc", kernel_regularizer = f})
--
-- Variables are <name>/<role> (dense/kernel). Besides the record's parameters there are name, reuse, trainable and,
-- for each weight, ROLE_initializer and ROLE_regularizer.
local tf, T = ...
local layers, Plugin = T.namespace "tf.layers", T.namespace "Plugin"
local KEYS = tf.GraphKeys

-- ------------------------------------------------------------------------------------- plugins' Lua files

-- Runs FILE.lua of a plugin's folder once, with (tf, private, plugin's name); gives what it returned.
local included = {}
function T.include(plugin, file)
  local key = plugin .. "/" .. file
  if included[key] == nil then
    included[key] = false
    local path = T.plugin_path(plugin)
    local chunk
    if path == "" then
      chunk = T.load_embedded(key)
      if not chunk then T.fail_code(5, plugin, "the program has no Lua file '" .. key .. "'") end
    else
      chunk = T.load_file(path:gsub("%.so[^/]*$", "") .. "/" .. file .. ".lua", key .. ".lua")
    end
    local ok, result = pcall(chunk, tf, T, plugin)
    if not ok then
      included[key] = nil
      error(result, 0)
    end
    included[key] = result == nil and true or result
  end
  return included[key]
end
function Plugin.open(name)
  T.include(name, "init")
  return T.namespace("tf." .. name)
end

-- ------------------------------------------------------------------------------------- layers

local records = {}
function T.layer(name, try)
  local r = records[name]
  if r == nil then
    r = T.layer_record(name, try)
    if not r then return nil end
    r.at, r.input_at, r.by_role = {}, {}, {}
    for i, p in ipairs(r.params) do r.at[p.name] = i end
    for i, p in ipairs(r.inputs) do r.input_at[p.name] = i end
    for i, w in ipairs(r.weights) do r.by_role[w.name] = i end
    records[name] = r
  end
  return r
end

-- What a layer proposes to begin a weight with, as an initializer; nil: the scope's, or Glorot's uniform.
local proposals = {zeros = "zeros", ones = "ones"}
function T.proposed_initializer(name)
  if proposals[name] then return tf.initializers[name]() end
  if name == "uniform" then return tf.initializers.random_uniform(-0.05, 0.05) end
  return nil
end

-- Puts the effects of a layer into the collections of the graph.
function T.collect_effects(effects)
  for _, e in ipairs(effects) do
    local key = e.bucket == "updates" and KEYS.UPDATE_OPS or e.bucket == "losses" and KEYS.LOSSES or KEYS.SUMMARIES
    T.add_to_collection(e.value.graph, key, e.value)
  end
end

-- A flag or number that may be a tensor: to the input of that name, else to the parameter.
function T.flexible(record, inputs, params, name, value)
  if value == nil then return end
  if T.kind(value) then
    local at = record.input_at[name]
    inputs[at] = value
    inputs.n = math.max(inputs.n or #inputs, at)
  else
    params[name] = value
  end
end

local own = {name = true, reuse = true, trainable = true, _reuse = true}
local function unknown(record, key)
  local list = {"name", "reuse", "trainable"}
  for _, p in ipairs(record.params) do list[#list + 1] = p.name end
  for _, p in ipairs(record.inputs) do list[#list + 1] = p.name end
  for _, w in ipairs(record.weights) do
    list[#list + 1], list[#list + 2] = w.name .. "_initializer", w.name .. "_regularizer"
  end
  local near = T.nearest(key, list)
  T.fail("tf.layers." .. record.name, "unknown option '%s'%s", key, near and ("; did you mean '%s'?"):format(near) or "")
end
local function weight_option(record, key)
  local role = key:match "^(.*)_initializer$" or key:match "^(.*)_regularizer$"
  return role and record.by_role[role]
end

local function call(record, ...)
  local args, who = table.pack(...), "tf.layers." .. record.name
  local options = {}
  if args.n > 0 and (T.is_options(args[args.n]) or (args.n > 1 and type(args[args.n]) == "table" and next(args[args.n]) == nil)) then
    options = args[args.n]
    args.n = args.n - 1
  end
  local inputs, params = {n = 0}, {}
  local needed = 0
  for _, p in ipairs(record.inputs) do
    if p.type ~= "tensor?" then needed = needed + 1 end
  end
  local function set(name, value)
    if value == nil then return end
    if record.at[name] and not (T.kind(value) and record.input_at[name]) then
      if params[name] ~= nil then T.fail(who, "'%s' is given twice", name) end
      params[name] = value
    else
      local at = record.input_at[name]
      if inputs[at] ~= nil then T.fail(who, "'%s' is given twice", name) end
      inputs[at] = value
      inputs.n = math.max(inputs.n, at)
    end
  end
  local list = record.inputs[#record.inputs] and record.inputs[#record.inputs].type == "tensor*"
  if args.n > needed + #record.params then T.fail(who, "takes at most %d values, got %d", needed + #record.params, args.n) end
  for i = 1, args.n do
    if i <= needed then set(record.inputs[i].name, args[i]) else set(record.params[i - needed].name, args[i]) end
  end
  for key, value in pairs(options) do
    if type(key) ~= "string" then T.fail(who, "the table of options has the key [%s]; options have names", tostring(key)) end
    if record.at[key] or record.input_at[key] then set(key, value)
    elseif not own[key] and not weight_option(record, key) then unknown(record, key) end
  end
  if list and type(inputs[inputs.n]) == "table" and not T.kind(inputs[inputs.n]) then
    local members = inputs[inputs.n]
    inputs.n = inputs.n - 1
    for _, v in ipairs(members) do
      inputs.n = inputs.n + 1
      inputs[inputs.n] = v
    end
  end
  local after
  if record.at.activation and record.name ~= "activation" then
    if params.activation == false then params.activation = nil end
    if type(params.activation) == "function" then after, params.activation = params.activation, nil end
  end
  local trainable = options.trainable ~= false
  local scope <close> = #record.weights > 0
    and tf.variable_scope(options.name or false, record.name:match "[^.]*$", {reuse = options.reuse}) or nil
  local outputs, effects = T.build_layer(record.name, inputs, params, #record.weights > 0 and function(role, shape, dtype, init, state)
    local initializer = options[role .. "_initializer"]
    if initializer == nil then initializer = T.proposed_initializer(init) end
    return tf.get_variable(role, shape, dtype, initializer, options[role .. "_regularizer"], trainable and not state)
  end or nil)
  T.collect_effects(effects)
  if after then outputs[1] = after(outputs[1]) end
  return table.unpack(outputs)
end

-- tf.layers.NAME for a layer of any plugin; nil if there is none.
function Plugin.layer(name)
  local record = T.layer(name, true)
  if not record then return nil end
  local function fn(...) return call(record, ...) end
  rawset(layers, name, fn)
  return fn
end
for name in ([[dense conv1d conv2d conv3d conv2d_transpose conv3d_transpose separable_conv1d separable_conv2d batch_normalization
  dropout flatten max_pooling1d max_pooling2d max_pooling3d average_pooling1d average_pooling2d average_pooling3d activation]]):gmatch "%S+" do
  rawset(layers, name, function(...) return call(T.layer(name), ...) end)
end

-- The reference page of a layer, as text.
function layers.help(name)
  local r = T.layer(name)
  local out = {name .. ": " .. (r.doc or "")}
  local function part(title, list, line)
    if #list == 0 then return end
    out[#out + 1] = "\n" .. title
    for _, x in ipairs(list) do out[#out + 1] = line(x) end
  end
  local function arg(x) return ("  %-20s %s"):format(x.name .. (x.type == "tensor?" and " (optional)" or ""), x.doc or "") end
  part("inputs", r.inputs, arg)
  part("parameters", r.params, function(p)
    local dflt = p.default
    if type(dflt) == "table" then dflt = "{" .. table.concat(dflt, ", ") .. "}" end
    return ("  %-20s %-10s %s%s"):format(p.name, (p.type:gsub("{.*", "")), p.doc or "", dflt ~= nil and (" [%s]"):format(dflt) or "")
  end)
  part("weights", r.weights, arg)
  return table.concat(out, "\n")
end
