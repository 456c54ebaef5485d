-- tf.skflow: estimators in the manner of scikit-learn.
--
--     local skflow = tf.skflow
--     local classifier = skflow.DNNClassifier{hidden_units = {10, 20, 10}, n_classes = 3}
--     classifier:fit(x, y)
--     print(classifier:score(x_test, y_test))
--
-- An estimator builds its graph at the first fit and trains in a session of its own.
local tf, T = ...
local skflow = T.namespace "tf.skflow"
T.include("skflow", "ops")
T.include("skflow", "models")
local models = skflow.models

-- ------------------------------------------------------------------------------------- data

local function tensor(x, dtype, who, what)
  if T.kind(x) == "Tensor" then return dtype and x.dtype ~= dtype and tf.cast(x, dtype) or x end
  if type(x) ~= "table" then T.fail(who, "%s must be a tensor or a table, not %s", what, T.kind(x) or type(x)) end
  return tf.tensor(x, dtype)
end
-- Batches in a random order that is the same for the same seed; the next round begins when the rows are used up.
local function batches(n, size, seed)
  local list, order, at = {}, nil, n
  local state = seed
  local function random() -- splitmix64 (Steele, Lea, Flood, 2014)
    state = state + 0x9E3779B97F4A7C15
    local z = state
    z = (z ~ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ~ (z >> 27)) * 0x94D049BB133111EB
    return (z ~ (z >> 31)) >> 1
  end
  for i = 1, n do list[i] = i - 1 end
  return function()
    if at >= n then
      for i = n, 2, -1 do -- Fisher and Yates
        local k = random() % i + 1
        list[i], list[k] = list[k], list[i]
      end
      order = tf.tensor(list, "int64")
      at = 0
    end
    local take = math.min(size, n - at)
    local rows = order[{{at + 1, at + take}}]
    at = at + take
    return rows
  end
end

-- ------------------------------------------------------------------------------------- estimators

local Estimator = {}
Estimator.__index = Estimator
local parameters = {n_classes = 0, tf_master = "", batch_size = 32, steps = 200, optimizer = "SGD", learning_rate = 0.1, class_weight = false, tf_random_seed = 42,
  continue_training = false, num_cores = 4, verbose = 1, early_stopping_rounds = false, max_to_keep = 5, keep_checkpoint_every_n_hours = 10000}
local order = {"n_classes", "tf_master", "batch_size", "steps", "optimizer", "learning_rate", "class_weight", "tf_random_seed", "continue_training", "num_cores",
  "verbose", "early_stopping_rounds", "max_to_keep", "keep_checkpoint_every_n_hours"}
local classes = {}

