-- tf.gradients: one table, false where there is no path; second order; stop_gradient; hessians.
local tf = require "tfsdk"
local sess <close> = tf.Session()
local x, u = tf.placeholder("float32", {}), tf.placeholder("float32", {})
local g = tf.gradients(x ^ 3, {x, u})
print(sess:run(g[1], {[x] = 2}), g[2])                    -- expect: 12.0	false
print(sess:run(tf.gradients(g[1], x)[1], {[x] = 2}))       -- expect: 12.0
print(sess:run(tf.gradients(x * tf.stop_gradient(x), x)[1], {[x] = 3})) -- expect: 3.0
local s = tf.gradients(tf.stop_gradient(x * x) + x, x)[1]
print(sess:run(s, {[x] = 3}))                              -- expect: 1.0
print(sess:run(tf.gradients(x * x, {x, x}), {[x] = 3})[2]) -- expect: 6.0
print(sess:run(tf.gradients(x * 2, x, {grad_ys = 5.0})[1], {[x] = 1})) -- expect: 10.0
local z = tf.gradients(x * 2, {u}, {unconnected_gradients = "zero"})[1]
print(sess:run(z, {[u] = 1}))                              -- expect: 0.0
local v = tf.placeholder("float32", {2})
local h = tf.hessians(tf.reduce_sum(v ^ 3), v)[1]
local t = sess:run(h, {[v] = {1, 2}}):table()
print(t[1][1], t[1][2], t[2][2])                           -- expect: 6.0	0.0	12.0
