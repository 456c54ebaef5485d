-- tf.keras.optimizers.LossScaleOptimizer: the loss is multiplied before its gradients are taken, so that small ones are not lost in 16
-- bits, and they are divided again. A step whose gradients are not finite is left out and halves the scale; dynamic_growth_steps
-- good ones in a row double it (Micikevicius et al., 2018).
--
-- In fit the scaled gradients are kept in variables until the host has seen whether they are finite.
local tf, T = ...
local raw = tf.raw
local optimizers = T.include("keras", "optimizers_base")

local LossScale = optimizers:class("LossScaleOptimizer", "inner_optimizer initial_scale=32768 dynamic_growth_steps=2000 learning_rate|lr=0 weight_decay? clipnorm? clipvalue? global_clipnorm? use_ema=false ema_momentum=0.99 ema_overwrite_frequency? loss_scale_factor? gradient_accumulation_steps? decay=0 name=loss_scale_optimizer", {
  init = function(self, path)
    local inner = optimizers:get(self.inner_optimizer, path)
    if not optimizers:is(inner) then T.fail(path, "'inner_optimizer' must be a Keras optimizer, not %s", type(self.inner_optimizer)) end
    if inner.gradient_accumulation_steps then T.fail(path, "the inner optimizer must not accumulate gradients") end
    self.inner_optimizer, self.dynamic_scale, self.step_counter = inner, self.initial_scale, 0
    rawset(self, "learning_rate", nil)
  end,
  dynamic = true})
local base = optimizers.base
-- The rate and the count of steps are those of the optimizer inside.
local of_inner = {learning_rate = true, lr = true, iterations = true, calls = true, made = true}
function LossScale.__index(self, key)
  if of_inner[key] and rawget(self, "dynamic_scale") then return self.inner_optimizer[key] end
  local value = LossScale.own[key]
  if value == nil then value = base[key] end
  return value
end
function LossScale.__newindex(self, key, value)
  if of_inner[key] and rawget(self, "dynamic_scale") then self.inner_optimizer[key] = value else rawset(self, key, value) end
end
local own = {dynamic = true}
LossScale.own = own
function own:rate() return self.inner_optimizer:rate() end
function own:step_numbers()
  local out = self.inner_optimizer:step_numbers()
  out.loss_scale = self.dynamic_scale
  return out
end
function own:feed(graph, feed)
  self.inner_optimizer:feed(graph, feed)
  return base.feed(self, graph, feed)
end
function own:next_action() return "update", select(2, self.inner_optimizer:next_action()) end
function own:variables() return self.inner_optimizer:variables() end
function own:get_slot(v, name) return self.inner_optimizer:get_slot(v, name) end
function own:build(list) self.inner_optimizer:build(list) end
function own:emit_overwrite(list) return self.inner_optimizer:emit_overwrite(list) end
function own:finalize_variable_values(list) return self.inner_optimizer:finalize_variable_values(list) end
-- Notes how the step went: whether its gradients were finite.
function own:judge(finite)
  if not finite then
    self.dynamic_scale, self.step_counter = self.dynamic_scale / 2, 0
    return
  end
  self.inner_optimizer:stepped_on()
  self.step_counter = self.step_counter + 1
  if self.step_counter >= self.dynamic_growth_steps then self.dynamic_scale, self.step_counter = self.dynamic_scale * 2, 0 end
end
function own:scale(loss) return loss * self:fed("loss_scale", loss.dtype) end
local function dense(g) return T.kind(g) == "IndexedSlices" and T.dense(g) or g end
-- Keeps scaled gradients; gives the ops, and whether all are finite.
function own:emit_store(list)
  local ops, good = {}, {}
  for i, gv in ipairs(list) do
    local g = dense(gv[1])
    ops[i] = raw.AssignVariableOp(base.slot(self, gv[2], "scaled_gradient"), g, {dtype = gv[2].dtype})
    good[i] = tf.reduce_all(tf.is_finite(g))
  end
  return ops, tf.reduce_all(tf.stack(good))
end
-- The step with what was kept.
function own:emit_stored(vars, constraint)
  local list = {}
  for i, v in ipairs(vars) do
    list[i] = {self:fresh(base.slot(self, v, "scaled_gradient")) / self:fed("loss_scale", v.dtype), v}
  end
  return self.inner_optimizer:emit(list, constraint)
end
-- Define-by-run: the gradients are those of the scaled loss.
function own:apply_gradients(grads, variables)
  local list = {}
  if variables then for i, v in ipairs(variables) do if grads[i] then list[#list + 1] = {grads[i], v} end end
  else for i, gv in ipairs(grads) do if gv[1] then list[#list + 1] = {gv[1], gv[2]} end end end
  return tf.eager(function()
    local finite = true
    for i, gv in ipairs(list) do
      local g = dense(gv[1])
      finite = finite and tf.reduce_all(tf.is_finite(g)):item()
      list[i] = {g / self.dynamic_scale, gv[2]}
    end
    if finite then
      self.inner_optimizer:emit(list, T.keras_constraint_of)
      local _, overwrite = self.inner_optimizer:next_action()
      if overwrite then
        local vars = {}
        for i, gv in ipairs(list) do vars[i] = gv[2] end
        self.inner_optimizer:emit_overwrite(vars)
      end
    end
    self:judge(finite)
    return self.iterations
  end)
end
own.apply = own.apply_gradients
function own:scale_loss(loss) return loss * self.dynamic_scale end
function own:get_config()
  return {inner_optimizer = optimizers:serialize(self.inner_optimizer), initial_scale = self.initial_scale, dynamic_growth_steps = self.dynamic_growth_steps, name = self.name}
end
function own:get_weights()
  local out = self.inner_optimizer:get_weights()
  out[#out + 1], out[#out + 2] = tf.tensor(self.dynamic_scale, "float32"), tf.tensor(self.step_counter, "int64")
  return out
end
function own:set_weights(list)
  local inner = {table.unpack(list, 1, #list - 2)}
  self.inner_optimizer:set_weights(inner)
  self.dynamic_scale, self.step_counter = list[#list - 1]:item(), math.tointeger(list[#list]:item())
end
function LossScale.from_config(config)
  config.inner_optimizer = optimizers:deserialize(config.inner_optimizer)
  return LossScale.new(config)
end
return LossScale
