-- slim.evaluation: metrics over many batches, of one checkpoint or of each that a training run saves.
local tf, T = ...
local evaluation = T.namespace "tf.slim.evaluation"
local def = T.def

local function to_stderr(line) io.stderr:write("INFO:", line, "\n") end

-- ------------------------------------------------------------------------------------- waiting for checkpoints

-- The path of a checkpoint that is not `last_checkpoint`; nil when `timeout` seconds have passed.
def("tf.slim.evaluation.wait_for_new_checkpoint", "checkpoint_dir last_checkpoint? seconds_to_sleep=1 timeout?", function(folder, last, pause, timeout)
  local stop_at = timeout and tf.time() + timeout or math.huge
  while true do
    local ok, path = pcall(tf.train.latest_checkpoint, folder)
    if ok and path and path ~= last then return path end
    -- While a run goes on, its newest checkpoint may vanish between looking and opening.
    if not ok and (type(path) ~= "table" or path.code ~= "NOT_FOUND") then error(path, 0) end
    if tf.time() + pause > stop_at then return nil end
    T.sleep(pause)
  end
end)

-- for path in slim.evaluation.checkpoints_iterator(folder) do ... end: each new checkpoint, the newest first seen, at most one in
-- min_interval_secs. After `timeout` seconds without a new one it ends; with timeout_fn if that says so.
def("tf.slim.evaluation.checkpoints_iterator", "checkpoint_dir min_interval_secs=0 timeout? timeout_fn?", function(folder, interval, timeout, timeout_fn)
  local last, began
  return function()
    if began then T.sleep(began + interval - tf.time()) end
    while true do
      local path = evaluation.wait_for_new_checkpoint(folder, last, {timeout = timeout, seconds_to_sleep = math.min(1, (timeout or 1) / 4)})
      if path then
        last, began = path, tf.time()
        return path
      end
      if not timeout_fn or timeout_fn() then return nil end
    end
  end
end)

-- ------------------------------------------------------------------------------------- hooks

-- Hooks are tables with some of TensorFlow's methods: begin(), after_create_session(session), before_run(context) -> nil or
-- {fetches =, feed_dict =}, after_run(context, {results =}), and under the key "end" one of the session.
local function call_hooks(hooks, method, ...)
  for _, h in ipairs(hooks) do
    if h[method] then h[method](h, ...) end
  end
end
local function run_with(sess, hooks, fetches, feeds)
  if #hooks == 0 then return sess:run(fetches, feeds), false end
  local stop = false
  local context = {session = sess, original_args = {fetches = fetches, feed_dict = feeds}}
  function context.request_stop() stop = true end
  function context.stop_requested() return stop end
  local all, fed = {own = fetches}, {}
  for k, v in pairs(feeds or {}) do fed[k] = v end
  for i, h in ipairs(hooks) do
    local more = h.before_run and h:before_run(context)
    if more then
      all[i] = T.kind(more) and more or more.fetches
      if not T.kind(more) then
        for k, v in pairs(more.feed_dict or {}) do fed[k] = v end
      end
    end
  end
  local r = sess:run(all, fed)
  for i, h in ipairs(hooks) do
    if h.after_run then h:after_run(context, {results = r[i]}) end
  end
  return r.own, stop
end

-- ------------------------------------------------------------------------------------- one evaluation

local function out_of_range(why) return type(why) == "table" and why.code == "OUT_OF_RANGE" end

-- The options of both functions, checked and with what follows from the graph.
local function prepare(who, o)
  if o.master and o.master ~= "" then T.fail_code(12, who, "'master' is for several machines, which is not supported") end
  if math.type(o.num_evals) ~= "integer" or o.num_evals < 1 then T.fail(who, "'num_evals' must be a whole number above 0, not %s", o.num_evals) end
  if o.summary_op and not o.logdir then T.fail(who, "'summary_op' needs 'logdir', the folder that is written to") end
  o.graph = o.graph or o.session and o.session.graph or tf.get_default_graph()
  o.hooks, o.log = o.hooks or {}, o.log or to_stderr
  local guard <close> = o.graph:as_default()
  if o.summary_op == nil and o.logdir then o.summary_op = tf.summary.merge_all() end
  o.local_init = tf.local_variables_initializer()
  if not o.session then
    o.init = tf.global_variables_initializer()
    o.saver = tf.train.Saver {var_list = o.variables_to_restore or tf.global_variables(), allow_empty = true}
  end
  return o
end

