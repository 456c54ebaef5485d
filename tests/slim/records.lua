-- TFRecord files and Examples that TensorFlow wrote, and damaged ones: tests/data/records.
--
--     tfsdk run tests/slim/records.lua
local tf = require "tfsdk"
local here = arg[0]:match "^(.*)/" or "."
local folder = here .. "/../data/records/"
local passed, failed = 0, 0
local function check(what, ok, more)
  if ok then passed = passed + 1 return end
  failed = failed + 1
  print(what, more or "")
end
local function read_json(name)
  local file = assert(io.open(folder .. name))
  local out = tf.json.decode(file:read "a")
  file:close()
  return out
end
local function crc(s) -- of the polynomial's definition, bit by bit
  local c = 0xffffffff
  for i = 1, #s do
    c = c ~ s:byte(i)
    for _ = 1, 8 do c = c & 1 == 1 and c >> 1 ~ 0x82f63b78 or c >> 1 end
  end
  return c ~ 0xffffffff
end
local function from_hex(s) return (s:gsub("..", function(h) return string.char(tonumber(h, 16)) end)) end

-- What FromString gave against what is recorded.
local function same_feature(got, want)
  local kind = want.kind ~= tf.json.null and want.kind or nil
  if not kind then return next(got) == nil end
  local values = got[kind] and got[kind].value
  if not values or #values ~= #want.values then return false end
  for i, v in ipairs(want.values) do
    if kind == "bytes_list" then v = v.text or from_hex(v.hex) end
    if kind == "int64_list" and v == 0x1p63 then v = math.maxinteger end -- JSON's numbers are doubles
    if kind == "int64_list" and math.tointeger(v) ~= values[i] or kind ~= "int64_list" and v ~= values[i] then return false end
  end
  return true
end
local function same_map(got, want, same)
  for name in pairs(got) do if want[name] == nil then return false end end
  for name, w in pairs(want) do if got[name] == nil or not same(got[name], w) then return false end end
  return true
end
local function same_list(got, want)
  if #got.feature ~= #want then return false end
  for i, w in ipairs(want) do if not same_feature(got.feature[i], w) then return false end end
  return true
end

