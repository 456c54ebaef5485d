-- The base of all layers: weights, calls, configuration. Classes are made by extend (for scripts) or by T.keras_layer (for this library).
--
--     local Scale = keras.layers.Layer:extend("Scale", {
--       build = function(self, shape) self.k = self:add_weight{name = "k", shape = {shape[#shape]}, initializer = "ones"} end,
--       call = function(self, x) return x * self.k end})
--     local y = Scale()(x)
local tf, T = ...
local S = T.include("keras", "engine/policy")
local activations = T.include("keras", "activations")
local initializers = T.include("keras", "initializers")
local regularizers = T.include("keras", "regularizers")
local constraints = T.include("keras", "constraints")
local layers = T.keras_namespace "layers"

local Layer = {__name = "Layer", getters = {}, defaults = {}}
local kinds = {activation = activations, initializer = initializers, regularizer = regularizers, constraint = constraints}
S.classes = {} -- by name, for from_config

-- ------------------------------------------------------------------------------------- classes

local function is_layer(x) return type(x) == "table" and rawget(x, "_is_layer") == true end
S.is_layer = is_layer
local construct
local function new_class(name, base, methods)
  local class = methods or {}
  class.__name, class.base = name, base
  class.getters = setmetatable(class.getters or {}, {__index = base and base.getters})
  setmetatable(class, {__index = base, __call = function(c, ...) return construct(c, ...) end,
    __tostring = function() return "<class " .. name .. ">" end})
  class.__index = function(object, key)
    local value = class[key]
    if value ~= nil then return value end
    local getter = class.getters[key]
    if getter then return getter(object) end
  end
  class.__newindex = function(object, key, value)
    local setter = class.setters[key]
    if setter then return setter(object, value) end
    Layer.track(object, value)
    rawset(object, key, value)
  end
  class.__call = Layer.__call
  class.__tostring = Layer.__tostring
  return class
end
S.new_class = new_class

-- The arguments that every layer takes.
local common = "name? trainable=true dtype? input_shape? batch_input_shape? input_dim? input_length? weights? batch_size? autocast? activity_regularizer?"
local common_names = {}
for word in common:gmatch "%S+" do common_names[#common_names + 1] = word:match "^[^?=]*" end

local function given(x) if x == false or x == tf.json.null then return nil end return x end
-- What all objects begin with.
function Layer.begin(self, o)
  rawset(self, "_is_layer", true)
  rawset(self, "_trainable", o.trainable ~= false)
  rawset(self, "_own", {}) -- weights in the order of their making: {variable =, trainable =}
  rawset(self, "_by_role", {})
  rawset(self, "_layers", {})
  rawset(self, "inbound_nodes", {})
  rawset(self, "built", false)
  rawset(self, "_penalties", {})
  local name = given(o.name)
  if name ~= nil and (type(name) ~= "string" or name == "") then T.fail(self.__name, "'name' must be a text that is not empty, not %s", tostring(name)) end
  rawset(self, "name", name or S.unique(S.snake(getmetatable(self).__name)))
  local policy = S.policy(given(o.dtype), self.__name)
  rawset(self, "dtype_policy", policy)
  rawset(self, "dtype", policy.variable_dtype)
  rawset(self, "compute_dtype", policy.compute_dtype)
  if given(o.autocast) == false then rawset(self, "autocast", false) end
  local batch = given(o.batch_input_shape)
  local shape = given(o.input_shape)
  if type(shape) == "number" then shape = {shape} end
  if given(o.input_dim) and not shape and not batch then
    shape = given(o.input_length) and {o.input_length, o.input_dim} or {o.input_dim}
  end
  if not batch and shape then batch = {given(o.batch_size) or -1, table.unpack(shape)} end
  if batch then
    local list = {}
    for i, d in ipairs(batch) do list[i] = math.type(d) == "integer" and d or -1 end
    rawset(self, "batch_input_shape", list)
  end
  rawset(self, "_initial", given(o.weights))
  local penalty = given(o.activity_regularizer)
  if penalty ~= nil then rawset(self, "activity_regularizer", regularizers:get(penalty, self.__name)) end
end
local function options_of(...)
  local last = select(select("#", ...), ...)
  return type(last) == "table" and T.kind(last) == nil and getmetatable(last) == nil and last or {}
end
construct = function(class, ...)
  local self = setmetatable({}, class)
  local o = select("#", ...) > 0 and options_of(...) or {}
  Layer.begin(self, o)
  if class.init then
    class.init(self, ...)
  else
    local mine = {}
    for _, name in ipairs(common_names) do mine[name] = true end
    for key, value in pairs(o) do if not mine[key] then self[key] = value end end
  end
  return self
end
-- A class of a script: extend("Name", {build =, call =, init =, get_config = ...}).
function Layer.extend(base, name, methods)
  if type(name) == "table" then name, methods = name.class_name or "Layer", name end
  local class = new_class(name, base, methods or {})
  S.classes[name] = S.classes[name] or class
  class.of_script = true
  return class
end

-- A class of this library. `signature`: its own arguments as T.bind takes them, which become fields; options named like
-- kernel_initializer become objects. `record`: the layer record, `params`: fields that are its parameters {record's name = field}.
function T.keras_layer(name, signature, methods, base)
  local class = new_class(name, base or Layer, methods)
  local names = {}
  for word in signature:gmatch "%S+" do names[#names + 1] = word:match "^[^?=|]*" end
  class.names = names
  S.classes[name] = class
  local path = "tf.keras.layers." .. name
  local n, taken, also, text = #names, {}, {}, {signature}
  for _, key in ipairs(names) do taken[key] = true end
  for word in common:gmatch "%S+" do
    local key = word:match "^[^?=]*"
    if not taken[key] then
      also[#also + 1] = key
      text[#text + 1] = word
    end
  end
  local make = T.bind(path, table.concat(text, " "):gsub("^ ", ""), function(...)
    local self, o = setmetatable({}, class), {}
    for i, key in ipairs(also) do o[key] = select(n + i, ...) end
    Layer.begin(self, o)
    for i, key in ipairs(names) do
      local value = select(i, ...)
      if value == tf.json.null then value = nil end
      local kind = kinds[key:match "[^_]*$"]
      if kind and value ~= nil and value ~= false then
        value = kind == activations and activations.get(value) or kind:get(value, path)
      end
      rawset(self, key, value)
    end
    if class.init then class.init(self, path) end
    return self
  end)
  -- Softmax{} has no axis: an empty table is options, unless the first argument must be given.
  local first = signature:match "^%S*" or ""
  if first:find "[?=]" then
    local bound = make
    make = function(...)
      local o = ...
      if select("#", ...) == 1 and type(o) == "table" and next(o) == nil and getmetatable(o) == nil then return bound() end
      return bound(...)
    end
  end
  class.new = make
  rawset(layers, name, make)
  return class
end
function T.keras_layer_alias(new, old) rawset(layers, new, layers[old]) S.classes[new] = S.classes[old] end

-- ------------------------------------------------------------------------------------- weights

function Layer.track(self, value)
  if not rawget(self, "_is_layer") then return end
  if is_layer(value) then
    for _, known in ipairs(self._layers) do if known == value then return end end
    table.insert(self._layers, value)
  elseif type(value) == "table" and getmetatable(value) == nil and T.kind(value) == nil and is_layer(value[1]) then
    for _, x in ipairs(value) do Layer.track(self, x) end
  end
end

local function say_shape(shape) return "{" .. table.concat(shape, ", ") .. "}" end
S.say_shape = say_shape

-- Makes a weight. In a graph its name is LAYER/NAME.
function Layer.add_weight(self, o, ...)
  if type(o) == "string" then o = {name = o, shape = (...), initializer = select(2, ...)} end
  local name, shape = o.name or "weight", o.shape or {}
  if type(shape) == "number" then shape = {shape} end
  for i, d in ipairs(shape) do
    if math.type(d) ~= "integer" or d < 0 then
      T.fail(self.name, "add_weight: extent %d of weight '%s' must be a known number, but the shape is %s", i, name, say_shape(shape))
    end
  end
  local dtype = o.dtype or self.dtype
  local initializer = o.initializer
  if initializer == nil then initializer = dtype:find "float" and "glorot_uniform" or "zeros" end
  initializer = initializers:get(initializer, self.name) or initializers:get "zeros"
  local trainable = o.trainable ~= false
  local home, label = S.home(), self.name .. "/" .. name
  local v
  local initial = rawget(self, "_initial")
  local at = #self._own + 1
  local function value()
    local first = initial and initial[at]
    if first ~= nil then
      first = T.kind(first) and first or tf.tensor(first, dtype)
      if say_shape(first.shape) ~= say_shape(shape) then
        T.fail(self.name, "weights[%d] has the shape %s, weight '%s' %s", at, say_shape(first.shape), name, say_shape(shape))
      end
      return first
    end
    return initializer(shape, dtype)
  end
  if home then
    local stand, stand_home = S.stand_ins, S.home_now
    local g <close> = home:as_default()
    local absolute <close> = tf.name_scope("")
    local free <close> = tf.control_dependencies(false)
    local first
    do
      local s <close> = T.scope(label .. "/Initializer/")
      first = T.value(value(), dtype)
    end
    v = T.variable {name = label, init = first, trainable = trainable}
    local data = T.graph_data(home)
    data.known = data.known or {}
    data.known[v.op.name] = true
    tf.add_to_collection(tf.GraphKeys.GLOBAL_VARIABLES, v)
    if trainable then tf.add_to_collection(tf.GraphKeys.TRAINABLE_VARIABLES, v) end
    S.stand_ins, S.home_now = stand, stand_home
  else
    v = tf.eager(function() return T.variable {name = label, init = T.value(value(), dtype), trainable = trainable} end)
  end
  if o.constraint then S.constraints[v] = constraints:get(o.constraint, self.name) end
  local regularizer = o.regularizer and regularizers:get(o.regularizer, self.name) or nil
  table.insert(self._own, {variable = v, trainable = trainable, name = name, regularizer = regularizer})
  return v
end
-- The weight of a role, made at the first call.
function Layer.weight(self, role, shape, dtype, proposed, state)
  local v = self._by_role[role]
  if not v then
    local field = self.weight_fields and self.weight_fields[role] or role
    local initializer = self[field .. "_initializer"]
    if initializer == nil then initializer = proposed ~= "uniform" and proposed or nil end
    if proposed == "uniform" and initializer == nil then initializer = "uniform" end
    local own = S.is_float[dtype] and not state and self.dtype or dtype -- mixed policies keep weights in float32
    v = self:add_weight {name = self.weight_names and self.weight_names[role] or role, shape = shape, dtype = own, initializer = initializer,
      regularizer = self[field .. "_regularizer"], constraint = self[field .. "_constraint"], trainable = not state}
    self._by_role[role] = v
    if self.on_weight then self:on_weight(role, v) end
  end
  return v
end
-- Runs the layer's record on `inputs` with its parameters; the first output, then the others.
function Layer.run_record(self, inputs, params, record)
  local stand = S.stand_ins
  local ok, outputs, effects = pcall(T.build_layer, record or self.record, inputs, params, function(role, shape, dtype, proposed, state)
    local v = self:weight(role, shape, dtype, proposed, state)
    if stand then
      local g <close> = stand:as_default()
      local c <close> = tf.control_dependencies(false)
      local zeros = tf.zeros(shape, dtype)
      if not state then return zeros end
      return T.variable {name = stand:unique_name "stand_in", init = zeros, trainable = false}
    end
    if state then return v end
    local value = self.adapt and self:adapt(role, v) or v -- what stands for the weight in this call
    return value.dtype ~= dtype and tf.cast(value, dtype) or value
  end)
  if not ok then -- the error says which layer it was
    if type(outputs) == "table" and outputs.op == (record or self.record) and outputs.node == nil and self.name ~= outputs.op then outputs.node = self.name end
    error(outputs, 0)
  end
  local order = self.role_order
  if order and #self._own > 1 then -- the order of get_weights is Keras', not the record's
    local at = {}
    for i, role in ipairs(order) do at[role] = i end
    table.sort(self._own, function(a, b) return (at[a.name] or 99) < (at[b.name] or 99) end)
  end
  for _, e in ipairs(effects) do
    if e.bucket == "updates" then self:add_update(e.value) else self:add_loss(e.value) end
  end
  return table.unpack(outputs)
end
-- What an instance without a call of its own does: its record with the fields that are parameters of it.
function Layer.record_params(self)
  local record, params = T.layer(self.record), {}
  for name in pairs(record.at) do
    local value = rawget(self, name)
    if value ~= nil and value ~= false or type(value) == "boolean" and record.params[record.at[name]].type == "bool" then params[name] = value end
  end
  return params
end

local function weights_of(self, wanted)
  local out, seen = {}, {}
  local function add(v)
    if not seen[v] then
      seen[v] = true
      out[#out + 1] = v
    end
  end
  local function walk(layer, frozen)
    frozen = frozen or not layer._trainable
    for _, w in ipairs(layer._own) do
      local trains = w.trainable and not frozen
      if wanted == nil or wanted == trains then add(w.variable) end
    end
    for _, inner in ipairs(layer._layers) do walk(inner, frozen) end
  end
  walk(self, false)
  return out
end
local getters = Layer.getters
function getters.trainable_weights(self) return weights_of(self, true) end
function getters.non_trainable_weights(self) return weights_of(self, false) end
-- Keras' order: of a layer the trained ones first, of a model layer by layer.
function getters.weights(self)
  if #self._layers == 0 then
    local out = {}
    for _, w in ipairs(self._own) do if w.trainable or w.adapted then out[#out + 1] = w.variable end end
    for _, w in ipairs(self._own) do if not w.trainable and not w.adapted then out[#out + 1] = w.variable end end
    return out
  end
  local out, seen = {}, {}
  local function add(list) for _, v in ipairs(list) do if not seen[v] then seen[v] = true out[#out + 1] = v end end end
  for _, w in ipairs(self._own) do add {w.variable} end
  for _, inner in ipairs(self._layers) do add(inner.weights) end
  return out
end
getters.variables, getters.trainable_variables, getters.non_trainable_variables = getters.weights, getters.trainable_weights, getters.non_trainable_weights
function getters.trainable(self) return self._trainable end
Layer.setters = {}
function Layer.setters.trainable(self, value)
  rawset(self, "_trainable", value and true or false)
  for _, inner in ipairs(self._layers) do inner.trainable = value end
  rawset(self, "step_plans", nil)
end
function Layer.get_weights(self)
  local out = {}
  for i, v in ipairs(self.weights) do out[i] = T.keras_read(v) end
  return out
end
function Layer.set_weights(self, list)
  local all = self.weights
  if #list ~= #all then
    T.fail("set_weights", "'%s' has %d weights, %d were given%s", self.name, #all, #list,
      #all == 0 and not self.built and "; it has none before it is built (call it, or build(input_shape))" or "")
  end
  for i, v in ipairs(all) do T.keras_load(v, list[i]) end
end
function Layer.count_params(self)
  if not self.built then T.fail("count_params", "'%s' is not built yet: call it, or build(input_shape), first", self.name) end
  local n = 0
  for _, v in ipairs(self.weights) do
    local size = 1
    for _, d in ipairs(v.shape) do size = size * d end
    n = n + size
  end
  return n
end

-- ------------------------------------------------------------------------------------- penalties and updates

-- add_loss(value), or add_loss(function) of no arguments, counted at each call.
function Layer.add_loss(self, value)
  if type(value) == "function" then
    table.insert(self._penalties, value)
  elseif S.call then
    table.insert(S.call.penalties, value)
  else
    table.insert(self._penalties, function() return value end)
  end
end
function Layer.add_update(self, op)
  if S.call then table.insert(S.call.updates, op) end
end
-- Penalties of weights and those that functions give, of this layer and all inside.
function Layer.collect_penalties(self, out, seen)
  seen = seen or {}
  if seen[self] then return out end
  seen[self] = true
  for _, w in ipairs(self._own) do
    if w.regularizer and not seen[w] then
      seen[w] = true
      out[#out + 1] = w.regularizer(w.variable)
    end
  end
  for _, fn in ipairs(self._penalties) do out[#out + 1] = fn() end
  for _, inner in ipairs(self._layers) do inner:collect_penalties(out, seen) end
  return out
end
function getters.losses(self)
  local out = self:collect_penalties {}
  for _, value in ipairs(rawget(self, "_last_penalties") or {}) do out[#out + 1] = value end
  return out
end
function getters.updates(self) return rawget(self, "_last_updates") or {} end

-- ------------------------------------------------------------------------------------- calls

local function is_list(x) return type(x) == "table" and T.kind(x) == nil and not is_layer(x) end
local function list_of(x) return is_list(x) and x or {x} end
S.list_of = list_of
local function shape_of(x)
  if is_list(x) then
    local out = {}
    for i, v in ipairs(x) do out[i] = shape_of(v) end
    return out
  end
  local shape = x.shape
  return shape and {table.unpack(shape)} or nil
end
S.shape_of = shape_of

-- Where the call of a script is, for errors about what was built there.
local function where()
  for level = 3, 30 do
    local info = debug.getinfo(level, "Sl")
    if not info then return nil end
    if info.what ~= "C" and not info.source:find "^[@=]?tfsdk:" and not info.source:find "^=?%[" then
      return ("%s:%d"):format(info.short_src, info.currentline)
    end
  end
end

local function check_spec(self, inputs)
  local x = list_of(inputs)[1]
  local rank = T.kind(x) and x.shape and #x.shape
  if not rank then return end
  local spec = self.ndim or rawget(self, "input_spec") and self.input_spec.ndim
  if spec and rank ~= spec then
    T.fail(self.name, "%s expects an input of rank %d%s, but its shape is %s", getmetatable(self).__name, spec,
      self.axes_text and " " .. self.axes_text or "", say_shape(x.shape))
  end
  local least = self.min_ndim
  if least and rank < least then
    T.fail(self.name, "%s expects an input of rank %d or more, but its shape is %s", getmetatable(self).__name, least, say_shape(x.shape))
  end
  local seen = rawget(self, "_seen_last")
  if seen and #self._own > 0 and self.fixed_last ~= false and x.shape[rank] ~= seen and x.shape[rank] >= 0 and self.record then
    T.fail(self.name, "%s was built%s for inputs whose last axis is %d; this one's shape is %s", getmetatable(self).__name,
      rawget(self, "_built_at") and " at " .. self._built_at or "", seen, say_shape(x.shape))
  end
end

-- The mask of an output: that of the input, where a layer keeps masks.
function Layer.compute_mask(self, inputs, mask)
  if self.supports_masking then
    if is_list(mask) then return mask[1] or nil end
    return mask
  end
end
local function mask_of(inputs)
  if not is_list(inputs) then return S.masks[inputs] end
  local out, any = {}, false
  for i, x in ipairs(inputs) do
    out[i] = T.kind(x) and S.masks[x] or false
    any = any or out[i]
  end
  return any and out or nil
end

-- Values of other floating types come to the type that the layer computes in.
local function autocast(self, inputs)
  local dtype = self.compute_dtype
  if self.autocast == false or not S.is_float[dtype] then return inputs end
  local function one(x)
    if T.kind(x) and x.dtype ~= dtype and S.is_float[x.dtype] then
      local y = tf.cast(x, dtype)
      S.masks[y] = S.masks[x]
      return y
    end
    return x
  end
  if not is_list(inputs) then return one(inputs) end
  local out
  for i, x in ipairs(inputs) do
    local y = one(x)
    if y ~= x then
      out = out or {table.unpack(inputs)}
      out[i] = y
    end
  end
  return out or inputs
end

local function run(self, inputs, o)
  local outer = S.call
  local training = o.training
  if training == nil then training = outer and outer.training end
  if training == nil then training = S.phase end
  if training == nil then training = false end
  if training == 1 then training = true elseif training == 0 then training = false end
  local call = outer or {penalties = {}, updates = {}, training = training}
  local mask = o.mask
  if mask == nil then mask = mask_of(inputs) end
  local before = call.training
  call.training = training
  local results = S.in_call(call, function()
    check_spec(self, inputs)
    inputs = autocast(self, inputs)
    if not self.built then
      if rawget(self, "_built_at") == nil then rawset(self, "_built_at", where()) end
      local build = self.build
      if build and build ~= Layer.build then
        local x = shape_of(inputs)
        build(self, x)
      end
      local x = list_of(inputs)[1]
      if T.kind(x) and x.shape and self.record then rawset(self, "_seen_last", x.shape[#x.shape]) end
    end
    local extra = {}
    for key, value in pairs(o) do extra[key] = value end
    extra.training, extra.mask = training, mask
    local y = table.pack(self:call(inputs, extra))
    rawset(self, "built", true)
    if y.n <= 1 then return y[1] end
    y.n = nil
    return y
  end)
  call.training = before
  if results == nil then T.fail(self.name, "call() of %s gave nothing; it must give its output", getmetatable(self).__name) end
  if self.activity_regularizer then
    for _, y in ipairs(list_of(results)) do
      local n = tf.cast(tf.shape(y)[1], y.dtype)
      table.insert(call.penalties, self.activity_regularizer(y) / n)
    end
  end
  local out_mask = self:compute_mask(inputs, mask)
  if out_mask then
    if is_list(results) then
      if is_list(out_mask) then for i, m in ipairs(out_mask) do if m then S.masks[results[i]] = m end end end
    else
      S.masks[results] = is_list(out_mask) and out_mask[1] or out_mask
    end
  end
  if not outer then
    rawset(self, "_last_penalties", call.penalties)
    rawset(self, "_last_updates", call.updates)
  end
  return results
end

local function symbolic(inputs)
  for _, x in ipairs(list_of(inputs)) do
    if T.kind(x) == "Node" and S.history[x] then return x.graph end
  end
end
-- Remembers that this layer made `outputs` of `inputs`, so that a model can do it again.
function S.note(self, inputs, outputs, o)
  local keep = {}
  for key, value in pairs(o) do keep[key] = value end
  local record = {layer = self, inputs = inputs, outputs = outputs, options = keep}
  table.insert(self.inbound_nodes, record)
  record.number = #self.inbound_nodes - 1
  for i, y in ipairs(list_of(outputs)) do
    if T.kind(y) then S.history[y] = {record = record, index = i} end
  end
end
local function gather(first, ...)
  local args = table.pack(...)
  local o = {}
  if args.n > 0 and not T.kind(args[args.n]) and type(args[args.n]) == "table" and getmetatable(args[args.n]) == nil then
    o = args[args.n]
    args.n = args.n - 1
  end
  if args.n == 0 then return first, o end
  local list = {first}
  for i = 1, args.n do list[#list + 1] = args[i] end
  return list, o
end
function Layer.__call(self, first, ...)
  local inputs, o = gather(first, ...)
  local plain <close> = T.emission_policy() and T.enter_policy(false) or nil -- a layer casts by its own policy
  if inputs == nil then T.fail(self.name, "%s is called without an input", getmetatable(self).__name) end
  if is_list(inputs) and #inputs > 0 and not T.kind(inputs[1]) and not is_list(inputs[1]) and type(inputs[1]) == "number" then inputs = tf.tensor(inputs) end
  local graph = symbolic(inputs)
  local y
  if graph and graph == S.symbols then
    y = S.with_stand_ins(graph, S.home_now or false, function()
      local s <close> = T.scope(self.name)
      return run(self, inputs, o)
    end)
  elseif graph or not tf.executing_eagerly() and not S.stand_ins then
    local s <close> = T.scope(self.name)
    y = run(self, inputs, o)
  else
    y = run(self, inputs, o)
  end
  if graph then
    -- a layer that hands its input on makes a value of its own, so that both can be told apart
    local seen = {}
    for _, x in ipairs(list_of(inputs)) do seen[x] = true end
    local function fresh(v)
      if T.kind(v) == "Node" and (seen[v] or S.history[v]) then
        local m = S.masks[v]
        local g <close> = v.graph:as_default()
        v = tf.identity(v)
        S.masks[v] = m
      end
      return v
    end
    if is_list(y) then for i, v in ipairs(y) do y[i] = fresh(v) end else y = fresh(y) end
    S.note(self, inputs, y, o)
  end
  return y
end
function Layer.call(self, inputs)
  if self.record then return self:run_record(list_of(inputs), self:record_params()) end
  return inputs
end
-- Makes the weights for inputs of that shape.
function Layer.build(self, shape)
  if self.built or shape == nil then return end
  self:compute_output_shape(shape, true)
end
-- A copy of a layer that is not built, and of those inside it, which forgets what it learns.
local function ghost(self, known)
  if self.built then return self end
  if known[self] then return known[self] end
  local object = setmetatable({}, getmetatable(self))
  known[self] = object
  for key, value in next, self do
    if is_layer(value) then
      value = ghost(value, known)
    elseif type(value) == "table" and getmetatable(value) == nil and is_layer(value[1]) then
      local list = {}
      for i, x in ipairs(value) do list[i] = is_layer(x) and ghost(x, known) or x end
      value = list
    end
    rawset(object, key, value)
  end
  for _, key in ipairs {"_own", "_penalties", "inbound_nodes"} do rawset(object, key, {table.unpack(rawget(self, key))}) end
  rawset(object, "_by_role", {})
  return object
end
-- The shape of the output for inputs of that shape; -1: unknown. `keep`: the weights stay.
function Layer.compute_output_shape(self, shape, keep)
  local home = S.home()
  local nested = type(shape[1]) == "table"
  local graph = tf.Graph()
  local object = self
  if not keep and not self.built then -- what it learns here is forgotten
    object = ghost(self, {})
    home = tf.Graph()
  end
  local y = S.with_stand_ins(graph, home, function()
    local function input(s)
      local list = {}
      for i, d in ipairs(s) do list[i] = math.type(d) == "integer" and d or -1 end
      return tf.placeholder(self.input_dtype or S.is_float[self.compute_dtype] and self.compute_dtype or "float32", list)
    end
    local x
    if nested then
      x = {}
      for i, s in ipairs(shape) do x[i] = input(s) end
    else
      x = input(shape)
    end
    return run(object, x, {})
  end)
  return shape_of(y)
end

-- ------------------------------------------------------------------------------------- what it is connected to

local function nth(self, i, what)
  local record = self.inbound_nodes[i]
  if not record then
    T.fail(self.name, "'%s' of %s is not there: the layer was %s", what, getmetatable(self).__name,
      #self.inbound_nodes == 0 and "not called on a symbolic value yet" or ("called %d times"):format(#self.inbound_nodes))
  end
  return record
end
local function only(self, what)
  if #self.inbound_nodes > 1 and what ~= nil then
    T.fail(self.name, "the layer was called %d times, so '%s' is not one thing; take get_%s_at(i)", #self.inbound_nodes, what, what)
  end
  return nth(self, 1, what)
end
function getters.input(self) return only(self, "input").inputs end
function getters.output(self) return only(self, "output").outputs end
function getters.input_shape(self) return shape_of(only(self, "input").inputs) end
function getters.output_shape(self) return shape_of(only(self, "output").outputs) end
function getters.input_mask(self) return mask_of(only(self, "input").inputs) end
function getters.output_mask(self) return mask_of(only(self, "output").outputs) end
-- Counted from 1, as lists in Lua are.
function Layer.get_input_at(self, i) return nth(self, i, "input").inputs end
function Layer.get_output_at(self, i) return nth(self, i, "output").outputs end
function Layer.get_input_shape_at(self, i) return shape_of(nth(self, i, "input").inputs) end
function Layer.get_output_shape_at(self, i) return shape_of(nth(self, i, "output").outputs) end

-- ------------------------------------------------------------------------------------- configuration

local function plain(value, kind)
  if kind == activations and not value then return "linear" end
  if value == nil or value == false and kind then return tf.json.null end
  if kind == activations then return activations.serialize(value) end
  if kind then return kind:serialize(value) end
  if is_layer(value) then return T.namespace "tf.keras.layers".serialize(value) end
  return value
end
function Layer.get_config(self)
  local out = {name = self.name, trainable = self._trainable, dtype = self.dtype_policy.name}
  if rawget(self, "batch_input_shape") then
    local shape = {}
    for i, d in ipairs(self.batch_input_shape) do shape[i] = d >= 0 and d or tf.json.null end
    out.batch_input_shape = shape
  end
  local names = rawget(getmetatable(self), "names") or self.names
  for _, name in ipairs(names or {}) do
    out[name] = plain(rawget(self, name), kinds[name:match "[^_]*$"])
  end
  if rawget(self, "activity_regularizer") then out.activity_regularizer = regularizers:serialize(self.activity_regularizer) end
  return out
end
-- The class's own constructor with what get_config gave; names that other versions write are left out.
function Layer.from_config(class, config)
  local known, o = {}, {}
  for _, name in ipairs(class.names or {}) do known[name] = true end
  for _, name in ipairs(common_names) do known[name] = true end
  for key, value in pairs(config) do
    if value ~= tf.json.null and (known[key] or not class.new) then o[key] = value end
  end
  if config.batch_input_shape and config.batch_input_shape ~= tf.json.null then
    o.batch_input_shape = {}
    for i, d in ipairs(config.batch_input_shape) do o.batch_input_shape[i] = d == tf.json.null and -1 or d end
  end
  if class.new then return class.new(o) end
  return class(o)
end
function Layer.__tostring(self)
  local shape = self.inbound_nodes[1] and shape_of(self.inbound_nodes[1].outputs)
  local text = shape and type(shape[1]) ~= "table" and ", output_shape=" .. say_shape(shape) or ""
  return ("<%s name=%s%s>"):format(getmetatable(self).__name, self.name, text)
end

Layer.__index = function(_, key) return Layer[key] end
new_class("Layer", nil, Layer)
S.Layer = Layer
S.classes.Layer = Layer
rawset(layers, "Layer", Layer)
return Layer
