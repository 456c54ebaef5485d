-- {break_on_nan = true}: the run ends at the first value that is not finite, before anything is updated from it; the
-- error names the node, its line, and the chain of what went in.
-- Know: log of a negative number is NaN, of 0 is -Inf, 0 times Inf is NaN.
package.path = (arg[0]:match "^.*/" or "./") .. "../cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local x = tf.placeholder("float32", {2, 2}, {name = "x"})
local w = tf.Variable(tf.tensor {1, 1}, {name = "w"})
local shifted = tf.subtract(x, 1, {name = "shifted"})
local logs = tf.name_scope("model", function() return tf.log(shifted, {name = "logs"}) end)
local loss = tf.reduce_sum(logs * w, {name = "loss"})
local train = tf.train.GradientDescentOptimizer(0.1):minimize(loss)
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local good, bad = {[x] = {{2, 3}, {4, 5}}}, {[x] = {{2, 0}, {1, 5}}}
t.near("a good run", sess:run(loss, good, {break_on_nan = true}), math.log(1 * 2 * 3 * 4), 1e-5, 1e-6)
local before = sess:run(w)
local ok, fault = pcall(sess.run, sess, {train, loss}, bad, {break_on_nan = true})
t.check("a bad run ends", not ok)
t.exact("its node", {fault.node, fault.op, fault.code}, {"model/logs", "Log", "INVALID_ARGUMENT"})
t.check("its line", tostring(fault):find "first_nan.lua:9: Log 'model/logs'" ~= nil, tostring(fault))
for _, words in ipairs {"1 NaN, 1 Inf, others 0 to 1.38629", "from shifted:0 (Sub) float32[2,2]: -1 to 4", "from x:0 (Placeholder) float32[2,2]: 0 to 5, fed",
  "run at", "first_nan.lua:17"} do
  t.check("says " .. words, tostring(fault):find(words, 1, true) ~= nil, tostring(fault))
end
t.exact("the variable was not touched", sess:run(w):table(), before:table())
sess:run({train, loss}, bad)
t.check("without it, it is", sess:run(tf.reduce_any(tf.is_nan(w))))
ok, fault = pcall(sess.run, sess, loss, good, {break_on_nan = true})
t.check("a variable that is NaN is found when it is read", not ok and tostring(fault):find("w/Read", 1, true) ~= nil, tostring(fault))
-- add_check_numerics_ops: all floating values of the graph
local g <close> = tf.Graph():as_default()
local p = tf.placeholder("float32", {}, {name = "p"})
local q = tf.log(p, {name = "q"})
local check = tf.add_check_numerics_ops()
local s <close> = tf.Session()
t.exact("all is finite", s:run(check, {[p] = 1}), true)
t.raises("names the value", function() s:run(check, {[p] = -1}) end, "q:0")
t.done() -- expect: ok
