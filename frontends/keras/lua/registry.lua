-- Classes that have a name, a configuration and a place in a list: losses, metrics, optimizers, initializers and the like.
-- Each kind answers what a model may write for it: a name (`"mse"`, `"MeanSquaredError"`), an object, a function, or
-- {class_name =, config =}.
--
--     local losses = registry("losses", "loss")
--     losses:class("Huber", "delta=1 reduction=sum_over_batch_size name=huber_loss", methods, Base)
--     losses:alias("Huber", "huber", "huber_loss")
--     losses:get "huber"
local tf, T = ...
local Kind = {}
Kind.__index = Kind

-- BatchNormalization -> batch_normalization; names that Keras writes in its own way are given by hand.
local function snake(name)
  return (name:gsub("(%l)(%u)", "%1_%2"):gsub("(%u)(%u%l)", "%1_%2"):gsub("(%a)(%d%a)", "%1_%2"):lower())
end

-- Whether x is an object of this kind.
function Kind:is(x)
  if type(x) ~= "table" then return false end
  local class = getmetatable(x)
  while type(class) == "table" do
    if class == self.base then return true end
    local above = getmetatable(class) -- a class of a script hangs on its base by __index
    class = above and (type(rawget(above, "__index")) == "table" and above.__index or above) or nil
  end
  return false
end

local function copied(value)
  if type(value) ~= "table" or T.kind(value) or getmetatable(value) then return value end
  local out = {}
  for k, v in pairs(value) do out[k] = copied(v) end
  return out
end

-- Makes a class. `signature` as T.def takes it; the object's fields are the arguments. A class may say `init(self, path)`.
function Kind:class(name, signature, class, base)
  local path = self.path .. "." .. name
  class = class or {}
  class.__index = class
  class.__name = name
  class.signature, class.kind = signature, self
  -- What an operator of an object does is looked up in its own class only.
  for _, event in ipairs {"__call", "__tostring"} do
    if rawget(class, event) == nil and (base or self.base) then class[event] = (base or self.base)[event] end
  end
  setmetatable(class, base or self.base)
  local names = {}
  for word in signature:gmatch "%S+" do names[#names + 1] = word:match "^[^|?=]*" end
  class.names = names
  T.def(path, signature, function(...)
    local self_ = setmetatable({}, class)
    for i, field in ipairs(names) do self_[field] = copied((select(i, ...))) end
    if class.init then class.init(self_, path) end
    return self_
  end)
  class.new = T.namespace(self.path)[name]
  self.classes[name] = class
  self.order[#self.order + 1] = name
  self:alias(name, snake(name))
  return class
end
function Kind:alias(name, ...)
  for _, other in ipairs {...} do
    self.names[other] = name
  end
end
-- Other capitalised names of a class, in the namespace as well: keras.initializers.GlorotUniform and glorot_uniform.
function Kind:public(name, ...)
  local space = T.namespace(self.path)
  for _, other in ipairs {...} do
    rawset(space, other, self.classes[name].new)
    self.names[other] = name
  end
end

function Kind:known()
  local list = {}
  for name in pairs(self.classes) do list[#list + 1] = name end
  for name in pairs(self.names) do list[#list + 1] = name end
  table.sort(list)
  return list
end
function Kind:find(name)
  local custom = self.custom(name)
  if custom ~= nil then return custom end
  return self.classes[name] or self.classes[self.names[name] or self.names[name:lower()] or false]
end
function Kind:unknown(who, name)
  local list = self:known()
  local near = T.nearest(name, list)
  T.fail(who or self.path .. ".get", "there is no %s '%s'%s", self.word, name, near and ("; did you mean '%s'?"):format(near) or "")
end

-- nil and false stay; a function is handed back as it is.
function Kind:get(x, who)
  if x == nil or x == false or x == tf.json.null then return nil end
  if type(x) == "function" or self:is(x) then return x end
  if type(x) == "string" then
    local class = self:find(x)
    if class == nil then self:unknown(who, x) end
    if type(class) == "function" then return class end
    if class.new == nil then return class end -- an object of a custom scope
    return class.new()
  end
  if type(x) == "table" and x.class_name then return self:deserialize(x, who) end
  T.fail(who or self.path .. ".get", "a %s is a name, a function or an object, not %s", self.word, T.kind(x) or type(x))
end
function Kind:deserialize(x, who)
  if type(x) == "string" then return self:get(x, who) end
  local class = self:find(x.class_name)
  if class == nil then self:unknown(who, tostring(x.class_name)) end
  if type(class) == "function" then return class end
  local config = {}
  local known = {}
  for _, name in ipairs(class.names) do known[name] = true end
  for key, value in pairs(x.config or {}) do
    if value ~= tf.json.null and (known[key] or not class.lenient) then config[key] = value end
  end
  if class.from_config then return class.from_config(config) end
  -- what other versions write and this one does not know is left out
  for key in pairs(config) do
    if not known[key] then config[key] = nil end
  end
  return class.new(config)
end
function Kind:serialize(x)
  if x == nil or x == false then return tf.json.null end
  if type(x) == "function" then
    for name, class in pairs(self.functions) do if class == x then return name end end
    T.fail(self.path .. ".serialize", "a function of the script has no name to be saved by; put it into keras.utils.custom_object_scope and give its name")
  end
  return {class_name = getmetatable(x).__name, config = x:get_config()}
end

-- What all objects of a kind have.
local Object = {}
function Object:get_config()
  local out = {}
  for _, name in ipairs(getmetatable(self).names) do
    local value = self[name]
    if value == nil then value = tf.json.null end
    out[name] = copied(value)
  end
  return out
end
function Object:__tostring()
  local class, parts = getmetatable(self), {}
  for _, name in ipairs(class.names) do
    local value = self[name]
    if type(value) == "number" or type(value) == "string" or type(value) == "boolean" then
      parts[#parts + 1] = ("%s=%s"):format(name, tostring(value))
    end
  end
  return ("%s(%s)"):format(class.__name, table.concat(parts, ", "))
end

-- The namespace tf.keras.SPACE, to be seen from the one above it.
function T.keras_namespace(space)
  local path = "tf.keras"
  for word in space:gmatch "[^.]+" do
    local above = T.namespace(path)
    path = path .. "." .. word
    rawset(above, word, T.namespace(path))
  end
  return T.namespace(path)
end

local kinds = {}
-- registry(namespace below tf.keras, what one of them is called)
local function registry(space, word, base)
  if kinds[space] then return kinds[space] end
  base = base or {}
  base.__index = base
  for name, fn in pairs(Object) do if base[name] == nil then base[name] = fn end end
  local kind = setmetatable({path = "tf.keras." .. space, word = word, base = base, classes = {}, names = {}, functions = {}, order = {}}, Kind)
  -- The names of an open custom_object_scope come first.
  function kind.custom(name)
    local scopes = T.keras_custom_objects or {}
    for i = #scopes, 1, -1 do
      local found = scopes[i][name]
      if found ~= nil then
        if type(found) == "table" and found.new == nil and getmetatable(found) == nil then return nil end
        return found
      end
    end
  end
  kinds[space] = kind
  local public = T.keras_namespace(space)
  function public.get(x) return kind:get(x) end
  function public.serialize(x) return kind:serialize(x) end
  function public.deserialize(x) return kind:deserialize(x) end
  return kind
end
T.keras_registry = registry
return registry
