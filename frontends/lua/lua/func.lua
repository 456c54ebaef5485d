-- provides tf: func
-- provides tf.contrib.eager: defun
-- tf.func(f): a plan out of a define-by-run function. The first call with inputs of certain types and shapes
-- runs f on placeholders and keeps the graph; later calls run it. Variables that f reads are fed with their
-- present values. Where a plan would mean something else (a tape records, f writes variables, prints, or
-- looks at values) f is simply called.
local tf, T = ...

local untraceable = setmetatable({}, {__tostring = function() return "this function cannot become a plan" end})

-- A text that says all that a plan depends on: types and shapes of tensors, values of the rest.
local function signature(x, out)
  local kind = T.kind(x)
  if kind == "Tensor" then out[#out + 1] = x.dtype .. "[" .. table.concat(x.shape, ",") .. "]"
  elseif kind == "Variable" then out[#out + 1] = ("variable %p"):format(x)
  elseif type(x) == "table" and not kind then
    local keys = {}
    for key in pairs(x) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    out[#out + 1] = "{"
    for _, key in ipairs(keys) do
      out[#out + 1] = tostring(key) .. "="
      signature(x[key], out)
    end
    out[#out + 1] = "}"
  elseif type(x) == "number" or type(x) == "string" or type(x) == "boolean" or x == nil then
    out[#out + 1] = math.type(x) or type(x)
    out[#out + 1] = tostring(x)
  else
    out[#out + 1] = ("%s %p"):format(type(x), x)
  end
  return out
end

-- Copies a nest with placeholders for its tensors, which are noted in order.
local function replace(x, inputs)
  local kind = T.kind(x)
  if kind == "Tensor" then
    local p = tf.placeholder(x.dtype, x.shape)
    inputs[#inputs + 1] = p
    return p
  end
  if type(x) ~= "table" or kind then return x end
  local out = {}
  for key, value in pairs(x) do out[key] = replace(value, inputs) end
  return out
end
local function collect(x, out)
  local kind = T.kind(x)
  if kind == "Tensor" then out[#out + 1] = x
  elseif type(x) == "table" and not kind then for _, value in pairs(x) do collect(value, out) end end
  return out
end

local function trace(f, args)
  local graph = tf.Graph()
  local plan = {inputs = {}, variables = {}, nodes = {}}
  local known = {}
  local outer = T.capturing(function(v, as_resource)
    if as_resource then error(untraceable) end
    if not known[v] then
      local c <close> = tf.control_dependencies(false)
      known[v] = tf.placeholder(v.dtype, v.shape)
      plan.variables[#plan.variables + 1] = v
      plan.nodes[#plan.nodes + 1] = known[v]
    end
    return known[v]
  end)
  local ok, results = pcall(function()
    local g <close> = graph:as_default()
    local copies = {n = args.n}
    for i = 1, args.n do copies[i] = replace(args[i], plan.inputs) end
    return table.pack(f(table.unpack(copies, 1, args.n)))
  end)
  T.capturing(outer)
  if not ok then
    return nil, results
  end
  for _, op in ipairs(graph:get_operations()) do
    if T.op(op.type).has_effect then return nil, untraceable end
  end
  plan.results = results
  for i = 1, results.n do if results[i] == nil then results[i] = false end end
  plan.session = tf.Session{graph = graph}
  return plan
end

local function run(plan, args)
  local feeds = {}
  local tensors = {}
  for i = 1, args.n do collect(args[i], tensors) end
  for i, p in ipairs(plan.inputs) do feeds[p] = tensors[i] end
  for i, v in ipairs(plan.variables) do feeds[plan.nodes[i]] = v:value() end
  local n = plan.results.n
  local out = plan.session:run({table.unpack(plan.results, 1, n)}, feeds, {raw = true})
  return table.unpack(out, 1, n)
end

function tf.func(f)
  if type(f) ~= "function" then T.fail("tf.func", "expected a function, got %s", T.kind(f) or type(f)) end
  local plans, plain = {}, false
  return function(...)
    if plain or not tf.executing_eagerly() or T.recording() then return f(...) end
    local args = table.pack(...)
    local key = {}
    for i = 1, args.n do signature(args[i], key) end
    key = table.concat(key, " ")
    local plan = plans[key]
    if plan == nil then
      local why
      plan, why = trace(f, args)
      if not plan then
        plain = true -- what goes wrong in f goes wrong again, and is reported, when f is called
        return f(...)
      end
      plans[key] = plan
    end
    return run(plan, args)
  end
end
T.namespace "tf.contrib.eager".defun = tf.func
