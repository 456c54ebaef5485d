-- PNASNet-5 (Liu et al. 2017): mobile (224 x 224), large (331 x 331). One cell does all, also with stride 2.
local tf, T = ...
local common, utils = T.include("slim", "nets/common"), T.include("slim", "nets/nasnet_utils")
local pnasnet = {}

pnasnet.configs = {
  mobile = {size = 224, classes = 1001, stem_multiplier = 1.0, num_cells = 9, num_conv_filters = 54, drop_path_keep_prob = 1.0,
    dense_dropout_keep_prob = 0.5, total_training_steps = 250000},
  large = {size = 331, classes = 1001, stem_multiplier = 3.0, num_cells = 12, num_conv_filters = 216, drop_path_keep_prob = 0.6,
    dense_dropout_keep_prob = 0.5, total_training_steps = 250000}}
for _, c in pairs(pnasnet.configs) do
  c.filter_scaling_rate, c.num_reduction_layers, c.use_aux_head, c.skip_reduction_layer_input = 2, 2, true, true
end

local function base(images, classes, is_training, config, final, step)
  local points = {}
  local cell = utils.cell {operations = {"separable_5x5_2", "max_pool_3x3", "separable_7x7_2", "max_pool_3x3", "separable_5x5_2",
    "separable_3x3_2", "separable_3x3_2", "max_pool_3x3", "separable_3x3_2", "none"}, used = {true, true, false, false, false, false, false},
    indices = {1, 1, 0, 0, 0, 0, 4, 0, 1, 0}, num_conv_filters = config.num_conv_filters, drop_path_keep_prob = config.drop_path_keep_prob,
    total_num_cells = config.num_cells + 2, total_training_steps = config.total_training_steps}
  local reductions = utils.calc_reduction_layers(config.num_cells, config.num_reduction_layers)
  local net, outputs = utils.imagenet_stem(images, config, cell, step)
  points.Stem = net
  if final == "Stem" then return net, points end
  local aux_at = #reductions >= 2 and reductions[2] - 1 or nil
  local scaling, cell_num, prev = 1, 2, nil
  for i = 0, config.num_cells - 1 do
    local reduces = false
    for _, at in ipairs(reductions) do reduces = reduces or at == i end
    if reduces then scaling = scaling * config.filter_scaling_rate end
    if config.skip_reduction_layer_input or not reduces then prev = outputs[#outputs - 1] end
    net = cell:build(net, {scope = "cell_" .. i, filter_scaling = scaling, stride = reduces and 2 or 1, prev_layer = prev, cell_num = cell_num,
      current_step = step})
    points["Cell_" .. i] = net
    if final == "Cell_" .. i then return net, points end
    cell_num = cell_num + 1
    outputs[#outputs + 1] = net
    if config.use_aux_head and i == aux_at and classes and classes > 0 and is_training then
      utils.aux_head(tf.nn.relu(net), points, classes, "aux_" .. i)
    end
  end
  return utils.final_layer(net, points, classes, config)
end

for name, defaults in pairs(pnasnet.configs) do
  pnasnet["build_pnasnet_" .. name] = T.bind("build_pnasnet_" .. name, "images num_classes? is_training=true final_endpoint? config? current_step?",
    function(images, classes, is_training, final, config, step)
      local c = {}
      for k, v in pairs(defaults) do c[k] = v end
      for k, v in pairs(config or {}) do
        if defaults[k] == nil then T.fail("build_pnasnet_" .. name, "the configuration has no '%s'", tostring(k)) end
        c[k] = v
      end
      if not is_training then c.drop_path_keep_prob = 1.0 end
      if classes == nil then classes = defaults.classes end
      return common.training(is_training, function() return base(images, classes, is_training, c, final, step) end)
    end)
end
pnasnet.pnasnet_mobile_arg_scope = utils.arg_scope("pnasnet_mobile_arg_scope", "0.00004")
pnasnet.pnasnet_large_arg_scope = utils.arg_scope("pnasnet_large_arg_scope", "0.00005")
return pnasnet
