-- provides tf: group tuple no_op identity identity_n stop_gradient Print print Assert check_numerics verify_tensor_all_finite add_check_numerics_ops assert_equal assert_none_equal assert_less assert_less_equal assert_greater assert_greater_equal assert_positive assert_negative assert_non_positive assert_non_negative assert_rank assert_rank_at_least assert_type assert_scalar assert_integer assert_near is_tensor prevent_gradient colocate_with cond case while_loop
-- provides tf.debugging: assert_equal assert_none_equal assert_less assert_less_equal assert_greater assert_greater_equal assert_positive assert_negative assert_non_positive assert_non_negative assert_rank assert_rank_at_least assert_type assert_scalar assert_integer assert_near check_numerics is_finite is_nan is_inf
-- Order, grouping, printing and checking.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope

local function flatten(list, out)
  for _, v in ipairs(list) do
    if T.kind(v) then out[#out + 1] = v
    elseif type(v) == "table" then flatten(v, out)
    elseif v ~= false and v ~= true then T.fail("tf.group", "cannot group %s", type(v)) end
  end
  return out
end
-- An operation that is done when all of the inputs are.
function tf.group(...)
  local list = {...}
  local options = T.is_options(list[#list]) and table.remove(list) or {}
  local inputs = flatten(list, {})
  if not T.is_graph(table.unpack(inputs)) then return true end
  local c <close> = tf.control_dependencies(inputs)
  return raw.NoOp{name = options.name or "group_deps"}
end
def("tf.no_op", "name?", function(name)
  if tf.executing_eagerly() then return true end
  return raw.NoOp{name = name}
end)
-- The same tensors, none of which is there before all are.
def("tf.tuple", "tensors name=tuple control_inputs?", function(tensors, name, control)
  local s <close> = scope(name)
  local list = {}
  for _, t in ipairs(T.list(tensors, "tf.tuple", "tensors")) do if t then list[#list + 1] = t end end
  for _, t in ipairs(control or {}) do list[#list + 1] = t end
  if not T.is_graph(table.unpack(list)) then return tensors end
  local gate = tf.group(list, {name = "group"})
  local c <close> = tf.control_dependencies{gate}
  local out = {}
  for i, t in ipairs(tensors) do
    if T.kind(t) == "IndexedSlices" then
      out[i] = tf.IndexedSlices(raw.Identity(t.values), t.indices, t.dense_shape)
    else
      out[i] = t and raw.Identity(t)
    end
  end
  return out
end)
def("tf.identity", "input name?", function(x, name)
  if T.kind(x) == "IndexedSlices" then return tf.IndexedSlices(raw.Identity(x.values, {name = name}), x.indices, x.dense_shape) end
  return raw.Identity(x, {name = name})
end)
def("tf.identity_n", "input name?", function(x, name) return raw.IdentityN(x, {name = name}) end)
def("tf.stop_gradient", "input name?", "StopGradient")
def("tf.prevent_gradient", "input message= name?", function(x, message, name)
  return raw.PreventGradient(x, {message = message, name = name})
end)
def("tf.Print", "input_|input data message= first_n=-1 summarize=3 name?", function(x, data, message, first_n, summarize, name)
  return raw.Print(x, T.kind(data) and {data} or data, {message = message, first_n = first_n, summarize = summarize, name = name})
end)
def("tf.Assert", "condition data summarize=3 name?", function(condition, data, summarize, name)
  local list = {}
  for i, v in ipairs(data) do
    list[i] = type(v) == "string" and tf.constant(v, "string") or v
  end
  condition = T.value(condition, "bool")
  local known = T.known(condition)
  if known and T.kind(condition) == "Node" and not known:item() then
    local texts = {}
    for i, v in ipairs(data) do texts[i] = tostring(v) end
    T.fail("tf.Assert", "the assertion is false: %s", table.concat(texts, " "))
  end
  return raw.Assert(condition, list, {summarize = summarize, name = name})
end)
def("tf.check_numerics", "tensor message name?", function(x, message, name)
  return raw.CheckNumerics(x, {message = message, name = name})
end)
def("tf.verify_tensor_all_finite", "t|x msg|message name?", function(x, message, name)
  return raw.CheckNumerics(x, {message = message, name = name})
end)
-- One operation that checks every floating value of the graph.
def("tf.add_check_numerics_ops", "", function()
  local checks = {}
  for _, op in ipairs(tf.get_default_graph():get_operations()) do
    for _, out in ipairs(op.outputs) do
      if out.dtype:find "float" then
        local c <close> = tf.control_dependencies(checks)
        checks[#checks + 1] = raw.CheckNumerics(out, {message = out.name}).op
      end
    end
  end
  return tf.group(checks)
end)

-- Checks. In a graph they give an operation to wait for; what is known already is checked at once.
local relations = {
  assert_equal = {"Equal", "equal"}, assert_none_equal = {"NotEqual", "different"}, assert_less = {"Less", "less"},
  assert_less_equal = {"LessEqual", "less or equal"}, assert_greater = {"Greater", "greater"},
  assert_greater_equal = {"GreaterEqual", "greater or equal"}}
local function assert_all(ok, data, text, who, message, name)
  local all = tf.reduce_all(ok)
  local known = T.known(all)
  if known then
    if not known:item() then
      local shown = {}
      for i, v in ipairs(data) do shown[i] = tostring(v) end
      T.fail(who, "%s%s", message and message .. ": " or "", text .. "\n" .. table.concat(shown, "\n"))
    end
    if tf.executing_eagerly() or T.kind(ok) == "Tensor" then return true end
    return tf.no_op(name)
  end
  local list = {message or text}
  for _, v in ipairs(data) do list[#list + 1] = v end
  return tf.Assert(all, list, nil, name)
end
for name, relation in pairs(relations) do
  def("tf." .. name, "x y data? summarize? message? name?", function(x, y, data, _, message, n)
    local s <close> = scope(n, name)
    if not T.kind(x) then x = T.value(x, T.kind(y) and y.dtype or nil) end
    if not T.kind(y) then y = T.value(y, x.dtype) end
    x, y = T.value(x), T.value(y)
    return assert_all(raw[relation[1]](x, y), data or {x, y}, "not every x is " .. relation[2] .. " to y", "tf." .. name, message)
  end)
end
local signs = {assert_positive = "Greater", assert_negative = "Less", assert_non_positive = "LessEqual", assert_non_negative = "GreaterEqual"}
for name, op in pairs(signs) do
  def("tf." .. name, "x data? summarize? message? name?", function(x, data, _, message, n)
    local s <close> = scope(n, name)
    x = T.value(x)
    return assert_all(raw[op](x, raw.ZerosLike(x)), data or {x}, "not every x is " .. name:sub(8):gsub("_", " "), "tf." .. name, message)
  end)
end
def("tf.assert_near", "x y rtol? atol? data? summarize? message? name?", function(x, y, rtol, atol, data, _, message, n)
  local s <close> = scope(n, "assert_near")
  x = T.value(x)
  y = T.value(y, x.dtype)
  local eps = x.dtype == "float64" and 2.220446049250313e-15 or 1.1920929e-6
  local limit = raw.Abs(y) * (rtol or eps) + (atol or eps)
  return assert_all(raw.LessEqual(raw.Abs(x - y), limit), data or {x, y}, "x and y are not near", "tf.assert_near", message)
end)
local function rank_check(name, fits)
  def("tf." .. name, "x rank data? summarize? message? name?", function(x, rank, data, _, message)
    x = T.value(x)
    local r = x:rank()
    if r and not fits(r, rank) then
      T.fail("tf." .. name, "%sthe rank is %d, wanted is %s%d", message and message .. ": " or "", r, name:find "least" and "at least " or "", rank)
    end
    if r then return T.kind(x) == "Node" and tf.no_op() or true end
    local actual = raw.Rank(x)
    local ok = name:find "least" and raw.GreaterEqual(actual, rank) or raw.Equal(actual, rank)
    return tf.Assert(ok, data or {message or "the rank is wrong", actual})
  end)
end
rank_check("assert_rank", function(a, b) return a == b end)
rank_check("assert_rank_at_least", function(a, b) return a >= b end)
def("tf.assert_type", "tensor tf_type message? name?", function(x, dtype, message)
  if x.dtype ~= dtype then T.fail("tf.assert_type", "%sthe type is %s, wanted is %s", message and message .. ": " or "", x.dtype, dtype) end
  return T.kind(x) == "Node" and tf.no_op() or true
end)
def("tf.assert_scalar", "tensor name?", function(x)
  x = T.value(x)
  if x:rank() and x:rank() ~= 0 then T.fail("tf.assert_scalar", "a tensor of rank %d is no scalar", x:rank()) end
  return x
end)
def("tf.assert_integer", "x message? name?", function(x, message)
  if not x.dtype:find "int" then T.fail("tf.assert_integer", "%sthe type is %s", message and message .. ": " or "", x.dtype) end
  return T.kind(x) == "Node" and tf.no_op() or true
end)
function tf.is_tensor(x)
  local k = T.kind(x)
  return k == "Tensor" or k == "Node" or k == "Variable" or k == "IndexedSlices"
end

-- tf.print(values..., {output_stream =, summarize =, sep =, end =}): a line with the values.
function tf.print(...)
  local list = {...}
  local options = T.is_options(list[#list]) and table.remove(list) or {}
  if not T.is_graph(table.unpack(list)) then
    local texts = {}
    for i, v in ipairs(list) do texts[i] = tostring(v) end
    io.stderr:write(table.concat(texts, options.sep or " "), options["end"] or "\n")
    return true
  end
  local values, words = {}, {}
  for _, v in ipairs(list) do
    if T.kind(v) then values[#values + 1] = v else words[#words + 1] = tostring(v) end
  end
  local x = raw.Print(values[1], values, {message = #words > 0 and table.concat(words, " ") .. " " or "", summarize = options.summarize or 3})
  return x.op
end

-- Control flow: in define-by-run mode these are calls.
local function only_eager(name)
  T.fail_code(12, name, "is there in define-by-run mode only")
end
def("tf.cond", "pred true_fn|fn1 false_fn|fn2 strict=false name?", function(pred, yes, no)
  if type(pred) ~= "boolean" then
    local known = T.known(pred)
    if not known then only_eager "tf.cond" end
    pred = known:item()
  end
  if pred == true or (type(pred) == "number" and pred ~= 0) then return yes() end
  return no()
end)
def("tf.case", "pred_fn_pairs default? exclusive=false strict=false name?", function(pairs_, default)
  for _, p in ipairs(pairs_) do
    local known = T.known(p[1])
    if not known then only_eager "tf.case" end
    if known:item() then return p[2]() end
  end
  if not default then T.fail("tf.case", "no condition holds and there is no default") end
  return default()
end)
def("tf.while_loop", "cond body loop_vars shape_invariants? parallel_iterations? back_prop=true swap_memory=false name? maximum_iterations?",
  function(cond, body, vars, _, _, _, _, _, limit)
    local n = #vars
    for _, v in ipairs(vars) do if T.kind(v) == "Node" then only_eager "tf.while_loop" end end
    if not tf.executing_eagerly() then only_eager "tf.while_loop" end
    local state, steps = table.pack(table.unpack(vars)), 0
    while not limit or steps < limit do
      local go = cond(table.unpack(state, 1, n))
      if T.kind(go) then go = go:item() end
      if not go then break end
      state = table.pack(body(table.unpack(state, 1, n)))
      if state.n == 1 and n > 1 and type(state[1]) == "table" then state = state[1] end
      steps = steps + 1
    end
    return table.unpack(state, 1, n)
  end)
-- Placement follows devices; the scope is accepted and changes nothing.
function tf.colocate_with(_, _, fn)
  if type(fn) == "function" then return fn() end
  return setmetatable({}, {__close = function() end})
end

local debugging = T.namespace "tf.debugging"
for _, name in ipairs {"assert_equal", "assert_none_equal", "assert_less", "assert_less_equal", "assert_greater",
  "assert_greater_equal", "assert_positive", "assert_negative", "assert_non_positive", "assert_non_negative", "assert_rank",
  "assert_rank_at_least", "assert_type", "assert_scalar", "assert_integer", "assert_near", "check_numerics"} do
  debugging[name] = tf[name]
end
for _, name in ipairs {"is_finite", "is_nan", "is_inf"} do debugging[name] = function(...) return tf[name](...) end end
