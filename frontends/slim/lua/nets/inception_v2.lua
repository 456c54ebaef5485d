-- Inception with batch normalisation (Ioffe and Szegedy 2015): 224 x 224 images.
local tf, T = ...
local slim = tf.slim
local common, utils = T.include("slim", "nets/common"), T.include("slim", "nets/inception_utils")
local inception = {default_image_size = 224, inception_v2_arg_scope = utils.inception_arg_scope}

inception.inception_v2_base = T.bind("inception_v2_base", "inputs final_endpoint=Mixed_5c min_depth=16 depth_multiplier=1 use_separable_conv=true data_format=NHWC scope?",
  function(inputs, final, min_depth, multiplier, separable, data_format, scope)
    local who = "inception_v2_base"
    utils.check(multiplier, who)
    if data_format ~= "NHWC" then T.fail(who, "'data_format' must be NHWC, not '%s'", data_format) end
    local depth = utils.depth(multiplier, min_depth)
    local tn = common.truncated
    local function conv(name, filters, size)
      return {name, function(net) return slim.conv2d(net, depth(filters), {size, size}, {scope = name, weights_initializer = size == 1 and tn(0.1) or nil}) end}
    end
    local function pool(name) return {name, function(net) return slim.max_pool2d(net, {3, 3}, {stride = 2, scope = name}) end} end
    -- 1 x 1; 1 x 1 and 3 x 3; 1 x 1 and 3 x 3 twice; pool and 1 x 1
    local function mixed(name, b0, b1a, b1b, b2a, b2b, b3, kind)
      local list = {{{depth(b0), 1, "Conv2d_0a_1x1"}}, {{depth(b1a), 1, "Conv2d_0a_1x1", init = tn(0.09)}, {depth(b1b), 3, "Conv2d_0b_3x3"}},
        {{depth(b2a), 1, "Conv2d_0a_1x1", init = tn(0.09)}, {depth(b2b), 3, "Conv2d_0b_3x3"}, {depth(b2b), 3, "Conv2d_0c_3x3"}},
        {kind == "max" and {"max", "MaxPool_0a_3x3"} or {"avg", "AvgPool_0a_3x3"}, {depth(b3), 1, "Conv2d_0b_1x1", init = tn(0.1)}}}
      return {name, function(net) return utils.module(net, name, list) end}
    end
    -- the same with stride 2
    local function reduced(name, b0a, b0b, b1a, b1b)
      local list = {{{depth(b0a), 1, "Conv2d_0a_1x1", init = tn(0.09)}, {depth(b0b), 3, "Conv2d_1a_3x3", stride = 2}},
        {{depth(b1a), 1, "Conv2d_0a_1x1", init = tn(0.09)}, {depth(b1b), 3, "Conv2d_0b_3x3"}, {depth(b1b), 3, "Conv2d_1a_3x3", stride = 2}},
        {{"max", "MaxPool_1a_3x3", stride = 2}}}
      return {name, function(net) return utils.module(net, name, list) end}
    end
    local function first(net)
      if separable then
        local m = math.min(depth(64) // 3, 8)
        return slim.separable_conv2d(net, depth(64), {7, 7}, {depth_multiplier = m, stride = 2, padding = "SAME",
          weights_initializer = tn(1.0), scope = "Conv2d_1a_7x7"})
      end
      return slim.conv2d(net, depth(64), {7, 7}, {stride = 2, weights_initializer = tn(1.0), scope = "Conv2d_1a_7x7"})
    end
    return tf.variable_scope(scope or false, "InceptionV2", function()
      return utils.scopes(1, "SAME", function()
        return utils.run(inputs, {{"Conv2d_1a_7x7", first}, pool "MaxPool_2a_3x3", conv("Conv2d_2b_1x1", 64, 1), conv("Conv2d_2c_3x3", 192, 3),
          pool "MaxPool_3a_3x3", mixed("Mixed_3b", 64, 64, 64, 64, 96, 32), mixed("Mixed_3c", 64, 64, 96, 64, 96, 64),
          reduced("Mixed_4a", 128, 160, 64, 96), mixed("Mixed_4b", 224, 64, 96, 96, 128, 128), mixed("Mixed_4c", 192, 96, 128, 96, 128, 128),
          mixed("Mixed_4d", 160, 128, 160, 128, 160, 96), mixed("Mixed_4e", 96, 128, 192, 160, 192, 96), reduced("Mixed_5a", 128, 192, 192, 256),
          mixed("Mixed_5b", 352, 192, 320, 160, 224, 128), mixed("Mixed_5c", 352, 192, 320, 192, 224, 128, "max")}, final, who)
      end)
    end)
  end)
inception.inception_v2 = T.bind("inception_v2", "inputs num_classes=1000 is_training=true dropout_keep_prob=0.8 min_depth=16 depth_multiplier=1 prediction_fn? spatial_squeeze=true reuse? scope=InceptionV2 global_pool=false",
  function(inputs, classes, is_training, keep_prob, min_depth, multiplier, predict, squeeze, reuse, scope, global_pool)
    utils.check(multiplier, "inception_v2")
    return tf.variable_scope(scope, "InceptionV2", {reuse = reuse}, function(sc)
      return common.training(is_training, function()
        local net, points = inception.inception_v2_base(inputs, {scope = sc, min_depth = min_depth, depth_multiplier = multiplier})
        return tf.variable_scope("Logits", function()
          if global_pool then
            net = common.global_pool(net, "global_pool")
            points.global_pool = net
          else
            local k = common.reduced_kernel(net, 7)
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
