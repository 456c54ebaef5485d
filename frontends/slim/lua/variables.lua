-- Variables of models: in which collections they are, and finding them again.
local tf, T = ...
local slim = T.namespace "tf.slim"
local KEYS = tf.GraphKeys
local layer, def = T.slim_layer, T.def

local function add_all(list, more)
  if type(more) == "string" then more = {more} end
  for _, name in ipairs(more or {}) do
    local known = false
    for _, have in ipairs(list) do known = known or have == name end
    if not known then list[#list + 1] = name end
  end
  return list
end

local signature = "name shape? dtype? initializer? regularizer? trainable=true collections? caching_device? device? partitioner? custom_getter? use_resource?"
local function make(name, shape, dtype, initializer, regularizer, trainable, collections, _, device, _, getter)
  local d <close> = device and tf.device(type(device) == "function" and device() or device) or nil
  return tf.get_variable(name, {shape = shape, dtype = dtype, initializer = initializer, regularizer = regularizer,
    trainable = trainable, collections = collections, custom_getter = getter})
end
layer("variable", signature, function(name, shape, dtype, initializer, regularizer, trainable, collections, ...)
  return make(name, shape, dtype, initializer, regularizer, trainable, add_all({KEYS.GLOBAL_VARIABLES}, collections), ...)
end)
layer("model_variable", signature, function(name, shape, dtype, initializer, regularizer, trainable, collections, ...)
  return make(name, shape, dtype, initializer, regularizer, trainable,
    add_all({KEYS.GLOBAL_VARIABLES, KEYS.MODEL_VARIABLES}, collections), ...)
end)
def("tf.slim.local_variable", "initial_value validate_shape? name? use_resource?", function(value, _, name)
  return tf.Variable(value, {trainable = false, collections = {KEYS.LOCAL_VARIABLES}, name = name})
end)
def("tf.slim.global_variable", "initial_value validate_shape? name? use_resource?", function(value, _, name)
  return tf.Variable(value, {trainable = false, collections = {KEYS.GLOBAL_VARIABLES}, name = name})
end)

-- ------------------------------------------------------------------------------------- finding

local function name_of(v) return (v.name:gsub(":%d+$", "")) end
local function listed(key, scope)
  if tf.executing_eagerly() then
    local out = {}
    for _, v in ipairs(key == KEYS.TRAINABLE_VARIABLES and tf.trainable_variables() or tf.global_variables()) do
      if not scope or v.name:sub(1, #scope) == scope then out[#out + 1] = v end
    end
    return out
  end
  return tf.get_collection(key, scope)
end
local function with_suffix(list, suffix)
  if not suffix then return list end
  local out = {}
  suffix = suffix:gsub(":%d+$", "")
  for _, v in ipairs(list) do
    if name_of(v):sub(-#suffix) == suffix then out[#out + 1] = v end
  end
  return out
end
def("tf.slim.get_variables", "scope? suffix? collection?", function(scope, suffix, collection)
  if type(scope) == "table" and scope.name then scope = scope.name end
  return with_suffix(listed(collection or KEYS.GLOBAL_VARIABLES, scope), suffix)
end)
def("tf.slim.get_model_variables", "scope? suffix?", function(scope, suffix) return slim.get_variables(scope, suffix, KEYS.MODEL_VARIABLES) end)
def("tf.slim.get_local_variables", "scope? suffix?", function(scope, suffix) return slim.get_variables(scope, suffix, KEYS.LOCAL_VARIABLES) end)
def("tf.slim.get_trainable_variables", "scope? suffix?", function(scope, suffix) return slim.get_variables(scope, suffix, KEYS.TRAINABLE_VARIABLES) end)
def("tf.slim.get_variables_by_suffix", "suffix scope?", function(suffix, scope) return slim.get_variables(scope, suffix) end)
def("tf.slim.get_variables_by_name", "given_name scope?", function(name, scope)
  local out = {}
  for _, v in ipairs(slim.get_variables(scope)) do
    local n = name_of(v)
    if n == name or n:sub(-#name - 1) == "/" .. name then out[#out + 1] = v end
  end
  return out
end)
def("tf.slim.get_unique_variable", "var_op_name", function(name)
  local list = {}
  for _, v in ipairs(slim.get_variables(name)) do
    if name_of(v) == name then list[#list + 1] = v end
  end
  if #list == 1 then return list[1] end
  local names = {}
  for i, v in ipairs(slim.get_variables()) do names[i] = name_of(v) end
  local near = T.nearest(name, names)
  T.fail("slim.get_unique_variable", "%d variables are named '%s'%s", #list, name, near and ("; the nearest name is '%s'"):format(near) or "")
end)

def("tf.slim.filter_variables", "var_list include_patterns? exclude_patterns? reg_search=true", function(list, include, exclude, search)
  local function matches(v, patterns)
    for _, p in ipairs(type(patterns) == "string" and {patterns} or patterns) do
      if v.name:find((search and "" or "^") .. p) then return true end
    end
    return false
  end
  local out = {}
  for _, v in ipairs(list) do
    if (not include or matches(v, include)) and not (exclude and matches(v, exclude)) then out[#out + 1] = v end
  end
  return out
end)
-- include, exclude: scopes (beginnings of names), one or a list. In the order of `include`.
def("tf.slim.get_variables_to_restore", "include? exclude?", function(include, exclude)
  local function each(scopes, who)
    if type(scopes) == "string" then scopes = {scopes} end
    if type(scopes) ~= "table" or T.kind(scopes) then
      T.fail("slim.get_variables_to_restore", "'%s' is a scope or a list of scopes, not a %s", who, T.kind(scopes) or type(scopes))
    end
    local out, seen = {}, {}
    for _, scope in ipairs(scopes) do
      for _, v in ipairs(slim.get_variables(scope)) do
        if not seen[v.name] then out[#out + 1], seen[v.name] = v, true end
      end
    end
    return out, seen
  end
  local out, _, left_out = {}, nil, {}
  if exclude then _, left_out = each(exclude, "exclude") end
  for _, v in ipairs(include and each(include, "include") or slim.get_variables()) do
    if not left_out[v.name] then out[#out + 1] = v end
  end
  return out
end)
for _, name in ipairs {"get_global_step", "get_or_create_global_step", "create_global_step", "assert_global_step"} do
  rawset(slim, name, function(...) return tf.train[name](...) end)
end

-- Devices for variables, in turn: slim.variable(name, {device = slim.VariableDeviceChooser(2)}).
def("tf.slim.VariableDeviceChooser", "num_tasks=0 job_name=ps device_type=CPU device_index=0 replica?", function(tasks, job, kind, index)
  local next_task = 0
  return function()
    local device = ("/device:%s:%d"):format(kind, index)
    if tasks > 0 then
      device = ("/job:%s/task:%d"):format(job, next_task) .. device
      next_task = (next_task + 1) % tasks
    end
    return device
  end
end)
