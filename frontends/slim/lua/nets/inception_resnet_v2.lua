-- Inception with residual connections, version 2 (Szegedy et al. 2016): 299 x 299 images.
local tf, T = ...
local slim = tf.slim
local common, utils = T.include("slim", "nets/common"), T.include("slim", "nets/inception_utils")
local inception = {default_image_size = 299}

-- net + scale * branches, the activation behind
local function residual(name, scope, branches)
  return slim.add_arg_scope(function(net, scale, activation_fn, own)
    return tf.variable_scope(own or false, scope, function()
      local up = slim.conv2d(utils.branches(net, branches), common.channels(net), {1, 1}, {normalizer_fn = false, activation_fn = false, scope = "Conv2d_1x1"})
      net = net + up * scale
      if activation_fn == false then return net end
      return (activation_fn or tf.nn.relu)(net)
    end)
  end, "net scale=1.0 activation_fn? scope?", name)
end
inception.block35 = residual("block35", "Block35", {{{32, 1, "Conv2d_1x1"}}, {{32, 1, "Conv2d_0a_1x1"}, {32, 3, "Conv2d_0b_3x3"}},
  {{32, 1, "Conv2d_0a_1x1"}, {48, 3, "Conv2d_0b_3x3"}, {64, 3, "Conv2d_0c_3x3"}}})
inception.block17 = residual("block17", "Block17", {{{192, 1, "Conv2d_1x1"}},
  {{128, 1, "Conv2d_0a_1x1"}, {160, {1, 7}, "Conv2d_0b_1x7"}, {192, {7, 1}, "Conv2d_0c_7x1"}}})
inception.block8 = residual("block8", "Block8", {{{192, 1, "Conv2d_1x1"}},
  {{192, 1, "Conv2d_0a_1x1"}, {224, {1, 3}, "Conv2d_0b_1x3"}, {256, {3, 1}, "Conv2d_0c_3x1"}}})

