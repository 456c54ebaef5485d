-- load.lua FOLDER: loads the latest checkpoint, checks that it is all of one step, and prints that step.
local tf = require "tfsdk"
local reader = tf.train.load_checkpoint(arg[1])
local t = reader:get_tensors()
local step = t.n:item()
assert(#reader.list == 3, "three tensors")
assert(tf.reduce_min(t.w):item() == step and tf.reduce_max(t.w):item() == step, "w is of one step")
assert(tf.reduce_min(t.b):item() == step and tf.reduce_max(t.b):item() == step, "b is of one step")
print(step)
