-- Operators: arithmetic, integer division and remainder by floor, bits; numbers take the tensor's type.
local tf = require "tfsdk"
local function show(t) local out = {} for i, v in ipairs(t:reshape{-1}:table()) do out[i] = tostring(v) end print(t.dtype, table.concat(out, " ")) end
local f, i = tf.tensor{1, -2, 3.5}, tf.tensor({7, -7, 9}, "int32")
show(f + 1)            -- expect: float32	2.0 -1.0 4.5
show(1 - f)            -- expect: float32	0.0 3.0 -2.5
show(f * f)            -- expect: float32	1.0 4.0 12.25
show(f / 2)            -- expect: float32	0.5 -1.0 1.75
show(f ^ 2)            -- expect: float32	1.0 4.0 12.25
show(-f)               -- expect: float32	-1.0 2.0 -3.5
show(i // 2)           -- expect: int32	3 -4 4
show(i % 4)            -- expect: int32	3 1 1
show(i / 2)            -- expect: float64	3.5 -3.5 4.5
show(i & 3)            -- expect: int32	3 1 1
show(i | 8)            -- expect: int32	15 -7 9
show(i ~ 1)            -- expect: int32	6 -8 8
show(~i)               -- expect: int32	-8 6 -10
show(i << 1)           -- expect: int32	14 -14 18
show(tf.tensor({8, -8}, "int32") >> 1) -- expect: int32	4 -4
show(f:gt(0) & f:lt(2)) -- expect: bool	true false false
print(tf.tensor(2) < 3, tf.tensor(2) <= tf.tensor(1)) -- expect: true	false
print(pcall(function() return f < f end))
-- expect match: ^false	.*'<' and '<=' compare single numbers
print(pcall(function() return f .. "x" end)) -- expect match: ^false	.*attempt to concatenate
print(pcall(function() return i + 2.5 end)) -- expect match: 2.5 is no whole number, as it must be for int32
