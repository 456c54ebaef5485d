-- Indices count from 1, -1 is the last; ranges are inclusive; a fault names the index and the range.
local tf = require "tfsdk"
local a = tf.range(12, {now = true}):reshape{3, 4}
local function show(t) local out = {} for i, v in ipairs(t:reshape{-1}:table()) do out[i] = v end print(table.concat(out, " ")) end
show(a[1])                    -- expect: 0 1 2 3
show(a[-1])                   -- expect: 8 9 10 11
print(a[{2, 3}]:item())       -- expect: 6
print(a[2][3]:item())         -- expect: 6
print(a[{2.0, 3.0}]:item())   -- expect: 6
show(a[{{}, 1}])              -- expect: 0 4 8
show(a[{{1, 2}, {-2, -1}}])   -- expect: 2 3 6 7
show(a[{{2, -1}}])            -- expect: 4 5 6 7 8 9 10 11
show(a[{{}, {1, -1, 2}}])     -- expect: 0 2 4 6 8 10
print(a[{{2, 2}}].shape[1])   -- expect: 1
local function fault(f) local ok, e = pcall(f) print(e.code, e.message) end
fault(function() return a[4] end)        -- expect: OUT_OF_RANGE	index 4 is outside of 1..3
fault(function() return a[0] end)        -- expect: INVALID_ARGUMENT	index 0: Lua counts from 1 (and -1 is the last)
fault(function() return a[2.5] end)      -- expect: INVALID_ARGUMENT	index 2.5 is no whole number
fault(function() return a[{1, 2, 3}] end) -- expect: INVALID_ARGUMENT	3 indices for a tensor of rank 2
fault(function() a[1] = 5 end)           -- expect match: ^INVALID_ARGUMENT	tensors do not change
