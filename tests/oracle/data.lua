-- One family of recorded cases: its JSON and its tensors by name. The format is described in
-- tests/data/oracle/README.md.
local tf = require "tfsdk"

local M = {}

M.families = {"unary", "binary", "cast", "reduce", "matmul", "linalg", "array", "index", "conv", "pool",
  "norm", "loss", "image", "fft", "complex", "sparse", "string", "optimizer", "second"}

local function read_text(path)
  local file, message = io.open(path, "rb")
  if not file then error(message, 0) end
  local text = file:read "a"
  file:close()
  return text
end

-- `null` as an attribute or a member of a list: TensorFlow's None.
M.null = tf.json.null

-- A list in which `null` becomes false, so that it has no holes.
local function without_null(list)
  local out = {}
  for i, v in ipairs(list or {}) do out[i] = v ~= M.null and v end
  return out
end

-- Attributes without those that are None.
local function attributes(attrs)
  local out = {}
  for key, value in pairs(attrs) do
    if value ~= M.null then out[key] = value end
  end
  return out
end

local Family = {}
Family.__index = Family

-- The tensor of a name; false stays false. Complex numbers lie there as pairs of real ones.
function Family:tensor(name)
  if not name then return false end
  local found = self.made[name]
  if found then return found end
  local text, complex = self.strings[name], self.complex[name]
  if text then
    found = tf.tensor(text.values, "string", text.shape)
  elseif complex then
    local pairs_ = self.numbers[name]
    local shape = pairs_.shape
    table.remove(shape)
    found = tf.frombytes(pairs_:bytes(), complex, shape)
  else
    found = self.numbers[name] or error(("%s: no tensor '%s'"):format(self.name, name))
  end
  self.made[name] = found
  return found
end

function Family:tensors(names)
  local out = {}
  for i, name in ipairs(names) do out[i] = self:tensor(name) end
  return out
end

-- Names of the types that a case needs besides the tensors in the file: complex ones and those that the
-- file stores as something else.
function Family:unusual_types(case)
  local found = {}
  for _, key in ipairs {"inputs", "outputs"} do
    for _, name in ipairs(case[key]) do
      if self.complex[name] then found[#found + 1] = self.complex[name] end
    end
  end
  for _, value in pairs(case.attrs) do
    if type(value) == "string" and (value:find "^complex%d" or value:find "^qu?int%d") then
      found[#found + 1] = value
    end
  end
  return found
end

function M.read(folder, name)
  local family = tf.json.decode(read_text(("%s/%s.json"):format(folder, name)))
  local self = setmetatable({name = name, strings = family.strings, complex = family.complex, made = {},
    numbers = tf.read_safetensors(("%s/%s.safetensors"):format(folder, name)), cases = family.cases}, Family)
  for _, case in ipairs(self.cases) do
    case.attrs = attributes(case.attrs)
    for _, key in ipairs {"inputs", "outputs", "dy", "dx", "dv", "ddx", "ddy"} do
      case[key] = case[key] and without_null(case[key])
    end
  end
  return self
end

return M
