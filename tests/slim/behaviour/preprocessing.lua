-- Preprocessing of the nets. Numbers follow from Slim's formulas; random changes are checked by what they may not change. On tensors it is
-- done at once, in a graph when it is run: the same numbers where nothing is random.
local tf = require "tfsdk"
local slim = tf.slim
local get = slim.preprocessing.preprocessing_factory.get_preprocessing
local function told(fn, ...)
  local ok, why = pcall(fn, ...)
  print(ok and "no error" or (tostring(why):gsub("^[^:]*preprocessing%.lua:%d+: ", ""):gsub("\n.*", "")))
end
local function same(a, b) return tf.reduce_max(tf.abs(tf.cast(a, "float32") - tf.cast(b, "float32"))):item() end
-- In a graph with an image of unknown extents.
local function in_graph(fn, image)
  return tf.Graph():as_default(function()
    local x = tf.placeholder(image.dtype, {-1, -1, 3})
    local y = fn(x)
    local sess <close> = tf.Session()
    local value = sess:run(y, {[x] = image}, {raw = true})
    return value, table.concat(y.shape, "x")
  end)
end
local photo = tf.cast(tf.random.uniform({60, 80, 3}, {maxval = 256, seed = 1, now = true}), "uint8")

-- vgg: red 123.68, green 116.78, blue 103.94 are taken away; a picture of one colour stays one
local grey = tf.cast(tf.fill({300, 400, 3}, tf.tensor(200, "int32")), "uint8")
local y = get("vgg_16", false)(grey, 224, 224)
print(table.concat(y.shape, "x"), y.dtype) -- expect: 224x224x3	float32
print(same(y, tf.tensor {200 - 123.68, 200 - 116.78, 200 - 103.94}) < 1e-5) -- expect: true
-- the shorter side becomes 256, the other one in proportion: 300 x 400 to 256 x 341 (341.33), of which the middle: rows from 16, columns from 58
local ramp = tf.tile(tf.reshape(tf.range(0, 400, 1, {dtype = "float32", now = true}), {1, 400, 1}), {300, 1, 3})
local x = get("resnet_v1_50", false)(ramp, 224, 224) + 123.68
-- column j is pixel (58 + j) * 400 / 341, on TensorFlow 1's grid
print(math.abs(x:table()[1][1][1] - 58 * 400 / 341) < 1e-3, math.abs(x:table()[224][224][1] - 281 * 400 / 341) < 1e-3) -- expect: true	true
print(same(get("vgg_16", false)(photo, 20, 30), (in_graph(function(v) return get("vgg_16", false)(v, 20, 30) end, photo)))) -- expect: 0.0
-- for training: the shorter side is from 256 to 512, so that 224 columns of the ramp span from 224 * 300 / 513 to 224 * 300 / 255 pixels
local least, most, mirrored = math.huge, 0, 0
for _ = 1, 20 do
  local row = get("vgg_16", true)(ramp, 224, 224):table()[1]
  local span = row[224][1] - row[1][1]
  if span < 0 then mirrored = mirrored + 1 end
  least, most = math.min(least, math.abs(span)), math.max(most, math.abs(span))
end
print(least > 223 * 300 / 513, most < 223 * 300 / 255, most - least > 5, mirrored > 0 and mirrored < 20) -- expect: true	true	true	true
local _, shape = in_graph(function(v) return get("vgg_16", true)(v, 224, 224) end, photo)
print(shape) -- expect: 224x224x3
told(slim.preprocessing.vgg_preprocessing.preprocess_for_eval, photo, 300, 300, {resize_side = 256}) -- expect: vgg_preprocessing: the height to cut out is 300, the image has 256

-- lenet: (x - 128) / 128
print(same(get("lenet", true)(photo, 60, 80), (tf.cast(photo, "float32") - 128) / 128)) -- expect: 0.0
-- the middle, with zeros where it is too small: 64 rows of 60 are 2 rows of zeros, 40 columns of 80 begin at 20
local small = get("lenet", false)(photo, 64, 40)
print(small[1]:sum():item() / (40 * 3), small[3][1][1]:item() == (photo[1][21][1]:item() - 128) / 128) -- expect: -1.0	true

