-- provides tf: mixed_precision
-- provides tf.mixed_precision: Policy set_global_policy global_policy policy_scope LossScaleOptimizer FixedLossScale DynamicLossScale experimental
-- provides tf.train.experimental: FixedLossScale DynamicLossScale MixedPrecisionLossScaleOptimizer enable_mixed_precision_graph_rewrite disable_mixed_precision_graph_rewrite
-- Computing in 16 bits with weights in float32 (Micikevicius et al., "Mixed precision training", 2018).
--
-- A policy says what layers compute in and keep their weights in; "mixed_float16" and "mixed_bfloat16" also say it of ops: products and
-- convolutions in 16 bits, what is not safe there in float32 (frontends/lua/autocast.c). Nothing happens unless a policy is set. Small
-- gradients are lost in float16: the loss is scaled before its gradients are taken, and they are scaled back.
local tf, T = ...
local raw, def = tf.raw, T.def
local mixed = T.namespace "tf.mixed_precision"

-- ------------------------------------------------------------------------------------- policies

local types = {}
for name in ("float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string complex64 complex128"):gmatch "%S+" do types[name] = true end
local Policy = {}
Policy.__index = Policy
function Policy.__tostring(self) return ("<DTypePolicy %s>"):format(self.name) end
function Policy.get_config(self) return {name = self.name} end
local known = {}
local here = "tf.mixed_precision.Policy"

-- The policy of a name, an object, or what get_config wrote.
function T.dtype_policy(x, who)
  who = who or here
  if getmetatable(x) == Policy then return x end
  if type(x) == "table" and type(x.config) == "table" then x = x.config.name end
  if type(x) ~= "string" then T.fail(who, "a policy is a name, \"float32\" or \"mixed_bfloat16\", not %s", type(x)) end
  local short = x:match "^mixed_(b?float16)$"
  if not short and not types[x] then
    local names = {"float16", "bfloat16", "float32", "float64", "mixed_float16", "mixed_bfloat16"}
    local near = T.nearest(x, names)
    T.fail(who, "there is no type or policy '%s'; there are %s%s", x, table.concat(names, ", "), near and ("; did you mean '%s'?"):format(near) or "")
  end
  known[x] = known[x] or setmetatable({name = x, compute_dtype = short or x, variable_dtype = short and "float32" or x, mixed = short}, Policy)
  return known[x]
end
def(here, "name", function(name) return T.dtype_policy(name) end)

-- The policy of layers that name none (nil: none was set), and the type that ops are emitted in. The first is Keras' as well.
T.layer_policy = nil
local emitting -- a policy, or nil
local function emit_under(policy)
  emitting = policy and policy.mixed and policy or nil
  T.emit_in(emitting and emitting.compute_dtype)
end
-- For code that comes back to a place later: what holds now, and to enter it again (false: plain).
function T.emission_policy() return emitting or false end
function T.enter_policy(policy)
  local before = emitting
  emit_under(policy)
  return setmetatable({}, {__close = function() emit_under(before) end})
end

def("tf.mixed_precision.set_global_policy", "policy", function(policy)
  policy = T.dtype_policy(policy, "tf.mixed_precision.set_global_policy")
  T.layer_policy = policy
  emit_under(policy)
end)
def("tf.mixed_precision.global_policy", "", function() return T.layer_policy or T.dtype_policy "float32" end)

-- tf.mixed_precision.policy_scope(policy, [fn]): for a part of a script.
local scope = T.bind("tf.mixed_precision.policy_scope", "policy", function(policy)
  policy = T.dtype_policy(policy, "tf.mixed_precision.policy_scope")
  local layers, ops = T.layer_policy, emitting
  T.layer_policy = policy
  emit_under(policy)
  local open = true
  return setmetatable({}, {__close = function()
    if not open then return end
    open = false
    T.layer_policy = layers
    emit_under(ops)
  end})
end)
function mixed.policy_scope(policy, fn)
  local s = scope(policy)
  if type(fn) ~= "function" then return s end
  local closing <close> = s
  return fn()
