-- Fetches are nodes, names, variables or a nest of tables; the same nest comes back.
local tf = require "tfsdk"
local a = tf.constant({1, 2}, {name = "a"})
local b = tf.reduce_sum(a, {name = "b"})
local v = tf.Variable(5.0, {name = "v"})
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
print(sess:run(b), sess:run "b", sess:run "b:0", sess:run(v)) -- expect: 3.0	3.0	3.0	5.0
local r = sess:run{a, {sum = b, deep = {v, false}}, tf.no_op()}
print(r[1].dtype, r[2].sum, r[2].deep[1], r[2].deep[2], r[3]) -- expect: float32	3.0	5.0	false	true
print(sess:run(b, nil, {raw = true}).dtype)                     -- expect: float32
print(sess:run(tf.constant "text"), sess:run(tf.constant(true))) -- expect: text	true
print(sess:run(b, {[a] = {10, 20}}), sess:run(b, {a = {1, 1}})) -- expect: 30.0	2.0
local function fault(...) local ok, e = pcall(sess.run, sess, ...) print(e.code, e.message) end
fault("bb")           -- expect match: ^NOT_FOUND	.*b
fault(b, {[a] = {1, 2, 3}}) -- expect match: ^INVALID_ARGUMENT	.*a.*%(3%).*%(2%)
fault(b, {[a] = "x"})  -- expect match: ^INVALID_ARGUMENT	.*string cannot become float32
fault(b, nil, {rew = true}) -- expect: INVALID_ARGUMENT	unknown option 'rew'; did you mean 'raw'?
