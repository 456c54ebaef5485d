-- {nil, 3} is how a reader of TensorFlow's pages writes an open extent: the error says what to write.
local tf = require "tfsdk"
print(pcall(tf.placeholder, "float32", {nil, 3}))
-- expect match: ^false	.*USE_07_nil_in_a_shape%.lua:3: Placeholder: extent 1 of 'shape' is nil; %-1 stands for one that is open$
print(tf.placeholder("float32", {-1, 3}).shape[1], tf.placeholder("float32", {false, 3}).shape[1])
-- expect: -1	-1
