-- A network like Slim's cifarnet (convolutions, pools, local response normalisation, two dense layers, L2 penalties), made smaller for digits of 8x8
-- pixels, trained by slim.learning. Usage: tfsdk run examples/slim/cifarnet_like.lua [STEPS]
local tf = require "tfsdk"
local slim = tf.slim
local here = arg[0]:match "^(.*)/[^/]*$" or "."
local steps = tonumber(arg[1]) or 600

local rows = tf.read_csv(here .. "/../data/digits.csv.gz") -- 64 pixels of 0..16, the label last
local images = (rows[{{}, {1, 64}}] / 16):reshape{-1, 8, 8, 1}
local labels = rows[{{}, 65}]:cast "int64"

local function net(x, is_training)
  return slim.arg_scope({slim.conv2d, slim.fully_connected}, {activation_fn = tf.nn.relu, weights_regularizer = slim.l2_regularizer(1e-4)}, function()
    local y = slim.conv2d(x, 32, 3, {scope = "conv1"})
    y = slim.max_pool2d(y, 2, {scope = "pool1"})
    y = tf.nn.lrn(y, 4, {bias = 1, alpha = 0.001 / 9, beta = 0.75})
    y = slim.conv2d(y, 64, 3, {scope = "conv2"})
    y = slim.max_pool2d(y, 2, {scope = "pool2"})
    y = slim.fully_connected(slim.flatten(y), 128, {scope = "fc3"})
    y = slim.dropout(y, {keep_prob = 0.6, is_training = is_training, scope = "dropout3"})
    return slim.fully_connected(y, 10, {activation_fn = false, scope = "logits"})
  end)
end

tf.set_random_seed(3)
local batch = tf.data.from_tensor_slices{x = images[{{1, 1437}}], y = labels[{{1, 1437}}]}:shuffle(1437, {seed = 1}):repeat_():batch(64)
  :make_one_shot_iterator():get_next()
local logits = net(batch.x:reshape{-1, 8, 8, 1}, true)
slim.losses.sparse_softmax_cross_entropy(logits, batch.y)
local total = slim.losses.get_total_loss()
local rate = tf.train.exponential_decay(0.002, tf.train.get_or_create_global_step(), 200, 0.7)
local train = slim.learning.create_train_op(total, tf.train.AdamOptimizer(rate))

local test = tf.placeholder("float32", {-1, 8, 8, 1})
local predictions = tf.variable_scope("", {reuse = true}, function() return tf.argmax(net(test, false), 1) end)

local sess = tf.Session()
sess:run(tf.global_variables_initializer())
for i = 1, steps do
  local loss = sess:run(train)
  if i % 100 == 0 then print(("step %d: loss %.4f"):format(i, loss)) end
end
local guess = sess:run(predictions, {[test] = images[{{1438, 1797}}]})
local right = tf.reduce_mean(tf.cast(tf.equal(guess, labels[{{1438, 1797}}]), "float32")):item()
print(("accuracy %.4f on 360 digits that were held back"):format(right))
