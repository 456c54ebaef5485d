-- NASNet-A (Zoph et al. 2017): cifar (32 x 32), mobile (224 x 224), large (331 x 331).
local tf, T = ...
local slim = tf.slim
local common, utils = T.include("slim", "nets/common"), T.include("slim", "nets/nasnet_utils")
local nasnet = {}

nasnet.configs = {
  cifar = {size = 32, classes = 10, stem = "cifar", stem_multiplier = 3.0, num_cells = 18, num_conv_filters = 32, drop_path_keep_prob = 0.6,
    dense_dropout_keep_prob = 1.0, skip_reduction_layer_input = false, total_training_steps = 937500},
  mobile = {size = 224, classes = 1001, stem = "imagenet", stem_multiplier = 1.0, num_cells = 12, num_conv_filters = 44, drop_path_keep_prob = 1.0,
    dense_dropout_keep_prob = 0.5, skip_reduction_layer_input = false, total_training_steps = 250000},
  large = {size = 331, classes = 1001, stem = "imagenet", stem_multiplier = 3.0, num_cells = 18, num_conv_filters = 168, drop_path_keep_prob = 0.7,
    dense_dropout_keep_prob = 0.5, skip_reduction_layer_input = true, total_training_steps = 250000}}
for _, c in pairs(nasnet.configs) do
  c.filter_scaling_rate, c.num_reduction_layers, c.use_aux_head = 2, 2, true
end

local function cells(config)
  local total = config.num_cells + config.num_reduction_layers + (config.stem == "imagenet" and 2 or 0)
  local function cell(o)
    o.num_conv_filters, o.drop_path_keep_prob, o.total_num_cells = config.num_conv_filters, config.drop_path_keep_prob, total
    o.total_training_steps = config.total_training_steps
    return utils.cell(o)
  end
  return cell {operations = {"separable_5x5_2", "separable_3x3_2", "separable_5x5_2", "separable_3x3_2", "avg_pool_3x3", "none",
    "avg_pool_3x3", "avg_pool_3x3", "separable_3x3_2", "none"}, used = {true, false, false, false, false, false, false},
    indices = {0, 1, 1, 1, 0, 1, 1, 1, 0, 0}},
    cell {operations = {"separable_5x5_2", "separable_7x7_2", "max_pool_3x3", "separable_7x7_2", "avg_pool_3x3", "separable_5x5_2",
      "none", "avg_pool_3x3", "separable_3x3_2", "max_pool_3x3"}, used = {true, true, true, false, false, false, false},
      indices = {0, 1, 0, 1, 0, 1, 3, 2, 2, 0}}
end

local function base(images, classes, is_training, config, final, step)
  local points = {}
  local normal, reduction = cells(config)
  local reductions = utils.calc_reduction_layers(config.num_cells, config.num_reduction_layers)
  local net, outputs
  if config.stem == "imagenet" then
    net, outputs = utils.imagenet_stem(images, config, reduction, step)
    for i = 3, #outputs do points["Cell_stem_" .. (i - 3)] = outputs[i] end
  else
    net, outputs = utils.cifar_stem(images, config)
  end
  points.Stem = net
  if final == "Stem" then return net, points end
  local aux_at = #reductions >= 2 and reductions[2] - 1 or nil
  local scaling, cell_num, reduced = 1, config.stem == "imagenet" and 2 or 0, 0
  for i = 0, config.num_cells - 1 do
    local prev
    if config.skip_reduction_layer_input then prev = outputs[#outputs - 1] end
    if i == reductions[reduced + 1] then
      scaling = scaling * config.filter_scaling_rate
      net = reduction:build(net, {scope = "reduction_cell_" .. reduced, filter_scaling = scaling, stride = 2, prev_layer = outputs[#outputs - 1],
        cell_num = cell_num, current_step = step})
      points["Reduction_Cell_" .. reduced] = net
      if final == "Reduction_Cell_" .. reduced then return net, points end
      reduced, cell_num = reduced + 1, cell_num + 1
      outputs[#outputs + 1] = net
    end
    if not config.skip_reduction_layer_input then prev = outputs[#outputs - 1] end
    net = normal:build(net, {scope = "cell_" .. i, filter_scaling = scaling, stride = 1, prev_layer = prev, cell_num = cell_num, current_step = step})
    points["Cell_" .. i] = net
    if final == "Cell_" .. i then return net, points end
    cell_num = cell_num + 1
    if config.use_aux_head and i == aux_at and classes and classes > 0 and is_training then
      utils.aux_head(tf.nn.relu(net), points, classes, "aux_" .. i)
    end
    outputs[#outputs + 1] = net
  end
  return utils.final_layer(net, points, classes, config)
end

for name, defaults in pairs(nasnet.configs) do
  nasnet["build_nasnet_" .. name] = T.bind("build_nasnet_" .. name, "images num_classes? is_training=true final_endpoint? config? current_step?",
    function(images, classes, is_training, final, config, step)
      local c = {}
      for k, v in pairs(defaults) do c[k] = v end
      for k, v in pairs(config or {}) do
        if defaults[k] == nil then
          local known = {}
          for key in pairs(defaults) do known[#known + 1] = key end
          T.fail("build_nasnet_" .. name, "the configuration has no '%s'%s", tostring(k), (T.nearest(tostring(k), known) and "; the nearest is '" .. T.nearest(tostring(k), known) .. "'") or "")
        end
        c[k] = v
      end
      if not is_training then c.drop_path_keep_prob = 1.0 end
      if classes == nil then classes = defaults.classes end
      return common.training(is_training, function() return base(images, classes, is_training, c, final, step) end)
    end)
end
nasnet.nasnet_cifar_arg_scope = utils.arg_scope("nasnet_cifar_arg_scope", "0.0005")
nasnet.nasnet_mobile_arg_scope = utils.arg_scope("nasnet_mobile_arg_scope", "0.00004")
nasnet.nasnet_large_arg_scope = utils.arg_scope("nasnet_large_arg_scope", "0.00005")
return nasnet
