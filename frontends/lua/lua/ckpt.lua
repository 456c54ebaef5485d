-- provides tf.train: checkpoint_tool
-- What `tfsdk ckpt` does: ls, show, diff, convert. Results go to standard output.
local tf, T = ...
local train = T.namespace "tf.train"

local usage = [[
usage: tfsdk ckpt ls FILE                     the tensors: type, shape, bytes
       tfsdk ckpt show FILE [NAME...]         what the file says besides, or tensors
       tfsdk ckpt diff A B [--tolerance T]    names, shapes and values that differ; exit code 1 if any do
       tfsdk ckpt convert FROM TO [NAME=NEW...]
                                              to .safetensors, .npz, .index (TensorFlow's), or else to a checkpoint
                                              of that prefix;
                                              NAME= leaves a tensor out
FILE is a checkpoint's prefix or folder (also TensorFlow's), .safetensors, .npz, .h5, .keras or .pth]]

local sizes = {float64 = 8, int64 = 8, uint64 = 8, complex64 = 8, complex128 = 16, float32 = 4, int32 = 4, uint32 = 4,
  float16 = 2, bfloat16 = 2, int16 = 2, uint16 = 2}
local function elements(t)
  local n = 1
  for _, d in ipairs(t.shape) do n = n * d end
  return n
end
local function bytes_of(t) return t.dtype == "string" and 0 or elements(t) * (sizes[t.dtype] or 1) end
local function shape_of(t) return "[" .. table.concat(t.shape, ", ") .. "]" end
local function human(n)
  for _, unit in ipairs {"B", "KB", "MB", "GB"} do
    if n < 1000 or unit == "GB" then return unit == "B" and ("%d B"):format(n) or ("%.1f %s"):format(n, unit) end
    n = n / 1000
  end
end
local function exceeds(line) io.stderr:write("tfsdk: ", line, "\n", usage, "\n") return 2 end

