-- provides tf: json read_npz write_npz read_safetensors write_safetensors
-- provides tf.json: encode decode null
-- provides Tensor: write
-- Files of tensors, and JSON.
local tf, T = ...
local json = T.namespace "tf.json"
tf.json = json
json.null = T.json_null()
json.decode = T.json_decode

local escapes = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\b"] = "\\b", ["\f"] = "\\f"}
local function quote(s)
  return '"' .. s:gsub('[%c"\\]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end
local function number(x)
  if math.type(x) == "integer" then return ("%d"):format(x) end
  if x ~= x or x == math.huge or x == -math.huge then T.fail("tf.json.encode", "JSON has no %s", tostring(x)) end
  local short = ("%.14g"):format(x)
  return tonumber(short) == x and short or ("%.17g"):format(x)
end
-- Tables with members 1..n are arrays, others objects with their keys in order; an empty one is {}.
function json.encode(value, options)
  local indent = options and options.indent
  if indent == true then indent = 2 end
  local seen = {}
  local function write(v, depth)
    local kind = type(v)
    if v == json.null or v == nil then return "null" end
    if kind == "boolean" then return tostring(v) end
    if kind == "number" then return number(v) end
    if kind == "string" then return quote(v) end
    if T.kind(v) == "Tensor" then return write(v:table(), depth) end
    if kind ~= "table" then T.fail("tf.json.encode", "cannot encode a %s", T.kind(v) or kind) end
    if seen[v] then T.fail("tf.json.encode", "a table contains itself") end
    seen[v] = true
    local gap = indent and "\n" .. (" "):rep(indent * (depth + 1)) or ""
    local last = indent and "\n" .. (" "):rep(indent * depth) or ""
    local parts = {}
    local out
    if #v > 0 then
      for i, x in ipairs(v) do parts[i] = write(x, depth + 1) end
      out = "[" .. gap .. table.concat(parts, "," .. gap) .. last .. "]"
    else
      local keys = {}
      for key in pairs(v) do
        if type(key) ~= "string" and type(key) ~= "number" then T.fail("tf.json.encode", "a key is a %s", type(key)) end
        keys[#keys + 1] = key
      end
      table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
      for i, key in ipairs(keys) do parts[i] = quote(tostring(key)) .. (indent and ": " or ":") .. write(v[key], depth + 1) end
      out = #parts == 0 and "{}" or "{" .. gap .. table.concat(parts, "," .. gap) .. last .. "}"
    end
    seen[v] = nil
    return out
  end
  return write(value, 0)
end

local function sorted(tensors, who)
  local names, list = {}, {}
  if type(tensors) ~= "table" or T.kind(tensors) then T.fail(who, "expected a table of tensors by name") end
  for name in pairs(tensors) do
    if type(name) ~= "string" then T.fail(who, "the names of tensors are strings") end
    names[#names + 1] = name
  end
  table.sort(names)
  for i, name in ipairs(names) do
    local t = tensors[name]
    t = T.kind(t) == "Variable" and t:value() or T.kind(t) and t or tf.tensor(t)
    if T.kind(t) ~= "Tensor" then T.fail(who, "'%s' is no tensor, but a %s", name, T.kind(t) or type(t)) end
    list[i] = t
  end
  return names, list
end
local function read(path, reader)
  local names, out = {}, {}
  for i, t in ipairs(T.file_list(path, reader)) do names[i] = t.name end
  for i, tensor in ipairs(T.file_read(path, reader, names)) do out[names[i]] = tensor end
  return out
end
-- tf.read_npz(path): a table of tensors by name
T.def("tf.read_npz", "path", function(path) return read(path, "npz") end)
function tf.write_npz(path, tensors)
  local names, list = sorted(tensors, "tf.write_npz")
  T.file_write(path, "npz", names, list)
end
-- tf.read_safetensors(path): a table of tensors by name, and the file's metadata (or nil)
T.def("tf.read_safetensors", "path", function(path)
  local tensors, metadata = read(path, "safetensors"), tf.json.decode(T.file_metadata(path, "safetensors"))
  return tensors, next(metadata) and metadata or nil
end)
-- tf.write_safetensors(path, tensors by name, metadata: strings by name)
function tf.write_safetensors(path, tensors, metadata)
  local names, list = sorted(tensors, "tf.write_safetensors")
  for key, value in pairs(metadata or {}) do
    if type(value) ~= "string" then T.fail("tf.write_safetensors", "metadata '%s' is no string", tostring(key)) end
  end
  T.file_write(path, "safetensors", names, list, metadata and next(metadata) and {metadata = tf.json.encode(metadata)})
end
-- t:write "x.npy", "x.npz" or "x.safetensors"; the last two call the tensor "tensor".
T.namespace "Tensor".write = function(t, path)
  local ending = path:match "%.(%w+)$"
  if ending == "npy" then return tf.write_npy(path, t) end
  if ending == "npz" then return tf.write_npz(path, {tensor = t}) end
  if ending == "safetensors" then return tf.write_safetensors(path, {tensor = t}) end
  T.fail("write", "the ending of '%s' says no format; there are .npy, .npz, .safetensors", path)
end
