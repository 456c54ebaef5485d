-- A small convolutional network learns handwritten digits in a few seconds: 1,437 to learn from, 360 to be tested on.
-- Data: UCI Optical Recognition of Handwritten Digits, 8x8 pixels of 0..16, the label last (examples/data/README.md).
local tf = require "tfsdk"
tf.set_random_seed(1)
math.randomseed(1)

local here = arg[0]:match("^(.*)/[^/]*$") or "."
local rows = tf.read_csv(here .. "/data/digits.csv.gz") -- 1797 x 65, float32
local images = (rows[{{}, {1, 64}}] / 16):reshape{-1, 8, 8, 1}
local labels = rows[{{}, 65}]:cast "int64"
local train = tf.data.from_tensor_slices{image = images[{{1, 1437}}], label = labels[{{1, 1437}}]}
  :shuffle(1437, {seed = 1}):batch(32)

local x = tf.placeholder("float32", {-1, 8, 8, 1}, {name = "image"})
local y = tf.placeholder("int64", {-1}, {name = "label"})
local rate = tf.placeholder_with_default(tf.constant(0.0), {}, {name = "dropout_rate"})

local function layer(name, shape)
  local fan_in = 1
  for i = 1, #shape - 1 do fan_in = fan_in * shape[i] end
  return tf.get_variable(name .. "/w", shape, {initializer = tf.truncated_normal_initializer{stddev = math.sqrt(2 / fan_in)}}),
    tf.get_variable(name .. "/b", {shape[#shape]}, {initializer = tf.zeros_initializer()})
end
local function conv(name, input, channels_in, channels_out)
  local w, b = layer(name, {3, 3, channels_in, channels_out})
  return tf.nn.relu(tf.nn.conv2d(input, w, {strides = 1, padding = "SAME"}) + b)
end

local net = conv("conv1", x, 1, 16)
net = conv("conv2", net, 16, 32)
net = tf.nn.max_pool(net, {ksize = 2, strides = 2, padding = "SAME"})
local w1, b1 = layer("dense", {4 * 4 * 32, 64})
net = tf.nn.relu(tf.matmul(net:reshape{-1, 4 * 4 * 32}, w1) + b1)
net = tf.nn.dropout(net, {rate = rate})
local w2, b2 = layer("logits", {64, 10})
local logits = tf.matmul(net, w2) + b2

local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits})
local step = tf.train.AdamOptimizer(2e-3):minimize(loss)
local accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), "float32"))

-- The same digits a pixel to the side, up or down: what there is to learn from grows ninefold.
local function shifted(batch)
  local room = tf.pad(batch, {{0, 0}, {1, 1}, {1, 1}, {0, 0}})
  return tf.slice(room, {0, math.random(0, 2), math.random(0, 2), 0}, {-1, 8, 8, 1})
end

local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local epochs = tonumber(os.getenv "DIGITS_EPOCHS") or 30
for epoch = 1, epochs do
  local sum, n = 0, 0
  for batch in train:iter() do
    local r = sess:run({step, loss = loss}, {[x] = shifted(batch.image), [y] = batch.label, [rate] = 0.4})
    sum, n = sum + r.loss, n + 1
  end
  print(string.format("epoch %2d  loss %.4f", epoch, sum / n))
end
local result = sess:run(accuracy, {[x] = images[{{1438, 1797}}], [y] = labels[{{1438, 1797}}]})
print(string.format("test accuracy: %.3f", result))
