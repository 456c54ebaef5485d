-- slim.learning: training operations; train.lua has the loop that runs them.
local tf, T = ...
local learning = T.namespace "tf.slim.learning"
local raw, def = tf.raw, T.def
local KEYS = tf.GraphKeys

-- ------------------------------------------------------------------------------------- gradients

local function clip(list, max_norm)
  local out = {}
  for i, gv in ipairs(list) do
    local g = gv[1]
    if g and T.kind(g) == "IndexedSlices" then
      g = tf.IndexedSlices(tf.clip_by_norm(g.values, max_norm), g.indices, g.dense_shape)
    elseif g then
      g = tf.clip_by_norm(g, max_norm)
    end
    out[i] = {g, gv[2]}
  end
  return out
end
-- Each gradient by its own norm. With `false` for a gradient that is none.
def("tf.slim.learning.clip_gradient_norms", "gradients_to_variables max_norm", clip)
-- multipliers: {[variable or name] = number or tensor}
local function multiply(list, multipliers)
  if type(multipliers) ~= "table" or next(multipliers) == nil then
    T.fail("slim.learning.multiply_gradients", "'gradient_multipliers' must be a table by variable or name")
  end
  local out = {}
  for i, gv in ipairs(list) do
    local g, v = gv[1], gv[2]
    local k = multipliers[v]
    if k == nil then k = multipliers[(v.name:gsub(":%d+$", ""))] end
    if k ~= nil then
      if not g then T.fail("slim.learning.multiply_gradients", "variable '%s' has a multiplier and no gradient", v.name) end
      if T.kind(g) == "IndexedSlices" then
        g = tf.IndexedSlices(g.values * T.value(k, g.values.dtype), g.indices, g.dense_shape)
      else
        g = g * T.value(k, g.dtype)
      end
    end
    out[i] = {g, v}
  end
  return out
end
def("tf.slim.learning.multiply_gradients", "grads_and_vars gradient_multipliers", multiply)

-- Summaries of gradients: VARIABLE/gradient, a histogram, and VARIABLE/gradient_norm. Gives the list of them.
def("tf.slim.learning.add_gradients_summaries", "grads_and_vars", function(list)
  local out = {}
  for _, gv in ipairs(list) do
    local g = gv[1]
    if g then
      local name = gv[2].name:gsub(":%d+$", "")
      if T.kind(g) == "IndexedSlices" then g = g.values end
      out[#out + 1] = tf.summary.histogram(name .. "/gradient", g)
      out[#out + 1] = tf.summary.scalar(name .. "/gradient_norm", tf.sqrt(tf.reduce_sum(g * g)))
    end
  end
  return out
end)

-- ------------------------------------------------------------------------------------- the training op

local function reworked(list, multipliers, norm)
  if multipliers then list = multiply(list, multipliers) end
  if type(norm) ~= "number" or norm > 0 then list = clip(list, norm) end
  return list
end

-- An operation that updates the variables and gives the loss. The updates of statistics (UPDATE_OPS, or what `update_ops`
-- lists) come before the loss. In define-by-run mode total_loss is a function, and so is the result.
def("tf.slim.learning.create_train_op", "total_loss optimizer global_step? update_ops? variables_to_train? clip_gradient_norm=0 summarize_gradients=false gate_gradients? aggregation_method? colocate_gradients_with_ops=false gradient_multipliers? check_numerics=true",
  function(total_loss, optimizer, global_step, update_ops, variables, norm, summarize, _, _, _, multipliers, check)
    local who = "slim.learning.create_train_op"
    if type(total_loss) == "function" then
      if summarize then T.fail_code(12, who, "'summarize_gradients' needs a graph; in define-by-run mode use tf.summary.FileWriter's histogram()") end
      return function()
        local tape <close> = tf.GradientTape()
        local loss = total_loss()
        local vars = variables or tf.trainable_variables()
        local grads, list = tape:gradient(loss, vars), {}
        tape:stop()
        if check then raw.CheckNumerics(loss, {message = "LossTensor is inf or nan"}) end
        for i, v in ipairs(vars) do list[i] = {grads[i], v} end
        optimizer:apply_gradients(reworked(list, multipliers, norm), global_step or nil)
        return loss
      end
    end
    if T.kind(total_loss) == "Variable" and total_loss.graph then total_loss = T.value(total_loss) end
    if T.kind(total_loss) ~= "Node" then T.fail(who, "'total_loss' must be a value of the graph, not %s", T.kind(total_loss) or type(total_loss)) end
    if global_step == nil then global_step = tf.train.get_or_create_global_step() end
    local all = tf.get_collection(KEYS.UPDATE_OPS)
    if update_ops == nil then
      update_ops = all
    else
      local have = {}
      for _, op in ipairs(update_ops) do have[op] = true end
      for _, op in ipairs(all) do
        if not have[op] then
          io.stderr:write(("slim.learning: update_ops leaves out '%s' of UPDATE_OPS: its statistics will not move\n"):format(op.name))
          break
        end
      end
    end
    local loss = total_loss
    if #update_ops > 0 then
      local c <close> = tf.control_dependencies(update_ops)
      local barrier = tf.no_op "update_barrier"
      local d <close> = tf.control_dependencies {barrier}
      loss = raw.Identity(total_loss)
    end
    local list = optimizer:compute_gradients(loss, variables)
    list = reworked(list, multipliers, norm)
    if summarize then
      local t <close> = T.scope("summarize_grads")
      learning.add_gradients_summaries(list)
    end
    local path, done
    do
      local s <close> = T.scope("train_op")
      path = T.name_scope()
      if check then loss = raw.CheckNumerics(loss, {message = "LossTensor is inf or nan"}) end
    end
    do -- a step whose loss is no number changes nothing
      local c <close> = check and tf.control_dependencies {loss} or nil
      done = optimizer:apply_gradients(list, global_step or nil)
    end
    local s <close> = tf.name_scope(path)
    local e <close> = tf.control_dependencies {done}
    local train_op = raw.Identity(loss)
    local ops = tf.get_collection_ref(KEYS.TRAIN_OP)
    local known = false
    for _, op in ipairs(ops) do known = known or op == train_op end
    if not known then ops[#ops + 1] = train_op end
    return train_op
  end)

T.include("slim", "train")
return learning
