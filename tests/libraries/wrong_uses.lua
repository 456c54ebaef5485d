-- What a newcomer gets wrong, in all layer libraries: the error is told at the line of the script, names the thing, the value and what was expected.
local tf = require "tfsdk"
local slim, K, pt, skflow, nn, optim = tf.slim, tf.keras, tf.prettytensor, tf.skflow, tf.torch.nn, tf.torch.optim
local passed, failed = 0, 0
-- The function stands on the line that the error must tell of; `want` is a Lua pattern.
local function told(fn, want)
  local line = debug.getinfo(fn, "S").linedefined
  local ok, why = pcall(fn)
  local fault
  if ok then
    fault = "no error"
  elseif type(why) ~= "table" then
    fault = "an error of Lua's own: " .. tostring(why)
  elseif not tostring(why):find("wrong_uses.lua:" .. line, 1, true) then
    fault = "another line: " .. tostring(why)
  elseif not tostring(why):find(want) then
    fault = "another text: " .. tostring(why)
  end
  if fault then
    failed = failed + 1
    print(("line %d: %s"):format(line, fault))
  else
    passed = passed + 1
  end
end
local images, flat, ints = tf.zeros({2, 8, 8, 3}, {now = true}), tf.zeros({2, 10}, {now = true}), tf.zeros({2, 10}, "int32", {now = true})
local kernel, labels = tf.zeros({3, 3, 3, 4}, {now = true}), tf.tensor({3, 17}, "int64")
local function nothing() end

-- an input of the wrong rank
told(function() tf.nn.conv2d(flat, kernel, {strides = 1, padding = "SAME"}) end, "Conv2D: the images must have rank 4, but their shape is %(2, 10%)")
told(function() tf.raw.MatMul(images, flat) end, "MatMul: 'a' must have rank 2, but its shape is %(2, 8, 8, 3%)")
told(function() tf.layers.conv2d(flat, 4, 3) end, "the input must have rank 4 %(batch, height, width, channels%); its shape is %(2, 10%)")
told(function() slim.conv2d(flat, 4, 3) end, "the input must have rank 4 %(batch, height, width, channels%); its shape is %(2, 10%)")
told(function() K.layers.Conv2D(4, 3)(flat) end, "rank 4.*2, 10")
told(function() K.layers.Dense(4)(tf.tensor(1)) end, "rank")
told(function() pt.wrap(flat):conv2d(3, 4) end, "tf.prettytensor.conv2d: expects images {batch, rows, columns, channels}; the input's shape is {2, 10}")
told(function() pt.wrap(images):fully_connected(4) end, "expects a matrix {batch, features}; the input's shape is {2, 8, 8, 3} %(flatten%(%) first%)")
told(function() skflow.ops.conv2d(flat, 4, {3, 3}) end, "the input must have rank 4 %(batch, height, width, channels%); its shape is %(2, 10%)")
told(function() skflow.models.linear_regression(images, flat) end, "expects a matrix {rows, features}; the shape is {2, 8, 8, 3}")
told(function() nn.Conv2d(3, 4, 3)(flat) end, "nn.Conv2d: expects {batch, channels, rows, columns}, but the input's shape is {2, 10}")
told(function() nn.Linear(3, 4)(flat) end, "nn.Linear: expects 3 features, but the input's shape is {2, 10}")
told(function() slim.preprocessing.get_preprocessing "vgg_16"(flat, 32, 32) end, "the image must have rank 3 {height, width, channels}; its shape is {2, 10}")

