-- tf.keras.preprocessing.image: ImageDataGenerator, pictures changed at random while a model is trained on them.
--
--     local more = keras.preprocessing.image.ImageDataGenerator{rotation_range = 15, horizontal_flip = true}
--     model:fit(more:flow(x, y, {batch_size = 32}), {epochs = 10})
--
-- Pictures are [height, width, channels]. Files are read as .npy, .pgm and .ppm, or by a function of the script (`loader`).
local tf, T = ...
local raw, def = tf.raw, T.def
local _ = T.include("keras", "registry")
local Sequence = T.include("keras", "utils").Sequence
local files = T.include("keras", "preprocessing/image_files")
local image = T.keras_namespace "preprocessing.image"

-- ------------------------------------------------------------------------------------- moving pixels

-- Index i of n along an axis as the mode fills what lies outside.
local function inside(i, n, mode)
  if mode == "wrap" then return raw.FloorMod(i, n) end
  if mode == "reflect" then -- d c b a | a b c d | d c b a
    local k = raw.FloorMod(i, 2 * n)
    return raw.Minimum(k, -k + (2 * n - 1))
  end
  return raw.ClipByValue(i, 0, n - 1)
end
-- out[o] = x[m o + offset], linear between pixels. m is {{a, b}, {c, d}}.
local function affine(x, m, offset, mode, cval)
  local h, w, c = x.shape[1], x.shape[2], x.shape[3]
  local rows = raw.Reshape(tf.range(0, h, 1, {dtype = "float32", now = true}), {h, 1})
  local columns = raw.Reshape(tf.range(0, w, 1, {dtype = "float32", now = true}), {1, w})
  local y = rows * m[1][1] + columns * m[1][2] + offset[1]
  local z = rows * m[2][1] + columns * m[2][2] + offset[2]
  local y0, z0 = raw.Floor(y), raw.Floor(z)
  local fy, fz = raw.ExpandDims(y - y0, -1), raw.ExpandDims(z - z0, -1)
  local flat = raw.Reshape(x, {h * w, c})
  local function corner(dy, dz)
    local a, b = raw.Cast(y0 + dy, {DstT = "int32"}), raw.Cast(z0 + dz, {DstT = "int32"})
    local value = raw.Reshape(tf.gather(flat, raw.Reshape(inside(a, h, mode) * w + inside(b, w, mode), {-1})), {h, w, c})
    if mode ~= "constant" then return value end
    local there = raw.LogicalAnd(raw.LogicalAnd(raw.GreaterEqual(a, 0), raw.Less(a, h)), raw.LogicalAnd(raw.GreaterEqual(b, 0), raw.Less(b, w)))
    return raw.SelectV2(raw.ExpandDims(there, -1), value, raw.ZerosLike(value) + cval)
  end
  return corner(0, 0) * (-fy + 1) * (-fz + 1) + corner(0, 1) * (-fy + 1) * fz + corner(1, 0) * fy * (-fz + 1) + corner(1, 1) * fy * fz
end
local function product(a, b)
  local out = {}
  for i = 1, 3 do
    out[i] = {}
    for j = 1, 3 do out[i][j] = a[i][1] * b[1][j] + a[i][2] * b[2][j] + a[i][3] * b[3][j] end
  end
  return out
end
-- Turns (degrees), shifts (pixels), shears (degrees) and zooms around the middle of the picture.
def("tf.keras.preprocessing.image.apply_affine_transform", "x theta=0 tx=0 ty=0 shear=0 zx=1 zy=1 fill_mode=nearest cval=0",
  function(x, theta, tx, ty, shear, zx, zy, mode, cval)
    if not ({nearest = 1, constant = 1, reflect = 1, wrap = 1})[mode] then
      T.fail("apply_affine_transform", "'fill_mode' must be nearest, constant, reflect or wrap, not '%s'", tostring(mode))
    end
    local m = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
    if theta ~= 0 then
      local a = math.rad(theta)
      m = product(m, {{math.cos(a), -math.sin(a), 0}, {math.sin(a), math.cos(a), 0}, {0, 0, 1}})
    end
    m = product(m, {{1, 0, tx}, {0, 1, ty}, {0, 0, 1}})
    if shear ~= 0 then
      local a = math.rad(shear)
      m = product(m, {{1, -math.sin(a), 0}, {0, math.cos(a), 0}, {0, 0, 1}})
    end
    m = product(m, {{zx, 0, 0}, {0, zy, 0}, {0, 0, 1}})
    local oy, ox = (x.shape[1] - 1) / 2, (x.shape[2] - 1) / 2
    m = product(product({{1, 0, oy}, {0, 1, ox}, {0, 0, 1}}, m), {{1, 0, -oy}, {0, 1, -ox}, {0, 0, 1}})
    return affine(x, m, {m[1][3], m[2][3]}, mode, cval)
  end)

