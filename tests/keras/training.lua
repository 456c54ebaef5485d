-- compile, fit, evaluate, predict of tf.keras: every argument by what it must do. Expected numbers come from the rule itself, computed
-- another way here (a weighted mean, the same step done by hand), or from tests/data/oracle.
local tf = require "tfsdk"
local K = tf.keras
local L = K.layers
local wrong, n = 0, 0
local function check(what, ok, detail)
  n = n + 1
  if not ok then
    wrong = wrong + 1
    print("wrong: " .. what, detail or "")
  end
end
local function same(what, a, b) check(what, a == b, ("%s, want %s"):format(tostring(a), tostring(b))) end
local function near(what, a, b, limit)
  check(what, type(a) == "number" and type(b) == "number" and math.abs(a - b) <= (limit or 1e-5) * math.max(1, math.abs(b)), ("%s, want %s"):format(tostring(a), tostring(b)))
end
local function same_weights(what, a, b, limit)
  local x, y = a:get_weights(), b:get_weights()
  local far = 0
  for i, w in ipairs(x) do far = math.max(far, tf.reduce_max(tf.abs(w - y[i])):item()) end
  check(what, #x == #y and far <= (limit or 1e-6), ("they differ by %g"):format(far))
end
local function fails(what, words, fn, ...)
  local ok, why = pcall(fn, ...)
  why = tostring(why)
  check(what, not ok and why:find(words, 1, true) ~= nil, ok and "no error" or why)
end

-- Twelve samples, three classes; drawn once from a seed.
local X = tf.random.normal({12, 4}, {seed = 3, now = true})
local Y = tf.tensor({0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 1}, "int64")
local function model()
  local m = K.Sequential {L.Dense(5, {activation = "tanh", input_shape = {4}}), L.Dense(3, {activation = "softmax"})}
  return m
end
local start = model():get_weights()
local function fresh(o)
  local m = model()
  m:set_weights(start)
  o = o or {}
  o.optimizer = o.optimizer or K.optimizers.SGD(0.1)
  o.loss = o.loss or "sparse_categorical_crossentropy"
  m:compile(o)
  return m
end
local quiet = {verbose = 0}
local function with(t)
  t.verbose = t.verbose or 0
  return t
end

-- ------------------------------------------------------------------------------------- epochs and batches

do
  local h = fresh():fit(X, Y, with {epochs = 3, batch_size = 5, shuffle = false})
  check("history: one loss for each epoch", #h.history.loss == 3)
  check("history: epochs count from 0", h.epoch[1] == 0 and h.epoch[3] == 2)
  local seen = {}
  fresh():fit(X, Y, with {epochs = 2, batch_size = 5, callbacks = {{on_batch_end = function(_, batch, logs) seen[#seen + 1] = {batch, logs.size} end}}})
  check("batches: 5, 5 and the rest of 2", #seen == 6 and seen[1][1] == 0 and seen[3][1] == 2 and seen[3][2] == 2 and seen[1][2] == 5)
  h = fresh():fit(X, Y, with {epochs = 5, initial_epoch = 3})
  check("initial_epoch 3 of 5: epochs 3 and 4", #h.epoch == 2 and h.epoch[1] == 3 and h.epoch[2] == 4)
  seen = {}
  fresh():fit(X, Y, with {batch_size = 2, steps_per_epoch = 3, callbacks = {{on_batch_end = function(_, batch) seen[#seen + 1] = batch end}}})
  check("steps_per_epoch 3 of 6", #seen == 3)
  local sizes = {}
  fresh():fit(tf.zeros({33, 4}, {now = true}), tf.zeros({33}, "int64", {now = true}), with {callbacks = {{on_batch_end = function(_, _, logs) sizes[#sizes + 1] = logs.size end}}})
  check("batch_size is 32 unless said", #sizes == 2 and sizes[1] == 32)
  -- one step by hand: the loss before it, and w - lr * gradient
  local m = fresh()
  local loss = m:train_on_batch(X, Y)
  local twin = fresh()
  near("train_on_batch: the loss before the step", loss, (twin:test_on_batch(X, Y)))
  local fit = fresh()
  fit:fit(X, Y, with {batch_size = 12, epochs = 1, shuffle = false})
  same_weights("fit of one batch is train_on_batch", m, fit)
end

-- ------------------------------------------------------------------------------------- shuffle and split

do
  local function order(o)
    local rows = {}
    local m = fresh()
    -- a batch of one: its loss tells which sample it was, for a rate of 0 leaves the model alone
    m.optimizer.learning_rate = 0
    o.callbacks = {{on_batch_end = function(_, _, logs) rows[#rows + 1] = ("%.5f"):format(logs.batch_loss) end}}
    o.batch_size = 1
    m:fit(X, Y, with(o))
    return rows
  end
  local straight, again = order {shuffle = false}, order {shuffle = false}
  check("shuffle = false: the order of the data", table.concat(straight) == table.concat(again))
  local mixed = order {}
  check("shuffle: another order", table.concat(straight) ~= table.concat(mixed))
  table.sort(straight)
  table.sort(mixed)
  check("shuffle: the same samples", table.concat(straight) == table.concat(mixed))
  local blocks = order {shuffle = "batch"}
  table.sort(blocks)
  check("shuffle = \"batch\": the same samples", table.concat(straight) == table.concat(blocks))
  -- the order follows the seed and the number of batches trained: the same in another graph, and where training goes on from saved state
  local function run(seed, stop)
    return tf.Graph():as_default(function()
      tf.set_random_seed(seed)
      local m = fresh()
      m:fit(X, Y, with {epochs = 2, batch_size = 4})
      if stop then
        local later = fresh()
        later:set_weights(m:get_weights())
        later.optimizer.iterations = m.optimizer.iterations
        m = later
      end
      m:fit(X, Y, with {epochs = 2, batch_size = 4})
      return m
    end)
  end
  local one = run(5)
  same_weights("the same seed, the same order", one, run(5), 0)
  same_weights("going on in the same order", one, run(5, true), 0)
  local other = run(6)
  check("another seed, another order", tf.reduce_max(tf.abs(one:get_weights()[1] - other:get_weights()[1])):item() > 0)
  -- the split is the last quarter as the data came, whatever the shuffling
  local m = fresh()
  m.optimizer.learning_rate = 0
  local h = m:fit(X, Y, with {validation_split = 0.25, epochs = 1})
  near("validation_split: the last samples", h.history.val_loss[1], (m:evaluate(X[{{10, 12}}], Y[{{10, 12}}], quiet)))
  near("validation_split: the others are trained on", h.history.loss[1], (m:evaluate(X[{{1, 9}}], Y[{{1, 9}}], quiet)))
  h = m:fit(X, Y, with {validation_data = {X[{{1, 4}}], Y[{{1, 4}}]}, epochs = 4, validation_freq = 2})
  check("validation_freq 2 of 4 epochs", #h.history.val_loss == 2 and #h.history.loss == 4)
  local w = tf.tensor {1, 0, 0, 2}
  h = m:fit(X, Y, with {validation_data = {X[{{1, 4}}], Y[{{1, 4}}], w}, epochs = 1})
  near("validation_data with weights", h.history.val_loss[1], (m:evaluate(X[{{1, 4}}], Y[{{1, 4}}], {sample_weight = w, verbose = 0})))
end

-- ------------------------------------------------------------------------------------- weights

do
  local by_class, by_sample = fresh(), fresh()
  local per_class = {[0] = 1, [1] = 2.5, [2] = 0.5}
  local list = {}
  for i, c in ipairs(Y:table()) do list[i] = per_class[math.tointeger(c)] end
  by_class:fit(X, Y, with {class_weight = per_class, shuffle = false, epochs = 2, batch_size = 5})
  by_sample:fit(X, Y, with {sample_weight = tf.tensor(list), shuffle = false, epochs = 2, batch_size = 5})
  same_weights("class_weight is a sample_weight by class", by_class, by_sample)
  local one_hot = fresh {loss = "categorical_crossentropy"}
  one_hot:fit(X, K.utils.to_categorical(Y, 3), with {class_weight = per_class, shuffle = false, epochs = 2, batch_size = 5})
  same_weights("class_weight with one-hot targets", by_class, one_hot)
  -- sum of weight * loss over the number of samples
  local m, each = fresh(), {}
  for i = 1, 12 do each[i] = m:test_on_batch(X[{{i, i}}], Y[{{i, i}}]) end
  local sum = 0
  for i, l in ipairs(each) do sum = sum + l * list[i] end
  near("sample_weight: weighted sum over the count", (m:evaluate(X, Y, {sample_weight = tf.tensor(list), verbose = 0, batch_size = 12})), sum / 12)
  local a = fresh {metrics = {"accuracy"}, weighted_metrics = {"accuracy"}}
  local r = a:evaluate(X, Y, {sample_weight = tf.tensor(list), verbose = 0, return_dict = true})
  local right, all, plain = 0, 0, 0
  local guess = a:predict_classes(X):table()
  for i, c in ipairs(Y:table()) do
    all = all + list[i]
    if guess[i] == c then right, plain = right + list[i], plain + 1 end
  end
  near("metrics do not see the weights", r.accuracy, plain / 12)
  near("weighted_metrics do", r.accuracy_1, right / all)
end

-- ------------------------------------------------------------------------------------- other data

do
  local base = fresh()
  base:fit(X, Y, with {shuffle = false, epochs = 2, batch_size = 4})
  local ds = tf.data.from_tensor_slices {x = X, y = Y}:batch(4)
  local m = fresh()
  m:fit(ds, with {epochs = 2})
  same_weights("a dataset by names", m, base)
  m = fresh()
  m:fit(tf.data.from_tensor_slices({X, Y}):batch(4), with {epochs = 2})
  same_weights("a dataset without names", m, base)
  m = fresh()
  m:fit(tf.data.from_tensor_slices({X, Y}):batch(4):repeat_(), with {epochs = 2, steps_per_epoch = 3})
  same_weights("an endless dataset", m, base)
  local function batches()
    local i = 0
    return function()
      local a = i % 3 * 4
      i = i + 1
      return X[{{a + 1, a + 4}}], Y[{{a + 1, a + 4}}]
    end
  end
  m = fresh()
  m:fit(batches(), with {epochs = 2, steps_per_epoch = 3})
  same_weights("a generator", m, base)
  m = fresh()
  m:fit_generator(batches(), 3, 2, 0)
  same_weights("fit_generator", m, base)
  m = fresh()
  m:fit(coroutine.create(function()
    local pull = batches()
    while true do coroutine.yield(pull()) end
  end), with {epochs = 2, steps_per_epoch = 3})
  same_weights("a coroutine", m, base)
  local ended = 0
  local Batches = K.utils.Sequence:extend {
    len = function() return 3 end,
    get = function(_, i) return X[{{i * 4 + 1, i * 4 + 4}}], Y[{{i * 4 + 1, i * 4 + 4}}] end,
    on_epoch_end = function() ended = ended + 1 end}
  m = fresh()
  m:fit(Batches(), with {epochs = 2})
  same_weights("a sequence", m, base)
  check("a sequence is told of the end of epochs", ended == 2)
  near("evaluate of a dataset", (m:evaluate(ds, quiet)), (m:evaluate(X, Y, {verbose = 0, batch_size = 4})))
  near("evaluate_generator", (m:evaluate_generator(batches(), 3)), (m:evaluate(X, Y, {verbose = 0, batch_size = 4})))
  local p, q = m:predict(X, {batch_size = 5}), m:predict(tf.data.from_tensor_slices(X):batch(4))
  check("predict: batches are put together", tf.reduce_max(tf.abs(p - q)):item() < 1e-6 and p.shape[1] == 12)
  check("predict of tables", tf.reduce_max(tf.abs(m:predict(X:table()) - p)):item() < 1e-6)
  check("predict_on_batch", tf.reduce_max(tf.abs(m:predict_on_batch(X) - p)):item() < 1e-6)
  local h = m:fit(ds, with {validation_data = ds, epochs = 1})
  check("a dataset to validate on", h.history.val_loss[1] ~= nil)
end

-- ------------------------------------------------------------------------------------- several inputs and outputs

do
  local function two()
    local a, b = K.Input {shape = {2}, name = "a"}, K.Input {shape = {2}, name = "b"}
    local both = L.Concatenate()({a, b})
    local h = L.Dense(4, {activation = "tanh", name = "h"})(both)
    local class, size = L.Dense(3, {activation = "softmax", name = "class"})(h), L.Dense(1, {name = "size"})(h)
    return K.Model({a, b}, {class, size})
  end
  local xs = {X[{{}, {1, 2}}], X[{{}, {3, 4}}]}
  local size = X[{{}, {1, 1}}]
  local first = two()
  local begin = first:get_weights()
  local function made(o)
    local m = two()
    m:set_weights(begin)
    o.optimizer = K.optimizers.SGD(0.1)
    m:compile(o)
    return m
  end
  local listed = made {loss = {"sparse_categorical_crossentropy", "mse"}, loss_weights = {0.5, 2}, metrics = {{"accuracy"}, {"mae"}}}
  local named = made {loss = {class = "sparse_categorical_crossentropy", size = "mse"}, loss_weights = {class = 0.5, size = 2}, metrics = {class = "accuracy", size = {"mae"}}}
  local h = listed:fit(xs, {Y, size}, with {epochs = 2, shuffle = false})
  named:fit({a = xs[1], b = xs[2]}, {class = Y, size = size}, with {epochs = 2, shuffle = false})
  same_weights("lists and names are the same", listed, named)
  near("loss_weights", h.history.loss[1], 0.5 * h.history.class_loss[1] + 2 * h.history.size_loss[1])
  check("metrics by output", h.history.class_accuracy ~= nil and h.history.size_mae ~= nil and h.history.class_mae == nil)
  local ds = tf.data.from_tensor_slices {a = xs[1], b = xs[2], class = Y, size = size}:batch(12)
  local m = made {loss = {"sparse_categorical_crossentropy", "mse"}, loss_weights = {0.5, 2}}
  m:fit(ds, with {epochs = 2})
  same_weights("a dataset with the model's names", m, listed)
  same("metrics_names", table.concat(listed.metrics_names, " "), "loss class_loss size_loss class_accuracy size_mae")
  local p, q = listed:predict(xs)
  check("one tensor for each output", p.shape[2] == 3 and q.shape[2] == 1)
  local only = made {loss = {class = "sparse_categorical_crossentropy"}}
  local r = only:evaluate(xs, {Y, size}, {return_dict = true, verbose = 0})
  near("an output without a loss", r.loss, r.class_loss)
  fails("a name that is no output", "did you mean 'class'", function() made {loss = {clas = "mse"}}:fit(xs, {Y, size}, quiet) end)
  fails("too few targets", "the model has 2", function() listed:fit(xs, {Y}, quiet) end)
  fails("too few inputs", "2 of them", function() listed:fit(xs[1], {Y, size}, quiet) end)
  fails("an input that is missing", "'b' is missing", function() listed:fit({a = xs[1]}, {Y, size}, quiet) end)
end

-- ------------------------------------------------------------------------------------- optimizers in fit

do
  -- two batches of six gathered are one batch of twelve
  local whole, gathered = fresh {optimizer = K.optimizers.Adam(0.1)}, fresh {optimizer = K.optimizers.Adam {learning_rate = 0.1, gradient_accumulation_steps = 2}}
  whole:fit(X, Y, with {batch_size = 12, epochs = 3, shuffle = false})
  gathered:fit(X, Y, with {batch_size = 6, epochs = 3, shuffle = false})
  same_weights("gradient_accumulation_steps 2", whole, gathered, 1e-4)
  check("iterations count updates", gathered.optimizer.iterations == 3 and whole.optimizer.iterations == 3)
  local scaled = fresh {optimizer = K.optimizers.SGD {learning_rate = 0.1, loss_scale_factor = 1024}}
  local plain = fresh()
  scaled:fit(X, Y, with {epochs = 2, shuffle = false})
  plain:fit(X, Y, with {epochs = 2, shuffle = false})
  same_weights("loss_scale_factor", scaled, plain, 1e-5)
  local dynamic = fresh {optimizer = K.optimizers.LossScaleOptimizer(K.optimizers.SGD(0.1), {initial_scale = 1024, dynamic_growth_steps = 1})}
  dynamic:fit(X, Y, with {epochs = 2, shuffle = false})
  same_weights("LossScaleOptimizer", dynamic, plain, 1e-5)
  same("and its scale doubled twice", dynamic.optimizer.dynamic_scale, 4096)
  dynamic.optimizer.dynamic_scale = 1e39 -- more than float32 holds: the step is left out
  local kept = dynamic:get_weights()
  dynamic:train_on_batch(X, Y)
  local moved = 0
  for i, w in ipairs(dynamic:get_weights()) do moved = math.max(moved, tf.reduce_max(tf.abs(w - kept[i])):item()) end
  check("LossScaleOptimizer: a step that overflows is left out", moved == 0 and dynamic.optimizer.dynamic_scale == 5e38 and dynamic.optimizer.iterations == 2,
    moved .. " " .. dynamic.optimizer.dynamic_scale)
  local wrapped = fresh {optimizer = tf.train.GradientDescentOptimizer(0.1)}
  wrapped:fit(X, Y, with {epochs = 2, shuffle = false})
  same_weights("an optimizer of tf.train", wrapped, plain, 1e-6)
  -- average after two steps: w1, then m w1 + (1 - m) w2; put into the weights at the end
  local steps = {}
  local one = fresh()
  for s = 1, 2 do
    one:train_on_batch(X, Y)
    steps[s] = one:get_weights()
  end
  local ema = fresh {optimizer = K.optimizers.SGD {learning_rate = 0.1, use_ema = true, ema_momentum = 0.75}}
  ema:fit(X, Y, with {epochs = 2, batch_size = 12, shuffle = false})
  local far = 0
  for i, w in ipairs(ema:get_weights()) do far = math.max(far, tf.reduce_max(tf.abs(w - (steps[1][i] * 0.75 + steps[2][i] * 0.25))):item()) end
  check("use_ema: the average at the end", far < 1e-6, far)
  local m = fresh {optimizer = K.optimizers.SGD(K.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5))}
  m:fit(X, Y, with {epochs = 3, batch_size = 12})
  near("a schedule: 0.1 * 0.5^3 is next", m.optimizer:rate(), 0.0125)
  m = fresh {optimizer = K.optimizers.SGD {learning_rate = 0.1, decay = 1}}
  m:fit(X, Y, with {epochs = 3, batch_size = 12})
  near("Keras 2's decay: 0.1 / (1 + 3)", m.optimizer:rate(), 0.025)
  m = fresh {optimizer = "adam"}
  check("an optimizer by name", m.optimizer.learning_rate == 0.001)
  m.optimizer.lr = 0.5
  check("lr is the learning rate", m.optimizer.learning_rate == 0.5)
  fails("two ways of clipping", "only one of", K.optimizers.SGD, {clipnorm = 1, clipvalue = 1})
end

-- ------------------------------------------------------------------------------------- models that learn their shapes

do
  local function check_learns(what, m)
    m:compile {optimizer = K.optimizers.Adam(0.05), loss = "sparse_categorical_crossentropy", metrics = {"accuracy"}}
    local h = m:fit(X, Y, with {epochs = 30, validation_split = 0.25})
    check(what, h.history.loss[30] < h.history.loss[1] and h.history.val_loss[1] ~= nil, h.history.loss[30])
    check(what .. ": predicts", m:predict(X).shape[2] == 3)
  end
  local function deferred() return K.Sequential {L.Dense(5, {activation = "tanh"}), L.Dense(3, {activation = "softmax"})} end
  local Net = K.Model:extend("Net", {
    init = function(self)
      self.a, self.b = L.Dense(5, {activation = "tanh"}), L.Dense(3, {activation = "softmax"})
    end,
    call = function(self, x) return self.b(self.a(x)) end})
  check_learns("Sequential without input_shape", deferred())
  check_learns("a class of the script", Net())
  tf.eager(function()
    check_learns("Sequential without input_shape, define-by-run", deferred())
    check_learns("a class of the script, define-by-run", Net())
  end)
end

-- ------------------------------------------------------------------------------------- what is frozen

do
  -- a critic that learns by itself, and a generator that learns through it
  local critic = K.Sequential {L.Dense(1, {input_shape = {4}, name = "critic_out"})}
  critic:compile {optimizer = K.optimizers.SGD(0.1), loss = "mse"}
  critic.trainable = false
  local noise = K.Input {shape = {4}}
  local maker = L.Dense(4, {name = "maker"})
  local both = K.Model(noise, critic(maker(noise)))
  both:compile {optimizer = K.optimizers.SGD(0.1), loss = "mse"}
  local target = tf.ones({12, 1}, {now = true})
  local before, made = critic:get_weights(), maker:get_weights()
  both:train_on_batch(X, target)
  same("a frozen layer stays", tf.reduce_max(tf.abs(critic:get_weights()[1] - before[1])):item(), 0.0)
  check("the others learn", tf.reduce_max(tf.abs(maker:get_weights()[1] - made[1])):item() > 0)
  critic:train_on_batch(X, target)
  check("a model compiled before goes on learning", tf.reduce_max(tf.abs(critic:get_weights()[1] - before[1])):item() > 0)
  local m = fresh()
  m.layers[1].trainable = false
  m:compile {optimizer = K.optimizers.SGD(0.1), loss = "sparse_categorical_crossentropy"}
  local kept = m:get_weights()
  m:train_on_batch(X, Y)
  same("compile again settles it anew", tf.reduce_max(tf.abs(m:get_weights()[1] - kept[1])):item(), 0.0)
  check("and the last layer learns", tf.reduce_max(tf.abs(m:get_weights()[3] - kept[3])):item() > 0)
  -- bytes become floats batch by batch
  local bytes = tf.cast(tf.reshape(tf.range(0, 48, 1, {now = true}), {12, 4}), "uint8")
  near("whole numbers as inputs", (fresh():evaluate(bytes, Y, quiet)), (fresh():evaluate(bytes:cast "float32", Y, quiet)))
end

-- ------------------------------------------------------------------------------------- the script's own

do
  local mine = fresh {loss = function(y, p) return K.losses.sparse_categorical_crossentropy(y, p) * 2 end}
  local theirs = fresh()
  near("a loss function", (mine:test_on_batch(X, Y)), 2 * theirs:test_on_batch(X, Y))
  local Loss = K.losses.Loss:extend {name = "half", call = function(_, y, p) return K.losses.sparse_categorical_crossentropy(y, p) * 0.5 end}
  near("a loss class", (fresh {loss = Loss()}:test_on_batch(X, Y)), 0.5 * theirs:test_on_batch(X, Y))
  local function top(_, p) return tf.reduce_max(p, {axis = -1}) end
  local r = fresh {metrics = {top}}:evaluate(X, Y, {return_dict = true, verbose = 0})
  near("a metric function", r.metric, tf.reduce_mean(tf.reduce_max(theirs:predict(X), {axis = -1})):item())
  local Count = K.metrics.Metric:extend {name = "count", stats = function(_, _, p) return {tf.reduce_sum(tf.ones_like(p))} end, value = function(_, sums) return sums[1] end}
  r = fresh {metrics = {Count()}}:evaluate(X, Y, {return_dict = true, verbose = 0, batch_size = 5})
  near("a metric by stats and value", r.count, 36)
  local Own = K.metrics.Metric:extend {name = "own", update_state = function(self, y) self.n = (self.n or 0) + y:size() end,
    result = function(self) return self.n or 0 end, reset_state = function(self) self.n = 0 end}
  r = fresh {metrics = {Own()}}:evaluate(X, Y, {return_dict = true, verbose = 0, batch_size = 5})
  near("a metric by update_state and result", r.own, 12)
  near("train_on_batch: metrics of this batch alone", select(2, (function()
    local m = fresh {metrics = {Count()}}
    m:train_on_batch(X, Y)
    return m:train_on_batch(X, Y)
  end)()), 36)
  near("reset_metrics = false: of all batches", select(2, (function()
    local m = fresh {metrics = {Count()}}
    m:train_on_batch(X, Y)
    return m:train_on_batch(X, Y, {reset_metrics = false})
  end)()), 72)
end

-- ------------------------------------------------------------------------------------- steps of sequences

do
  local m = K.Sequential {L.Dense(3, {activation = "softmax", input_shape = {2, 4}})}
  m:compile {optimizer = "sgd", loss = "sparse_categorical_crossentropy", sample_weight_mode = "temporal"}
  local x, y = X:reshape {6, 2, 4}, Y:reshape {6, 2}
  local w = tf.tensor {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}}
  local half = m:evaluate(x, y, {sample_weight = w, verbose = 0})
  local p = m:predict(x)
  local sum = 0
  for i = 1, 6 do sum = sum - math.log(p[i][1][math.tointeger(y[i][1]:item()) + 1]:item()) end
  near("temporal weights", half, sum / 12)
  -- steps that a mask leaves out cost nothing, and the others count as many
  local masked = K.Sequential {L.Embedding {input_dim = 5, output_dim = 3, mask_zero = true, input_shape = {3}}, L.Dense(2, {activation = "softmax"})}
  masked:compile {optimizer = "sgd", loss = "sparse_categorical_crossentropy", metrics = {"accuracy"}}
  local ids, labels = tf.tensor({{1, 2, 0}, {3, 0, 0}}, "int64"), tf.tensor({{0, 1, 1}, {1, 0, 0}}, "int64")
  local probabilities = masked:predict(ids)
  local cost, hits = 0, 0
  for _, at in ipairs {{1, 1}, {1, 2}, {2, 1}} do
    local label = math.tointeger(labels[at[1]][at[2]]:item())
    local p_right = probabilities[at[1]][at[2]][label + 1]:item()
    cost = cost - math.log(p_right) / 3
    if p_right > 0.5 then hits = hits + 1 end
  end
  local got = masked:evaluate(ids, labels, {verbose = 0, return_dict = true})
  near("a mask in the loss", got.loss, cost)
  near("a mask in a metric", got.accuracy, hits / 3)
  fails("an unknown sample_weight_mode", "temporal", m.compile, m, {loss = "mse", sample_weight_mode = "temporl"})
end

-- ------------------------------------------------------------------------------------- as scikit-learn has it

do
  local function build(o)
    local m = K.Sequential {L.Dense(o.hidden or 5, {activation = "tanh", input_shape = {4}}), L.Dense(3, {activation = "softmax"})}
    m:compile {optimizer = K.optimizers.Adam(0.1), loss = "sparse_categorical_crossentropy"}
    return m
  end
  local net = K.wrappers.scikit_learn.KerasClassifier(build, {hidden = 8, epochs = 60, verbose = 0})
  local shifted = Y + 5 -- classes 5, 6, 7
  net:fit(X, shifted)
  same("KerasClassifier: its parameters reach build_fn", net.model.layers[1].units, 8)
  check("KerasClassifier: classes of the script", tf.reduce_min(net:predict(X)):item() >= 5)
  local right = 0
  local guess = net:predict(X):table()
  for i, c in ipairs(shifted:table()) do if guess[i] == c then right = right + 1 end end
  near("KerasClassifier: score", net:score(X, shifted), right / 12)
  check("KerasClassifier: learns", right >= 10, right)
  same("KerasClassifier: probabilities", net:predict_proba(X).shape[2], 3)
  local function line()
    local m = K.Sequential {L.Dense(1, {input_shape = {4}})}
    m:compile {optimizer = "sgd", loss = "mse"}
    return m
  end
  local reg = K.wrappers.scikit_learn.KerasRegressor(line, {epochs = 1, verbose = 0})
  reg:fit(X, X[{{}, {1, 1}}])
  near("KerasRegressor: score", reg:score(X, X[{{}, {1, 1}}]), -reg.model:evaluate(X, X[{{}, {1, 1}}], quiet))
  same("KerasRegressor: a vector", #reg:predict(X).shape, 1)
  fails("KerasRegressor: not fitted", "call fit first", function() K.wrappers.scikit_learn.KerasRegressor(line):predict(X) end)
end

-- ------------------------------------------------------------------------------------- wrong uses

do
  local m = fresh()
  fails("fit before compile", "is not compiled", function() model():fit(X, Y, quiet) end)
  fails("an unknown option", "did you mean 'epochs'", m.fit, m, X, Y, {epoch = 1})
  fails("an unknown loss", "did you mean 'mse'", m.compile, m, {loss = "mes"})
  fails("an unknown metric", "did you mean 'categorical_accuracy'", function() fresh {metrics = {"categorical_acuracy"}}:fit(X, Y, quiet) end)
  fails("an unknown optimizer", "did you mean 'adam'", m.compile, m, {optimizer = "adm", loss = "mse"})
  fails("unequal counts", "x has 12 samples, y has 4", m.fit, m, X, Y[{{1, 4}}], quiet)
  fails("no data", "empty", m.fit, m, tf.zeros({0, 4}, {now = true}), tf.zeros({0}, "int64", {now = true}), quiet)
  fails("an empty dataset", "empty", m.fit, m, tf.data.from_tensor_slices {x = X, y = Y}:take(0):batch(4), quiet)
  fails("a generator that gives nothing", "empty", m.fit, m, function() end, with {steps_per_epoch = 1})
  fails("labels out of range", "3", m.fit, m, X, tf.tensor({0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 0, 1}, "int64"), quiet)
  fails("one-hot targets for the sparse loss", "categorical_crossentropy", m.fit, m, X, K.utils.to_categorical(Y, 3), quiet)
  fails("targets of another shape", "the targets have shape", function() fresh {loss = "mse"}:fit(X, tf.zeros({12, 2}, {now = true}), quiet) end)
  fails("targets to a dataset", "leave out y", m.fit, m, tf.data.from_tensor_slices {x = X, y = Y}:batch(4), Y)
  fails("verbose 3", "0, 1 or 2", m.fit, m, X, Y, {verbose = 3})
  fails("a split of a dataset", "validation_data", m.fit, m, tf.data.from_tensor_slices {x = X, y = Y}:batch(4), with {validation_split = 0.5})
  fails("a callback that is none", "none of a callback's functions", m.fit, m, X, Y, with {callbacks = {{on_epoch_ended = print}}})
  fails("a class_weight that is none", "classes from 0", m.fit, m, X, Y, with {class_weight = {a = 1}})
end

-- ------------------------------------------------------------------------------------- define-by-run

do
  local graph = fresh {optimizer = K.optimizers.Adam(0.05), metrics = {"accuracy"}}
  local hg = graph:fit(X, Y, with {epochs = 3, batch_size = 5, shuffle = false})
  local eager, he
  tf.eager(function()
    eager = fresh {optimizer = K.optimizers.Adam(0.05), metrics = {"accuracy"}}
    he = eager:fit(X, Y, with {epochs = 3, batch_size = 5, shuffle = false})
  end)
  same_weights("a plan and define-by-run train alike", graph, eager, 1e-5)
  near("and say the same loss", hg.history.loss[3], he.history.loss[3])
  near("and the same accuracy", hg.history.accuracy[3], he.history.accuracy[3])
end

-- ------------------------------------------------------------------------------------- metrics of tf.keras 1.15 that Keras 3 lacks

-- The examples of their documentation.
do
  local m = K.metrics.MeanTensor()
  m:update_state(tf.tensor{0, 1, 2, 3})
  m:update_state(tf.tensor{4, 5, 6, 7})
  same("MeanTensor", table.concat(m:result():table(), " "), "2.0 3.0 4.0 5.0")
  m:update_state(tf.tensor{12, 10, 8, 6}, tf.tensor{0, 0.2, 0.5, 1})
  local want, off = {2, 3.6363635, 4.8, 5.3333335}, 0
  for i, x in ipairs(m:result():table()) do off = math.max(off, math.abs(x - want[i])) end
  check("MeanTensor: weights", off < 1e-6, off)
  check("MeanTensor: another shape", not pcall(m.update_state, m, tf.tensor{1, 2}))
  local relative = K.metrics.MeanRelativeError {normalizer = {1, 3, 2, 3}}
  relative:update_state(tf.tensor{1, 3, 2, 3}, tf.tensor{2, 4, 6, 8})
  near("MeanRelativeError", relative:result(), 1.25)
end

-- ------------------------------------------------------------------------------------- averages instead of schedules

-- With beta_1 = b the weight is y = (1 - b) z + b x; x, the average of all z, is what is kept for use (Defazio et al., 2024).
do
  local function swaps(what)
    local m = K.Sequential {K.layers.Dense(1, {input_shape = {2}, use_bias = false})}
    local optimizer = K.optimizers.ScheduleFreeAdamW {learning_rate = 0.1, beta_1 = 0.75}
    m:compile {optimizer = optimizer, loss = "mse"}
    m:fit(tf.ones({8, 2}, {now = true}), tf.zeros({8, 1}, {now = true}), {epochs = 3, batch_size = 4, verbose = 0})
    local v = m.trainable_weights[1]
    local y = m:get_weights()[1]
    local z = v.graph and K.backend.get_value(optimizer:get_slot(v, "momentum")) or optimizer:get_slot(v, "momentum"):value()
    optimizer:swap_to_eval()
    local x = m:get_weights()[1]
    check(what .. ": the average", tf.reduce_max(tf.abs(x - (y - z * 0.25) / 0.75)):item() < 1e-6)
    check(what .. ": which is another value", tf.reduce_max(tf.abs(x - y)):item() > 1e-4)
    optimizer:swap_to_train()
    check(what .. ": and back", tf.reduce_max(tf.abs(m:get_weights()[1] - y)):item() < 1e-6)
  end
  swaps "ScheduleFreeAdamW in a plan"
  tf.eager(function() swaps "ScheduleFreeAdamW in define-by-run" end)
end

print(("training: %d checks, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and 0 or 1, true)
