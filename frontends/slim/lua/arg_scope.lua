-- arg_scope: default arguments for layers. A stack of tables {function -> {name = value}}: entering a scope copies the
-- table on top and updates it function by function; leaving restores the one below. What a call gives itself wins.
--
--   slim.arg_scope({slim.conv2d, slim.fully_connected}, {activation_fn = tf.nn.relu}, function(scope) ... end)
--   slim.arg_scope(scope, function() ... end)          re-enters a captured scope exactly
--   local s <close> = slim.arg_scope({slim.conv2d}, {padding = "SAME"})
local tf, T = ...
local slim = T.namespace "tf.slim"

local stack = {{}}
local decorated = setmetatable({}, {__mode = "k"}) -- function -> {name =, places = {name -> position}, n =}

local Scope = {}
Scope.__index = Scope
Scope.__name = "ArgScope"
function Scope:close()
  if not self.depth then return end
  for i = #stack, self.depth, -1 do stack[i] = nil end -- scopes inside that were left open end with it
  self.depth = nil
end
Scope.__close = Scope.close
Scope.__tostring = function(self)
  local n = 0
  for _ in pairs(self.args) do n = n + 1 end
  return ("ArgScope(%d functions)"):format(n)
end

local function current() return stack[#stack] end
function slim.current_arg_scope() return setmetatable({args = current()}, Scope) end

local function copy(t)
  local out = {}
  for k, v in pairs(t) do out[k] = v end
  return out
end

-- Puts the options of the scope behind those that the call gives. `places`: parameters given by position count as given.
local function with_defaults(info, key, ...)
  local defaults = current()[key]
  if not defaults then return ... end
  local args = table.pack(...)
  local given, n = {}, args.n
  if n > 0 and (T.is_options(args[n]) or (info.options_at and n == info.options_at and type(args[n]) == "table" and not T.kind(args[n]))) then
    given, n = args[n], n - 1
  end
  local merged = copy(given)
  for name, value in pairs(defaults) do
    local place = info.places and info.places[name]
    if merged[name] == nil and not (place and place <= n and args[place] ~= nil) then merged[name] = value end
  end
  if next(merged) == nil then return table.unpack(args, 1, n) end
  local at = n + 1
  if info.options_at and info.options_at > at then at = info.options_at end
  for i = n + 1, at - 1 do args[i] = nil end
  args[at] = merged
  return table.unpack(args, 1, at)
end

local function decorate(fn, info)
  local wrapped
  function wrapped(...) return fn(with_defaults(info, wrapped, ...)) end
  decorated[wrapped] = info
  return wrapped
end

-- A layer of the library: `signature` as of the facade's functions. Known under every name of `names`.
function T.slim_layer(names, signature, fn)
  local first = names:match "%S+"
  local places, defaults, n = {}, {}, 0
  for word in signature:gmatch "%S+" do
    n = n + 1
    for name in word:match "^[^?=]*":gmatch "[^|]+" do places[name] = n end
    local name, value = word:match "^([^|?=]*)[^=]*=(.*)$"
    if value == "true" or value == "false" then value = value == "true" end
    if name then defaults[name] = tonumber(value) or value end
  end
  local layer = decorate(T.bind("slim." .. first, signature, fn), {name = first, places = places, defaults = defaults})
  for name in names:gmatch "%S+" do rawset(slim, name, layer) end
  return layer
end

-- slim.add_arg_scope(fn): makes a function of the script's own take part. Its last parameter is the table of options;
-- with a signature ("inputs depth stride=1 scope?") it gets one value for each parameter instead.
function slim.add_arg_scope(fn, signature, name)
  if type(fn) ~= "function" then T.fail("slim.add_arg_scope", "expected a function, got %s", T.kind(fn) or type(fn)) end
  if decorated[fn] then return fn end
  name = name or "function"
  if signature then
    local places, n = {}, 0
    for word in signature:gmatch "%S+" do
      n = n + 1
      for key in word:match "^[^?=]*":gmatch "[^|]+" do places[key] = n end
    end
    return decorate(T.bind(name, signature, fn), {name = name, places = places})
  end
  local u = debug.getinfo(fn, "u")
  return decorate(fn, {name = name, options_at = not u.isvararg and u.nparams > 0 and u.nparams or nil})
end
function slim.has_arg_scope(fn) return decorated[fn] ~= nil end
function T.slim_name(fn) return decorated[fn] and decorated[fn].name end
-- The names that a function takes from scopes.
function slim.arg_scoped_arguments(fn)
  local info = decorated[fn]
  if not info then T.fail("slim.arg_scoped_arguments", "the function does not take part in arg_scope (add_arg_scope)") end
  local out = {}
  for name in pairs(info.places or {}) do out[#out + 1] = name end
  table.sort(out)
  return out
end

-- What the arguments are when neither the call nor a scope gives them; those that are left out follow from others.
function slim.default_arguments(fn)
  local info = decorated[fn]
  if not info then T.fail("slim.default_arguments", "the function does not take part in arg_scope (add_arg_scope)") end
  return copy(info.defaults or {})
end

local function enter(args, fn)
  stack[#stack + 1] = args
  local s = setmetatable({args = args, depth = #stack}, Scope)
  if not fn then return s end
  local guard <close> = s
  return fn(s)
end

function slim.arg_scope(list, kwargs, fn)
  local who = "slim.arg_scope"
  if type(list) == "table" and getmetatable(list) == Scope then
    if type(kwargs) == "function" then kwargs, fn = nil, kwargs end
    if kwargs ~= nil and (type(kwargs) ~= "table" or next(kwargs) ~= nil) then
      T.fail(who, "a captured scope is entered as it is: options go to an arg_scope inside it")
    end
    return enter(list.args, fn)
  end
  if type(list) == "function" then list = {list} end
  if type(list) ~= "table" or T.kind(list) then
    T.fail(who, "expected a list of layers or a captured scope, got %s", T.kind(list) or type(list))
  end
  if type(kwargs) == "function" and fn == nil then kwargs, fn = {}, kwargs end
  if kwargs == nil then kwargs = {} end
  if type(kwargs) ~= "table" or T.kind(kwargs) then T.fail(who, "the defaults must be a table of options, not %s", T.kind(kwargs) or type(kwargs)) end
  for name in pairs(kwargs) do
    if type(name) ~= "string" then T.fail(who, "the table of options has the key [%s]; options have names", name) end
  end
  local args = copy(current())
  for i, op in ipairs(list) do
    if not decorated[op] then
      T.fail(who, "entry %d of the list (%s) does not take part in arg_scope; slim.add_arg_scope makes a function that does", i, T.kind(op) or type(op))
    end
    local merged, places = copy(args[op] or {}), decorated[op].places
    for name, value in pairs(kwargs) do
      if places and not places[name] then
        local known = {}
        for have in pairs(places) do known[#known + 1] = have end
        table.sort(known)
        local near = T.nearest(name, known)
        T.fail(who, "slim.%s has no option '%s'%s", decorated[op].name, name, near and ("; did you mean '%s'?"):format(near) or "")
      end
      merged[name] = value
    end
    args[op] = merged
  end
  return enter(args, fn)
end
