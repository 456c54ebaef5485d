-- Preprocessing of VGG's and the residual nets: the shorter side is resized, a piece cut out, the mean colour of ImageNet taken away.
local tf, T = ...
local raw = tf.raw
local vgg = {R_MEAN = 123.68, G_MEAN = 116.78, B_MEAN = 103.94, RESIZE_SIDE_MIN = 256, RESIZE_SIDE_MAX = 512}

local function extents(image)
  local s = raw.Shape(image)
  return {raw.StridedSlice(s, {0}, {1}, {1}, {shrink_axis_mask = 1}), raw.StridedSlice(s, {1}, {2}, {1}, {shrink_axis_mask = 1})}
end
-- The smaller side becomes `side`, the other one in proportion.
local function resize_side(image, side)
  local from = tf.cast(tf.stack(extents(image)), "float32")
  local scale = (T.kind(side) and tf.cast(side, "float32") or tf.tensor(side)) / raw.Min(from, {0})
  local size = tf.cast(raw.Rint(from * scale), "int32")
  return raw.Squeeze(raw.ResizeBilinear(raw.ExpandDims(image, 0), size), {squeeze_dims = {0}})
end
local function crop(image, offset, height, width)
  return raw.Slice(image, tf.stack {offset[1], offset[2], tf.tensor(0, "int32")}, {height, width, -1})
end
-- With checks that say what is too small.
local function crop_at(image, height, width, place)
  local rows, columns = table.unpack(extents(image))
  local guard = {}
  for i, e in ipairs {{rows, height}, {columns, width}} do
    local known = T.known(e[1])
    if known and known:item() < e[2] then
      T.fail("vgg_preprocessing", "the %s to cut out is %d, the image has %d", i == 1 and "height" or "width", e[2], known:item())
    elseif not known then
      guard[#guard + 1] = tf.assert_greater_equal(e[1], e[2], {message = "the crop is larger than the image"})
    end
  end
  local c <close> = #guard > 0 and tf.control_dependencies(guard) or nil
  local piece = crop(image, {place(rows, height), place(columns, width)}, height, width)
  if T.kind(piece) == "Node" then piece:set_shape {height, width, image.shape[3]} end
  return piece
end
local function without_mean(image)
  if image.shape[3] >= 0 and image.shape[3] ~= 3 then
    T.fail("vgg_preprocessing", "the image must have 3 channels, it has %d", image.shape[3])
  end
  return image - tf.tensor {vgg.R_MEAN, vgg.G_MEAN, vgg.B_MEAN}
end

vgg.preprocess_for_train = T.bind("vgg_preprocessing.preprocess_for_train", "image output_height output_width resize_side_min=256 resize_side_max=512",
  function(image, height, width, least, most)
    local side = tf.random_uniform({}, {minval = least, maxval = most + 1, dtype = "int32", now = T.kind(image) == "Tensor"})
    image = resize_side(T.slim_image(image, "vgg_preprocessing", height, width), side)
    image = crop_at(image, height, width, function(n, want) return raw.RandomUniformInt(tf.tensor({}, "int32"), tf.tensor(0, "int32"), n - want + 1) end)
    return without_mean(tf.image.random_flip_left_right(tf.cast(image, "float32")))
  end)
vgg.preprocess_for_eval = T.bind("vgg_preprocessing.preprocess_for_eval", "image output_height output_width resize_side=256",
  function(image, height, width, side)
    image = resize_side(T.slim_image(image, "vgg_preprocessing", height, width), side)
    image = crop_at(image, height, width, function(n, want) return raw.FloorDiv(n - want, 2) end)
    return without_mean(tf.cast(image, "float32"))
  end)
vgg.preprocess_image = T.bind("vgg_preprocessing.preprocess_image", "image output_height output_width is_training=false resize_side_min=256 resize_side_max=512",
  function(image, height, width, training, least, most)
    if training then return vgg.preprocess_for_train(image, height, width, least, most) end
    return vgg.preprocess_for_eval(image, height, width, least)
  end)
return vgg
