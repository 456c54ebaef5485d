-- VGG (Simonyan and Zisserman 2014), models A (11 layers), D (16) and E (19): 224 x 224 images.
local tf, T = ...
local slim = tf.slim
local common = T.include("slim", "nets/common")
local vgg = {default_image_size = 224}

local function model(name, repeats)
  vgg[name] = T.bind(name, "inputs num_classes=1000 is_training=true dropout_keep_prob=0.5 spatial_squeeze=true scope? fc_conv_padding=VALID global_pool=false",
    function(inputs, classes, is_training, keep_prob, squeeze, scope, padding, global_pool)
      return tf.variable_scope(scope or name, name, function(sc)
        local collection = sc.original_name_scope .. "_end_points"
        return slim.arg_scope({slim.conv2d, slim.fully_connected, slim.max_pool2d}, {outputs_collections = {collection}}, function()
          local net = inputs
          for i, depth in ipairs {64, 128, 256, 512, 512} do
            net = slim.repeat_(net, repeats[i], slim.conv2d, depth, {3, 3}, {scope = "conv" .. i})
            net = slim.max_pool2d(net, {2, 2}, {scope = "pool" .. i})
          end
          net = slim.conv2d(net, 4096, {7, 7}, {padding = padding, scope = "fc6"})
          net = slim.dropout(net, keep_prob, {is_training = is_training, scope = "dropout6"})
          net = slim.conv2d(net, 4096, {1, 1}, {scope = "fc7"})
          local points = slim.utils.convert_collection_to_dict(collection)
          if global_pool then
            net = common.global_pool(net, "global_pool")
            points.global_pool = net
          end
          if classes and classes > 0 then
            net = slim.dropout(net, keep_prob, {is_training = is_training, scope = "dropout7"})
            net = slim.conv2d(net, classes, {1, 1}, {activation_fn = false, normalizer_fn = false, scope = "fc8"})
            if squeeze then net = common.squeeze(net, "fc8/squeezed") end
            points[sc.name .. "/fc8"] = net
          end
          return net, points
        end)
      end)
    end)
end
model("vgg_a", {1, 1, 2, 2, 2})
model("vgg_16", {2, 2, 3, 3, 3})
model("vgg_19", {2, 2, 4, 4, 4})
vgg.vgg_d, vgg.vgg_e = vgg.vgg_16, vgg.vgg_19
vgg.vgg_arg_scope = T.bind("vgg_arg_scope", "weight_decay=0.0005", function(weight_decay)
  return slim.arg_scope({slim.conv2d, slim.fully_connected}, {activation_fn = tf.nn.relu,
    weights_regularizer = slim.l2_regularizer(weight_decay), biases_initializer = tf.zeros_initializer()}, function()
    return slim.arg_scope({slim.conv2d}, {padding = "SAME"}, function(sc) return sc end)
  end)
end)
return vgg