-- an unknown option: the nearest is named
told(function() tf.raw.Conv2D(images, kernel, {stride = {1, 1, 1, 1}, padding = "SAME"}) end, "Conv2D: unknown option 'stride'; did you mean 'strides'%?")
told(function() tf.nn.dropout(flat, {rat = 0.5}) end, "tf.nn.dropout: unknown option 'rat'; did you mean 'rate'%?")
told(function() tf.layers.dense(flat, 4, {activaton = "relu"}) end, "unknown option 'activaton'; did you mean 'activation'%?")
told(function() slim.conv2d(images, 4, 3, {strides = 2}) end, "slim.conv2d: unknown option 'strides'; did you mean 'stride'%?")
told(function() slim.arg_scope({slim.conv2d}, {strides = 2}, nothing) end, "slim.arg_scope: slim.conv2d has no option 'strides'; did you mean 'stride'%?")
told(function() K.layers.Dense(4, {activaton = "relu"}) end, "unknown.*'activaton'.*'activation'")
told(function() pt.wrap(flat):fully_connected(4, {activation = tf.nn.relu}) end, "tf.prettytensor.fully_connected: unknown option 'activation'; did you mean 'activation_fn'%?")
told(function() pt.wrap(images):conv2d(3, 4, {edge = "SAME"}) end, "tf.prettytensor.conv2d: unknown option 'edge'; did you mean 'edges'%?")
told(function() pt.defaults_scope({activation = 1}, nothing) end, "unknown default 'activation'; did you mean 'activation_fn'%?")
told(function() skflow.DNNClassifier {hidden_unit = {3}, n_classes = 3} end, "unknown option 'hidden_unit'; did you mean 'hidden_units'%?")
told(function() skflow.LinearRegressor {}:set_params {step = 3} end, "there is no parameter 'step'; did you mean 'steps'%?")
told(function() nn.Conv2d(3, 4, 3, {strides = 2}) end, "nn.Conv2d: unknown option 'strides'; did you mean 'stride'%?")
told(function() nn.LeakyReLU {slope = 0.1} end, "nn.LeakyReLU: unknown option 'slope'; there are negative_slope")
told(function() optim.SGD(nn.Linear(2, 2):parameters(), {momentm = 0.9}) end, "unknown option 'momentm'; did you mean 'momentum'%?")
-- and so are names that do not exist
told(function() return tf.raw.Conv2DD end, "there is no op 'Conv2DD'; the nearest is 'Conv2D'")
told(function() return slim.conv2dd end, "tf.slim.conv2dd does not exist; did you mean tf.slim.conv2d%?")
told(function() pt.wrap(flat):fully_conected(3) end, "there is no method 'fully_conected'; did you mean 'fully_connected'%?")
told(function() return nn.Liner end, "tf.torch.nn.Liner does not exist; did you mean tf.torch.nn.Linear%?")
told(function() slim.nets.nets_factory.get_network_fn("resnet_50", 10) end, "there is no net 'resnet_50'; the nearest is 'resnet_v")

-- a variable again with another shape: which one, both shapes, and the line that made it
local function twice(make)
  tf.Graph():as_default(function()
    local made = debug.getinfo(make, "S").linedefined
    make(4, false)
    told(make, ("is asked for with shape %%([^)]*%%), but it has %%([^)]*%%)[^:]*, made at .*wrong_uses%%.lua:%d"):format(made))
  end)
end
local function with(flat_, reuse, fn) return tf.variable_scope("again", {reuse = reuse}, fn) end
local wide = tf.zeros({2, 12}, {now = true})
twice(function(n, reuse) tf.variable_scope("again", {reuse = reuse ~= false}, function() return tf.get_variable("w", {n or 5}) end) end)
twice(function(n, reuse) slim.fully_connected(tf.constant(n and flat or wide), 4, {scope = "again", reuse = reuse ~= false}) end)
twice(function(n, reuse) tf.layers.dense(tf.constant(n and flat or wide), 4, {name = "again", reuse = reuse ~= false}) end)
twice(function(n, reuse) with(nil, reuse ~= false, function() return pt.wrap(tf.constant(n and flat or wide)):fully_connected(4, {name = "a"}) end) end)
twice(function(n, reuse) with(nil, reuse ~= false, function() return skflow.ops.fully_connected(tf.constant(n and flat or wide), 4) end) end)
do
  local layer = K.layers.Dense(4)
  layer(flat)
  told(function() layer(wide) end, "12")
