-- Which iris is it? Three estimators on Fisher's 150 flowers, every third one held back. Usage: tfsdk run examples/skflow/iris.lua
local tf = require "tfsdk"
local skflow = tf.skflow
local here = arg[0]:match "^(.*)/[^/]*$" or "."

local columns = tf.read_csv(here .. "/../data/iris.csv") -- four lengths in centimetres, and the species
local features = tf.stack({columns.sepal_length, columns.sepal_width, columns.petal_length, columns.petal_width}, 1)
local learn, hold = {}, {}
for i = 0, 149 do
  local list = i % 3 == 2 and hold or learn
  list[#list + 1] = i
end
local function part(list)
  local rows = tf.tensor(list, "int64")
  return tf.gather(features, rows), tf.cast(tf.gather(columns.species, rows), "int64")
end
local x, y = part(learn)
local x_test, y_test = part(hold)

local linear = skflow.LinearClassifier{n_classes = 3, steps = 3000, learning_rate = 0.1}
local deep = skflow.DNNClassifier{hidden_units = {10, 20, 10}, n_classes = 3, optimizer = "Adam", learning_rate = 0.01, steps = 600}
local own = skflow.Estimator{n_classes = 3, optimizer = "Adam", learning_rate = 0.02, steps = 800, model_fn = function(inputs, labels)
  local net = skflow.ops.dnn(inputs, {16}, {activation = tf.tanh})
  return skflow.models.logistic_regression(net, labels)
end}
for _, entry in ipairs{{"linear", linear}, {"deep", deep}, {"own", own}} do
  local name, classifier = entry[1], entry[2]
  classifier:fit(x, y)
  print(("%-7s accuracy %.3f on %d flowers that were held back"):format(name, classifier:score(x_test, y_test), y_test:size()))
end
