-- slim.learning.train with a folder: checkpoints, summaries, traces; what it goes on from; what is refused.
local tf = require "tfsdk"
local slim = tf.slim
local learning = slim.learning
local folder = os.tmpname()
os.remove(folder)
local function told(fn, ...)
  local ok, why = pcall(fn, ...)
  print(ok and "no error" or (tostring(why):gsub("^[^:]*train_files%.lua:%d+: ", ""):gsub("\n.*", "")))
end
local function file_list(pattern)
  local out = {}
  local pipe = io.popen("ls " .. folder)
  for name in pipe:lines() do if name:find(pattern) then out[#out + 1] = name end end
  pipe:close()
  return out
end

-- w falls by 0.5 a step: the loss w is 10, 9.5, 9, ...
local function model(fn)
  return tf.Graph():as_default(function()
    local w = slim.model_variable("w", {}, {initializer = tf.constant_initializer(10)})
    tf.summary.scalar("loss", w)
    local op = learning.create_train_op(w, tf.train.GradientDescentOptimizer(0.5), {summarize_gradients = true})
    return fn(op, w)
  end)
end
local lines
local function log(line) lines[#lines + 1] = line:gsub(folder:gsub("%p", "%%%0"), "DIR"):gsub("%(%d+%.%d+ sec", "(S sec") end

lines = {}
print(model(function(op)
  return learning.train(op, folder, {number_of_steps = 4, log_every_n_steps = 2, trace_every_n_steps = 3, save_summaries_secs = 1e-9, log = log})
end)) -- expect: 8.5
for _, line in ipairs(lines) do print(line) end
-- expect: Saving checkpoint to path DIR/model.ckpt-0
-- expect: global step 2: loss = 9.5000 (S sec/step)
-- expect: Writing trace to DIR/tf_trace-3.json
-- expect: global step 4: loss = 8.5000 (S sec/step)
-- expect: Finished training! Saving model to disk.
print(table.concat(file_list "ckpt.*json", " ")) -- expect: model.ckpt-0.json model.ckpt-4.json

-- the trace is Chrome's format: a list of events with times
local file = io.open(folder .. "/tf_trace-3.json")
local trace = tf.json.decode(file:read "a")
file:close()
local timed = 0
for _, e in ipairs(trace.traceEvents) do if e.ph == "X" and e.dur >= 0 and e.args.name then timed = timed + 1 end end
print(timed > 0) -- expect: true

-- the same again goes on; init_fn is for runs that begin
lines = {}
print(model(function(op)
  return learning.train(op, folder, {number_of_steps = 6, log_every_n_steps = 0, save_summaries_secs = 0, save_interval_secs = 0, log = log,
    init_fn = function() error "not called" end})
end)) -- expect: 7.5
for _, line in ipairs(lines) do print(line) end
-- expect: Restoring parameters from DIR/model.ckpt-4
-- expect: Finished training! Saving model to disk.

-- a run that is at its end has nothing to do, and writes no checkpoint
lines = {}
print(model(function(op) return learning.train(op, folder, {number_of_steps = 6, log = log}) end)) -- expect: nil
for _, line in ipairs(lines) do print(line) end
-- expect: Restoring parameters from DIR/model.ckpt-6

-- what the event files of the first run say
local seen, graphs, losses, rates, norms, logs = {}, 0, {}, 0, {}, {}
for _, name in ipairs(file_list "tfevents") do
  for e in tf.train.summary_iterator(folder .. "/" .. name) do
    if e.graph_def then graphs = graphs + 1 end
    if e.session_log then logs[#logs + 1] = ("%d@%d"):format(e.session_log:byte(2), e.step) end
    for _, v in ipairs(e.summary and e.summary.value or {}) do
      seen[v.tag] = true
      if v.tag == "loss" then losses[#losses + 1] = ("%d:%g"):format(e.step, v.simple_value) end
      if v.tag == "global_step/sec" then rates = rates + 1 end
      if v.tag:find "w/gradient_norm$" then norms[#norms + 1] = v.simple_value end
    end
  end
end
print(table.concat(losses, " ")) -- expect: 1:10 2:9.5 3:9 4:8.5
print(rates, graphs, table.concat(norms, " ")) -- expect: 4	3	1.0 1.0 1.0 1.0
-- START 1, STOP 2, CHECKPOINT 3 (event.proto)
print(table.concat(logs, " ")) -- expect: 1@0 3@0 3@4 2@4 1@4 3@6 2@6 1@6 2@6
local tags = {}
for tag in pairs(seen) do if tag:find "gradient" then tags[#tags + 1] = tag:gsub("^.*w/", "w/") end end
table.sort(tags)
print(table.concat(tags, " ")) -- expect: w/gradient w/gradient_norm

-- a variable that the checkpoint lacks: the saver says so, whatever the run would do with it
model(function(op)
  tf.Variable(1, {name = "new"})
  told(learning.train, op, folder, {number_of_steps = 9, log = function() end}) -- expect match: model.ckpt%-6 does not fit the variables; none was changed. it lacks 'new'
end)
model(function(op, w)
  tf.Variable(1, {name = "new"})
  told(learning.train, op, folder, {number_of_steps = 9, log = function() end, saver = tf.train.Saver {w, tf.train.get_global_step()}})
  -- expect: slim.learning.train: 1 variables have no value yet (new): the checkpoint lacks them, and init_op is for runs that begin
end)
model(function(op)
  told(learning.train, op, {init_op = false, number_of_steps = 1, log = function() end}) -- expect match: ^slim.learning.train: 2 variables have no value yet %(w, global_step%): init_op does not reach them
end)
-- ways to give variables their first values
model(function(op, w)
  local p = tf.placeholder("float32", {})
  print(learning.train(op, {init_op = tf.group(tf.global_variables_initializer(), tf.assign(tf.Variable(0, {name = "other", dtype = "float32"}), p)),
    init_feed_dict = {[p] = 3}, init_fn = function(sess) sess:run(tf.assign(w, 20)) end, number_of_steps = 2, log_every_n_steps = 0, ready_op = false})) -- expect: 19.5
end)
-- steps of the graph for conditions, and options of a wrapper
model(function(op)
  local step = tf.train.get_global_step()
  lines = {}
  local wrapped = 0
  print(learning.train(op, {log = log, train_step_kwargs = {should_stop = tf.greater_equal(step, 3), should_log = tf.equal(step, 2)},
    session_wrapper = function(sess) return {run = function(_, ...) wrapped = wrapped + 1 return sess:run(...) end} end})) -- expect: 9.0
  print(#lines, lines[1], wrapped) -- expect: 1	global step 2: loss = 9.5000 (S sec/step)	9
end)
-- refused
model(function(op, w)
  told(learning.train, op, {master = "grpc://a:1"}) -- expect: slim.learning.train: 'master' is for training on several machines, which is not supported
  told(learning.train, op, {is_chief = false}) -- expect: slim.learning.train: 'is_chief' is for training on several machines, which is not supported
  told(learning.train, op, {saver = tf.train.Saver()}) -- expect: slim.learning.train: 'saver' needs 'logdir', the folder that is written to
  told(learning.train, op, {trace_every_n_steps = 5}) -- expect: slim.learning.train: 'trace_every_n_steps' needs 'logdir', the folder that is written to
  told(learning.train, op, {number_of_steps = 0}) -- expect: slim.learning.train: 'number_of_steps' must be above 0, not 0
  told(learning.train, w) -- expect: slim.learning.train: 'train_op' must be what create_train_op gave, not Variable
end)
os.execute("rm -r " .. folder)
