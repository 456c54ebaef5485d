-- A run of slim.learning.train for tests/slim/resume.sh: digits, dropout, batch norm, Adam, a shuffled dataset read in the graph, summaries
-- and checkpoints all the time. Prints each step's loss with nine digits, which tell one float32 from any other.
--
--     tfsdk run resume_train.lua LOGDIR STEPS [get_next | iterator | own_step]
local tf = require "tfsdk"
local slim = tf.slim
local logdir, steps, way = arg[1], tonumber(arg[2]), arg[3] or "get_next"
local rows = tf.read_csv((arg[0]:match "^(.*)/" or ".") .. "/../../examples/data/digits.csv.gz")
local digits = tf.data.from_tensor_slices {image = rows[{{}, {1, 64}}] / 16, label = rows[{{}, 65}]:cast "int64"}
  :shuffle(300, {seed = 5}):repeat_():batch(16)

tf.set_random_seed(7)
local image, label, feeds, iterators
if way == "iterator" then
  image, label = tf.placeholder("float32", {-1, 64}), tf.placeholder("int64", {-1})
  local it = digits:iterator()
  iterators = {digits = it}
  feeds = function()
    local batch = it:next()
    return {[image] = batch.image, [label] = batch.label}
  end
else
  local batch = digits:make_one_shot_iterator():get_next()
  image, label = tf.reshape(batch.image, {-1, 64}), batch.label
end
local h = slim.fully_connected(image, 32, {normalizer_fn = slim.batch_norm})
h = slim.dropout(h, 0.7)
slim.losses.sparse_softmax_cross_entropy(slim.fully_connected(h, 10, {activation_fn = false}), label)
local loss = slim.losses.get_total_loss()
tf.summary.scalar("loss", loss)
local train_op = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.01), {summarize_gradients = true})
local function step_fn(sess, op, global_step, kwargs)
  local value, stop
  if way == "own_step" then -- it knows nothing of summaries
    value = sess:run(op, kwargs.feeds and kwargs.feeds())
    stop = kwargs.should_stop(sess:run(global_step))
  else
    value, stop = slim.learning.train_step(sess, op, global_step, kwargs)
  end
  print(("%d %.9g"):format(sess:run(global_step), value))
  io.stdout:flush()
  return value, stop
end
slim.learning.train(train_op, logdir, {train_step_fn = step_fn, number_of_steps = steps, save_summaries_secs = 1e-3, save_interval_secs = 0.03,
  feeds = feeds, iterators = iterators, saver = tf.train.Saver {max_to_keep = 3, background = true}, log = function() end})
