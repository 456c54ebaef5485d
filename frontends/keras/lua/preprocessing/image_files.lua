-- Pictures in files: .npy ([height, width] or [height, width, channels]), .pgm and .ppm (binary); others by a function of the script.
local tf, T = ...
local raw = tf.raw
local _ = T.include("keras", "registry")
local image = T.keras_namespace "preprocessing.image"
local files = {}
local readers = {}

function readers.npy(path)
  local x = tf.read_npy(path)
  if x:rank() == 2 then x = tf.expand_dims(x, -1) end
  return x
end
-- Netpbm's binary formats: a magic word, width, height, the largest value, one byte for each.
local function netpbm(path)
  local file, why = io.open(path, "rb")
  if not file then T.fail("load_img", "cannot read '%s': %s", path, why) end
  local bytes = file:read "a"
  file:close()
  local magic = bytes:sub(1, 2)
  local channels = magic == "P5" and 1 or magic == "P6" and 3
  if not channels then T.fail("load_img", "'%s' begins with '%s'; binary .pgm begins with P5, .ppm with P6", path, magic) end
  local numbers, at = {}, 3
  while #numbers < 3 do
    local skip = bytes:match("^%s*#[^\n]*\n()", at)
    if skip then at = skip else
      local n, after = bytes:match("^%s*(%d+)()", at)
      if not n then T.fail("load_img", "the head of '%s' is damaged", path) end
      numbers[#numbers + 1], at = math.tointeger(n), after
    end
  end
  local w, h, top = numbers[1], numbers[2], numbers[3]
  if top > 255 then T.fail_code(12, "load_img", ("'%s' has two bytes for each value"):format(path)) end
  local need = w * h * channels
  if #bytes - at < need then T.fail("load_img", "'%s' is cut off: %d of %d bytes", path, #bytes - at, need) end
  return tf.frombytes(bytes:sub(at + 1, at + need), "uint8", {h, w, channels})
end
readers.pgm, readers.ppm = netpbm, netpbm

function files.endings() return ".npy, .pgm, .ppm" end
local function ending(path) return (path:match "%.(%w+)$" or ""):lower() end
function files.load(path, o)
  local read = o.loader or readers[ending(path)]
  if not read then
    T.fail("load_img", "'%s' is of a kind that is not read here (%s); give 'loader', a function from a path to a tensor", path, files.endings())
  end
  local x = tf.cast(read(path), "float32")
  local channels = x.shape[3]
  if o.color_mode == "grayscale" and channels == 3 then
    x = raw.Sum(x * tf.tensor {0.299, 0.587, 0.114}, {-1}, {keep_dims = true})
  elseif o.color_mode == "rgb" and channels == 1 then
    x = tf.tile(x, {1, 1, 3})
  end
  local size = o.target_size
  if size and (x.shape[1] ~= size[1] or x.shape[2] ~= size[2]) then
    if o.interpolation == "bilinear" then
      x = raw.Squeeze(raw.ResizeBilinear(tf.expand_dims(x, 0), tf.tensor(size, "int32")), {squeeze_dims = {0}})
    else
      local function nearest(n, m)
        local out = {}
        for i = 0, m - 1 do out[i + 1] = math.floor((i + 0.5) * n / m) end
        return tf.tensor(out, "int64")
      end
      x = tf.gather(tf.gather(x, nearest(x.shape[1], size[1])), nearest(x.shape[2], size[2]), {axis = 1})
    end
  end
  return x
end
T.def("tf.keras.preprocessing.image.load_img", "path color_mode=rgb target_size? interpolation=nearest loader?", function(path, color, size, interpolation, loader)
  return files.load(path, {color_mode = color, target_size = size, interpolation = interpolation, loader = loader})
end)
function image.img_to_array(x) return tf.cast(x, "float32") end
function image.array_to_img(x) return x end

local function lines_of(command)
  local out = {}
  local pipe = io.popen(command)
  for line in pipe:lines() do out[#out + 1] = line end
  pipe:close()
  return out
end
local function quote(s) return "'" .. s:gsub("'", "'\\''") .. "'" end
-- The folders below a directory, each a class, with their pictures, both sorted. `any`: files of every kind.
function files.classes(directory, names, any, who)
  if not names then
    names = lines_of("ls -1 -p " .. quote(directory) .. " 2>/dev/null | sed -n 's,/$,,p' | LC_ALL=C sort")
    if #names == 0 then T.fail(who, "'%s' has no folders; each class is a folder", directory) end
  end
  local out = {}
  for i, name in ipairs(names) do
    local class = {name = name, files = {}}
    for _, path in ipairs(lines_of("find " .. quote(directory .. "/" .. name) .. " -type f | LC_ALL=C sort")) do
      if any or readers[ending(path)] then class.files[#class.files + 1] = path end
    end
    out[i] = class
  end
  return out
end
return files
