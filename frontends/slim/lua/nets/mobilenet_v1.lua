-- MobileNet (Howard et al. 2017): depthwise and pointwise convolutions in turn. 224 x 224 images.
local tf, T = ...
local slim = tf.slim
local common = T.include("slim", "nets/common")
local mobilenet = {default_image_size = 224}

-- stride and depth; the first is a full convolution
local defs = {{2, 32}, {1, 64}, {2, 128}, {1, 128}, {2, 256}, {1, 256}, {2, 512}, {1, 512}, {1, 512}, {1, 512}, {1, 512}, {1, 512},
  {2, 1024}, {1, 1024}}
mobilenet.CONV_DEFS = defs

mobilenet.mobilenet_v1_base = T.bind("mobilenet_v1_base", "inputs final_endpoint=Conv2d_13_pointwise min_depth=8 depth_multiplier=1 conv_defs? output_stride? use_explicit_padding=false scope?",
  function(inputs, final, min_depth, multiplier, conv_defs, output_stride, explicit, scope)
    local who = "mobilenet_v1_base"
    if multiplier <= 0 then T.fail(who, "'depth_multiplier' must be above 0, not %g", multiplier) end
    if output_stride and output_stride ~= 8 and output_stride ~= 16 and output_stride ~= 32 then
      T.fail(who, "'output_stride' must be 8, 16 or 32, not %s", output_stride)
    end
    local known = {"Conv2d_0"}
    for i = 1, #(conv_defs or defs) - 1 do
      known[#known + 1] = ("Conv2d_%d_depthwise"):format(i)
      known[#known + 1] = ("Conv2d_%d_pointwise"):format(i)
    end
    common.check_endpoint(final, known, who)
    local points, stop_at = common.recorder(final)
    return tf.variable_scope(scope or false, "MobilenetV1", function()
      return slim.arg_scope({slim.conv2d, slim.separable_conv2d}, {padding = explicit and "VALID" or "SAME"}, function()
        local net, current, rate = inputs, 1, 1
        for i, def in ipairs(conv_defs or defs) do
          local stride, depth = def[1], math.max(math.floor(def[2] * multiplier), min_depth)
          local layer_stride, layer_rate = stride, 1
          if output_stride and current == output_stride then
            layer_stride, layer_rate = 1, rate
            rate = rate * stride
          else
            current = current * stride
          end
          if explicit then
            local total = 3 + 2 * (layer_rate - 1) - 1
            local before = total // 2
            net = tf.pad(net, {{0, 0}, {before, total - before}, {before, total - before}, {0, 0}})
          end
          local base = "Conv2d_" .. (i - 1)
          if i == 1 then
            net = slim.conv2d(net, depth, {3, 3}, {stride = stride, scope = base})
            if stop_at(base, net) then return net, points end
          else
            net = slim.separable_conv2d(net, false, {3, 3}, {depth_multiplier = 1, stride = layer_stride, rate = layer_rate,
              scope = base .. "_depthwise"})
            if stop_at(base .. "_depthwise", net) then return net, points end
            net = slim.conv2d(net, depth, {1, 1}, {stride = 1, scope = base .. "_pointwise"})
            if stop_at(base .. "_pointwise", net) then return net, points end
          end
        end
        return net, points
      end)
    end)
  end)

mobilenet.mobilenet_v1 = T.bind("mobilenet_v1", "inputs num_classes=1000 dropout_keep_prob=0.999 is_training=true min_depth=8 depth_multiplier=1 conv_defs? prediction_fn? spatial_squeeze=true reuse? scope=MobilenetV1 global_pool=false output_stride?",
  function(inputs, classes, keep_prob, is_training, min_depth, multiplier, conv_defs, predict, squeeze, reuse, scope, global_pool, output_stride)
    local rank = inputs:rank()
    if rank and rank ~= 4 then T.fail("mobilenet_v1", "the images must have rank 4 (batch, height, width, channels), not %d", rank) end
    return tf.variable_scope(scope, "MobilenetV1", {reuse = reuse}, function(sc)
      return common.training(is_training, function()
        local net, points = mobilenet.mobilenet_v1_base(inputs, {scope = sc, min_depth = min_depth, depth_multiplier = multiplier,
          conv_defs = conv_defs, output_stride = output_stride})
        return tf.variable_scope("Logits", function()
          if global_pool then
            net = common.global_pool(net, "global_pool")
            points.global_pool = net
          else
            net = slim.avg_pool2d(net, common.reduced_kernel(net, 7), {padding = "VALID", scope = "AvgPool_1a"})
            points.AvgPool_1a = net
          end
          if not classes or classes == 0 then return net, points end
          net = slim.dropout(net, keep_prob, {scope = "Dropout_1b"})
          local logits = slim.conv2d(net, classes, {1, 1}, {activation_fn = false, normalizer_fn = false, scope = "Conv2d_1c_1x1"})
          if squeeze then logits = common.squeeze(logits, "SpatialSqueeze") end
          points.Logits = logits
          points.Predictions = (predict or slim.softmax)(logits, {scope = "Predictions"})
          return logits, points
        end)
      end)
    end)
  end)
for name, multiplier in pairs {["075"] = 0.75, ["050"] = 0.5, ["025"] = 0.25} do
  mobilenet["mobilenet_v1_" .. name] = function(inputs, ...)
    local args = table.pack(...)
    local options = {}
    if args.n > 0 and T.is_options(args[args.n]) then
      for k, v in pairs(args[args.n]) do options[k] = v end
      args.n = args.n - 1
    end
    options.depth_multiplier = options.depth_multiplier or multiplier
    args[args.n + 1] = options
    return mobilenet.mobilenet_v1(inputs, table.unpack(args, 1, args.n + 1))
  end
end

-- Depthwise weights are not regularized unless regularize_depthwise says so.
mobilenet.mobilenet_v1_arg_scope = T.bind("mobilenet_v1_arg_scope", "is_training=true weight_decay=0.00004 stddev=0.09 regularize_depthwise=false batch_norm_decay=0.9997 batch_norm_epsilon=0.001 batch_norm_updates_collections=update_ops",
  function(is_training, weight_decay, stddev, regularize, decay, epsilon, updates)
    local params = {center = true, scale = true, decay = decay, epsilon = epsilon, updates_collections = updates}
    if is_training ~= nil then params.is_training = is_training end
    local l2 = slim.l2_regularizer(weight_decay)
    return slim.arg_scope({slim.conv2d, slim.separable_conv2d}, {weights_initializer = common.truncated(stddev),
      activation_fn = tf.nn.relu6, normalizer_fn = slim.batch_norm}, function()
      return slim.arg_scope({slim.batch_norm}, params, function()
        return slim.arg_scope({slim.conv2d}, {weights_regularizer = l2}, function()
          return slim.arg_scope({slim.separable_conv2d}, {weights_regularizer = regularize and l2 or false}, function(sc) return sc end)
        end)
      end)
    end)
  end)
return mobilenet
