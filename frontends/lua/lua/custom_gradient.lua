-- provides tf: custom_gradient recompute_grad recompute gradient_override_map RegisterGradient NotDifferentiable NoGradient
-- provides Graph: gradient_override_map
-- Gradients of one's own: of a function, of all ops of a kind in a scope; and computing values again in the backward walk
-- in place of keeping them.
--
-- All three hang a function on nodes (or on what tapes record): T.push_gradient. A function with a gradient of its own is
-- an IdentityN behind it: from its results, its arguments and the variables that it reads, to the same; the gradient of that
-- one node is the given one, and nothing flows back into what the function did.
local tf, T = ...
local raw = tf.raw

-- ------------------------------------------------------------------------------------- nests of values

local function is_value(x)
  local kind = T.kind(x)
  return kind == "Tensor" or kind == "Node" or kind == "Variable"
end

-- Puts the values of a nest into `out`, in a fixed order, and gives a function that makes the same nest of other values.
local function flatten(x, out)
  if is_value(x) then
    out[#out + 1] = x
    local at = #out
    return function(list) return list[at] end
  elseif type(x) == "table" and not T.kind(x) and getmetatable(x) == nil then
    local keys, parts = {}, {}
    for key in pairs(x) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b)
      if math.type(a) and math.type(b) then return a < b end
      return tostring(a) < tostring(b)
    end)
    for _, key in ipairs(keys) do parts[key] = flatten(x[key], out) end
    return function(list)
      local copy = {}
      for _, key in ipairs(keys) do copy[key] = parts[key](list) end
      return copy
    end
  end
  return function() return x end
end

local function flatten_pack(pack, out)
  local parts = {}
  for i = 1, pack.n do parts[i] = flatten(pack[i], out) end
  return function(list)
    local copy = {n = pack.n}
    for i = 1, pack.n do copy[i] = parts[i](list) end
    return copy
  end
end

