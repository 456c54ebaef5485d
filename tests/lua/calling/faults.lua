-- A wrong call says function, option, the nearest known one, and the caller's line.
local tf = require "tfsdk"
local x = tf.tensor{{1, 2}, {3, 4}}
local function fault(f)
  local ok, e = pcall(f)
  print(e.code, e.where:match "[^/]*$", e.op, e.message)
end
fault(function() return tf.nn.conv2d(x, x, {stride = 2}) end)
-- expect: INVALID_ARGUMENT	faults.lua:8	tf.nn.conv2d	unknown option 'stride'; did you mean 'strides'?
fault(function() return tf.raw.MatMul(x, x, {transpos_b = true}) end)
-- expect: INVALID_ARGUMENT	faults.lua:10	MatMul	unknown option 'transpos_b'; did you mean 'transpose_b'?
fault(function() return tf.matmul(x) end)
-- expect: INVALID_ARGUMENT	faults.lua:12	tf.matmul	argument 'b' is missing
fault(function() return tf.matmul(x, x, false, false, false, false, false, false, "n", 1) end)
-- expect: INVALID_ARGUMENT	faults.lua:14	tf.matmul	takes at most 9 values, got 10
fault(function() return tf.matmull(x, x) end)
-- expect: NOT_FOUND	faults.lua:16	nil	tf.matmull does not exist; did you mean tf.matmul?
fault(function() return tf.raw.MatMull(x, x) end)
-- expect match: ^NOT_FOUND	faults.lua:18	.*MatMul
fault(function() return tf.nn.relu(print) end)
-- expect: INVALID_ARGUMENT	faults.lua:20	Relu	argument 'features' cannot be a function
fault(function() return tf.raw.MatMul(x, x, {transpose_a = 1}) end)
-- expect: INVALID_ARGUMENT	faults.lua:22	MatMul	option 'transpose_a' must be true or false, not a number
fault(function() return tf.matmul(x, tf.ones({3, 2}, {now = true})) end)
-- expect match: ^INVALID_ARGUMENT	faults.lua:24	MatMul	.*%(2, 2%).*%(3, 2%)
fault(function() return tf.reduce_sum(x, 0, {axis = 1}) end)
-- expect: INVALID_ARGUMENT	faults.lua:26	tf.reduce_sum	'axis' is given twice
