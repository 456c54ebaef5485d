-- A small convolutional network learns handwritten digits in a few seconds: 1,437 to learn from, 360 to be tested on.
-- With a folder behind it, what it does can be watched: `tfsdk run examples/digits.lua LOGDIR`, `tfsdk board LOGDIR`.
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
local speed = tf.placeholder("float32", {}, {name = "learning_rate"})

-- What is made within a scope has its name in front, and is one box of the graph that `tfsdk board` draws.
local function layer(shape)
  local fan_in = 1
  for i = 1, #shape - 1 do fan_in = fan_in * shape[i] end
  return tf.get_variable("weights", shape, {initializer = tf.truncated_normal_initializer{stddev = math.sqrt(2 / fan_in)}}),
    tf.get_variable("bias", {shape[#shape]}, {initializer = tf.zeros_initializer()})
end
local function conv(name, input, channels_in, channels_out)
  local scope <close> = tf.variable_scope(name)
  local w, b = layer{3, 3, channels_in, channels_out}
  return tf.nn.relu(tf.nn.conv2d(input, w, {strides = 1, padding = "SAME"}) + b)
end
local function dense(name, input, units_in, units)
  local scope <close> = tf.variable_scope(name)
  local w, b = layer{units_in, units}
  return tf.matmul(input, w) + b
end

local net = conv("conv1", x, 1, 16)
net = conv("conv2", net, 16, 32)
net = tf.nn.max_pool(net, {ksize = 2, strides = 2, padding = "SAME", name = "pool"})
local hidden = tf.nn.relu(dense("dense", net:reshape{-1, 4 * 4 * 32}, 4 * 4 * 32, 64))
local logits = dense("logits", tf.nn.dropout(hidden, {rate = rate}), 64, 10)
local probability = tf.nn.softmax(logits, {name = "probability"})

local function scoped(name, make)
  local scope <close> = tf.name_scope(name)
  return make()
end
local loss = scoped("loss", function() return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = logits}) end)
local accuracy = scoped("accuracy", function() return tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), "float32")) end)
local step = scoped("train", function() return tf.train.AdamOptimizer(speed):minimize(loss) end)

-- The same digits a pixel to the side, up or down: what there is to learn from grows ninefold.
local function shifted(batch)
  local room = tf.pad(batch, {{0, 0}, {1, 1}, {1, 1}, {0, 0}})
  return tf.slice(room, {0, math.random(0, 2), math.random(0, 2), 0}, {-1, 8, 8, 1})
end

-- What is written each epoch, of the digits that it never learns from.
local logdir = arg[1]
local writer <close> = logdir and tf.summary.FileWriter(logdir .. "/train") or nil
local tester <close> = logdir and tf.summary.FileWriter(logdir .. "/test") or nil
local monitor <close> = logdir and tf.summary.monitor(writer, {secs = 0.1}) or nil
local weights, digits
if logdir then
  local scope <close> = tf.name_scope "summaries"
  local kept = {}
  for _, v in ipairs(tf.trainable_variables()) do kept[#kept + 1] = tf.summary.histogram((v.name:gsub(":0$", "")), v) end
  weights, digits = tf.summary.merge(kept), tf.summary.image("digits", x, {max_outputs = 4})
  writer:add_graph(tf.get_default_graph())
  writer:text("about", "A **convolutional network** that reads digits of 8x8 pixels.\n\n- two convolutions, 16 and 32 channels\n"
    .. "- a dense layer of 64 with `dropout` of 0.4\n- Adam, its rate from 0.003 down to 0", 0)
end

-- The hidden layer of the test digits, as points: those of one digit should lie together.
local function write_points(sess, images, labels)
  local points = sess:run(hidden, {[x] = images}):table()
  local file, names = assert(io.open(logdir .. "/test/hidden.tsv", "w")), assert(io.open(logdir .. "/test/labels.tsv", "w"))
  for i, row in ipairs(points) do
    for k, v in ipairs(row) do row[k] = ("%.5g"):format(v) end
    file:write(table.concat(row, "\t"), "\n")
    names:write(labels[i], "\n")
  end
  file:close()
  names:close()
  local projector = tf.contrib.tensorboard.plugins.projector
  projector.visualize_embeddings(tester, projector.ProjectorConfig {
    embeddings = {{tensor_name = "hidden layer", tensor_path = "hidden.tsv", metadata_path = "labels.tsv"}}})
end

local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local test = {[x] = images[{{1438, 1797}}], [y] = labels[{{1438, 1797}}]}
local epochs, steps = tonumber(os.getenv "DIGITS_EPOCHS") or 30, 0
local result
for epoch = 1, epochs do
  local sum, right, n = 0, 0, 0
  for batch in train:iter() do
    local feed = {[x] = shifted(batch.image), [y] = batch.label, [rate] = 0.4, [speed] = 3e-3 * (1 - (epoch - 1) / epochs)}
    local options = logdir and steps == 50 and {trace = true} or nil
    local r, trace = sess:run({step, loss = loss, accuracy = accuracy}, feed, options)
    if trace then writer:add_run_metadata(trace:run_metadata(), "step 50", steps) end
    sum, right, n, steps = sum + r.loss, right + r.accuracy, n + 1, steps + 1
  end
  print(string.format("epoch %2d  loss %.4f", epoch, sum / n))
  result = sess:run({accuracy = accuracy, loss = loss, probability = probability}, test)
  if logdir then
    writer:scalar("loss", sum / n, steps)
    writer:scalar("accuracy", right / n, steps)
    writer:scalar("optimizer/learning_rate", 3e-3 * (1 - (epoch - 1) / epochs), steps)
    writer:add_summary(sess:run(weights), steps)
    tester:scalar("loss", result.loss, steps)
    tester:scalar("accuracy", result.accuracy, steps)
    tester:add_summary(sess:run(digits, {[x] = images[{{1437 + epoch, 1440 + epoch}}]}), steps)
    tester:pr_curve("an eight", tf.equal(labels[{{1438, 1797}}], 8), result.probability[{{}, 9}], steps)
  end
end
if logdir then write_points(sess, test[x], test[y]:table()) end
print(string.format("test accuracy: %.3f", result.accuracy))
if logdir then print("to look at it: build/bin/tfsdk board " .. logdir) end
