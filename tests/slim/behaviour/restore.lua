-- Giving variables values from tables and checkpoints, and choosing which.
local tf = require "tfsdk"
local slim = tf.slim
local function told(fn, ...)
  local ok, why = pcall(fn, ...)
  print(ok and "no error" or (tostring(why):gsub("^[^:]*restore%.lua:%d+: ", "")))
end
local function names(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = v.op.name end
  return table.concat(out, " ")
end
local prefix = os.tmpname()
os.remove(prefix)

tf.Graph():as_default(function() -- the model that was trained
  slim.model_variable("net/conv/weights", {2}, {initializer = tf.constant_initializer(1)})
  slim.model_variable("net/conv/biases", {1}, {initializer = tf.constant_initializer(2)})
  slim.model_variable("net/logits/weights", {2, 2}, {initializer = tf.constant_initializer(3)})
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  tf.train.Saver():save(sess, prefix)
end)

tf.Graph():as_default(function() -- another one, which takes its convolution over
  local w = slim.model_variable("net/conv/weights", {2}, {initializer = tf.zeros_initializer()})
  local b = slim.model_variable("net/conv/biases", {1}, {initializer = tf.zeros_initializer()})
  local logits = slim.model_variable("net/logits/weights", {4}, {initializer = tf.zeros_initializer()})
  slim.model_variable("other/weights", {1}, {initializer = tf.zeros_initializer()})
  tf.train.get_or_create_global_step()
  print(names(slim.get_variables_to_restore())) -- expect: net/conv/weights net/conv/biases net/logits/weights other/weights global_step
  print(names(slim.get_variables_to_restore {exclude = {"net/logits", "global_step"}})) -- expect: net/conv/weights net/conv/biases other/weights
  print(names(slim.get_variables_to_restore {include = {"other", "net/conv"}})) -- expect: other/weights net/conv/weights net/conv/biases
  print(names(slim.get_variables_to_restore {include = "net", exclude = "net/logits"})) -- expect: net/conv/weights net/conv/biases
  print(names(slim.get_model_variables("net"))) -- expect: net/conv/weights net/conv/biases net/logits/weights
  print(names(slim.get_model_variables {suffix = "weights"})) -- expect: net/conv/weights net/logits/weights other/weights

  local sess <close> = tf.Session()
  local function values()
    local v = sess:run({w, b, logits})
    return table.concat(v[1]:table(), " ") .. " | " .. table.concat(v[2]:table(), " ") .. " | " .. table.concat(v[3]:table(), " ")
  end
  sess:run(tf.global_variables_initializer())
  local op, feeds, missing = slim.assign_from_checkpoint(prefix, {w, b})
  sess:run(op, feeds)
  print(values(), #missing) -- expect: 1.0 1.0 | 2.0 | 0.0 0.0 0.0 0.0	0

  -- by name in the file; a name may stand for several variables
  sess:run(tf.global_variables_initializer())
  local op2, feeds2 = slim.assign_from_checkpoint(prefix, {["net/conv/weights"] = w})
  sess:run(op2, feeds2)
  print(values()) -- expect: 1.0 1.0 | 0.0 | 0.0 0.0 0.0 0.0

  -- the function for init_fn; a variable of another shape and the same number of elements
  sess:run(tf.global_variables_initializer())
  slim.assign_from_checkpoint_fn(prefix, {["net/conv/biases"] = b, ["net/logits/weights"] = logits}, {reshape_variables = true})(sess)
  print(values()) -- expect: 0.0 0.0 | 2.0 | 3.0 3.0 3.0 3.0

  -- what is not in the file
  local all = slim.get_variables_to_restore {exclude = {"net/logits", "global_step"}}
  told(slim.assign_from_checkpoint, prefix, all) -- expect match: lacks 'other/weights'.*ignore_missing_vars
  local _, _, left = slim.assign_from_checkpoint(prefix, all, true)
  print(table.concat(left, " ")) -- expect: other/weights
  local fn, left_out = slim.assign_from_checkpoint_fn(prefix, all, {ignore_missing_vars = true})
  sess:run(tf.global_variables_initializer())
  fn(sess)
  print(values(), table.concat(left_out, " ")) -- expect: 1.0 1.0 | 2.0 | 0.0 0.0 0.0 0.0	other/weights
  print(slim.assign_from_checkpoint_fn(prefix, slim.get_variables "other", {ignore_missing_vars = true})) -- expect match: ^nil	table
  told(slim.assign_from_checkpoint, prefix, {logits}) -- expect match: variable 'net/logits/weights' is float32 %[4%], in .* is float32 %[2, 2%]
  told(slim.assign_from_checkpoint_fn(prefix, all), sess) -- expect match: it lacks 'other/weights'
  told(slim.assign_from_checkpoint_fn, prefix, {}) -- expect: slim.assign_from_checkpoint_fn: 'var_list' is empty: there is nothing to restore
  told(slim.assign_from_checkpoint, prefix .. "x", {w}) -- expect match: there is no checkpoint

  -- from tables
  slim.assign_from_values_fn {["net/conv/weights"] = {5, 6}, ["net/conv/biases"] = tf.tensor {7}}(sess)
  print(values()) -- expect: 5.0 6.0 | 7.0 | 0.0 0.0 0.0 0.0
  told(slim.assign_from_values, {["net/conv/weight"] = {5, 6}}) -- expect: slim.assign_from_values: there is no variable 'net/conv/weight'; the nearest is 'net/conv/weights'
  told(slim.assign_from_values, {["net/conv/weights"] = tf.tensor {1}}) -- expect: slim.assign_from_values: variable 'net/conv/weights' has the shape [2], its value [1]
end)

-- define-by-run: at once
tf.eager(function()
  local w = slim.model_variable("net/conv/weights", {2}, {initializer = tf.zeros_initializer()})
  slim.assign_from_checkpoint(prefix, {w})
  print(w:value():sum():item()) -- expect: 2.0
  slim.assign_from_values {["net/conv/weights"] = {5, 6}}
  print(w:value():sum():item()) -- expect: 11.0
  slim.assign_from_checkpoint_fn(prefix, {w})()
  print(w:value():sum():item()) -- expect: 2.0
end)
tf.train.remove_checkpoint(prefix)
