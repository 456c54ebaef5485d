-- TFSDK_PREFER chooses kernels by label or plugin, for one op or for all (run with MatMul=reference,Relu=nobody): a plan tells which it took.
local tf = require "tfsdk"
local x = tf.placeholder("float32", {4, 3})
local y = tf.nn.softmax(tf.nn.relu(tf.matmul(x, tf.ones{3, 2})))
local sess <close> = tf.Session{passes = "none"}
local plan = sess:explain(y, {[x] = tf.tensor{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 1, 1}}})
local function kernel_of(op) return plan:match("%(" .. op .. "%)[^\n]*kernel (%S+)") end
assert(kernel_of "MatMul" == "reference", "MatMul runs the kernel " .. tostring(kernel_of "MatMul"))
assert(kernel_of "Relu" ~= "reference", "nobody has a kernel called 'nobody' for Relu: priorities decide")
assert(kernel_of "Softmax" ~= "reference", "nothing was said of Softmax")
