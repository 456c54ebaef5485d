-- A convolutional network on MNIST. Usage: tfsdk run examples/mnist.lua FOLDER [EPOCHS]
-- FOLDER holds IDX files, plain or gzip: train-images... (or train10k-images...) and t10k-images..., with their labels.
local tf = require "tfsdk"
tf.set_random_seed(1)

local folder = arg[1] or error("usage: tfsdk run mnist.lua FOLDER [EPOCHS]", 0)
local epochs = tonumber(arg[2]) or 5

local function find(what)
  for _, prefix in ipairs(what.prefixes) do
    for _, ending in ipairs{"", ".gz"} do
      local path = folder .. "/" .. prefix .. what.name .. ending
      local file = io.open(path, "rb")
      if file then file:close() return path end
    end
  end
  error("no file " .. what.prefixes[1] .. what.name .. "[.gz] in " .. folder, 0)
end
local function load(prefixes)
  local images = tf.read_idx(find{prefixes = prefixes, name = "images-idx3-ubyte"})
  local labels = tf.read_idx(find{prefixes = prefixes, name = "labels-idx1-ubyte"})
  return (images:cast "float32" / 255):reshape{-1, 28, 28, 1}, labels:cast "int64"
end
local train_x, train_y = load{"train-", "train10k-"}
local test_x, test_y = load{"t10k-"}
print(string.format("%d digits to learn from, %d to be tested on", train_x.shape[1], test_x.shape[1]))
-- The files may be sorted by class: shuffle over all of them.
local train = tf.data.from_tensor_slices{image = train_x, label = train_y}
  :shuffle(train_x.shape[1], {seed = 1}):batch(64):prefetch(2)

local x = tf.placeholder("float32", {-1, 28, 28, 1}, {name = "image"})
local y = tf.placeholder("int64", {-1}, {name = "label"})
local rate = tf.placeholder_with_default(tf.constant(0.0), {}, {name = "dropout_rate"})

local function weights(name, shape, fan_in)
  return tf.get_variable(name .. "/w", shape, {initializer = tf.truncated_normal_initializer{stddev = math.sqrt(2 / fan_in)}}),
    tf.get_variable(name .. "/b", {shape[#shape]}, {initializer = tf.zeros_initializer()})
end
local function conv(name, input, size, channels_in, channels_out)
  local w, b = weights(name, {size, size, channels_in, channels_out}, size * size * channels_in)
  local out = tf.nn.relu(tf.nn.conv2d(input, w, {strides = 1, padding = "SAME"}) + b)
  return tf.nn.max_pool(out, {ksize = 2, strides = 2, padding = "SAME"})
end
local net = conv("conv1", x, 5, 1, 32)
net = conv("conv2", net, 5, 32, 64)
local w1, b1 = weights("dense", {7 * 7 * 64, 256}, 7 * 7 * 64)
net = tf.nn.relu(tf.matmul(net:reshape{-1, 7 * 7 * 64}, w1) + b1)
net = tf.nn.dropout(net, {rate = rate})
local w2, b2 = weights("logits", {256, 10}, 256)
local logits = tf.matmul(net, w2) + b2
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})
local step = tf.train.AdamOptimizer(1e-3):minimize(loss)
local hits = tf.reduce_sum(tf.cast(tf.equal(tf.argmax(logits, 1), y), "float32"))

local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local function accuracy()
  local right, n = 0, test_x.shape[1]
  for batch in tf.data.from_tensor_slices{image = test_x, label = test_y}:batch(500):iter() do
    right = right + sess:run(hits, {[x] = batch.image, [y] = batch.label})
  end
  return right / n
end
for epoch = 1, epochs do
  local sum, n = 0, 0
  for batch in train:iter() do
    local r = sess:run({step, loss = loss}, {[x] = batch.image, [y] = batch.label, [rate] = 0.4})
    sum, n = sum + r.loss, n + 1
  end
  print(string.format("epoch %d  loss %.4f  test accuracy: %.4f", epoch, sum / n, accuracy()))
end
