-- LeNet-5 in a variant of today (LeCun et al. 1998): 28 x 28 images.
local tf, T = ...
local slim = tf.slim
local lenet = {default_image_size = 28}

lenet.lenet = T.bind("lenet", "images num_classes=10 is_training=false dropout_keep_prob=0.5 prediction_fn? scope=LeNet",
  function(images, classes, is_training, keep_prob, predict, scope)
    local points = {}
    return tf.variable_scope(scope, false, function()
      local net = slim.conv2d(images, 32, {5, 5}, {scope = "conv1"})
      points.conv1 = net
      net = slim.max_pool2d(net, {2, 2}, 2, {scope = "pool1"})
      points.pool1 = net
      net = slim.conv2d(net, 64, {5, 5}, {scope = "conv2"})
      points.conv2 = net
      net = slim.max_pool2d(net, {2, 2}, 2, {scope = "pool2"})
      points.pool2 = net
      net = slim.flatten(net)
      points.Flatten = net
      net = slim.fully_connected(net, 1024, {scope = "fc3"})
      points.fc3 = net
      if not classes or classes == 0 then return net, points end
      net = slim.dropout(net, keep_prob, {is_training = is_training, scope = "dropout3"})
      points.dropout3 = net
      local logits = slim.fully_connected(net, classes, {activation_fn = false, scope = "fc4"})
      points.Logits = logits
      points.Predictions = (predict or slim.softmax)(logits, {scope = "Predictions"})
      return logits, points
    end)
  end)
lenet.lenet_arg_scope = T.bind("lenet_arg_scope", "weight_decay=0.0", function(weight_decay)
  return slim.arg_scope({slim.conv2d, slim.fully_connected}, {weights_regularizer = slim.l2_regularizer(weight_decay),
    weights_initializer = tf.truncated_normal_initializer(0, 0.1), activation_fn = tf.nn.relu}, function(sc) return sc end)
end)
return lenet
