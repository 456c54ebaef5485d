-- slim.learning: training operations, and the loop that runs them.
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
    if summarize then T.fail_code(12, who, "'summarize_gradients' is not supported") end
    if type(total_loss) == "function" then
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
    local done = optimizer:apply_gradients(list, global_step or nil)
    local s <close> = T.scope("train_op")
    if check then loss = raw.CheckNumerics(loss, {message = "LossTensor is inf or nan"}) end
    local e <close> = tf.control_dependencies {done}
    local train_op = raw.Identity(loss)
    local ops = tf.get_collection_ref(KEYS.TRAIN_OP)
    local known = false
    for _, op in ipairs(ops) do known = known or op == train_op end
    if not known then ops[#ops + 1] = train_op end
    return train_op
  end)

-- ------------------------------------------------------------------------------------- the loop

-- One step: runs the training op, logs, says whether to stop.
function learning.train_step(sess, train_op, global_step, kwargs)
  local start = tf.time()
  local r = sess:run({loss = train_op, step = kwargs.step_after or global_step}, kwargs.feeds and kwargs.feeds() or nil)
  local seconds = tf.time() - start
  local log = kwargs.should_log
  if type(log) == "function" and log(r.step) or log == true then
    kwargs.log(("global step %d: loss = %.4f (%.3f sec/step)"):format(r.step, r.loss, seconds))
  end
  local stop = kwargs.should_stop and kwargs.should_stop(r.step) or false
  return r.loss, stop
end

local function to_stderr(line) io.stderr:write("INFO:", line, "\n") end

-- Runs steps until number_of_steps (counted by the global step), until the data end (OutOfRange), or until the step
-- function says so. Gives the last loss. `feeds`: a function without arguments that gives what to feed at the next step, nil to
-- end; `session`: one to go on with, variables initialized.
def("tf.slim.learning.train", "train_op logdir? train_step_fn? train_step_kwargs? log_every_n_steps=1 graph? master? is_chief=true global_step? number_of_steps? init_op? init_feed_dict? local_init_op? init_fn? ready_op? summary_op? save_summaries_secs=600 summary_writer? startup_delay_steps=0 saver? save_interval_secs=600 sync_optimizer? session_config? session_wrapper? trace_every_n_steps? ignore_live_threads=false feeds? session? log?",
  function(train_op, logdir, step_fn, kwargs, every, graph, _, _, global_step, steps, init_op, init_feeds, local_init, init_fn, _,
      summary_op, _, summary_writer, _, saver, _, sync, config, wrapper, trace, _, feeds, session, log)
    local who = "slim.learning.train"
    for name, value in pairs {summary_op = summary_op, summary_writer = summary_writer, saver = saver, sync_optimizer = sync, trace_every_n_steps = trace} do
      if value then T.fail_code(12, who, ("'%s' is not supported"):format(name)) end
    end
    if T.kind(train_op) ~= "Node" then T.fail(who, "'train_op' must be what create_train_op gave, not %s", T.kind(train_op) or type(train_op)) end
    if steps and steps <= 0 then T.fail(who, "'number_of_steps' must be above 0, not %s", tostring(steps)) end
    graph = graph or train_op.graph
    local guard <close> = graph:as_default()
    global_step = global_step or tf.train.get_or_create_global_step()
    if init_op == nil then init_op = tf.global_variables_initializer() end
    if local_init == nil then local_init = tf.local_variables_initializer() end
    kwargs = kwargs or {}
    local own = {should_log = function(step) return every > 0 and step % every == 0 end, log = log or to_stderr, logdir = logdir,
      should_stop = function(step) return steps and step >= steps or false end}
    do -- the count once the step is done
      local c <close> = tf.control_dependencies {train_op}
      own.step_after = raw.ReadVariableOp(global_step, {dtype = global_step.dtype})
    end
    local fed
    if feeds then
      own.feeds = function() return fed end
    end
    for k, v in pairs(kwargs) do own[k] = v end
    local sess = session or tf.Session {graph = graph, config = config}
    local mine <close> = not session and sess or nil
    if wrapper then sess = wrapper(sess) end
    if not session then
      if init_op then sess:run(init_op, init_feeds) end
      if local_init then sess:run(local_init) end
      if init_fn then init_fn(sess) end
    end
    step_fn = step_fn or learning.train_step
    local loss
    while true do
      if feeds then
        fed = feeds()
        if fed == nil then break end
      end
      local ok, value, stop = pcall(step_fn, sess, train_op, global_step, own)
      if not ok then
        if type(value) == "table" and value.code == "OUT_OF_RANGE" then break end
        error(value, 0)
      end
      loss = value
      if stop then break end
    end
    return loss
  end)
return learning
