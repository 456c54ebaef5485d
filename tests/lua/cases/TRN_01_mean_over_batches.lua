-- TRN-01: the mean over batches of different size: each sample counts once, whatever the batch size.
-- Know: weighted mean: (10 + 10 + 9) / 3 = 9.66666667, not 9.5; 8 right of 10 is 0.8, not 0.66666667.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

-- Runs metric(batch of x) over batches of that size; the value after the last one.
local function over_batches(x, y, size, metric)
  local graph <close> = tf.Graph():as_default()
  local a, b = tf.placeholder("float32", {-1}), tf.placeholder("float32", {-1})
  local value, update = metric(a, b)
  local sess <close> = tf.Session()
  sess:run(tf.local_variables_initializer())
  local last
  for batch in tf.data.from_tensor_slices {x = tf.tensor(x), y = tf.tensor(y)}:batch(size):iter() do
    last = sess:run(update, {[a] = batch.x, [b] = batch.y})
  end
  t.exact("the update's value is the metric's", sess:run(value), last)
  return last
end
local losses = {10, 10, 9}
local labels, predictions = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 0, 0}
for _, size in ipairs {1, 2, 3, 4, 7, 10} do
  t.near("mean loss, batch " .. size, over_batches(losses, losses, size, function(a) return tf.metrics.mean(a) end), 9.66666667)
  t.near("accuracy, batch " .. size, over_batches(labels, predictions, size, function(a, b) return tf.metrics.accuracy(a, b) end), 0.8)
  t.near("mean squared error, batch " .. size, -- (8^2 + 9^2) / 10
    over_batches(labels, predictions, size, function(a, b) return tf.metrics.mean_squared_error(a, b) end), 14.5)
end
-- A batch whose mean is at hand counts by its number of samples, given as weight.
do
  local graph <close> = tf.Graph():as_default()
  local mean, n = tf.placeholder("float32", {}), tf.placeholder("float32", {})
  local value, update = tf.metrics.mean(mean, {weights = n})
  local sess <close> = tf.Session()
  sess:run(tf.local_variables_initializer())
  sess:run(update, {[mean] = 10, [n] = 2})
  sess:run(update, {[mean] = 9, [n] = 1})
  t.near("batch means with weights", sess:run(value), 9.66666667)
end
-- The loss of one batch is that batch's own mean.
t.both_modes({tf.tensor {1, 2, 9}}, function(x) return tf.losses.compute_weighted_loss(x) end, function(r)
  t.exact(r.mode .. " loss of a batch", r[1], 4)
  t.near(r.mode .. " its gradient", r.grads[1], {1 / 3, 1 / 3, 1 / 3})
end)
t.both_modes({tf.tensor {1, 2, 9}}, function(x) -- samples of weight 0 do not count
  return tf.losses.compute_weighted_loss(x, tf.tensor {1, 1, 0})
end, function(r) t.exact(r.mode .. " loss with weights", r[1], 1.5) end)
t.both_modes({tf.tensor {1, 2, 9}}, function(x) return tf.losses.compute_weighted_loss(x, tf.tensor {0, 0, 0}) end, function(r)
  t.exact(r.mode .. " all weights zero", r[1], 0)
  t.exact(r.mode .. " its gradient", r.grads[1], {0, 0, 0})
end)
t.done() -- expect: ok
