-- The block of the design page's section 2.
local tf = require "tfsdk"
local a = tf.tensor{{1, 2, 3}, {4, 5, 6}}        -- float32 unless said: tf.tensor(data, "int32")
print(a.shape[1], a.dtype, a:rank(), a:size())    -- expect: 2	float32	2	6
print((a * 2 + 1):sum():item())                   -- expect: 48.0
local t = a[1]:table()
print(t[1], t[2], t[3])                           -- expect: 1.0	2.0	3.0
print(a[{1, 3}]:item())                           -- expect: 3.0
local c = a[{{}, {2, 3}}]
print(c.shape[1], c.shape[2], c[{2, 1}]:item())   -- expect: 2	2	5.0
local n = a:table()
print(#n, #n[1], n[2][3])                         -- expect: 2	3	6.0
local path = os.tmpname() .. ".npy"
a:write(path); local b = tf.read_npy(path)
print(b:eq(a):all():item(), b.dtype)              -- expect: true	float32
os.remove(path)
print(a:reshape{3, 2}.shape[1])                   -- expect: 3
local s = a:reduce_sum{axis = 0}:table()
print(s[1], s[2], s[3])                           -- expect: 5.0	7.0	9.0
print(a:sum():item(), a:mean():item())            -- expect: 21.0	3.5
local m = a:argmax(1):table()
print(m[1], m[2], a:argmax(1).dtype)              -- expect: 2	2	int64
print(a:cast "int32".dtype)                       -- expect: int32
print(a:transpose().shape[1])                     -- expect: 3
print(a:eq(a):all():item())                       -- expect: true
print(#a)                                         -- expect: 2
