-- Residual nets, version 2 (He et al. 2016): normalisation and activation come before each convolution.
local tf, T = ...
local slim = tf.slim
local common, utils = T.include("slim", "nets/common"), T.include("slim", "nets/resnet_utils")
local resnet = {default_image_size = 224, resnet_arg_scope = utils.resnet_arg_scope}

local function bottleneck(inputs, o)
  return tf.variable_scope(false, "bottleneck_v2", function()
    local preact = slim.batch_norm(inputs, {activation_fn = tf.nn.relu, scope = "preact"})
    local shortcut
    if o.depth == common.channels(inputs) then
      shortcut = utils.subsample(inputs, o.stride, "shortcut")
    else
      shortcut = slim.conv2d(preact, o.depth, {1, 1}, {stride = o.stride, normalizer_fn = false, activation_fn = false, scope = "shortcut"})
    end
    local residual = slim.conv2d(preact, o.depth_bottleneck, {1, 1}, {stride = 1, scope = "conv1"})
    residual = utils.conv2d_same(residual, o.depth_bottleneck, 3, o.stride, {rate = o.rate, scope = "conv2"})
    residual = slim.conv2d(residual, o.depth, {1, 1}, {stride = 1, normalizer_fn = false, activation_fn = false, scope = "conv3"})
    return shortcut + residual
  end)
end
resnet.bottleneck = bottleneck
function resnet.resnet_v2_block(scope, base_depth, num_units, stride) return utils.block(scope, bottleneck, base_depth, num_units, stride) end

resnet.resnet_v2 = T.bind("resnet_v2", "inputs blocks num_classes? is_training=true global_pool=true output_stride? include_root_block=true spatial_squeeze=true reuse? scope?",
  function(inputs, blocks, classes, is_training, global_pool, output_stride, root, squeeze, reuse, scope)
    return tf.variable_scope(scope or false, "resnet_v2", {reuse = reuse}, function(sc)
      local collection = sc.original_name_scope .. "_end_points"
      return slim.arg_scope({slim.conv2d}, {outputs_collections = {collection}}, function()
        return slim.arg_scope({slim.batch_norm}, {is_training = is_training}, function()
          local net = inputs
          if root then
            output_stride = utils.root_stride(output_stride)
            slim.arg_scope({slim.conv2d}, {activation_fn = false, normalizer_fn = false}, function()
              net = utils.conv2d_same(net, 64, 7, 2, {scope = "conv1"})
            end)
            net = slim.max_pool2d(net, {3, 3}, {stride = 2, scope = "pool1"})
          end
          net = utils.stack_blocks_dense(net, blocks, output_stride, false, collection)
          net = slim.batch_norm(net, {activation_fn = tf.nn.relu, scope = "postnorm"})
          local points = slim.utils.convert_collection_to_dict(collection)
          if global_pool then
            net = common.global_pool(net, "pool5")
            points.global_pool = net
          end
          if classes and classes > 0 then
            net = slim.conv2d(net, classes, {1, 1}, {activation_fn = false, normalizer_fn = false, scope = "logits"})
            points[sc.name .. "/logits"] = net
            if squeeze then
              net = common.squeeze(net, "SpatialSqueeze")
              points[sc.name .. "/spatial_squeeze"] = net
            end
            points.predictions = slim.softmax(net, {scope = "predictions"})
          end
          return net, points
        end)
      end)
    end)
  end)
for depth, units in pairs(utils.models) do
  local name = "resnet_v2_" .. depth
  resnet[name] = T.bind(name, "inputs num_classes? is_training=true global_pool=true output_stride? spatial_squeeze=true reuse? scope?",
    function(inputs, classes, is_training, global_pool, output_stride, squeeze, reuse, scope)
      local blocks = {}
      for i, n in ipairs(units) do blocks[i] = utils.block("block" .. i, bottleneck, 32 << i, n, i < 4 and 2 or 1) end
      return resnet.resnet_v2(inputs, blocks, classes, is_training, {global_pool = global_pool, output_stride = output_stride,
        spatial_squeeze = squeeze, reuse = reuse, scope = scope or name})
    end)
end
return resnet
