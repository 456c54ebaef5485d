-- slim.losses: tf.losses with predictions (or logits) first. Each loss goes into the collection `losses`.
local tf, T = ...
local losses = T.namespace "tf.slim.losses"
local def = T.def

for name, extra in pairs {absolute_difference = "", mean_squared_error = "", log_loss = " epsilon=1e-7", mean_pairwise_squared_error = ""} do
  def("tf.slim.losses." .. name, "predictions labels weights=1.0" .. extra .. " scope?", function(predictions, labels, weights, ...)
    local more = table.pack(...)
    local options = {weights = weights, scope = more[more.n]}
    if extra ~= "" then options.epsilon, options.scope = ... end
    return tf.losses[name](labels, predictions, options)
  end)
end
def("tf.slim.losses.cosine_distance", "predictions labels? axis|dim? weights=1.0 scope?", function(predictions, labels, axis, weights, scope)
  return tf.losses.cosine_distance(labels, predictions, {axis = axis, weights = weights, scope = scope})
end)
def("tf.slim.losses.hinge_loss", "logits labels? weights=1.0 scope?", function(logits, labels, weights, scope)
  return tf.losses.hinge_loss(labels, logits, {weights = weights, scope = scope})
end)
def("tf.slim.losses.sigmoid_cross_entropy", "logits multi_class_labels|labels weights=1.0 label_smoothing=0 scope?",
  function(logits, labels, weights, smoothing, scope)
    return tf.losses.sigmoid_cross_entropy(labels, logits, {weights = weights, label_smoothing = smoothing, scope = scope})
  end)
def("tf.slim.losses.softmax_cross_entropy", "logits onehot_labels|labels weights=1.0 label_smoothing=0 scope?",
  function(logits, labels, weights, smoothing, scope)
    return tf.losses.softmax_cross_entropy(labels, logits, {weights = weights, label_smoothing = smoothing, scope = scope})
  end)
def("tf.slim.losses.sparse_softmax_cross_entropy", "logits labels weights=1.0 scope?", function(logits, labels, weights, scope)
  return tf.losses.sparse_softmax_cross_entropy(labels, logits, {weights = weights, scope = scope})
end)
def("tf.slim.losses.compute_weighted_loss", "losses weights=1.0 scope?", function(list, weights, scope)
  return tf.losses.compute_weighted_loss(list, {weights = weights, scope = scope})
end)
for _, name in ipairs {"add_loss", "get_losses", "get_regularization_losses", "get_regularization_loss", "get_total_loss"} do
  rawset(losses, name, function(...) return tf.losses[name](...) end)
end
return losses
