-- provides tf: GraphKeys add_to_collection add_to_collections get_collection get_collection_ref get_default_session Session InteractiveSession ConfigProto GPUOptions errors
-- provides Graph: add_to_collection add_to_collections get_collection get_collection_ref clear_collection get_all_collection_keys name_scope device control_dependencies colocate_with as_graph_element is_feedable get_name_scope
-- provides Session: as_default make_callable
-- provides Operation: run values
-- provides Node: consumers
-- Collections, sessions, and the methods of graphs that take names.
local tf, T = ...
local Graph, Session = T.namespace "Graph", T.namespace "Session"

local keys = {GLOBAL_VARIABLES = "variables", TABLE_INITIALIZERS = "table_initializer"}
for name in ([[LOCAL_VARIABLES METRIC_VARIABLES MODEL_VARIABLES TRAINABLE_VARIABLES SUMMARIES QUEUE_RUNNERS
  ASSET_FILEPATHS MOVING_AVERAGE_VARIABLES REGULARIZATION_LOSSES CONCATENATED_VARIABLES SAVERS WEIGHTS BIASES
  ACTIVATIONS UPDATE_OPS LOSSES SAVEABLE_OBJECTS RESOURCES LOCAL_RESOURCES INIT_OP LOCAL_INIT_OP READY_OP
  READY_FOR_LOCAL_INIT_OP SUMMARY_OP GLOBAL_STEP EVAL_STEP TRAIN_OP COND_CONTEXT WHILE_CONTEXT]]):gmatch "%S+" do
  keys[name] = name:lower()
end
keys.COND_CONTEXT = "cond_context"
tf.GraphKeys = keys

-- ------------------------------------------------------------------------------------- collections

local function collections(graph)
  local data = T.graph_data(graph)
  data.collections = data.collections or {}
  return data.collections
end
local function add(graph, name, value)
  local all = collections(graph)
  all[name] = all[name] or {}
  table.insert(all[name], value)
end
T.add_to_collection = add
local buckets = {[keys.UPDATE_OPS] = 1, [keys.LOSSES] = 2, [keys.SUMMARIES] = 3}
local function reference(graph, name)
  if name == keys.GLOBAL_VARIABLES or name == keys.TRAINABLE_VARIABLES then
    if T.sync_variables == nil then local _ = tf.global_variables end -- loads it
    T.sync_variables(graph)
  end
  if buckets[name] then -- what layers that were built in C have put there
    local data, list = T.graph_data(graph), T.bucket(graph or tf.get_default_graph(), buckets[name])
    data.seen = data.seen or {}
    for i = (data.seen[name] or 0) + 1, #list do add(graph, name, list[i]) end
    data.seen[name] = #list
  end
  local all = collections(graph)
  all[name] = all[name] or {}
  return all[name]
end
-- The name of a collection, which must be a string.
local function key_of(name, who)
  if type(name) ~= "string" then T.fail(who, "'name' must be the name of a collection (tf.GraphKeys has the usual ones), not %s", name == nil and "nil" or T.kind(name) or "a " .. type(name)) end
  return name