inception.inception_resnet_v2_base = T.bind("inception_resnet_v2_base", "inputs final_endpoint=Conv2d_7b_1x1 output_stride=16 align_feature_maps=false scope? activation_fn?",
  function(inputs, final, output_stride, align, scope, activation)
    local who = "inception_resnet_v2_base"
    if output_stride ~= 8 and output_stride ~= 16 then T.fail(who, "'output_stride' must be 8 or 16, not %s", output_stride) end
    local padding = align and "SAME" or "VALID"
    local stride = output_stride == 8 and 1 or 2
    local function conv(name, filters, size, step, pad)
      return {name, function(net) return slim.conv2d(net, filters, {size, size}, {stride = step, padding = pad, scope = name}) end}
    end
    local function pool(name) return {name, function(net) return slim.max_pool2d(net, {3, 3}, {stride = 2, padding = padding, scope = name}) end} end
    local function module(name, list) return {name, function(net) return utils.module(net, name, list) end} end
    local function s(step, size)
      step.stride, step.padding = size or 2, padding
      return step
    end
    local function blocks(name, fn, n, scale)
      return {name, function(net)
        return slim.repeat_(net, n, fn, {scale = scale, activation_fn = activation})
      end}
    end
    return tf.variable_scope(scope or false, "InceptionResnetV2", function()
      return utils.scopes(1, "SAME", function()
        local list = {conv("Conv2d_1a_3x3", 32, 3, 2, padding), conv("Conv2d_2a_3x3", 32, 3, nil, padding), conv("Conv2d_2b_3x3", 64, 3),
          pool "MaxPool_3a_3x3", conv("Conv2d_3b_1x1", 80, 1, nil, padding), conv("Conv2d_4a_3x3", 192, 3, nil, padding), pool "MaxPool_5a_3x3",
          module("Mixed_5b", {{{96, 1, "Conv2d_1x1"}}, {{48, 1, "Conv2d_0a_1x1"}, {64, 5, "Conv2d_0b_5x5"}},
            {{64, 1, "Conv2d_0a_1x1"}, {96, 3, "Conv2d_0b_3x3"}, {96, 3, "Conv2d_0c_3x3"}}, {{"avg", "AvgPool_0a_3x3"}, {64, 1, "Conv2d_0b_1x1"}}}),
          blocks("Repeat", inception.block35, 10, 0.17),
          module("Mixed_6a", {{s({384, 3, "Conv2d_1a_3x3"}, stride)},
            {{256, 1, "Conv2d_0a_1x1"}, {256, 3, "Conv2d_0b_3x3"}, s({384, 3, "Conv2d_1a_3x3"}, stride)}, {s({"max", "MaxPool_1a_3x3"}, stride)}}),
          blocks("PreAuxLogits", inception.block17, 20, 0.10)}
        if output_stride == 16 then
          for _, e in ipairs {module("Mixed_7a", {{{256, 1, "Conv2d_0a_1x1"}, s {384, 3, "Conv2d_1a_3x3"}},
            {{256, 1, "Conv2d_0a_1x1"}, s {288, 3, "Conv2d_1a_3x3"}},
            {{256, 1, "Conv2d_0a_1x1"}, {288, 3, "Conv2d_0b_3x3"}, s {320, 3, "Conv2d_1a_3x3"}}, {s {"max", "MaxPool_1a_3x3"}}}),
            blocks("Repeat_2", inception.block8, 9, 0.20),
            {"Block8", function(net) return inception.block8(net, {activation_fn = false}) end}, conv("Conv2d_7b_1x1", 1536, 1)} do
            list[#list + 1] = e
          end
        elseif final == "Conv2d_7b_1x1" then
          T.fail(who, "with 'output_stride' 8 the net ends at PreAuxLogits: say final_endpoint = \"PreAuxLogits\"")
        end
        return utils.run(inputs, list, final, who)
      end)
    end)
  end)

inception.inception_resnet_v2 = T.bind("inception_resnet_v2", "inputs num_classes=1001 is_training=true dropout_keep_prob=0.8 reuse? scope=InceptionResnetV2 create_aux_logits=true activation_fn? prediction_fn?",
  function(inputs, classes, is_training, keep_prob, reuse, scope, create_aux, activation, predict)
    return tf.variable_scope(scope, "InceptionResnetV2", {reuse = reuse}, function(sc)
      return common.training(is_training, function()
        local net, points = inception.inception_resnet_v2_base(inputs, {scope = sc, activation_fn = activation})
        if create_aux and classes and classes > 0 then
          tf.variable_scope("AuxLogits", function()
            local aux = slim.avg_pool2d(points.PreAuxLogits, {5, 5}, {stride = 3, padding = "VALID", scope = "Conv2d_1a_3x3"})
            aux = slim.conv2d(aux, 128, {1, 1}, {scope = "Conv2d_1b_1x1"})
            aux = slim.conv2d(aux, 768, {common.height_width(aux)}, {padding = "VALID", scope = "Conv2d_2a_5x5"})
            points.AuxLogits = slim.fully_connected(slim.flatten(aux), classes, {activation_fn = false, scope = "Logits"})
          end)
        end
        return tf.variable_scope("Logits", function()
          net = slim.avg_pool2d(net, {common.height_width(net)}, {padding = "VALID", scope = "AvgPool_1a_8x8"})
          points.global_pool = net
          if not classes or classes == 0 then return net, points end
          net = slim.dropout(slim.flatten(net), keep_prob, {is_training = is_training, scope = "Dropout"})
          points.PreLogitsFlatten = net
          return common.finish(points, slim.fully_connected(net, classes, {activation_fn = false, scope = "Logits"}), predict or slim.softmax)
        end)
      end)
    end)
  end)

inception.inception_resnet_v2_arg_scope = T.bind("inception_resnet_v2_arg_scope", "weight_decay=0.00004 batch_norm_decay=0.9997 batch_norm_epsilon=0.001 activation_fn? batch_norm_updates_collections=update_ops",
  function(weight_decay, decay, epsilon, activation, updates)
    local l2 = slim.l2_regularizer(weight_decay)
    return slim.arg_scope({slim.conv2d, slim.fully_connected}, {weights_regularizer = l2, biases_regularizer = l2}, function()
      return slim.arg_scope({slim.conv2d}, {activation_fn = activation or tf.nn.relu, normalizer_fn = slim.batch_norm,
        normalizer_params = {decay = decay, epsilon = epsilon, updates_collections = updates}}, function(sc) return sc end)
    end)
  end)
return inception
