-- arg_scope: nesting merges function by function, what the call gives wins, leaving restores, captured scopes are entered
-- as they were.
local tf = require "tfsdk"
local slim = tf.slim
local seen = slim.add_arg_scope(function(x, options)
  options = options or {}
  local keys = {}
  for k, v in pairs(options) do keys[#keys + 1] = k .. "=" .. tostring(v) end
  table.sort(keys)
  print(x, table.concat(keys, " "))
end)
local other = slim.add_arg_scope(function(x, options) print("other", x, options and options.a) end)
seen(1) -- expect: 1
local captured
slim.arg_scope({seen, other}, {a = 1, b = 2}, function(sc)
  captured = sc
  seen(2) -- expect: 2	a=1 b=2
  seen(3, {a = 5, c = 6}) -- expect: 3	a=5 b=2 c=6
  slim.arg_scope({seen}, {b = 7}, function()
    seen(4) -- expect: 4	a=1 b=7
    other(4) -- expect: other	4	1
    slim.arg_scope(captured, function() seen(5) end) -- expect: 5	a=1 b=2
    seen(6) -- expect: 6	a=1 b=7
  end)
  seen(7) -- expect: 7	a=1 b=2
end)
seen(8) -- expect: 8
-- after an error inside, too
pcall(slim.arg_scope, {seen}, {a = 1}, function() error "inside" end)
seen(9) -- expect: 9
-- closed by Lua
do
  local s <close> = slim.arg_scope({seen}, {z = 1})
  seen(10) -- expect: 10	z=1
end
seen(11) -- expect: 11
-- a net's arg scope is such a captured one; entering it does not add to what is outside
slim.arg_scope({seen}, {outer = 1}, function()
  slim.arg_scope(captured, function() seen(12) end) -- expect: 12	a=1 b=2
  slim.arg_scope(captured, function()
    slim.arg_scope({seen}, {b = 0}, function() seen(13) end) -- expect: 13	a=1 b=0
  end)
end)
-- false stands for none, also over a scope that gives something
slim.arg_scope({seen}, {a = 1}, function() seen(14, {a = false}) end) -- expect: 14	a=false
-- positional arguments stay what they are
local sum = slim.add_arg_scope(function(x, y, z) print(x, y, z) end, "x y=1 z?", "sum")
slim.arg_scope({sum}, {y = 8, z = 9}, function()
  sum(1) -- expect: 1	8	9
  sum(1, 2) -- expect: 1	2	9
  sum(1, 2, 3) -- expect: 1	2	3
end)
print(slim.has_arg_scope(slim.conv2d), slim.has_arg_scope(tf.nn.relu)) -- expect: true	false
print(select(2, pcall(slim.arg_scope, {tf.nn.relu}, {a = 1}, print)).message) -- expect: entry 1 of the list (function) does not take part in arg_scope; slim.add_arg_scope makes a function that does
print(select(2, pcall(slim.arg_scope, captured, {a = 1}, print)).message) -- expect: a captured scope is entered as it is: options go to an arg_scope inside it
-- with real layers: both forms of one function share their defaults
tf.Graph():as_default(function()
  local x = tf.placeholder("float32", {1, 8, 8, 3})
  slim.arg_scope({slim.conv2d}, {padding = "VALID", stride = 2}, function()
    print(table.concat(slim.convolution2d(x, 4, 3).shape, "x")) -- expect: 1x3x3x4
    print(table.concat(slim.conv2d(x, 4, 3, 1).shape, "x")) -- expect: 1x6x6x4
    print(table.concat(slim.conv2d(x, 4, 3, {padding = "SAME"}).shape, "x")) -- expect: 1x4x4x4
  end)
end)