local recorded = read_json "records.json"
local parsed = {}
for _, case in ipairs(recorded.cases) do if type(case.parsed) == "table" then parsed[case.id] = case.parsed end end
local first_records = {}
for _, case in ipairs(recorded.cases) do
  local path = folder .. case.file:match "[^/]*$"
  do
    local i = 0
    for record in tf.python_io.tf_record_iterator(path, type(case.compression) == "string" and case.compression or nil) do
      i = i + 1
      first_records[case.id] = first_records[case.id] or {}
      first_records[case.id][i] = record
      check(("%s, record %d"):format(case.id, i), #record == case.records[i] and (#record > 1000 or crc(record) == case.crc32c_of_records[i]))
      local want = case.parsed and (parsed[case.id] or parsed[case.id:gsub("%.gz$", ""):gsub("%.zlib$", "")])[i]
      if want and want.features then
        local e = tf.train.Example.FromString(record)
        check(("%s, Example %d"):format(case.id, i), same_map(e.features.feature, want.features, same_feature))
        check(("%s, Example %d again"):format(case.id, i), same_map(tf.train.Example.FromString(e:SerializeToString()).features.feature, want.features, same_feature))
      elseif want then
        local e = tf.train.SequenceExample.FromString(record)
        check(("%s, context %d"):format(case.id, i), same_map(e.context.feature, want.context, same_feature))
        check(("%s, lists %d"):format(case.id, i), same_map(e.feature_lists.feature_list, want.feature_lists, same_list))
        local again = tf.train.SequenceExample.FromString(e:SerializeToString())
        check(("%s, lists %d again"):format(case.id, i), same_map(again.feature_lists.feature_list, want.feature_lists, same_list))
      end
    end
    check(case.id .. ", records", i == #case.records, i)
  end
end

-- What our writer writes are TensorFlow's bytes.
local copy = os.tmpname()
local writer = tf.io.TFRecordWriter(copy)
for _, record in ipairs(first_records["raw.tfrecord"]) do writer:write(record) end
writer:close()
local function bytes_of(path)
  local file = assert(io.open(path, "rb"))
  local out = file:read "a"
  file:close()
  return out
end
check("a file written again", bytes_of(copy) == bytes_of(folder .. "raw.tfrecord"))
-- Compressed, by name, number or options: read back the same, and by gzip; the level has its effect.
local kinds = {GZIP = {"GZIP", 2, tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP), tf.python_io.TFRecordOptions("GZIP", 0)},
  ZLIB = {"ZLIB", 1, {compression_type = "ZLIB", compression_level = 9}}}
for kind, ways in pairs(kinds) do
  for way, options in ipairs(ways) do
    local w <close> = tf.io.TFRecordWriter(copy, options)
    for _, record in ipairs(first_records["raw.tfrecord"]) do w:write(record) end
    w:flush() -- what was flushed can be read; the stream has no end yet
    local n, of_end = 0, nil
    local ok, why = pcall(function() for _ in tf.io.tf_record_iterator(copy, kind) do n = n + 1 end end)
    check(kind .. way .. ": flushed", n == #first_records["raw.tfrecord"] and not ok and why.code == "DATA_LOSS", tostring(why))
    w:close()
    local i, same = 0, true
    for record in tf.io.tf_record_iterator(copy, kind) do
      i = i + 1
      same = same and record == first_records["raw.tfrecord"][i]
    end
    check(kind .. way .. ": read back", same and i == #first_records["raw.tfrecord"])
    local size = #bytes_of(copy)
    check(kind .. way .. ": its size", way == 4 and size > 26377 or way < 4 and size < 1000, size)
    if kind == "GZIP" then check("gzip reads it", os.execute(("gzip -dc < %s | cmp -s - %s"):format(copy, folder .. "raw.tfrecord"))) end
  end
end
check("another compression", not pcall(tf.io.TFRecordWriter, copy, "LZ4"))
os.remove(copy)

-- Parsing by specification.
local specs = {label = tf.FixedLenFeature({}, "int64"), weights = tf.FixedLenFeature({3}, "float32"), big = tf.VarLenFeature "int64",
  name = tf.FixedLenFeature({2}, "string"), missing = tf.FixedLenFeature({2}, "float32", 7)}
local seen = 0
for x in tf.data.TFRecordDataset({folder .. "examples.tfrecord", folder .. "examples.tfrecord.gz"}):take(4)
  :map(function(record) return tf.parse_single_example(record, specs) end):iter() do
  seen = seen + 1
  local want = parsed["examples.tfrecord"][seen].features
  check("label " .. seen, x.label:item() == math.tointeger(want.label.values[1]) and x.label:rank() == 0)
  check("weights " .. seen, x.weights.dtype == "float32" and x.weights:table()[3] == want.weights.values[3])
  check("big " .. seen, x.big:table()[1] == math.mininteger and x.big:size() == 4)
  check("name " .. seen, x.name:table()[1] == want.name.values[1].text)
  check("missing " .. seen, x.missing:table()[2] == 7)
end
check("records of a dataset", seen == 4)
local both = tf.parse_example({first_records["examples.tfrecord"][1], first_records["examples.tfrecord"][2]}, {label = specs.label})
check("parse_example", both.label:table()[1] == 0 and both.label:table()[2] == 8)
local function message(fn, ...)
  local ok, why = pcall(fn, ...)
  return ok and "no error" or why.message
end
check("a feature that is not there", message(tf.parse_single_example, first_records["examples.tfrecord"][6], {label = specs.label})
  == "feature 'label' is missing, and there is no default_value")
check("a feature of another kind", message(tf.parse_single_example, first_records["examples.tfrecord"][1], {label = tf.FixedLenFeature({}, "float32")})
  == "feature 'label' is a int64_list, not a float_list")
check("another number of values", message(tf.parse_single_example, first_records["examples.tfrecord"][1], {weights = tf.FixedLenFeature({2}, "float32")})
  == "feature 'weights' has 3 values; the shape [2] needs 2")
check("decode_raw", table.concat(tf.decode_raw("\1\0\2\1", "int16"):table(), " ") == "1 258")
check("decode_raw, turned", table.concat(tf.decode_raw("\1\0\2\1", "int16", false):table(), " ") == "256 513")

-- Damaged files: the whole records before the damage may stand, then an error.
for _, case in ipairs(read_json("damaged.json").cases) do
  local path, n = folder .. case.open, 0
  local options = {reader = "tfrecord", compression_type = case.id:find "^gzip" and "GZIP" or case.id:find "^zlib" and "ZLIB" or ""}
  local ok, why = pcall(function()
    for r in tf.data.from_file(path, options):iter() do
      n = n + 1
      if case.id:find "^example" then tf.train.Example.FromString(r.data:item()) end
    end
  end)
  check(case.id, not ok and why.code == "DATA_LOSS", ok and "no error" or tostring(why))
  if case.whole_records and case.must == "partial" then check(case.id .. ", records", n == case.whole_records, n) end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1, true)
