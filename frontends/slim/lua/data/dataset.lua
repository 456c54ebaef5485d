-- slim.dataset.Dataset: where records lie, how they are read, and what is in them.
local tf, T = ...
local dataset = T.namespace "tf.slim.dataset"

local Dataset = {}
Dataset.__index = Dataset
Dataset.__name = "slim.Dataset"
-- data_sources: a path, a pattern ("train-*.tfrecord"), a list of them, or a tf.data dataset of records. reader: the name of a reader ("tfrecord",
-- "csv", "idx"; nil: by the file's ending). decoder: what makes items of a record (tfexample_decoder.lua). Further options (num_classes,
-- labels_to_names) become fields.
function dataset.Dataset(o, ...)
  local who = "slim.dataset.Dataset"
  if type(o) ~= "table" or T.kind(o) or o.data_sources == nil then -- by position
    local args, n = {o, ...}, select("#", ...) + 1
    local options = type(args[n]) == "table" and n > 5 and args[n] or {}
    o = {data_sources = args[1], reader = args[2] or nil, decoder = args[3], num_samples = args[4], items_to_descriptions = args[5]}
    for k, v in pairs(options) do o[k] = v end
  end
  for _, name in ipairs {"data_sources", "decoder"} do
    if o[name] == nil then T.fail(who, "argument '%s' is missing", name) end
  end
  if type(o.decoder) ~= "table" or type(o.decoder.decode) ~= "function" or type(o.decoder.list_items) ~= "function" then
    T.fail(who, "'decoder' must have the methods decode(record, items) and list_items()")
  end
  local self = {}
  for k, v in pairs(o) do self[k] = v end
  self.items_to_descriptions = self.items_to_descriptions or {}
  return setmetatable(self, Dataset)
end

-- The files of a source or of several.
function T.slim_data_files(sources, who)
  if type(sources) == "string" then sources = {sources} end
  if type(sources) ~= "table" then T.fail(who, "'data_sources' must be a path or a list of paths, not a %s", T.kind(sources) or type(sources)) end
  local out = {}
  for _, source in ipairs(sources) do
    if type(source) ~= "string" then T.fail(who, "'data_sources' must be paths, one is a %s", T.kind(source) or type(source)) end
    if source:find "[%*%?%[]" then
      local before = #out
      -- Quoted but for the signs of a pattern.
      local pattern = "'" .. source:gsub("'", "'\\''"):gsub("[%*%?%[%]]", "'%0'") .. "'"
      local pipe = io.popen("for f in " .. pattern .. "; do [ -e \"$f\" ] && printf '%s\\n' \"$f\"; done", "r")
      for line in pipe:lines() do out[#out + 1] = line end
      pipe:close()
      if #out == before then T.fail_code(5, who, ("no file matches '%s'"):format(source)) end
    else
      if T.path_kind(source) ~= "file" then T.fail_code(5, who, ("there is no file '%s'"):format(source)) end
      out[#out + 1] = source
    end
  end
  if #out == 0 then T.fail(who, "'data_sources' is empty") end
  return out
end
-- The tf.data datasets of the sources, each with what its records' keys begin with.
function T.slim_record_sets(sources, reader, options, who)
  if T.kind(sources) == "Dataset" then return {{sources, "record"}} end
  local parts = {}
  for i, path in ipairs(T.slim_data_files(sources, who)) do
    local o = {reader = reader or nil}
    for k, v in pairs(options or {}) do o[k] = v end
    parts[i] = {tf.data.from_file(path, o), path}
  end
  return parts
end
-- One pass over them, file by file: an iterator function of (record, key). A record of one component called `data` is that tensor.
function T.slim_each_record(parts)
  local at, it, n = 0, nil, 0
  return function()
    while true do
      if it then
        local r = it:next()
        if r ~= nil then
          n = n + 1
          if not T.kind(r) and T.kind(r.data) and next(r, (next(r))) == nil then r = r.data end
          return r, ("%s:%d"):format(parts[at][2], n - 1)
        end
      end
      at = at + 1
      if not parts[at] then return nil end
      it, n = parts[at][1]:iterator(), 0
    end
  end
end
return dataset