-- ------------------------------------------------------------------------------------- the generator

local Generator = {}
Generator.__index = Generator
local function pair(range)
  if range == nil or range == false then return nil end
  if type(range) == "table" then return range end
  return range
end
def("tf.keras.preprocessing.image.ImageDataGenerator", "featurewise_center=false samplewise_center=false featurewise_std_normalization=false samplewise_std_normalization=false zca_whitening=false zca_epsilon=0.000001 rotation_range=0 width_shift_range=0 height_shift_range=0 brightness_range? shear_range=0 zoom_range=0 channel_shift_range=0 fill_mode=nearest cval=0 horizontal_flip=false vertical_flip=false rescale? preprocessing_function? data_format? validation_split=0 dtype? seed?",
  function(fcenter, scenter, fstd, sstd, zca, zca_epsilon, rotation, wshift, hshift, brightness, shear, zoom, channel, mode, cval, hflip, vflip, rescale,
      preprocess, data_format, split, dtype, seed)
    local who = "tf.keras.preprocessing.image.ImageDataGenerator"
    if zca then fcenter, fstd = true, false end -- as Keras does it: about the mean, the deviations being part of the whitening
    if data_format and data_format ~= "channels_last" then T.fail_code(12, who, "'data_format' must be channels_last") end
    if split < 0 or split >= 1 then T.fail(who, "'validation_split' must lie between 0 and 1, not %g", split) end
    local range = type(zoom) == "number" and {1 - zoom, 1 + zoom} or pair(zoom)
    if #range ~= 2 then T.fail(who, "'zoom_range' is a number or {least, largest}") end
    return setmetatable({featurewise_center = fcenter, samplewise_center = scenter, featurewise_std_normalization = fstd, samplewise_std_normalization = sstd,
      zca_whitening = zca, zca_epsilon = zca_epsilon, rotation_range = rotation, width_shift_range = wshift, height_shift_range = hshift, brightness_range = pair(brightness),
      shear_range = shear, zoom_range = range, channel_shift_range = channel, fill_mode = mode, cval = cval, horizontal_flip = hflip, vertical_flip = vflip,
      rescale = rescale, preprocessing_function = preprocess, validation_split = split, dtype = dtype or "float32",
      state = math.tointeger(seed) or math.random(0, 0x7fffffff)}, Generator)
  end)
-- Uniform in [low, high): a stream of the generator's own, so that `seed` repeats it.
function Generator:uniform(low, high)
  self.state = self.state * 6364136223846793005 + 1442695040888963407
  return low + (high - low) * ((self.state >> 11) / 9007199254740992.0)