end

-- ------------------------------------------------------------------------------------- loss scales

local function values_of(g) return T.kind(g) == "IndexedSlices" and g.values or g end
local function times(g, factor)
  if not g then return g end
  if T.kind(g) == "IndexedSlices" then return tf.IndexedSlices(g.values * tf.cast(factor, g.values.dtype), g.indices, g.dense_shape) end
  return g * tf.cast(factor, g.dtype)
end
local function all_finite(grads)
  local good = {}
  for _, g in ipairs(grads) do
    if g then good[#good + 1] = tf.reduce_all(tf.is_finite(values_of(g))) end
  end
  return tf.reduce_all(tf.stack(good))
end

local Fixed = {__name = "FixedLossScale", dynamic = false}
Fixed.__index = Fixed
def("tf.mixed_precision.FixedLossScale", "loss_scale_value", function(value)
  if type(value) ~= "number" or not (value > 0) then T.fail("tf.mixed_precision.FixedLossScale", "the scale must be above 0, not %s", tostring(value)) end
  return setmetatable({loss_scale_value = value}, Fixed)
end)
function Fixed:now() return tf.constant(self.loss_scale_value, "float32") end
function Fixed:get_config() return {loss_scale_value = self.loss_scale_value} end
function Fixed:update() return nil end
function Fixed:variables() return {} end
Fixed.__call = Fixed.now

local Dynamic = {__name = "DynamicLossScale", dynamic = true}
Dynamic.__index = Dynamic
-- `increment_period` steps with finite gradients in a row multiply the scale, one without divides it; it does not fall below 1.
def("tf.mixed_precision.DynamicLossScale", "initial_loss_scale=32768 increment_period=2000 multiplier=2", function(initial, period, multiplier)
  if multiplier <= 1 then T.fail("tf.mixed_precision.DynamicLossScale", "'multiplier' must be above 1, not %g", multiplier) end
  if period < 1 then T.fail("tf.mixed_precision.DynamicLossScale", "'increment_period' must be 1 or more, not %d", period) end
  return setmetatable({initial_loss_scale = initial, increment_period = period, multiplier = multiplier, made = setmetatable({}, {__mode = "k"})}, Dynamic)
end)
local function weight(name, value)
  local absolute <close> = not tf.executing_eagerly() and tf.name_scope("") or nil
  local c <close> = tf.control_dependencies(false)
  return tf.Variable(tf.tensor(value, "float32"), {trainable = false, name = name})
end
function Dynamic:state()
  local key = tf.executing_eagerly() and self or tf.get_default_graph()
  local s = self.made[key]
  if not s then
    s = {scale = weight("current_loss_scale", self.initial_loss_scale), good = weight("good_steps", 0)}
    self.made[key] = s
  end
  return s
end
function Dynamic:now() return self:state().scale:value() end
Dynamic.__call = Dynamic.now
function Dynamic:variables() return {self:state().scale, self:state().good} end
function Dynamic:get_config()
  return {initial_loss_scale = self.initial_loss_scale, increment_period = self.increment_period, multiplier = self.multiplier}
end
-- Notes how a step went; an op in a graph.
function Dynamic:update(finite)
  local s = self:state()
  local function read(v) return v.graph and raw.ReadVariableOp(v, {dtype = "float32"}) or v:value() end
  local scale, good = read(s.scale), read(s.good)
  local full = tf.greater_equal(good + 1, self.increment_period)
  local grown = scale * self.multiplier
  grown = tf.where(tf.logical_and(full, tf.is_finite(grown)), grown, scale)
  local next_scale = tf.where(finite, grown, tf.maximum(scale / self.multiplier, 1))
  local next_good = tf.where(tf.logical_and(finite, tf.logical_not(full)), good + 1, good * 0)
  return tf.group(s.scale:assign(next_scale), s.good:assign(next_good))
end

-- ------------------------------------------------------------------------------------- the optimizer

local LossScale = {__name = "LossScaleOptimizer"}
function LossScale.__index(self, key)
  local own = rawget(LossScale, key)
  if own ~= nil then return own end
  return rawget(self, "inner_optimizer")[key]
end

local function loss_scale_of(x, who)
  local class = getmetatable(x)
  if class == Fixed or class == Dynamic then return x end
  if x == "dynamic" then return mixed.DynamicLossScale() end
  if type(x) == "number" then return mixed.FixedLossScale(x) end
  T.fail(who, "'loss_scale' must be \"dynamic\", a number, a FixedLossScale or a DynamicLossScale, not %s", tostring(x))
end

-- An optimizer around another one: it scales the loss, scales the gradients back, and leaves out steps whose gradients are not
-- finite (variables, slots and the global step stay as they were).
local here_too = "tf.mixed_precision.LossScaleOptimizer"
def(here_too, "optimizer|opt|inner_optimizer loss_scale=dynamic", function(inner, scale)
  local class = getmetatable(inner)
  if class == LossScale then T.fail(here_too, "the optimizer has a loss scale already") end
  if type(inner) ~= "table" or inner.apply_pairs == nil or inner.compute_gradients == nil then
    T.fail(here_too, "'optimizer' must be one of tf.train (Keras has keras.optimizers.LossScaleOptimizer), not %s", T.kind(inner) or type(inner))
  end
  return setmetatable({inner_optimizer = inner, scale_rule = loss_scale_of(scale, here_too)}, LossScale)
end)
function LossScale:loss_scale() return self.scale_rule:now() end
function LossScale:get_scaled_loss(loss)
  if type(loss) == "function" then
    return function() return self:get_scaled_loss(loss()) end
  end
  local guard <close> = T.kind(loss) == "Node" and loss.graph:as_default() or nil
  return loss * tf.cast(self.scale_rule:now(), loss.dtype)
end
function LossScale:get_unscaled_gradients(grads)
  local inverse = tf.reciprocal(self.scale_rule:now())
  local out = {}
  for i, g in ipairs(grads) do out[i] = times(g, inverse) end
  return out
end
function LossScale:compute_gradients(loss, ...)
  local list = self.inner_optimizer:compute_gradients(self:get_scaled_loss(loss), ...)
  local graph = list[1] and list[1][2].graph
  local guard <close> = graph and graph:as_default() or nil
  local grads = {}
  for i, gv in ipairs(list) do grads[i] = gv[1] end
  for i, g in ipairs(self:get_unscaled_gradients(grads)) do list[i] = {g, list[i][2]} end
  return list
end

-- Graph: values are read before the step, and put back behind it unless it was good. Nodes that touch a variable run in the order of
-- their making.
function T.guarded_step(inner, list, good, global_step, name)
  local order, old = {}, {}
  local function note(v)
    if v and not old[v] then
      order[#order + 1] = v
      old[v] = raw.ReadVariableOp(v, {dtype = v.dtype})
    end
    return v
  end
  for _, gv in ipairs(list) do
    if gv[1] then note(gv[2]) end
  end
  local slot, scalar = inner.slot, inner.scalar
  rawset(inner, "slot", function(...) return note(slot(...)) end)
  rawset(inner, "scalar", function(...) return note(scalar(...)) end)
  local restored <close> = setmetatable({}, {__close = function()
    rawset(inner, "slot", nil)
    rawset(inner, "scalar", nil)
  end})
  local done = inner:apply_pairs(list, nil, name)
  local c <close> = tf.control_dependencies{done}
  local ops = {}
  for i, v in ipairs(order) do
    ops[i] = raw.AssignVariableOp(v, raw.SelectV2(good, raw.ReadVariableOp(v, {dtype = v.dtype}), old[v]), {dtype = v.dtype})
  end
  if global_step then ops[#ops + 1] = raw.AssignAddVariableOp(global_step, tf.cast(good, global_step.dtype), {dtype = global_step.dtype}) end
  return ops
end

local apply = T.bind("apply_gradients", "self grads_and_vars global_step? name?", function(self, list, global_step, name)
  local grads, first = {}, nil
  for _, gv in ipairs(list) do
    if type(gv) == "table" and not T.kind(gv) and gv[1] then
      grads[#grads + 1] = gv[1]
      first = first or gv[2]
    end
  end
  if not first or T.kind(first) ~= "Variable" then return self.inner_optimizer:apply_pairs(list, global_step, name) end -- says what is wrong
  if not first.graph then
    local finite = all_finite(grads)
    if not self.scale_rule.dynamic or finite:item() then self.inner_optimizer:apply_pairs(list, global_step, name) end
    self.scale_rule:update(finite)
    return true
  end
  local guard <close> = first.graph:as_default()
  local finite = all_finite(grads)
  if not self.scale_rule.dynamic then return self.inner_optimizer:apply_pairs(list, global_step, name) end
  local ops = T.guarded_step(self.inner_optimizer, list, finite, global_step, name)
  ops[#ops + 1] = self.scale_rule:update(finite)
  local done = tf.group(ops, {name = "loss_scale_update"})
  tf.add_to_collection(tf.GraphKeys.TRAIN_OP, done)
  return done
end)
function LossScale:apply_gradients(grads, second, ...)
  if type(second) == "table" and not T.kind(second) and T.kind(second[1]) == "Variable" then
    if #grads ~= #second then T.fail("apply_gradients", "%d gradients for %d variables", #grads, #second) end
    local zipped = {}
    for i, v in ipairs(second) do zipped[i] = {grads[i], v} end
    return apply(self, zipped, ...)
  end
  return apply(self, grads, second, ...)
end
function LossScale.apply_pairs(...) return apply(...) end
local minimize = T.bind("minimize", "self loss global_step? var_list? gate_gradients? aggregation_method? colocate_gradients_with_ops=false name? grad_loss?",
  function(self, loss, global_step, var_list, _, _, _, name)
    local list = self:compute_gradients(loss, var_list)
    local any, names = false, {}
    for i, gv in ipairs(list) do
      any = any or gv[1]
      names[i] = gv[2].name
    end
    if not any then T.fail("minimize", "the loss depends on none of the variables: %s", table.concat(names, ", ")) end
    return apply(self, list, global_step, name)
  end)
function LossScale.minimize(...) return minimize(...) end
function LossScale:variables()
  local out = self.inner_optimizer:variables()
  for _, v in ipairs(self.scale_rule:variables()) do out[#out + 1] = v end
  return out
end
function LossScale:get_slot(...) return self.inner_optimizer:get_slot(...) end
function LossScale:get_slot_names() return self.inner_optimizer:get_slot_names() end
function LossScale:get_name() return self.inner_optimizer:get_name() end

-- ------------------------------------------------------------------------------------- TensorFlow's other names

mixed.experimental = {Policy = mixed.Policy, set_policy = mixed.set_global_policy, global_policy = mixed.global_policy,
  LossScaleOptimizer = mixed.LossScaleOptimizer, FixedLossScale = mixed.FixedLossScale, DynamicLossScale = mixed.DynamicLossScale}
local experimental = T.namespace "tf.train.experimental"
experimental.FixedLossScale, experimental.DynamicLossScale = mixed.FixedLossScale, mixed.DynamicLossScale
experimental.MixedPrecisionLossScaleOptimizer = mixed.LossScaleOptimizer
-- TensorFlow rewrites the graph when it runs; here what is emitted from now on is in 16 bits: call it before the model is built.
def("tf.train.experimental.enable_mixed_precision_graph_rewrite", "opt loss_scale=dynamic", function(opt, loss_scale)
  emit_under(T.dtype_policy "mixed_float16")
  return mixed.LossScaleOptimizer(opt, loss_scale)
end)
def("tf.train.experimental.disable_mixed_precision_graph_rewrite", "", function() emit_under(nil) end)
