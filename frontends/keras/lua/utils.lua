-- tf.keras.utils: labels, norms, sequences of batches, the progress bar, names of the script's own classes.
local tf, T = ...
local raw, def = tf.raw, T.def
local _ = T.include("keras", "registry")
local utils = T.keras_namespace "utils"

-- Class numbers to rows with a 1 in the place of the class.
def("tf.keras.utils.to_categorical", "y num_classes|nb_classes? dtype=float32", function(y, n, dtype)
  local who = "tf.keras.utils.to_categorical"
  if not T.kind(y) then y = tf.tensor(y, "int64") end
  if y.dtype ~= "int64" then y = tf.cast(y, "int64") end
  local shape = {table.unpack(y.shape)}
  if #shape > 1 and shape[#shape] == 1 then shape[#shape] = nil end
  local size = y:size()
  local low, high = size > 0 and tf.reduce_min(y):item() or 0, size > 0 and tf.reduce_max(y):item() or -1
  n = n or high + 1
  if low < 0 or high >= n then
    T.fail(who, "class %d is out of range: with num_classes %d the classes are 0 to %d", low < 0 and low or high, n, n - 1)
  end
  shape[#shape + 1] = n
  return tf.reshape(tf.one_hot(tf.reshape(y, {-1}), n, {dtype = dtype}), shape)
end)
def("tf.keras.utils.normalize", "x axis=-1 order=2", function(x, axis, order)
  if not T.kind(x) then x = tf.tensor(x) end
  local size
  if order == 2 then size = raw.Sqrt(raw.Sum(raw.Square(x), {axis}, {keep_dims = true}))
  elseif order == 1 then size = raw.Sum(raw.Abs(x), {axis}, {keep_dims = true})
  elseif order == math.huge then size = raw.Max(raw.Abs(x), {axis}, {keep_dims = true})
  else size = raw.Pow(raw.Sum(raw.Pow(raw.Abs(x), order), {axis}, {keep_dims = true}), 1 / order) end
  return x / raw.SelectV2(raw.Equal(size, 0), raw.OnesLike(size), size)
end)

-- Batches by number: a class of the script with __len() and __getitem(i), i from 0, and perhaps on_epoch_end.
--
--     local Mine = keras.utils.Sequence:extend{
--       len = function(self) return 10 end, get = function(self, i) return x, y end}
local Sequence = {}
Sequence.__index = Sequence
utils.Sequence = Sequence
function Sequence:extend(methods)
  methods.__index = methods
  return setmetatable(methods, {__index = self, __call = function(class, fields)
    local object = {}
    for k, v in pairs(fields or {}) do object[k] = v end
    local made = setmetatable(object, class)
    if class.init then class.init(made) end
    return made
  end})
end
setmetatable(Sequence, {__call = function(_, fields)
  return setmetatable(fields or {}, Sequence)
end})
utils.PyDataset = Sequence
-- Keras' queues in front of a sequence or a generator. Batches are made when they are asked for, on the script's thread.
local Enqueuer = {}
Enqueuer.__index = Enqueuer
function Enqueuer:start() self.running = true end
function Enqueuer:is_running() return self.running == true end
function Enqueuer:stop() self.running = false end
-- An iterator over the batches: without end for a sequence, as it is for a generator.
function Enqueuer:get()
  if not self.running then T.fail("get", "the queue does not run: call start() first") end
  local source = self.source
  if not self.ordered then return source end
  local i, order = 0, {}
  local function shuffled()
    for k = 1, source:len() do order[k] = k - 1 end
    if self.shuffle then
      for k = #order, 2, -1 do
        local j = math.random(k)
        order[k], order[j] = order[j], order[k]
      end
    end
  end
  shuffled()
  return function()
    if not self.running or #order == 0 then return nil end
    if i == #order then
      if source.on_epoch_end then source:on_epoch_end() end
      i = 0
      shuffled()
    end
    i = i + 1
    return source:get(order[i])
  end
end
T.def("tf.keras.utils.OrderedEnqueuer", "sequence use_multiprocessing=false shuffle=false", function(sequence, _, shuffle)
  if type(sequence) ~= "table" or not sequence.get or not sequence.len then T.fail("tf.keras.utils.OrderedEnqueuer", "'sequence' must have len() and get(i)") end
  return setmetatable({source = sequence, ordered = true, shuffle = shuffle}, Enqueuer)
end)
T.def("tf.keras.utils.GeneratorEnqueuer", "generator use_multiprocessing=false wait_time=0.05 random_seed?", function(generator)
  local source = generator
  if type(source) == "thread" then
    function source()
      if coroutine.status(generator) == "dead" then return nil end
      local r = table.pack(coroutine.resume(generator))
      if not r[1] then error(r[2], 0) end
      return table.unpack(r, 2, r.n)
    end
  elseif type(source) ~= "function" then
    T.fail("tf.keras.utils.GeneratorEnqueuer", "'generator' must be a function or a coroutine, not %s", T.kind(source) or type(source))
  end
  return setmetatable({source = source}, Enqueuer)
end)

-- A file: one that is there already is found by its path, in cache_subdir of cache_dir, or by a file:// origin. Nothing is fetched
-- from the network.
def("tf.keras.utils.get_file", "fname origin? untar=false md5_hash? file_hash? cache_subdir=datasets hash_algorithm=auto extract=false archive_format=auto cache_dir?",
  function(fname, origin, untar, md5, hash, subdir, _, extract, _, cache)
    local who = "tf.keras.utils.get_file"
    if untar or extract then T.fail_code(12, who, "unpacking is not supported: unpack the file and give its path") end
    if md5 or hash then T.fail_code(12, who, "checking a hash is not supported") end
    cache = cache or (os.getenv "KERAS_HOME") or ((os.getenv "HOME" or ".") .. "/.keras")
    local tried = {fname, cache .. "/" .. subdir .. "/" .. fname}
    if origin then tried[#tried + 1] = origin:gsub("^file://", "") end
    for _, path in ipairs(tried) do
      local file = io.open(path, "rb")
      if file then
        file:close()
        return path
      end
    end
    T.fail_code(5, who, "there is no file '%s'; looked at %s. Files are not fetched from the network: put it there", fname, table.concat(tried, ", "))
  end)

-- A dataset of an HDF5 file, rows start to end - 1, as a tensor.
def("tf.keras.utils.HDF5Matrix", "datapath dataset start=0 end? normalizer?", function(path, dataset, first, last, normalizer)
  local who = "tf.keras.utils.HDF5Matrix"
  local found, names = false, {}
  for i, entry in ipairs(T.file_list(path, "hdf5")) do
    names[i] = entry.name
    found = found or entry.name == dataset
  end
  if not found then
    local near = T.nearest(dataset, names)
    T.fail_code(5, who, "'%s' has no dataset '%s'%s", path, dataset, near and ("; did you mean '%s'?"):format(near) or "")
  end
  local x = T.file_read(path, "hdf5", {dataset})[1]
  last = last or x.shape[1]
  if first < 0 or last > x.shape[1] or first >= last then
    T.fail(who, "rows %d to %d are not within the %d of '%s'", first, last, x.shape[1], dataset)
  end
  x = x[{{first + 1, last}}]
  return normalizer and normalizer(x) or x
end)

-- Names of the script's own layers, losses and functions, for configurations that name them. With a function: while it runs; else until
-- the scope is closed.
T.keras_custom_objects = T.keras_custom_objects or {}
local Scope = {}
Scope.__index = Scope
function Scope:close()
  local list = T.keras_custom_objects
  for i = #list, 1, -1 do
    if list[i] == self.names then
      table.remove(list, i)
      break
    end
  end
end
Scope.__close = Scope.close
function utils.custom_object_scope(names, fn)
  if type(names) ~= "table" then T.fail("tf.keras.utils.custom_object_scope", "the names are a table {name = class or function}") end
  table.insert(T.keras_custom_objects, names)
  local scope = setmetatable({names = names}, Scope)
  if not fn then return scope end
  local guard <close> = scope
  return fn()
end
utils.CustomObjectScope = utils.custom_object_scope
local everywhere = {}
table.insert(T.keras_custom_objects, 1, everywhere)
function utils.get_custom_objects() return everywhere end

T.include("keras", "training/progbar")
return utils
