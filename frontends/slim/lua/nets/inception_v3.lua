-- Inception version 3 (Szegedy et al. 2015): 299 x 299 images. A few names of layers are not what they should be:
-- they are those of the published checkpoints.
local tf, T = ...
local slim = tf.slim
local common, utils = T.include("slim", "nets/common"), T.include("slim", "nets/inception_utils")
local inception = {default_image_size = 299, inception_v3_arg_scope = utils.inception_arg_scope}

inception.inception_v3_base = T.bind("inception_v3_base", "inputs final_endpoint=Mixed_7c min_depth=16 depth_multiplier=1 scope?",
  function(inputs, final, min_depth, multiplier, scope)
    utils.check(multiplier, "inception_v3_base")
    local d = utils.depth(multiplier, min_depth)
    local function conv(name, filters, size, stride, padding)
      return {name, function(net) return slim.conv2d(net, d(filters), {size, size}, {stride = stride, padding = padding, scope = name}) end}
    end
    local function pool(name) return {name, function(net) return slim.max_pool2d(net, {3, 3}, {stride = 2, scope = name}) end} end
    local function module(name, list)
      return {name, function(net) return utils.scopes(1, "SAME", function() return utils.module(net, name, list) end) end}
    end
    local function a(name, b3, five_a, five_b) -- 35 x 35
      return module(name, {{{d(64), 1, "Conv2d_0a_1x1"}}, {{d(48), 1, five_a or "Conv2d_0a_1x1"}, {d(64), 5, five_b or "Conv2d_0b_5x5"}},
        {{d(64), 1, "Conv2d_0a_1x1"}, {d(96), 3, "Conv2d_0b_3x3"}, {d(96), 3, "Conv2d_0c_3x3"}}, {{"avg", "AvgPool_0a_3x3"}, {d(b3), 1, "Conv2d_0b_1x1"}}})
    end
    local function b(name, n) -- 17 x 17
      return module(name, {{{d(192), 1, "Conv2d_0a_1x1"}},
        {{d(n), 1, "Conv2d_0a_1x1"}, {d(n), {1, 7}, "Conv2d_0b_1x7"}, {d(192), {7, 1}, "Conv2d_0c_7x1"}},
        {{d(n), 1, "Conv2d_0a_1x1"}, {d(n), {7, 1}, "Conv2d_0b_7x1"}, {d(n), {1, 7}, "Conv2d_0c_1x7"}, {d(n), {7, 1}, "Conv2d_0d_7x1"},
          {d(192), {1, 7}, "Conv2d_0e_1x7"}}, {{"avg", "AvgPool_0a_3x3"}, {d(192), 1, "Conv2d_0b_1x1"}}})
    end
    local function c(name, second) -- 8 x 8
      return module(name, {{{d(320), 1, "Conv2d_0a_1x1"}},
        {{d(384), 1, "Conv2d_0a_1x1"}, {"split", {d(384), {1, 3}, "Conv2d_0b_1x3"}, {d(384), {3, 1}, second}}},
        {{d(448), 1, "Conv2d_0a_1x1"}, {d(384), 3, "Conv2d_0b_3x3"}, {"split", {d(384), {1, 3}, "Conv2d_0c_1x3"}, {d(384), {3, 1}, "Conv2d_0d_3x1"}}},
        {{"avg", "AvgPool_0a_3x3"}, {d(192), 1, "Conv2d_0b_1x1"}}})
    end
    local down = {stride = 2, padding = "VALID"}
    local function strided(s)
      s.stride, s.padding = down.stride, down.padding
      return s
    end
    return tf.variable_scope(scope or false, "InceptionV3", function()
      return utils.scopes(1, "VALID", function()
        return utils.run(inputs, {conv("Conv2d_1a_3x3", 32, 3, 2), conv("Conv2d_2a_3x3", 32, 3), conv("Conv2d_2b_3x3", 64, 3, nil, "SAME"),
          pool "MaxPool_3a_3x3", conv("Conv2d_3b_1x1", 80, 1), conv("Conv2d_4a_3x3", 192, 3), pool "MaxPool_5a_3x3",
          a("Mixed_5b", 32), a("Mixed_5c", 64, "Conv2d_0b_1x1", "Conv_1_0c_5x5"), a("Mixed_5d", 64),
          module("Mixed_6a", {{strided {d(384), 3, "Conv2d_1a_1x1"}},
            {{d(64), 1, "Conv2d_0a_1x1"}, {d(96), 3, "Conv2d_0b_3x3"}, strided {d(96), 3, "Conv2d_1a_1x1"}}, {strided {"max", "MaxPool_1a_3x3"}}}),
          b("Mixed_6b", 128), b("Mixed_6c", 160), b("Mixed_6d", 160), b("Mixed_6e", 192),
          module("Mixed_7a", {{{d(192), 1, "Conv2d_0a_1x1"}, strided {d(320), 3, "Conv2d_1a_3x3"}},
            {{d(192), 1, "Conv2d_0a_1x1"}, {d(192), {1, 7}, "Conv2d_0b_1x7"}, {d(192), {7, 1}, "Conv2d_0c_7x1"}, strided {d(192), 3, "Conv2d_1a_3x3"}},
            {strided {"max", "MaxPool_1a_3x3"}}}),
          c("Mixed_7b", "Conv2d_0b_3x1"), c("Mixed_7c", "Conv2d_0c_3x1")}, final, "inception_v3_base")
      end)
    end)
  end)

