-- slim.preprocessing: images as the nets want them; slim.preprocessing.preprocessing_factory.get_preprocessing(name, is_training). On concrete
-- tensors it runs at once (in a dataset's map), on values of a graph it makes nodes.
local tf, T = ...
local preprocessing = T.namespace "tf.slim.preprocessing"
local modules = {vgg_preprocessing = true, inception_preprocessing = true, cifarnet_preprocessing = true, lenet_preprocessing = true,
  preprocessing_factory = true}
local meta = getmetatable(preprocessing)
local missing = meta.__index
meta.__index = function(t, key)
  if not modules[key] then return missing(t, key) end
  local module = T.include("slim", "preprocessing/" .. key)
  rawset(t, key, module)
  return module
end
function preprocessing.get_preprocessing(...) return preprocessing.preprocessing_factory.get_preprocessing(...) end
return preprocessing
