-- slim.nets: image models, one module for each family: slim.nets.vgg.vgg_16(images, {num_classes = 1000}).
local tf, T = ...
local nets = T.namespace "tf.slim.nets"
local modules = {lenet = true, cifarnet = true, alexnet = true, overfeat = true, vgg = true, inception_utils = true, inception_v1 = true,
  inception_v2 = true, inception_v3 = true, inception_v4 = true, inception_resnet_v2 = true, inception = true, resnet_utils = true,
  resnet_v1 = true, resnet_v2 = true, mobilenet_v1 = true, mobilenet_v2 = true, nasnet_utils = true, nasnet = true, pnasnet = true, nets_factory = true}
local meta = getmetatable(nets)
local missing = meta.__index
meta.__index = function(t, key)
  if not modules[key] then return missing(t, key) end
  local module = T.include("slim", "nets/" .. key)
  rawset(t, key, module)
  return module
end
return nets