local function new(class, o)
  local who = "tf.skflow." .. class.__name
  if type(o) ~= "table" or T.kind(o) then T.fail(who, "expects its arguments by name in a table") end
  local self = setmetatable({}, class)
  local names = {}
  for _, name in ipairs(order) do names[#names + 1] = name end
  for name in pairs(class.own) do names[#names + 1] = name end
  for key in pairs(o) do
    if parameters[key] == nil and class.own[key] == nil then
      local near = T.nearest(tostring(key), names)
      T.fail(who, "unknown option '%s'%s", key, near and ("; did you mean '%s'?"):format(near) or "")
    end
  end
  for _, name in ipairs(names) do
    local value = o[name]
    if value == nil then value = class.own[name] end
    if value == nil then value = parameters[name] end
    if value == T then T.fail(who, "'%s' is missing", name) end
    if value == nil and class.own[name] == nil and parameters[name] == nil then T.fail(who, "'%s' is missing", name) end
    self[name] = value
  end
  for _, name in ipairs {"batch_size", "steps"} do
    if math.type(self[name]) ~= "integer" or self[name] < 1 then T.fail(who, "'%s' must be a whole number above 0, not %s", name, self[name]) end
  end
  if math.type(self.n_classes) ~= "integer" or self.n_classes < 0 then T.fail(who, "'n_classes' must be a whole number, not %s", T.shown(self.n_classes)) end
  if self.model_fn and type(self.model_fn) ~= "function" then T.fail(who, "'model_fn' must be a function of features and labels, not %s", T.shown(self.model_fn)) end
  if class.classifier and self.n_classes < 2 then T.fail(who, "'n_classes' must be 2 or more, not %s", self.n_classes) end
  return self
end
-- own: parameters of the class and their defaults; T stands for "must be given".
local function class(name, own, methods)
  local c = methods or {}
  c.__name, c.own = name, own
  c.__index = function(_, key)
    local value = c[key]
    if value ~= nil then return value end
    return Estimator[key]
  end
  classes[name] = c
  rawset(skflow, name, setmetatable({restore = function(path) return skflow.restore(path) end}, {__call = function(_, o) return new(c, o) end}))
  return c
end

local optimizers = {SGD = function(lr) return tf.train.GradientDescentOptimizer(lr) end, Adagrad = function(lr) return tf.train.AdagradOptimizer(lr) end,
  Adam = function(lr) return tf.train.AdamOptimizer(lr) end}
local function optimizer_of(self, rate)
  local o = self.optimizer
  if type(o) == "function" then return o(rate) end
  if not optimizers[o] then T.fail("tf.skflow", "'optimizer' is \"SGD\", \"Adagrad\", \"Adam\" or a function of the rate, not '%s'", o) end
  return optimizers[o](rate)
end
local CLIP_NORM = 5

function Estimator:is_classifier() return self.n_classes > 0 end
-- The graph: placeholders, the model, the training step.
function Estimator:build(x_shape, x_dtype, y_shape)
  self.graph = tf.Graph()
  self.graph:as_default(function()
    tf.set_random_seed(self.tf_random_seed)
    local scope <close> = skflow.ops.training_scope()
    self.training = scope.flag
    local shape = {-1, table.unpack(x_shape, 2)}
    self.x = tf.placeholder(x_dtype, shape, {name = "input"})
    if self:is_classifier() then
      self.y = tf.placeholder("float32", {-1, self.n_classes}, {name = "output"})
    else
      self.y = tf.placeholder("float32", {-1, table.unpack(y_shape, 2)}, {name = "output"})
    end
    self.global_step = tf.train.get_or_create_global_step()
    self.predictions, self.loss = self.model_fn(self.x, self.y)
    if not T.kind(self.predictions) or not T.kind(self.loss) then T.fail("tf.skflow", "model_fn must give predictions and loss") end
    self.total_loss = self.loss
    for _, penalty in ipairs(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) do self.total_loss = self.total_loss + penalty end
    local rate = self.learning_rate
    if type(rate) == "function" then rate = rate(self.global_step) end
    self.rate = rate
    local optimizer = optimizer_of(self, rate)
    local list = optimizer:compute_gradients(self.total_loss)
    local grads, vars = {}, {}
    for _, gv in ipairs(list) do
      if gv[1] then
        grads[#grads + 1] = T.dense(gv[1])
        vars[#vars + 1] = gv[2]
      end
    end
    local clipped = tf.clip_by_global_norm(grads, CLIP_NORM)
    local pairs_ = {}
    for i, g in ipairs(clipped) do pairs_[i] = {g, vars[i]} end
    local step = optimizer:apply_gradients(pairs_, {global_step = self.global_step})
    local updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    self.step = #updates > 0 and tf.group {step, table.unpack(updates)} or step
    self.session = tf.Session()
    self.session:run(tf.global_variables_initializer())
    self.saver = tf.train.Saver {max_to_keep = self.max_to_keep}
  end)
end
function Estimator:check_fitted(who)
  if not self.session then T.fail(who, "the estimator was not fitted yet: call fit(x, y) first") end
end

-- Targets as the model takes them: rows of 0 and 1 for class numbers.
local function targets(self, y, who)
  if self:is_classifier() then
    local ids = tensor(y, "int64", who, "y")
    if #ids.shape == 2 and ids.shape[2] == 1 then ids = ids:reshape {-1} end
    if #ids.shape ~= 1 then T.fail(who, "y must be one class number for each row; its shape is {%s}", table.concat(ids.shape, ", ")) end
    if ids:size() > 0 then
      local low, high = tf.reduce_min(ids):item(), tf.reduce_max(ids):item()
      if low < 0 or high >= self.n_classes then
        T.fail(who, "class %d is out of range: with n_classes %d the classes are 0 to %d", low < 0 and low or high, self.n_classes, self.n_classes - 1)
      end
    end
    return tf.one_hot(ids, self.n_classes)
  end
  return tensor(y, "float32", who, "y")
end
-- `steps` batches; the graph is built if there is none.
local function train(self, x, y, steps, o, who)
  o = T.options("tf.skflow." .. who, o, "logdir")
  x = tensor(x, nil, who, "X")
  if #x.shape < 2 and x:size() > 0 then T.fail(who, "X must have a row for each example; its shape is {%s}", table.concat(x.shape, ", ")) end
  if x.dtype == "string" then T.fail(who, "X must be numbers, not strings: tf.skflow.preprocessing makes numbers of words and categories") end
  if not x.dtype:find "int" then x = tf.cast(x, "float32") end
  y = targets(self, y, who)
  local n = x.shape[1] or 0
  if n == 0 then T.fail(who, "the data are empty") end
  if y.shape[1] ~= n then T.fail(who, "X has %d rows, y %d", n, y.shape[1]) end
  if not self.session then self:build(x.shape, x.dtype, y.shape) end
  local writer, merged
  if o and o.logdir then
    self.graph:as_default(function()
      tf.summary.scalar("loss", self.loss)
      for _, v in ipairs(tf.trainable_variables()) do tf.summary.histogram((v.name:gsub(":%d+$", "")), v) end
      merged = tf.summary.merge_all()
    end)
    writer = tf.summary.FileWriter(o.logdir, {graph = self.graph})
  end
  local next_rows = batches(n, self.batch_size, self.tf_random_seed)
  local best, waited, last = math.huge, 0, nil
  for i = 1, steps do
    local rows = next_rows()
    local feed = {[self.x] = tf.gather(x, rows), [self.y] = tf.gather(y, rows), [self.training] = true}
    local fetches = {self.step, self.loss, self.global_step}
    if merged then fetches[4] = merged end
    local r = self.session:run(fetches, feed)
    last = r[2]
    if last ~= last then T.fail(who, "the loss of step %d is not a number", i) end
    if writer then writer:add_summary(r[4], r[3]) end
    if self.verbose > 1 and i % 100 == 0 then io.stderr:write(("step %d: loss %.5g\n"):format(i, last)) end
    if self.early_stopping_rounds then
      if last < best then best, waited = last, 0 else waited = waited + 1 end
      if waited >= self.early_stopping_rounds then break end
    end
  end
  if writer then writer:close() end
  self.last_loss = last
  return self
end
-- fit(X, y, {logdir =}): from the beginning, unless continue_training is set.
function Estimator:fit(x, y, o)
  if self.session and not self.continue_training then
    self.session:close()
    self.session = nil
  end
  return train(self, x, y, self.steps, o, "fit")
end
-- The same without beginning anew: for data that come in parts.
function Estimator:partial_fit(x, y, o) return train(self, x, y, self.steps, o, "partial_fit") end

function Estimator:raw_predict(x, batch_size, who)
  self:check_fitted(who)
  x = tensor(x, self.x.dtype, who, "X")
  local want = self.x.shape
  if #x.shape ~= #want or table.concat(x.shape, "x", 2) ~= table.concat(want, "x", 2) then
    T.fail(who, "X has the shape {%s}; the estimator was fitted with {?, %s}", table.concat(x.shape, ", "), table.concat(want, ", ", 2))
  end
  local n, parts = x.shape[1], {}
  if n == 0 then T.fail(who, "the data are empty") end
  local size = batch_size and batch_size > 0 and batch_size or n
  for at = 1, n, size do
    parts[#parts + 1] = self.session:run(self.predictions, {[self.x] = x[{{at, math.min(at + size - 1, n)}}]}, {raw = true})
  end
  return #parts == 1 and parts[1] or tf.concat(parts, 0)
end
-- Class numbers, or values.
function Estimator:predict(x, o)
  o = T.options("tf.skflow.predict", o, "axis batch_size")
  local p = self:raw_predict(x, o and o.batch_size, "predict")
  if self:is_classifier() then return tf.argmax(p, o and o.axis or 1) end
  return p
end
function Estimator:predict_proba(x, o)
  o = T.options("tf.skflow.predict_proba", o, "batch_size")
  if not self:is_classifier() then T.fail("predict_proba", "a regressor has no probabilities") end
  return self:raw_predict(x, o and o.batch_size, "predict_proba")
end
-- The share of right classes; of a regressor R^2 = 1 - sum (y - p)^2 / sum (y - mean)^2.
function Estimator:score(x, y)
  local p = self:predict(x)
  if self:is_classifier() then
    local truth = tensor(y, "int64", "score", "y"):reshape {-1}
    return tf.reduce_mean(tf.cast(tf.equal(p, truth), "float32")):item()
  end
  local truth = tensor(y, "float32", "score", "y")
  local left = tf.reduce_sum(tf.square(truth:reshape {-1} - p:reshape {-1})):item()
  local all = tf.reduce_sum(tf.square(truth - tf.reduce_mean(truth))):item()
  return 1 - left / all
end

function Estimator:get_params()
  local out = {}
  for _, name in ipairs(order) do out[name] = self[name] end
  for name in pairs(getmetatable(self).own) do out[name] = self[name] end
  return out
end
function Estimator:set_params(o)
  local known, names = self:get_params(), {}
  if type(o) ~= "table" or T.kind(o) then T.fail("set_params", "expects parameters by name, {steps = 100}, not %s", o) end
  for name in pairs(known) do names[#names + 1] = name end
  table.sort(names)
  for key, value in pairs(o) do
    local near = T.nearest(tostring(key), names)
    if known[key] == nil then T.fail("set_params", "there is no parameter '%s'%s", key, near and ("; did you mean '%s'?"):format(near) or "") end
    self[key] = value
  end
  return self
end
-- A node of the graph by name ("dnn/layer1/weights:0"), and its value.
function Estimator:get_tensor(name)
  self:check_fitted "get_tensor"
  return self.graph:get_tensor_by_name(name:find ":" and name or name .. ":0")
end
function Estimator:get_tensor_value(name)
  self:check_fitted "get_tensor_value"
  local plain = name:gsub(":%d+$", "")
  for _, v in ipairs(T.variables(self.graph)) do
    if v.name:gsub(":%d+$", "") == plain then return self.session:run(v, nil, {raw = true}) end
  end
  return self.session:run(self:get_tensor(name), nil, {raw = true})
end
local function ending(self, what)
  local list = {}
  for _, v in ipairs(T.variables(self.graph)) do
    if v.trainable and v.name:find("/" .. what .. ":0", 1, true) then list[#list + 1] = self.session:run(v, nil, {raw = true}) end
  end
  return #list == 1 and list[1] or list
end
-- weights and biases of the layers: weights_(), bias_().
function Estimator:weights_() self:check_fitted "weights_" return ending(self, "weights") end
function Estimator:bias_() self:check_fitted "bias_" return ending(self, "bias") end

-- save(folder): model.def (parameters as JSON) and a checkpoint. Estimators of a script's own model_fn are made by the script, then restored
-- with load().
function Estimator:save(path)
  self:check_fitted "save"
  if type(path) ~= "string" then T.fail("save", "expects the name of a folder, not %s", path) end
  self.graph:as_default(function() -- makes the folder
    self.saver:save(self.session, path .. "/model", {global_step = self.session:run(self.global_step)})
  end)
  local config, skipped = {}, {}
  for key, value in pairs(self:get_params()) do
    if type(value) == "function" then skipped[#skipped + 1] = key else config[key] = value end
  end
  local def = {class = getmetatable(self).__name, params = config, functions = skipped, x_shape = self.x.shape, x_dtype = self.x.dtype, y_shape = self.y.shape}
  local file, why = io.open(path .. "/model.def", "w")
  if not file then T.fail_code(5, "save", why) end
  file:write(tf.json.encode(def, {indent = 2}), "\n")
  file:close()
end
function Estimator:load(path)
  local file, why = io.open(path .. "/model.def")
  if not file then T.fail_code(5, "restore", why) end
  local def = tf.json.decode(file:read "a")
  file:close()
  self:build(def.x_shape, def.x_dtype, def.y_shape)
  local last = tf.train.latest_checkpoint(path)
  if not last then T.fail_code(5, "restore", "'" .. path .. "' has no checkpoint") end
  self.graph:as_default(function() self.saver:restore(self.session, last) end)
  return self
end
function skflow.restore(path)
  if type(path) ~= "string" then T.fail("tf.skflow.restore", "expects the name of a folder, not %s", path) end
  local file, why = io.open(path .. "/model.def")
  if not file then T.fail_code(5, "tf.skflow.restore", why) end
  local def = tf.json.decode(file:read "a")
  file:close()
  local c = classes[def.class]
  if not c or c.of_script or #def.functions > 0 then
    T.fail_code(12, "tf.skflow.restore", "the model has functions of a script (" .. table.concat(def.functions, ", ") .. "): make the estimator, then call load(path)")
  end
  return new(c, def.params):load(path)
end

-- ------------------------------------------------------------------------------------- the classes

class("TensorFlowEstimator", {model_fn = T}, {of_script = true})
class("TensorFlowLinearClassifier", {}, {classifier = true,
  model_fn = false, build = function(self, ...)
    self.model_fn = function(x, y) return models.logistic_regression(x, y, {class_weight = self.class_weight or nil}) end
    return Estimator.build(self, ...)
  end})
class("TensorFlowLinearRegressor", {}, {build = function(self, ...)
  self.model_fn = models.linear_regression
  return Estimator.build(self, ...)
end})
class("TensorFlowDNNClassifier", {hidden_units = T, dropout = false}, {classifier = true, build = function(self, ...)
  self.model_fn = models.get_dnn_model(self.hidden_units, function(x, y) return models.logistic_regression(x, y, {class_weight = self.class_weight or nil}) end,
    {dropout = self.dropout or nil})
  return Estimator.build(self, ...)
end})
class("TensorFlowDNNRegressor", {hidden_units = T, dropout = false}, {build = function(self, ...)
  self.model_fn = models.get_dnn_model(self.hidden_units, models.linear_regression, {dropout = self.dropout or nil})
  return Estimator.build(self, ...)
end})
for short, long in pairs {LinearClassifier = "TensorFlowLinearClassifier", LinearRegressor = "TensorFlowLinearRegressor", DNNClassifier = "TensorFlowDNNClassifier",
  DNNRegressor = "TensorFlowDNNRegressor", Estimator = "TensorFlowEstimator"} do
  rawset(skflow, short, skflow[long])
end
for _, name in ipairs {"RNNClassifier", "RNNRegressor", "TensorFlowRNNClassifier", "TensorFlowRNNRegressor"} do
  rawset(skflow, name, function() T.fail_code(12, "tf.skflow." .. name, "recurrent estimators wait for loops in graphs") end)
end
T.guard_all("tf.skflow:", Estimator)
local parts = {preprocessing = "preprocessing"}
local meta = getmetatable(skflow)
local missing = meta.__index
meta.__index = function(t, key)
  if parts[key] then
    T.include("skflow", parts[key])
    return rawget(t, key)
  end
  return missing(t, key)
end
return skflow
