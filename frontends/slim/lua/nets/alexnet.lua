-- AlexNet of one column (Krizhevsky 2014): 224 x 224 images. The dense layers are convolutions.
local tf, T = ...
local slim = tf.slim
local common = T.include("slim", "nets/common")
local alexnet = {default_image_size = 224}

alexnet.alexnet_v2 = T.bind("alexnet_v2", "inputs num_classes=1000 is_training=true dropout_keep_prob=0.5 spatial_squeeze=true scope=alexnet_v2 global_pool=false",
  function(inputs, classes, is_training, keep_prob, squeeze, scope, global_pool)
    return tf.variable_scope(scope, "alexnet_v2", function(sc)
      local collection = sc.original_name_scope .. "_end_points"
      return slim.arg_scope({slim.conv2d, slim.fully_connected, slim.max_pool2d}, {outputs_collections = {collection}}, function()
        local net = slim.conv2d(inputs, 64, {11, 11}, 4, {padding = "VALID", scope = "conv1"})
        net = slim.max_pool2d(net, {3, 3}, 2, {scope = "pool1"})
        net = slim.conv2d(net, 192, {5, 5}, {scope = "conv2"})
        net = slim.max_pool2d(net, {3, 3}, 2, {scope = "pool2"})
        net = slim.conv2d(net, 384, {3, 3}, {scope = "conv3"})
        net = slim.conv2d(net, 384, {3, 3}, {scope = "conv4"})
        net = slim.conv2d(net, 256, {3, 3}, {scope = "conv5"})
        net = slim.max_pool2d(net, {3, 3}, 2, {scope = "pool5"})
        return slim.arg_scope({slim.conv2d}, {weights_initializer = common.truncated(0.005),
          biases_initializer = tf.constant_initializer(0.1)}, function()
          net = slim.conv2d(net, 4096, {5, 5}, {padding = "VALID", scope = "fc6"})
          net = slim.dropout(net, keep_prob, {is_training = is_training, scope = "dropout6"})
          net = slim.conv2d(net, 4096, {1, 1}, {scope = "fc7"})
          local points = slim.utils.convert_collection_to_dict(collection)
          if global_pool then
            net = common.global_pool(net, "global_pool")
            points.global_pool = net
          end
          if classes and classes > 0 then
            net = slim.dropout(net, keep_prob, {is_training = is_training, scope = "dropout7"})
            net = slim.conv2d(net, classes, {1, 1}, {activation_fn = false, normalizer_fn = false,
              biases_initializer = tf.zeros_initializer(), scope = "fc8"})
            if squeeze then net = common.squeeze(net, "fc8/squeezed") end
            points[sc.name .. "/fc8"] = net
          end
          return net, points
        end)
      end)
    end)
  end)
alexnet.alexnet_v2_arg_scope = T.bind("alexnet_v2_arg_scope", "weight_decay=0.0005", function(weight_decay)
  return slim.arg_scope({slim.conv2d, slim.fully_connected}, {activation_fn = tf.nn.relu, biases_initializer = tf.constant_initializer(0.1),
    weights_regularizer = slim.l2_regularizer(weight_decay)}, function()
    return slim.arg_scope({slim.conv2d}, {padding = "SAME"}, function()
      return slim.arg_scope({slim.max_pool2d}, {padding = "VALID"}, function(sc) return sc end)
    end)
  end)
end)
return alexnet
