-- An error at run time says where the node was made, and where it was run.
local tf = require "tfsdk"
local x = tf.placeholder("float32", {-1, 4})
local w = tf.placeholder("float32")
local y = tf.matmul(x, w, {name = "dense"}) -- line 5
local sess <close> = tf.Session()
local ok, e = pcall(function() sess:run(y, {[x] = tf.ones({2, 4}, {now = true}), [w] = tf.ones({5, 3}, {now = true})}) end) -- line 7
print(e.op, e.node, e.where:match "[^/]*$", e.code) -- expect: MatMul	dense	errors.lua:5	INVALID_ARGUMENT
print(tostring(e):match "errors.lua:5: MatMul 'dense': " ~= nil, tostring(e):match "run at .*errors.lua:7" ~= nil) -- expect: true	true
local v = tf.Variable(1.0, {name = "v"})
ok, e = pcall(sess.run, sess, v)
print(e.code, e.message:find("v", 1, true) ~= nil) -- expect: FAILED_PRECONDITION	true
ok, e = pcall(sess.run, sess, y)
print(e.code, (tostring(e):gsub("\n.*", ""))) -- expect match: ^INVALID_ARGUMENT	.*errors.lua:[34]
tf.get_default_graph():finalize()
print(pcall(function() return y + 1 end)) -- expect match: ^false	.*final
