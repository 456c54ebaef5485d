-- tf.keras.wrappers.scikit_learn: a function that makes a compiled model, as an object to fit, predict and score. Parameters are those of the
-- function, of fit and of predict, mixed in one table.
--
--     local net = keras.wrappers.scikit_learn.KerasClassifier(function(o) ... return model end, {hidden = 16, epochs = 5})
--     net:fit(x, y); print(net:score(x, y))
local tf, T = ...
local _ = T.include("keras", "registry")
local space = T.keras_namespace "wrappers.scikit_learn"

local Wrapper = {}
Wrapper.__index = Wrapper
local of_fit = {}
for name in ([[batch_size epochs verbose callbacks validation_split validation_data shuffle class_weight sample_weight initial_epoch steps_per_epoch
  validation_steps]]):gmatch "%S+" do of_fit[name] = true end
local of_predict = {batch_size = true, verbose = true, steps = true}

local function chosen(known, ...)
  local out = {}
  for _, params in ipairs {...} do
    for key, value in pairs(params or {}) do if known[key] then out[key] = value end end
  end
  return out
end
function Wrapper:get_params()
  local out = {}
  for key, value in pairs(self.params) do out[key] = value end
  return out
end
function Wrapper:set_params(params)
  for key, value in pairs(params) do self.params[key] = value end
  return self
end
-- Makes the model anew and trains it; the history.
function Wrapper:fit(x, y, o)
  local own = {}
  for key, value in pairs(self.params) do if not of_fit[key] and not of_predict[key] then own[key] = value end end
  self.model = self.build_fn(own)
  if type(self.model) ~= "table" or not self.model.fit then T.fail(self.path, "'build_fn' must give a compiled model, not %s", type(self.model)) end
  return self.model:fit(x, self:targets(y), chosen(of_fit, self.params, o))
end
local function fitted(self)
  if not self.model then T.fail(self.path, "is not fitted yet: call fit first") end
  return self.model
end
function Wrapper:targets(y) return y end

local Classifier = setmetatable({}, {__index = Wrapper})
Classifier.__index = Classifier
-- Classes may be any whole numbers; the model sees 0, 1, 2 ...
function Classifier:targets(y)
  if not T.kind(y) then y = tf.tensor(y, "int64") end
  if y:rank() == 2 and y.shape[2] > 1 then
    self.classes = {}
    for i = 1, y.shape[2] do self.classes[i] = i - 1 end
    return y
  end
  local seen, list, at = {}, {}, {}
  local values = tf.reshape(y, {-1}):table()
  for _, c in ipairs(values) do
    if not seen[c] then
      seen[c] = true
      list[#list + 1] = c
    end
  end
  table.sort(list)
  for i, c in ipairs(list) do at[c] = i - 1 end
  self.classes, self.index = list, at
  local out = {}
  for i, c in ipairs(values) do out[i] = at[c] end
  local classes = tf.tensor(out, "int64")
  local loss = self.model.loss
  if loss == "categorical_crossentropy" then return T.namespace "tf.keras.utils".to_categorical(classes, #list) end
  return classes
end
function Classifier:predict(x, o)
  local picked = fitted(self):predict_classes(x, chosen(of_predict, self.params, o))
  local names = {}
  for i, c in ipairs(self.classes) do names[i] = math.tointeger(c) or c end
  return tf.gather(tf.tensor(names, "int64"), tf.cast(tf.reshape(picked, {-1}), "int64"))
end
-- One column for each class, for a single output as well.
function Classifier:predict_proba(x, o)
  local p = fitted(self):predict(x, chosen(of_predict, self.params, o))
  if p.shape[p:rank()] == 1 then p = tf.concat({-p + 1, p}, -1) end
  return p
end
-- The part that is right.
function Classifier:score(x, y, o)
  local guess = self:predict(x, o)
  if not T.kind(y) then y = tf.tensor(y, "int64") end
  if y:rank() == 2 and y.shape[2] > 1 then y = tf.argmax(y, -1) end
  return tf.reduce_mean(tf.cast(tf.equal(guess, tf.cast(tf.reshape(y, {-1}), "int64")), "float32")):item()
end

local Regressor = setmetatable({}, {__index = Wrapper})
Regressor.__index = Regressor
function Regressor:predict(x, o)
  local y = fitted(self):predict(x, chosen(of_predict, self.params, o))
  return y.shape[y:rank()] == 1 and tf.reshape(y, {-1}) or y
end
-- Minus the loss: larger is better.
function Regressor:score(x, y, o)
  local options = chosen({batch_size = true, sample_weight = true}, self.params, o)
  options.verbose = 0
  return -fitted(self):evaluate(x, y, options)
end

local function wrapper(name, class)
  space[name] = function(build_fn, params)
    local path = "tf.keras.wrappers.scikit_learn." .. name
    if type(build_fn) ~= "function" then T.fail(path, "'build_fn' must be a function that gives a compiled model, not %s", type(build_fn)) end
    local own = {}
    for key, value in pairs(params or {}) do own[key] = value end
    return setmetatable({build_fn = build_fn, params = own, path = path}, class)
  end
end
wrapper("KerasClassifier", Classifier)
wrapper("KerasRegressor", Regressor)
return true
