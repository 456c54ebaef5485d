-- Cells of NASNet and PNASNet: five pairs of operations whose results are added, on the two tensors before.
local tf, T = ...
local slim = tf.slim
local common = T.include("slim", "nets/common")
local utils = {}

-- Where the cells that reduce stand: spread evenly.
function utils.calc_reduction_layers(num_cells, num_reductions)
  local out = {}
  for i = 1, num_reductions do out[i] = math.floor(i / (num_reductions + 1) * num_cells) end
  return out
end

-- Halves height and width by two paths that see the pixels of other parity.
function utils.factorized_reduction(net, filters, stride)
  if stride == 1 then
    net = slim.conv2d(net, filters, {1, 1}, {scope = "path_conv"})
    return slim.batch_norm(net, {scope = "path_bn"})
  end
  local half = filters // 2
  local path1 = tf.nn.avg_pool(net, 1, stride, "VALID")
  path1 = slim.conv2d(path1, half, {1, 1}, {scope = "path1_conv"})
  local padded = tf.pad(net, {{0, 0}, {0, 1}, {0, 1}, {0, 0}})
  local h, w = common.height_width(net)
  local path2 = tf.raw.StridedSlice(padded, {0, 1, 1, 0}, {0, h + 1, w + 1, 0}, {1, 1, 1, 1}, {begin_mask = 9, end_mask = 9})
  path2 = tf.nn.avg_pool(path2, 1, stride, "VALID")
  path2 = slim.conv2d(path2, filters - half, {1, 1}, {scope = "path2_conv"})
  return slim.batch_norm(common.concat {path1, path2}, {scope = "final_path_bn"})
end

-- In training whole paths are left out at random (Larsson et al. 2016).
function utils.drop_path(net, keep)
  if keep >= 1 then return net end
  return T.build_layer("dropout", {net}, {rate = 1 - keep, noise_shape = {net.shape[1] < 0 and -1 or net.shape[1], 1, 1, 1}, training = true})[1]
end

local Cell = {}
Cell.__index = Cell
-- o: {operations =, used = {bool}, indices =, num_conv_filters =, drop_path_keep_prob =, total_num_cells =, total_training_steps =}
function utils.cell(o) return setmetatable(o, Cell) end

function Cell:previous(prev, current)
  if not prev then return current end
  local _, width = common.height_width(current)
  local _, prev_width = common.height_width(prev)
  if width ~= prev_width then
    return utils.factorized_reduction(tf.nn.relu(prev), self.filters, 2)
  elseif common.channels(prev) ~= self.filters then
    prev = slim.conv2d(tf.nn.relu(prev), self.filters, {1, 1}, {scope = "prev_1x1"})
    return slim.batch_norm(prev, {scope = "prev_bn"})
  end
  return prev
end

local function separable(net, operation, stride, filters)
  local size, layers = operation:match "_(%d)x%d_(%d)$"
  size = math.tointeger(size)
  for i = 1, math.tointeger(layers) do
    net = slim.separable_conv2d(tf.nn.relu(net), filters, {size, size}, {depth_multiplier = 1, stride = stride,
      scope = ("separable_%dx%d_%d"):format(size, size, i)})
    net = slim.batch_norm(net, {scope = ("bn_sep_%dx%d_%d"):format(size, size, i)})
    stride = 1
  end
  return net
end
function Cell:apply(net, operation, stride, original)
  if not original then stride = 1 end
  local filters = self.filters
  if operation:find "^separable" then
    net = separable(net, operation, stride, filters)
  elseif operation == "none" then
    if stride > 1 or common.channels(net) ~= filters then
      net = slim.conv2d(tf.nn.relu(net), filters, {1, 1}, {stride = stride, scope = "1x1"})
      net = slim.batch_norm(net, {scope = "bn_1"})
    end
    return net
  else
    local kind, size = operation:match "^(%a+)_pool_(%d)x"
    size = math.tointeger(size)
    local before = common.channels(net)
    net = slim[kind .. "_pool2d"](net, {size, size}, {stride = stride, padding = "SAME", scope = operation})
    if before ~= filters then
      net = slim.conv2d(net, filters, {1, 1}, {stride = 1, scope = "1x1"})
      net = slim.batch_norm(net, {scope = "bn_1"})
    end
  end
  if self.drop_path_keep_prob < 1 then
    local keep = 1 - (self.cell_num + 1) / self.total_num_cells * (1 - self.drop_path_keep_prob)
    if self.step and self.total_training_steps then
      keep = 1 - math.min(1, self.step / self.total_training_steps) * (1 - keep)
    end
    net = utils.drop_path(net, keep)
  end
  return net
end