-- cifarnet: mean 0 and variance 1 of each image
for _, training in ipairs {false, true} do
  local z = get("cifarnet", training)(photo, 32, 32)
  print(table.concat(z.shape, "x"), math.abs(z:mean():item()) < 1e-5, math.abs((z * z):mean():item() - 1) < 1e-3)
end
-- expect: 32x32x3	true	true
-- expect: 32x32x3	true	true
-- an image of one colour has no deviation: it counts as 1 / sqrt(n), and all is 0
print(get("cifarnet", false)(grey, 32, 32):abs():max():item()) -- expect: 0.0

-- inception: -1..1; for evaluation the middle 7/8 of height and width: 64 x 96 to 56 x 84, from row 4 and column 6
local plain = tf.cast(tf.random.uniform({64, 96, 3}, {maxval = 256, seed = 2, now = true}), "uint8")
local e = get("inception_v3", false)(plain, 56, 84)
print(same(e, (tf.cast(plain[{{5, 60}, {7, 90}}], "float32") / 255 - 0.5) * 2) < 1e-6) -- expect: true
print(same(e, (in_graph(function(v) return get("inception_v3", false)(v, 56, 84) end, plain)))) -- expect: 0.0
for _, fast in ipairs {true, false} do
  local inside, differ, last = true, 0, nil
  for _ = 1, 6 do
    local t = get("mobilenet_v1", true)(photo, 24, 24, {fast_mode = fast})
    inside = inside and table.concat(t.shape, "x") == "24x24x3" and t:min():item() >= -1 and t:max():item() <= 1
    if last and same(t, last) > 0 then differ = differ + 1 end
    last = t
  end
  print(inside, differ) -- expect: true	5
end
-- expect: true	5
local t, s = in_graph(function(v) return get("inception_v1", true)(v, 24, 24, {fast_mode = false}) end, photo)
print(s, t:max():item() <= 1 and t:min():item() >= -1) -- expect: 24x24x3	true
-- the piece: 5 % to 100 % of the area, proportions from 3/4 to 4/3, and it sees a tenth of the box at least
local ok = true
for _ = 1, 50 do
  local piece, box = slim.preprocessing.inception_preprocessing.distorted_bounding_box_crop(photo, tf.tensor {{{0.5, 0.5, 1, 1}}})
  local b = box:reshape {-1}:table()
  local h, w = piece.shape[1], piece.shape[2]
  local area, ratio = h * w / (60 * 80), w / h
  local seen = math.max(0, math.min(b[3], 1) - math.max(b[1], 0.5)) * math.max(0, math.min(b[4], 1) - math.max(b[2], 0.5)) / 0.25
  ok = ok and area >= 0.045 and area <= 1 and ratio > 0.7 and ratio < 1.4 and seen >= 0.099
  ok = ok and math.abs((b[3] - b[1]) * 60 - h) < 1e-3 and math.abs((b[4] - b[2]) * 80 - w) < 1e-3
end
print(ok) -- expect: true
-- the summaries that Slim makes of a graph
tf.Graph():as_default(function()
  get("inception_v3", true)(tf.placeholder("float32", {-1, -1, 3}), 24, 24)
  local names = {}
  for _, n in ipairs(tf.get_collection "summaries") do names[#names + 1] = n.op.name end
  table.sort(names)
  print(table.concat(names, " ")) -- expect: cropped_resized_image final_distorted_image image_with_bounding_boxes images_with_distorted_bounding_box
end)
-- in a dataset, at once
local ds = tf.data.from_tensor_slices {image = tf.stack {photo, photo}, label = tf.tensor({1, 2}, "int64")}
  :map(function(v) return {image = get("vgg_16", true)(v.image, 24, 24, {resize_side_min = 32, resize_side_max = 40}), label = v.label} end):batch(2)
for batch in ds:iter() do print(table.concat(batch.image.shape, "x"), batch.label:table()[2]) end -- expect: 2x24x24x3	2
-- in define-by-run mode
tf.eager(function() print(tf.kind(get("inception_v3", true)(photo, 8, 8))) end) -- expect: Tensor

told(get, "vgg16") -- expect match: there is no preprocessing 'vgg16'; the nearest is 'vgg_1[69]'
told(slim.preprocessing.inception_preprocessing.distort_color, tf.zeros({2, 2, 3}, {now = true}), 4, false) -- expect: inception_preprocessing.distort_color: 'color_ordering' must be in 0..3, not 4