end
local function shift(self, range, extent)
  if type(range) == "table" then return range[math.floor(self:uniform(1, #range + 1))] * (self:uniform(0, 1) < 0.5 and -1 or 1) end
  if range == 0 then return 0 end
  local amount = self:uniform(-range, range)
  return range < 1 and amount * extent or amount
end
-- The parameters of one random change.
function Generator:get_random_transform(shape)
  local t = {theta = 0, tx = 0, ty = 0, shear = 0, zx = 1, zy = 1}
  if self.rotation_range ~= 0 then t.theta = self:uniform(-self.rotation_range, self.rotation_range) end
  t.tx, t.ty = shift(self, self.height_shift_range, shape[1]), shift(self, self.width_shift_range, shape[2])
  if self.shear_range ~= 0 then t.shear = self:uniform(-self.shear_range, self.shear_range) end
  if self.zoom_range[1] ~= 1 or self.zoom_range[2] ~= 1 then
    t.zx, t.zy = self:uniform(self.zoom_range[1], self.zoom_range[2]), self:uniform(self.zoom_range[1], self.zoom_range[2])
  end
  t.flip_horizontal = self.horizontal_flip and self:uniform(0, 1) < 0.5
  t.flip_vertical = self.vertical_flip and self:uniform(0, 1) < 0.5
  if self.channel_shift_range ~= 0 then t.channel_shift_intensity = self:uniform(-self.channel_shift_range, self.channel_shift_range) end
  if self.brightness_range then t.brightness = self:uniform(self.brightness_range[1], self.brightness_range[2]) end
  return t
end
function Generator:apply_transform(x, t)
  if (t.theta or 0) ~= 0 or (t.tx or 0) ~= 0 or (t.ty or 0) ~= 0 or (t.shear or 0) ~= 0 or (t.zx or 1) ~= 1 or (t.zy or 1) ~= 1 then
    x = image.apply_affine_transform(x, {theta = t.theta or 0, tx = t.tx or 0, ty = t.ty or 0, shear = t.shear or 0, zx = t.zx or 1, zy = t.zy or 1,
      fill_mode = self.fill_mode, cval = self.cval})
  end
  if t.channel_shift_intensity then
    local low, high = tf.reduce_min(x):item(), tf.reduce_max(x):item()
    x = raw.ClipByValue(x + t.channel_shift_intensity, low, high)
  end
  if t.flip_horizontal then x = tf.reverse(x, {1}) end
  if t.flip_vertical then x = tf.reverse(x, {0}) end
  if t.brightness then x = x * t.brightness end
  return x
end
function Generator:random_transform(x) return self:apply_transform(x, self:get_random_transform(x.shape)) end
function Generator:standardize(x)
  if self.preprocessing_function then x = self.preprocessing_function(x) end
  if self.rescale then x = x * self.rescale end
  if self.samplewise_center then x = x - tf.reduce_mean(x) end
  if self.samplewise_std_normalization then
    local mean = tf.reduce_mean(x)
    x = x / (raw.Sqrt(tf.reduce_mean(raw.Square(x - mean))) + 1e-6)
  end
  for _, what in ipairs {"featurewise_center", "featurewise_std_normalization"} do
    local field = what == "featurewise_center" and "mean" or "std"
    if self[what] then
      if not self[field] then T.fail("standardize", "'%s' needs statistics: call generator:fit(x) first", what) end
      x = field == "mean" and x - self.mean or x / (self.std + 1e-6)
    end
  end
  if self.zca_whitening then
    if not self.principal_components then T.fail("standardize", "'zca_whitening' needs statistics: call generator:fit(x) first") end
    x = tf.reshape(tf.matmul(tf.reshape(x, {1, -1}), self.principal_components), x.shape)
  end
  return x
end
-- The symmetric (A + epsilon I)^(-1/2) of a symmetric matrix without negative eigenvalues: Newton and Schulz's coupled iteration (Higham, Functions of
-- Matrices, 2008, 6.3), in float64.
local function inverse_root(a, epsilon)
  local n = a.shape[1]
  local one = tf.eye(n, {dtype = "float64", now = true})
  a = a + one * epsilon
  local scale = raw.Sqrt(tf.reduce_sum(raw.Square(a))) -- no eigenvalue is larger
  local y, z = a / scale, one
  for _ = 1, 200 do
    local t = (one * 3 - tf.matmul(z, y)) * 0.5
    y, z = tf.matmul(y, t), tf.matmul(t, z)
    if tf.reduce_max(raw.Abs(t - one)):item() < 1e-12 then break end
  end
  return z / raw.Sqrt(scale)
end
-- Statistics of the data, for the featurewise_... settings.
function Generator:fit(x, augment, rounds)
  if type(augment) == "table" then augment, rounds = augment.augment, augment.rounds end
  x = tf.cast(x, "float32")
  if x:rank() ~= 4 then T.fail("fit", "the pictures must have rank 4 (number, height, width, channels), not %d", x:rank()) end
  if augment then
    local all = {}
    for _ = 1, rounds or 1 do
      for i = 1, x.shape[1] do all[#all + 1] = self:random_transform(x[i]) end
    end
    x = tf.stack(all)
  end
  if self.featurewise_center then
    self.mean = raw.Mean(x, {0, 1, 2}, {})
    x = x - self.mean
  end
  if self.featurewise_std_normalization then
    local mean = raw.Mean(x, {0, 1, 2}, {})
    self.std = raw.Sqrt(raw.Mean(raw.Square(x - mean), {0, 1, 2}, {}))
  end
  if self.zca_whitening then
    local flat = tf.cast(tf.reshape(x, {x.shape[1], -1}), "float64")
    local spread = tf.matmul(flat, flat, {transpose_a = true}) / x.shape[1]
    self.principal_components = tf.cast(inverse_root(spread, self.zca_epsilon), "float32")
  end
end

-- One random change of one picture {height, width, channels}: image.random_shear(x, 20) and its kin.
local function once(name, signature, settings)
  T.def("tf.keras.preprocessing.image." .. name, "x " .. signature .. " fill_mode=nearest cval=0 seed?", function(x, ...)
    local o = settings(...)
    local k = select("#", ...)
    local mode, cval, seed = select(k - 2, ...)
    o.fill_mode, o.cval, o.seed = mode, cval, seed
    return image.ImageDataGenerator(o):random_transform(tf.cast(T.value(x), "float32"))
  end)
end
once("random_rotation", "rg", function(range) return {rotation_range = range} end)
once("random_shift", "wrg hrg", function(w, h) return {width_shift_range = w, height_shift_range = h} end)
once("random_shear", "intensity", function(range) return {shear_range = range} end)
once("random_zoom", "zoom_range", function(range) return {zoom_range = range} end)
once("random_channel_shift", "intensity_range", function(range) return {channel_shift_range = range} end)
once("random_brightness", "brightness_range", function(range) return {brightness_range = range} end)
T.def("tf.keras.preprocessing.image.apply_channel_shift", "x intensity", function(x, intensity)
  x = tf.cast(T.value(x), "float32")
  return raw.ClipByValue(x + intensity, tf.reduce_min(x):item(), tf.reduce_max(x):item())
end)
T.def("tf.keras.preprocessing.image.apply_brightness_shift", "x brightness", function(x, brightness) return tf.cast(T.value(x), "float32") * brightness end)

-- ------------------------------------------------------------------------------------- flows

local Flow = setmetatable({}, {__index = Sequence})
Flow.__index = Flow
-- source(i) gives picture i (from 0) and what goes with it.
local function flow(generator, n, source, batch_size, shuffle, seed, targets)
  local self = setmetatable({generator = generator, n = n, source = source, batch_size = batch_size, shuffle = shuffle, targets = targets,
    state = math.tointeger(seed) or generator.state}, Flow)
  self:on_epoch_end()
  return self
end
function Flow:on_epoch_end()
  local order = {}
  for i = 1, self.n do order[i] = i - 1 end
  if self.shuffle then
    for i = self.n, 2, -1 do
      self.state = self.state * 6364136223846793005 + 1442695040888963407
      local j = (self.state >> 33) % i + 1
      order[i], order[j] = order[j], order[i]
    end
  end
  self.order = order
end
function Flow:len() return (self.n + self.batch_size - 1) // self.batch_size end
Flow.__len = Flow.len
function Flow:get(index)
  local xs, rows = {}, {}
  for k = index * self.batch_size + 1, math.min((index + 1) * self.batch_size, self.n) do
    local i = self.order[k]
    local x = self.generator:random_transform(tf.cast(self.source(i), "float32"))
    xs[#xs + 1] = self.generator:standardize(x)
    rows[#rows + 1] = i
  end
  if #xs == 0 then T.fail("flow", "there is no batch %d; there are %d", index, self:len()) end
  local x = tf.stack(xs)
  if self.generator.dtype ~= "float32" then x = tf.cast(x, self.generator.dtype) end
  if not self.targets then return x end
  return x, self.targets(rows, x)
end
local function part(generator, n, subset, who)
  local split = math.floor(generator.validation_split * n)
  if subset == nil then return 0, n end
  if subset == "validation" then return 0, split end
  if subset == "training" then return split, n end
  T.fail(who, "'subset' must be \"training\" or \"validation\", not '%s'", tostring(subset))
end
Generator.flow = T.bind("flow", "self x y? batch_size=32 shuffle=true sample_weight? seed? subset?", function(self, x, y, batch, shuffle, weights, seed, subset)
  if x:rank() ~= 4 then T.fail("flow", "the pictures must have rank 4 (number, height, width, channels), not %d", x:rank()) end
  if y and y.shape[1] ~= x.shape[1] then T.fail("flow", "there are %d pictures and %d targets", x.shape[1], y.shape[1]) end
  local first, last = part(self, x.shape[1], subset, "flow")
  local function rows_of(t, rows)
    local at = {}
    for i, r in ipairs(rows) do at[i] = r + first end
    return tf.gather(t, tf.tensor(at, "int64"))
  end
  return flow(self, last - first, function(i) return x[i + first + 1] end, batch, shuffle, seed, y and function(rows)
    if weights then return rows_of(y, rows), rows_of(weights, rows) end
    return rows_of(y, rows)
  end)
end)
-- Targets of pictures in class folders.
local function labelled(mode, labels, classes, who)
  if mode == nil or mode == false then return nil end
  if mode == "input" then return function(_, x) return x end end
  if not ({categorical = 1, binary = 1, sparse = 1, raw = 1, other = 1})[mode] then
    T.fail(who, "'class_mode' must be categorical, binary, sparse, input or false, not '%s'", tostring(mode))
  end
  return function(rows)
    local out = {}
    for i, r in ipairs(rows) do out[i] = labels[r + 1] end
    if mode == "categorical" then return tf.one_hot(tf.tensor(out, "int64"), classes) end
    return tf.tensor(out, mode == "sparse" and "int64" or "float32")
  end
end
Generator.flow_from_directory = T.bind("flow_from_directory", "self directory target_size? color_mode=rgb classes? class_mode=categorical batch_size=32 shuffle=true seed? save_to_dir? subset? loader?",
  function(self, directory, size, color, classes, mode, batch, shuffle, seed, save, subset, loader)
    local who = "flow_from_directory"
    if save then T.fail_code(12, who, "'save_to_dir' is not supported") end
    local found = files.classes(directory, classes, loader ~= nil, who)
    local paths, labels = {}, {}
    for i, class in ipairs(found) do
      local first, last = part(self, #class.files, subset, who)
      for k = first + 1, last do paths[#paths + 1], labels[#labels + 1] = class.files[k], i - 1 end
    end
    if #paths == 0 then T.fail(who, "no pictures below '%s' (%s)", directory, files.endings()) end
    size = size or {256, 256}
    local out = flow(self, #paths, function(i)
      return files.load(paths[i + 1], {target_size = size, color_mode = color, loader = loader})
    end, batch, shuffle, seed, labelled(mode, labels, #found, who))
    out.filenames, out.classes, out.samples, out.class_indices = paths, labels, #paths, {}
    for i, class in ipairs(found) do out.class_indices[class.name] = i - 1 end
    return out
  end)
-- A table of columns: {filename = {...}, class = {...}}.
Generator.flow_from_dataframe = T.bind("flow_from_dataframe", "self dataframe directory x_col=filename y_col=class target_size? color_mode=rgb classes? class_mode=categorical batch_size=32 shuffle=true seed? subset? loader?",
  function(self, frame, directory, x_col, y_col, size, color, classes, mode, batch, shuffle, seed, subset, loader)
    local who = "flow_from_dataframe"
    local names, values = frame[x_col], frame[y_col]
    if not names then T.fail(who, "there is no column '%s'", x_col) end
    local labels, index = {}, {}
    if mode == "other" or mode == "raw" then
      labels = values
    elseif mode and mode ~= "input" then
      if not values then T.fail(who, "there is no column '%s'", y_col) end
      local list = classes
      if not list then
        local seen = {}
        list = {}
        for _, v in ipairs(values) do
          if not seen[v] then
            seen[v] = true
            list[#list + 1] = v
          end
        end
        table.sort(list)
      end
      for i, name in ipairs(list) do index[name] = i - 1 end
      for i, v in ipairs(values) do labels[i] = index[v] or T.fail(who, "row %d has the class '%s', which 'classes' lacks", i, tostring(v)) end
      classes = list
    end
    local first, last = part(self, #names, subset, who)
    local cut = {}
    for i = first + 1, last do cut[#cut + 1] = labels[i] end
    local out = flow(self, last - first, function(i)
      return files.load(directory .. "/" .. names[i + first + 1], {target_size = size or {256, 256}, color_mode = color, loader = loader})
    end, batch, shuffle, seed, labelled(mode, cut, classes and #classes or 0, who))
    out.class_indices = index
    return out
  end)
return image
