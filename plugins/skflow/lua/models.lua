-- tf.skflow.models: functions of features and labels that give predictions and a loss.
local tf, T = ...
local skflow = T.namespace "tf.skflow"
local models = T.namespace "tf.skflow.models"
local ops = T.include("skflow", "ops")
rawset(skflow, "models", models)

local function matrix(x, who)
  if #x.shape ~= 2 then T.fail(who, "expects a matrix {rows, features}; the shape is {%s}", table.concat(x.shape, ", ")) end
  if not x.dtype:find "float" then x = tf.cast(x, "float32") end
  return x
end
T.def("tf.skflow.models.linear_regression", "x y init_mean? init_stddev=1.0", function(x, y, mean, stddev)
  x = matrix(x, "tf.skflow.models.linear_regression")
  return tf.variable_scope("linear_regression", function()
    local outputs = #y.shape > 1 and y.shape[2] or 1
    local initializer = mean and tf.random_normal_initializer(mean, stddev) or tf.zeros_initializer()
    local w = tf.get_variable("weights", {x.shape[2], outputs}, "float32", initializer)
    local b = tf.get_variable("bias", {outputs}, "float32", initializer)
    return ops.mean_squared_error_regressor(x, y, w, b)
  end)
end)
T.def("tf.skflow.models.logistic_regression", "x y class_weight? init_mean? init_stddev=1.0", function(x, y, class_weight, mean, stddev)
  x = matrix(x, "tf.skflow.models.logistic_regression")
  return tf.variable_scope("logistic_regression", function()
    local initializer = mean and tf.random_normal_initializer(mean, stddev) or tf.zeros_initializer()
    local w = tf.get_variable("weights", {x.shape[2], y.shape[#y.shape]}, "float32", initializer)
    local b = tf.get_variable("bias", {y.shape[#y.shape]}, "float32", initializer)
    return ops.softmax_classifier(x, y, w, b, class_weight)
  end)
end)
-- Hidden layers before `target`, a function of their output and the labels.
T.def("tf.skflow.models.get_dnn_model", "hidden_units target_predictor_fn activation? dropout?", function(units, target, activation, dropout)
  return function(x, y)
    if #x.shape > 2 then
      local n = 1
      for a = 2, #x.shape do n = n * x.shape[a] end
      x = tf.reshape(x, {-1, n})
    end
    if not x.dtype:find "float" then x = tf.cast(x, "float32") end
    return target(ops.dnn(x, units, {activation = activation, dropout = dropout}), y)
  end
end)
return models
