-- tfsdk run use.lua [PLUGIN]
local tf = require "tfsdk"
tf.load(arg[1] or "./hello-op.so")
local x = tf.tensor{-1, 0, 2}
local tape = tf.GradientTape()
tape:watch(x)
local y = tf.raw["hello.Swish"](x, {beta = 1.5})
print(y)
print(tape:gradient(y, {x})[1])
