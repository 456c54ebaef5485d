-- tf.keras.datasets: loaders of the data sets that Keras' examples use. They read files that are there, in `path` or in
-- ~/.keras/datasets/NAME; nothing is fetched. Each gives x_train, y_train, x_test, y_test.
local tf, T = ...
local def = T.def
local _ = T.include("keras", "registry")
T.keras_namespace "datasets"

local function folder(path, name)
  return path or ((os.getenv "KERAS_HOME" or (os.getenv "HOME" or ".") .. "/.keras") .. "/datasets/" .. name)
end
local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end
local function missing(who, what, where)
  T.fail_code(5, who, "there is no %s in '%s'. Data are not fetched from the network: put the files there, or give the folder", what, where)
end

-- ------------------------------------------------------------------------------------- IDX files

local function idx_set(name)
  local who = ("tf.keras.datasets.%s.load_data"):format(name)
  T.keras_namespace("datasets." .. name)
  def(who, "path?", function(path)
    path = folder(path, name)
    local function read(prefix, what)
      for _, ending in ipairs {"", ".gz"} do
        local file = ("%s/%s-%s%s"):format(path, prefix, what, ending)
        if exists(file) then return tf.read_idx(file) end
      end
      missing(who, ("%s-%s[.gz]"):format(prefix, what), path)
    end
    return read("train", "images-idx3-ubyte"), read("train", "labels-idx1-ubyte"), read("t10k", "images-idx3-ubyte"), read("t10k", "labels-idx1-ubyte")
  end)
end
idx_set "mnist"
idx_set "fashion_mnist"

-- ------------------------------------------------------------------------------------- CIFAR's binary files

-- Records of `labels` bytes and 3072 bytes, colour by colour.
local function cifar(who, path, labels, which)
  local file, why = io.open(path, "rb")
  if not file then T.fail_code(5, who, "cannot read '%s': %s. Data are not fetched from the network", path, why) end
  local bytes = file:read "a"
  file:close()
  local size = labels + 3072
  if #bytes == 0 or #bytes % size ~= 0 then T.fail(who, "'%s' has %d bytes, no multiple of %d: it is cut off, or not the binary version", path, #bytes, size) end
  local n = #bytes // size
  local all = tf.frombytes(bytes, "uint8", {n, size})
  local pixels = tf.reshape(all[{{}, {labels + 1, size}}], {n, 3, 32, 32})
  return tf.transpose(pixels, {0, 2, 3, 1}), all[{{}, {which, which}}]
end
T.keras_namespace "datasets.cifar10"
def("tf.keras.datasets.cifar10.load_data", "path?", function(path)
  local who = "tf.keras.datasets.cifar10.load_data"
  path = folder(path, "cifar-10-batches-bin")
  local xs, ys = {}, {}
  for i = 1, 5 do xs[i], ys[i] = cifar(who, ("%s/data_batch_%d.bin"):format(path, i), 1, 1) end
  local x, y = cifar(who, path .. "/test_batch.bin", 1, 1)
  return tf.concat(xs, 0), tf.concat(ys, 0), x, y
end)
T.keras_namespace "datasets.cifar100"
def("tf.keras.datasets.cifar100.load_data", "label_mode=fine path?", function(mode, path)
  local who = "tf.keras.datasets.cifar100.load_data"
  if mode ~= "fine" and mode ~= "coarse" then T.fail(who, "'label_mode' must be \"fine\" or \"coarse\", not '%s'", tostring(mode)) end
  path = folder(path, "cifar-100-binary")
  local which = mode == "coarse" and 1 or 2
  local x, y = cifar(who, path .. "/train.bin", 2, which)
  local u, v = cifar(who, path .. "/test.bin", 2, which)
  return x, y, u, v
end)

-- ------------------------------------------------------------------------------------- npz

-- The last test_split of the rows, in an order that `seed` makes.
T.keras_namespace "datasets.boston_housing"
def("tf.keras.datasets.boston_housing.load_data", "path? test_split=0.2 seed=113", function(path, split, seed)
  local who = "tf.keras.datasets.boston_housing.load_data"
  path = path or folder(nil, "boston_housing.npz")
  if not exists(path) then missing(who, "boston_housing.npz", path) end
  if split < 0 or split >= 1 then T.fail(who, "'test_split' must lie between 0 and 1, not %g", split) end
  local all = tf.read_npz(path)
  local n = all.x.shape[1]
  local order = tf.random_shuffle(tf.cast(tf.range(0, n, 1, {now = true}), "int64"), {seed = seed, now = true})
  local x, y = tf.gather(all.x, order), tf.gather(all.y, order)
  local at = math.floor(n * (1 - split))
  return x[{{1, at}}], y[{{1, at}}], x[{{at + 1, n}}], y[{{at + 1, n}}]
end)
return true
