-- slim.metrics and slim.evaluation: predictions first; values over several batches.
local tf = require "tfsdk"
local slim = tf.slim
tf.Graph():as_default(function()
  local p, y = tf.placeholder("int64", {-1}), tf.placeholder("int64", {-1})
  local values, updates = slim.metrics.aggregate_metric_map {
    accuracy = {slim.metrics.streaming_accuracy(p, y)},
    recall = {slim.metrics.streaming_recall(p, y)},
    precision = {slim.metrics.streaming_precision(p, y)},
    count = {slim.metrics.count(p)},
  }
  local batches, i = {{{1, 1, 0, 0}, {1, 0, 1, 0}}, {{1, 1, 1, 1}, {1, 1, 1, 0}}}, 0
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  local r = slim.evaluation.evaluate_once {session = sess, num_evals = 2, eval_op = updates, final_op = values, feeds = function()
    i = i + 1
    return {[p] = batches[i][1], [y] = batches[i][2]}
  end}
  -- 5 of 8 right; of the 5 labels that are 1, 4 were found; of 6 called 1, 4 are
  print(("%.4f %.4f %.4f %d"):format(r.accuracy, r.recall, r.precision, r.count)) -- expect: 0.6250 0.8000 0.6667 8
end)
local v, u = slim.metrics.aggregate_metrics({1, 2}, {3, 4})
print(table.concat(v, " "), table.concat(u, " ")) -- expect: 1 3	2 4
-- losses: logits first, in the collection, with the penalties in the total
tf.Graph():as_default(function()
  local logits = tf.constant {{0, 0}}
  slim.losses.softmax_cross_entropy(logits, tf.constant {{1, 0}})
  slim.losses.mean_squared_error(tf.constant {3}, tf.constant {1}, {weights = 0.5})
  slim.model_variable("w", {2}, {initializer = tf.ones_initializer(), regularizer = slim.l2_regularizer(3)})
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  -- log 2 + 0.5 * 4 + 3 * 2 / 2
  print(#slim.losses.get_losses(), ("%.5f"):format(sess:run(slim.losses.get_total_loss()) - math.log(2))) -- expect: 2	5.00000
end)
