-- slim.evaluation: a checkpoint, and the checkpoints of a folder as they come, over data that begin anew each time.
local tf = require "tfsdk"
local slim = tf.slim
local evaluation = slim.evaluation
local folder = os.tmpname()
os.remove(folder)
local function told(fn, ...)
  local ok, why = pcall(fn, ...)
  print(ok and "no error" or (tostring(why):gsub("^[^:]*evaluation%.lua:%d+: ", ""):gsub("\n.*", "")))
end
local quiet = {log = function() end}

-- what a training run leaves: w is the step
local training = tf.Graph()
local sess, step, w, saver
training:as_default(function()
  w = slim.model_variable("w", {}, {initializer = tf.zeros_initializer()})
  step = tf.train.get_or_create_global_step()
  sess, saver = tf.Session(), tf.train.Saver()
  sess:run(tf.global_variables_initializer())
end)
local function save(n)
  training:as_default(function() sess:run({tf.assign(w, n), tf.assign(step, tf.constant(n, "int64"))}) end)
  return saver:save(sess, folder .. "/model.ckpt", {global_step = n})
end

-- who asks before there is anything
print(evaluation.wait_for_new_checkpoint(folder, {timeout = 0})) -- expect: nil
local one = save(1)
print(evaluation.wait_for_new_checkpoint(folder) == one, evaluation.wait_for_new_checkpoint(folder, one, {timeout = 0})) -- expect: true	nil

local graph = tf.Graph()
local calls = {}
graph:as_default(function()
  local v = slim.model_variable("w", {}, {initializer = tf.zeros_initializer()})
  tf.train.get_or_create_global_step()
  -- 1, 2, 3, 4 in batches of one: the mean of w * x is 2.5 w over all four, 1.5 w over two
  local x = tf.data.from_tensor_slices(tf.tensor {1, 2, 3, 4}):batch(1):make_one_shot_iterator():get_next()
  local mean, update = slim.metrics.streaming_mean(v * tf.reduce_sum(x))
  tf.summary.scalar("mean", mean)
  local common = {eval_op = update, final_op = {mean = mean}, num_evals = 2, log = quiet.log}
  local function with(more)
    local o = {}
    for k, value in pairs(common) do o[k] = value end
    for k, value in pairs(more) do o[k] = value end
    return o
  end
  print(evaluation.evaluate_once(with {checkpoint_path = one}).mean) -- expect: 1.5
  print(evaluation.evaluate_once(with {checkpoint_path = one, num_evals = 10}).mean) -- expect: 2.5
  print(evaluation.evaluate_once("", one, folder .. "/eval", 4, {eval_op = update, final_op = mean})) -- expect: 2.5

  -- each new one, at most three; a hook sees every run
  local hook = {
    begin = function() calls[#calls + 1] = "begin" end,
    after_create_session = function(_, s) calls[#calls + 1] = s == nil and "none" or "session" end,
    before_run = function() return {fetches = {w = v}} end,
    after_run = function(_, _, values) calls[#calls + 1] = values.results.w end}
  hook["end"] = function() calls[#calls + 1] = "end" end
  local values = {}
  local last, n = evaluation.evaluation_loop(with {checkpoint_dir = folder, logdir = folder .. "/loop", eval_interval_secs = 0, max_number_of_evaluations = 3,
    hooks = {hook}, on_evaluation = function(value, path)
      values[#values + 1] = ("%s %g"):format(path:match "%d+$", value.mean)
      save(#values * 10)
    end})
  print(table.concat(values, ", "), last.mean, n) -- expect: 1 1.5, 10 15, 20 30	30.0	3
  print(table.concat(calls, " ")) -- expect: begin session 1.0 1.0 end begin session 10.0 10.0 end begin session 20.0 20.0 end

  -- until nothing comes any more; timeout_fn decides
  local asked = 0
  local _, m = evaluation.evaluation_loop(with {checkpoint_dir = folder, eval_interval_secs = 0, timeout = 0.02, timeout_fn = function()
    asked = asked + 1
    return asked == 2
  end})
  print(m, asked) -- expect: 1	2

  -- some of the variables, others as they begin
  local z = slim.model_variable("z", {}, {initializer = tf.constant_initializer(7)})
  told(evaluation.evaluate_once, with {checkpoint_path = one}) -- expect match: does not fit the variables; none was changed. it lacks 'z'
  local r = evaluation.evaluate_once(with {checkpoint_path = one, variables_to_restore = {w = v}, final_op = {mean, z}})
  print(r[1], r[2]) -- expect: 1.5	7.0
  told(evaluation.evaluate_once, with {}) -- expect: slim.evaluation.evaluate_once: 'checkpoint_path', 'session' or 'init_fn' must say where the variables have their values from
  told(evaluation.evaluate_once, with {checkpoint_path = one .. "9"}) -- expect match: there is no checkpoint '.*model.ckpt%-19'
  told(evaluation.evaluate_once, with {checkpoint_path = one, num_evals = 0}) -- expect: slim.evaluation.evaluate_once: 'num_evals' must be a whole number above 0, not 0
  told(evaluation.evaluation_loop, with {checkpoint_dir = folder, master = "grpc://a"}) -- expect: slim.evaluation.evaluation_loop: 'master' is for several machines, which is not supported
end)

-- summaries at the step of their checkpoint
local pipe = io.popen("ls " .. folder .. "/loop")
local name, found = pipe:read "l", {}
pipe:close()
for e in tf.train.summary_iterator(folder .. "/loop/" .. name) do
  for _, v in ipairs(e.summary and e.summary.value or {}) do found[#found + 1] = ("%d:%g"):format(e.step, v.simple_value) end
end
print(table.concat(found, " ")) -- expect: 1:1.5 10:15 20:30
os.execute("rm -r " .. folder)
