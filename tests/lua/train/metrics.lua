-- Metrics over two batches: each gives the value so far and an update (arithmetic by hand).
local tf = require "tfsdk"
local y, p = tf.placeholder("int64", {-1}), tf.placeholder("int64", {-1})
local acc, acc_up = tf.metrics.accuracy(y, p)
local mean, mean_up = tf.metrics.mean(p)
local prec, prec_up = tf.metrics.precision(y, p)
local rec, rec_up = tf.metrics.recall(y, p)
local iou, iou_up = tf.metrics.mean_iou(y, p, 2)
local sess <close> = tf.Session()
sess:run(tf.local_variables_initializer())
print(sess:run(acc)) -- expect: 0.0
sess:run({acc_up, mean_up, prec_up, rec_up, iou_up}, {[y] = {1, 0, 1, 1}, [p] = {1, 1, 0, 1}})
local r = sess:run({acc_up, mean_up, prec_up, rec_up}, {[y] = {0, 0}, [p] = {0, 1}})
print(r[1], r[2])    -- expect match: ^0.5	0.666
print(sess:run(prec), sess:run(rec)) -- expect match: ^0.5	0.666
-- first batch: one of two 1s wrong each way; class 0: 0 of 2, class 1: 2 of 4
print(sess:run(iou)) -- expect: 0.25
print(#tf.local_variables() >= 8, #tf.trainable_variables()) -- expect: true	0
