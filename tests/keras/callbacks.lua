-- tf.keras.callbacks in fit: when each is called, what it changes, what it writes. Rules over recorded losses are in oracle_train.lua.
local tf = require "tfsdk"
local K = tf.keras
local L = K.layers
local wrong, n = 0, 0
local function check(what, ok, detail)
  n = n + 1
  if not ok then
    wrong = wrong + 1
    print("wrong: " .. what, tostring(detail or ""))
  end
end
local function same(what, got, want) check(what, got == want, ("got %s, want %s"):format(tostring(got), tostring(want))) end

local X = tf.random.normal({8, 3}, {seed = 5, now = true})
local Y = tf.random.normal({8, 1}, {seed = 6, now = true})
local function model(o)
  o = o or {}
  local m = K.Sequential {L.Dense(4, {activation = "tanh", input_shape = {3}, name = o.first}), L.Dense(1)}
  m:compile {optimizer = o.optimizer or K.optimizers.SGD(0.1), loss = "mse", metrics = o.metrics}
  return m
end
local function fit(m, o)
  o.verbose = 0
  return m:fit(X, Y, o)
end
local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir -p '" .. folder .. "'")
local function lines_of(path)
  local out = {}
  for line in io.lines(path) do out[#out + 1] = line end
  return out
end

-- ------------------------------------------------------------------------------------- the order of calls

do
  local log = {}
  local function note(word) return function(_, a) log[#log + 1] = word .. (type(a) == "number" and a or "") end end
  local mine = K.callbacks.Callback:extend {on_train_begin = note "train<", on_train_end = note "train>", on_epoch_begin = note "epoch<",
    on_epoch_end = note "epoch>", on_batch_begin = note "batch<", on_batch_end = note "batch>", on_test_begin = note "test<", on_test_end = note "test>"}
  fit(model(), {epochs = 2, batch_size = 4, callbacks = {mine()}, validation_data = {X, Y}})
  same("the order", table.concat(log, " "),
    "train< epoch<0 batch<0 batch>0 batch<1 batch>1 test< test> epoch>0 epoch<1 batch<0 batch>0 batch<1 batch>1 test< test> epoch>1 train>")
  local seen
  local m = model {metrics = {"mae"}}
  fit(m, {callbacks = {{on_epoch_end = function(self, _, logs) seen = {self.model == m, logs.loss ~= nil, logs.mae ~= nil, self.params.epochs} end}}})
  check("a table of functions has the model, its logs and parameters", seen[1] and seen[2] and seen[3] and seen[4] == 1)
  local epochs = {}
  fit(model(), {epochs = 2, callbacks = {K.callbacks.LambdaCallback {on_epoch_end = function(epoch, logs) epochs[#epochs + 1] = epoch .. type(logs.loss) end}}})
  same("LambdaCallback", table.concat(epochs, " "), "0number 1number")
  m = model()
  local h = fit(m, {epochs = 10, callbacks = {{on_epoch_end = function(self, epoch) if epoch == 1 then self.model.stop_training = true end end}}})
  same("stop_training", #h.history.loss, 2)
  same("model.history is what fit gave", m.history, h)
  h = fit(model(), {epochs = 10, callbacks = {{on_batch_end = function(self) self.model.stop_training = true end}}})
  same("stop_training in a batch", #h.history.loss, 1)
end

-- ------------------------------------------------------------------------------------- early stop, rates

do
  local m = model()
  local best, best_loss
  local h = fit(m, {epochs = 6, callbacks = {
    {on_epoch_end = function(self, epoch, logs)
      if epoch == 1 then best = self.model:get_weights() end
      logs.val_loss = ({3, 1, 2, 4, 5, 6})[epoch + 1]
    end},
    K.callbacks.EarlyStopping {patience = 2, restore_best_weights = true}}})
  same("EarlyStopping: two epochs behind the best", #h.history.loss, 4)
  local far = 0
  for i, w in ipairs(m:get_weights()) do far = math.max(far, tf.reduce_max(tf.abs(w - best[i])):item()) end
  same("EarlyStopping: the weights of the best epoch", far, 0.0)
  local rates = {}
  m = model()
  h = fit(m, {epochs = 3, callbacks = {K.callbacks.LearningRateScheduler(function(epoch, rate) rates[#rates + 1] = rate return epoch == 0 and 0.5 or rate / 2 end)}})
  same("LearningRateScheduler: given the rate", rates[1] .. " " .. rates[2] .. " " .. rates[3], "0.1 0.5 0.25")
  same("LearningRateScheduler: in the history", h.history.learning_rate[3], 0.125)
  m = model()
  h = fit(m, {epochs = 4, callbacks = {{on_epoch_end = function(_, _, logs) logs.val_loss = 1 end}, K.callbacks.ReduceLROnPlateau {patience = 1, factor = 0.5}}})
  check("ReduceLROnPlateau", math.abs(m.optimizer.learning_rate - 0.0125) < 1e-9, m.optimizer.learning_rate)
  -- the rate is fed: a change between epochs counts from the next step
  local one, two = model {optimizer = K.optimizers.SGD(0)}, model {optimizer = K.optimizers.SGD(0)}
  two:set_weights(one:get_weights())
  fit(one, {epochs = 2, batch_size = 8, shuffle = false, callbacks = {{on_epoch_begin = function(self, epoch) self.model.optimizer.lr = epoch == 1 and 0.1 or 0 end}}})
  two.optimizer.learning_rate = 0.1
  fit(two, {epochs = 1, batch_size = 8, shuffle = false})
  far = 0
  for i, w in ipairs(one:get_weights()) do far = math.max(far, tf.reduce_max(tf.abs(w - two:get_weights()[i])):item()) end
  same("a new rate counts at once", far, 0.0)
end

-- ------------------------------------------------------------------------------------- not a number

do
  local function first_bad(change)
    local m = model {first = change .. "_hidden"}
    local stop = K.callbacks.TerminateOnNaN()
    -- what it says goes to standard error; the field has it as well
    local x, y = X, Y
    if change == "input" then
      x = tf.tensor(X:table())
      x = tf.concat({x[{{1, 7}}], tf.tensor {{0 / 0, 0, 0}}}, 0)
    elseif change == "weight" then
      local w = m:get_weights()
      w[2] = tf.tensor {1, 0 / 0, 1, 1}
      m:set_weights(w)
    elseif change == "layer" then -- log of a negative number
      m = K.Sequential {L.Dense(4, {input_shape = {3}}), L.Lambda(function(v) return tf.log(v - 1e6) end, {name = "logarithm"}), L.Dense(1)}
      m:compile {optimizer = "sgd", loss = "mse"}
    elseif change == "loss" then
      y = tf.fill({8, 1}, 1e30, {now = true})
    end
    local h = m:fit(x, y, {epochs = 3, batch_size = 8, verbose = 0, callbacks = {stop}})
    return stop.first_bad, #h.history.loss, m
  end
  local what, epochs, m = first_bad "input"
  check("TerminateOnNaN: the input", what:find("input 'input_hidden", 1, true), what)
  same("TerminateOnNaN: ends at once", epochs, 1)
  local clean = true
  for _, w in ipairs(m:get_weights()) do clean = clean and tf.reduce_all(tf.is_finite(w)):item() end
  check("TerminateOnNaN: the weights are as they were", clean)
  what = first_bad "weight"
  check("TerminateOnNaN: a weight by name", what:find("weight 'weight_hidden/bias'", 1, true), what)
  what = first_bad "layer"
  check("TerminateOnNaN: a layer by name", what:find("layer 'logarithm'", 1, true), what)
  what = first_bad "loss"
  same("TerminateOnNaN: the loss", what, "the loss")
end

-- ------------------------------------------------------------------------------------- what is written

do
  local path = folder .. "/log.csv"
  local h = fit(model {metrics = {"mae"}}, {epochs = 2, callbacks = {K.callbacks.CSVLogger(path)}, validation_data = {X, Y}})
  local lines = lines_of(path)
  same("CSVLogger: head", lines[1], "epoch,loss,mae,val_loss,val_mae")
  same("CSVLogger: one line for each epoch", #lines, 3)
  local epoch, loss = lines[3]:match "^(%d+),([^,]+),"
  check("CSVLogger: the numbers of the history", epoch == "1" and math.abs(tonumber(loss) - h.history.loss[2]) < 1e-6)
  fit(model {metrics = {"mae"}}, {callbacks = {K.callbacks.CSVLogger(path, {append = true})}, validation_data = {X, Y}})
  same("CSVLogger: append writes no second head", #lines_of(path), 4)

  local saved = {}
  local m = model()
  m.save = function(_, p) saved[#saved + 1] = p end
  m.save_weights = function(_, p) saved[#saved + 1] = "weights " .. p end
  local watched = {on_epoch_end = function(_, epoch, logs) logs.val_loss = ({0.5, 0.75, 0.25})[epoch + 1] end}
  fit(m, {epochs = 3, callbacks = {watched, K.callbacks.ModelCheckpoint "m.{epoch:02d}-{val_loss:.2f}.h5"}})
  same("ModelCheckpoint: each epoch", table.concat(saved, " "), "m.01-0.50.h5 m.02-0.75.h5 m.03-0.25.h5")
  saved = {}
  fit(m, {epochs = 3, callbacks = {watched, K.callbacks.ModelCheckpoint("m{epoch}", {save_best_only = true, save_weights_only = true})}})
  same("ModelCheckpoint: the best only", table.concat(saved, " "), "weights m1 weights m3")
  saved = {}
  fit(m, {epochs = 3, callbacks = {watched, K.callbacks.ModelCheckpoint("m{epoch}", {period = 2})}})
  same("ModelCheckpoint: period", table.concat(saved, " "), "m2")
  saved = {}
  fit(m, {epochs = 1, batch_size = 2, callbacks = {K.callbacks.ModelCheckpoint("m{batch}", {save_freq = 2})}})
  same("ModelCheckpoint: every two batches", table.concat(saved, " "), "m2 m4")
  local ok, why = pcall(fit, m, {callbacks = {K.callbacks.ModelCheckpoint "m{val_acc}"}})
  check("ModelCheckpoint: a name that is not there", not ok and tostring(why):find("asks for 'val_acc'", 1, true), why)

  fit(model(), {epochs = 2, batch_size = 4, callbacks = {K.callbacks.TensorBoard {log_dir = folder .. "/board", histogram_freq = 1, update_freq = "batch"}}, validation_data = {X, Y}})
  local tags = {}
  for line in io.popen("ls '" .. folder .. "/board'"):lines() do
    for event in tf.train.summary_iterator(folder .. "/board/" .. line) do
      for _, value in ipairs(event.summary and event.summary.value or {}) do tags[value.tag] = (tags[value.tag] or 0) + 1 end
    end
  end
  same("TensorBoard: a loss for each epoch", tags.loss, 2)
  same("TensorBoard: and in validation", tags.val_loss, 2)
  same("TensorBoard: and for each batch", tags.batch_loss, 4)
  local histograms = 0
  for tag in pairs(tags) do if tag:find "/kernel$" then histograms = histograms + 1 end end
  same("TensorBoard: histograms of the kernels", histograms, 2)
end

-- ------------------------------------------------------------------------------------- a server that is told

do
  local told = {}
  local function send(url, headers, body) told[#told + 1] = {url, headers["Content-Type"], headers.Token, body} end
  fit(model(), {epochs = 2, callbacks = {K.callbacks.RemoteMonitor {root = "http://host:1", headers = {Token = "x"}, send_as_json = true, send = send}}})
  same("RemoteMonitor: each epoch", #told, 2)
  same("RemoteMonitor: the address", told[1][1], "http://host:1/publish/epoch/end/")
  same("RemoteMonitor: JSON", told[1][2], "application/json")
  same("RemoteMonitor: headers", told[1][3], "x")
  local sent = tf.json.decode(told[2][4])
  check("RemoteMonitor: the epoch and its numbers", sent.epoch == 1 and type(sent.loss) == "number", told[2][4])
  fit(model(), {epochs = 1, callbacks = {K.callbacks.RemoteMonitor {send = send}}})
  same("RemoteMonitor: the default address", told[3][1], "http://localhost:9000/publish/epoch/end/")
  same("RemoteMonitor: a form", told[3][2], "application/x-www-form-urlencoded")
  local form = told[3][4]:gsub("%%(%x%x)", function(h) return string.char(tonumber(h, 16)) end)
  same("RemoteMonitor: the field", tf.json.decode(form:match "^data=(.*)$").epoch, 0)
  local tries = 0
  fit(model(), {epochs = 3, callbacks = {K.callbacks.RemoteMonitor {send = function()
    tries = tries + 1
    error "no server"
  end}}})
  same("RemoteMonitor: a server that is away stops nothing", tries, 3)
end
os.execute("rm -r '" .. folder .. "'")

print(("callbacks: %d checks, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and 0 or 1, true)
