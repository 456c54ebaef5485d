-- LUA-03: the first index: class labels and the indices of ops count from 0, Lua tables and t[i] from 1.
-- Know: contract (docs/conventions.md); Lua 5.4's rules of numbers: 3.0 is 3, 2.5 is no index.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local logits = {}
for i = 1, 10 do logits[i] = i == 4 and 5 or 0 end -- class 3 is the likely one
local z = tf.tensor {logits}
local function loss(label) return tf.nn.sparse_softmax_cross_entropy_with_logits {labels = {label}, logits = z} end
local e = math.exp(5)
local right, wrong = math.log(e + 9) - 5, math.log(e + 9)
for label = 0, 9 do
  t.near("loss of label " .. label, loss(label), {label == 3 and right or wrong})
  t.exact("one_hot " .. label, tf.argmax(tf.one_hot({label}, 10), 1), {label})
  t.exact("gather " .. label, tf.gather(tf.tensor(logits), tf.tensor(label, "int32")), label == 3 and 5 or 0)
  t.exact("slicing " .. label, tf.slice(tf.tensor(logits), {label}, {1}), {label == 3 and 5 or 0})
  t.exact("t[i] counts from 1, " .. label, tf.tensor(logits)[label + 1]:item(), label == 3 and 5 or 0)
end
-- argmax feeds the loss as it is
t.exact("argmax", tf.argmax(z, 1), {3})
t.near("loss of argmax", tf.nn.sparse_softmax_cross_entropy_with_logits {labels = tf.argmax(z, 1), logits = z}, {right})
t.exact("in_top_k", tf.nn.in_top_k(z, {3}, 1), {true})
local pair = tf.tensor({0, 1}, "int32")
t.exact("confusion_matrix", tf.confusion_matrix(pair, pair), {{1, 0}, {0, 1}})
-- Outside of the range: the value and the range are named, in both modes.
for _, label in ipairs {10, -1, 2147483647} do
  t.raises("loss of label " .. label, function() return loss(label) end, tostring(label), "10")
  t.raises("gather " .. label, function() return tf.gather(tf.tensor(logits), tf.tensor(label, "int32")) end, tostring(label), "10")
  t.raises("slicing " .. label, function() return tf.slice(tf.tensor(logits), {label}, {1}) end, "10")
  local graph <close> = tf.Graph():as_default()
  local l, x = tf.placeholder("int64", {1}), tf.placeholder("float32", {1, 10})
  local node = tf.nn.sparse_softmax_cross_entropy_with_logits {labels = l, logits = x}
  local train = tf.gradients(node, x)[1]
  local sess <close> = tf.Session()
  t.raises("loss in a graph, label " .. label, function() return sess:run({node, train}, {[x] = z, [l] = {label}}) end, tostring(label), "10")
  t.near("and the next", sess:run(node, {[x] = z, [l] = {3}}), {right})
  local i = tf.placeholder("int32", {})
  local row = tf.gather(tf.reshape(x, {10}), i)
  t.raises("gather in a graph " .. label, function() return sess:run(row, {[x] = z, [i] = label}) end, tostring(label), "10")
end
-- one_hot outside of the range gives only off-values, as in TensorFlow (docs/conventions.md).
for _, label in ipairs {10, -1} do t.exact("one_hot " .. label, tf.reduce_sum(tf.one_hot({label}, 10)), 0) end
-- t[i] of Lua: 0 and one past the end are errors that say what there is; negative from the end.
local v = tf.tensor(logits)
t.raises("t[0]", function() return v[0] end, "0")
t.raises("t[11]", function() return v[11] end, "11", "10")
t.raises("t[-11]", function() return v[-11] end, "11", "10")
t.exact("t[-7]", v[-7], 5)
t.raises("t[2.5]", function() return v[2.5] end, "2.5")
t.exact("t[4.0]", v[4.0], 5)
t.exact("t[{1, 4.0}]", z[{1, 4.0}], 5)
t.exact("a range", v[{{4, 5}}], {5, 0})
-- 2.5 is no label, 3.0 is 3, in every place that takes whole numbers.
t.raises("label 2.5", function() return loss(2.5) end, "2.5")
t.near("label 3.0", loss(3.0), {right})
t.raises("int32 of 2.5", function() return tf.tensor({2.5}, "int32") end, "2.5")
t.exact("int32 of 3.0", tf.tensor({3.0}, "int32"), {3})
t.raises("gather 2.5", function() return tf.gather(v, 2.5) end, "2.5")
t.exact("gather 3.0", tf.gather(v, tf.tensor(3.0, "int32")), 5)
t.raises("axis 0.5", function() return tf.reduce_sum(v, 0.5) end, "0.5")
t.exact("axis 0.0", tf.reduce_sum(v, 0.0), 5)
t.raises("shape 2.5", function() return tf.zeros({2.5}) end, "2.5")
t.raises("one_hot depth 2.5", function() return tf.one_hot({1}, 2.5) end, "2.5")
t.raises("int64 of 1e300", function() return tf.tensor({1e300}, "int64") end)
t.raises("int32 of NaN", function() return tf.tensor({0 / 0}, "int32") end)
-- 2^53 + 1 is exact as a whole number, and is not as a float.
local big = (1 << 53) + 1
t.exact("2^53 + 1 as int64", tf.tensor({big}, "int64"), {9007199254740993})
t.exact("2^53 + 1 as float64", tf.tensor({big}, "float64"), {9007199254740992.0})
t.raises("label 2^53 + 1", function() return loss(big) end, "9007199254740993")
t.exact("largest int64", tf.tensor({math.maxinteger, math.mininteger}, "int64"), {math.maxinteger, math.mininteger})
t.raises("int32 of 2^31", function() return tf.tensor({1 << 31}, "int32") end, "2147483648")
t.done() -- expect: ok
