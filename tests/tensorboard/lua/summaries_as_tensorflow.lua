-- Summary ops give TensorFlow's bytes: data/summaries.json, recorded from TensorFlow 2.21 by record.py.
-- PNG: the pixels are compared by bytes, too, which holds as long as libpng and zlib choose the same filters and matches.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local file = assert(io.open((arg[0]:match "^.*/" or "./") .. "../data/summaries.json"))
local recorded = tf.json.decode(file:read "a")
file:close()
local function hex(s) return (s:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end
local function tensor(x)
  local flat = {}
  for i, v in ipairs(x.values) do
    if x.dtype == "bool" then flat[i] = v ~= 0
    elseif x.dtype == "string" or type(v) ~= "string" then flat[i] = v
    elseif v == "nan" then flat[i] = -(0 / 0) -- positive, as NumPy's
    elseif v == "inf" then flat[i] = math.huge
    elseif v == "-inf" then flat[i] = -math.huge
    else flat[i] = tonumber(v) end
  end
  local shape = {}
  for i, d in ipairs(x.shape) do shape[i] = math.tointeger(d) end
  if #flat == 0 then return tf.zeros(shape, x.dtype, {now = true}) end
  return tf.reshape(tf.tensor(flat, x.dtype), tf.tensor(shape, "int32"))
end
local order = {ScalarSummary = {"tags", "values"}, HistogramSummary = {"tag", "values"}, ImageSummary = {"tag", "tensor"},
  AudioSummaryV2 = {"tag", "tensor", "sample_rate"}, TensorSummaryV2 = {"tag", "tensor", "serialized_summary_metadata"}}
for _, case in ipairs(recorded.cases) do
  local inputs, attrs = {}, {}
  for i, name in ipairs(order[case.op]) do inputs[i] = tensor(case.inputs[name]) end
  for name, v in pairs(case.attrs) do attrs[name] = v end
  if attrs.bad_color then for i, v in ipairs(attrs.bad_color) do attrs.bad_color[i] = math.tointeger(v) end end
  inputs[#inputs + 1] = attrs
  local ok, out = pcall(tf.raw[case.op], table.unpack(inputs))
  if case.error then
    t.check(case.id, not ok and out.code == "INVALID_ARGUMENT", ok and "a summary" or out.code, "INVALID_ARGUMENT")
  else
    local got = ok and hex(out:item()) or tostring(out)
    t.check(case.id, got == case.summary, got, case.summary)
  end
end
print(#recorded.cases >= 45) -- expect: true
t.done() -- expect: ok
