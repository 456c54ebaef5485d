-- An error in a function of a dataset reaches the loop as it was raised: once, with its code, its place and its own values, however many
-- steps lie between. What is no tensor is named.
local tf = require "tfsdk"
local function consume(ds) for _ in ds:iter() do end end
local function fault(ds)
  local ok, e = pcall(consume, ds)
  print(ok, type(e), type(e) == "table" and (e.code or e.mine) or e:match "[^/]*$")
  return e
end
local numbers = tf.data.range(10)
local function at_six(what) return function(x) if x:item() == 6 then what(x) end return x end end
fault(numbers:map(at_six(function() error "six" end)):batch(2):filter(function() return true end):batch(2):map(function(x) return x end))
-- expect: false	string	USE_05_errors_in_dataset_functions.lua:12: six
fault(numbers:map(at_six(function() error {mine = "a table"} end)):batch(4)) -- expect: false	table	a table
local e = fault(numbers:map(at_six(function(x) return tf.matmul(x, x) end)):map(function(x) return x end):batch(4))
-- expect: false	table	INVALID_ARGUMENT
print(e.op, e.where:match "[^/]*$", tostring(e):gsub("USE_05", "") == tostring(e):gsub("USE_05", "", 1))
-- expect: MatMul	USE_05_errors_in_dataset_functions.lua:15	true
fault(numbers:map(at_six(function() error(setmetatable({mine = "no text"}, {__tostring = function() error "bad" end})) end)):batch(2))
-- expect: false	table	no text
local path = os.tmpname()
local writer = tf.python_io.TFRecordWriter(path)
writer:write "one"
writer:close()
local file = io.open(path, "ab")
file:write(("x"):rep(20))
file:close()
print(fault(tf.data.TFRecordDataset {path, path}:batch(2)).message:match "damaged: .*")
-- expect: false	table	DATA_LOSS
-- expect: damaged: the length of the record at byte 19 has a wrong checksum
os.remove(path)

local node, tensor = tf.placeholder("float32", {}), tf.ones({2}, {now = true})
print((fault(numbers:map(function(x) return x, node end)).message))
-- expect: false	table	INVALID_ARGUMENT
-- expect: what a dataset's function gives must be tensors, but component 2 of 2 is Node
print((fault(numbers:map(function(x) return x:item() < 6 and tensor or node, x end):batch(3)).message))
-- expect: false	table	INVALID_ARGUMENT
-- expect: what a dataset's function gives must be tensors, but component 1 of 2 is Node

-- the next loop is as good as new; an error that the function itself catches is none
print(pcall(consume, numbers:map(function(x) pcall(consume, numbers:map(at_six(error))) return x end)))
-- expect: true