-- What no operation has read goes to the output, brought to one size.
function Cell:combine(states)
  local last = states[#states]
  local _, width = common.height_width(last)
  local filters, out = common.channels(last), {}
  for i, h in ipairs(states) do
    if not self.used[i] then
      local _, w = common.height_width(h)
      if common.channels(h) ~= filters or w ~= width then
        h = tf.variable_scope("reduction_" .. (i - 1), function()
          return utils.factorized_reduction(h, filters, w ~= width and 2 or 1)
        end)
      end
      out[#out + 1] = h
    end
  end
  return common.concat(out)
end

function Cell:build(net, o)
  self.cell_num, self.step = o.cell_num, o.current_step
  self.filters = math.floor(self.num_conv_filters * o.filter_scaling)
  return tf.variable_scope(o.scope, function()
    local prev = self:previous(o.prev_layer, net)
    local first = slim.conv2d(tf.nn.relu(net), self.filters, {1, 1}, {scope = "1x1"})
    first = slim.batch_norm(first, {scope = "beginning_bn"})
    local states = {first, prev}
    for i = 0, 4 do
      states[#states + 1] = tf.variable_scope("comb_iter_" .. i, function()
        local l, r = self.indices[2 * i + 1], self.indices[2 * i + 2]
        local left = tf.variable_scope("left", function() return self:apply(states[l + 1], self.operations[2 * i + 1], o.stride, l < 2) end)
        local right = tf.variable_scope("right", function() return self:apply(states[r + 1], self.operations[2 * i + 2], o.stride, r < 2) end)
        local s <close> = T.scope("combine")
        return left + right
      end)
    end
    return tf.variable_scope("cell_output", function() return self:combine(states) end)
  end)
end

-- A convolution of stride 2 and two cells of stride 2: what large images begin with.
function utils.imagenet_stem(inputs, config, cell, step)
  local net = slim.conv2d(inputs, math.floor(32 * config.stem_multiplier), {3, 3}, {stride = 2, scope = "conv0", padding = "VALID"})
  net = slim.batch_norm(net, {scope = "conv0_bn"})
  local outputs = {false, net}
  local scaling = 1 / config.filter_scaling_rate ^ 2
  for i = 0, 1 do
    net = cell:build(net, {scope = "cell_stem_" .. i, filter_scaling = scaling, stride = 2, prev_layer = outputs[#outputs - 1], cell_num = i,
      current_step = step})
    outputs[#outputs + 1] = net
    scaling = scaling * config.filter_scaling_rate
  end
  return net, outputs
end
function utils.cifar_stem(inputs, config)
  local net = slim.conv2d(inputs, math.floor(config.num_conv_filters * config.stem_multiplier), {3, 3}, {scope = "l1_stem_3x3"})
  net = slim.batch_norm(net, {scope = "l1_stem_bn"})
  return net, {false, net}
end

function utils.aux_head(net, points, classes, scope)
  tf.variable_scope(scope, function()
    tf.variable_scope("aux_logits", function()
      local aux = slim.avg_pool2d(net, {5, 5}, {stride = 3, padding = "VALID"})
      aux = slim.conv2d(aux, 128, {1, 1}, {scope = "proj"})
      aux = tf.nn.relu(slim.batch_norm(aux, {scope = "aux_bn0"}))
      aux = slim.conv2d(aux, 768, {common.height_width(aux)}, {padding = "VALID"})
      aux = tf.nn.relu(slim.batch_norm(aux, {scope = "aux_bn1"}))
      aux = slim.fully_connected(slim.flatten(aux), classes)
      points.AuxLogits = aux
    end)
  end)
end
function utils.final_layer(net, points, classes, config)
  return tf.variable_scope("final_layer", function()
    net = common.squeeze(common.global_pool(tf.nn.relu(net)))
    points.global_pool = net
    if not classes or classes == 0 then return net, points end
    net = slim.dropout(net, config.dense_dropout_keep_prob, {scope = "dropout"})
    local logits = slim.fully_connected(net, classes)
    points.Logits = logits
    points.Predictions = tf.nn.softmax(logits, {name = "predictions"})
    return logits, points
  end)
end

function utils.arg_scope(name, weight_decay)
  return T.bind(name, ("weight_decay=%s batch_norm_decay=0.9997 batch_norm_epsilon=0.001"):format(weight_decay), function(decay, bn_decay, epsilon)
    local l2 = slim.l2_regularizer(decay)
    return slim.arg_scope({slim.fully_connected, slim.conv2d, slim.separable_conv2d}, {weights_regularizer = l2,
      weights_initializer = slim.variance_scaling_initializer {mode = "FAN_OUT"}}, function()
      return slim.arg_scope({slim.fully_connected}, {activation_fn = false, scope = "FC"}, function()
        return slim.arg_scope({slim.conv2d, slim.separable_conv2d}, {activation_fn = false, biases_initializer = false}, function()
          return slim.arg_scope({slim.batch_norm}, {decay = bn_decay, epsilon = epsilon, scale = true}, function(sc) return sc end)
        end)
      end)
    end)
  end)
end
return utils
