-- slim.learning.train: runs the training op, logs, writes summaries and checkpoints, and goes on from the latest checkpoint as if the
-- run had not been stopped: variables, random numbers and the position of the data included.
local tf, T = ...
local learning = T.namespace "tf.slim.learning"
local raw, def = tf.raw, T.def

local function to_stderr(line) io.stderr:write("INFO:", line, "\n") end

-- A condition of the step function: a boolean, a function of the step, or a value of the graph.
local function holds(condition, sess, step)
  if type(condition) == "function" then return condition(step) end
  if T.kind(condition) then return sess:run(condition) end
  return condition or false
end

-- ------------------------------------------------------------------------------------- one step

local function write_trace(kwargs, trace, step)
  local path = ("%s/tf_trace-%d.json"):format(kwargs.logdir, step)
  trace:write(path)
  if kwargs.log then kwargs.log("Writing trace to " .. path) end
  if kwargs.summary_writer then kwargs.summary_writer:add_run_metadata(trace:run_metadata(), ("run_metadata-%d"):format(step), step) end
end

-- Runs the training op; gives the loss, and whether to stop. kwargs: should_stop, should_log, should_trace, logdir, summary_writer. `train`
-- also puts in it: log(line), feeds() (what to feed at this step), step_after (the count once the step is done), count (how many are
-- done), summary_op and summary_due().
function learning.train_step(sess, train_op, global_step, kwargs)
  local fetches = {loss = train_op, step = kwargs.step_after or global_step}
  local summary = kwargs.summary_op and kwargs.summary_writer and holds(kwargs.summary_due, sess)
  if summary then fetches.summary = kwargs.summary_op end
  local options
  if kwargs.should_trace then
    if not kwargs.logdir then T.fail("slim.learning.train_step", "'should_trace' needs 'logdir', the folder that traces are written to") end
    if holds(kwargs.should_trace, sess, (kwargs.count or 0) + 1) then options = {trace = true} end
  end
  local start = tf.time()
  local feeds = kwargs.feeds and kwargs.feeds() or nil
  local ok, r, trace = pcall(sess.run, sess, fetches, feeds, options)
  if not ok then
    -- A loss that is not finite ends the step before anything is updated: once more, to name the first value that is not.
    if tostring(r):find("inf or nan", 1, true) then
      local fine, first = pcall(sess.run, sess, fetches, feeds, {break_on_nan = true})
      if not fine then error(first, 0) end
    end
    error(r, 0)
  end
  local seconds = tf.time() - start
  kwargs.count = r.step
  if trace then write_trace(kwargs, trace, r.step) end
  if summary then
    kwargs.summary_writer:add_summary(r.summary, r.step)
    kwargs.summary_written = r.step
  end
  if holds(kwargs.should_log, sess, r.step) then
    (kwargs.log or to_stderr)(("global step %d: loss = %.4f (%.3f sec/step)"):format(r.step, r.loss, seconds))
  end
  return r.loss, holds(kwargs.should_stop, sess, r.step)
end

-- ------------------------------------------------------------------------------------- the loop

-- Whether it is time; first at once. With 0 never.
local function every(seconds)
  local next_time = seconds > 0 and tf.time() or math.huge
  return function()
    local now = tf.time()
    if now < next_time then return false end
    next_time = now + seconds
    return true
  end
end

-- Where the data of a run are, by name: those that the graph reads, and iterators of the script.
local function positions(graph, iterators)
  local out = {}
  for i, source in ipairs(T.graph_data(graph).sources or {}) do out["get_next_" .. i] = source.position() end
  for name, it in pairs(iterators or {}) do out[name] = it:position() end
  return next(out) and out or nil
end
local function seek(graph, iterators, saved, log)
  local lacking
  for i, source in ipairs(T.graph_data(graph).sources or {}) do
    local at = saved["get_next_" .. i]
    if at then source.seek(at) else lacking = true end
  end
  for name, it in pairs(iterators or {}) do
    if saved[name] then T.seek(it, saved[name]) else lacking = true end
  end
  if lacking then log "The checkpoint does not say where the data were: they begin anew" end
end

