-- A gather's gradient stays IndexedSlices, and only the rows named move under gradient descent.
local tf = require "tfsdk"
local table_ = tf.get_variable("table", {4, 2}, {initializer = tf.ones_initializer()})
local rows = tf.nn.embedding_lookup(table_, {1, 3, 3})
local g = tf.gradients(tf.reduce_sum(rows), table_)[1]
print(tf.kind(g)) -- expect: IndexedSlices
local train = tf.train.GradientDescentOptimizer(0.5):minimize(tf.reduce_sum(rows))
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
sess:run(train)
local t = sess:run(table_):table()
print(t[1][1], t[2][1], t[3][1], t[4][1]) -- expect: 1.0	0.5	1.0	0.0
