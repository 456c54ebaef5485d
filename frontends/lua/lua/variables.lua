-- provides tf: Variable get_variable variable_scope get_variable_scope AUTO_REUSE make_template global_variables local_variables trainable_variables model_variables moving_average_variables global_variables_initializer local_variables_initializer variables_initializer initialize_all_variables all_variables is_variable_initialized report_uninitialized_variables assign assign_add assign_sub scatter_update scatter_add scatter_sub scatter_mul scatter_div scatter_min scatter_max scatter_nd_update scatter_nd_add scatter_nd_sub count_up_to no_regularizer
-- provides Variable: assign assign_add assign_sub initialized_value load scatter_update scatter_add scatter_sub scatter_mul scatter_div scatter_min scatter_max scatter_nd_update scatter_nd_add scatter_nd_sub item number table bytes rank size count_up_to is_initialized sparse_read gather_nd set_shape
-- Variables, their scopes and their updates. In a graph an update gives the new value when it is run; in
-- define-by-run mode it is done at once and gives the variable.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope
local Variable = T.namespace "Variable"
local KEYS = tf.GraphKeys

tf.AUTO_REUSE = "auto"

-- ------------------------------------------------------------------------------------- collections

local function remember(v, trainable, collections)
  if tf.executing_eagerly() then return end
  local data = T.graph_data()
  data.known = data.known or {}
  data.known[v.op.name] = true
  for _, name in ipairs(collections or {KEYS.GLOBAL_VARIABLES}) do tf.add_to_collection(name, v) end
  local listed = false
  for _, name in ipairs(collections or {}) do listed = listed or name == KEYS.TRAINABLE_VARIABLES end
  if trainable and not listed then tf.add_to_collection(KEYS.TRAINABLE_VARIABLES, v) end
end

-- Variables made by layers written in C are in the graph, but not in any collection yet.
function T.sync_variables(graph)
  local data = T.graph_data(graph)
  data.known = data.known or {}
  local all = T.variables(graph)
  if data.known_count == #all then return end
  data.known_count = #all
  for _, v in ipairs(all) do
    if not data.known[v.op.name] then
      data.known[v.op.name] = true
      T.add_to_collection(graph, KEYS.GLOBAL_VARIABLES, v)
      if v.trainable then T.add_to_collection(graph, KEYS.TRAINABLE_VARIABLES, v) end
    end
  end
end

