-- provides tf.image: decode_png encode_png decode_jpeg encode_jpeg decode_image is_jpeg
-- provides tf.io: decode_png encode_png decode_jpeg encode_jpeg decode_image is_jpeg read_file
-- provides tf: read_file
-- Pictures in files, as tensors [height, width, channels]. Bytes are string tensors or Lua strings.
local tf, T = ...
local raw, def = tf.raw, T.def
local image, io_ = T.namespace "tf.image", T.namespace "tf.io"

-- Bytes as a concrete string tensor, or a value of the graph.
local function contents_of(x, who)
  if type(x) == "string" then return tf.tensor(x, "string") end
  if T.kind(x) and T.type(x) == "string" then return x end
  return T.fail(who, "'contents' must be the bytes of a file, not %s", T.kind(x) and "a " .. T.kind(x) .. " of " .. tostring(x.dtype) or "a " .. type(x))
end
-- The op, which is in a plugin that may have been left out.
local function op_of(name, kind, library, who)
  local ok, op = pcall(function() return raw[name] end)
  if ok then return op end
  return T.fail_code(12, who, ("%s pictures need %s, which was not there when the program was built (tfsdk plugins --why)"):format(kind, library))
end
local function png_op(name, who) return op_of(name, "PNG", "libpng", who) end
local function jpeg_op(name, who) return op_of(name, "JPEG", "libjpeg", who) end
for _, space in ipairs {"tf.image", "tf.io"} do
  def(space .. ".decode_png", "contents channels=0 dtype=uint8 name?", function(x, channels, dtype, name)
    return png_op("DecodePng", space .. ".decode_png")(contents_of(x, space .. ".decode_png"), {channels = channels, dtype = dtype, name = name})
  end)
  def(space .. ".encode_png", "image compression=-1 name?", function(x, compression, name)
    return png_op("EncodePng", space .. ".encode_png")(x, {compression = compression, name = name})
  end)
  def(space .. ".decode_jpeg", "contents channels=0 ratio=1 fancy_upscaling=true try_recover_truncated=false acceptable_fraction=1 dct_method= name?",
    function(x, channels, ratio, fancy, recover, fraction, method, name)
      return jpeg_op("DecodeJpeg", space .. ".decode_jpeg")(contents_of(x, space .. ".decode_jpeg"), {channels = channels, ratio = ratio, fancy_upscaling = fancy,
        try_recover_truncated = recover, acceptable_fraction = fraction, dct_method = method, name = name})
    end)
  def(space .. ".encode_jpeg", "image format= quality=95 progressive=false optimize_size=false chroma_downsampling=true name?",
    function(x, form, quality, progressive, optimize, chroma, name)
      if form ~= "" and form ~= "grayscale" and form ~= "rgb" then
        T.fail(space .. ".encode_jpeg", "'format' must be '', 'grayscale' or 'rgb', not '%s'", tostring(form))
      end
      local _, shape = T.type(x)
      local channels = shape and shape[3]
      if form ~= "" and channels and channels >= 0 and channels ~= (form == "rgb" and 3 or 1) then
        T.fail(space .. ".encode_jpeg", "the format '%s' takes %d channels, the image has %d", form, form == "rgb" and 3 or 1, channels)
      end
      return jpeg_op("EncodeJpeg", space .. ".encode_jpeg")(x, {quality = quality, progressive = progressive, optimize_size = optimize, chroma_downsampling = chroma, name = name})
    end)
end
-- The first bytes tell the kind of file.
local function kind_of(s)
  if s:sub(1, 8) == "\137PNG\r\n\26\n" then return "png" end
  if s:sub(1, 3) == "\255\216\255" then return "jpeg" end
  if s:sub(1, 4) == "GIF8" then return "gif" end
  if s:sub(1, 2) == "BM" then return "bmp" end
  return nil
end
local function text_of(x, who)
  x = contents_of(x, who)
  if T.kind(x) == "Node" then T.fail_code(12, who, "which kind of picture it is must be known in a graph: use decode_png or decode_jpeg") end
  if x:size() ~= 1 then T.fail(who, "expected the bytes of one file, got %d strings", x:size()) end
  return x:reshape {}:item()
end
for _, space in ipairs {"tf.image", "tf.io"} do
  def(space .. ".is_jpeg", "contents name?", function(x) return kind_of(text_of(x, space .. ".is_jpeg")) == "jpeg" end)
  def(space .. ".decode_image", "contents channels=0 dtype=uint8 name? expand_animations=true", function(x, channels, dtype, name)
    local who = space .. ".decode_image"
    local s = text_of(x, who)
    local kind = kind_of(s)
    local y
    if kind == "png" then
      y = image.decode_png(s, channels, dtype == "uint16" and "uint16" or "uint8", {name = name})
    elseif kind == "jpeg" then
      y = image.decode_jpeg(s, channels, {name = name})
    elseif kind then
      T.fail_code(12, who, ("pictures of the kind %s are not read; PNG and JPEG are"):format(kind))
    else
      T.fail(who, "the bytes are of no kind of picture that is known (PNG, JPEG); they begin with %s", #s == 0 and "nothing"
        or (s:sub(1, 4):gsub(".", function(c) return ("%02x "):format(c:byte()) end):gsub(" $", "")))
    end
    if y.dtype == dtype then return y end
    return image.convert_image_dtype(y, dtype)
  end)
end
-- The bytes of a file, as a string tensor.
for _, space in ipairs {"tf", "tf.io"} do
  def(space .. ".read_file", "filename name?", function(path)
    local who = space .. ".read_file"
    if T.kind(path) == "Node" then T.fail_code(12, who, "files are read at once, not in a graph: use it in a dataset's map") end
    if T.kind(path) then path = path:item() end
    local file, why = io.open(path, "rb")
    if not file then T.fail_code(5, who, why) end
    local bytes = file:read "a"
    file:close()
    if not bytes then T.fail_code(14, who, path .. " cannot be read") end
    return tf.tensor(bytes, "string")
  end)
end
