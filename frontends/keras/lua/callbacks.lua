-- tf.keras.callbacks: what is called as training goes on. A callback of the script is a table with the functions it wants:
--
--     model:fit(x, y, {callbacks = {{on_epoch_end = function(self, epoch, logs) print(epoch, logs.loss) end}}})
--
-- or a class: Callback:extend{...}. Epochs and batches count from 0, as in Keras; `self.model` and `self.params` are set.
local tf, T = ...
local registry = T.include("keras", "registry")
local format = T.include("keras", "training/format")

local Callback = {}
local kind = registry("callbacks", "callback", Callback)
local public = T.namespace "tf.keras.callbacks"
public.Callback = Callback
function Callback:set_model(model) self.model = model end
function Callback:set_params(params) self.params = params end
function Callback:extend(methods)
  methods = methods or {}
  methods.__index, methods.__name = methods, methods.name or "Callback"
  methods.names = {}
  return setmetatable(methods, {__index = self, __call = function(class, fields)
    local object = {}
    for k, v in pairs(fields or {}) do object[k] = v end
    local made = setmetatable(object, class)
    if class.init then class.init(made) end
    return made
  end})
end
setmetatable(Callback, {__call = function(_, fields) -- Callback{on_epoch_end = ...}: an object of its own
  local object = {}
  for k, v in pairs(fields or {}) do object[k] = v end
  return setmetatable(object, Callback)
end})

local function say(text) io.stderr:write(text, "\n") end

-- ------------------------------------------------------------------------------------- watching a number

local function modes(self, path)
  if self.mode ~= "auto" and self.mode ~= "min" and self.mode ~= "max" then
    T.fail(path, "'mode' must be auto, min or max, not '%s'", tostring(self.mode))
  end
end
-- Whether larger is better: as `mode` says, else by the name.
local function larger_is_better(self)
  if self.mode ~= "auto" then return self.mode == "max" end
  local name = self.monitor:gsub("^val_", "")
  for _, part in ipairs {"acc", "auc", "precision", "recall", "f1", "iou", "fmeasure", "r2"} do
    if name:lower():find(part, 1, true) then return true end
  end
  return false
end
local function better(self, a, b, delta)
  if larger_is_better(self) then return a - delta > b end
  return a + delta < b