local function evaluate(o, checkpoint)
  local guard <close> = o.graph:as_default()
  call_hooks(o.hooks, "begin")
  local sess = o.session or tf.Session {graph = o.graph, config = o.session_config}
  local mine <close> = not o.session and sess or nil
  if not o.session then
    if checkpoint then
      if o.variables_to_restore then sess:run(o.init) end -- the rest begins as in a new run
      o.saver:restore(sess, checkpoint, {random = false})
    else
      sess:run(o.init)
    end
    if o.init_fn then o.init_fn(sess) end
    for _, source in ipairs(T.graph_data(o.graph).sources or {}) do -- a new session reads the data from their start
      if source.position() ~= source.start then source.seek(source.start) end
    end
  end
  sess:run(o.local_init)
  if o.initial_op then sess:run(o.initial_op, o.initial_op_feed_dict) end
  call_hooks(o.hooks, "after_create_session", sess)
  for _ = 1, o.eval_op and o.num_evals or 0 do
    local feeds = o.eval_op_feed_dict
    if o.feeds then
      feeds = o.feeds()
      if feeds == nil then break end
    end
    local ok, why, stop = pcall(run_with, sess, o.hooks, o.eval_op, feeds)
    if not ok then
      if not out_of_range(why) then error(why, 0) end
      break -- the data end
    end
    if stop then break end
  end
  local value
  if o.final_op then value = sess:run(o.final_op, o.final_op_feed_dict) end
  if o.summary_op then
    local writer = o.writer or tf.summary.FileWriter(o.logdir)
    local own <close> = not o.writer and writer or nil
    local step = tf.train.get_global_step(o.graph)
    writer:add_summary(sess:run(o.summary_op, o.summary_op_feed_dict), step and sess:run(step) or 0)
    writer:flush()
  end
  call_hooks(o.hooks, "end", sess)
  return value
end

local common = [[num_evals=1 initial_op? initial_op_feed_dict? %s eval_op? eval_op_feed_dict? final_op? final_op_feed_dict? summary_op?
  summary_op_feed_dict? variables_to_restore? %s session_config? %s hooks? %s]]
-- Binds a function of one table with all options.
local function with_options(path, signature, fn)
  local names = {}
  for word in signature:gmatch "%S+" do names[#names + 1] = word:match "^[^?=]*" end
  def(path, signature, function(...)
    local o = {}
    for i, name in ipairs(names) do o[name] = (select(i, ...)) end
    return fn(prepare((path:gsub("^tf%.", "")), o))
  end)
end

-- Evaluates one checkpoint: runs eval_op num_evals times (or until the data end) and gives the value of final_op. Summaries go to `logdir`
-- at the checkpoint's global step; by default all of the graph, false for none. Besides TensorFlow's: `session`, one whose
-- variables have their values; `init_fn(sess)`, which gives them; `feeds`, a function that gives what to feed at the
-- next run, nil to end; `graph`; `log`, a function of a line.
with_options("tf.slim.evaluation.evaluate_once", "master? checkpoint_path? logdir? " .. common:format("", "", "", "session? init_fn? feeds? graph? log?"),
  function(o)
    local who = "slim.evaluation.evaluate_once"
    if not o.session and not o.init_fn and not o.checkpoint_path then
      T.fail(who, "'checkpoint_path', 'session' or 'init_fn' must say where the variables have their values from")
    end
    if o.checkpoint_path then
      if o.session then T.fail(who, "'checkpoint_path' and 'session' both give the variables values: say one of them") end
      if not tf.train.checkpoint_exists(o.checkpoint_path) then T.fail_code(5, who, ("there is no checkpoint '%s'"):format(o.checkpoint_path)) end
    end
    return evaluate(o, o.checkpoint_path)
  end)

-- Evaluates the checkpoints of a folder as they come, at most one in eval_interval_secs, until max_number_of_evaluations are done or
-- `timeout` seconds have passed without a new one (and timeout_fn, if there is one, says so). Gives the last value of final_op and the number
-- of evaluations. on_evaluation(value, path) is called after each.
with_options("tf.slim.evaluation.evaluation_loop", "master? checkpoint_dir? logdir? "
  .. common:format("init_fn?", "eval_interval_secs=60 max_number_of_evaluations?", "timeout? timeout_fn?", "feeds? graph? log? on_evaluation?"),
  function(o)
    local who = "slim.evaluation.evaluation_loop"
    if type(o.checkpoint_dir) ~= "string" then T.fail(who, "'checkpoint_dir' must be a folder, not a %s", T.kind(o.checkpoint_dir) or type(o.checkpoint_dir)) end
    local value, n = nil, 0
    if o.max_number_of_evaluations and o.max_number_of_evaluations < 1 then
      T.fail(who, "'max_number_of_evaluations' must be above 0, not %s", o.max_number_of_evaluations)
    end
    o.writer = o.summary_op and tf.summary.FileWriter(o.logdir) or nil
    local closing <close> = o.writer
    for path in evaluation.checkpoints_iterator(o.checkpoint_dir, o.eval_interval_secs, {timeout = o.timeout, timeout_fn = o.timeout_fn}) do
      o.log("Starting evaluation of " .. path)
      value = evaluate(o, path)
      n = n + 1
      o.log("Finished evaluation of " .. path)
      if o.on_evaluation then o.on_evaluation(value, path) end
      if o.max_number_of_evaluations and n >= o.max_number_of_evaluations then return value, n end
    end
    o.log "Timed-out waiting for a checkpoint."
    return value, n
  end)

-- evaluation(sess, options): evaluate_once in a session that is there.
function evaluation.evaluation(sess, options)
  local o = {session = sess}
  for k, v in pairs(options or {}) do o[k] = v end
  return evaluation.evaluate_once(o)
end
return evaluation
