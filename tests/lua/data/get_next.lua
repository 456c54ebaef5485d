-- it:get_next() in a graph: each run that needs it takes one element; OUT_OF_RANGE ends it.
local tf = require "tfsdk"
local ds = tf.data.from_tensor_slices{x = tf.tensor{1, 2, 3, 4}, y = tf.tensor{10, 20, 30, 40}}:batch(2)
local e = ds:make_one_shot_iterator():get_next()
local s, other = tf.reduce_sum(e.x + e.y), tf.constant(7.0)
local sess <close> = tf.Session()
print(sess:run(s))                    -- expect: 33.0
print(sess:run(other))                -- expect: 7.0
local r = sess:run{e.x, s}
print(r[1]:table()[1], r[2])          -- expect: 3.0	77.0
local ok, err = pcall(sess.run, sess, s)
print(ok, err.code)                   -- expect: false	OUT_OF_RANGE