local function listed(key)
  return function(scope_name)
    if tf.executing_eagerly() then
      local out = {}
      for _, v in ipairs(T.variables()) do
        if key ~= KEYS.TRAINABLE_VARIABLES or v.trainable then out[#out + 1] = v end
      end
      return out
    end
    return tf.get_collection(key, scope_name)
  end
end
tf.global_variables = listed(KEYS.GLOBAL_VARIABLES)
tf.all_variables = tf.global_variables
tf.local_variables = listed(KEYS.LOCAL_VARIABLES)
tf.trainable_variables = listed(KEYS.TRAINABLE_VARIABLES)
tf.model_variables = listed(KEYS.MODEL_VARIABLES)
tf.moving_average_variables = listed(KEYS.MOVING_AVERAGE_VARIABLES)

-- ------------------------------------------------------------------------------------- making

-- The initial value: a tensor or node of the wanted type; functions are called.
local function initial(value, shape, dtype, name)
  if type(value) == "function" then value = value(shape, dtype) end
  if value == nil then return nil end
  local x = T.value(value, dtype)
  if T.kind(x) == "Tensor" and dtype and x.dtype ~= dtype then x = tf.cast(x, dtype) end
  return x
end

-- Makes the ops of an initial value in the scope NAME/Initializer/, free of control dependencies.
local function in_initializer(path, fn, ...)
  if tf.executing_eagerly() then return fn(...) end
  local c <close> = tf.control_dependencies(false)
  local s <close> = tf.name_scope(path .. "/Initializer/")
  return fn(...)
end

def("tf.Variable", "initial_value|value trainable=true collections? validate_shape=true caching_device? name=Variable variable_def? dtype? expected_shape? import_scope? constraint? use_resource?",
  function(value, trainable, collections, _, _, name, _, dtype, shape)
    local init = value
    if type(value) == "function" then
      init = in_initializer(T.name_scope() .. name, initial, value, shape, dtype, name)
    elseif T.kind(value) ~= "Node" then
      if tf.executing_eagerly() then
        init = initial(value, shape, dtype, name)
      elseif T.kind(value) == "Variable" then
        init = value:initialized_value()
      else
        init = tf.tensor(value, dtype) -- becomes the constant NAME/initial_value
        local s <close> = tf.name_scope(T.name_scope() .. name .. "/")
        init = raw.Const{value = init, dtype = init.dtype, name = "initial_value"}
      end
    elseif dtype and value.dtype ~= dtype then
      init = tf.cast(value, dtype)
    end
    local v = T.variable{name = name, init = init, trainable = trainable, shape = T.type(init) and nil}
    remember(v, trainable, collections)
    return v
  end)

local scopes = {} -- the variable scopes that are open, by context: {initializer =, regularizer =, dtype =}
local function stack()
  local key = tf.executing_eagerly() and "eager" or tf.get_default_graph()
  scopes[key] = scopes[key] or {}
  return scopes[key]
end
setmetatable(scopes, {__mode = "k"})
local function setting(key)
  local list = stack()
  for i = #list, 1, -1 do
    if list[i][key] ~= nil then return list[i][key] end
  end
end

-- Variables by full name, so that an initializer is not asked when the variable is there.
local function known_names()
  if tf.executing_eagerly() then
    T.eager_names = T.eager_names or {}
    return T.eager_names
  end
  local data = T.graph_data()
  data.by_name = data.by_name or {}
  return data.by_name
end

def("tf.get_variable", "name shape? dtype? initializer? regularizer? trainable=true collections? caching_device? partitioner? validate_shape=true use_resource? custom_getter? constraint?",
  function(name, shape, dtype, initializer, regularizer, trainable, collections, _, partitioner, _, _, getter)
    getter = getter or setting "custom_getter"
    local function make(name, shape, dtype, initializer, regularizer, trainable)
      dtype = dtype or setting "dtype" or "float32"
      initializer = initializer == nil and setting "initializer" or initializer
      if regularizer == nil then regularizer = setting "regularizer" end
      local path, reuse = T.variable_path()
      local full = path == "" and name or path .. "/" .. name
      local names, init = known_names(), nil
      local found = names[full]
      if type(shape) == "number" then shape = {shape} end
      if T.kind(shape) then shape = shape:table() end
      if found or reuse == 1 then
        if T.kind(initializer) and not shape then shape = initializer.shape end
      elseif initializer ~= nil and initializer ~= false then
        if type(initializer) == "function" then
          if not shape then T.fail("tf.get_variable", "'%s': the shape is missing", full) end
          init = in_initializer(full, initial, initializer, shape, dtype, full)
        elseif type(initializer) == "string" and dtype ~= "string" then
          T.fail("tf.get_variable", "'%s': the initializer is the string '%s'; it is a value, or a function like tf.ones_initializer()", full, initializer)
        else
          init = in_initializer(full, initial, initializer, shape, dtype, full)
          if shape and not found then shape = nil end
        end
      elseif not shape then
        T.fail("tf.get_variable", "'%s': the shape is missing", full)
      elseif dtype == "bool" or dtype:find "int" or dtype == "string" then
        init = in_initializer(full, tf.zeros, shape, dtype)
      end
      local v, created = T.variable{name = name, shape = shape, dtype = dtype, init = init, trainable = trainable, get = true}
      names[full] = v
      if created then
        remember(v, trainable, collections)
        if regularizer then
          local s <close> = scope(full .. "/Regularizer/")
          local loss = regularizer(v)
          if loss then tf.add_to_collection(KEYS.REGULARIZATION_LOSSES, loss) end
        end
      end
      return v
    end
    if getter then return getter(make, name, shape, dtype, initializer, regularizer, trainable) end
    return make(name, shape, dtype, initializer, regularizer, trainable)
  end)

-- ------------------------------------------------------------------------------------- scopes

local VariableScope = {}
VariableScope.__index = VariableScope
VariableScope.__name = "VariableScope"
function VariableScope:__close() self:close() end
function VariableScope:close()
  if not self.is_open then return end
  self.is_open = false
  local list = self.list
  for i = #list, 1, -1 do
    if list[i] == self then table.remove(list, i) break end
  end
  if self.names then self.names:close() end
  if self.inner then self.inner:close() end
  -- Default names inside begin anew when the scope is entered again, so that sharing finds them; a captured scope leaves
  -- those of the place that it was entered from.
  local used, inside = self.used, self.name == "" and "" or self.name .. "/"
  if inside ~= "" then
    for path in pairs(used) do
      if path:sub(1, #inside) == inside then used[path] = nil end
    end
  end
  for path in pairs(self.outside or {}) do used[path] = true end
end
function VariableScope:reuse_variables()
  if self.inner then self.inner:close() end
  self.reuse = true
  self.inner = T.variable_scope(self.name, 1, true)
end
function VariableScope:set_initializer(f) self.initializer = f end
function VariableScope:set_regularizer(f) self.regularizer = f end
function VariableScope:set_dtype(d) self.dtype = d end
function VariableScope:global_variables() return tf.get_collection(KEYS.GLOBAL_VARIABLES, self.name) end
function VariableScope:trainable_variables() return tf.get_collection(KEYS.TRAINABLE_VARIABLES, self.name) end
function VariableScope:get_collection(key) return tf.get_collection(key, self.name) end
VariableScope.__tostring = function(self) return ("VariableScope(\"%s\")"):format(self.name) end

local reuse_codes = {[false] = 0, [true] = 1, auto = 2}
local function reuse_code(reuse)
  if reuse == nil then return 3 end
  local code = reuse_codes[reuse]
  if not code then
    T.fail("tf.variable_scope", "'reuse' must be true, false or \"auto\" (tf.AUTO_REUSE), not %s", tostring(reuse))
  end
  return code
end

-- A name that no scope of this store has yet: default names are made unique.
local function unique_scope(name)
  local used
  if tf.executing_eagerly() then
    T.eager_scopes = T.eager_scopes or {}
    used = T.eager_scopes
  else
    local data = T.graph_data()
    data.variable_scopes = data.variable_scopes or {}
    used = data.variable_scopes
  end
  local path = T.variable_path()
  local prefix = path == "" and "" or path .. "/"
  local candidate, i = name, 0
  while used[prefix .. candidate] do
    i = i + 1
    candidate = name .. "_" .. i
  end
  return candidate, used, prefix
end

local open_scope = T.bind("tf.variable_scope", "name_or_scope default_name? values? initializer? regularizer? caching_device? partitioner? custom_getter? reuse? dtype? use_resource? constraint? auxiliary_name_scope=true",
  function(name, default_name, _, initializer, regularizer, _, _, getter, reuse, dtype, _, _, names)
    local captured = type(name) == "table" and getmetatable(name) == VariableScope and name
    local used, prefix
    if not captured and not name then
      if not default_name then T.fail("tf.variable_scope", "give 'name_or_scope' or 'default_name'") end
      if reuse then T.fail("tf.variable_scope", "'reuse' needs a name of its own, not a default one") end
      name, used, prefix = unique_scope(default_name)
    else
      local _
      _, used, prefix = unique_scope("")
    end
    local code = reuse_code(reuse)
    local s = setmetatable({is_open = true, initializer = initializer, regularizer = regularizer,
      custom_getter = getter, dtype = dtype, list = stack(), used = used}, VariableScope)
    if captured then
      s.outside = {}
      for path in pairs(used) do
        if path:sub(1, #captured.name + 1) == captured.name .. "/" then s.outside[path] = true end
      end
      if reuse == nil and captured.reuse then code = reuse_codes[captured.reuse] or 1 end
      s.inner = T.variable_scope(captured.name, code, true)
      for _, key in ipairs {"initializer", "regularizer", "custom_getter", "dtype"} do
        if s[key] == nil then s[key] = captured[key] end
      end
      if names then s.names = T.scope(captured.name ~= "" and captured.name:match "[^/]*$" or "") end
    else
      used[prefix .. name] = true
      s.inner = T.variable_scope(name, code, false)
      if names and name ~= "" then s.names = T.scope(name) end
    end
    local path, now = T.variable_path()
    s.name, s.reuse = path, now == 1 or (now == 2 and "auto") or false
    s.original_name_scope = T.name_scope()
    s.list[#s.list + 1] = s
    return s
  end)

-- With a function: calls it with the scope, and closes.
function tf.variable_scope(...)
  local args = table.pack(...)
  if type(args[args.n]) == "function" then
    local fn = args[args.n]
    local s <close> = open_scope(table.unpack(args, 1, args.n - 1))
    return fn(s)
  end
  return open_scope(...)
end
function tf.get_variable_scope()
  local list = stack()
  if list[#list] then return list[#list] end
  local root = setmetatable({is_open = false, name = "", reuse = false, list = list, original_name_scope = ""}, VariableScope)
  function root.reuse_variables() T.variable_scope("", 1, true) root.reuse = true end
  return root
end
-- A function whose variables are made at its first call and shared at the later ones.
def("tf.make_template", "name_ func_ create_scope_now_=false unique_name_?", function(name, fn)
  local template
  return function(...)
    local args = table.pack(...)
    if template then
      return tf.variable_scope(template, {reuse = true}, function() return fn(table.unpack(args, 1, args.n)) end)
    end
    return tf.variable_scope(false, name, function(s)
      template = s
      return fn(table.unpack(args, 1, args.n))
    end)
  end
end)
function tf.no_regularizer() return nil end

-- ------------------------------------------------------------------------------------- initializing

local function grouped(list, name)
  local ops = {}
  for i, v in ipairs(list) do ops[i] = v.initializer end
  ops.n = nil
  return tf.group(ops, {name = name})
end
function tf.global_variables_initializer()
  if tf.executing_eagerly() then return true end -- define-by-run variables have their values
  return grouped(tf.global_variables(), "init")
end
tf.initialize_all_variables = tf.global_variables_initializer
function tf.local_variables_initializer()
  if tf.executing_eagerly() then return true end
  return grouped(tf.local_variables(), "init")
end
def("tf.variables_initializer", "var_list name=init", function(list, name) return grouped(list, name) end)
def("tf.is_variable_initialized", "variable", function(v) return raw.VarIsInitializedOp(v) end)
function Variable.is_initialized(v) return raw.VarIsInitializedOp(v) end
-- The names of variables without a value, as a string tensor.
def("tf.report_uninitialized_variables", "var_list? name=report_uninitialized_variables", function(list, name)
  local s <close> = scope(name)
  if not list then
    list = tf.global_variables()
    for _, v in ipairs(tf.local_variables()) do list[#list + 1] = v end
  end
  if #list == 0 then return tf.constant({}, "string") end
  local flags, names = {}, {}
  for i, v in ipairs(list) do flags[i], names[i] = raw.LogicalNot(raw.VarIsInitializedOp(v)), v.op.name end
  return tf.boolean_mask(tf.constant(names, "string"), tf.stack(flags))
end)
function Variable.initialized_value(v)
  if not v.graph then return v:value() end
  return v.initial_value
end

-- ------------------------------------------------------------------------------------- updates

-- Runs the update, then reads: what a fetch of the result gives.
local function updated(v, op, name)
  if not v.graph then return v end
  local c <close> = tf.control_dependencies{op}
  return raw.ReadVariableOp(v, {dtype = v.dtype, name = name})
end
for name, op in pairs {assign = "AssignVariableOp", assign_add = "AssignAddVariableOp", assign_sub = "AssignSubVariableOp"} do
  local function update(v, value, _, options)
    if T.kind(value) == "IndexedSlices" then value = T.dense(value) end
    value = T.kind(value) == "Variable" and value:value() or value
    local static = v.shape
    local _, given = T.type(value)
    if static and given and #static == #given then
      for i, d in ipairs(static) do
        if d >= 0 and given[i] >= 0 and d ~= given[i] then
          T.fail(name, "variable '%s' has shape (%s), the value (%s)", v.name, table.concat(static, ", "), table.concat(given, ", "))
        end
      end
    elseif static and given then
      T.fail(name, "variable '%s' has shape (%s), the value (%s)", v.name, table.concat(static, ", "), table.concat(given, ", "))
    end
    local label = type(options) == "table" and options.name or nil
    return updated(v, raw[op](v, value, {dtype = v.dtype}), label)
  end
  Variable[name] = update
  def("tf." .. name, "ref value validate_shape? use_locking? name?", function(v, value) return update(v, value) end)
end
-- Sets the value in a session: one node for all loads of a variable, fed with the value.
function Variable.load(v, value, session)
  if not v.graph then return Variable.assign(v, value) end
  session = session or tf.get_default_session()
  if not session then T.fail("load", "there is no default session; give one: v:load(value, session)") end
  session:run(v.initializer, {[v.initial_value] = value})
end
for _, kind in ipairs {"update", "add", "sub", "mul", "div", "min", "max"} do
  local op = "ResourceScatter" .. kind:sub(1, 1):upper() .. kind:sub(2)
  local function scatter(v, indices, updates)
    if T.kind(indices) == "IndexedSlices" then indices, updates = indices.indices, indices.values end
    return updated(v, raw[op](v, indices, updates, {dtype = v.dtype}))
  end
  Variable["scatter_" .. kind] = scatter
  def("tf.scatter_" .. kind, "ref indices updates use_locking? name?", function(v, i, u) return scatter(v, i, u) end)
end
for _, kind in ipairs {"update", "add", "sub"} do
  local op = "ResourceScatterNd" .. kind:sub(1, 1):upper() .. kind:sub(2)
  local function scatter(v, indices, updates) return updated(v, raw[op](v, indices, updates, {})) end
  Variable["scatter_nd_" .. kind] = scatter
  def("tf.scatter_nd_" .. kind, "ref indices updates use_locking? name?", function(v, i, u) return scatter(v, i, u) end)
end
function Variable.sparse_read(v, indices) return raw.ResourceGather(v, indices, {dtype = v.dtype}) end
function Variable.gather_nd(v, indices) return raw.GatherNd(v:value(), indices) end
function Variable.count_up_to(v, limit)
  local old = v:value()
  local check = tf.Assert(raw.Less(old, limit), {("'%s' has reached its limit"):format(v.name)})
  local c <close> = tf.control_dependencies{check}
  local value = raw.Identity(old)
  local d <close> = tf.control_dependencies{value}
  local op = raw.AssignAddVariableOp(v, 1, {dtype = v.dtype})
  local e <close> = tf.control_dependencies{op}
  return raw.Identity(value)
end
def("tf.count_up_to", "ref limit name?", function(v, limit) return Variable.count_up_to(v, limit) end)
function Variable.rank(v) return v.shape and #v.shape end
function Variable.size(v)
  local n = 1
  for _, d in ipairs(v.shape) do n = n * d end
  return n
end
function Variable.set_shape(v) return v end
for _, name in ipairs {"item", "number", "table", "bytes"} do
  Variable[name] = function(v)
    if v.graph then T.fail(name, "variable '%s' belongs to a graph: its value is in a session, sess:run(v)", v.name) end
    local x = v:value()
    return x[name](x)
  end
end
