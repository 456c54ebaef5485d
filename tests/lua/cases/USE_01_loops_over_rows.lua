-- `for i, row in ipairs(x)` ends behind the last row; where the number of rows is not known it is an error, not a loop without end.
local tf = require "tfsdk"
local n = 0
for i, row in ipairs(tf.tensor{{1, 2}, {3, 4}}) do
  n = n + 1
  print(i, row:sum():item())
end
-- expect: 1	3.0
-- expect: 2	7.0
for i, row in ipairs(tf.placeholder("float32", {2, 3})) do print(i, #row.shape, row.shape[1]) end
-- expect: 1	1	3
-- expect: 2	1	3
for i, x in ipairs(tf.get_variable("v", {3})) do print(i, #x.shape) end
-- expect: 1	0
-- expect: 2	0
-- expect: 3	0
for _ in ipairs(tf.zeros({0, 3}, {now = true})) do print "a row" end
local open = tf.placeholder("float32", {-1, 3})
local nodes = #tf.get_default_graph():get_operations()
local ok, e = pcall(function() for _ in ipairs(open) do end end)
print(ok, e.message, e.where)
-- expect match: ^false	a loop cannot walk over a value of shape %(%?, 3%): .* must be known.*	.*USE_01_loops_over_rows%.lua:20$
print(#tf.get_default_graph():get_operations() == nodes)
-- expect: true
print(select(2, pcall(ipairs, nil)) ~= nil, open[1].shape[1], pcall(function() return tf.tensor{1, 2}[3] end))
-- expect match: ^true	3	false	.*index 3 is outside of 1%.%.2$
