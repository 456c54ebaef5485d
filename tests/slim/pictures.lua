-- Pictures that other programs wrote (tests/data/pictures), pictures of ours read again, damaged ones.
local tf = require "tfsdk"
local here = arg[0]:match "^(.*)/" or "."
local folder = here .. "/../data/pictures/"
local passed, failed = 0, 0
local function check(what, ok, more)
  if ok then passed = passed + 1 return end
  failed = failed + 1
  print(what, more or "")
end
local function bytes_of(path)
  local file = assert(io.open(path, "rb"))
  local out = file:read "a"
  file:close()
  return out
end
local function most(a, b) return tf.reduce_max(tf.abs(tf.cast(a, "int32") - tf.cast(b, "int32"))):item() end
local function message(fn, ...)
  local ok, why = pcall(fn, ...)
  return ok and "no error" or why.message
end
local jpeg = pcall(function() return tf.raw.DecodeJpeg end)
if not jpeg then print "JPEG is left out: the program was built without libjpeg" end

local by_name = {}
for _, case in ipairs(tf.json.decode(bytes_of(folder .. "pictures.json")).cases) do
  local is_jpeg = case.file:find "%.jpg$"
  if jpeg or not is_jpeg then
    local bytes = bytes_of(folder .. case.file)
    local want = tf.tensor(case.values, case.bits == 16 and "uint16" or "uint8"):reshape {case.height, case.width, case.channels}
    by_name[case.file] = {bytes = bytes, want = want}
    local x = tf.image.decode_image(bytes, {dtype = want.dtype})
    check(case.file .. ": shape", table.concat(x.shape, "x") == table.concat(want.shape, "x"), table.concat(x.shape, "x"))
    -- versions of libjpeg may round differently
    check(case.file .. ": pixels", most(x, want) <= (is_jpeg and 2 or 0), most(x, want))
  end
end
-- Other depths and channels than the file's.
local rgb = by_name["png_rgb.png"]
check("16 bits of 8: times 257", most(tf.image.decode_png(rgb.bytes, 3, "uint16"), tf.cast(rgb.want, "int32") * 257) == 0)
local deep = by_name["png_16bit.png"]
check("8 bits of 16: the upper ones", most(tf.image.decode_png(deep.bytes), tf.floor_div(tf.cast(deep.want, "int32"), 256)) == 0)
local four = tf.image.decode_png(rgb.bytes, 4)
check("alpha is added", most(four[{{}, {}, 4}], tf.fill({7, 9}, tf.tensor(255, "int32"))) == 0 and most(four[{{}, {}, {1, 3}}], rgb.want) == 0)
check("alpha is left out", most(tf.image.decode_png(by_name["png_rgba.png"].bytes, 3), by_name["png_rgba.png"].want[{{}, {}, {1, 3}}]) == 0)
local grey = by_name["png_l.png"]
check("grey as colours", most(tf.image.decode_png(grey.bytes, 3), tf.tile(grey.want, {1, 1, 3})) == 0)
local w = tf.reduce_sum(tf.cast(rgb.want, "float32") * tf.tensor {0.299, 0.587, 0.114}, {2}, true)
check("colours as grey", tf.reduce_max(tf.abs(tf.cast(tf.image.decode_png(rgb.bytes, 1), "float32") - w)):item() <= 1)
check("as floating numbers", tf.reduce_max(tf.abs(tf.image.decode_image(rgb.bytes, {dtype = "float32"}) - tf.cast(rgb.want, "float32") / 255)):item() < 1e-6)

-- Ours, there and back; in a graph, too.
for _, channels in ipairs {1, 2, 3, 4} do
  for _, dtype in ipairs {"uint8", "uint16"} do
    local x = tf.cast(tf.random.uniform({5, 6, channels}, {maxval = dtype == "uint8" and 256 or 65536, seed = channels, now = true}), dtype)
    check(("PNG of %d channels, %s"):format(channels, dtype), most(tf.image.decode_png(tf.image.encode_png(x), 0, dtype), x) == 0)
  end
