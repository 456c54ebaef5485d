-- slim.preprocessing: images as the nets want them; slim.preprocessing.preprocessing_factory.get_preprocessing(name, is_training). On concrete
-- tensors it runs at once (in a dataset's map), on values of a graph it makes nodes.
local tf, T = ...
local preprocessing = T.namespace "tf.slim.preprocessing"
local modules = {vgg_preprocessing = true, inception_preprocessing = true, cifarnet_preprocessing = true, lenet_preprocessing = true,
  preprocessing_factory = true}
-- The image that a preprocessing works on: {height, width, channels}; and what shall become of it.
function T.slim_image(image, who, height, width)
  if not T.kind(image) then T.fail(who, "the image must be a tensor {height, width, channels}, not %s", T.shown(image)) end
  image = T.value(image)
  local shape = image.shape
  if image.dtype == "string" or image.dtype == "bool" then T.fail(who, "the image must be numbers, not %s (tf.image.decode_jpeg makes numbers of a file's bytes)", image.dtype) end
  if not shape or #shape ~= 3 then T.fail(who, "the image must have rank 3 {height, width, channels}; its shape is %s", shape and "{" .. table.concat(shape, ", ") .. "}" or "not known") end
  for i = 1, 3 do if shape[i] == 0 then T.fail(who, "the image is empty: its shape is {%s}", table.concat(shape, ", ")) end end
  for name, n in pairs {output_height = height, output_width = width} do
    if math.type(n) ~= "integer" or n < 1 then T.fail(who, "'%s' must be a whole number above 0, not %s", name, T.shown(n)) end
  end
  return image
end
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
