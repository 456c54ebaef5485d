-- Tensors from literals: types, shapes, and what cannot be one.
local tf = require "tfsdk"
local function shape(t) return table.concat(t.shape, "x") end
print(tf.tensor(3).dtype, tf.tensor(true).dtype, tf.tensor("a").dtype)          -- expect: float32	bool	string
print(shape(tf.tensor{{{1}, {2}}}), shape(tf.tensor{}), shape(tf.tensor{{}, {}})) -- expect: 1x2x1	0	2x0
print(tf.tensor({9007199254740993}, "int64"):item())                            -- expect: 9007199254740993
print(tf.tensor({3.0}, "int32"):item())                                         -- expect: 3
print(tf.tensor({1, 2, 3, 4}, {shape = {2, 2}, dtype = "float64"}).dtype)       -- expect: float64
print(tf.tensor("ab\0c"):item() == "ab\0c")                                     -- expect: true
print(tf.frombytes(tf.tensor({1, 2}, "int16"):bytes(), "int16"):sum():item())   -- expect: 3
local function fault(...) local ok, e = pcall(tf.tensor, ...) print(e.message) end
fault{{1, 2}, {3}}                 -- expect: 'data' is uneven: a table has 1 members where the first has 2
fault{1, {2}}                      -- expect: 'data' is uneven: there is a table where a single value is expected
fault{1, "x"}                      -- expect: 'data': a string cannot become float32
fault({2.5}, "int32")              -- expect: 'data': 2.5 is no whole number, as it must be for int32
fault({300}, "uint8")              -- expect: 'data': 300 does not fit into uint8
fault({1}, "flaot32")              -- expect: 'dtype': there is no type 'flaot32'; did you mean 'float32'?
