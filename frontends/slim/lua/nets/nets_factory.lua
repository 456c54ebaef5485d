-- Nets by name: get_network_fn(name, num_classes, {weight_decay =, is_training =}) gives a function of images.
local tf, T = ...
local slim = tf.slim
local factory = {}
local function model(module, fn, scope, size) return {module = module, fn = fn or module, scope = scope, size = size} end
local models = {
  alexnet_v2 = model("alexnet", "alexnet_v2", "alexnet_v2_arg_scope", 224), cifarnet = model("cifarnet", nil, "cifarnet_arg_scope", 32),
  overfeat = model("overfeat", nil, "overfeat_arg_scope", 231), vgg_a = model("vgg", "vgg_a", "vgg_arg_scope", 224),
  vgg_16 = model("vgg", "vgg_16", "vgg_arg_scope", 224), vgg_19 = model("vgg", "vgg_19", "vgg_arg_scope", 224),
  lenet = model("lenet", nil, "lenet_arg_scope", 28),
  inception_v1 = model("inception_v1", nil, "inception_v1_arg_scope", 224), inception_v2 = model("inception_v2", nil, "inception_v2_arg_scope", 224),
  inception_v3 = model("inception_v3", nil, "inception_v3_arg_scope", 299), inception_v4 = model("inception_v4", nil, "inception_v4_arg_scope", 299),
  inception_resnet_v2 = model("inception_resnet_v2", nil, "inception_resnet_v2_arg_scope", 299),
  mobilenet_v1 = model("mobilenet_v1", nil, "mobilenet_v1_arg_scope", 224),
  mobilenet_v1_075 = model("mobilenet_v1", "mobilenet_v1_075", "mobilenet_v1_arg_scope", 224),
  mobilenet_v1_050 = model("mobilenet_v1", "mobilenet_v1_050", "mobilenet_v1_arg_scope", 224),
  mobilenet_v1_025 = model("mobilenet_v1", "mobilenet_v1_025", "mobilenet_v1_arg_scope", 224),
  mobilenet_v2 = model("mobilenet_v2", "mobilenet", "training_scope", 224),
  mobilenet_v2_140 = model("mobilenet_v2", "mobilenet_v2_140", "training_scope", 224),
  mobilenet_v2_035 = model("mobilenet_v2", "mobilenet_v2_035", "training_scope", 224),
  nasnet_cifar = model("nasnet", "build_nasnet_cifar", "nasnet_cifar_arg_scope", 32),
  nasnet_mobile = model("nasnet", "build_nasnet_mobile", "nasnet_mobile_arg_scope", 224),
  nasnet_large = model("nasnet", "build_nasnet_large", "nasnet_large_arg_scope", 331),
  pnasnet_mobile = model("pnasnet", "build_pnasnet_mobile", "pnasnet_mobile_arg_scope", 224),
  pnasnet_large = model("pnasnet", "build_pnasnet_large", "pnasnet_large_arg_scope", 331),
}
for _, depth in ipairs {50, 101, 152, 200} do
  for _, v in ipairs {"resnet_v1", "resnet_v2"} do
    models[("%s_%d"):format(v, depth)] = model(v, ("%s_%d"):format(v, depth), "resnet_arg_scope", 224)
  end
end
factory.names = {}
for name in pairs(models) do factory.names[#factory.names + 1] = name end
table.sort(factory.names)

-- The function has default_image_size; further options go to the net.
factory.get_network_fn = T.bind("nets_factory.get_network_fn", "name num_classes weight_decay? is_training=false", function(name, classes, weight_decay, is_training)
  local m = models[name]
  if not m then
    local near = T.nearest(name, factory.names)
    T.fail("nets_factory.get_network_fn", "there is no net '%s'%s", name, near and ("; the nearest is '%s'"):format(near) or "")
  end
  local module = slim.nets[m.module]
  local scope = module[m.scope](weight_decay and {weight_decay = weight_decay} or {})
  return setmetatable({default_image_size = m.size, name = name}, {__call = function(_, images, options)
    local o = {num_classes = classes, is_training = is_training}
    for k, v in pairs(options or {}) do o[k] = v end
    return slim.arg_scope(scope, function() return module[m.fn](images, o) end)
  end})
end)
return factory
