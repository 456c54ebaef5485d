-- Training-loop comforts: accumulation, early stop, a NaN stop that names the first bad tensor, progress, learning rates (features 3.2: the
-- formulas of Caffe's and the tutorials' sources, by hand below).
local tf = require "tfsdk"
local wrong, n = 0, 0
local function check(what, got, want)
  n = n + 1
  if got ~= want then
    wrong = wrong + 1
    print(("wrong: %s: %s, want %s"):format(what, tostring(got), tostring(want)))
  end
end
local function near(what, got, want) check(what, type(got) == "number" and math.abs(got - want) <= 1e-5 * math.max(math.abs(want), 1e-2) and want or got, want) end
local function fails(what, words, fn, ...)
  local ok, message = pcall(fn, ...)
  check(what, ok and "no error" or tostring(message):find(words, 1, true) and words or tostring(message), words)
end

-- ------------------------------------------------------------------------------------- accumulation

-- The gradient of w x is x: three batches 1, 2, 6 move w by the rate times their mean 3 (or their sum 9), once.
local function accumulate(mode, average)
  local w = tf.Variable(10.0, {name = "w"})
  local step = tf.Variable(tf.tensor(0, "int64"), {trainable = false, name = "step"})
  local opt = tf.train.AccumulateGradientsOptimizer(tf.train.GradientDescentOptimizer(0.5), 3, {average = average})
  local values, steps = {}, {}
  local xs = {1, 2, 6, 4, 4, 4}
  if mode == "eager" then
    for i, x in ipairs(xs) do
      opt:minimize(function() return w * x end, {global_step = step})
      values[i], steps[i] = w:item(), step:item()
    end
  else
    local x = tf.placeholder("float32", {})
    local train = opt:minimize(w * x, {global_step = step})
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    for i, v in ipairs(xs) do
      sess:run(train, {[x] = v})
      values[i], steps[i] = sess:run(w), sess:run(step)
    end
  end
  local first, second = average and 3 or 9, average and 4 or 12
  local want = {10, 10, 10 - 0.5 * first, 10 - 0.5 * first, 10 - 0.5 * first, 10 - 0.5 * (first + second)}
  for i = 1, 6 do
    near(("%s accumulation (%s), batch %d"):format(mode, average and "mean" or "sum", i), values[i], want[i])
    check(("%s step after batch %d"):format(mode, i), steps[i], i // 3)
  end
end
for _, average in ipairs {true, false} do
  tf.eager(function() accumulate("eager", average) end)
  tf.Graph():as_default(function() accumulate("graph", average) end)
end
fails("steps", "'steps' must be a whole number", tf.train.AccumulateGradientsOptimizer, tf.train.AdamOptimizer(0.1), 0)
fails("no optimizer", "must be one of tf.train", tf.train.AccumulateGradientsOptimizer, "adam", 2)

-- through Slim: two steps of two batches each are the two steps of Adam on the mean gradients
tf.Graph():as_default(function()
  local x = tf.placeholder("float32", {})
  local w, v = tf.Variable(1.0, {name = "w"}), tf.Variable(1.0, {name = "v"})
  local opt = tf.train.AccumulateGradientsOptimizer(tf.train.AdamOptimizer(0.1), 2)
  local train = tf.slim.learning.create_train_op(w * w * x, opt, {variables_to_train = {w}})
  local reference = tf.train.AdamOptimizer(0.1):minimize(v * v * x, {var_list = {v}})
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  for _, value in ipairs {1, 3, 2, 6} do sess:run(train, {[x] = value}) end
  for _, value in ipairs {2, 4} do sess:run(reference, {[x] = value}) end
  near("slim with accumulation", sess:run(w), sess:run(v))
end)

-- ------------------------------------------------------------------------------------- early stop

local function stops(list, o)
  local stop = tf.train.EarlyStopping(o)
  for i, value in ipairs(list) do
    if stop:update(value) then return i, stop.best, stop.best_call end
  end
  return false, stop.best, stop.best_call
end
local at, best, call = stops({5, 4, 4.5, 4.2, 3}, {patience = 2})
check("stops behind two that are no better", at, 4)
check("the best", best, 4)
check("when", call, 2)
check("goes on", (stops({5, 4, 4.5, 3, 3.5}, {patience = 2})), false)
check("min_delta", (stops({5, 4.99, 4.98}, {patience = 2, min_delta = 0.1})), 3)
check("max", (stops({1, 2, 1.5}, {patience = 1, mode = "max"})), 3)
check("NaN is never better", (stops({1, 0 / 0, 0 / 0}, {patience = 2})), 3)
check("baseline", (stops({5, 6}, {patience = 1, baseline = 4})), 1)
fails("mode", "'mode' must be", tf.train.EarlyStopping, {mode = "auto"})

-- ------------------------------------------------------------------------------------- NaN stop

tf.Graph():as_default(function()
  local x = tf.placeholder("float32", {}, {name = "x"})
  local w = tf.Variable(1.0, {name = "w"})
  local bad = tf.log(x * w, {name = "bad"})
  local later = tf.sqrt(bad, {name = "later"})
  local loss = later * w
  local train = tf.train.GradientDescentOptimizer(0.1):minimize(loss)
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  fails("session", "bad:0", sess.run, sess, train, {[x] = -1}, {break_on_nan = true})
  -- slim's step names it by itself
  local op = tf.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
  sess:run(tf.global_variables_initializer())
  local step = tf.train.get_global_step()
  fails("slim", "bad:0", tf.slim.learning.train_step, sess, op, step, {feeds = function() return {[x] = -1} end})
  check("nothing was updated", sess:run(w), 1)
end)

-- ------------------------------------------------------------------------------------- progress

if arg[1] == "progress" then
  local p <close> = tf.progress(20, {label = "work"})
  for i = 1, 20 do p:update(i, "loss 0.5") end
  return
end
do
  local path = os.tmpname()
  os.execute(("'%s' run '%s' progress 2>'%s' >/dev/null"):format(arg[-2], arg[0], path))
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  os.remove(path)
  check("piped: a line for each tenth", #lines, 10)
  check("with the time that is left", lines[1] and lines[1]:match "^work 2/20 ETA %d+:%d%d loss 0.5$", lines[1])
  check("and that was needed", lines[10] and lines[10]:match "^work 20/20 in %d+:%d%d loss 0.5$", lines[10])
end

-- ------------------------------------------------------------------------------------- learning rates

tf.eager(function()
  local step = tf.Variable(tf.tensor(30, "int64"), {trainable = false})
  local train = tf.train
  local table_of = {
    -- Caffe (sgd_solver.cpp), base 0.1 at iteration 30
    {"fixed", train.caffe_lr_policy("fixed", 0.1, step), 0.1},
    {"step", train.caffe_lr_policy("step", 0.1, step, {gamma = 0.5, stepsize = 12}), 0.1 * 0.5 ^ 2},
    {"exp", train.caffe_lr_policy("exp", 0.1, step, {gamma = 0.9}), 0.1 * 0.9 ^ 30},
    {"inv", train.caffe_lr_policy("inv", 0.1, step, {gamma = 0.01, power = 0.75}), 0.1 * (1 + 0.3) ^ -0.75},
    {"multistep", train.caffe_lr_policy("multistep", 0.1, step, {gamma = 0.5, stepvalue = {10, 30, 40}}), 0.1 * 0.25},
    {"poly", train.caffe_lr_policy("poly", 0.1, step, {power = 2, max_iter = 40}), 0.1 * 0.25 ^ 2},
    {"sigmoid", train.caffe_lr_policy("sigmoid", 0.1, step, {gamma = -0.1, stepsize = 20}), 0.1 / (1 + math.exp(1))},
    -- NMT tutorial: 12,000 steps unless said, no warm-up, no decay
    {"nmt plain", train.nmt_learning_rate(1, step), 1},
    {"nmt warm-up", train.nmt_learning_rate(1, step, {warmup_steps = 40}), 0.01 ^ (10 / 40)},
    {"nmt behind warm-up", train.nmt_learning_rate(1, step, {warmup_steps = 30}), 1},
    {"nmt luong5", train.nmt_learning_rate(1, step, {num_train_steps = 40, decay_scheme = "luong5"}), 0.5 ^ 2},
    {"nmt luong10", train.nmt_learning_rate(1, step, {num_train_steps = 40, decay_scheme = "luong10"}), 0.5 ^ 5},
    {"nmt luong234", train.nmt_learning_rate(1, step, {num_train_steps = 36, decay_scheme = "luong234"}), 0.5 ^ 2},
    {"nmt before decay", train.nmt_learning_rate(1, step, {decay_scheme = "luong5"}), 1},
    -- PTB tutorial, small configuration: 0.5 behind epoch 4
    {"ptb early", train.ptb_learning_rate(1, 4), 1},
    {"ptb late", train.ptb_learning_rate(1, 7), 0.125},
    -- tf.train
    {"piecewise_constant", train.piecewise_constant(step, {30, 40}, {1.0, 0.5, 0.1}), 1},
    {"noisy_linear_cosine_decay without noise", train.noisy_linear_cosine_decay(1, step, 60, {initial_variance = 0}), 0.5 * 0.5 * (1 + math.cos(math.pi * 0.5)) + 0.001},
    {"polynomial_decay with cycle", train.polynomial_decay(1, step, 20, {cycle = true}), (1 - 1e-4) * (1 - 30 / 40) + 1e-4},
    {"cosine_decay_restarts in the second period", train.cosine_decay_restarts(1, step, 20, {m_mul = 0.5}), 0.5 * 0.5 * (1 + math.cos(math.pi * 0.25))},
  }
  for _, row in ipairs(table_of) do
    local got = row[2]
    if type(got) == "function" then got = got():item() end
    near(row[1], got, row[3])
  end
  fails("an unknown policy", "there is no lr_policy 'stepp'", train.caffe_lr_policy, "stepp", 0.1, step)
  fails("a missing number", "lr_policy 'step' needs 'gamma'", train.caffe_lr_policy, "step", 0.1, step)
  fails("no step", "argument 'global_step' is missing", train.caffe_lr_policy, "fixed", 0.1)

  -- EMA: 0.9 of the old and 0.1 of the new; with num_updates the rate is at most (1 + n) / (10 + n)
  local w = tf.Variable(1.0)
  local average = tf.train.ExponentialMovingAverage(0.9)
  average:apply{w}
  w:assign(2.0)
  average:apply{w}
  near("EMA", average:average(w):item(), 0.9 * 1 + 0.1 * 2)
end)

if wrong > 0 then error(("%d of %d are wrong"):format(wrong, n), 0) end
print(("%d checks"):format(n))
