-- provides tf.image: resize_bilinear
-- Images: [batch, height, width, channels], or one image without the batch.
local tf, T = ...
local raw, def = tf.raw, T.def

-- The grid is that of half pixels unless corners are to be aligned; TensorFlow 1's own, which shifts the image,
-- is there with half_pixel_centers = false.
def("tf.image.resize_bilinear", "images size align_corners=false name? half_pixel_centers?", function(images, size, aligned, name, half)
  images = T.value(images)
  if half == nil then half = not aligned end
  local options = {align_corners = aligned, half_pixel_centers = half, name = name}
  if images:rank() == 3 then
    return raw.Squeeze(raw.ResizeBilinear(raw.ExpandDims(images, 0), size, options), {squeeze_dims = {0}})
  end
  return raw.ResizeBilinear(images, size, options)
end)
