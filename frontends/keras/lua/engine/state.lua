-- What all layers and models share: sessions, names, who made a value, masks, the call that is going on.
--
-- A layer lives in a graph (the default one when its weights are made) or in define-by-run mode. In define-by-run mode symbolic
-- values (what Input gives) are nodes of a graph of their own, which tells shapes and is never run.
local tf, T = ...
local S = {}
local weak = {__mode = "k"}

S.history = setmetatable({}, weak)     -- node -> {record =, index =}: what made it
S.masks = setmetatable({}, weak)       -- value -> mask
S.constraints = setmetatable({}, weak) -- variable -> constraint
S.made_at = setmetatable({}, weak)     -- variable -> "script.lua:12"
function T.keras_constraint_of(v) return S.constraints[v] end

-- ------------------------------------------------------------------------------------- sessions

local sessions = setmetatable({}, weak) -- graph -> {session =, known = {names of initialised variables}}
local function entry(graph)
  local e = sessions[graph]
  if not e or e.session.closed then
    e = {session = graph:as_default(function() return tf.Session() end), known = {}}
    sessions[graph] = e
  end
  return e
end
function S.session(graph) return entry(graph).session end
function S.set_session(session, graph) sessions[graph] = {session = session, known = {}} end
-- Variables that have no value yet get their first one.
function S.initialize(graph)
  local e, new = entry(graph), {}
  for _, v in ipairs(T.variables(graph)) do
    if not e.known[v.name] then
      e.known[v.name] = true
      if not e.session:run(graph:as_default(function() return tf.is_variable_initialized(v) end)) then new[#new + 1] = v end
    end
  end
  if #new > 0 then graph:as_default(function() e.session:run(tf.variables_initializer(new)) end) end
  return e.session
end
-- The value of a variable, and a new one, in either mode.
function T.keras_read(v)
  if not v.graph then return v:value() end
  return S.initialize(v.graph):run(v, nil, {raw = true})
end
function T.keras_load(v, value)
  if not T.kind(value) then value = tf.tensor(value, v.dtype) end
  if table.concat(value.shape, "x") ~= table.concat(v.shape, "x") then
    T.fail("set_weights", "weight '%s' has the shape {%s}, the value {%s}", v.name, table.concat(v.shape, ", "), table.concat(value.shape, ", "))
  end
  if value.dtype ~= v.dtype then value = tf.cast(value, v.dtype) end
  if v.graph then v:load(value, S.initialize(v.graph)) else tf.eager(function() v:assign(value) end) end
end

-- ------------------------------------------------------------------------------------- names

local counters = {}
function S.snake(class)
  return (class:gsub("%W", ""):gsub("(.)(%u%l+)", "%1_%2"):gsub("(%l)(%u)", "%1_%2"):lower())
end
-- dense, dense_1, dense_2 ...
function S.unique(word)
  local n = counters[word]
  counters[word] = (n or 0) + 1
  return n and ("%s_%d"):format(word, n) or word
end
function S.clear()
  counters = {}
  for graph, e in pairs(sessions) do
    if not e.session.closed then e.session:close() end
    sessions[graph] = nil
  end
  S.symbols = nil
end

-- ------------------------------------------------------------------------------------- modes

-- The graph of symbolic values: the default one, or in define-by-run mode one that only tells shapes.
function S.symbolic_graph()
  if not tf.executing_eagerly() then return tf.get_default_graph() end
  S.symbols = S.symbols or tf.Graph()
  return S.symbols
end
-- Where weights belong: a graph, or false for define-by-run.
function S.home()
  if S.home_now ~= nil then return S.home_now end
  return not tf.executing_eagerly() and tf.get_default_graph() or false
end
-- Runs fn on nodes of `graph`, whose weights live in `home` (another graph, or define-by-run): zeros stand for them.
function S.with_stand_ins(graph, home, fn)
  local before, outer_home = S.stand_ins, S.home_now
  S.stand_ins, S.home_now = graph, home
  local stand = {}
  local outer = T.capturing(function(v)
    local c <close> = tf.control_dependencies(false)
    stand[v] = stand[v] or tf.zeros(v.shape, v.dtype)
    return stand[v]
  end)
  local results = table.pack(pcall(function() return graph:as_default(fn) end))
  T.capturing(outer)
  S.stand_ins, S.home_now = before, outer_home
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

-- ------------------------------------------------------------------------------------- calls

-- The call of a model or layer that is going on: {training =, penalties = {}, updates = {}}.
S.call = nil
function S.in_call(call, fn, ...)
  local outer = S.call
  S.call = call
  local results = table.pack(pcall(fn, ...))
  S.call = outer
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end
S.phase = nil -- keras.backend.set_learning_phase
return S
