-- Slots are variables called VAR/Optimizer; collections have TensorFlow's names.
local tf = require "tfsdk"
local w = tf.get_variable("w", {2})
local opt = tf.train.AdamOptimizer(0.1)
local train = opt:minimize(tf.reduce_sum(w * w))
print(opt:get_slot(w, "m").name, opt:get_slot(w, "v").name)       -- expect: w/Adam:0	w/Adam_1:0
print(table.concat(opt:get_slot_names(), " "))                    -- expect: m v
local names = {}
for i, v in ipairs(tf.global_variables()) do names[i] = v.op.name end
print(table.concat(names, " ")) -- expect: w beta1_power beta2_power w/Adam w/Adam_1
print(#tf.trainable_variables(), #tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "w")) -- expect: 1	1
print(tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.UPDATE_OPS)      -- expect: variables	update_ops
tf.add_to_collection("mine", w)
print(tf.get_collection("mine")[1] == w, #tf.get_collection "none") -- expect: true	0
local z = tf.get_variable("z", {2})
print(pcall(opt.minimize, opt, tf.reduce_sum(z * z), {var_list = {w}}))
-- expect match: ^false	.*the loss depends on none of the variables: w:0