end
-- Members whose name begins with the scope, or that a Lua pattern matches there.
local function get(graph, name, scope)
  local out = {}
  for _, v in ipairs(reference(graph, name)) do
    local label = T.kind(v) and (T.kind(v) == "Operation" and v.name or v.name) or type(v) == "table" and v.name or nil
    if not scope or scope == "" or (type(label) == "string" and (label:sub(1, #scope) == scope or label:find("^" .. scope))) then
      out[#out + 1] = v
    end
  end
  return out
end
function Graph.add_to_collection(g, name, value) add(g, key_of(name, "add_to_collection"), value) end
function Graph.add_to_collections(g, names, value)
  if type(names) == "string" then names = {names} end
  for _, name in ipairs(names) do add(g, name, value) end
end
function Graph.get_collection(g, name, scope) return get(g, key_of(name, "get_collection"), scope) end
function Graph.get_collection_ref(g, name) return reference(g, key_of(name, "get_collection_ref")) end
function Graph.clear_collection(g, name) collections(g)[name] = nil end
function Graph.get_all_collection_keys(g)
  local out = {}
  for name, list in pairs(collections(g)) do if #list > 0 then out[#out + 1] = name end end
  table.sort(out)
  return out
end
function tf.add_to_collection(name, value)
  if value == nil then T.fail("tf.add_to_collection", "argument 'value' is missing") end
  add(nil, key_of(name, "tf.add_to_collection"), value)
end
function tf.add_to_collections(names, value)
  for _, name in ipairs(type(names) == "string" and {names} or names) do tf.add_to_collection(name, value) end
end
function tf.get_collection(name, scope)
  if type(scope) == "table" and scope.scope then scope = scope.scope end
  return get(nil, key_of(name, "tf.get_collection"), scope)
end
function tf.get_collection_ref(name) return reference(nil, key_of(name, "tf.get_collection_ref")) end

-- Scopes of one graph: the graph is the default one inside, too.
for _, name in ipairs {"name_scope", "device", "control_dependencies", "colocate_with"} do
  Graph[name] = function(g, value, fn)
    if fn then
      return g:as_default(function() return tf[name](value, fn) end)
    end
    local outer = g:as_default()
    local ok, inner = pcall(tf[name], value)
    outer:close()
    if not ok then error(inner, 0) end
    return inner
  end
end
function Graph.get_name_scope(g)
  local s <close> = g:as_default()
  return (T.name_scope():gsub("/$", ""))
end
function Graph.as_graph_element(g, x)
  if type(x) == "string" then
    return x:find ":" and g:get_tensor_by_name(x) or g:get_operation_by_name(x)
  end
  return x
end
function Graph.is_feedable(_, x) return T.kind(x) == "Node" end

-- ------------------------------------------------------------------------------------- sessions

local sessions = {} -- the stack of default sessions
function tf.get_default_session() return sessions[#sessions] end

local Scope = {}
Scope.__index = Scope
function Scope:close()
  for i = #sessions, 1, -1 do
    if sessions[i] == self.session then table.remove(sessions, i) break end
  end
  if self.graph then self.graph:close() end
end
Scope.__close = Scope.close
-- sess:as_default(fn), or in a <close> variable: the session of x:eval(), its graph the default one.
function Session.as_default(session, fn)
  sessions[#sessions + 1] = session
  local s = setmetatable({session = session, graph = session.graph:as_default()}, Scope)
  if not fn then return s end
  local guard <close> = s
  return fn(session)
end
-- A function of the fed values in the order of feed_list.
function Session.make_callable(session, fetches, feed_list)
  feed_list = feed_list or {}
  local feeds = {}
  return function(...)
    local n = select("#", ...)
    if n ~= #feed_list then T.fail("make_callable", "%d values for %d feeds", n, #feed_list) end
    for i = 1, n do feeds[feed_list[i]] = (select(i, ...)) end
    return session:run(fetches, feeds)
  end
end

-- tf.Session{graph=, device=, threads=, memory_limit=, allow_soft_placement=, log_device_placement=, seed=, passes=}
-- passes: how plans are made, as in TFSDK_PASSES: "-fuse,-merge" leaves these out, "none" all
local open = T.bind("tf.Session", "target? graph? config? device? threads? memory_limit? allow_soft_placement? log_device_placement? seed? passes?",
  function(_, graph, config, device, threads, limit, soft, log, seed, passes)
    config = config or {}
    local function pick(a, key) if a == nil then return config[key] end return a end
    return T.session{graph = graph, device = pick(device, "device"), allow_soft_placement = pick(soft, "allow_soft_placement"),
      log_device_placement = pick(log, "log_device_placement"), seed = seed, threads = threads, memory_limit = limit,
      passes = pick(passes, "passes")}
  end)
function tf.Session(...)
  local args = table.pack(...)
  if args.n > 0 and (type(args[1]) == "boolean" or type(args[1]) == "number") then
    T.fail("tf.Session", "takes a table of options: {graph =, device =, ...}, not a %s", type(args[1]))
  end
  if type(args[args.n]) == "function" then
    local s <close> = open(table.unpack(args, 1, args.n - 1))
    return s:as_default(args[args.n])
  end
  return open(...)
end
function tf.InteractiveSession(...)
  local s = open(...)
  sessions[#sessions + 1] = s
  return s
end
-- Settings as a table, as TensorFlow's scripts make them.
function tf.ConfigProto(options) return options or {} end
function tf.GPUOptions(options) return options or {} end

-- An operation run by itself, and who reads a node.
T.namespace "Operation".run = function(op, feeds, session)
  session = session or tf.get_default_session()
  if not session then T.fail("run", "there is no default session; give one: op:run(feeds, session)") end
  return session:run(op, feeds)
end
T.namespace "Operation".values = function(op) return op.outputs end
T.namespace "Node".consumers = function(node)
  local out = {}
  for _, op in ipairs(node.graph:get_operations()) do
    for _, x in ipairs(op.inputs) do
      if x == node then out[#out + 1] = op break end
    end
  end
  return out
end

-- Codes of errors by TensorFlow's names: if e.code == tf.errors.OutOfRangeError then ...
local codes = {}
for name in ([[CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED
  RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS
  UNAUTHENTICATED INCOMPATIBLE]]):gmatch "%S+" do
  codes[name] = name
  local camel = name:lower():gsub("(%a+)_?", function(w) return w:sub(1, 1):upper() .. w:sub(2) end)
  codes[camel .. "Error"] = name
end
tf.errors = codes