local function is_float(x) return x.dtype:find "float" ~= nil or x.dtype:find "complex" ~= nil end
local function concat(...)
  local out = {}
  for _, list in ipairs {...} do
    for _, x in ipairs(list) do out[#out + 1] = x end
  end
  return out
end

-- Arguments as the function gets them: variables as their values. The nest of them, and a list of the values.
local function arguments(pack)
  local list = {}
  local rebuild = flatten_pack(pack, list)
  for i, x in ipairs(list) do list[i] = T.value(x) end
  return list, rebuild
end

-- Hangs fn on what becomes of `ys`: values with the gradient that fn gives. fn gets the gradients of ys (false: none) and gives
-- those of `sources`: values and variables.
local function hang(ys, sources, who, fn)
  local inputs = concat(ys)
  for _, x in ipairs(sources) do inputs[#inputs + 1] = T.kind(x) == "Variable" and T.handle(x) or x end
  if #ys == 0 then return ys end
  T.push_gradient("IdentityN", function(call)
    local dys, out = {}, {}
    for i = 1, #ys do dys[i], out[i] = call.dys[i], false end
    local wants = {table.unpack(call.wants, #ys + 1)}
    for i, g in ipairs(fn(dys, wants)) do out[#ys + i] = g end
    return out
  end, 0)
  local popped <close> = setmetatable({}, {__close = T.pop_gradient})
  local all = raw.IdentityN(inputs, {name = who})
  return {table.unpack(all, 1, #ys)}
end

-- ------------------------------------------------------------------------------------- watching what a function reads

-- Define-by-run: calls fn with no tape recording. Gives its results, the tensors that tapes track and it read, and the variables
-- that it read or wrote.
local function unrecorded(fn, args)
  T.hide_tapes()
  local shown <close> = setmetatable({}, {__close = T.show_tapes})
  local tape <close> = tf.GradientTape()
  T.note_only(tape)
  local results = table.pack(fn(table.unpack(args, 1, args.n)))
  return results, T.noted(tape)
end

-- Graph: what the nodes from number `first` on that `ys` need read of the graph before: nodes' values, and variables.
-- `inside` gets the numbers of those nodes, rising.
local function read_by(graph, ys, first, args)
  local seen, order, outside, variables = {}, {}, {}, {}
  local of_handle, stack = {}, {}
  for _, v in ipairs(T.variables(graph)) do of_handle[T.value_id(T.handle(v))] = v end
  local known = {}
  for _, x in ipairs(args) do known[T.value_id(x)] = true end
  local function reach(value, node)
    if known[value] then return end
    if of_handle[value] then
      if not seen[value] then
        seen[value] = true
        variables[#variables + 1] = of_handle[value]
      end
      return
    end
    if node < first then
      local _, _, op = T.node_inputs(graph, node)
      if op == "ReadVariableOp" then -- a variable's own read
        local from, values = T.node_inputs(graph, node)
        return reach(values[1], from[1])
      end
      known[value] = true
      if op ~= "Const" then outside[#outside + 1] = T.node_value(graph, node, value & 0xffff) end
      return
    end
    if not seen["node" .. node] then
      seen["node" .. node] = true
      stack[#stack + 1] = node
    end
  end
  for _, y in ipairs(ys) do reach(T.value_id(y)) end
  while #stack > 0 do
    local node = table.remove(stack)
    order[#order + 1] = node
    local from, values = T.node_inputs(graph, node)
    for i, value in ipairs(values) do reach(value, from[i]) end
  end
  table.sort(order)
  return outside, variables, order
end

local function trainable(variables)
  local out = {}
  for _, v in ipairs(variables) do if v.trainable then out[#out + 1] = v end end
  return out
end

-- ------------------------------------------------------------------------------------- a function with its own gradient

-- The gradients that a script's function gave: a value or a list, `n` of them are expected.
local function given(x, n, what)
  local list = {}
  if type(x) == "table" and not T.kind(x) then list = x else list[1] = x or false end
  if #list ~= n then T.fail("tf.custom_gradient", "the gradient's function gives %d gradients for %d %s", #list, n, what) end
  return list
end

-- tf.custom_gradient(f): f(x, ...) gives its results and, last, a function: grad(dy, ...) -> dx, ... (or one list), one for each
-- value among f's arguments. If f reads trainable variables, the last argument of grad is {variables = list}, and it gives two
-- lists: of the arguments' gradients, and the variables'. Lists of results are one result each.
T.def("tf.custom_gradient", "f", function(f)
  if type(f) ~= "function" then T.fail("tf.custom_gradient", "expected a function, not %s", T.kind(f) or type(f)) end
  return function(...)
    local xs, rebuild = arguments(table.pack(...))
    local graph = T.is_graph(table.unpack(xs))
    local results, variables
    if graph then
      local g = xs[1] and T.kind(xs[1]) == "Node" and xs[1].graph or tf.get_default_graph()
      local first = g.version
      results = table.pack(f(table.unpack(rebuild(xs), 1)))
      local ys = {}
      flatten_pack({n = results.n - 1, table.unpack(results, 1, results.n - 1)}, ys)
      local _
      _, variables = read_by(g, ys, first, xs)
    else
      local _
      results, _, variables = unrecorded(f, rebuild(xs))
    end
    variables = trainable(variables)
    local grad = results[results.n]
    if results.n < 2 or type(grad) ~= "function" then
      T.fail("tf.custom_gradient", "the function must give its result and a function for its gradient")
    end
    results.n = results.n - 1
    local ys = {}
    local rebuild_ys = flatten_pack(results, ys)
    if not graph and not T.recording() then return table.unpack(results, 1, results.n) end
    local guard <close> = graph and ys[1] and T.kind(ys[1]) == "Node" and ys[1].graph:as_default() or nil
    local out = hang(ys, concat(xs, variables), "custom_gradient", function(dys)
      for i, dy in ipairs(dys) do
        if not dy and is_float(ys[i]) then dys[i] = raw.ZerosLike(ys[i]) end
      end
      if #variables > 0 then
        dys[#dys + 1] = {variables = variables}
        local dxs, dvars = grad(table.unpack(dys))
        if dvars == nil then
          T.fail("tf.custom_gradient", "the function reads %d variables (%s ...): its gradient must give two lists, of its arguments' and of the variables' gradients",
            #variables, variables[1].name)
        end
        return concat(given(dxs, #xs, "arguments"), given(dvars, #variables, "variables"))
      end
      local dxs = table.pack(grad(table.unpack(dys)))
      if dxs.n > 1 or is_value(dxs[1]) or T.kind(dxs[1]) then
        for i = 1, dxs.n do dxs[i] = dxs[i] or false end
        dxs.n = nil
        return given(dxs, #xs, "arguments")
      end
      return given(dxs[1], #xs, "arguments")
    end)
    local back = rebuild_ys(out)
    return table.unpack(back, 1, back.n)
  end
end)

-- ------------------------------------------------------------------------------------- computing again

-- What a call of fn depends on besides its arguments, to be as it was at that call: random numbers, scopes, the policy.
local function circumstances()
  return {random = T.random_state(nil), names = T.name_scope(), scope = tf.get_variable_scope(),
    default_names = T.eager_scopes, policy = T.emission_policy and T.emission_policy()}
end

local function copy_table(t)
  local out = {}
  for k, v in pairs(t or {}) do out[k] = v end
  return out
end

-- Calls fn as it was called then, and leaves random numbers and what is no weight as they are now.
local function again(then_, state, fn, args)
  local now, default_names = T.random_state(nil), T.eager_scopes
  local values = {}
  for i, v in ipairs(state) do values[i] = v:value() end
  local restore <close> = setmetatable({}, {__close = function()
    T.hide_tapes()
    for i, v in ipairs(state) do v:assign(values[i]) end
    T.show_tapes()
    T.set_random_state(nil, now)
    T.eager_scopes = default_names
  end})
  T.set_random_state(nil, then_.random)
  T.eager_scopes = copy_table(then_.default_names)
  local s <close> = tf.variable_scope(then_.scope, {reuse = "auto"})
  local n <close> = tf.name_scope(then_.names)
  local p <close> = then_.policy ~= nil and T.enter_policy(then_.policy) or nil
  return table.pack(fn(table.unpack(args, 1, args.n)))
end

local function recompute_eager(fn, xs, rebuild)
  if not T.recording() then return table.pack(fn(table.unpack(rebuild(xs), 1))) end
  local then_ = circumstances()
  then_.default_names = copy_table(then_.default_names)
  local args = rebuild(xs)
  local results, captured, variables = unrecorded(fn, args)
  local known, sources, state = {}, concat(xs), {}
  for _, x in ipairs(xs) do known[T.tensor_id(x)] = true end
  for _, x in ipairs(captured) do
    if not known[T.tensor_id(x)] then sources[#sources + 1] = x end
  end
  for _, v in ipairs(variables) do
    if v.trainable then sources[#sources + 1] = v else state[#state + 1] = v end
  end
  local ys = {}
  local rebuild_ys = flatten_pack(results, ys)
  local n = #ys
  local out = hang(ys, sources, "recompute", function(dys)
    local tape = tf.GradientTape()
    local closed <close> = tape
    for _, x in ipairs(sources) do
      if T.kind(x) == "Tensor" and is_float(x) then tape:watch(x) end
    end
    local again_ys = {}
    flatten_pack(again(then_, state, fn, args), again_ys)
    if #again_ys ~= n then
      T.fail("tf.recompute_grad", "the function gave %d values at first, and %d when it was computed again", n, #again_ys)
    end
    local targets, given_dys = {}, {}
    for i, dy in ipairs(dys) do
      if dy then targets[#targets + 1], given_dys[#given_dys + 1] = again_ys[i], dy end
    end
    local asked, place, grads = {}, {}, {}
    for i, x in ipairs(sources) do
      grads[i] = false
      if T.kind(x) == "Variable" or is_float(x) then
        asked[#asked + 1] = x
        place[#asked] = i
      end
    end
    if #targets == 0 or #asked == 0 then return grads end
    for i, g in ipairs(tape:gradient(targets, asked, {output_gradients = given_dys})) do grads[place[i]] = g end
    return grads
  end)
  return rebuild_ys(out)
end

-- Emits the nodes again behind barriers, as far as they depend on `xs` and can be computed again. Random numbers are not drawn
-- again: what was drawn is kept (of dropout the mask alone).
local function copy_nodes(graph, order, xs)
  local map, fresh = {}, {}
  for _, x in ipairs(xs) do
    local barrier = raw.RecomputeBarrier(x)
    map[T.value_id(x)] = barrier
    fresh[#fresh + 1] = barrier
  end
  for _, node in ipairs(order) do
    local _, values, op = T.node_inputs(graph, node)
    local depends = false
    for _, value in ipairs(values) do depends = depends or map[value] ~= nil end
    local record = T.op(op)
    local random = record.attrs.seed ~= nil and record.attrs.seed2 ~= nil
    if depends and op == "Dropout" then
      local y = T.node_value(graph, node, 0)
      local rate = T.node_value(graph, select(2, T.value_id(y.op.inputs[2])), values[2] & 0xffff)
      map[T.value_id(y)] = raw.DropoutGrad(map[values[1]] or y.op.inputs[1], T.node_value(graph, node, 1), rate)
    elseif depends and not random and not record.has_effect then
      T.copy_node(graph, node, map)
    end
  end
  return map, fresh
end

local function recompute_graph(fn, xs, rebuild)
  local graph = xs[1] and xs[1].graph or tf.get_default_graph()
  local first = graph.version
  local results = table.pack(fn(table.unpack(rebuild(xs), 1)))
  local ys = {}
  local rebuild_ys = flatten_pack(results, ys)
  local nodes = {}
  for i, x in ipairs(xs) do nodes[i] = x end
  local outside, variables, order = read_by(graph, ys, first, nodes)
  local values = concat(nodes, outside)
  local weights = trainable(variables)
  local guard <close> = graph:as_default()
  local out = hang(ys, concat(values, weights), "recompute", function(dys)
    local g <close> = graph:as_default()
    local s <close> = tf.name_scope "recompute"
    local c <close> = tf.control_dependencies(false)
    local map, fresh = copy_nodes(graph, order, values)
    local targets, given_dys = {}, {}
    for i, dy in ipairs(dys) do
      if dy then
        targets[#targets + 1], given_dys[#given_dys + 1] = map[T.value_id(ys[i])] or ys[i], dy
      end
    end
    local asked, place, grads = {}, {}, {}
    for i, x in ipairs(concat(fresh, weights)) do
      grads[i] = false
      if T.kind(x) == "Variable" or is_float(x) then
        asked[#asked + 1] = x
        place[#asked] = i
      end
    end
    if #targets == 0 or #asked == 0 then return grads end
    for i, g in ipairs(T.gradients(targets, asked, given_dys, fresh)) do grads[place[i]] = g end
    return grads
  end)
  return rebuild_ys(out)
end

-- tf.recompute_grad(f): f, but that what f computes on the way is not kept for the gradient: the backward walk computes it again
-- from f's arguments. The same gradients, less memory, about a third more time. Random numbers are those of the first time,
-- and what f changes (moving averages) it changes once.
T.def("tf.recompute_grad", "f", function(f)
  if type(f) ~= "function" and not (getmetatable(f) and getmetatable(f).__call) then
    T.fail("tf.recompute_grad", "expected a function, not %s", T.kind(f) or type(f))
  end
  return function(...)
    local xs, rebuild = arguments(table.pack(...))
    local results
    if T.is_graph(table.unpack(xs)) then
      results = recompute_graph(f, xs, rebuild)
    else
      results = recompute_eager(f, xs, rebuild)
    end
    return table.unpack(results, 1, results.n)
  end
end)
tf.recompute = tf.recompute_grad

-- ------------------------------------------------------------------------------------- ops of a scope

local registered = {}

-- tf.RegisterGradient "Name" (fn): fn(op, dy, ...) gives the gradients of op.inputs (values, a list, or nil for none). `op` has type,
-- inputs and outputs.
T.def("tf.RegisterGradient", "op_type", function(name)
  if type(name) ~= "string" then T.fail("tf.RegisterGradient", "the name must be a string, not %s", T.kind(name) or type(name)) end
  return function(fn)
    if type(fn) ~= "function" then T.fail("tf.RegisterGradient", "'%s': expected a function, not %s", name, T.kind(fn) or type(fn)) end
    if registered[name] then T.fail("tf.RegisterGradient", "there is a gradient '%s' already", name) end
    registered[name] = fn
    return fn
  end
end)
local function none() return {} end
T.def("tf.NotDifferentiable", "op_type", function(name) registered[name] = none end)
T.def("tf.NoGradient", "op_type", function(name) registered[name] = none end)

local Override = {__close = function(self) self:close() end}
Override.__index = Override
function Override:close()
  for _ = 1, self.n do T.pop_gradient() end
  self.n = 0
end

-- g:gradient_override_map({Op = "Name"}, [fn]): ops of that type that are made inside have the registered gradient of that name.
-- In define-by-run mode the same holds for what runs inside.
local function override(map, fn)
  if type(map) ~= "table" then T.fail("gradient_override_map", "expected a table {Op = \"Name\"}, not %s", T.kind(map) or type(map)) end
  local s = setmetatable({n = 0}, Override)
  local names = {}
  for op in pairs(map) do names[#names + 1] = op end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for _, op in ipairs(names) do
    local f = registered[map[op]]
    if type(map[op]) == "function" then f = map[op] end
    if not f then
      s:close()
      local known = {}
      for name in pairs(registered) do known[#known + 1] = name end
      local near = T.nearest(tostring(map[op]), known)
      T.fail("gradient_override_map", "no gradient '%s' was registered%s", tostring(map[op]), near and ("; did you mean '%s'?"):format(near) or "")
    end
    local ok, message = pcall(T.push_gradient, op, function(call)
      local dxs = table.pack(f({type = call.op, inputs = call.inputs, outputs = call.outputs}, table.unpack(call.dys)))
      if dxs.n == 1 and type(dxs[1]) == "table" and not T.kind(dxs[1]) then return dxs[1] end
      for i = 1, dxs.n do dxs[i] = dxs[i] or false end
      return dxs
    end, 3)
    if not ok then
      s:close()
      error(message, 0)
    end
    s.n = s.n + 1
  end
  if not fn then return s end
  local closing <close> = s
  return fn()
end
local Graph = T.namespace "Graph"
function Graph.gradient_override_map(graph, map, fn)
  if tf.executing_eagerly() then return override(map, fn) end
  if graph ~= tf.get_default_graph() then T.fail("gradient_override_map", "the graph is not the default one; enter it by as_default") end
  return override(map, fn)
end
-- The same for the present mode.
tf.gradient_override_map = override
