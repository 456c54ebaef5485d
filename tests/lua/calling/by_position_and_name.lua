-- Inputs by position and the rest in one table, or everything by name (design page, "Calling").
local tf = require "tfsdk"
local x, w = tf.ones({1, 4, 4, 1}, {now = true}), tf.ones({3, 3, 1, 1}, {now = true})
local y = tf.nn.conv2d(x, w, {strides = 2, padding = "SAME"})
local z = tf.nn.conv2d{input = x, filter = w, padding = "VALID"}
local r = tf.raw.Conv2D(x, w, {strides = {1, 2, 2, 1}, padding = "SAME"})
print(y.shape[2], z.shape[2], r.shape[2], z[{1, 1, 1, 1}]:item()) -- expect: 2	2	2	9.0
print(tf.add(tf.tensor{1}, 2):item(), tf.add{x = tf.tensor{1}, y = 2}:item()) -- expect: 3.0	3.0
local a, b = tf.nn.moments(tf.tensor{1, 2, 3, 4}, {axes = {0}})
print(a:item(), b:item()) -- expect: 2.5	1.25
print(tf.raw.ConcatV2({tf.tensor{1}, tf.tensor{2}}, 0):size()) -- expect: 2
local parts = tf.split(tf.tensor{1, 2, 3, 4}, 2)
print(#parts, parts[2]:table()[1]) -- expect: 2	3.0
