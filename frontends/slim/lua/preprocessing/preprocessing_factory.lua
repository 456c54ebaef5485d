-- Preprocessing by a net's name: get_preprocessing(name, is_training) gives a function(image, output_height, output_width, options).
local tf, T = ...
local factory = {}
local modules = {}
for module, names in pairs {
  cifarnet = "cifarnet", lenet = "lenet",
  inception = [[inception inception_v1 inception_v2 inception_v3 inception_v4 inception_resnet_v2 mobilenet_v1 mobilenet_v1_075 mobilenet_v1_050
    mobilenet_v1_025 mobilenet_v2 mobilenet_v2_035 mobilenet_v2_140 nasnet_mobile nasnet_large pnasnet_mobile pnasnet_large]],
  vgg = "resnet_v1_50 resnet_v1_101 resnet_v1_152 resnet_v1_200 resnet_v2_50 resnet_v2_101 resnet_v2_152 resnet_v2_200 vgg vgg_a vgg_16 vgg_19"} do
  for name in names:gmatch "%S+" do modules[name] = module .. "_preprocessing" end
end
factory.names = {}
for name in pairs(modules) do factory.names[#factory.names + 1] = name end
table.sort(factory.names)

factory.get_preprocessing = T.bind("preprocessing_factory.get_preprocessing", "name is_training=false", function(name, training)
  if not modules[name] then
    local near = T.nearest(tostring(name), factory.names)
    T.fail("preprocessing_factory.get_preprocessing", "there is no preprocessing '%s'%s", name, near and ("; the nearest is '%s'"):format(near) or "")
  end
  return function(image, height, width, options)
    local o = {is_training = training}
    for k, v in pairs(options or {}) do o[k] = v end
    return tf.slim.preprocessing[modules[name]].preprocess_image(image, height, width, o)
  end
end)
return factory
