-- Training that can be stopped at any time and goes on as if it had not been, to the last bit: dropout, shuffling
-- and Adam included. At Ctrl-C or kill the step is finished, a checkpoint saved, and the exit code is 130 or 143.
--
--     tfsdk run examples/resume.lua FOLDER [STEPS [SAVE_EVERY]]       the same again goes on
local tf = require "tfsdk"
local folder, steps, save_every = arg[1] or "run", tonumber(arg[2]) or 400, tonumber(arg[3]) or 100

local rows = tf.read_csv((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/data/digits.csv.gz")
local digits = tf.data.from_tensor_slices {image = rows[{{}, {1, 64}}] / 16, label = rows[{{}, 65}]:cast "int64"}
  :shuffle(500):repeat_():batch(32):prefetch(2)

local x = tf.placeholder("float32", {-1, 64})
local y = tf.placeholder("int64", {-1})
local w1, w2 = tf.get_variable("w1", {64, 64}), tf.get_variable("w2", {64, 10})
local b1 = tf.get_variable("b1", {64}, {initializer = tf.zeros_initializer()})
local hidden = tf.nn.dropout(tf.nn.relu(tf.matmul(x, w1) + b1), {rate = 0.3})
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits {labels = y, logits = tf.matmul(hidden, w2)})
local step = tf.train.get_or_create_global_step()
local train = tf.train.AdamOptimizer(3e-3):minimize(loss, {global_step = step})

local sess <close> = tf.Session()
local saver <close> = tf.train.Saver {max_to_keep = 3, background = true}
local batches = digits:iterator()
local latest = tf.train.latest_checkpoint(folder)
if latest then
  saver:restore(sess, latest, {iterators = {digits = batches}})
else
  sess:run(tf.global_variables_initializer())
end
local stop <close> = tf.train.catch_stop()
local done = sess:run(step)
while done < steps and not stop:requested() do
  local batch = batches:next()
  local value = sess:run({train, loss}, {[x] = batch.image, [y] = batch.label})[2]
  done = done + 1
  print(("step %d loss %.9g"):format(done, value)) -- nine digits tell one float32 from any other
  if done % save_every == 0 or done == steps then saver:save(sess, folder .. "/model", {global_step = done, iterators = {digits = batches}}) end
end
if stop:requested() then
  saver:save(sess, folder .. "/model", {global_step = done, iterators = {digits = batches}})
  saver:wait()
  io.stderr:write(("saved at step %d; the same command goes on\n"):format(done))
end
