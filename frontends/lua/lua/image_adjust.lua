-- provides tf.image: convert_image_dtype adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation random_brightness random_contrast random_hue random_saturation per_image_standardization rgb_to_grayscale grayscale_to_rgb rgb_to_hsv hsv_to_rgb rgb_to_yuv yuv_to_rgb rgb_to_yiq yiq_to_rgb
-- Colours of images [..., height, width, channels]. Images of whole numbers go from 0 to the largest of their type, floating ones
-- from 0 to 1.
local tf, T = ...
local raw, def = tf.raw, T.def
local image = T.namespace "tf.image"

local largest = {uint8 = 255, int8 = 127, uint16 = 65535, int16 = 32767, int32 = 2147483647, int64 = math.maxinteger}
local function floating(dtype) return dtype:find "float" ~= nil end

def("tf.image.convert_image_dtype", "image dtype saturate=false name?", function(x, dtype, saturate, name)
  x = T.value(x)
  if x.dtype == dtype then return raw.Identity(x, {name = name}) end
  local from, to = largest[x.dtype], largest[dtype]
  if not from and not floating(x.dtype) or not to and not floating(dtype) then
    T.fail("tf.image.convert_image_dtype", "images are whole or floating numbers; this would be from %s to %s", x.dtype, dtype)
  end
  local function cast(v) return saturate and tf.saturate_cast(v, dtype) or tf.cast(v, dtype) end
  if from and to then
    if from > to then return cast(raw.FloorDiv(x, (from + 1) // (to + 1))) end
    return cast(x) * ((to + 1) // (from + 1))
  end
  if to then return cast(x * (to + 0.5)) end
  x = tf.cast(x, dtype)
  return from and x * (1 / from) or x
end)

-- fn of the floating image, back in its own type.
local function adjusted(x, fn)
  x = T.value(x)
  local own = x.dtype
  local y = fn((own == "float32" or own == "float16") and x or image.convert_image_dtype(x, "float32"))
  return image.convert_image_dtype(y, own, {saturate = true})
end
def("tf.image.adjust_brightness", "image delta", function(x, delta)
  return adjusted(x, function(y) return y + (T.kind(delta) and tf.cast(delta, y.dtype) or delta) end)
end)
def("tf.image.adjust_contrast", "images contrast_factor", function(x, factor)
  return adjusted(x, function(y) return raw.AdjustContrastv2(y, factor) end)
end)
def("tf.image.adjust_gamma", "image gamma=1 gain=1", function(x, gamma, gain)
  if type(gamma) == "number" and gamma < 0 then T.fail("tf.image.adjust_gamma", "'gamma' must not be negative, it is %g", gamma) end
  return adjusted(x, function(y) return raw.Pow(y, T.kind(gamma) and tf.cast(gamma, y.dtype) or gamma) * gain end)
end)
def("tf.image.adjust_hue", "image delta name?", function(x, delta, name)
  return adjusted(x, function(y) return raw.AdjustHue(y, delta, {name = name}) end)
end)
def("tf.image.adjust_saturation", "image saturation_factor name?", function(x, factor, name)
  return adjusted(x, function(y) return raw.AdjustSaturation(y, factor, {name = name}) end)
end)

-- One number for all of the images.
local function uniform(x, low, high, seed)
  return tf.random_uniform({}, {minval = low, maxval = high, seed = seed, now = T.kind(x) == "Tensor"})
end
for name, limit in pairs {brightness = math.huge, hue = 0.5} do
  local who = "tf.image.random_" .. name
  def(who, "image max_delta seed?", function(x, most, seed)
    if most < 0 or most > limit then T.fail(who, "'max_delta' must be in 0..%g, not %g", limit, most) end
    return image["adjust_" .. name](x, uniform(x, -most, most, seed))
  end)
end
for _, name in ipairs {"contrast", "saturation"} do
  local who = "tf.image.random_" .. name
  def(who, "image lower upper seed?", function(x, low, high, seed)
    if low < 0 or high <= low then T.fail(who, "'lower' must be 0 or more and less than 'upper', not %g and %g", low, high) end
    return image["adjust_" .. name](x, uniform(x, low, high, seed))
  end)
end

-- Mean 0 and variance 1 for each image; the deviation counts as 1 / sqrt(number of values) at least.
def("tf.image.per_image_standardization", "image", function(x)
  x = T.value(x)
  if x.dtype ~= "float16" then x = tf.cast(x, "float32") end
  local axes = {-3, -2, -1}
  local n = tf.cast(raw.Size(x), x.dtype)
  if x:rank() == 4 then
    n = tf.cast(raw.Prod(raw.StridedSlice(raw.Shape(x), {1}, {4}, {1}), {0}), x.dtype)
  end
  local mean = tf.reduce_mean(x, axes, true)
  local deviation = raw.Sqrt(tf.reduce_mean(raw.Square(x - mean), axes, true))
  return (x - mean) / raw.Maximum(deviation, raw.Rsqrt(n))
end)

-- ------------------------------------------------------------------------------------- colour spaces

def("tf.image.rgb_to_hsv", "images name?", "RGBToHSV")
def("tf.image.hsv_to_rgb", "images name?", "HSVToRGB")
-- Weights of ITU-R BT.601's luma.
def("tf.image.rgb_to_grayscale", "images name?", function(x)
  x = T.value(x)
  local y = image.convert_image_dtype(x, "float32")
  y = raw.Sum(y * tf.tensor {0.2989, 0.5870, 0.1140}, {-1}, {keep_dims = true})
  return image.convert_image_dtype(y, x.dtype)
end)
def("tf.image.grayscale_to_rgb", "images name?", function(x, name)
  x = T.value(x)
  local last = x.shape[x:rank()]
  if last >= 0 and last ~= 1 then T.fail("tf.image.grayscale_to_rgb", "the last axis must have 1 channel, it has %d", last) end
  local multiples = {}
  for i = 1, x:rank() do multiples[i] = i == x:rank() and 3 or 1 end
  return raw.Tile(x, multiples, {name = name})
end)
-- TensorFlow's matrices, one column for each new channel.
for name, matrix in pairs {
  rgb_to_yuv = {{0.299, -0.14714119, 0.61497538}, {0.587, -0.28886916, -0.51496512}, {0.114, 0.43601035, -0.10001026}},
  yuv_to_rgb = {{1, 1, 1}, {0, -0.394642334, 2.03206185}, {1.13988303, -0.58062185, 0}},
  rgb_to_yiq = {{0.299, 0.59590059, 0.2115}, {0.587, -0.27455667, -0.52273617}, {0.114, -0.32134392, 0.31119955}},
  yiq_to_rgb = {{1, 1, 1}, {0.95598634, -0.27201283, -1.10674021}, {0.6208248, -0.64720424, 1.70423049}}} do
  def("tf.image." .. name, "images", function(x)
    x = T.value(x)
    return tf.tensordot(x, tf.tensor(matrix, x.dtype), 1)
  end)
end
