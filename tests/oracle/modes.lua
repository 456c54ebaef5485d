-- The ways of running a case. Each gives {outputs, dx, ddx, ddy, shapes}: lists of tensors, false where there is no
-- gradient; shapes: what a graph said about the outputs before it ran.
--
--   eager     define-by-run; gradients by persistent tapes, the second order by nested ones
--   graph     a session; placeholders of known shape, small integers (axes, sizes) as constants
--   unknown   a session; all inputs are placeholders of which only the rank is known
--   rankless  the same without the rank, for raw ops (functions may need it to decide which ops to use)
local tf = require "tfsdk"
local calls = require "calls"
local compare = require "compare"

local M = {}

-- The inputs that gradients are asked for. (A note "labels are constant" takes some away.)
local function floating(x, case)
  local at, list = {}, {}
  local some = case and case.note and case.note:find "constant" and case.dx
  for i, t in ipairs(x) do
    if compare.floating[t.dtype] and not (some and not some[i]) then
      at[#at + 1], list[#list + 1] = i, t
    end
  end
  return list, at
end

-- Outputs that get an upstream gradient, and these.
local function upstream(y, dy)
  local targets, grads, at = {}, {}, {}
  for i, g in ipairs(dy) do
    if g then
      targets[#targets + 1], grads[#grads + 1], at[#at + 1] = y[i], g, i
    end
  end
  return targets, grads, at
end

local function spread(list, at, n)
  local out = {}
  for i = 1, n do out[i] = false end
  for k, i in ipairs(at) do out[i] = list[k] or false end
  return out
end

-- Gradients as dense tensors: those of gathered rows come as IndexedSlices.
local function dense(list, like)
  for i, g in ipairs(list) do
    if tf.kind(g) == "IndexedSlices" then
      list[i] = tf.raw.UnsortedSegmentSum(g.values, g.indices, tf.shape(like[i])[1])
    end
  end
  return list
end

-- Members that are not false, and the members of `with` at the same places.
local function present(list, with)
  local a, b = {}, {}
  for i, v in ipairs(list) do
    if v and with[i] then a[#a + 1], b[#b + 1] = v, with[i] end
  end
  return a, b
end

local function join(a, b)
  return table.move(b, 1, #b, #a + 1, table.move(a, 1, #a, 1, {}))
end

-- Adds dx, and ddx and ddy, to the result. gradients.first and .second(ys, xs, dys) are those of the mode.
local function differentiate(case, x, dy, dv, y, gradients, result)
  local sources, at = floating(x, case)
  if not case.dx then return end
  local targets, grads, grads_at = upstream(y, dy)
  local dx = dense(gradients.first(targets, sources, grads), sources)
  result.dx = spread(dx, at, #x)
  if not case.ddx then return end
  local of, with = present(result.dx, dv)
  local both = join(sources, grads)
  local dd = dense(gradients.second(of, both, with), both)
  result.ddx = spread(dd, at, #x)
  result.ddy = spread(table.move(dd, #sources + 1, #dd, 1, {}), grads_at, #y)
end

function M.eager(case, x, dy, dv)
  return tf.eager(function()
    local sources = floating(x, case)
    local result = {}
    local inner, outer
    if case.ddx then
      outer = tf.GradientTape{persistent = true}
      outer:watch(sources)
      local _, grads = upstream(dy, dy)
      outer:watch(grads)
    end
    if case.dx then
      inner = tf.GradientTape{persistent = true}
      inner:watch(sources)
    end
    local y = calls.run(case, x)
    result.outputs = y
    local gradients = {}
    function gradients.first(ys, xs, dys)
      inner:stop()
      return inner:gradient(ys, xs, {output_gradients = dys})
    end
    function gradients.second(ys, xs, dys)
      outer:stop()
      return outer:gradient(ys, xs, {output_gradients = dys})
    end
    differentiate(case, x, dy, dv, y, gradients, result)
    return result
  end)
end

local function any_float(x)
  local list = floating(x)
  return #list > 0
end

local function graph(case, x, dy, dv, hold_input, hold)
  local g = tf.Graph()
  return g:as_default(function()
    local feeds = {}
    local function placeholder(t, shape)
      local p = tf.placeholder(t.dtype, shape)
      feeds[p] = t
      return p
    end
    local nodes, up, second = {}, {}, {}
    for i, t in ipairs(x) do nodes[i] = hold_input(t, placeholder, any_float(x)) end
    for i, t in ipairs(dy or {}) do up[i] = t and hold(t, placeholder) end
    for i, t in ipairs(dv or {}) do second[i] = t and hold(t, placeholder) end
    local y = calls.run(case, nodes)
    local result = {}
    local gradients = {}
    function gradients.first(ys, xs, dys) return tf.gradients(ys, xs, {grad_ys = dys}) end
    gradients.second = gradients.first
    result.outputs = y
    differentiate(case, nodes, up, second, y, gradients, result)
    local shapes = {}
    for i, node in ipairs(y) do shapes[i] = node.shape or false end
    local session <close> = tf.Session{graph = g}
    local values = session:run(result, feeds, {raw = true})
    values.shapes = shapes
    return values
  end)
end

local function known(t, placeholder) return placeholder(t, t.shape) end
local function unknown(t, placeholder)
  local shape = t.shape
  for i = 1, #shape do shape[i] = -1 end
  return placeholder(t, shape)
end

function M.graph(case, x, dy, dv)
  return graph(case, x, dy, dv, function(t, placeholder, among_floats)
    if among_floats and not compare.floating[t.dtype] and t.dtype ~= "string" and t:rank() <= 1 then
      return tf.constant(t)
    end
    return known(t, placeholder)
  end, known)
end

function M.unknown(case, x, dy, dv)
  return graph(case, x, dy, dv, unknown, unknown)
end

function M.rankless(case, x, dy, dv)
  local function hold(t, placeholder) return placeholder(t, false) end
  return graph(case, x, dy, dv, hold, hold)
end

return M
