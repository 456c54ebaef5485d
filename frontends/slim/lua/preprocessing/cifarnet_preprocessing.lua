-- Preprocessing of cifarnet: zeros around, a random piece, mirrored by chance, other brightness and contrast; then mean 0 and variance 1
-- for each image.
local tf, T = ...
local cifarnet = {PADDING = 4}

local function note(name, image)
  if T.kind(image) == "Node" then tf.summary.image(name, tf.expand_dims(image, 0)) end
end
cifarnet.preprocess_for_train = T.bind("cifarnet_preprocessing.preprocess_for_train", "image output_height output_width padding=4 add_image_summaries=true",
  function(image, height, width, padding, summaries)
    image = T.slim_image(image, "cifarnet_preprocessing", height, width)
    if summaries then note("image", image) end
    image = tf.cast(image, "float32")
    if padding > 0 then image = tf.pad(image, {{padding, padding}, {padding, padding}, {0, 0}}) end
    image = tf.random_crop(image, {height, width, 3})
    image = tf.image.random_flip_left_right(image)
    if summaries then note("distorted_image", image) end
    image = tf.image.random_brightness(image, 63)
    image = tf.image.random_contrast(image, 0.2, 1.8)
    return tf.image.per_image_standardization(image)
  end)
cifarnet.preprocess_for_eval = T.bind("cifarnet_preprocessing.preprocess_for_eval", "image output_height output_width add_image_summaries=true",
  function(image, height, width, summaries)
    image = T.slim_image(image, "cifarnet_preprocessing", height, width)
    if summaries then note("image", image) end
    image = tf.image.resize_image_with_crop_or_pad(tf.cast(image, "float32"), height, width)
    if summaries then note("resized_image", image) end
    return tf.image.per_image_standardization(image)
  end)
cifarnet.preprocess_image = T.bind("cifarnet_preprocessing.preprocess_image", "image output_height output_width is_training=false add_image_summaries=true",
  function(image, height, width, training, summaries)
    if training then return cifarnet.preprocess_for_train(image, height, width, {add_image_summaries = summaries}) end
    return cifarnet.preprocess_for_eval(image, height, width, summaries)
  end)
return cifarnet
