-- A convolutional network for handwritten digits, as Keras writes it. Usage: tfsdk run examples/keras/mnist_cnn.lua [FOLDER] [EPOCHS]
-- FOLDER holds MNIST as IDX files (train-... or train10k-..., and t10k-..., plain or gzip). Without one it learns the small digits of examples/data.
local tf = require "tfsdk"
local keras = tf.keras
tf.set_random_seed(1)

local folder, epochs = arg[1], tonumber(arg[2])
if folder == "" then folder = nil end
local function find(prefixes, name)
  for _, prefix in ipairs(prefixes) do
    for _, ending in ipairs{"", ".gz"} do
      local path = folder .. "/" .. prefix .. name .. ending
      local file = io.open(path, "rb")
      if file then file:close() return path end
    end
  end
  error("no file " .. prefixes[1] .. name .. "[.gz] in " .. folder, 0)
end
local function load(prefixes)
  local images = tf.read_idx(find(prefixes, "images-idx3-ubyte"))
  local labels = tf.read_idx(find(prefixes, "labels-idx1-ubyte"))
  return (images:cast "float32" / 255):reshape{-1, 28, 28, 1}, labels:cast "int64"
end
local x_train, y_train, x_test, y_test
if folder then
  x_train, y_train = load{"train-", "train10k-"}
  x_test, y_test = load{"t10k-"}
  epochs = epochs or 12
else
  local here = arg[0]:match "^(.*)/[^/]*$" or "."
  local rows = tf.read_csv(here .. "/../data/digits.csv.gz") -- 64 pixels of 0..16, the label last
  local images = (rows[{{}, {1, 64}}] / 16):reshape{-1, 8, 8, 1}
  local labels = rows[{{}, 65}]:cast "int64"
  x_train, y_train, x_test, y_test = images[{{1, 1437}}], labels[{{1, 1437}}], images[{{1438, 1797}}], labels[{{1438, 1797}}]
  epochs = epochs or 40
end
print(string.format("%d digits to learn from, %d to be tested on", x_train.shape[1], x_test.shape[1]))

local layers = keras.layers
local model = keras.Sequential{
  layers.Conv2D(32, 3, {activation = "relu", padding = "same", input_shape = {x_train.shape[2], x_train.shape[3], 1}}),
  layers.Conv2D(64, 3, {activation = "relu", padding = "same"}),
  layers.MaxPooling2D(),
  layers.Dropout(0.25),
  layers.Flatten(),
  layers.Dense(128, {activation = "relu"}),
  layers.Dropout(0.5),
  layers.Dense(10, {activation = "softmax"}),
}
model:summary()
model:compile{optimizer = "adam", loss = "sparse_categorical_crossentropy", metrics = {"accuracy"}}

-- The last epochs take smaller steps.
local slower = keras.callbacks.LearningRateScheduler(function(epoch, rate) return epoch == epochs * 6 // 10 and rate / 4 or rate end)
if folder then
  model:fit(x_train, y_train, {epochs = epochs, batch_size = 64, callbacks = {slower}})
else -- the same digits a pixel to the side, up or down: what there is to learn from grows
  local more = keras.preprocessing.image.ImageDataGenerator{width_shift_range = {0, 1}, height_shift_range = {0, 1}, fill_mode = "constant", seed = 1}
  model:fit(more:flow(x_train, y_train, {batch_size = 32}), {epochs = epochs, callbacks = {slower}})
end
local loss, accuracy = model:evaluate(x_test, y_test, {batch_size = 500})
print(string.format("test loss: %.4f  test accuracy: %.4f", loss, accuracy))