end
local function worst(self) return larger_is_better(self) and -math.huge or math.huge end
-- The number that is watched; says once what there is instead.
local function watched(self, logs)
  local value = logs[self.monitor]
  if value == nil and not self.warned then
    self.warned = true
    local names = {}
    for name in pairs(logs) do names[#names + 1] = name end
    table.sort(names)
    say(("%s: there is no '%s' to watch; there are %s"):format(getmetatable(self).__name, self.monitor, table.concat(names, ", ")))
  end
  return value
end

kind:class("EarlyStopping", "monitor=val_loss min_delta=0 patience=0 verbose=0 mode=auto baseline? restore_best_weights=false start_from_epoch=0", {
  init = modes,
  on_train_begin = function(self)
    self.wait, self.stopped_epoch, self.best, self.best_epoch, self.best_weights = 0, 0, nil, 0, nil
  end,
  on_epoch_end = function(self, epoch, logs)
    local value = watched(self, logs)
    if value == nil or epoch < self.start_from_epoch then return end
    if self.restore_best_weights and not self.best_weights then self.best_weights = self.model:get_weights() end
    self.wait = self.wait + 1
    local delta = math.abs(self.min_delta)
    if self.best == nil or better(self, value, self.best, delta) then
      self.best, self.best_epoch = value, epoch
      if self.restore_best_weights then self.best_weights = self.model:get_weights() end
      if self.baseline == nil or better(self, value, self.baseline, delta) then self.wait = 0 end
      return
    end
    if self.wait >= self.patience and epoch > 0 then
      self.stopped_epoch, self.model.stop_training = epoch, true
    end
  end,
  on_train_end = function(self)
    if self.stopped_epoch > 0 and self.verbose > 0 then say(("Epoch %d: early stopping"):format(self.stopped_epoch + 1)) end
    if self.restore_best_weights and self.best_weights then
      if self.verbose > 0 then say(("Restoring weights of epoch %d"):format(self.best_epoch + 1)) end
      self.model:set_weights(self.best_weights)
    end
  end})

kind:class("ReduceLROnPlateau", "monitor=val_loss factor=0.1 patience=10 verbose=0 mode=auto min_delta|epsilon=0.0001 cooldown=0 min_lr=0", {
  init = function(self, path)
    modes(self, path)
    if self.factor >= 1 then T.fail(path, "'factor' must be below 1, not %g", self.factor) end
  end,
  on_train_begin = function(self) self.wait, self.cooling, self.best = 0, 0, nil end,
  on_epoch_end = function(self, epoch, logs)
    logs.learning_rate = self.model.optimizer:rate()
    local value = watched(self, logs)
    if value == nil then return end
    if self.cooling > 0 then
      self.cooling, self.wait = self.cooling - 1, 0
    end
    if better(self, value, self.best or worst(self), self.min_delta) then
      self.best, self.wait = value, 0
    elseif self.cooling <= 0 then
      self.wait = self.wait + 1
      local rate = self.model.optimizer:rate()
      if self.wait >= self.patience and rate > self.min_lr then
        local new = math.max(rate * self.factor, self.min_lr)
        self.model.optimizer.learning_rate = new
        if self.verbose > 0 then say(("Epoch %d: ReduceLROnPlateau reducing learning rate to %g."):format(epoch + 1, new)) end
        self.cooling, self.wait = self.cooldown, 0
      end
    end
  end})

-- schedule(epoch, rate) gives the rate of an epoch.
kind:class("LearningRateScheduler", "schedule verbose=0", {
  on_epoch_begin = function(self, epoch)
    local opt = self.model.optimizer
    if type(opt.learning_rate) ~= "number" then
      T.fail("LearningRateScheduler", "the optimizer's learning_rate is a schedule already; give it a number")
    end
    local rate = self.schedule(epoch, opt.learning_rate)
    if T.kind(rate) then rate = rate:item() end
    if type(rate) ~= "number" then T.fail("LearningRateScheduler", "the schedule must give a number, not %s", type(rate)) end
    opt.learning_rate = rate
    if self.verbose > 0 then say(("Epoch %d: LearningRateScheduler setting learning rate to %g."):format(epoch + 1, rate)) end
  end,
  on_epoch_end = function(self, _, logs) logs.learning_rate = self.model.optimizer:rate() end})

-- Stops at a loss that is not a number, and says which tensor was the first: an input, a weight, a layer's output, the loss.
kind:class("TerminateOnNaN", "", {
  on_batch_end = function(self, batch, logs)
    local loss = logs.batch_loss or logs.loss
    if loss == nil or (loss == loss and loss ~= math.huge and loss ~= -math.huge) then return end
    self.first_bad = self.model.first_bad_tensor and self.model:first_bad_tensor() or "the loss"
    say(("Batch %d: the loss is %s, terminating training. The first tensor that is not finite: %s"):format(batch, tostring(loss), self.first_bad))
    self.model.stop_training = true
  end})

-- ------------------------------------------------------------------------------------- writing down

kind:class("History", "", {
  on_train_begin = function(self)
    self.history, self.epoch = {}, {}
  end,
  on_epoch_end = function(self, epoch, logs)
    self.epoch[#self.epoch + 1] = epoch
    for name, value in pairs(logs) do
      self.history[name] = self.history[name] or {}
      table.insert(self.history[name], value)
    end
  end})

kind:class("CSVLogger", "filename separator=, append=false", {
  on_train_begin = function(self)
    local old = self.append and io.open(self.filename, "r")
    if old then
      self.header = old:read "l" == nil
      old:close()
    else
      self.header = true
    end
    local why
    self.file, why = io.open(self.filename, self.append and "a" or "w")
    if not self.file then T.fail("CSVLogger", "cannot write '%s': %s", self.filename, why) end
    self.keys = nil
  end,
  on_epoch_end = function(self, epoch, logs)
    if not self.keys then
      self.keys = {}
      for name in pairs(logs) do self.keys[#self.keys + 1] = name end
      table.sort(self.keys)
      if self.model.stop_training then -- as if there had been validation, whose columns later lines may have
        for _, name in ipairs {table.unpack(self.keys)} do
          if not name:find "^val_" and logs["val_" .. name] == nil and self.params.do_validation then table.insert(self.keys, "val_" .. name) end
        end
      end
      if self.header then self.file:write("epoch", self.separator, table.concat(self.keys, self.separator), "\n") end
    end
    local line = {tostring(epoch)}
    for i, name in ipairs(self.keys) do
      local value = logs[name]
      line[i + 1] = value == nil and "NA" or T.kind(value) and '"' .. tf.json.encode(value:table()) .. '"' or ("%.10g"):format(value)
    end
    self.file:write(table.concat(line, self.separator), "\n")
    self.file:flush()
  end,
  on_train_end = function(self)
    if self.file then self.file:close() end
    self.file = nil
  end})

-- Saves the model (or its weights) after each epoch, or every save_freq batches. The path may hold {epoch:02d} and numbers
-- of the logs: "weights.{epoch:02d}-{val_loss:.2f}.h5".
kind:class("ModelCheckpoint", "filepath monitor=val_loss verbose=0 save_best_only=false save_weights_only=false mode=auto save_freq=epoch initial_value_threshold? period=1", {
  init = function(self, path)
    modes(self, path)
    if self.save_freq ~= "epoch" and math.type(self.save_freq) ~= "integer" then
      T.fail(path, "'save_freq' must be \"epoch\" or a number of batches, not %s", tostring(self.save_freq))
    end
    self.best, self.since, self.batches = self.initial_value_threshold, 0, 0
  end,
  on_batch_end = function(self, batch, logs)
    if self.save_freq == "epoch" then return end
    self.batches = self.batches + 1
    if self.batches >= self.save_freq then
      self.batches = 0
      self:save(self.present_epoch or 0, batch, logs)
    end
  end,
  on_epoch_begin = function(self, epoch) self.present_epoch = epoch end,
  on_epoch_end = function(self, epoch, logs)
    if self.save_freq ~= "epoch" then return end
    self.since = self.since + 1
    if self.since >= self.period then
      self.since = 0
      self:save(epoch, nil, logs)
    end
  end,
  save = function(self, epoch, batch, logs)
    local values = {epoch = epoch + 1, batch = batch and batch + 1 or nil}
    for name, value in pairs(logs) do if values[name] == nil then values[name] = value end end
    local path = format.fields(self.filepath, values, "ModelCheckpoint")
    if self.save_best_only then
      local value = watched(self, logs)
      if value == nil then return end
      local old = self.best or worst(self)
      if not better(self, value, old, 0) then
        if self.verbose > 0 then say(("Epoch %d: %s did not improve from %.5f"):format(epoch + 1, self.monitor, old)) end
        return
      end
      if self.verbose > 0 then say(("Epoch %d: %s improved from %.5f to %.5f, saving model to %s"):format(epoch + 1, self.monitor, old, value, path)) end
      self.best = value
    elseif self.verbose > 0 then
      say(("Epoch %d: saving model to %s"):format(epoch + 1, path))
    end
    if self.save_weights_only then self.model:save_weights(path) else self.model:save(path) end
    self.last_path = path
  end})

-- Numbers for TensorBoard: epochs under the names of the logs, "batch_" before those of single batches, weights as histograms every
-- histogram_freq epochs, the graph once.
kind:class("TensorBoard", "log_dir=./logs histogram_freq=0 batch_size=32 write_graph=true write_grads=false write_images=false embeddings_freq=0 embeddings_layer_names? embeddings_metadata? embeddings_data? update_freq=epoch", {
  init = function(self, path)
    if self.update_freq == "batch" then self.update_freq = 1 end
    if self.update_freq ~= "epoch" and (math.type(self.update_freq) ~= "integer" or self.update_freq < 1) then
      T.fail(path, "'update_freq' must be \"epoch\", \"batch\" or a number of batches, not %s", tostring(self.update_freq))
    end
    for _, name in ipairs {"write_grads", "write_images"} do
      if self[name] then T.fail_code(12, path, ("'%s' is not supported"):format(name)) end
    end
    if self.embeddings_freq ~= 0 then T.fail_code(12, path, "'embeddings_freq' is not supported") end
  end,
  on_train_begin = function(self)
    local graph = self.write_graph and self.model.keras_graph and self.model:keras_graph() or nil
    self.writer = self.writer or tf.summary.FileWriter(self.log_dir, {graph = graph})
    if self.writer.closed then self.writer:reopen() end
    self.seen = self.seen or 0
  end,
  on_batch_end = function(self, _, logs)
    self.seen = self.seen + 1
    if self.update_freq == "epoch" or self.seen % self.update_freq ~= 0 then return end
    for _, name in ipairs(format.sorted(logs)) do
      if type(logs[name]) == "number" and name ~= "batch" and name ~= "size" then self.writer:scalar("batch_" .. name, logs[name], self.seen) end
    end
  end,
  on_epoch_end = function(self, epoch, logs)
    for _, name in ipairs(format.sorted(logs)) do
      if type(logs[name]) == "number" then self.writer:scalar(name, logs[name], epoch) end
    end
    if self.histogram_freq > 0 and epoch % self.histogram_freq == 0 then
      local values = self.model:get_weights()
      for i, v in ipairs(self.model.weights) do self.writer:histogram((v.name:gsub(":%d+$", "")), values[i], epoch) end
    end
    self.writer:flush()
  end,
  on_train_end = function(self) self.writer:close() end})

-- ------------------------------------------------------------------------------------- others

kind:class("LambdaCallback", "on_epoch_begin? on_epoch_end? on_batch_begin? on_batch_end? on_train_begin? on_train_end? on_train_batch_begin? on_train_batch_end?", {
  init = function(self)
    -- the script's functions do not take the callback itself
    for _, name in ipairs(getmetatable(self).names) do
      local fn = rawget(self, name)
      if fn then rawset(self, name, function(_, ...) return fn(...) end) end
    end
  end})

-- The bar: as text on a terminal, a line for each epoch elsewhere.
kind:class("ProgbarLogger", "count_mode=steps stateful_metrics?", {
  on_train_begin = function(self) self.epochs, self.verbose = self.params.epochs, self.params.verbose or 1 end,
  on_epoch_begin = function(self, epoch)
    if self.verbose == 0 then return end
    if self.verbose == 1 and T.is_terminal() then say(("Epoch %d/%d"):format(epoch + 1, self.epochs)) end
    self.bar = T.namespace "tf.keras.utils".Progbar {target = self.params.steps, verbose = self.verbose, unit_name = "step",
      prefix = self.epochs > 1 and ("Epoch %d/%d"):format(epoch + 1, self.epochs) or nil}
    self.done = 0
  end,
  on_batch_end = function(self, _, logs)
    if not self.bar then return end
    self.done = self.done + 1
    self.bar.names = self.params.metrics
    self.bar:show(self.done, logs)
  end,
  on_epoch_end = function(self, _, logs)
    if not self.bar then return end
    local names = {table.unpack(self.params.metrics)}
    for _, name in ipairs(self.params.metrics) do names[#names + 1] = "val_" .. name end
    self.bar.names = names
    self.bar:finish(self.done, logs)
    self.bar = nil
  end})

-- Averages of the logs of batches; fit does that itself, the class is there for those who call it.
kind:class("BaseLogger", "stateful_metrics?", {
  on_epoch_begin = function(self) self.seen, self.totals = 0, {} end,
  on_batch_end = function(self, _, logs)
    local size = logs.size or 1
    self.seen = self.seen + size
    for name, value in pairs(logs) do
      if type(value) == "number" then self.totals[name] = (self.totals[name] or 0) + value * size end
    end
  end})

-- ------------------------------------------------------------------------------------- the list

local List = {}
List.__index = List
-- Other names for the same moment: on_batch_end is on_train_batch_end.
local also = {on_train_batch_begin = "on_batch_begin", on_train_batch_end = "on_batch_end"}
function List:call(name, ...)
  for _, callback in ipairs(self.list) do
    local fn = callback[name]
    if fn then fn(callback, ...) end
    local other = also[name]
    if other then
      fn = callback[other]
      if fn then fn(callback, ...) end
    end
  end
end
-- Whether anybody listens: what nobody reads need not be computed.
function List:hears(name)
  for _, callback in ipairs(self.list) do
    if callback[name] or also[name] and callback[also[name]] then return true end
  end
  return false
end
local moments = {}
for moment in ([[on_train_begin on_train_end on_epoch_begin on_epoch_end on_batch_begin on_batch_end on_train_batch_begin on_train_batch_end
  on_test_begin on_test_end on_test_batch_begin on_test_batch_end on_predict_begin on_predict_end on_predict_batch_begin on_predict_batch_end
  set_model set_params]]):gmatch "%S+" do moments[#moments + 1] = moment end

-- Makes the list of a run; a function alone is none of a callback's moments.
function kind.list(callbacks, model, params, who)
  if callbacks and (kind:is(callbacks) or type(callbacks) == "table" and callbacks[1] == nil and next(callbacks)) then callbacks = {callbacks} end
  local list = {}
  for i, callback in ipairs(callbacks or {}) do
    if type(callback) ~= "table" then T.fail(who, "callbacks[%d] is no callback, but a %s", i, T.kind(callback) or type(callback)) end
    local any = false
    for _, moment in ipairs(moments) do any = any or callback[moment] ~= nil end
    if not any then
      local key = next(callback)
      local near = type(key) == "string" and T.nearest(key, moments)
      T.fail(who, "callbacks[%d] has none of a callback's functions (on_epoch_end ...)%s", i, near and (("; '%s' is close to '%s'"):format(key, near)) or "")
    end
    list[i] = callback
  end
  local made = setmetatable({list = list}, List)
  for _, callback in ipairs(list) do
    if callback.set_params then callback:set_params(params) else callback.params = params end
    if callback.set_model then callback:set_model(model) else callback.model = model end
  end
  return made
end
return kind
