-- provides tf.image: flip_left_right flip_up_down random_flip_left_right random_flip_up_down transpose transpose_image rot90 central_crop crop_to_bounding_box pad_to_bounding_box resize_image_with_crop_or_pad resize_with_crop_or_pad resize_images resize resize_nearest_neighbor resize_bicubic resize_area resize_image_with_pad resize_with_pad ResizeMethod sample_distorted_bounding_box draw_bounding_boxes
-- Images moved, cut and resized: [batch, height, width, channels], or one image without the batch. Sizes and places may be values
-- of the graph.
local tf, T = ...
local raw, def = tf.raw, T.def
local image = T.namespace "tf.image"

local function picture(x, who)
  x = T.value(x)
  local rank = x:rank()
  if rank ~= 3 and rank ~= 4 then
    T.fail(who, "expected an image [height, width, channels] or a batch of them, not %s", rank and "rank " .. rank or "an unknown rank")
  end
  return x, rank - 3 -- the axis of the height
end
-- Extents of axis `axis` and the one behind it: numbers where they are known, else values of the graph.
local function extents(x, axis)
  local out, shape = {}, nil
  for i = 1, 2 do
    local d = x.shape[axis + i]
    if d < 0 then
      shape = shape or raw.Shape(x)
      d = raw.StridedSlice(shape, {axis + i - 1}, {axis + i}, {1}, {shrink_axis_mask = 1})
    end
    out[i] = d
  end
  return out[1], out[2]
end
local function known(...)
  for _, v in ipairs {...} do if T.kind(v) then return false end end
  return true
end
-- A vector of numbers and scalars of the graph.
local function vector(list)
  if known(table.unpack(list)) then return tf.tensor(list, "int32") end
  local parts = {}
  for i, v in ipairs(list) do parts[i] = T.kind(v) and tf.cast(v, "int32") or tf.tensor(v, "int32") end
  return tf.stack(parts)
end
local function whole(v) return T.kind(v) and v or math.floor(v) end
local function larger(a, b) return known(a, b) and math.max(a, b) or tf.maximum(a, b) end
local function smaller(a, b) return known(a, b) and math.min(a, b) or tf.minimum(a, b) end

-- ------------------------------------------------------------------------------------- turned

local function reversed(x, axes) return raw.ReverseV2(x, tf.tensor(axes, "int32")) end
def("tf.image.flip_left_right", "image|images", function(x)
  local at
  x, at = picture(x, "tf.image.flip_left_right")
  return reversed(x, {at + 1})
end)
def("tf.image.flip_up_down", "image|images", function(x)
  local at
  x, at = picture(x, "tf.image.flip_up_down")
  return reversed(x, {at})
end)
-- Each image of a batch by its own coin.
for name, axis in pairs {left_right = 1, up_down = 0} do
  local who = "tf.image.random_flip_" .. name
  def(who, "image|images seed?", function(x, seed)
    local at
    x, at = picture(x, who)
    local now = T.kind(x) == "Tensor"
    local coins = at == 0 and tf.random_uniform({}, {seed = seed, now = now})
      or raw.Reshape(tf.random_uniform({(extents(x, 0))}, {seed = seed, now = now}), {-1, 1, 1, 1})
    return raw.SelectV2(raw.Less(coins, 0.5), reversed(x, {at + axis}), x)
  end)
end
local function transposed(x, at) return tf.transpose(x, at == 0 and {1, 0, 2} or {0, 2, 1, 3}) end
for _, name in ipairs {"transpose", "transpose_image"} do
  def("tf.image." .. name, "image|images", function(x) return transposed(picture(x, "tf.image." .. name)) end)
