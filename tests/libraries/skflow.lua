-- tf.skflow: estimators, their defaults (features: skflow 0.1), saving, preprocessing, errors.
local tf = require "tfsdk"
local skflow = tf.skflow
local passed, failed = 0, 0
local function check(label, fn)
  local ok, why = pcall(fn)
  if ok then passed = passed + 1 else
    failed = failed + 1
    print(label, why)
  end
end
local function says(label, pattern, fn)
  check(label, function()
    local ok, why = pcall(fn)
    if ok then error("there was no error", 0) end
    if not tostring(why):find(pattern) then error("the error is: " .. tostring(why), 0) end
  end)
end
local folder = os.tmpname()
os.remove(folder)
local x = tf.random.normal({200, 4}, {seed = 1, now = true})
local y = tf.argmax(x[{{}, {1, 3}}], 1) -- which of the first three is the largest: a linear rule

check("defaults", function()
  local want = {n_classes = 3, tf_master = "", batch_size = 32, steps = 200, optimizer = "SGD", learning_rate = 0.1, class_weight = false, tf_random_seed = 42,
    continue_training = false, num_cores = 4, verbose = 1, early_stopping_rounds = false, max_to_keep = 5, keep_checkpoint_every_n_hours = 10000}
  local got = skflow.TensorFlowLinearClassifier{n_classes = 3}:get_params()
  for key, value in pairs(want) do assert(got[key] == value, key .. " is " .. tostring(got[key])) end
end)
check("a linear classifier", function()
  local c = skflow.LinearClassifier{n_classes = 3, steps = 400}
  c:fit(x, y)
  assert(c:score(x, y) > 0.95, c:score(x, y))
  assert(c:weights_().shape[1] == 4 and c:bias_().shape[1] == 3)
  local p = c:predict_proba(x, {batch_size = 7})
  assert(math.abs(tf.reduce_sum(p):item() - 200) < 1e-3)
  assert(p:bytes() == c:predict_proba(x):bytes())
end)
check("the same seed, the same model", function()
  local function fit() return skflow.LinearClassifier{n_classes = 3, steps = 20}:fit(x, y):weights_():bytes() end
  assert(fit() == fit())
end)
check("a linear regressor finds the line", function()
  local t = x[{{}, 1}] * 2 - x[{{}, 2}] + 0.5
  local r = skflow.LinearRegressor{steps = 500, learning_rate = 0.05}:fit(x, t)
  local w = r:weights_():reshape{-1}:table()
  for i, v in ipairs{2, -1, 0, 0} do assert(math.abs(w[i] - v) < 1e-3, w[i]) end
  assert(math.abs(r:bias_():item() - 0.5) < 1e-3)
  assert(r:score(x, t) > 0.9999)
end)
check("a deep classifier, saved and restored", function()
  local d = skflow.DNNClassifier{hidden_units = {10, 20}, n_classes = 3, optimizer = "Adam", learning_rate = 0.01, steps = 150, dropout = 0.1}
  d:fit(x, y)
  d:save(folder)
  local again = skflow.restore(folder)
  assert(again:predict_proba(x):bytes() == d:predict_proba(x):bytes())
  assert(#d:weights_() == 3)
  assert(d:get_tensor_value "dnn/layer0/weights".shape[2] == 10)
end)
check("a model of the script, a decaying rate, early stopping, partial_fit", function()
  local e = skflow.Estimator{n_classes = 3, steps = 50, early_stopping_rounds = 1000,
    learning_rate = function(step) return tf.train.exponential_decay(0.5, step, 100, 0.5) end,
    model_fn = function(features, labels) return skflow.models.logistic_regression(features, labels) end}
  for _ = 1, 4 do e:partial_fit(x, y) end
  assert(e.session:run(e.global_step) == 200)
  assert(e:score(x, y) > 0.9)
end)
check("class weights lean the classifier", function()
  -- logits times zero but for class 2: nothing else can win
  local c = skflow.LinearClassifier{n_classes = 3, steps = 50, class_weight = {0, 0, 1}}
  c:fit(x, tf.fill({200}, tf.tensor(2, "int64")) and y)
  assert(tf.reduce_max(c:predict_proba(x)[{{}, 1}] - c:predict_proba(x)[{{}, 2}]):item() < 1e-6)
end)
check("words to numbers and back", function()
  local p = skflow.preprocessing.VocabularyProcessor(4)
  local rows = p:fit_transform{"a cat, a dog", "a bird's nest"}
  assert(rows:bytes() == tf.tensor({{1, 2, 1, 3}, {1, 4, 5, 0}}, "int64"):bytes())
  assert(p:reverse(p:transform{"a fish"})[1] == "a <UNK> <UNK> <UNK>")
  p:save(folder .. ".words")
  local again = skflow.preprocessing.restore(folder .. ".words")
  os.remove(folder .. ".words")
  assert(again:transform{"dog cat"}:bytes() == p:transform{"dog cat"}:bytes())
  local frequent = skflow.preprocessing.VocabularyProcessor(3, 1):fit{"a b", "a c"} -- what is there more than once
  assert(frequent:transform{"a b c"}:bytes() == tf.tensor({{1, 0, 0}}, "int64"):bytes())
end)
check("bytes and categories", function()
  local b = skflow.preprocessing.ByteProcessor(3)
  assert(b:reverse(b:transform{"hello"})[1] == "hel")
  local c = skflow.preprocessing.CategoricalProcessor()
  assert(c:fit_transform{{"red", "x"}, {"blue", "x"}, {"red", "y"}}:bytes() == tf.tensor({{1, 1}, {2, 1}, {1, 2}}, "int64"):bytes())
  assert(c:transform{{"green", "x"}}:bytes() == tf.tensor({{0, 1}}, "int64"):bytes())
end)
says("labels out of range", "class 5 is out of range: with n_classes 3 the classes are 0 to 2", function()
  skflow.LinearClassifier{n_classes = 3}:fit(x[{{1, 2}}], tf.tensor({0, 5}, "int64"))
end)
says("rows that do not match", "X has 200 rows, y 2", function() skflow.LinearClassifier{n_classes = 3}:fit(x, tf.tensor({0, 1}, "int64")) end)
says("no data", "the data are empty", function() skflow.LinearClassifier{n_classes = 3}:fit(tf.zeros({0, 4}, {now = true}), tf.zeros({0}, "int64", {now = true})) end)
says("before fit", "not fitted yet", function() skflow.LinearClassifier{n_classes = 3}:predict(x) end)
says("an unknown option", "did you mean 'n_classes'", function() skflow.LinearClassifier{n_clases = 3} end)
says("an unknown optimizer", "not 'Adan'", function() skflow.LinearClassifier{n_classes = 3, optimizer = "Adan"}:fit(x, y) end)
says("hidden units", "'hidden_units' is missing", function() skflow.DNNClassifier{n_classes = 3} end)
says("recurrent estimators", "wait for loops", function() skflow.RNNClassifier{} end)
os.execute("rm -rf '" .. folder .. "'")
print(("skflow: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
