-- Residual nets, version 1 (He et al. 2015): the activation comes behind the sum. 224 x 224 images.
local tf, T = ...
local slim = tf.slim
local common, utils = T.include("slim", "nets/common"), T.include("slim", "nets/resnet_utils")
local resnet = {default_image_size = 224, resnet_arg_scope = utils.resnet_arg_scope}

local function bottleneck(inputs, o)
  return tf.variable_scope(false, "bottleneck_v1", function()
    local shortcut
    if o.depth == common.channels(inputs) then
      shortcut = utils.subsample(inputs, o.stride, "shortcut")
    else
      shortcut = slim.conv2d(inputs, o.depth, {1, 1}, {stride = o.stride, activation_fn = false, scope = "shortcut"})
    end
    local residual = slim.conv2d(inputs, o.depth_bottleneck, {1, 1}, {stride = 1, scope = "conv1"})
    residual = utils.conv2d_same(residual, o.depth_bottleneck, 3, o.stride, {rate = o.rate, scope = "conv2"})
    residual = slim.conv2d(residual, o.depth, {1, 1}, {stride = 1, activation_fn = false, scope = "conv3"})
    return tf.nn.relu(shortcut + residual)
  end)
end
resnet.bottleneck = bottleneck
function resnet.resnet_v1_block(scope, base_depth, num_units, stride) return utils.block(scope, bottleneck, base_depth, num_units, stride) end

resnet.resnet_v1 = T.bind("resnet_v1", "inputs blocks num_classes? is_training=true global_pool=true output_stride? include_root_block=true spatial_squeeze=true store_non_strided_activations=false reuse? scope?",
  function(inputs, blocks, classes, is_training, global_pool, output_stride, root, squeeze, store, reuse, scope)
    return tf.variable_scope(scope or false, "resnet_v1", {reuse = reuse}, function(sc)
      local collection = sc.original_name_scope .. "_end_points"
      return slim.arg_scope({slim.conv2d}, {outputs_collections = {collection}}, function()
        return slim.arg_scope({slim.batch_norm}, {is_training = is_training}, function()
          local net = inputs
          if root then
            output_stride = utils.root_stride(output_stride)
            net = utils.conv2d_same(net, 64, 7, 2, {scope = "conv1"})
            net = slim.max_pool2d(net, {3, 3}, {stride = 2, scope = "pool1"})
          end
          net = utils.stack_blocks_dense(net, blocks, output_stride, store, collection)
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
  local name = "resnet_v1_" .. depth
  resnet[name] = T.bind(name, "inputs num_classes? is_training=true global_pool=true output_stride? spatial_squeeze=true store_non_strided_activations=false min_base_depth=8 depth_multiplier=1 reuse? scope?",
    function(inputs, classes, is_training, global_pool, output_stride, squeeze, store, min_depth, multiplier, reuse, scope)
      local blocks = {}
      for i, n in ipairs(units) do
        local base = math.max(math.floor(64 * 2 ^ (i - 1) * multiplier), min_depth)
        blocks[i] = utils.block("block" .. i, bottleneck, base, n, i < 4 and 2 or 1)
      end
      return resnet.resnet_v1(inputs, blocks, classes, is_training, {global_pool = global_pool, output_stride = output_stride,
        spatial_squeeze = squeeze, store_non_strided_activations = store, reuse = reuse, scope = scope or name})
    end)
end
return resnet
