-- The small net of TensorFlow's CIFAR-10 tutorial: 32 x 32 images.
local tf, T = ...
local slim = tf.slim
local cifarnet = {default_image_size = 32}

local function lrn(net, name) return tf.nn.lrn(net, 4, {bias = 1.0, alpha = 0.001 / 9.0, beta = 0.75, name = name}) end
cifarnet.cifarnet = T.bind("cifarnet", "images num_classes=10 is_training=false dropout_keep_prob=0.5 prediction_fn? scope=CifarNet",
  function(images, classes, is_training, keep_prob, predict, scope)
    local points = {}
    return tf.variable_scope(scope, false, function()
      local net = slim.conv2d(images, 64, {5, 5}, {scope = "conv1"})
      points.conv1 = net
      net = slim.max_pool2d(net, {2, 2}, 2, {scope = "pool1"})
      points.pool1 = net
      net = lrn(net, "norm1")
      net = slim.conv2d(net, 64, {5, 5}, {scope = "conv2"})
      points.conv2 = net
      net = lrn(net, "norm2")
      net = slim.max_pool2d(net, {2, 2}, 2, {scope = "pool2"})
      points.pool2 = net
      net = slim.flatten(net)
      points.Flatten = net
      net = slim.fully_connected(net, 384, {scope = "fc3"})
      points.fc3 = net
      net = slim.dropout(net, keep_prob, {is_training = is_training, scope = "dropout3"})
      net = slim.fully_connected(net, 192, {scope = "fc4"})
      points.fc4 = net
      if not classes or classes == 0 then return net, points end
      local logits = slim.fully_connected(net, classes, {biases_initializer = tf.zeros_initializer(),
        weights_initializer = tf.truncated_normal_initializer(0, 1 / 192), weights_regularizer = false, activation_fn = false,
        scope = "logits"})
      points.Logits = logits
      points.Predictions = (predict or slim.softmax)(logits, {scope = "Predictions"})
      return logits, points
    end)
  end)
cifarnet.cifarnet_arg_scope = T.bind("cifarnet_arg_scope", "weight_decay=0.004", function(weight_decay)
  return slim.arg_scope({slim.conv2d}, {weights_initializer = tf.truncated_normal_initializer(0, 5e-2), activation_fn = tf.nn.relu}, function()
    return slim.arg_scope({slim.fully_connected}, {biases_initializer = tf.constant_initializer(0.1),
      weights_initializer = tf.truncated_normal_initializer(0, 0.04), weights_regularizer = slim.l2_regularizer(weight_decay),
      activation_fn = tf.nn.relu}, function(sc) return sc end)
  end)
end)
return cifarnet
