-- Whether a tensor is what was recorded. Shapes and types are equal exactly, and so are integers, booleans and
-- strings; for floating numbers |got - want| <= atol + rtol |want|. NaN equals NaN, an infinity the
-- same infinity; the sign of a zero counts only where the case says so.
local M = {}

local formats = {float32 = "<f", float64 = "<d", int8 = "<b", int16 = "<i2", int32 = "<i4", int64 = "<i8",
  uint8 = "<B", bool = "<B", uint16 = "<I2", uint32 = "<I4", uint64 = "<i8", float16 = "<I2",
  bfloat16 = "<I2", complex64 = "<f", complex128 = "<d"}
local floating = {float16 = true, bfloat16 = true, float32 = true, float64 = true, complex64 = true,
  complex128 = true}
M.floating = floating

-- IEEE 754 binary16.
local function half(bits)
  local exponent, mantissa = bits >> 10 & 31, bits & 1023
  local value
  if exponent == 31 then value = mantissa == 0 and math.huge or 0 / 0
  elseif exponent == 0 then value = mantissa * 2.0 ^ -24
  else value = (1024 + mantissa) * 2.0 ^ (exponent - 25) end
  return bits >> 15 == 1 and -value or value
end
-- The upper half of binary32.
local function bfloat(bits) return (string.unpack("<f", string.pack("<I4", bits << 16))) end
local decode = {float16 = half, bfloat16 = bfloat}

local function text(shape) return "{" .. table.concat(shape, ",") .. "}" end

-- "[1,2]" of the element with that number (from 0); a complex tensor has two numbers in each.
local function place(k, shape)
  local at = {}
  for axis = #shape, 1, -1 do
    at[axis] = k % shape[axis]
    k = k // shape[axis]
  end
  return #at > 0 and "[" .. table.concat(at, ",") .. "]" or ""
end

local function negative(x) return x < 0 or (x == 0 and 1 / x < 0) end

local function near(got, want, rule)
  if want ~= want then return got ~= got or (rule.nan_or_limit and math.abs(got) < math.huge) end
  if got == want then
    return not (rule.signed_zero and want == 0 and negative(got) ~= negative(want))
  end
  if want == math.huge or want == -math.huge then return false end
  return math.abs(got - want) <= rule.atol + rule.rtol * math.abs(want)
end

local function flatten(value, out)
  if type(value) == "table" then
    for _, v in ipairs(value) do flatten(v, out) end
  else
    out[#out + 1] = value
  end
  return out
end

-- Elements as Lua values: strings, or numbers read from the bytes.
local function reader(t)
  if t.dtype == "string" then
    local list = flatten(t:table(), {})
    return function(k) return list[k + 1] end
  end
  local bytes, format, from = t:bytes(), formats[t.dtype], decode[t.dtype]
  local size = string.packsize(format)
  return function(k)
    local v = string.unpack(format, bytes, k * size + 1)
    return from and from(v) or v
  end
end

local function show(v)
  if math.type(v) == "float" then return ("%.9g"):format(v) end
  return type(v) == "string" and ("%q"):format(v) or tostring(v)
end

-- Whether `shape` (nil: of unknown rank, -1: unknown extents) may be that of a tensor of shape `whole`.
function M.may_be(shape, whole)
  if not shape then return true end
  if #shape ~= #whole then return false end
  for i, d in ipairs(shape) do
    if d >= 0 and d ~= whole[i] then return false end
  end
  return true
end
M.shape_text = text

-- rule: {rtol, atol, signed_zero, nan_or_limit, except = {[element] = true or the right value}}. Returns nil,
-- or what differs first; and whether all excepted elements are as recorded, too.
function M.differs(got, want, rule)
  if got.dtype ~= want.dtype then return (": got type %s, want %s"):format(got.dtype, want.dtype) end
  local shape = want.shape
  if text(got.shape) ~= text(shape) then
    return (": got shape %s, want %s"):format(text(got.shape), text(shape))
  end
  local except, all = rule.except or {}, true
  if want.dtype ~= "string" and not rule.except and got:bytes() == want:bytes() then return nil, true end
  local a, b = reader(got), reader(want)
  local exact = not floating[want.dtype]
  local bad, first, n = 0, nil, want:size()
  local per = want.dtype:find "^complex" and 2 or 1
  for k = 0, n * per - 1 do
    local x, y = a(k), b(k)
    local equal = exact and x == y or not exact and near(x, y, rule)
    local instead = except[k // per]
    if instead then
      all = all and equal
      if instead ~= true then y = instead end
      equal = instead == true or near(x, y, rule)
    end
    if not equal then
      bad = bad + 1
      first = first or ("%s: got %s, want %s"):format(place(k // per, shape), show(x), show(y))
    end
  end
  if bad == 0 then return nil, all end
  return ("%s (%d of %d elements differ)"):format(first, bad, n), all
end

return M
