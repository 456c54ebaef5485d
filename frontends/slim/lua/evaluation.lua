-- slim.evaluation: metrics over many batches.
local tf, T = ...
local evaluation = T.namespace "tf.slim.evaluation"
local def = T.def

-- Runs eval_op num_evals times in a session of its own (or `session`) and gives the value of final_op. `init_fn(sess)` gives
-- the variables their values; `feeds`: a function that gives what to feed at the next run.
def("tf.slim.evaluation.evaluate_once", "master? checkpoint_path? logdir? num_evals=1 initial_op? initial_op_feed_dict? eval_op? eval_op_feed_dict? final_op? final_op_feed_dict? summary_op? variables_to_restore? session_config? hooks? session? init_fn? feeds? graph?",
  function(_, checkpoint, _, num_evals, initial_op, initial_feeds, eval_op, eval_feeds, final_op, final_feeds, summary_op, _, config, _,
      session, init_fn, feeds, graph)
    local who = "slim.evaluation.evaluate_once"
    if summary_op then T.fail_code(12, who, "'summary_op' is not supported") end
    if checkpoint then T.fail_code(12, who, "'checkpoint_path' is not supported: give the variables their values by 'init_fn' or 'session'") end
    if not session and not init_fn then T.fail(who, "'session' or 'init_fn' must say where the variables have their values from") end
    graph = graph or session and session.graph or tf.get_default_graph()
    local guard <close> = graph:as_default()
    local sess = session or tf.Session {graph = graph, config = config}
    local mine <close> = not session and sess or nil
    if not session then
      sess:run(tf.global_variables_initializer())
      init_fn(sess)
    end
    sess:run(initial_op or tf.local_variables_initializer(), initial_feeds)
    for _ = 1, eval_op and num_evals or 0 do
      sess:run(eval_op, feeds and feeds() or eval_feeds)
    end
    if final_op then return sess:run(final_op, final_feeds) end
  end)
-- evaluate(sess, ...): the same in a session that is there.
function evaluation.evaluation(sess, options)
  local o = {session = sess}
  for k, v in pairs(options or {}) do o[k] = v end
  return evaluation.evaluate_once(o)
end
return evaluation
