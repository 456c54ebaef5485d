-- provides tf: parse_single_example parse_example FixedLenFeature VarLenFeature FixedLenSequenceFeature decode_raw
-- provides tf.io: parse_single_example parse_example FixedLenFeature VarLenFeature FixedLenSequenceFeature decode_raw TFRecordWriter tf_record_iterator
-- provides tf.python_io: TFRecordWriter tf_record_iterator TFRecordOptions TFRecordCompressionType
-- provides tf.train: Example SequenceExample Features FeatureLists FeatureList Feature BytesList FloatList Int64List
-- provides tf.data: TFRecordDataset
-- TFRecord files, and the Examples in them: features by name, each a list of bytes, floats or whole numbers.
--   Example{features 1{feature 1*{key 1, value 2}}}; Feature{bytes_list 1 | float_list 2 | int64_list 3{value 1*}};
--   SequenceExample{context 1, feature_lists 2{feature_list 1*{key 1, value 2{feature 1*}}}}
-- (tensorflow/core/example/{example,feature}.proto). Parsing is done on tensors, at once: in a dataset's map, say.
local tf, T = ...
local def = T.def
if T.proto == nil then local _ = tf.io.write_graph end
local P = T.proto
local io_, python_io, train = T.namespace "tf.io", T.namespace "tf.python_io", T.namespace "tf.train"

-- ------------------------------------------------------------------------------------------ wire format

local function broken(what, at) T.fail_code(15, "Example", ("the message is damaged: %s at byte %d"):format(what, at - 1)) end
local function varint(s, at, stop)
  local v, shift, begin = 0, 0, at
  while true do
    local b = at <= stop and s:byte(at)
    if not b or shift > 63 then broken("a number does not end", begin) end
    v = v | (b & 127) << shift
    at, shift = at + 1, shift + 7
    if b < 128 then return v, at end
  end
end
-- Calls fn(field, wire type, value or first byte, last byte) for each field of s[at..stop].
local function each_field(s, at, stop, fn)
  while at <= stop do
    local begin = at
    local key
    key, at = varint(s, at, stop)
    local field, wire = key >> 3, key & 7
    if field == 0 then broken("field 0", begin) end
    if wire == 0 then
      local v
      v, at = varint(s, at, stop)
      fn(field, wire, v)
    elseif wire == 2 then
      local n
      n, at = varint(s, at, stop)
      if n < 0 or n > stop - at + 1 then broken(("a field of %d bytes where %d are left"):format(n, stop - at + 1), begin) end
      fn(field, wire, at, at + n - 1)
      at = at + n
    elseif wire == 1 or wire == 5 then
      local n = wire == 1 and 8 or 4
      if stop - at + 1 < n then broken("a number is cut off", begin) end
      fn(field, wire, at, at + n - 1)
      at = at + n
    else
      broken(("wire type %d"):format(wire), begin)
    end
  end
end