local function ls(args)
  if #args ~= 1 then return exceeds "ls takes one file" end
  local reader = train.load_checkpoint(args[1])
  local width, bytes, parameters = 4, 0, 0
  for _, t in ipairs(reader.list) do width = math.max(width, #t.name) end
  for _, t in ipairs(reader.list) do
    print(("%-" .. width .. "s  %-10s %s"):format(t.name, t.dtype, shape_of(t)))
    bytes, parameters = bytes + bytes_of(t), parameters + elements(t)
  end
  print(("%d tensors, %d elements, %s (%s)"):format(#reader.list, parameters, human(bytes), reader.reader))
  return 0
end

local function show(args)
  if #args == 0 then return exceeds "show takes a file, and names of tensors" end
  local reader = train.load_checkpoint(args[1])
  if #args == 1 then
    local meta = reader:metadata()
    meta.random = meta.random and #meta.random .. " bytes" or nil
    print(tf.json.encode(meta, {indent = 2}))
    return 0
  end
  for i = 2, #args do
    local t = reader:get_tensor(args[i])
    print(args[i])
    print(t)
  end
  return 0
end

-- The largest difference of two tensors of one type and shape, and how many elements differ. Two NaN are equal.
local function distance(a, b)
  if a.dtype == "string" then
    if a:size() == 0 then return 0, 0 end
    local x, y, n = a:reshape {-1}:table(), b:reshape {-1}:table(), 0
    for i, s in ipairs(x) do n = n + (s == y[i] and 0 or 1) end
    return n > 0 and math.huge or 0, n
  end
  if a.dtype:find "complex" then return a:bytes() == b:bytes() and 0 or math.huge, nil end
  if a:bytes() == b:bytes() or a:size() == 0 then return 0, 0 end
  local x, y = tf.cast(a, "float64"), tf.cast(b, "float64")
  local same = tf.logical_or(tf.equal(x, y), tf.logical_and(tf.is_nan(x), tf.is_nan(y)))
  local gap = tf.where(same, tf.zeros_like(x), tf.abs(x - y))
  local most = tf.reduce_max(tf.where(tf.is_nan(gap), tf.fill(gap.shape, tf.tensor(math.huge, "float64")), gap)):item()
  return most, tf.reduce_sum(tf.cast(tf.logical_not(same), "int64")):item()
end

local function diff(args)
  local tolerance, files = 0, {}
  local i = 1
  while i <= #args do
    if args[i] == "--tolerance" then
      tolerance = tonumber(args[i + 1])
      if not tolerance then return exceeds "--tolerance needs a number" end
      i = i + 1
    else
      files[#files + 1] = args[i]
    end
    i = i + 1
  end
  if #files ~= 2 then return exceeds "diff takes two files" end
  local a, b = train.load_checkpoint(files[1]), train.load_checkpoint(files[2])
  local differing, same = 0, 0
  local function say(...)
    differing = differing + 1
    print((string.format(...)))
  end
  for _, t in ipairs(a.list) do
    local other = b.by_name[t.name]
    if not other then
      say("- %s  %s %s", t.name, t.dtype, shape_of(t))
    elseif other.dtype ~= t.dtype or shape_of(other) ~= shape_of(t) then
      say("! %s  %s %s, %s %s", t.name, t.dtype, shape_of(t), other.dtype, shape_of(other))
    else
      local most, n = distance(a:get_tensor(t.name), b:get_tensor(t.name))
      if most > tolerance then
        say("~ %s  %s", t.name, n and ("%d of %d elements, by up to %.9g"):format(n, elements(t), most) or "differs")
      else
        same = same + 1
      end
    end
  end
  for _, t in ipairs(b.list) do
    if not a.by_name[t.name] then say("+ %s  %s %s", t.name, t.dtype, shape_of(t)) end
  end
  print(("%d tensors are the same, %d differ"):format(same, differing))
  return differing == 0 and 0 or 1
end

local function convert(args)
  if #args < 2 then return exceeds "convert takes two files" end
  local reader, to = train.load_checkpoint(args[1]), args[2]
  local renamed = {}
  for i = 3, #args do
    local from, new = args[i]:match "^(.-)=(.*)$"
    if not from then return exceeds(("'%s' is no NAME=NEW"):format(args[i])) end
    if not reader.by_name[from] then T.fail_code(5, nil, ("%s: there is no tensor '%s'"):format(args[1], from)) end
    renamed[from] = new
  end
  local ending = to:match "%.(%w+)$"
  local writer = ({safetensors = "safetensors", npz = "npz", index = "tf_checkpoint"})[ending] or "checkpoint"
  local names, sources, taken = {}, {}, {}
  for _, t in ipairs(reader.list) do
    local new = renamed[t.name] or t.name
    if new ~= "" then
      if taken[new] then T.fail(nil, "two tensors would be called '%s'", new) end
      taken[new] = true
      names[#names + 1], sources[#sources + 1] = new, t.name
    end
  end
  local tensors = T.file_read(reader.path, reader.reader, sources, true)
  local options = {}
  if writer == "safetensors" then
    local meta, plain = reader:metadata(), {}
    for key, value in pairs(meta) do if type(value) == "string" and key ~= "random" then plain[key] = value end end
    if next(plain) then options.metadata = tf.json.encode(plain) end
  elseif writer == "checkpoint" and reader.reader == "checkpoint" then
    options.state = T.file_metadata(reader.path, reader.reader)
  end
  T.file_write(to, writer, names, tensors, options)
  print(("%d tensors to %s (%s)"):format(#names, to, writer))
  return 0
end

-- tf.train.checkpoint_tool("ls", "run"): the arguments of `tfsdk ckpt`; gives its exit code.
function train.checkpoint_tool(command, ...)
  local commands = {ls = ls, show = show, diff = diff, convert = convert}
  local run = commands[command or ""]
  if not run then return exceeds(command and ("there is no command 'ckpt %s'"):format(command) or "ckpt needs a command") end
  return run {...}
end
