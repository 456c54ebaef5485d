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
-- A head that claims many pixels gets no memory for them.
local function crc32(s)
  local c = 0xffffffff
  for i = 1, #s do
    c = c ~ s:byte(i)
    for _ = 1, 8 do c = c & 1 == 1 and c >> 1 ~ 0xedb88320 or c >> 1 end
  end
  return c ~ 0xffffffff
end
local function png_of(height, width)
  local head = rgb.bytes:sub(13, 16) .. string.pack(">I4I4", width, height) .. rgb.bytes:sub(25, 29)
  return rgb.bytes:sub(1, 12) .. head .. string.pack(">I4", crc32(head)) .. rgb.bytes:sub(34)
end
local function told(what, want, fn, ...)
  local got = message(fn, ...)
  check(what, got == want, got)
end
told("too many pixels", "the PNG picture cannot be read: its size is 60000 x 50000; at most 536870912 pixels are read", tf.image.decode_png, png_of(60000, 50000))
told("more pixels than bytes can hold", "the PNG picture cannot be read: its size is said to be 20000 x 20000, but there are only 264 bytes", tf.image.decode_png, png_of(20000, 20000))
told("no rows", "the PNG picture cannot be read: Invalid IHDR data", tf.image.decode_png, png_of(0, 5))
told("a wrong sum of a chunk", "the PNG picture cannot be read: IHDR: CRC error", tf.image.decode_png, rgb.bytes:sub(1, 20) .. "\1" .. rgb.bytes:sub(22))
told("a PNG cut off", "the PNG picture cannot be read: the data are cut off", tf.image.decode_png, rgb.bytes:sub(1, 100))
told("no PNG", "this is no PNG picture (5 bytes)", tf.image.decode_png, "hello")
told("two channels", "'channels' must be 0 (as in the file), 1, 3 or 4, not 2", tf.image.decode_png, rgb.bytes, 2)
if jpeg then -- height and width in a JPEG's frame head: behind FF C0, length and precision
  local bytes = by_name["jpeg_grey.jpg"].bytes
  local at = bytes:find("\255\192", 1, true) + 5
  local function jpeg_of(height, width) return bytes:sub(1, at - 1) .. string.pack(">I2I2", height, width) .. bytes:sub(at + 4) end
  local decode = tf.image.decode_jpeg
  told("too many pixels", "the JPEG picture cannot be read: its size is 65000 x 65000; at most 536870912 pixels are read", decode, jpeg_of(65000, 65000))
  told("more pixels than bytes can hold", "the JPEG picture cannot be read: its size is said to be 20000 x 20000, but there are only 346 bytes", decode, jpeg_of(20000, 20000))
  told("12 bits", "JPEG pictures of this kind are not read: Unsupported JPEG data precision 12", decode, bytes:sub(1, at - 2) .. "\12" .. bytes:sub(at))
  told("lossless", "JPEG pictures of this kind are not read: Unsupported JPEG process: SOF type 0xc3", decode, bytes:sub(1, at - 5) .. "\195" .. bytes:sub(at - 3))
  told("a JPEG cut off", "the JPEG picture is damaged: the data are cut off (try_recover_truncated = true takes what there is)", decode, bytes:sub(1, -20))
  check("what there is of it", table.concat(decode(bytes:sub(1, -20), {try_recover_truncated = true}).shape, "x") == table.concat(by_name["jpeg_grey.jpg"].want.shape, "x"))
  told("no JPEG", "this is no JPEG picture (264 bytes)", decode, rgb.bytes)
  told("two channels", "'channels' must be 0 (as in the file), 1 or 3, not 2", decode, bytes, 2)
  told("a ratio of 3", "'ratio' must be 1, 2, 4 or 8, not 3", decode, bytes, {ratio = 3})
  -- a progressive picture with the last scan a thousand times: each would go over all of it
  local many = by_name["jpeg_progressive.jpg"].bytes
  local last
  for i = #many - 1, 1, -1 do
    if many:sub(i, i + 1) == "\255\218" then last = many:sub(i, -3) break end
  end
  told("a thousand scans", "the JPEG picture cannot be read: it has more than 500 scans", decode, many:sub(1, -3) .. last:rep(1000) .. many:sub(-2))
  -- inks as grey: what the colours give
  for _, name in ipairs {"jpeg_cmyk.jpg", "jpeg_ycck.jpg"} do
    local inks = by_name[name]
    local grey_of = tf.reduce_sum(tf.cast(inks.want, "float32") * tf.tensor {0.299, 0.587, 0.114}, {2}, true)
    check(name .. ": grey", tf.reduce_max(tf.abs(tf.cast(decode(inks.bytes, 1), "float32") - grey_of)):item() <= 3)
  end
  told("an image without pixels", "the image has no pixels", tf.image.encode_jpeg, tf.zeros({0, 4, 3}, "uint8", {now = true}))
  told("two channels to write", "'image' must have 1 or 3 channels, but its shape is (4, 4, 2)", tf.image.encode_jpeg, tf.zeros({4, 4, 2}, "uint8", {now = true}))
  told("too wide to write", "the image is too large for JPEG: at most 65500 rows and columns", tf.image.encode_jpeg, tf.zeros({1, 70000, 1}, "uint8", {now = true}))
