-- Preprocessing of lenet: the middle of the image, from 0..255 to -1..1.
local tf, T = ...
local lenet = {}
lenet.preprocess_image = T.bind("lenet_preprocessing.preprocess_image", "image output_height output_width is_training=false", function(image, height, width)
  image = tf.image.resize_image_with_crop_or_pad(tf.cast(T.slim_image(image, "lenet_preprocessing", height, width), "float32"), height, width)
  return (image - 128) / 128
end)
return lenet