end
-- Counter-clockwise by k quarters of a circle.
def("tf.image.rot90", "image|images k=1 name?", function(x, k)
  local at
  x, at = picture(x, "tf.image.rot90")
  if math.type(k) ~= "integer" then T.fail("tf.image.rot90", "'k' must be a whole number, not %s", tostring(k)) end
  k = k % 4
  if k == 1 then return transposed(reversed(x, {at + 1}), at) end
  if k == 2 then return reversed(x, {at, at + 1}) end
  if k == 3 then return reversed(transposed(x, at), {at + 1}) end
  return raw.Identity(x)
end)

-- ------------------------------------------------------------------------------------- cut

-- What is known of a result: new height and width, batch and channels as they were.
local function told(y, x, at, height, width)
  if T.kind(y) ~= "Node" then return y end
  local shape = {known(height) and height or -1, known(width) and width or -1, x.shape[at + 3]}
  if at == 1 then table.insert(shape, 1, x.shape[1]) end
  y:set_shape(shape)
  return y
end
local function cut(x, at, top, left, height, width)
  local from, size = {top, left, 0}, {height, width, -1}
  if at == 1 then
    table.insert(from, 1, 0)
    table.insert(size, 1, -1)
  end
  return told(raw.Slice(x, vector(from), vector(size)), x, at, height, width)
