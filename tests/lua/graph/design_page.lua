-- The block of the design page's section 3.
local tf = require "tfsdk"
local x = tf.placeholder("float32", {-1, 4}, {name = "x"})
local y = tf.placeholder("int64", {-1}, {name = "y"})
local w = tf.get_variable("w", {4, 3})
local b = tf.get_variable("b", {3}, {initializer = tf.zeros_initializer()})
local logits = tf.matmul(x, w) + b
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})
local train = tf.train.GradientDescentOptimizer(0.1):minimize(loss)

local sess = tf.Session()
sess:run(tf.global_variables_initializer())
local bx, by = tf.random.normal({8, 4}, {seed = 1, now = true}), tf.tensor({0, 1, 2, 0, 1, 2, 0, 1}, "int64")
local r = sess:run({train = train, loss = loss}, {[x] = bx, [y] = by})
print(type(r.loss), r.train) -- expect: number	true
local first = r.loss
for i = 1, 20 do r = sess:run({train = train, loss = loss}, {x = bx, ["y:0"] = by}) end
print(r.loss < first)        -- expect: true
sess:close()
print(pcall(sess.run, sess, loss)) -- expect match: ^false	.*closed
