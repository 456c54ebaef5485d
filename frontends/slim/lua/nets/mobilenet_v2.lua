-- MobileNet version 2 (Sandler et al. 2018): inverted residuals with linear bottlenecks. 224 x 224 images.
local tf, T = ...
local slim = tf.slim
local common = T.include("slim", "nets/common")
local mobilenet = {default_image_size = 224}

-- expansion, depth, stride of each inverted residual
local defs = {{1, 16, 1}, {6, 24, 2}, {6, 24, 1}, {6, 32, 2}, {6, 32, 1}, {6, 32, 1}, {6, 64, 2}, {6, 64, 1}, {6, 64, 1}, {6, 64, 1},
  {6, 96, 1}, {6, 96, 1}, {6, 96, 1}, {6, 160, 2}, {6, 160, 1}, {6, 160, 1}, {6, 320, 1}}
mobilenet.V2_DEF = defs

-- The multiple of `by` nearest to v that is not below nine tenths of it.
local function divisible(v, by, least)
  local n = math.max(least or by, (math.floor(v + by / 2) // by) * by)
  if n < 0.9 * v then n = n + by end
  return n
end
mobilenet.make_divisible = divisible

local function expanded(net, expansion, depth, stride, rate, scope, record)
  return tf.variable_scope(scope, function()
    local input, prefix = net, scope .. "/"
    local wide = expansion == 1 and common.channels(net) or divisible(common.channels(net) * expansion, 8)
    if wide > common.channels(net) then
      net = slim.conv2d(net, wide, {1, 1}, {scope = "expand"})
      record(prefix .. "expansion_output", net)
    end
    net = slim.separable_conv2d(net, false, {3, 3}, {depth_multiplier = 1, stride = stride, rate = rate, scope = "depthwise"})
    record(prefix .. "depthwise_output", net)
    net = slim.conv2d(net, depth, {1, 1}, {activation_fn = false, scope = "project"})
    record(prefix .. "projection_output", net)
    if stride == 1 and common.channels(input) == common.channels(net) then net = net + input end
    return tf.identity(net, "output")
  end)
end

mobilenet.mobilenet_base = T.bind("mobilenet_v2.mobilenet_base", "inputs depth_multiplier=1 min_depth=8 divisible_by=8 final_endpoint? output_stride? finegrain_classification_mode? scope?",
  function(inputs, multiplier, min_depth, by, final, output_stride, finegrain, scope)
    local who = "mobilenet_v2"
    if multiplier <= 0 then T.fail(who, "'depth_multiplier' must be above 0, not %g", multiplier) end
    if output_stride and (output_stride == 0 or (output_stride > 1 and output_stride % 2 == 1)) then
      T.fail(who, "'output_stride' must be 1 or even, not %d", output_stride)
    end
    if finegrain == nil then finegrain = multiplier < 1 end
    local function depth_of(d) return multiplier == 1 and d or divisible(d * multiplier, by, min_depth) end
    local points, stop_at = common.recorder(final)
    local function record(name, net) points["layer_" .. name] = net end
    return tf.variable_scope(scope or false, "MobilenetV2", function()
      local current, rate = 1, 1
      local function strides(stride)
        if output_stride and current == output_stride then
          local r = rate
          rate = rate * stride
          return 1, r
        end
        current = current * stride
        return stride, 1
      end
      local net = slim.conv2d(inputs, depth_of(32), {3, 3}, {stride = (strides(2)), scope = "Conv"})
      if stop_at("layer_1", net) then return net, points end
      for i, d in ipairs(defs) do
        local name = i == 1 and "expanded_conv" or "expanded_conv_" .. (i - 1)
        local stride, r = strides(d[3])
        net = expanded(net, d[1], depth_of(d[2]), stride, r, name, function(part, x) record((i + 1) .. "/" .. part:match "[^/]*$", x) end)
        if stop_at("layer_" .. (i + 1), net) then return net, points end
      end
      -- the last one keeps its width in small models
      net = slim.conv2d(net, finegrain and multiplier < 1 and 1280 or depth_of(1280), {1, 1}, {scope = "Conv_1"})
      stop_at("layer_" .. (#defs + 2), net)
      return net, points
    end)
  end)

mobilenet.mobilenet = T.bind("mobilenet_v2.mobilenet", "input_tensor|inputs num_classes=1001 depth_multiplier=1 scope=MobilenetV2 finegrain_classification_mode? min_depth=8 divisible_by=8 is_training? prediction_fn? base_only=false reuse? output_stride? final_endpoint?",
  function(inputs, classes, multiplier, scope, finegrain, min_depth, by, is_training, predict, base_only, reuse, output_stride, final)
    local rank = inputs:rank()
    if rank and rank ~= 4 then T.fail("mobilenet_v2", "the images must have rank 4 (batch, height, width, channels), not %d", rank) end
    return tf.variable_scope(scope, "MobilenetV2", {reuse = reuse}, function(sc)
      local function build()
        local net, points = mobilenet.mobilenet_base(inputs, {scope = sc, depth_multiplier = multiplier, min_depth = min_depth,
          divisible_by = by, output_stride = output_stride, finegrain_classification_mode = finegrain, final_endpoint = final})
        points.embedding = net
        if base_only then return net, points end
        return tf.variable_scope("Logits", function()
          net = common.global_pool(net, "AvgPool")
          points.global_pool = net
          if not classes or classes == 0 then return net, points end
          net = slim.dropout(net, {scope = "Dropout"})
          local logits = slim.conv2d(net, classes, {1, 1}, {activation_fn = false, normalizer_fn = false,
            biases_initializer = tf.zeros_initializer(), scope = "Conv2d_1c_1x1"})
          logits = common.squeeze(logits)
          points.Logits = logits
          points.Predictions = (predict or slim.softmax)(logits, {scope = "Predictions"})
          return logits, points
        end)
      end
      if is_training == nil then return build() end
      return common.training(is_training, build)
    end)
  end)
mobilenet.mobilenet_v2 = mobilenet.mobilenet
for name, multiplier in pairs {mobilenet_v2_140 = 1.4, mobilenet_v2_050 = 0.5, mobilenet_v2_035 = 0.35} do
  mobilenet[name] = function(inputs, classes, options)
    local o = {}
    if T.is_options(classes) then classes, options = nil, classes end
    for k, v in pairs(options or {}) do o[k] = v end
    if classes ~= nil then o.num_classes = classes end
    o.depth_multiplier = o.depth_multiplier or multiplier
    return mobilenet.mobilenet(inputs, o)
  end
end

mobilenet.training_scope = T.bind("mobilenet_v2.training_scope", "is_training=true weight_decay=0.00004 stddev=0.09 dropout_keep_prob=0.8 bn_decay=0.997",
  function(is_training, weight_decay, stddev, keep_prob, decay)
    local params = {decay = decay}
    if is_training ~= nil then params.is_training = is_training end
    local initializer = stddev < 0 and slim.xavier_initializer() or common.truncated(stddev)
    return slim.arg_scope({slim.conv2d, slim.fully_connected, slim.separable_conv2d}, {weights_initializer = initializer,
      normalizer_fn = slim.batch_norm}, function()
      return slim.arg_scope({slim.conv2d, slim.separable_conv2d}, {activation_fn = tf.nn.relu6, padding = "SAME"}, function()
        return slim.arg_scope({slim.batch_norm}, {center = true, scale = true}, function()
          return slim.arg_scope({slim.batch_norm}, params, function()
            return slim.arg_scope({slim.dropout}, {is_training = is_training, keep_prob = keep_prob}, function()
              return slim.arg_scope({slim.conv2d}, {weights_regularizer = slim.l2_regularizer(weight_decay)}, function()
                return slim.arg_scope({slim.separable_conv2d}, {weights_regularizer = false}, function(sc) return sc end)
              end)
            end)
          end)
        end)
      end)
    end)
  end)
return mobilenet