end
def("tf.image.crop_to_bounding_box", "image offset_height offset_width target_height target_width", function(x, top, left, height, width)
  local who, at = "tf.image.crop_to_bounding_box", nil
  x, at = picture(x, who)
  local h, w = extents(x, at)
  for name, v in pairs {offset_height = top, offset_width = left} do
    if known(v) and v < 0 then T.fail(who, "'%s' must not be negative, it is %d", name, v) end
  end
  for name, v in pairs {target_height = {top, height, h}, target_width = {left, width, w}} do
    if known(v[2]) and v[2] <= 0 then T.fail(who, "'%s' must be above 0, not %d", name, v[2]) end
    if known(table.unpack(v)) and v[1] + v[2] > v[3] then T.fail(who, "'%s' %d from %d on is more than the image's %d", name, v[2], v[1], v[3]) end
  end
  return cut(x, at, top, left, height, width)
end)
def("tf.image.pad_to_bounding_box", "image offset_height offset_width target_height target_width", function(x, top, left, height, width)
  local who, at = "tf.image.pad_to_bounding_box", nil
  x, at = picture(x, who)
  local h, w = extents(x, at)
  for name, v in pairs {target_height = {top, height, h}, target_width = {left, width, w}} do
    if known(v[1]) and v[1] < 0 then T.fail(who, "the offsets must not be negative, one is %d", v[1]) end
    if known(table.unpack(v)) and v[1] + v[3] > v[2] then T.fail(who, "the image's %d from %d on do not fit in '%s' %d", v[3], v[1], name, v[2]) end
  end
  local list = {top, height - top - h, left, width - left - w, 0, 0}
  if at == 1 then list = {0, 0, table.unpack(list)} end
  return told(raw.Pad(x, raw.Reshape(vector(list), {#list // 2, 2})), x, at, height, width)
end)
-- The middle: central_fraction of height and width.
def("tf.image.central_crop", "image central_fraction", function(x, fraction)
  local who, at = "tf.image.central_crop", nil
  if type(fraction) ~= "number" or fraction <= 0 or fraction > 1 then
    T.fail(who, "'central_fraction' must be above 0 and at most 1, not %s", tostring(fraction))
  end
  x, at = picture(x, who)
  if fraction == 1 then return x end
  local h, w = extents(x, at)
  local function start(n)
    if known(n) then return math.floor((n - n * fraction) / 2) end
    local d = tf.cast(n, "float64")
    return tf.cast((d - d * fraction) / 2, "int32")
  end
  local top, left = start(h), start(w)
  return cut(x, at, top, left, h - top * 2, w - left * 2)
end)
-- The middle of the image, cut where it is too large and with zeros around where it is too small.
for _, name in ipairs {"resize_image_with_crop_or_pad", "resize_with_crop_or_pad"} do
  def("tf.image." .. name, "image target_height target_width", function(x, height, width)
    local at
    x, at = picture(x, "tf.image." .. name)
    local h, w = extents(x, at)
    local function half(d) return known(d) and math.max(d // 2, 0) or tf.maximum(tf.floor_div(d, 2), 0) end
    x = cut(x, at, half(h - height), half(w - width), smaller(height, h), smaller(width, w))
    return image.pad_to_bounding_box(x, half(height - h), half(width - w), height, width)
  end)
end

-- ------------------------------------------------------------------------------------- resized

image.ResizeMethod = {BILINEAR = 0, NEAREST_NEIGHBOR = 1, BICUBIC = 2, AREA = 3}
local methods = {[0] = "bilinear", "nearest", "bicubic", "area"}
local ops = {bilinear = "ResizeBilinear", nearest = "ResizeNearestNeighbor", bicubic = "ResizeBicubic", area = "ResizeArea"}

local function size_of(size, who)
  if T.kind(size) then return size end
  if type(size) ~= "table" or #size ~= 2 then T.fail(who, "'size' must be {height, width}") end
  if known(size[1], size[2]) and (size[1] <= 0 or size[2] <= 0) then T.fail(who, "'size' must be positive, it is {%g, %g}", size[1], size[2]) end
  return vector {whole(size[1]), whole(size[2])}
end
local function resized(x, at, size, op, options)
  if at == 0 then return raw.Squeeze(raw[op](raw.ExpandDims(x, 0), size, options), {squeeze_dims = {0}}) end
  return raw[op](x, size, options)
end
-- Height and width within `size`, in the image's own proportion.
local function in_proportion(x, at, size)
  local h, w = extents(x, at)
  if known(h, w) and T.known(size) then
    local to = T.known(size):table()
    local scale = math.min(to[1] / h, to[2] / w)
    local function round(v) -- between two the even one
      local n = math.floor(v + 0.5)
      return n - v == 0.5 and n - n % 2 or n
    end
    return vector {round(h * scale), round(w * scale)}
  end
  local from = tf.cast(vector {h, w}, "float32")
  local scale = tf.reduce_min(tf.cast(size, "float32") / from)
  return tf.cast(tf.round(from * scale), "int32")
end
local function same_size(x, at, size)
  local to = T.known(size)
  if not to then return false end
  to = to:table()
  return x.shape[at + 1] == to[1] and x.shape[at + 2] == to[2]
end
local function method_of(method, who)
  local name = methods[method] or method
  if not ops[name] then
    local all = {"bilinear", "nearest", "bicubic", "area"}
    local near = T.nearest(tostring(name), all)
    T.fail(who, "there is no method '%s'; there are %s%s", tostring(method), table.concat(all, ", "), near and ("; did you mean '%s'?"):format(near) or "")
  end
  return name
end
-- TensorFlow 1's: its own grid, which shifts the image by up to half a pixel. method: a number of ResizeMethod, or a name.
def("tf.image.resize_images", "images size method=0 align_corners=false preserve_aspect_ratio=false", function(x, size, method, aligned, proportion)
  local who, at = "tf.image.resize_images", nil
  x, at = picture(x, who)
  size = size_of(size, who)
  if proportion then size = in_proportion(x, at, size) end
  if same_size(x, at, size) then return x end
  return resized(x, at, size, ops[method_of(method, who)], {align_corners = aligned})
end)
-- TensorFlow 2's: pixels are squares. antialias smooths when an image becomes smaller.
def("tf.image.resize", "images size method=bilinear preserve_aspect_ratio=false antialias=false name?", function(x, size, method, proportion, antialias, name)
  local who, at = "tf.image.resize", nil
  x, at = picture(x, who)
  size = size_of(size, who)
  if proportion then size = in_proportion(x, at, size) end
  local smooth = {lanczos3 = 1, lanczos5 = 1, gaussian = 1, mitchellcubic = 1}
  if smooth[method] or antialias and (method == "bilinear" or method == "bicubic") then return raw.ScaleAndTranslate(x, size) end
  method = method_of(method, who)
  if same_size(x, at, size) then
    return method == "nearest" and x or tf.cast(x, "float32")
  end
  local options = {name = name}
  if method ~= "area" then options.half_pixel_centers = true end
  return resized(x, at, size, ops[method], options)
end)
-- As tf.image.resize_bilinear: pixels are squares unless corners are aligned.
for name, op in pairs {resize_nearest_neighbor = "ResizeNearestNeighbor", resize_bicubic = "ResizeBicubic"} do
  def("tf.image." .. name, "images size align_corners=false name? half_pixel_centers?", function(x, size, aligned, label, half)
    local who, at = "tf.image." .. name, nil
    x, at = picture(x, who)
    if half == nil then half = not aligned end
    return resized(x, at, size_of(size, who), op, {align_corners = aligned, half_pixel_centers = half, name = label})
  end)
end
def("tf.image.resize_area", "images size align_corners=false name?", function(x, size, aligned, label)
  local who, at = "tf.image.resize_area", nil
  x, at = picture(x, who)
  return resized(x, at, size_of(size, who), "ResizeArea", {align_corners = aligned, name = label})
end)
-- In its own proportion as large as fits, with zeros around.
local function with_pad(who, x, height, width, resize)
  local at
  x, at = picture(x, who)
  local h, w = extents(x, at)
  if known(h, w, height, width) then
    local ratio = math.max(w / width, h / height)
    local rows, columns = h / ratio, w / ratio
    x = resize(x, {math.floor(rows), math.floor(columns)})
    return image.pad_to_bounding_box(x, math.max(0, math.floor((height - rows) / 2)), math.max(0, math.floor((width - columns) / 2)), height, width)
  end
  local from, to = tf.cast(vector {h, w}, "float64"), tf.cast(vector {height, width}, "float64")
  local size = from / tf.reduce_max(from / to)
  local offset = tf.unstack(tf.cast(raw.Maximum(raw.Floor((to - size) / 2), 0), "int32"), {num = 2})
  x = resize(x, tf.cast(raw.Floor(size), "int32"))
  return image.pad_to_bounding_box(x, offset[1], offset[2], height, width)
end
def("tf.image.resize_image_with_pad", "image target_height target_width method=0", function(x, height, width, method)
  return with_pad("tf.image.resize_image_with_pad", x, height, width, function(y, size) return image.resize_images(y, size, method) end)
end)
def("tf.image.resize_with_pad", "image target_height target_width method=bilinear antialias=false", function(x, height, width, method, antialias)
  return with_pad("tf.image.resize_with_pad", x, height, width, function(y, size) return image.resize(y, size, method, {antialias = antialias}) end)
end)

-- ------------------------------------------------------------------------------------- boxes

-- Gives begin and size for tf.slice, and the box [1, 1, 4] for draw_bounding_boxes.
def("tf.image.sample_distorted_bounding_box", "image_size bounding_boxes seed? seed2? min_object_covered=0.1 aspect_ratio_range? area_range? max_attempts=100 use_image_if_no_bounding_boxes=false name?",
  function(size, boxes, seed, seed2, covered, ratios, areas, attempts, all, name)
    local options = {aspect_ratio_range = ratios, area_range = areas, max_attempts = attempts, use_image_if_no_bounding_boxes = all or false, name = name}
    if seed2 then
      options.seed, options.seed2 = seed, seed2
    else
      if not T.seeds then local _ = tf.random_uniform end -- loads it
      T.seeds(seed, options)
    end
    return raw.SampleDistortedBoundingBoxV2(size, boxes, covered, options)
  end)
def("tf.image.draw_bounding_boxes", "images boxes name? colors?", function(images, boxes, name, colors)
  if colors then return raw.DrawBoundingBoxesV2(images, boxes, colors, {name = name}) end
  return raw.DrawBoundingBoxes(images, boxes, {name = name})
end)