end
told(function() nn.Linear(3, 4):load_state_dict {weight = flat, bias = tf.zeros({4}, {now = true})} end, "load_state_dict: 'weight' has the shape {2, 10}, the module's {4, 3}")
told(function() tf.variable_scope("absent", {reuse = true}, function() return tf.get_variable("w", {2}) end) end, "variable 'absent/w' does not exist")

-- labels out of range
told(function() tf.nn.sparse_softmax_cross_entropy_with_logits {labels = labels, logits = flat} end, "labels%[1%] is 17, but there are 10 classes: 0..9")
told(function() slim.losses.sparse_softmax_cross_entropy(flat, labels) end, "labels%[1%] is 17, but there are 10 classes: 0..9")
told(function() pt.wrap(flat):sparse_cross_entropy(labels) end, "labels%[1%] is 17, but there are 10 classes: 0..9")
told(function() K.losses.sparse_categorical_crossentropy(labels, flat) end, "17")
told(function() nn.CrossEntropyLoss()(flat, labels) end, "nn.CrossEntropyLoss: class 17 is out of range: there are 0 to 9")
told(function() nn.CrossEntropyCriterion():forward(flat, labels) end, "nn.CrossEntropyCriterion: class 17 is out of range: there are 1 to 10")
told(function() skflow.LinearClassifier {n_classes = 3}:fit(flat, labels) end, "fit: class 17 is out of range: with n_classes 3 the classes are 0 to 2")
told(function() nn.Embedding(3, 4)(labels) end, "nn.Embedding: index 17 is out of range: there are 0 to 2")
told(function() nn.CrossEntropyLoss()(flat, tf.tensor({1, 2, 3}, "int64")) end, "nn.CrossEntropyLoss: 3 classes for 2 rows of the output")

-- no data
local none = tf.zeros({0, 10}, {now = true})
told(function() skflow.LinearClassifier {n_classes = 3}:fit(none, tf.zeros({0}, "int64", {now = true})) end, "fit: the data are empty")
told(function() skflow.LinearClassifier {n_classes = 3}:fit({}, {}) end, "fit: the data are empty")
told(function() nn.StochasticGradient(nn.Linear(3, 4), nn.MSECriterion()):train {} end, "nn.StochasticGradient: the dataset is empty")
told(function() slim.preprocessing.get_preprocessing "lenet"(tf.zeros({0, 4, 1}, {now = true}), 28, 28) end, "the image is empty: its shape is {0, 4, 1}")
do
  local model = K.Sequential {K.layers.Dense(3, {input_shape = {10}})}
  model:compile {optimizer = "sgd", loss = "mse"}
  told(function() model:fit(none, tf.zeros({0, 3}, {now = true}), {verbose = 0}) end, "empty")
  told(function() K.Sequential {K.layers.Dense(3, {input_shape = {10}})}:fit(flat, flat) end, "compile")
end
told(function() tf.data.zip() end, "tf.data.zip: there are no datasets")

-- before it was built, fitted or run
told(function() skflow.DNNClassifier {hidden_units = {4}, n_classes = 3}:predict(flat) end, "predict: the estimator was not fitted yet: call fit%(x, y%) first")
told(function() skflow.LinearRegressor {}:weights_() end, "the estimator was not fitted yet")
told(function() nn.Linear(10, 4):backward(flat, flat) end, "backward: Linear was not run forward yet")
told(function() K.layers.Dense(3):get_output_at(0) end, "")
told(function() K.Sequential {K.layers.Dense(3)}:summary() end, "buil")
told(function() pt.template "x":fully_connected(3):construct {y = flat} end, "'x' is not given")
tf.Graph():as_default(function()
  local v = tf.get_variable("never", {2})
  local sess <close> = tf.Session()
  told(function() sess:run(v) end, "never")
end)

