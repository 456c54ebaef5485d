-- slim.tfexample_decoder: items (image, label) of a serialized tf.Example. Features say how they are parsed, handlers what becomes of them.
--
--     local d = slim.tfexample_decoder
--     local decoder = d.TFExampleDecoder({["image/encoded"] = tf.FixedLenFeature({}, "string"), ...}, {image = d.Image(), label = d.Tensor "image/label"})
--     local image, label = decoder:decode(record, {"image", "label"})
--
-- Records are decoded as they are read, on tensors.
local tf, T = ...
local raw = tf.raw
local decoder = T.namespace "tf.slim.tfexample_decoder"

local function class(name)
  local c = {__name = name}
  c.__index = c
  return c
end
local function tensor_of(tensors, key, who)
  if tensors[key] == nil then T.fail(who, "there is no feature '%s' among keys_to_features", key) end
  return tensors[key]
end
local function given(keys, default)
  if keys == nil then return default end
  return type(keys) == "string" and {keys} or keys
end

-- ------------------------------------------------------------------------------------- handlers

-- A handler has `keys`, the features it needs, and tensors_to_item(tensors by key).
local Callback = class "ItemHandlerCallback"
function decoder.ItemHandlerCallback(keys, fn)
  if type(fn) ~= "function" then T.fail("slim.tfexample_decoder.ItemHandlerCallback", "expected keys and a function of the tensors by key") end
  return setmetatable({keys = given(keys), fn = fn}, Callback)
end
function Callback:tensors_to_item(tensors) return self.fn(tensors) end

