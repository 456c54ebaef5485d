-- Tensors print their rows and a line with shape and type, as Torch's do (design page, "Tensors").
local tf = require "tfsdk"
local a = tf.tensor{{1, 2, 3}, {4, 5, 6}}
print((tostring(a):gsub(" +", " ")))
-- expect:  1.0 2.0 3.0
-- expect:  4.0 5.0 6.0
-- expect: [2x3 float32]
print(tf.tensor({1, 2}, "int64"))
-- expect match: ^%s*1%s+2$
-- expect: [2 int64]
print(tf.tensor(true))
-- expect match: true
-- expect: [scalar bool]
print(tf.tensor{{}, {}})
-- expect match: 2x0 float32
