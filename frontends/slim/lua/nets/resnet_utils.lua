-- What both residual nets share (He et al. 2015, 2016): blocks of units, strides turned into rates.
local tf, T = ...
local slim = tf.slim
local utils = {}

function utils.subsample(inputs, factor, scope)
  if factor == 1 then return inputs end
  return slim.max_pool2d(inputs, {1, 1}, {stride = factor, scope = scope})
end
-- A strided convolution whose padding does not depend on the input's extents.
function utils.conv2d_same(inputs, depth, kernel_size, stride, options)
  local o = {}
  for k, v in pairs(options or {}) do o[k] = v end
  o.stride = stride
  if stride == 1 then
    o.padding = "SAME"
    return slim.conv2d(inputs, depth, kernel_size, o)
  end
  local total = kernel_size + (kernel_size - 1) * ((o.rate or 1) - 1) - 1
  local before = total // 2
  local after = total - before
  o.padding = "VALID"
  return slim.conv2d(tf.pad(inputs, {{0, 0}, {before, after}, {before, after}, {0, 0}}), depth, kernel_size, o)
end

-- blocks: {scope =, unit = function(net, {depth =, depth_bottleneck =, stride =, rate =}), args = {{depth, depth_bottleneck, stride}, ...}}.
-- With output_stride the units behind it dilate instead of striding.
function utils.stack_blocks_dense(net, blocks, output_stride, store_non_strided, collection)
  local current, rate = 1, 1
  for _, block in ipairs(blocks) do
    tf.variable_scope(block.scope, "block", function(sc)
      local block_stride = 1
      for i, unit in ipairs(block.args) do
        local depth, bottleneck, stride = table.unpack(unit)
        if store_non_strided and i == #block.args then block_stride, stride = stride, 1 end
        tf.variable_scope("unit_" .. i, function()
          if output_stride and current == output_stride then
            net = block.unit(net, {depth = depth, depth_bottleneck = bottleneck, stride = 1, rate = rate})
            rate = rate * stride
          else
            net = block.unit(net, {depth = depth, depth_bottleneck = bottleneck, stride = stride, rate = 1})
            current = current * stride
            if output_stride and current > output_stride then
              T.fail("resnet", "'output_stride' cannot be reached: the strides multiply to %d", current)
            end
          end
        end)
      end
      net = slim.utils.collect_named_outputs(collection, sc.name, net)
      if output_stride and current == output_stride then
        rate = rate * block_stride
      else
        net = utils.subsample(net, block_stride)
        current = current * block_stride
        if output_stride and current > output_stride then
          T.fail("resnet", "'output_stride' cannot be reached: the strides multiply to %d", current)
        end
      end
    end)
  end
  if output_stride and current ~= output_stride then
    T.fail("resnet", "'output_stride' cannot be reached: the strides multiply to %d", current)
  end
  return net
end

utils.resnet_arg_scope = T.bind("resnet_arg_scope", "weight_decay=0.0001 batch_norm_decay=0.997 batch_norm_epsilon=1e-05 batch_norm_scale=true activation_fn? use_batch_norm=true batch_norm_updates_collections=update_ops",
  function(weight_decay, decay, epsilon, scale, activation, use_batch_norm, updates)
    local params = {decay = decay, epsilon = epsilon, scale = scale, updates_collections = updates}
    return slim.arg_scope({slim.conv2d}, {weights_regularizer = slim.l2_regularizer(weight_decay),
      weights_initializer = slim.variance_scaling_initializer(), activation_fn = activation or tf.nn.relu,
      normalizer_fn = use_batch_norm and slim.batch_norm or false, normalizer_params = params}, function()
      return slim.arg_scope({slim.batch_norm}, params, function()
        return slim.arg_scope({slim.max_pool2d}, {padding = "SAME"}, function(sc) return sc end)
      end)
    end)
  end)

-- The models of one version: counts of units per block.
utils.models = {["50"] = {3, 4, 6, 3}, ["101"] = {3, 4, 23, 3}, ["152"] = {3, 8, 36, 3}, ["200"] = {3, 24, 36, 3}}
-- The stride is that of a block's last unit.
function utils.block(scope, unit, base_depth, n, stride)
  local args = {}
  for i = 1, n do args[i] = {base_depth * 4, base_depth, i == n and stride or 1} end
  return {scope = scope, unit = unit, args = args}
end
function utils.root_stride(output_stride)
  if not output_stride then return nil end
  if output_stride % 4 ~= 0 then T.fail("resnet", "'output_stride' must be a multiple of 4, not %d", output_stride) end
  return output_stride // 4
end
return utils
