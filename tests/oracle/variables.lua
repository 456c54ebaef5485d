-- Ops that write variables: the first inputs of a case, as many as it has outputs, are variables' old values, the
-- outputs their new ones.
local tf = require "tfsdk"
local calls = require "calls"

local M = {}

function M.writes(case)
  return case.op:find "^Resource" or case.op:find "^Assign" or case.op == "tf.batch_scatter_update"
end

-- The inputs with variables in place of their old values; and the variables.
local function with_variables(case, x, hold)
  local args, variables = {}, {}
  for i, t in ipairs(x) do
    if i <= #case.outputs then
      variables[i] = tf.Variable(t, {trainable = false, name = "v" .. i})
      args[i] = variables[i]
    else
      args[i] = hold(t)
    end
  end
  return args, variables
end

local function value(v) return tf.raw.ReadVariableOp(v, {dtype = v.dtype}) end

function M.eager(case, x)
  return tf.eager(function()
    local args, variables = with_variables(case, x, function(t) return t end)
    calls.run(case, args)
    local out = {}
    for i, v in ipairs(variables) do out[i] = value(v) end
    return {outputs = out}
  end)
end

local function graph(case, x, shape_of)
  local g = tf.Graph()
  return g:as_default(function()
    local feeds = {}
    local args, variables = with_variables(case, x, function(t)
      local p = tf.placeholder(t.dtype, shape_of(t))
      feeds[p] = t
      return p
    end)
    local done = calls.run(case, args)
    local session <close> = tf.Session{graph = g}
    session:run(tf.global_variables_initializer())
    session:run(done, feeds)
    return {outputs = session:run(variables, nil, {raw = true})}
  end)
end

function M.graph(case, x)
  return graph(case, x, function(t) return t.shape end)
end

function M.unknown(case, x)
  return graph(case, x, function(t)
    local shape = t.shape
    for i = 1, #shape do shape[i] = -1 end
    return shape
  end)
end

function M.rankless(case, x)
  return graph(case, x, function() return false end)
end

return M
