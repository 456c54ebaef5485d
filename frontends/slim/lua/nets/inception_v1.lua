-- GoogLeNet (Szegedy et al. 2014): 224 x 224 images.
local tf, T = ...
local slim = tf.slim
local common, utils = T.include("slim", "nets/common"), T.include("slim", "nets/inception_utils")
local inception = {default_image_size = 224, inception_v1_arg_scope = utils.inception_arg_scope}

-- 1 x 1; 1 x 1 and 3 x 3, twice; pool and 1 x 1
local function mixed(b0, b1a, b1b, b2a, b2b, b3, last)
  return {{{b0, 1, "Conv2d_0a_1x1"}}, {{b1a, 1, "Conv2d_0a_1x1"}, {b1b, 3, "Conv2d_0b_3x3"}},
    {{b2a, 1, "Conv2d_0a_1x1"}, {b2b, 3, last or "Conv2d_0b_3x3"}}, {{"max", "MaxPool_0a_3x3"}, {b3, 1, "Conv2d_0b_1x1"}}}
end
local function conv(name, filters, size, stride)
  return {name, function(net) return slim.conv2d(net, filters, {size, size}, {stride = stride, scope = name}) end}
end
local function pool(name, size)
  return {name, function(net) return slim.max_pool2d(net, {size, size}, {stride = 2, scope = name}) end}
end
local function module(name, ...)
  local list = mixed(...)
  return {name, function(net) return utils.module(net, name, list) end}
end
inception.inception_v1_base = T.bind("inception_v1_base", "inputs final_endpoint=Mixed_5c scope=InceptionV1", function(inputs, final, scope)
  return tf.variable_scope(scope, "InceptionV1", function()
    return slim.arg_scope({slim.conv2d, slim.fully_connected}, {weights_initializer = common.truncated(0.01)}, function()
      return slim.arg_scope({slim.conv2d, slim.max_pool2d}, {stride = 1, padding = "SAME"}, function()
        return utils.run(inputs, {conv("Conv2d_1a_7x7", 64, 7, 2), pool("MaxPool_2a_3x3", 3), conv("Conv2d_2b_1x1", 64, 1),
          conv("Conv2d_2c_3x3", 192, 3), pool("MaxPool_3a_3x3", 3), module("Mixed_3b", 64, 96, 128, 16, 32, 32),
          module("Mixed_3c", 128, 128, 192, 32, 96, 64), pool("MaxPool_4a_3x3", 3), module("Mixed_4b", 192, 96, 208, 16, 48, 64),
          module("Mixed_4c", 160, 112, 224, 24, 64, 64), module("Mixed_4d", 128, 128, 256, 24, 64, 64),
          module("Mixed_4e", 112, 144, 288, 32, 64, 64), module("Mixed_4f", 256, 160, 320, 32, 128, 128), pool("MaxPool_5a_2x2", 2),
          module("Mixed_5b", 256, 160, 320, 32, 128, 128, "Conv2d_0a_3x3"), module("Mixed_5c", 384, 192, 384, 48, 128, 128)},
          final, "inception_v1_base")
      end)
    end)
  end)
end)
inception.inception_v1 = T.bind("inception_v1", "inputs num_classes=1000 is_training=true dropout_keep_prob=0.8 prediction_fn? spatial_squeeze=true reuse? scope=InceptionV1 global_pool=false",
  function(inputs, classes, is_training, keep_prob, predict, squeeze, reuse, scope, global_pool)
    return tf.variable_scope(scope, "InceptionV1", {reuse = reuse}, function(sc)
      return common.training(is_training, function()
        local net, points = inception.inception_v1_base(inputs, {scope = sc})
        return tf.variable_scope("Logits", function()
          if global_pool then
            net = common.global_pool(net, "global_pool")
            points.global_pool = net
          else
            net = slim.avg_pool2d(net, common.reduced_kernel(net, 7), {stride = 1, scope = "AvgPool_0a_7x7"})
            points.AvgPool_0a_7x7 = net
          end
          if not classes or classes == 0 then return net, points end
          net = slim.dropout(net, keep_prob, {scope = "Dropout_0b"})
          return common.finish(points, utils.scores(net, classes, "Conv2d_0c_1x1", squeeze), predict or slim.softmax)
        end)
      end)
    end)
  end)
return inception
