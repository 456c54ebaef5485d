-- What a newcomer gets wrong is told at the script's line, with the layer, the shapes and what is right.
local tf = require "tfsdk"
local slim = tf.slim
local function told(fn, ...)
  local ok, why = pcall(fn, ...)
  print(ok and "no error" or (tostring(why):gsub("^[^:]*wrong_uses%.lua:%d+: ", "")))
end
local x = tf.placeholder("float32", {-1, 28, 28, 3})
local flat = tf.placeholder("float32", {-1, 784})
told(slim.conv2d, flat, 32, 3) -- expect: conv2d 'Conv': the input must have rank 4 (batch, height, width, channels); its shape is (?, 784)
told(slim.conv2d, x, 32, 3, {strides = 2}) -- expect: slim.conv2d: unknown option 'strides'; did you mean 'stride'?
told(slim.conv2d, x, 32) -- expect: slim.conv2d: argument 'kernel_size' is missing
told(slim.conv2d, x, 32, {3, 3, 3}) -- expect: conv2d 'Conv_1': 'kernel_size' must be one number or 2, not 3
told(slim.conv2d, x, 32, 3, {padding = "FULL"}) -- expect: slim.conv2d: 'padding' must be SAME or VALID, not 'FULL'
told(slim.conv2d, x, 32, 3, {stride = 2, rate = 2}) -- expect: conv2d 'Conv_3': strides above 1 (2) and dilation_rate above 1 (2) do not go together
told(slim.conv2d, x, 0, 3) -- expect match: ^conv2d 'Conv_4': attribute 'filters' is 0; it must be in 1%.%.
told(slim.fully_connected, tf.placeholder("float32", {-1, -1}), 10) -- expect: dense 'fully_connected': extent 1 of the input decides about the weights' shapes and must be known; its shape is (?, ?)
told(slim.fully_connected, tf.placeholder("int32", {-1, 4}), 10) -- expect: dense 'fully_connected_1': the input must be of a floating type, not int32: cast it first
told(slim.fully_connected, tf.placeholder("float32"), 10) -- expect: dense 'fully_connected_2': the input's rank is not known; give it a shape (set_shape)
told(slim.batch_norm, x, {decay = 2}) -- expect: batch_normalization 'BatchNorm': attribute 'momentum' is 2; it must be in 0..1
told(slim.batch_norm, x, {is_training = tf.placeholder("float32", {})}) -- expect: batch_normalization 'BatchNorm_1': 'training' must be a boolean scalar, not float32 ()
told(slim.max_pool2d, flat, 2) -- expect: max_pooling2d: the input must have rank 4 (batch, height, width, channels); its shape is (?, 784)
told(slim.dropout, x, 0) -- expect: slim.dropout: 'keep_prob' must be above 0 and at most 1, not 0
told(slim.group_norm, x, {groups = 2}) -- expect: group_normalization 'GroupNorm': 2 groups do not divide the 3 channels
told(slim.maxout, flat, 5) -- expect: maxout: 5 units do not divide the 784 channels of an input of shape (?, 784)
told(slim.l2_regularizer, -1) -- expect: slim.l2_regularizer: 'scale' must not be negative, it is -1
told(function() return slim.conv2dd end) -- expect: tf.slim.conv2dd does not exist; did you mean tf.slim.conv2d?
-- a variable of another shape: which one, both shapes, and where it was made
slim.fully_connected(flat, 10, {scope = "logits"})
told(slim.fully_connected, flat, 12, {scope = "logits", reuse = true}) -- expect match: ^tf%.get_variable: variable 'logits/weights' is asked for with shape %(784, 12%), but it has %(784, 10%)[^:]*, made at .*wrong_uses%.lua:%d+$
told(slim.fully_connected, flat, 10, {scope = "logits"}) -- expect match: ^tf%.get_variable: variable 'logits/weights' exists already, first made at .*wrong_uses%.lua:%d+
told(slim.fully_connected, flat, 10, {scope = "logit", reuse = true}) -- expect match: variable 'logit/weights' does not exist
-- labels out of range: when it runs, in both modes
local labels = tf.placeholder("int64", {-1})
local loss = tf.losses.sparse_softmax_cross_entropy(labels, slim.fully_connected(flat, 10, {scope = "l"}))
local sess = tf.Session()
sess:run(tf.global_variables_initializer())
told(sess.run, sess, loss, {[flat] = tf.zeros({1, 784}, {now = true}), [labels] = {11}}) -- expect match: labels%[0%] is 11, but there are 10 classes
-- expect match: run at .*wrong_uses
tf.eager(function()
  told(tf.losses.sparse_softmax_cross_entropy, tf.tensor({11}, "int64"), tf.zeros {1, 10}) -- expect match: labels%[0%] is 11, but there are 10 classes
end)
-- nets
told(slim.nets.nets_factory.get_network_fn, "resnet_50", 10) -- expect match: there is no net 'resnet_50'; the nearest is 'resnet_v._50'
told(slim.nets.inception_v3.inception_v3_base, tf.zeros {1, 299, 299, 3}, {final_endpoint = "Mixed_8a"}) -- expect match: there is no end point 'Mixed_8a'; the nearest is 'Mixed_
told(slim.nets.resnet_v1.resnet_v1_50, tf.zeros {1, 224, 224, 3}, {output_stride = 6}) -- expect: resnet: 'output_stride' must be a multiple of 4, not 6
