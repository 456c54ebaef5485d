-- Preprocessing of the Inception nets (and MobileNet, NASNet): a random rectangle of the image, resized, mirrored by chance, its colours
-- changed; numbers in -1..1. For evaluation the middle 87.5 % of height and width.
local tf, T = ...
local raw = tf.raw
local inception = {}

local function note(name, images)
  if T.kind(images) == "Node" then tf.summary.image(name, images) end
end
-- fn(x, case) with a random case of 0..n-1. In a graph all of them are computed and one is taken.
inception.apply_with_random_selector = T.bind("inception_preprocessing.apply_with_random_selector", "x func num_cases", function(x, fn, n)
  if n == 1 then return fn(x, 0) end
  local case = tf.random_uniform({}, {maxval = n, dtype = "int32", now = T.kind(x) == "Tensor"})
  if T.kind(x) == "Tensor" then return fn(x, case:item()) end
  local all = {}
  for i = 1, n do all[i] = fn(x, i - 1) end
  return tf.gather(tf.stack(all), case)
end)

local function brightness(x) return tf.image.random_brightness(x, 32 / 255) end
local function saturation(x) return tf.image.random_saturation(x, 0.5, 1.5) end
local function hue(x) return tf.image.random_hue(x, 0.2) end
local function contrast(x) return tf.image.random_contrast(x, 0.5, 1.5) end
local fast = {[0] = {brightness, saturation}, {saturation, brightness}}
local orders = {[0] = {brightness, saturation, hue, contrast}, {saturation, brightness, contrast, hue}, {contrast, hue, brightness, saturation},
  {hue, saturation, contrast, brightness}}
-- Colours of an image in 0..1, changed in one of four orders; fast: brightness and saturation alone.
inception.distort_color = T.bind("inception_preprocessing.distort_color", "image color_ordering=0 fast_mode=true scope?", function(image, order, quick)
  local list = (quick and fast or orders)[quick and math.min(order, 1) or order]
  if not list then T.fail("inception_preprocessing.distort_color", "'color_ordering' must be in 0..3, not %s", order) end
  image = T.value(image)
  for _, change in ipairs(list) do image = change(image) end
  return tf.clip_by_value(image, 0, 1)
end)

-- A random rectangle that sees some of the objects in `bbox`; gives the piece, and where it lies.
inception.distorted_bounding_box_crop = T.bind("inception_preprocessing.distorted_bounding_box_crop", "image bbox min_object_covered=0.1 aspect_ratio_range? area_range? max_attempts=100 scope?",
  function(image, bbox, covered, ratios, areas, attempts)
    image = T.value(image)
    local begin, size, box = tf.image.sample_distorted_bounding_box(raw.Shape(image), bbox, {min_object_covered = covered,
      aspect_ratio_range = ratios or {0.75, 1.33}, area_range = areas or {0.05, 1}, max_attempts = attempts, use_image_if_no_bounding_boxes = true})
    return raw.Slice(image, begin, size), box
  end)

local function floating(image) return tf.image.convert_image_dtype(image, "float32") end
inception.preprocess_for_train = T.bind("inception_preprocessing.preprocess_for_train", "image height width bbox? fast_mode=true scope? add_image_summaries=true",
  function(image, height, width, bbox, quick, _, summaries)
    image = floating(T.slim_image(image, "inception_preprocessing", height, width))
    bbox = bbox or tf.tensor {{{0, 0, 1, 1}}}
    if summaries then note("image_with_bounding_boxes", T.kind(image) == "Node" and tf.image.draw_bounding_boxes(tf.expand_dims(image, 0), bbox)) end
    local piece, box = inception.distorted_bounding_box_crop(image, bbox)
    if T.kind(piece) == "Node" then piece:set_shape {-1, -1, 3} end
    if summaries then note("images_with_distorted_bounding_box", T.kind(image) == "Node" and tf.image.draw_bounding_boxes(tf.expand_dims(image, 0), box)) end
    local x = inception.apply_with_random_selector(piece, function(v, method) return tf.image.resize_images(v, {height, width}, method) end, quick and 1 or 4)
    if summaries then note("cropped_resized_image", T.kind(x) == "Node" and tf.expand_dims(x, 0)) end
    x = tf.image.random_flip_left_right(x)
    x = inception.apply_with_random_selector(x, function(v, order) return inception.distort_color(v, order, quick) end, quick and 1 or 4)
    if summaries then note("final_distorted_image", T.kind(x) == "Node" and tf.expand_dims(x, 0)) end
    return (x - 0.5) * 2
  end)
inception.preprocess_for_eval = T.bind("inception_preprocessing.preprocess_for_eval", "image height? width? central_fraction=0.875 scope?",
  function(image, height, width, fraction)
    image = floating(T.slim_image(image, "inception_preprocessing", height or 1, width or 1))
    if fraction then image = tf.image.central_crop(image, fraction) end
    if height and width then
      image = raw.Squeeze(raw.ResizeBilinear(raw.ExpandDims(image, 0), {height, width}), {squeeze_dims = {0}})
    end
    return (image - 0.5) * 2
  end)
inception.preprocess_image = T.bind("inception_preprocessing.preprocess_image", "image height width is_training=false bbox? fast_mode=true add_image_summaries=true",
  function(image, height, width, training, bbox, quick, summaries)
    if training then
      return inception.preprocess_for_train(image, height, width, {bbox = bbox, fast_mode = quick, add_image_summaries = summaries})
    end
    return inception.preprocess_for_eval(image, height, width)
  end)
return inception