local kinds = {"bytes_list", "float_list", "int64_list"}
-- {kind =, n =, list = table | bytes = packed floats}
local function read_feature(s, at, stop)
  local out = {n = 0, list = {}}
  each_field(s, at, stop, function(which, wire, from, to)
    if wire ~= 2 or not kinds[which] then return end
    out = {kind = kinds[which], n = 0, list = {}}
    local list, floats = out.list, {}
    each_field(s, from, to, function(field, inner, a, b)
      if field ~= 1 then return end
      if which == 1 and inner == 2 then
        list[#list + 1] = s:sub(a, b)
      elseif which == 2 and (inner == 5 or inner == 2) then
        if (b - a + 1) % 4 ~= 0 then broken("floats of other than 4 bytes", a) end
        floats[#floats + 1] = s:sub(a, b)
      elseif which == 3 and inner == 0 then
        list[#list + 1] = a
      elseif which == 3 and inner == 2 then
        while a <= b do list[#list + 1], a = varint(s, a, b) end
      end
    end)
    if which == 2 then out.bytes = table.concat(floats) end
    out.n = which == 2 and #out.bytes // 4 or #list
  end)
  return out
end
-- name -> value for a map field; read(s, from, to) reads the values.
local function read_map(s, at, stop, read)
  local out = {}
  each_field(s, at, stop, function(field, wire, from, to)
    if field ~= 1 or wire ~= 2 then return end
    local key, value = "", nil
    each_field(s, from, to, function(f, w, a, b)
      if f == 1 and w == 2 then key = s:sub(a, b) elseif f == 2 and w == 2 then value = read(s, a, b) end
    end)
    out[key] = value or read(s, 1, 0)
  end)
  return out
end
local function read_list(s, at, stop)
  local out = {}
  each_field(s, at, stop, function(field, wire, from, to)
    if field == 1 and wire == 2 then out[#out + 1] = read_feature(s, from, to) end
  end)
  return out
end
local function read_example(s)
  local features = {}
  each_field(s, 1, #s, function(field, wire, from, to)
    if field == 1 and wire == 2 then
      for name, f in pairs(read_map(s, from, to, read_feature)) do features[name] = f end
    end
  end)
  return features
end

-- ------------------------------------------------------------------------------------------ messages

-- tf.train.Feature{int64_list = tf.train.Int64List{value = {1, 2}}} and so on: tables, checked where they are written.
for _, name in ipairs {"BytesList", "FloatList", "Int64List", "Feature", "Features", "FeatureList", "FeatureLists"} do
  train[name] = function(fields) return fields or {} end
end
local function feature_bytes(f, name)
  local who = "tf.train.Example"
  local out = {}
  for i, kind in ipairs(kinds) do
    local list = f[kind]
    if list ~= nil then
      local values = list.value or list
      if T.kind(values) == "Tensor" then values = values:reshape {-1}:table() end
      if type(values) ~= "table" then values = {values} end
      local parts = {}
      for k, v in ipairs(values) do
        if i == 1 then
          if type(v) ~= "string" then T.fail(who, "feature '%s': entry %d of bytes_list is a %s", name, k, type(v)) end
          parts[k] = P.bytes(1, v)
        elseif type(v) ~= "number" or i == 3 and not math.tointeger(v) then
          T.fail(who, "feature '%s': entry %d of %s is %s", name, k, kind, tostring(v))
        else
          parts[k] = i == 2 and string.pack("<f", v) or P.varint(math.tointeger(v))
        end
      end
      local body = table.concat(parts)
      if i > 1 and #body > 0 then body = P.bytes(1, body) end
      out[#out + 1] = P.bytes(i, body)
    end
  end
  if #out > 1 then T.fail(who, "feature '%s' has several lists; it may have one of bytes_list, float_list, int64_list", name) end
  return out[1] or ""
end
local function sorted(map)
  local names = {}
  for name in pairs(map) do names[#names + 1] = name end
  table.sort(names)
  return names
end
local function features_bytes(features)
  local map = features and (features.feature or features) or {}
  local out = {}
  for i, name in ipairs(sorted(map)) do out[i] = P.bytes(1, P.bytes(1, name) .. P.bytes(2, feature_bytes(map[name], name))) end
  return table.concat(out)
end
local function plain(f)
  if not f.kind then return {} end
  local list = f.list
  if f.bytes then
    list = {}
    for i = 1, f.n do list[i] = (string.unpack("<f", f.bytes, 4 * i - 3)) end
  end
  return {[f.kind] = {value = list}}
end
local function plain_map(map, of)
  local out = {}
  for name, f in pairs(map) do out[name] = of(f) end
  return out
end

local Example = {__name = "Example"}
Example.__index = Example
function Example:SerializeToString()
  local body = features_bytes(self.features)
  return #body > 0 and P.bytes(1, body) or ""
end
train.Example = setmetatable({
  FromString = function(s) return setmetatable({features = {feature = plain_map(read_example(s), plain)}}, Example) end,
}, {__call = function(_, fields) return setmetatable({features = fields and fields.features or {}}, Example) end})

local Sequence = {__name = "SequenceExample"}
Sequence.__index = Sequence
function Sequence:SerializeToString()
  local context, lists, out = features_bytes(self.context), {}, {}
  local map = self.feature_lists and (self.feature_lists.feature_list or self.feature_lists) or {}
  for i, name in ipairs(sorted(map)) do
    local parts = {}
    for k, f in ipairs(map[name].feature or map[name]) do parts[k] = P.bytes(1, feature_bytes(f, name)) end
    lists[i] = P.bytes(1, P.bytes(1, name) .. P.bytes(2, table.concat(parts)))
  end
  if #context > 0 then out[1] = P.bytes(1, context) end
  if #lists > 0 then out[#out + 1] = P.bytes(2, table.concat(lists)) end
  return table.concat(out)
end
local function plain_list(list)
  local out = {}
  for i, f in ipairs(list) do out[i] = plain(f) end
  return {feature = out}
end
train.SequenceExample = setmetatable({
  FromString = function(s)
    local context, lists = {}, {}
    each_field(s, 1, #s, function(field, wire, from, to)
      if field == 1 and wire == 2 then context = read_map(s, from, to, read_feature) end
      if field == 2 and wire == 2 then lists = read_map(s, from, to, read_list) end
    end)
    return setmetatable({context = {feature = plain_map(context, plain)}, feature_lists = {feature_list = plain_map(lists, plain_list)}}, Sequence)
  end,
}, {__call = function(_, fields)
  return setmetatable({context = fields and fields.context or {}, feature_lists = fields and fields.feature_lists or {}}, Sequence)
end})

-- ------------------------------------------------------------------------------------------ parsing

local dtype_kind = {float32 = "float_list", int64 = "int64_list", string = "bytes_list"}
local Spec = {__name = "Feature specification"}
local function spec(kind, shape, dtype, default)
  if not dtype_kind[dtype] then T.fail("tf." .. kind, "'dtype' must be float32, int64 or string, not %s", tostring(dtype)) end
  return setmetatable({kind = kind, shape = shape, dtype = dtype, default = default}, Spec)
end
for _, path in ipairs {"tf", "tf.io"} do
  def(path .. ".FixedLenFeature", "shape dtype default_value?", function(shape, dtype, default) return spec("FixedLenFeature", shape, dtype, default) end)
  def(path .. ".VarLenFeature", "dtype", function(dtype) return spec("VarLenFeature", nil, dtype) end)
  def(path .. ".FixedLenSequenceFeature", "shape dtype allow_missing=false default_value?", function(shape, dtype, missing)
    local s = spec("FixedLenSequenceFeature", shape, dtype)
    s.allow_missing = missing
    return s
  end)
end

local function elements(shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end
local function tensor_of(f, dtype, shape)
  if dtype == "float32" then return tf.frombytes(f.bytes, "float32", shape) end
  if #f.list == 0 then return tf.zeros(shape, dtype, {now = true}) end
  local t = tf.tensor(f.list, dtype)
  return t:reshape(shape)
end
local function empty(dtype, shape) return tf.zeros(shape, dtype, {now = true}) end

-- The value of a feature as its specification says.
local function value_of(who, name, f, s)
  local want = dtype_kind[s.dtype]
  if f and f.kind and f.kind ~= want then T.fail(who, "feature '%s' is a %s, not a %s", name, f.kind, want) end
  local there = f and f.kind and f.n > 0
  if s.kind == "VarLenFeature" then
    return there and tensor_of(f, s.dtype, {f.n}) or empty(s.dtype, {0})
  end
  local size = elements(s.shape)
  if s.kind == "FixedLenSequenceFeature" then
    local shape = {0, table.unpack(s.shape)}
    if not there then
      if not s.allow_missing and not (f and f.kind) then T.fail(who, "feature '%s' is missing", name) end
      return empty(s.dtype, shape)
    end
    if f.n % size ~= 0 then T.fail(who, "feature '%s' has %d values, no multiple of %d", name, f.n, size) end
    shape[1] = f.n // size
    return tensor_of(f, s.dtype, shape)
  end
  if not there and not (f and f.kind and size == 0) then
    if s.default == nil then T.fail(who, "feature '%s' is missing, and there is no default_value", name) end
    local t = T.kind(s.default) and s.default or tf.tensor(s.default, s.dtype)
    if t:rank() == 0 and #s.shape > 0 then t = tf.fill(s.shape, t) end
    return t:reshape(s.shape)
  end
  if f.n ~= size then
    T.fail(who, "feature '%s' has %d values; the shape [%s] needs %d", name, f.n, table.concat(s.shape, ", "), size)
  end
  return tensor_of(f, s.dtype, s.shape)
end
local function text_of(who, x)
  if type(x) == "string" then return x end
  if T.kind(x) == "Tensor" and x.dtype == "string" and x:size() == 1 then return x:reshape {}:item() end
  if T.kind(x) == "Node" then
    T.fail_code(12, who, "records are parsed as they are read, not in a graph: use it in a dataset's map")
  end
  return T.fail(who, "expected one serialized Example, not a %s", T.kind(x) or type(x))
end
local function check_features(who, features)
  if type(features) ~= "table" or next(features) == nil then T.fail(who, "'features' must be a table of specifications by name") end
  for name, s in pairs(features) do
    if getmetatable(s) ~= Spec then T.fail(who, "'%s' must be a tf.FixedLenFeature or its like, not a %s", tostring(name), T.kind(s) or type(s)) end
  end
end
-- Features by name; a VarLenFeature gives a vector of its values (a sparse tensor in TensorFlow).
local function parse_one(who)
  return function(serialized, features)
    check_features(who, features)
    local found, out = read_example(text_of(who, serialized)), {}
    for name, s in pairs(features) do out[name] = value_of(who, name, found[name], s) end
    return out
  end
end
-- Of a vector of Examples: each feature stacked.
local function parse_many(who)
  return function(serialized, features)
    check_features(who, features)
    for name, s in pairs(features) do
      if s.kind ~= "FixedLenFeature" then T.fail_code(12, who, ("'%s': only FixedLenFeature has one shape for all Examples"):format(name)) end
    end
    local list = type(serialized) == "table" and not T.kind(serialized) and serialized or serialized:reshape {-1}:table()
    local rows, out = {}, {}
    for i, text in ipairs(list) do
      local found = read_example(text)
      for name, s in pairs(features) do
        rows[name] = rows[name] or {}
        rows[name][i] = value_of(who, name, found[name], s)
      end
    end
    for name, r in pairs(rows) do out[name] = tf.stack(r) end
    return out
  end
end
for _, path in ipairs {"tf", "tf.io"} do
  -- (Functions of their own: `features` is a table by name, which elsewhere means options.)
  local space = path == "tf" and tf or io_
  rawset(space, "parse_single_example", parse_one(path .. ".parse_single_example"))
  rawset(space, "parse_example", parse_many(path .. ".parse_example"))
  -- Bytes as numbers: each string of the tensor becomes a row.
  def(path .. ".decode_raw", "bytes|input_bytes out_type little_endian=true name?", function(bytes, dtype, little)
    local who = path .. ".decode_raw"
    if type(bytes) == "string" then bytes = tf.tensor(bytes, "string") end
    if T.kind(bytes) == "Node" then T.fail_code(12, who, "bytes are decoded as they are read, not in a graph: use it in a dataset's map") end
    local shape, rows = {table.unpack(bytes.shape)}, {}
    local flat = bytes:reshape {-1}
    for i = 1, flat:size() do
      local s = flat[i]:item()
      if not little and not dtype:find "8$" then
        local size = dtype:find "64" and 8 or dtype:find "16" and 2 or 4
        s = s:gsub(("."):rep(size), string.reverse)
      end
      rows[i] = tf.frombytes(s, dtype)
      if i > 1 and rows[i]:size() ~= rows[1]:size() then
        T.fail(who, "string %d has %d values, the first one %d: all must be of one length", i, rows[i]:size(), rows[1]:size())
      end
    end
    shape[#shape + 1] = rows[1] and rows[1]:size() or 0
    return #rows == 1 and rows[1]:reshape(shape) or tf.stack(rows):reshape(shape)
  end)
end

-- ------------------------------------------------------------------------------------------ files

python_io.TFRecordCompressionType = {NONE = 0, ZLIB = 1, GZIP = 2}
function python_io.TFRecordOptions(compression, level)
  if type(compression) == "table" then return {compression_type = compression.compression_type or compression[1], compression_level = compression.compression_level} end
  return {compression_type = compression, compression_level = level}
end
-- "", "GZIP" or "ZLIB" (and the level) of what may stand for options: nothing, a name, a number, TFRecordOptions.
local function compression_of(who, options)
  local kind, level = options, -1
  if type(options) == "table" then kind, level = options.compression_type or options[1], options.compression_level or -1 end
  if kind == nil or kind == 0 or kind == "NONE" then kind = "" elseif kind == 1 then kind = "ZLIB" elseif kind == 2 then kind = "GZIP" end
  if kind ~= "" and kind ~= "GZIP" and kind ~= "ZLIB" then T.fail(who, "compression_type is '%s'; there are '', 'GZIP' and 'ZLIB'", tostring(kind)) end
  return kind, level
end

local Writer = {__name = "TFRecordWriter"}
Writer.__index = Writer
function Writer:write(record)
  if T.kind(record) == "Tensor" then record = record:item() end
  if type(record) ~= "string" then T.fail("TFRecordWriter", "a record is a string of bytes, not a %s", T.kind(record) or type(record)) end
  if not self.file then T.fail_code(9, "TFRecordWriter", ("the writer of '%s' is closed"):format(self.path)) end
  T.records_add(self.file, record)
end
function Writer:flush()
  if self.file then T.records_flush(self.file) end
end
function Writer:close()
  local file = self.file
  self.file = nil
  if file then T.records_close(file) end
end
Writer.__close = Writer.close
for _, path in ipairs {"tf.python_io", "tf.io"} do
  def(path .. ".TFRecordWriter", "path options? compression_type? compression_level?", function(file_path, options, type_name, chosen)
    local kind, level = compression_of(path .. ".TFRecordWriter", options or {compression_type = type_name, compression_level = chosen})
    return setmetatable({file = T.records_open(file_path, kind, level), path = file_path}, Writer)
  end)
  def(path .. ".tf_record_iterator", "path options? compression_type? compression_level?", function(file_path, options, type_name)
    local kind = compression_of(path .. ".tf_record_iterator", options or type_name)
    local next_of, records = tf.data.from_file(file_path, {reader = "tfrecord", compression_type = kind}):iter()
    return function()
      local r = next_of(records)
      return r and r.data:item() or nil
    end
  end)
end

-- Records of one file or several, one after another: string tensors.
def("tf.data.TFRecordDataset", "filenames compression_type= buffer_size? num_parallel_reads?", function(files, compression)
  if T.kind(files) == "Tensor" then files = files:reshape {-1}:table() end
  if type(files) == "string" then files = {files} end
  if #files == 0 then T.fail("tf.data.TFRecordDataset", "there are no files") end
  local all
  for _, path in ipairs(files) do
    local ds = tf.data.from_file(path, {reader = "tfrecord", compression_type = (compression_of("tf.data.TFRecordDataset", compression))})
    all = all and all:concatenate(ds) or ds
  end
  return all:map(function(r) return r.data end)
end)
