-- Layers that prepare images {rows, columns, channels}, or batches of them: resized, cropped.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local layer = T.keras_layer

local function spatial(self, x)
  local rank = #x.shape
  if rank ~= 3 and rank ~= 4 then T.fail(self.name, "%s expects images (rows, columns, channels) or a batch of them; the input's shape is %s", getmetatable(self).__name, S.say_shape(x.shape)) end
  local at = (self.data_format == "channels_first" and 1 or 0) + (rank - 3)
  return at, x.shape[at + 1], x.shape[at + 2]
end
local function cut(self, x, top, left, rows, columns)
  local at = spatial(self, x)
  local begin, size = {}, {}
  for a = 1, #x.shape do begin[a], size[a] = 0, -1 end
  begin[at + 1], begin[at + 2], size[at + 1], size[at + 2] = top, left, rows, columns
  return tf.slice(x, begin, size)
end
local function known(self, x)
  local at, rows, columns = spatial(self, x)
  if rows < 0 or columns < 0 then T.fail(self.name, "rows and columns must be known; the input's shape is %s", S.say_shape(x.shape)) end
  return at, rows, columns
end
-- What has the target's aspect ratio, from the middle.
local function crop_to_aspect(self, x, height, width)
  local _, rows, columns = known(self, x)
  local h = math.max(math.min(rows, columns * height // width), 1)
  local w = math.max(math.min(columns, rows * width // height), 1)
  return cut(self, x, (rows - h) // 2, (columns - w) // 2, h, w)
end
local function pad_to_aspect(self, x, height, width, value)
  local at, rows, columns = known(self, x)
  local top, left = (math.max(rows, columns * height // width) - rows) // 2, (math.max(columns, rows * width // height) - columns) // 2
  local pads = {}
  for a = 1, #x.shape do pads[a] = {0, 0} end
  pads[at + 1], pads[at + 2] = {top, top}, {left, left}
  return tf.pad(x, pads, {constant_values = value})
end
-- Whole numbers stay what they are: rounded, within the range of their type.
local limits = {uint8 = {0, 255}, int8 = {-128, 127}, uint16 = {0, 65535}, int16 = {-32768, 32767}}
local function back_to(x, dtype)
  if x.dtype == dtype then return x end
  if dtype:find "int" then
    x = raw.Round(x)
    local range = limits[dtype]
    if range then x = raw.ClipByValue(x, range[1], range[2]) end
  end
  return tf.cast(x, dtype)
end
local function resized(self, x, height, width, interpolation, antialias)
  local dtype, single = x.dtype, #x.shape == 3
  if single then x = tf.expand_dims(x, 0) end
  if interpolation ~= "nearest" and not S.is_float[dtype] then x = tf.cast(x, "float32") end
  local y = self:run_record({x}, {height = height, width = width, interpolation = interpolation, antialias = antialias, data_format = self.data_format}, "resizing")
  if single then y = raw.Squeeze(y, {squeeze_dims = {0}}) end
  return back_to(y, dtype)
end
local function size_of(self, path)
  T.keras_positive(self, path, "height", "width")
  T.keras_format(self, path)
end

layer("Resizing", "height width interpolation=bilinear crop_to_aspect_ratio=false pad_to_aspect_ratio=false fill_mode=constant fill_value=0 antialias=false data_format?", {
  autocast = false, record = "resizing",
  init = function(self, path)
    size_of(self, path)
    T.keras_choice(self, path, "interpolation", {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"})
    T.keras_choice(self, path, "fill_mode", {"constant"})
    if self.crop_to_aspect_ratio and self.pad_to_aspect_ratio then T.fail(path, "give 'crop_to_aspect_ratio' or 'pad_to_aspect_ratio', not both") end
  end,
  call = function(self, x)
    spatial(self, x)
    if self.crop_to_aspect_ratio then x = crop_to_aspect(self, x, self.height, self.width) end
    if self.pad_to_aspect_ratio then x = pad_to_aspect(self, x, self.height, self.width, self.fill_value) end
    return resized(self, x, self.height, self.width, self.interpolation, self.antialias)
  end})
-- The middle; a smaller image is cropped to the aspect ratio and made larger.
layer("CenterCrop", "height width data_format?", {
  record = "resizing", init = size_of,
  call = function(self, x)
    local _, rows, columns = known(self, x)
    local h, w = rows - self.height, columns - self.width
    if h >= 0 and w >= 0 then return cut(self, x, h // 2, w // 2, self.height, self.width) end
    return resized(self, crop_to_aspect(self, x, self.height, self.width), self.height, self.width, "bilinear", false)
  end})
-- In training some part of the images, else the images as they are (Keras 3).
layer("RandomCrop", "height width seed? data_format?", {
  record = "resizing", init = size_of,
  call = function(self, x, o)
    if not o.training then return x end
    local at, rows, columns = known(self, x)
    if rows <= self.height or columns <= self.width then
      return resized(self, crop_to_aspect(self, x, self.height, self.width), self.height, self.width, "bilinear", false)
    end
    local begin, size = {}, {}
    for a = 1, #x.shape do begin[a], size[a] = tf.constant(0, "int32"), tf.constant(x.shape[a] >= 0 and x.shape[a] or -1, "int32") end
    local function draw(n) return tf.random.uniform({}, {minval = 0, maxval = n + 1, dtype = "int32", seed = self.seed or nil}) end
    begin[at + 1], begin[at + 2] = draw(rows - self.height), draw(columns - self.width)
    size[at + 1], size[at + 2] = tf.constant(self.height, "int32"), tf.constant(self.width, "int32")
    local y = tf.slice(x, tf.stack(begin), tf.stack(size))
    if T.kind(y) == "Node" then
      local shape = {table.unpack(x.shape)}
      shape[at + 1], shape[at + 2] = self.height, self.width
      y:set_shape(shape)
    end
    return y
  end})
return true
