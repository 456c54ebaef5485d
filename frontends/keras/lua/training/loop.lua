-- fit, evaluate, predict and their kin, as methods of a model. engine.lua says what they need of one.
local tf, T = ...
local data = T.include("keras", "training/data")
local steps = T.include("keras", "training/steps")
local compiled = T.include("keras", "training/compiled")
local engine = T.include("keras", "training/engine")
local callbacks = T.include("keras", "callbacks")
local methods = {}

local function bind(name, signature, fn) methods[name] = T.bind(name, signature, fn) end
local function needs_compile(model, who)
  if not model.compiled then T.fail(who, "the model is not compiled: call model:compile{optimizer =, loss =} first") end
  return model.compiled
end
local function list_of(x) return type(x) == "table" and T.kind(x) == nil and x or nil end

-- ------------------------------------------------------------------------------------- compile

bind("compile", "self optimizer=rmsprop loss? metrics? loss_weights? sample_weight_mode? weighted_metrics? target_tensors? run_eagerly=false",
  function(self, optimizer, loss, metrics, loss_weights, mode, weighted, targets, run_eagerly)
    self.compiled = compiled.new({optimizer = optimizer, loss = loss, metrics = metrics, loss_weights = loss_weights, sample_weight_mode = mode,
      weighted_metrics = weighted, target_tensors = targets, run_eagerly = run_eagerly}, "compile")
    self.optimizer, self.loss, self.stop_training = self.compiled.optimizer, loss, false
    self.step_plans = nil
    -- What is trained is settled here: a layer that is frozen later (the critic inside of a generator's model) goes on learning in
    -- the models that were compiled before.
    local vars = engine.trainable(self)
    self.compiled.trainable = #self.weights > 0 and vars or nil
    -- what evaluate and train_on_batch give, in order; the first batch tells all of it
    self.metrics_names = {"loss"}
  end)
-- ------------------------------------------------------------------------------------- numbers of an epoch

local Tally = {}
Tally.__index = Tally
local function tally(model)
  local r = model.compiled.resolved
  if r then for _, m in ipairs(r.metrics) do m.metric:reset_state() end end
  return setmetatable({model = model, loss = 0.0, parts = {}, samples = 0}, Tally)
end
function Tally:add(result, n)
  self.samples = self.samples + n
  if result.loss then self.loss = self.loss + result.loss * n end
  for i, value in pairs(result.parts) do self.parts[i] = (self.parts[i] or 0.0) + value * n end
end
-- Means so far by name.
function Tally:logs(prefix)
  local out, r = {}, self.model.compiled.resolved
  prefix = prefix or ""
  if not r then return out end
  local n = math.max(self.samples, 1)
  out[prefix .. "loss"] = self.loss / n
  if r.n > 1 then
    local names = engine.io(self.model).outputs
    for i, sum in pairs(self.parts) do out[prefix .. (names and names[i] or "output_" .. i) .. "_loss"] = sum / n end
  end
  for _, m in ipairs(r.metrics) do out[prefix .. m.name] = m.metric:result() end
  return out
end
local function in_order(model, logs)
  local out = {}
  for i, name in ipairs(model.compiled.resolved.names) do out[i] = logs[name] == nil and false or logs[name] end
  return out
end
local function several(model, logs, as_table)
  if as_table then return logs end
  return table.unpack(in_order(model, logs))
end

-- ------------------------------------------------------------------------------------- one pass

local function source_of(model, x, y, w, o) return data.source(engine.io(model), x, y, w, o) end
local function first_or_fail(batch, who)
  if batch == nil then T.fail(who, "the data are empty: there is no first batch") end
  return batch
end
local function test_pass(model, source, who, list, bar)
  local sums = tally(model)
  local next_batch = source.epoch(0)
  local i = 0
  if list then list:call("on_test_begin", {}) end
  while true do
    local batch = next_batch()
    if batch == nil then break end
    if list then list:call("on_test_batch_begin", i, {}) end
    engine.prepare(model, batch.x)
    local step = steps.get(model, "test", batch, false, who)
    sums:add(step:run(batch), batch.n)
    i = i + 1
    if bar then bar:show(i, sums:logs()) end
    if list then list:call("on_test_batch_end", i - 1, sums:logs()) end
  end
  if i == 0 then T.fail(who, "the data are empty: there is no first batch") end
  local logs = sums:logs()
  if list then list:call("on_test_end", logs) end
  if bar then bar:finish(i, logs) end
  return logs
end

-- validation_data: {x, y}, {x, y, w}, {x =, y =, sample_weight =}, or a dataset, sequence, generator.
local function validation_source(model, given, o)
  if given == nil or given == false then return nil end
  local t = list_of(given)
  if t and type(t.get) ~= "function" and getmetatable(t) == nil then
    local x, y, w = t.x, t.y, t.sample_weight
    if x == nil then x, y, w = t[1], t[2], t[3] end
    if x == nil then T.fail(o.who, "validation_data is {x, y} or {x, y, sample_weight}") end
    return source_of(model, x, y, w, o)
  end
  return source_of(model, given, nil, nil, o)
end

-- ------------------------------------------------------------------------------------- fit

local function run_fit(self, o)
  local who = "fit"
  local c = needs_compile(self, who)
  if math.type(o.epochs) ~= "integer" or o.epochs < 0 then T.fail(who, "'epochs' must be a whole number, not %s", tostring(o.epochs)) end
  if o.verbose == "auto" or o.verbose == true then o.verbose = 1 elseif o.verbose == false then o.verbose = 0 end
  if o.verbose ~= 0 and o.verbose ~= 1 and o.verbose ~= 2 then T.fail(who, "'verbose' must be 0, 1 or 2, not %s", tostring(o.verbose)) end
  local x, y, w = o.x, o.y, o.sample_weight
  local validation = o.validation_data
  if (o.validation_split or 0) ~= 0 and not validation then
    local train, held = data.split(engine.io(self), x, y, w, o.validation_split, who)
    x, y, w = train.x, train.y, train.w
    validation = held
    if not held.y then validation = {x = held.x} end
    validation.sample_weight = held.w
  end
  local source = source_of(self, x, y, w, {who = who, batch_size = o.batch_size, shuffle = o.shuffle, steps = o.steps_per_epoch,
    class_weight = o.class_weight, shuffle_sequence = o.shuffle_sequence, permutation = function(n) return engine.permutation(self, n) end})
  local held = validation_source(self, validation, {who = who .. " (validation_data)", batch_size = o.validation_batch_size or o.batch_size,
    steps = o.validation_steps, shuffle = false})

  local history = callbacks.classes.History.new()
  local all = {}
  local given = o.callbacks
  if given and (callbacks:is(given) or list_of(given) and given[1] == nil and next(given)) then given = {given} end
  if given and type(given) ~= "table" then T.fail(who, "'callbacks' is a list of callbacks, not %s", type(given)) end
  local own_bar = false
  for _, callback in ipairs(given or {}) do
    all[#all + 1] = callback
    own_bar = own_bar or getmetatable(callback) == callbacks.classes.ProgbarLogger
  end
  if o.verbose > 0 and not own_bar then all[#all + 1] = callbacks.classes.ProgbarLogger.new() end
  all[#all + 1] = history -- last, so that it has what others put into the logs
  local params = {epochs = o.epochs, steps = source.steps, samples = source.samples, batch_size = source.batch_size, verbose = o.verbose,
    do_validation = held ~= nil, metrics = c.resolved and c.resolved.names or {"loss"}}
  local list = callbacks.list(all, self, params, who)
  local guarded = false
  for _, callback in ipairs(all) do guarded = guarded or getmetatable(callback) == callbacks.classes.TerminateOnNaN end

  self.history, self.stop_training = history, false
  list:call("on_train_begin", {})
  local batch_begin, batch_end = list:hears "on_train_batch_begin", list:hears "on_train_batch_end"
  local logs = {}
  for epoch = o.initial_epoch, o.epochs - 1 do
    list:call("on_epoch_begin", epoch, {})
    local sums = tally(self)
    local next_batch = source.epoch(epoch)
    local i = 0
    while not self.stop_training do
      local batch = next_batch()
      if batch == nil then break end
      if batch_begin then list:call("on_train_batch_begin", i, {batch = i, size = batch.n}) end
      engine.prepare(self, batch.x)
      local step = steps.get(self, "train", batch, guarded, who)
      local result = step:run(batch)
      if guarded then self.last_batch = batch end
      sums:add(result, batch.n)
      i = i + 1
      if batch_end then
        params.metrics = c.resolved.names
        local now = sums:logs()
        now.batch, now.size, now.batch_loss = i - 1, batch.n, result.loss
        list:call("on_train_batch_end", i - 1, now)
      end
    end
    if i == 0 and not self.stop_training then
      if epoch == o.initial_epoch then T.fail(who, "the data are empty: there is no first batch") end
      io.stderr:write(("fit: the data ended after %d epochs of %d; steps_per_epoch times epochs batches are needed\n"):format(epoch, o.epochs))
      break
    end
    params.steps, params.metrics = params.steps or i, c.resolved.names
    logs = sums:logs()
    if held and (epoch + 1) % (o.validation_freq or 1) == 0 then
      for name, value in pairs(test_pass(self, held, who .. " (validation_data)", list)) do logs["val_" .. name] = value end
    end
    list:call("on_epoch_end", epoch, logs)
    if source.on_epoch_end then source.on_epoch_end() end
    if source.ran_out then
      io.stderr:write(("fit: the data ended after %d of %d steps of epoch %d\n"):format(source.ran_out, source.steps, epoch + 1))
      break
    end
    if self.stop_training then break end
  end
  if o.epochs > o.initial_epoch then steps.finalize(self) end
  list:call("on_train_end", logs)
  return history
end

bind("fit", "self x? y? batch_size? epochs|nb_epoch=1 verbose=1 callbacks? validation_split=0 validation_data? shuffle=true class_weight? sample_weight? initial_epoch=0 steps_per_epoch? validation_steps? validation_batch_size? validation_freq=1 max_queue_size=10 workers=1 use_multiprocessing=false",
  function(self, x, y, batch_size, epochs, verbose, given, split, validation, shuffle, class_weight, w, initial, per_epoch, validation_steps, validation_batch, freq)
    if x == nil then T.fail("fit", "x is missing") end
    return run_fit(self, {x = x, y = y, batch_size = batch_size, epochs = epochs, verbose = verbose, callbacks = given, validation_split = split,
      validation_data = validation, shuffle = shuffle, class_weight = class_weight, sample_weight = w, initial_epoch = initial,
      steps_per_epoch = per_epoch, validation_steps = validation_steps, validation_batch_size = validation_batch, validation_freq = freq})
  end)
bind("fit_generator", "self generator steps_per_epoch? epochs=1 verbose=1 callbacks? validation_data? validation_steps? validation_freq=1 class_weight? max_queue_size=10 workers=1 use_multiprocessing=false shuffle=true initial_epoch=0",
  function(self, generator, per_epoch, epochs, verbose, given, validation, validation_steps, freq, class_weight, _, _, _, shuffle, initial)
    return run_fit(self, {x = generator, epochs = epochs, verbose = verbose, callbacks = given, validation_data = validation, class_weight = class_weight,
      initial_epoch = initial, steps_per_epoch = per_epoch, validation_steps = validation_steps, validation_freq = freq, shuffle = shuffle,
      shuffle_sequence = shuffle})
  end)

-- ------------------------------------------------------------------------------------- evaluate, predict

local function evaluate(self, x, y, batch_size, verbose, w, count, given, as_table)
  local who = "evaluate"
  needs_compile(self, who)
  local source = source_of(self, x, y, w, {who = who, batch_size = batch_size, steps = count, shuffle = false})
  local list = given and callbacks.list(given, self, {steps = source.steps, verbose = verbose}, who) or nil
  local bar
  if verbose == 1 and T.is_terminal() then
    bar = T.namespace "tf.keras.utils".Progbar {target = source.steps, names = self.compiled.resolved and self.compiled.resolved.names}
  end
  return several(self, test_pass(self, source, who, list, bar), as_table)
end
-- The loss, then the metrics, as values; {return_dict = true}: a table by name.
bind("evaluate", "self x? y? batch_size? verbose=1 sample_weight? steps? callbacks? return_dict=false", function(self, x, y, batch, verbose, w, count, given, as_table)
  if x == nil then T.fail("evaluate", "x is missing") end
  return evaluate(self, x, y, batch, verbose, w, count, given, as_table)
end)
bind("evaluate_generator", "self generator steps? callbacks? max_queue_size=10 workers=1 use_multiprocessing=false verbose=0", function(self, x, count, given, _, _, _, verbose)
  return evaluate(self, x, nil, nil, verbose, nil, count, given)
end)

local function joined(parts)
  local out = {}
  for i, list in ipairs(parts) do out[i] = #list == 1 and list[1] or tf.concat(list, 0) end
  return table.unpack(out)
end
local function predict(self, x, batch_size, verbose, count, given)
  local who = "predict"
  local source = source_of(self, x, nil, nil, {who = who, batch_size = batch_size, steps = count, shuffle = false})
  local list = given and callbacks.list(given, self, {steps = source.steps, verbose = verbose}, who) or nil
  local bar = verbose == 1 and T.is_terminal() and T.namespace "tf.keras.utils".Progbar {target = source.steps} or nil
  local parts, i = {}, 0
  local next_batch = source.epoch(0)
  if list then list:call("on_predict_begin", {}) end
  while true do
    local batch = next_batch()
    if batch == nil then break end
    batch.y, batch.w = {}, {}
    if list then list:call("on_predict_batch_begin", i, {}) end
    engine.prepare(self, batch.x)
    local result = steps.get(self, "predict", batch, false, who):run(batch, true)
    for k, t in ipairs(result.outputs) do
      parts[k] = parts[k] or {}
      table.insert(parts[k], t)
    end
    i = i + 1
    if bar then bar:show(i, {}) end
    if list then list:call("on_predict_batch_end", i - 1, {outputs = result.outputs}) end
  end
  if i == 0 then T.fail(who, "the data are empty: there is no first batch") end
  if list then list:call("on_predict_end", {}) end
  if bar then bar:finish(i, {}) end
  return joined(parts)
end
-- One tensor for each output.
bind("predict", "self x batch_size? verbose=0 steps? callbacks?", predict)
bind("predict_generator", "self generator steps? callbacks? max_queue_size=10 workers=1 use_multiprocessing=false verbose=0", function(self, x, count, given, _, _, _, verbose)
  return predict(self, x, nil, verbose, count, given)
end)
bind("predict_proba", "self x batch_size? verbose=0", function(self, x, batch, verbose) return predict(self, x, batch, verbose) end)
-- The class of each row: the largest of several, or whether a single one is above a half.
bind("predict_classes", "self x batch_size? verbose=0", function(self, x, batch, verbose)
  local p = predict(self, x, batch, verbose)
  if p.shape[p:rank()] > 1 then return tf.argmax(p, -1) end
  return tf.cast(tf.greater(p, 0.5), "int32")
end)

-- ------------------------------------------------------------------------------------- single batches

local function one_batch(self, kind, x, y, w, class_weight, reset, as_table, who)
  needs_compile(self, who)
  local source = source_of(self, x, y, w, {who = who, batch_size = math.maxinteger, shuffle = false, class_weight = class_weight})
  local batch = first_or_fail(source.epoch(0)(), who)
  engine.prepare(self, batch.x)
  local step = steps.get(self, kind, batch, false, who)
  local sums = not reset and self.running or tally(self)
  self.running = sums
  sums:add(step:run(batch), batch.n)
  return several(self, sums:logs(), as_table)
end
-- reset_metrics = false: the numbers are those of all batches since the last reset.
bind("train_on_batch", "self x y? sample_weight? class_weight? reset_metrics=true return_dict=false", function(self, x, y, w, class_weight, reset, as_table)
  return one_batch(self, "train", x, y, w, class_weight, reset, as_table, "train_on_batch")
end)
bind("test_on_batch", "self x y? sample_weight? reset_metrics=true return_dict=false", function(self, x, y, w, reset, as_table)
  return one_batch(self, "test", x, y, w, nil, reset, as_table, "test_on_batch")
end)
bind("predict_on_batch", "self x", function(self, x)
  return predict(self, x, math.maxinteger, 0)
end)
-- Forgets what layers carry from batch to batch.
function methods.reset_states(self)
  for _, layer in ipairs(self.layers or {}) do if layer.reset_states then layer:reset_states() end end
end
function methods.reset_metrics(self)
  self.running = nil
  local r = self.compiled and self.compiled.resolved
  for _, m in ipairs(r and r.metrics or {}) do m.metric:reset_state() end
end

-- ------------------------------------------------------------------------------------- what went wrong

local function finite(t)
  if not t.dtype:find "float" then return true end
  return tf.reduce_all(tf.is_finite(t)):item()
end
-- The first tensor of the last batch that is not finite, in words: inputs, targets, weights, outputs of layers in order, the loss.
function methods.first_bad_tensor(self)
  local batch = self.last_batch
  if not batch then return "unknown (no batch was kept)" end
  local function among(list, names, what)
    for i, t in ipairs(list) do
      if t and not finite(t) then return ("%s '%s'"):format(what, names and names[i] or tostring(i)) end
    end
  end
  local model_io = engine.io(self)
  local found = among(batch.x, model_io.inputs, "input") or among(batch.y, model_io.outputs, "targets of") or among(batch.w, model_io.outputs, "sample weights of")
  if found then return found end
  for _, v in ipairs(self.weights) do
    if not finite(engine.read(self, v)) then return ("weight '%s'"):format((v.name:gsub(":%d+$", ""))) end
  end
  for _, entry in ipairs(engine.trace(self, batch.x)) do
    if not finite(entry.value) then return ("the output of layer '%s'"):format(entry.name) end
  end
  return "the loss"
end
return methods