end
tf.Graph():as_default(function()
  local p = tf.placeholder("string", {})
  local y = tf.image.decode_png(p, {channels = 3})
  local sess <close> = tf.Session()
  check("in a graph", table.concat(y.shape, "x") == "?x?x3" or table.concat(y.shape, "x") == "-1x-1x3")
  check("in a graph: pixels", most(sess:run(y, {[p] = rgb.bytes}), rgb.want) == 0)
  check("an unknown kind in a graph", message(tf.image.decode_image, p):find "use decode_png or decode_jpeg" ~= nil)
end)
if jpeg then
  -- a slope, which loses little
  local slope = tf.reshape(tf.range(0, 16 * 16 * 3, 1, {dtype = "float32", now = true}), {16, 16, 3}) / 3.1
  local smooth = tf.cast(slope, "uint8")
  for _, o in ipairs {{quality = 100}, {quality = 100, progressive = true, optimize_size = true}, {quality = 100, chroma_downsampling = false}} do
    local bytes = tf.image.encode_jpeg(smooth, o)
    local again = tf.image.decode_jpeg(bytes)
    local off = tf.reduce_mean(tf.abs(tf.cast(again, "float32") - tf.cast(smooth, "float32"))):item()
    check("JPEG again", off < (o.chroma_downsampling == false and 2 or 6) and (o.chroma_downsampling ~= false or most(again, smooth) <= 4), off)
    check("is_jpeg", tf.image.is_jpeg(bytes))
  end
  check("a smaller picture", table.concat(tf.image.decode_jpeg(by_name["jpeg_rgb.jpg"].bytes, {ratio = 2}).shape, "x") == "4x5x3")
  check("grey of a colour JPEG", tf.image.decode_jpeg(by_name["jpeg_rgb.jpg"].bytes, 1).shape[3] == 1)
end

-- Cut off at each byte, or with a byte changed: an error, or a picture; never more than that.
for name, p in pairs(by_name) do
  local errors = 0
  for i = 0, #p.bytes - 13 do -- an end marker's own bytes may be missing
    if not pcall(tf.image.decode_image, p.bytes:sub(1, i)) then errors = errors + 1 end
  end
  check(name .. ", cut off", errors == #p.bytes - 12, errors)
  for i = 1, #p.bytes do pcall(tf.image.decode_image, p.bytes:sub(1, i - 1) .. string.char(p.bytes:byte(i) ~ 0x55) .. p.bytes:sub(i + 1)) end
end
-- A head that claims 60000 x 60000 pixels gets no memory for them.
local huge = rgb.bytes:sub(1, 16) .. string.pack(">I4I4", 60000, 60000) .. rgb.bytes:sub(25, 29)
local function crc32(s)
  local c = 0xffffffff
  for i = 1, #s do
    c = c ~ s:byte(i)
    for _ = 1, 8 do c = c & 1 == 1 and c >> 1 ~ 0xedb88320 or c >> 1 end
  end
  return c ~ 0xffffffff
end
huge = huge .. string.pack(">I4", crc32(huge:sub(13))) .. rgb.bytes:sub(34)
check("a huge head", message(tf.image.decode_png, huge) == "the PNG picture is damaged: the data are cut off", message(tf.image.decode_png, huge))
if jpeg then -- the same in a JPEG's frame head: height and width behind FF C0, length and precision
  local bytes = by_name["jpeg_grey.jpg"].bytes
  local at = bytes:find("\255\192", 1, true) + 5
  local big = bytes:sub(1, at - 1) .. string.pack(">I2I2", 65000, 65000) .. bytes:sub(at + 4)
  check("a huge frame", message(tf.image.decode_jpeg, big) == "the JPEG picture is damaged: the data are cut off", message(tf.image.decode_jpeg, big))
end
check("no picture", message(tf.image.decode_image, "hello") == "the bytes are of no kind of picture that is known (PNG, JPEG); they begin with 68 65 6c 6c", message(tf.image.decode_image, "hello"))
check("a GIF", message(tf.image.decode_image, "GIF89a"):find "pictures of the kind gif are not read" ~= nil)
check("no bytes", message(tf.image.decode_png, tf.zeros({2}, {now = true})):find "'contents' must be the bytes of a file" ~= nil)
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1, true)