-- an argument of the wrong kind
told(function() tf.nn.relu(nothing) end, "Relu: argument 'features' cannot be a function")
told(function() tf.matmul(flat, nothing) end, "tf.matmul: 'b' must be a tensor, not a function")
told(function() tf.matmul(flat, "abc") end, "tf.matmul: 'b': a string cannot become float32")
told(function() tf.concat(true, 0) end, "tf.concat: argument 'values' must be a list, not a boolean")
told(function() tf.einsum(nothing, flat) end, "tf.einsum: argument 'equation' cannot be a function")
told(function() tf.einsum(nil, flat) end, "tf.einsum: argument 'equation' is missing")
told(function() tf.get_collection(nil) end, "tf.get_collection: 'name' must be the name of a collection .*, not nil")
told(function() tf.add_to_collection("a", nil) end, "tf.add_to_collection: argument 'value' is missing")
told(function() tf.data.zip(true) end, "tf.data.zip: argument 1 must be a dataset, not a boolean")
told(function() tf.data.from_generator "abc" end, "tf.data.from_generator: 'generator' must be a function .*, not a string")
told(function() tf.set_random_seed "abc" end, "tf.set_random_seed: argument 'seed' must be a number, not a string")
told(function() tf.name_scope({}, nothing) end, "tf.name_scope: the name must be a string, not a table")
told(function() tf.get_variable(nothing, {2}) end, "tf.get_variable: argument 'name' must be a string, not a function")
told(function() tf.make_template("t", "abc") end, "tf.make_template: argument 'func_' must be a function, not a string")
told(function() tf.cond(true, 1, nothing) end, "tf.cond: argument 'true_fn' must be a function, not a number")
told(function() tf.train.AdamOptimizer "fast" end, "argument 'learning_rate' must be a number, a tensor or a schedule, not a string")
told(function() tf.losses.sparse_softmax_cross_entropy("abc", flat) end, "'labels': a string cannot become int64")
told(function() tf.losses.add_loss "abc" end, "tf.losses.add_loss: the loss must be a value, not 'abc'")
told(function() slim.conv2d(nothing, 4, 3) end, "slim.conv2d: 'inputs' must be a tensor, not a function")
told(function() slim.conv2d(images, "4", 3) end, "slim.conv2d: argument 'num_outputs' must be a whole number, not a string")
told(function() slim.conv2d(images, 4, nothing) end, "slim.conv2d: argument 'kernel_size' must be a whole number or a list of them, not a function")
told(function() slim.fully_connected(nil, 4) end, "slim.fully_connected: argument 'inputs' is missing")
told(function() slim.fully_connected(flat, 4, {activation_fn = 3}) end, "argument 'activation_fn' must be a function, or false for none, not a number")
told(function() slim.batch_norm(images, {is_training = "yes"}) end, "argument 'is_training' must be true, false or a boolean tensor, not a string")
told(function() slim.dropout(images, "0.5") end, "slim.dropout: argument 'keep_prob' must be a number or a tensor, not a string")
told(function() slim.repeat_(images, 2, "conv2d") end, "slim.repeat_: expected a layer, got string")
told(function() slim.repeat_(images, nothing, slim.conv2d, 4, 3) end, "the count must be a whole number above 0, not a function")
told(function() slim.stack(flat, slim.fully_connected, {}) end, "slim.stack: 'stack_args' must be a list, one entry for each layer")
told(function() slim.learning.create_train_op("loss", tf.train.AdamOptimizer()) end, "'total_loss' must be a value of the graph, not string")
told(function() slim.preprocessing.get_preprocessing "vgg_16"("a.jpg", 32, 32) end, "the image must be a tensor {height, width, channels}, not 'a.jpg'")
told(function() pt.wrap(nothing) end, "tf.prettytensor.wrap: expects a tensor, not a function")
told(function() pt.wrap(flat):fully_connected "10" end, "tf.prettytensor.fully_connected: the size must be a whole number above 0, not 10")
told(function() pt.wrap(flat):fully_connected(4, tf.nn.relu) end, "tf.prettytensor.fully_connected: the options must be a table, not a function")
told(function() pt.wrap(flat):apply "tanh" end, "tf.prettytensor.apply: argument 'op' must be a function, not a string")
told(function() pt.wrap(flat):concat(1, true) end, "tf.prettytensor.concat: the others must be a list of tensors, not true")
told(function() pt.apply_optimizer("sgd", {}) end, "expects an optimizer of tf.train and a list of losses, not 'sgd'")
told(function() skflow.DNNClassifier {hidden_units = 10, n_classes = 3}:fit(flat, {0, 1}) end, "'hidden_units' must be a list of numbers, not number")
told(function() skflow.LinearClassifier {n_classes = "3"} end, "'n_classes' must be a whole number, not '3'")
told(function() skflow.Estimator {n_classes = 3, model_fn = "dnn"} end, "'model_fn' must be a function of features and labels, not 'dnn'")
told(function() skflow.LinearClassifier {n_classes = 3}:fit("x.csv", {0, 1}) end, "X must be a tensor or a table, not string")
told(function() skflow.LinearClassifier {n_classes = 3}:fit(flat, {0, 1}, true) end, "the options must be a table, not a boolean")
told(function() skflow.preprocessing.VocabularyProcessor(3):fit "a text" end, "expects a list, not 'a text'")
told(function() nn.Linear("10", 4) end, "nn.Linear: 'inputs' must be a whole number above 0, not 10")
told(function() nn.Linear(10, 4)(nothing) end, "nn.Linear: argument 1 must be a tensor, not a function")
told(function() nn.Linear(10, 4)(nil) end, "nn.Linear: argument 1 must be a tensor, not nil")
told(function() nn.Sequential():add "relu" end, "expects modules, not string")
told(function() nn.Dropout(nothing) end, "the share to drop must lie within 0 and 1, not a function")
told(function() nn.MSELoss()(flat, "abc") end, "nn.MSELoss: argument 2 must be a tensor, not 'abc'")
told(function() nn.Linear(3, 4):apply "reset" end, "nn.Module:apply: argument 'fn' must be a function, not a string")
told(function() optim.SGD(nothing, {lr = 0.1}) end, "tf.optim.SGD: argument 'params' cannot be a function")
told(function() optim.sgd("loss", flat, {}) end, "'feval' must be a function .*, not 'loss'")
told(function() K.layers.Dense "ten" end, "units")
told(function() K.layers.Dense(4)(nothing) end, "")