inception.inception_v3 = T.bind("inception_v3", "inputs num_classes=1000 is_training=true dropout_keep_prob=0.8 min_depth=16 depth_multiplier=1 prediction_fn? spatial_squeeze=true reuse? create_aux_logits=true scope=InceptionV3 global_pool=false",
  function(inputs, classes, is_training, keep_prob, min_depth, multiplier, predict, squeeze, reuse, create_aux, scope, global_pool)
    utils.check(multiplier, "inception_v3")
    local d = utils.depth(multiplier, min_depth)
    return tf.variable_scope(scope, "InceptionV3", {reuse = reuse}, function(sc)
      return common.training(is_training, function()
        local net, points = inception.inception_v3_base(inputs, {scope = sc, min_depth = min_depth, depth_multiplier = multiplier})
        if create_aux and classes and classes > 0 then
          utils.scopes(1, "SAME", function()
            tf.variable_scope("AuxLogits", function()
              local aux = slim.avg_pool2d(points.Mixed_6e, {5, 5}, {stride = 3, padding = "VALID", scope = "AvgPool_1a_5x5"})
              aux = slim.conv2d(aux, d(128), {1, 1}, {scope = "Conv2d_1b_1x1"})
              aux = slim.conv2d(aux, d(768), common.reduced_kernel(aux, 5), {weights_initializer = common.truncated(0.01), padding = "VALID",
                scope = "Conv2d_2a_5x5"})
              aux = slim.conv2d(aux, classes, {1, 1}, {activation_fn = false, normalizer_fn = false,
                weights_initializer = common.truncated(0.001), scope = "Conv2d_2b_1x1"})
              if squeeze then aux = common.squeeze(aux, "SpatialSqueeze") end
              points.AuxLogits = aux
            end)
          end)
        end
        return tf.variable_scope("Logits", function()
          if global_pool then
            net = common.global_pool(net, "GlobalPool")
            points.global_pool = net
          else
            local k = common.reduced_kernel(net, 8)
            net = slim.avg_pool2d(net, k, {padding = "VALID", scope = ("AvgPool_1a_%dx%d"):format(k[1], k[2])})
            points.AvgPool_1a = net
          end
          if not classes or classes == 0 then return net, points end
          net = slim.dropout(net, keep_prob, {scope = "Dropout_1b"})
          points.PreLogits = net
          return common.finish(points, utils.scores(net, classes, "Conv2d_1c_1x1", squeeze), predict or slim.softmax)
        end)
      end)
    end)
  end)
return inception
