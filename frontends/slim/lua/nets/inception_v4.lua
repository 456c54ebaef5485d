-- Inception version 4 (Szegedy et al. 2016): 299 x 299 images.
local tf, T = ...
local slim = tf.slim
local common, utils = T.include("slim", "nets/common"), T.include("slim", "nets/inception_utils")
local inception = {default_image_size = 299, inception_v4_arg_scope = utils.inception_arg_scope}

local function strided(s)
  s.stride, s.padding = 2, "VALID"
  return s
end
local block_a = {{{96, 1, "Conv2d_0a_1x1"}}, {{64, 1, "Conv2d_0a_1x1"}, {96, 3, "Conv2d_0b_3x3"}},
  {{64, 1, "Conv2d_0a_1x1"}, {96, 3, "Conv2d_0b_3x3"}, {96, 3, "Conv2d_0c_3x3"}}, {{"avg", "AvgPool_0a_3x3"}, {96, 1, "Conv2d_0b_1x1"}}}
local reduction_a = {{strided {384, 3, "Conv2d_1a_3x3"}},
  {{192, 1, "Conv2d_0a_1x1"}, {224, 3, "Conv2d_0b_3x3"}, strided {256, 3, "Conv2d_1a_3x3"}}, {strided {"max", "MaxPool_1a_3x3"}}}
local block_b = {{{384, 1, "Conv2d_0a_1x1"}}, {{192, 1, "Conv2d_0a_1x1"}, {224, {1, 7}, "Conv2d_0b_1x7"}, {256, {7, 1}, "Conv2d_0c_7x1"}},
  {{192, 1, "Conv2d_0a_1x1"}, {192, {7, 1}, "Conv2d_0b_7x1"}, {224, {1, 7}, "Conv2d_0c_1x7"}, {224, {7, 1}, "Conv2d_0d_7x1"},
    {256, {1, 7}, "Conv2d_0e_1x7"}}, {{"avg", "AvgPool_0a_3x3"}, {128, 1, "Conv2d_0b_1x1"}}}
local reduction_b = {{{192, 1, "Conv2d_0a_1x1"}, strided {192, 3, "Conv2d_1a_3x3"}},
  {{256, 1, "Conv2d_0a_1x1"}, {256, {1, 7}, "Conv2d_0b_1x7"}, {320, {7, 1}, "Conv2d_0c_7x1"}, strided {320, 3, "Conv2d_1a_3x3"}},
  {strided {"max", "MaxPool_1a_3x3"}}}
local block_c = {{{256, 1, "Conv2d_0a_1x1"}},
  {{384, 1, "Conv2d_0a_1x1"}, {"split", {256, {1, 3}, "Conv2d_0b_1x3"}, {256, {3, 1}, "Conv2d_0c_3x1"}}},
  {{384, 1, "Conv2d_0a_1x1"}, {448, {3, 1}, "Conv2d_0b_3x1"}, {512, {1, 3}, "Conv2d_0c_1x3"},
    {"split", {256, {1, 3}, "Conv2d_0d_1x3"}, {256, {3, 1}, "Conv2d_0e_3x1"}}},
  {{"avg", "AvgPool_0a_3x3"}, {256, 1, "Conv2d_0b_1x1"}}}

inception.inception_v4_base = T.bind("inception_v4_base", "inputs final_endpoint=Mixed_7d scope?", function(inputs, final, scope)
  local function conv(name, filters, options)
    return {name, function(net) return slim.conv2d(net, filters, {3, 3}, {stride = options and options.stride, padding = options and options.padding, scope = name}) end}
  end
  local function module(name, list) return {name, function(net) return utils.module(net, name, list) end} end
  local valid = {padding = "VALID"}
  local list = {conv("Conv2d_1a_3x3", 32, {stride = 2, padding = "VALID"}), conv("Conv2d_2a_3x3", 32, valid), conv("Conv2d_2b_3x3", 64),
    module("Mixed_3a", {{strided {"max", "MaxPool_0a_3x3"}}, {strided {96, 3, "Conv2d_0a_3x3"}}}),
    module("Mixed_4a", {{{64, 1, "Conv2d_0a_1x1"}, {96, 3, "Conv2d_1a_3x3", padding = "VALID"}},
      {{64, 1, "Conv2d_0a_1x1"}, {64, {1, 7}, "Conv2d_0b_1x7"}, {64, {7, 1}, "Conv2d_0c_7x1"}, {96, 3, "Conv2d_1a_3x3", padding = "VALID"}}}),
    module("Mixed_5a", {{strided {192, 3, "Conv2d_1a_3x3"}}, {strided {"max", "MaxPool_1a_3x3"}}})}
  local function many(prefix, first, n, blocks)
    for i = 0, n - 1 do list[#list + 1] = module(prefix .. string.char(first:byte() + i), blocks) end
  end
  many("Mixed_5", "b", 4, block_a)
  list[#list + 1] = module("Mixed_6a", reduction_a)
  many("Mixed_6", "b", 7, block_b)
  list[#list + 1] = module("Mixed_7a", reduction_b)
  many("Mixed_7", "b", 3, block_c)
  return tf.variable_scope(scope or false, "InceptionV4", function()
    return utils.scopes(1, "SAME", function() return utils.run(inputs, list, final, "inception_v4_base") end)
  end)
end)

inception.inception_v4 = T.bind("inception_v4", "inputs num_classes=1001 is_training=true dropout_keep_prob=0.8 reuse? scope=InceptionV4 create_aux_logits=true prediction_fn?",
  function(inputs, classes, is_training, keep_prob, reuse, scope, create_aux, predict)
    return tf.variable_scope(scope, "InceptionV4", {reuse = reuse}, function(sc)
      return common.training(is_training, function()
        local net, points = inception.inception_v4_base(inputs, {scope = sc})
        return utils.scopes(1, "SAME", function()
          if create_aux and classes and classes > 0 then
            tf.variable_scope("AuxLogits", function()
              local aux = slim.avg_pool2d(points.Mixed_6h, {5, 5}, {stride = 3, padding = "VALID", scope = "AvgPool_1a_5x5"})
              aux = slim.conv2d(aux, 128, {1, 1}, {scope = "Conv2d_1b_1x1"})
              aux = slim.conv2d(aux, 768, {common.height_width(aux)}, {padding = "VALID", scope = "Conv2d_2a"})
              points.AuxLogits = slim.fully_connected(slim.flatten(aux), classes, {activation_fn = false, scope = "Aux_logits"})
            end)
          end
          return tf.variable_scope("Logits", function()
            net = slim.avg_pool2d(net, {common.height_width(net)}, {padding = "VALID", scope = "AvgPool_1a"})
            points.global_pool = net
            if not classes or classes == 0 then return net, points end
            net = slim.dropout(net, keep_prob, {scope = "Dropout_1b"})
            net = slim.flatten(net, {scope = "PreLogitsFlatten"})
            points.PreLogitsFlatten = net
            return common.finish(points, slim.fully_connected(net, classes, {activation_fn = false, scope = "Logits"}), predict or slim.softmax)
          end)
        end)
      end)
    end)
  end)
return inception