-- The shape that features or a table say, nil where neither does.
local function shape_from(self, tensors, who)
  if self.shape then return self.shape end
  if not self.shape_keys then return nil end
  local out = {}
  for _, key in ipairs(self.shape_keys) do
    for _, d in ipairs(tensor_of(tensors, key, who):reshape {-1}:table()) do out[#out + 1] = d end
  end
  return out
end
local function check_shape(who, keys, shape)
  if keys and shape then T.fail(who, "'shape' and 'shape_keys' both say the shape: give one") end
end

local Tensor = class "Tensor"
decoder.Tensor = T.bind("slim.tfexample_decoder.Tensor", "tensor_key shape_keys? shape? default_value=0", function(key, shape_keys, shape, default)
  check_shape("slim.tfexample_decoder.Tensor", shape_keys, shape)
  local keys = {key}
  for _, k in ipairs(given(shape_keys, {})) do keys[#keys + 1] = k end
  return setmetatable({keys = keys, tensor_key = key, shape_keys = given(shape_keys), shape = shape, default_value = default}, Tensor)
end)
function Tensor:tensors_to_item(tensors)
  local x = tensor_of(tensors, self.tensor_key, "Tensor")
  local shape = shape_from(self, tensors, "Tensor")
  return shape and x:reshape(shape) or x
end

-- Looks each element up: `lookup` is a table {element = value}, or has a method lookup(tensor).
local Lookup = class "LookupTensor"
-- (By hand: `lookup` looks like a table of options.)
function decoder.LookupTensor(key, lookup, options)
  local who = "slim.tfexample_decoder.LookupTensor"
  if type(key) ~= "string" or lookup == nil then T.fail(who, "expected the name of a feature and a table") end
  local o = options or {}
  for name in pairs(o) do
    if not ({shape_keys = 1, shape = 1, default_value = 1})[name] then T.fail(who, "unknown option '%s'", name) end
  end
  local shape_keys, shape, default = o.shape_keys, o.shape, o.default_value == nil and -1 or o.default_value
  check_shape(who, shape_keys, shape)
  local keys = {key}
  for _, k in ipairs(given(shape_keys, {})) do keys[#keys + 1] = k end
  return setmetatable({keys = keys, tensor_key = key, lookup = lookup, shape_keys = given(shape_keys), shape = shape, default_value = default}, Lookup)
end
function Lookup:tensors_to_item(tensors)
  local x = Tensor.tensors_to_item(self, tensors)
  if type(self.lookup) == "table" and type(self.lookup.lookup) ~= "function" or T.kind(self.lookup) then
    local out, flat = {}, x:reshape {-1}
    for i = 1, flat:size() do
      local v = self.lookup[flat[i]:item()]
      if v == nil then v = self.default_value end
      out[i] = v
    end
    if #out == 0 then return tf.zeros(x.shape, "int64", {now = true}) end
    return tf.tensor(out, type(out[1]) == "string" and "string" or math.type(out[1]) == "float" and "float32" or "int64"):reshape(x.shape)
  end
  return self.lookup:lookup(x)
end

-- An encoded image and its format: raw bytes (of `shape`), or what tf.image.decode_image knows.
local Image = class "Image"
decoder.Image = T.bind("slim.tfexample_decoder.Image", "image_key=image/encoded format_key=image/format shape? channels=3 dtype=uint8 repeated=false dct_method=",
  function(image_key, format_key, shape, channels, dtype, repeated)
    return setmetatable({keys = {image_key, format_key}, image_key = image_key, format_key = format_key, shape = shape, channels = channels, dtype = dtype,
      repeated = repeated}, Image)
  end)
function Image:decode(bytes, format)
  if format == "raw" or format == "RAW" then
    local x = tf.decode_raw(bytes, self.dtype)
    return self.shape and x:reshape(self.shape) or x
  end
  local x = tf.image.decode_image(bytes, {channels = self.channels})
  if x.dtype ~= self.dtype then x = tf.image.convert_image_dtype(x, self.dtype) end
  return self.shape and x:reshape(self.shape) or x
end
function Image:tensors_to_item(tensors)
  local encoded = tensor_of(tensors, self.image_key, "Image"):reshape {-1}
  local format = tensors[self.format_key]
  format = format and format:size() > 0 and format:reshape {-1}[1]:item() or ""
  if not self.repeated then
    if encoded:size() ~= 1 then T.fail("Image", "'%s' holds %d images; {repeated = true} takes several", self.image_key, encoded:size()) end
    return self:decode(encoded[1], format)
  end
  local list = {}
  for i = 1, encoded:size() do list[i] = self:decode(encoded[i], format) end
  return tf.stack(list)
end

-- Sides of boxes, one feature each, as [boxes, 4].
local BoundingBox = class "BoundingBox"
decoder.BoundingBox = T.bind("slim.tfexample_decoder.BoundingBox", "keys? prefix=", function(keys, prefix)
  keys = given(keys, {"ymin", "xmin", "ymax", "xmax"})
  if #keys ~= 4 then T.fail("slim.tfexample_decoder.BoundingBox", "expected 4 keys, got %d", #keys) end
  local full = {}
  for i, k in ipairs(keys) do full[i] = prefix .. k end
  return setmetatable({keys = full}, BoundingBox)
end)
function BoundingBox:tensors_to_item(tensors)
  local sides = {}
  for i, key in ipairs(self.keys) do sides[i] = tensor_of(tensors, key, "BoundingBox"):reshape {-1} end
  return tf.stack(sides, 1)
end

-- Values at indices: a dense tensor of the shape.
local Sparse = class "SparseTensor"
decoder.SparseTensor = T.bind("slim.tfexample_decoder.SparseTensor", "indices_key=indices values_key=values shape_key? shape? densify=false default_value=0",
  function(indices_key, values_key, shape_key, shape, densify, default)
    local who = "slim.tfexample_decoder.SparseTensor"
    check_shape(who, shape_key, shape)
    if not shape_key and not shape then T.fail(who, "'shape' or 'shape_key' must say the shape") end
    if not densify then T.fail_code(12, who, "sparse tensors are not there; {densify = true} gives a dense one") end
    local keys = {indices_key, values_key}
    keys[3] = shape_key
    return setmetatable({keys = keys, indices_key = indices_key, values_key = values_key, shape_keys = given(shape_key), shape = shape,
      default_value = default}, Sparse)
  end)
function Sparse:tensors_to_item(tensors)
  local values = tensor_of(tensors, self.values_key, "SparseTensor"):reshape {-1}
  local shape = shape_from(self, tensors, "SparseTensor")
  local indices = tf.cast(tensor_of(tensors, self.indices_key, "SparseTensor"), "int64"):reshape {values:size(), -1}
  if values:size() == 0 then indices = tf.zeros({0, #shape}, "int64", {now = true}) end
  if indices.shape[2] ~= #shape then
    T.fail("SparseTensor", "%d indices for each value, but the shape has %d axes", indices.shape[2], #shape)
  end
  local base = tf.fill(shape, tf.tensor(self.default_value, values.dtype))
  return raw.TensorScatterUpdate(base, indices, values)
end

-- `handler`, and `backup` where that gives nothing.
local Backup = class "BackupHandler"
function decoder.BackupHandler(handler, backup)
  for i, h in ipairs {handler or false, backup or false} do
    if type(h) ~= "table" or type(h.tensors_to_item) ~= "function" then
      T.fail("slim.tfexample_decoder.BackupHandler", "argument %d is no handler", i)
    end
  end
  local keys = {}
  for _, list in ipairs {handler.keys, backup.keys} do for _, k in ipairs(list) do keys[#keys + 1] = k end end
  return setmetatable({keys = keys, handler = handler, backup = backup}, Backup)
end
function Backup:tensors_to_item(tensors)
  local item = self.handler:tensors_to_item(tensors)
  if item:size() == 0 then return self.backup:tensors_to_item(tensors) end
  return item
end

-- ------------------------------------------------------------------------------------- the decoder

local Decoder = class "TFExampleDecoder"
function decoder.TFExampleDecoder(features, handlers)
  local who = "slim.tfexample_decoder.TFExampleDecoder"
  if features and features.keys_to_features then features, handlers = features.keys_to_features, features.items_to_handlers end
  if type(features) ~= "table" or type(handlers) ~= "table" then T.fail(who, "expected keys_to_features and items_to_handlers, two tables by name") end
  for item, h in pairs(handlers) do
    if type(h) ~= "table" or type(h.tensors_to_item) ~= "function" then T.fail(who, "the handler of item '%s' has no tensors_to_item", item) end
  end
  return setmetatable({features = features, handlers = handlers}, Decoder)
end
function Decoder:list_items()
  local out = {}
  for name in pairs(self.handlers) do out[#out + 1] = name end
  table.sort(out)
  return out
end
-- The items (all, in the order of list_items, if none are named), as several values.
function Decoder:decode(record, items)
  items = items or self:list_items()
  local tensors, out = tf.parse_single_example(record, self.features), {}
  for i, name in ipairs(items) do
    local h = self.handlers[name]
    if not h then
      local near = T.nearest(tostring(name), self:list_items())
      T.fail("TFExampleDecoder", "there is no item '%s'%s", name, near and ("; the nearest is '%s'"):format(near) or "")
    end
    out[i] = h:tensors_to_item(tensors)
  end
  return table.unpack(out, 1, #items)
end
return decoder
