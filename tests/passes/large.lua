-- Results of more than 24 MB are written past the caches, operands asked for ahead: the bits are those of one op at a time.
local tf = require "tfsdk"
local rows, cols = 2051, 3301 -- 27 MB; neither divides by a tile
local x, y = tf.placeholder("float32", {rows, cols}), tf.placeholder("float32", {rows, cols})
local row = tf.placeholder("float32", {cols})
local column = tf.placeholder("float32", {rows, 1})
local a = tf.tanh(x * 2 + row)
local b = a * column - y
local c = tf.maximum(b, a) + 1 -- reads what is written past the caches
local d = tf.nn.relu(x) * 3    -- no rows and columns
local fetches = {a, b, c, d, tf.reduce_sum(c * d, 0)}
local function numbers(seed, ...) return tf.random.normal({...}, {seed = seed, now = true}) end
local feed = {[x] = numbers(1, rows, cols), [y] = numbers(2, rows, cols), [row] = numbers(3, cols), [column] = numbers(4, rows, 1)}
local plain, planned = tf.Session{passes = "none"}, tf.Session{passes = "-simplify"}
local want, got = plain:run(fetches, feed), planned:run(fetches, feed)
for i = 1, #fetches do assert(want[i]:bytes() == got[i]:bytes(), "result " .. i .. " has other bits") end
