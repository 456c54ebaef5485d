-- Names that a script meets now and then: error codes, kinds, types as constants, progress.
local tf = require "tfsdk"
print(tf.errors.OutOfRangeError, tf.errors.NOT_FOUND, tf.float32, tf.bool) -- expect: OUT_OF_RANGE	NOT_FOUND	float32	bool
print(tf.kind(tf.tensor(1)), tf.kind(tf.constant(1)), tf.kind(1))         -- expect: Tensor	Node	nil
local p = tf.progress(10, {label = "work"})
for i = 1, 10 do p:update(i) end
local x = tf.placeholder("float32", {2})
local y = tf.nn.relu(x)
print(x:consumers()[1] == y.op, y.op.type, y.op.inputs[1] == x)           -- expect: true	Relu	true
print(tf.range(3, {now = true}).dtype, tf.range(0, 1, 0.5, {now = true}).dtype) -- expect: int32	float32
-- Functions made of several ops leave no names behind when they are given tensors.
local before = tf.get_default_graph():unique_name "moments"
for _ = 1, 3 do tf.nn.moments(tf.tensor{1, 2}, {axes = {0}}) end
print(tf.get_default_graph():unique_name "moments" == before)              -- expect: true
local t <close> = tf.tensor{1, 2}
t:close()
print(t, pcall(t.item, t)) -- expect match: closed tensor.*false.*this tensor was closed