-- Summaries apart from the training op, for step functions that do not fetch them. The run leaves no trace: random numbers and data
-- are where they were.
local function summary_apart(sess, graph, op, feeds)
  local random, where = T.random_state(sess), {}
  for i, source in ipairs(T.graph_data(graph).sources or {}) do where[i] = source.position() end
  local bytes = sess:run(op, feeds)
  for i, source in ipairs(T.graph_data(graph).sources or {}) do
    if source.position() ~= where[i] then source.seek(where[i]) end
  end
  T.set_random_state(sess, random)
  return bytes
end

local function initialize(sess, o)
  local restored
  local latest = o.logdir and tf.train.latest_checkpoint(o.logdir)
  if latest then
    o.log("Restoring parameters from " .. latest)
    restored = o.saver:restore(sess, latest)
    seek(o.graph, o.iterators, restored.state and restored.state.iterators or {}, o.log)
  else
    if o.init_op then sess:run(o.init_op, o.init_feed_dict) end
    if o.init_fn then o.init_fn(sess) end
  end
  if o.local_init_op then sess:run(o.local_init_op) end
  if o.ready_op then
    local left = sess:run(o.ready_op, nil, {raw = true})
    if left:size() > 0 then
      local names = left:reshape {-1}:table()
      T.fail_code(9, "slim.learning.train", ("%d variables have no value yet (%s%s): %s"):format(#names, table.concat(names, ", ", 1, math.min(#names, 5)),
        #names > 5 and ", ..." or "", latest and "the checkpoint lacks them, and init_op is for runs that begin" or "init_op does not reach them"))
    end
  end
  return latest ~= nil
end

-- Runs steps until the step function says so: by default when the global step is number_of_steps. Also ends when the data end
-- (OutOfRange), and at SIGINT or SIGTERM where there is a logdir. Gives the last loss, nil if there was no step to do.
--   logdir            summaries, traces and checkpoints (model.ckpt-STEP); the latest is gone on from, instead of init_op and init_fn
--   train_step_fn     function(sess, train_op, global_step, kwargs) -> loss, stop
--   train_step_kwargs goes over what train makes for the step function
-- Besides TensorFlow's: `feeds`, a function without arguments that gives what to feed at the next step, nil to end; `iterators`, {name =
-- iterator} of the script's own, whose positions are saved; `session`, one to go on with, variables initialized; `log`, a
-- function of a line.
local signature = [[train_op logdir? train_step_fn? train_step_kwargs? log_every_n_steps=1 graph? master? is_chief=true global_step?
  number_of_steps? init_op? init_feed_dict? local_init_op? init_fn? ready_op? summary_op? save_summaries_secs=600 summary_writer?
  startup_delay_steps=0 saver? save_interval_secs=600 sync_optimizer? session_config? session_wrapper? trace_every_n_steps?
  ignore_live_threads=false feeds? iterators? session? log?]]
local names = {}
for word in signature:gmatch "%S+" do names[#names + 1] = word:match "^[^?=]*" end

local function check(o)
  local who = "slim.learning.train"
  if T.kind(o.train_op) ~= "Node" then
    T.fail(who, "'train_op' must be what create_train_op gave, not %s", T.kind(o.train_op) or type(o.train_op))
  end
  for name, there in pairs {master = o.master and o.master ~= "", is_chief = o.is_chief == false, sync_optimizer = o.sync_optimizer} do
    if there then T.fail_code(12, who, ("'%s' is for training on several machines, which is not supported"):format(name)) end
  end
  if o.number_of_steps and o.number_of_steps <= 0 then T.fail(who, "'number_of_steps' must be above 0, not %s", o.number_of_steps) end
  if o.trace_every_n_steps and o.trace_every_n_steps <= 0 then
    T.fail(who, "'trace_every_n_steps' must be above 0, not %s", o.trace_every_n_steps)
  end
  if not o.logdir then
    for _, name in ipairs {"summary_op", "summary_writer", "saver", "trace_every_n_steps"} do
      if o[name] then T.fail(who, "'%s' needs 'logdir', the folder that is written to", name) end
    end
  end
end

-- What is not given. `false` stands for none.
local function complete(o)
  o.log = o.log or to_stderr
  o.global_step = o.global_step or tf.train.get_or_create_global_step()
  if o.init_op == nil then o.init_op = tf.global_variables_initializer() end
  if o.local_init_op == nil then o.local_init_op = tf.local_variables_initializer() end
  if o.ready_op == nil then o.ready_op = tf.report_uninitialized_variables() end
  if not o.logdir then return end
  if o.summary_op == nil then o.summary_op = tf.summary.merge_all() end
  o.saver = o.saver or tf.train.Saver {background = true}
end

local function train(o)
  check(o)
  o.graph = o.graph or o.train_op.graph
  local in_graph <close> = o.graph:as_default()
  complete(o)
  local log, steps, logdir = o.log, o.number_of_steps, o.logdir
  local fed
  local own = {log = log, logdir = logdir, summary_op = o.summary_op or nil, summary_due = every(logdir and o.save_summaries_secs or 0),
    should_log = function(step) return o.log_every_n_steps > 0 and step % o.log_every_n_steps == 0 end,
    should_stop = function(step) return steps and step >= steps or false end,
    should_trace = o.trace_every_n_steps and function(step) return step % o.trace_every_n_steps == 0 end or nil,
    feeds = o.feeds and function() return fed end or nil}
  do
    local c <close> = tf.control_dependencies {o.train_op}
    own.step_after = raw.ReadVariableOp(o.global_step, {dtype = o.global_step.dtype})
  end
  if logdir then T.make_folders(logdir) end
  local stop <close> = logdir and tf.train.catch_stop() or nil -- closed last: the signal comes when all is on the disk
  local session = o.session or tf.Session {graph = o.graph, config = o.session_config}
  local mine <close> = not o.session and session or nil
  local restored = not o.session and initialize(session, o)
  local saving <close> = logdir and o.saver or nil -- waits until the last checkpoint is on the disk
  local writer = logdir and o.summary_writer ~= false and (o.summary_writer or tf.summary.FileWriter(logdir, o.graph)) or nil
  local closing <close> = writer and not o.summary_writer and writer or nil
  own.summary_writer = writer
  for k, v in pairs(o.train_step_kwargs or {}) do own[k] = v end
  own.count = session:run(o.global_step)
  local saved_at = restored and own.count or nil
  local function save(background)
    if saved_at == own.count then return end
    local path = o.saver:save(session, logdir .. "/model.ckpt", {global_step = own.count, iterators = positions(o.graph, o.iterators),
      background = background})
    saved_at = own.count
    if writer then writer:add_session_log({status = tf.SessionLog.CHECKPOINT, checkpoint_path = path}, own.count) end
    return path
  end
  local save_due = every(logdir and o.save_interval_secs or 0)
  if writer then writer:add_session_log({status = tf.SessionLog.START}, own.count) end
  local sess = o.session_wrapper and o.session_wrapper(session) or session
  local step_fn = o.train_step_fn or learning.train_step
  local rate_at, rate_step = tf.time(), own.count
  local loss
  while not (steps and own.count >= steps) do
    if save_due() then
      local path = save()
      if path then log("Saving checkpoint to path " .. path) end
    end
    if o.feeds then
      fed = o.feeds()
      if fed == nil then break end
    end
    local before = own.count
    own.summary_written = nil
    local ok, value, done = pcall(step_fn, sess, o.train_op, o.global_step, own)
    if not ok then
      if type(value) ~= "table" or value.code ~= "OUT_OF_RANGE" then error(value, 0) end
      log("Caught OutOfRangeError. Stopping Training.")
      break
    end
    loss = value
    if own.count == before then own.count = session:run(o.global_step) end -- a step function of its own
    if writer and not own.summary_written and own.summary_op and o.train_step_fn and own.summary_due() then
      writer:add_summary(summary_apart(session, o.graph, own.summary_op, fed), own.count)
      own.summary_written = own.count
    end
    if own.summary_written then
      local now = tf.time()
      if own.count > rate_step then
        writer:add_summary(tf.Summary {value = {{tag = "global_step/sec", simple_value = (own.count - rate_step) / math.max(now - rate_at, 1e-9)}}},
          own.count)
      end
      rate_at, rate_step = now, own.count
    end
    if stop and stop:requested() then
      log(("Stopping at step %d: %s"):format(own.count, stop:requested()))
      break
    end
    if done then break end
  end
  if logdir then
    o.saver:wait()
    if save(false) then log "Finished training! Saving model to disk." end
    if writer then
      writer:add_session_log({status = tf.SessionLog.STOP}, own.count)
      writer:flush()
    end
  end
  return loss
end
def("tf.slim.learning.train", signature, function(...)
  local o = {}
  for i, name in ipairs(names) do o[name] = (select(i, ...)) end
  return train(o)
end)
return learning