end
check("no picture", message(tf.image.decode_image, "hello") == "the bytes are of no kind of picture that is known (PNG, JPEG); they begin with 68 65 6c 6c", message(tf.image.decode_image, "hello"))
check("a GIF", message(tf.image.decode_image, "GIF89a"):find "pictures of the kind gif are not read" ~= nil)
check("no bytes", message(tf.image.decode_png, tf.zeros({2}, {now = true})):find "'contents' must be the bytes of a file" ~= nil)

-- From JPEG files and from records of them to batches, with the preprocessing of each kind of net. Pictures of one colour tell the numbers.
if jpeg then
  local slim = tf.slim
  local d = slim.tfexample_decoder
  local colors, sizes, files = {{250, 10, 90}, {20, 200, 130}, {128, 128, 128}, {0, 255, 255}}, {{60, 80}, {80, 61}, {64, 64}, {70, 90}}, {}
  local records = os.tmpname()
  local writer = tf.python_io.TFRecordWriter(records)
  for i, color in ipairs(colors) do
    local one = tf.tile(tf.reshape(tf.cast(tf.tensor(color, "int32"), "uint8"), {1, 1, 3}), {sizes[i][1], sizes[i][2], 1})
    local bytes = tf.image.encode_jpeg(one, {quality = 100, chroma_downsampling = false}):item()
    files[i] = os.tmpname()
    local file = assert(io.open(files[i], "wb"))
    file:write(bytes)
    file:close()
    writer:write(tf.train.Example {features = {feature = {["image/encoded"] = {bytes_list = {bytes}}, ["image/format"] = {bytes_list = {"jpeg"}},
      ["image/class/label"] = {int64_list = {i}}}}}:SerializeToString())
  end
  writer:close()
  local decoder = d.TFExampleDecoder({["image/encoded"] = tf.FixedLenFeature({}, "string"), ["image/format"] = tf.FixedLenFeature({}, "string", "jpeg"),
    ["image/class/label"] = tf.FixedLenFeature({}, "int64")}, {image = d.Image(), label = d.Tensor "image/class/label"})
  local dataset = slim.dataset.Dataset {data_sources = records, reader = "tfrecord", decoder = decoder, num_samples = 4, items_to_descriptions = {image = "one colour", label = "which"}}
  -- what the formulas make of a picture of one colour, for evaluation
  local wanted = {vgg_16 = function(v, c) return v - ({123.68, 116.78, 103.94})[c] end, inception_v3 = function(v) return (v / 255 - 0.5) * 2 end,
    lenet = function(v) return (v - 128) / 128 end}
  for _, name in ipairs {"vgg_16", "inception_v3", "lenet", "cifarnet"} do
    local side = ({vgg_16 = 56, inception_v3 = 75, lenet = 28, cifarnet = 32})[name]
    for _, training in ipairs {false, true} do
      local preprocess = slim.preprocessing.get_preprocessing(name, training)
      local sources = {
        ["files"] = tf.data.from_tensor_slices {image = tf.tensor(files, "string"), label = tf.tensor({1, 2, 3, 4}, "int64")}:map(function(item)
          return {image = preprocess(tf.image.decode_jpeg(tf.read_file(item.image), 3), side, side), label = item.label}
        end),
        ["records"] = slim.dataset_data_provider.DatasetDataProvider(dataset, {shuffle = false, num_epochs = 1}):as_dataset({"image", "label"}, function(item)
          return {image = preprocess(item.image, side, side), label = item.label}
        end)}
      for from, source in pairs(sources) do
        local what = ("%s, %s, from %s: "):format(name, training and "training" or "evaluation", from)
        local n = 0
        for batch in source:batch(4):iter() do
          n = n + 1
          check(what .. "shape", table.concat(batch.image.shape, "x") == ("4x%dx%dx3"):format(side, side) and batch.image.dtype == "float32", table.concat(batch.image.shape, "x"))
          check(what .. "finite", tf.reduce_all(tf.is_finite(batch.image)):item())
          check(what .. "labels", table.concat(batch.label:table(), " ") == "1 2 3 4")
          local f = not training and wanted[name]
          for i = 1, f and 4 or 0 do
            for c = 1, 3 do -- JPEG's rounding of colours: by 1 or 2 of 256
              local off = math.abs(batch.image[{i, side // 2, side // 2, c}]:item() - f(colors[i][c], c)) / math.abs(f(1, c) - f(0, c))
              check(what .. "numbers", off <= 2.01, off)
            end
          end
        end
        check(what .. "one batch", n == 1, n)
      end
    end
  end
  -- and into a net, in a graph
  tf.Graph():as_default(function()
    local preprocess = slim.preprocessing.get_preprocessing("lenet", true)
    local batch = tf.data.from_tensor_slices(tf.tensor(files, "string")):map(function(name)
      return preprocess(tf.image.rgb_to_grayscale(tf.image.decode_jpeg(tf.read_file(name), 3)), 28, 28)
    end):repeat_():batch(4):make_one_shot_iterator():get_next()
    local logits = slim.nets.lenet.lenet(tf.reshape(batch, {4, 28, 28, 1}), {num_classes = 4, is_training = true})
    slim.losses.sparse_softmax_cross_entropy(logits, tf.constant({0, 1, 2, 3}, {dtype = "int64"}))
    local train = slim.learning.create_train_op(slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(0.01))
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    local first = sess:run(train)
    local last
    for _ = 1, 20 do last = sess:run(train) end
    check("a net learns from JPEG files", last < first, ("%g to %g"):format(first, last))
  end)
  for _, name in ipairs(files) do os.remove(name) end
  os.remove(records)
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1, true)
