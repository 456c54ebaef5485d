-- Scopes take a function or are closed by Lua; names as TensorFlow 1 makes them.
local tf = require "tfsdk"
tf.name_scope("a", function(path)
  print(path, tf.constant(1, {name = "c"}).op.name) -- expect: a/	a/c
  local s <close> = tf.name_scope "b"
  print(tf.constant(1, {name = "c"}).op.name)       -- expect: a/b/c
end)
print(tf.constant(1, {name = "c"}).op.name, tf.constant(1, {name = "c"}).op.name) -- expect: c	c_1
tf.name_scope("a", function(path) print(path) end)  -- expect: a_1/
tf.name_scope("a/", function(path) print(path) end) -- expect: a/
do
  local s <close> = tf.variable_scope "layer"
  print(tf.get_variable("w", {2}).name, tf.constant(1, {name = "k"}).op.name) -- expect: layer/w:0	layer/k
end
tf.variable_scope("layer", {reuse = true}, function(s)
  print(tf.get_variable("w", {2}).name, s.reuse)    -- expect: layer/w:0	true
end)
print(pcall(tf.variable_scope, "layer", function() return tf.get_variable("w", {2}) end))
-- expect match: ^false	.*'layer/w' exists already, first made at .*scopes.lua:13
print(pcall(tf.variable_scope, "layer", {reuse = true}, function() return tf.get_variable("nope", {2}) end))
-- expect match: ^false	.*'layer/nope' does not exist
tf.variable_scope("layer", {reuse = tf.AUTO_REUSE}, function()
  print(tf.get_variable("w", {2}).name, tf.get_variable("new", {2}).name) -- expect: layer/w:0	layer/new:0
end)
print(pcall(tf.variable_scope, "layer", {reuse = true}, function() return tf.get_variable("w", {3}) end))
-- expect match: ^false	.*'layer/w'.*%(3%).*%(2%)
tf.variable_scope(false, "unit", function(s) print(s.name) end) -- expect: unit
tf.variable_scope(false, "unit", function(s) print(s.name) end) -- expect: unit_1
local g = tf.Graph()
g:as_default(function() print(tf.constant(1, {name = "c"}).op.name) end) -- expect: c
local before = tf.constant(1)
tf.control_dependencies({before}, function()
  print(tf.constant(2).op.control_inputs[1] == before.op) -- expect: true
end)
local template = tf.make_template("t", function() return tf.get_variable("w", {1}) end)
print(template() == template()) -- expect: true