-- a wrong type
told(function() tf.raw.MatMul(flat, ints) end, "MatMul: 'b' is int32, but 'a' is float32: they must have the same type")
told(function() slim.fully_connected(ints, 4) end, "the input must be of a floating type, not int32: cast it first")
told(function() tf.layers.dense(ints, 4) end, "the input must be of a floating type, not int32: cast it first")
told(function() pt.wrap(ints):fully_connected(4) end, "the input must be of a floating type, not int32: cast it first")
told(function() nn.Linear(10, 4)(ints) end, "the input must be of a floating type, not int32: cast it first")
told(function() skflow.LinearClassifier {n_classes = 3}:fit({{"a"}, {"b"}}, {0, 1}) end, "X must be numbers, not strings: tf.skflow.preprocessing")
told(function() slim.preprocessing.get_preprocessing "lenet"(tf.tensor("abc"), 28, 28) end, "the image must be numbers, not string")

-- an empty table of options is one ({seed = nil} is empty, too); an empty list stays one
assert(tf.random_normal({2}, {seed = nil}) and tf.nn.dropout(flat, {rate = 0.5, seed = nil}))
assert(#tf.nn.softmax(flat, {axis = nil}).shape == 2 and #tf.argmax(flat, {name = nil}).shape == 1)
assert(#slim.dropout(flat, {seed = nil}).shape == 2 and #slim.conv2d(images, 4, 3, {scope = nil}).shape == 4)
assert(#tf.reduce_sum(flat, {}).shape == 2) -- no axes: nothing is added up, as in TensorFlow
assert(tf.zeros({}, {now = true}):size() == 1) -- a shape

print(("wrong uses: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1, true)
