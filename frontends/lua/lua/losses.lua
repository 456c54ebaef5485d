-- provides tf.losses: Reduction compute_weighted_loss add_loss get_losses get_regularization_losses get_regularization_loss get_total_loss absolute_difference cosine_distance hinge_loss huber_loss log_loss mean_squared_error mean_pairwise_squared_error sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy
-- Losses with weights and reductions. Each is added to a collection, from which get_total_loss sums.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope
local losses = T.namespace "tf.losses"
local KEYS = tf.GraphKeys

losses.Reduction = {NONE = "none", SUM = "weighted_sum", SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size",
  MEAN = "weighted_mean", SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights",
  SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"}
local reductions = {}
for _, r in pairs(losses.Reduction) do reductions[r] = true end

def("tf.losses.add_loss", "loss loss_collection=losses", function(loss, collection)
  if not T.kind(loss) then T.fail("tf.losses.add_loss", "the loss must be a value, not %s", T.shown(loss)) end
  if collection and T.kind(loss) == "Node" then T.add_to_collection(loss.graph, collection, loss) end
end)
def("tf.losses.get_losses", "scope? loss_collection=losses", function(s, collection) return tf.get_collection(collection, s) end)
def("tf.losses.get_regularization_losses", "scope?", function(s) return tf.get_collection(KEYS.REGULARIZATION_LOSSES, s) end)
def("tf.losses.get_regularization_loss", "scope? name=total_regularization_loss", function(s, name)
  local list = tf.get_collection(KEYS.REGULARIZATION_LOSSES, s)
  if #list == 0 then return tf.constant(0) end
  return tf.add_n(list, name)
end)
def("tf.losses.get_total_loss", "add_regularization_losses=true name=total_loss scope?", function(add, name, s)
  local list = tf.get_collection(KEYS.LOSSES, s)
  if add then
    for _, l in ipairs(tf.get_collection(KEYS.REGULARIZATION_LOSSES, s)) do list[#list + 1] = l end
  end
  if #list == 0 then T.fail("tf.losses.get_total_loss", "there are no losses") end
  return tf.add_n(list, name)
end)

-- num / denom, and 0 where denom is 0.
local function safe_div(num, denom)
  local zero = raw.Equal(denom, raw.ZerosLike(denom))
  return raw.SelectV2(zero, raw.ZerosLike(num), num / raw.SelectV2(zero, raw.OnesLike(denom), denom))
end

-- Weights of lower rank get axes of 1: a column of labels beside a vector.
local function fit_weights(weights, loss, who)
  local rw, rl = weights:rank(), loss:rank()
  if not rw or not rl or rw == 0 or rw == rl then
    if rw == rl and rw then
      for i, d in ipairs(weights.shape) do
        local l = loss.shape[i]
        if d >= 0 and l >= 0 and d ~= 1 and d ~= l then
          T.fail(who, "weights of shape (%s) do not fit losses of shape (%s)", table.concat(weights.shape, ", "), table.concat(loss.shape, ", "))
        end
      end
    end
    return weights
  end
  if rw - rl == 1 then return raw.Squeeze(weights, {squeeze_dims = {-1}}) end
  if rl - rw == 1 then return raw.ExpandDims(weights, -1) end
  T.fail(who, "weights of rank %d do not fit losses of rank %d", rw, rl)
end
local function weighted(loss, weights, collection, reduction, who)
  if not reductions[reduction] then
    local names = {}
    for r in pairs(reductions) do names[#names + 1] = r end
    table.sort(names)
    T.fail(who, "'reduction' cannot be '%s'; there are %s", tostring(reduction), table.concat(names, ", "))
  end
  loss = T.value(loss)
  local dtype = loss.dtype
  local x = tf.cast(loss, "float32")
  local w = tf.cast(T.value(weights, "float32"), "float32")
  w = fit_weights(w, x, who)
  local each = x * w
  local out
  if reduction == "none" then
    out = each
  else
    local sum = tf.reduce_sum(each)
    if reduction == "weighted_mean" then
      sum = safe_div(sum, tf.reduce_sum(raw.Mul(raw.OnesLike(x), w)))
    elseif reduction == "weighted_sum_by_nonzero_weights" then
      local present = raw.SelectV2(raw.Equal(w, raw.ZerosLike(w)), raw.ZerosLike(w), raw.OnesLike(w))
      sum = safe_div(sum, tf.reduce_sum(raw.Mul(present, raw.OnesLike(x))))
    elseif reduction == "weighted_sum_over_batch_size" then
      sum = safe_div(sum, raw.Cast(raw.Size(x), {DstT = "float32"}))
    end
    out = sum
  end
  out = tf.cast(out, dtype)
  losses.add_loss(out, collection)
  return out
end
local common = " weights=1.0 scope? loss_collection=losses reduction=weighted_sum_by_nonzero_weights"
def("tf.losses.compute_weighted_loss", "losses" .. common, function(loss, weights, s, collection, reduction)
  local guard <close> = scope(s, "weighted_loss")
  return weighted(loss, weights, collection, reduction, "tf.losses.compute_weighted_loss")
end)

local function same_shape(a, b, who)
  local x, y = a.shape, b.shape
  if x and y then
    local ok = #x == #y
    for i = 1, #x do ok = ok and (x[i] == y[i] or x[i] < 0 or (y[i] or 0) < 0) end
    if not ok then
      T.fail(who, "labels of shape (%s) and predictions of shape (%s) differ", table.concat(x, ", "), table.concat(y, ", "))
    end
  end
end
-- loss(labels, predictions): element by element, in float32.
local function elementwise(name, extra, default_scope, f)
  local who = "tf.losses." .. name
  local n_extra = 0
  for _ in extra:gmatch "%S+" do n_extra = n_extra + 1 end
  local signature = ("labels predictions weights=1.0%s%s scope? loss_collection=losses reduction=weighted_sum_by_nonzero_weights")
    :format(n_extra > 0 and " " or "", extra)
  def(who, signature, function(labels, predictions, weights, ...)
    local more = {...}
    local s, collection, reduction = more[n_extra + 1], more[n_extra + 2], more[n_extra + 3]
    local guard <close> = scope(s, default_scope)
    predictions = tf.cast(T.value(predictions, not T.kind(predictions) and "float32" or nil), "float32")
    labels = tf.cast(T.value(labels, not T.kind(labels) and "float32" or nil), "float32")
    same_shape(labels, predictions, who)
    return weighted(f(labels, predictions, table.unpack(more, 1, n_extra)), weights, collection, reduction, who)
  end)
end
elementwise("absolute_difference", "", "absolute_difference", function(y, p) return raw.Abs(p - y) end)
elementwise("mean_squared_error", "", "mean_squared_error", function(y, p) return raw.SquaredDifference(p, y) end)
elementwise("log_loss", "epsilon=1e-7", "log_loss", function(y, p, epsilon)
  return -(y * raw.Log(p + epsilon)) - (-y + 1) * raw.Log(-p + (1 + epsilon))
end)
elementwise("huber_loss", "delta=1.0", "huber_loss", function(y, p, delta)
  local abs = raw.Abs(p - y)
  local quadratic = raw.Minimum(abs, delta)
  return quadratic * quadratic * 0.5 + (abs - quadratic) * delta
end)
def("tf.losses.hinge_loss", "labels logits" .. common, function(labels, logits, weights, s, collection, reduction)
  local guard <close> = scope(s, "hinge_loss")
  logits = tf.cast(T.value(logits), "float32")
  labels = tf.cast(T.value(labels, not T.kind(labels) and "float32" or nil), "float32")
  same_shape(labels, logits, "tf.losses.hinge_loss")
  local signs = labels * 2 - 1
  return weighted(raw.Relu(-(signs * logits) + 1), weights, collection, reduction, "tf.losses.hinge_loss")
end)
def("tf.losses.cosine_distance", "labels predictions axis|dim? weights=1.0 scope? loss_collection=losses reduction=weighted_sum_by_nonzero_weights",
  function(labels, predictions, axis, weights, s, collection, reduction)
    if not axis then T.fail("tf.losses.cosine_distance", "argument 'axis' is missing") end
    local guard <close> = scope(s, "cosine_distance_loss")
    predictions = tf.cast(T.value(predictions), "float32")
    labels = tf.cast(T.value(labels), "float32")
    same_shape(labels, predictions, "tf.losses.cosine_distance")
    local loss = -raw.Sum(predictions * labels, {axis}, {keep_dims = true}) + 1
    return weighted(loss, weights, collection, reduction, "tf.losses.cosine_distance")
  end)
-- Mean over pairs of elements of a row of the squared difference of their errors' differences.
def("tf.losses.mean_pairwise_squared_error", "labels predictions weights=1.0 scope? loss_collection=losses",
  function(labels, predictions, weights, s, collection)
    local who = "tf.losses.mean_pairwise_squared_error"
    local guard <close> = scope(s, "mean_pairwise_squared_error")
    predictions = tf.cast(T.value(predictions), "float32")
    labels = tf.cast(T.value(labels), "float32")
    same_shape(labels, predictions, who)
    local w = tf.cast(T.value(weights, "float32"), "float32")
    local diffs = predictions - labels
    local axes = {}
    for i = 1, diffs:rank() - 1 do axes[i] = i end
    local sum_squares = raw.Sum(raw.Square(diffs), axes, {keep_dims = true})
    local present = raw.SelectV2(raw.Equal(w, raw.ZerosLike(w)), raw.ZerosLike(w), raw.OnesLike(w))
    while w:rank() > 0 and w:rank() < diffs:rank() do w, present = raw.ExpandDims(w, -1), raw.ExpandDims(present, -1) end
    local count = raw.Sum(raw.Mul(present, raw.OnesLike(diffs)), axes, {keep_dims = true})
    local term1 = safe_div(sum_squares, raw.Maximum(count - 1, 0)) * 2
    local sum = raw.Sum(diffs, axes, {keep_dims = true})
    local term2 = safe_div(raw.Square(sum), raw.Maximum(count * (count - 1), 0)) * 2
    local each = (term1 - term2) * w
    local loss = tf.reduce_sum(each)
    local total = tf.reduce_sum(count)
    loss = raw.SelectV2(raw.Greater(total, 0), loss, raw.ZerosLike(loss))
    losses.add_loss(loss, collection)
    return loss
  end)
def("tf.losses.sigmoid_cross_entropy", "multi_class_labels|labels logits weights=1.0 label_smoothing=0 scope? loss_collection=losses reduction=weighted_sum_by_nonzero_weights",
  function(labels, logits, weights, smoothing, s, collection, reduction)
    local guard <close> = scope(s, "sigmoid_cross_entropy_loss")
    logits = T.value(logits)
    labels = tf.cast(T.value(labels, not T.kind(labels) and logits.dtype or nil), logits.dtype)
    same_shape(labels, logits, "tf.losses.sigmoid_cross_entropy")
    if smoothing > 0 then labels = labels * (1 - smoothing) + 0.5 * smoothing end
    local loss = tf.nn.sigmoid_cross_entropy_with_logits{labels = labels, logits = logits}
    return weighted(loss, weights, collection, reduction, "tf.losses.sigmoid_cross_entropy")
  end)
def("tf.losses.softmax_cross_entropy", "onehot_labels|labels logits weights=1.0 label_smoothing=0 scope? loss_collection=losses reduction=weighted_sum_by_nonzero_weights",
  function(labels, logits, weights, smoothing, s, collection, reduction)
    local guard <close> = scope(s, "softmax_cross_entropy_loss")
    logits = T.value(logits)
    labels = tf.cast(T.value(labels, not T.kind(labels) and logits.dtype or nil), logits.dtype)
    same_shape(labels, logits, "tf.losses.softmax_cross_entropy")
    if smoothing > 0 then
      local classes = logits.shape[logits:rank()]
      if classes >= 0 then
        labels = labels * (1 - smoothing) + smoothing / classes
      else
        labels = labels * (1 - smoothing) + raw.RealDiv(smoothing, tf.cast(raw.Shape(logits)[-1], logits.dtype))
      end
    end
    local loss = tf.nn.softmax_cross_entropy_with_logits_v2{labels = raw.StopGradient(labels), logits = logits}
    return weighted(loss, weights, collection, reduction, "tf.losses.softmax_cross_entropy")
  end)
def("tf.losses.sparse_softmax_cross_entropy", "labels logits" .. common, function(labels, logits, weights, s, collection, reduction)
  local guard <close> = scope(s, "sparse_softmax_cross_entropy_loss")
  logits = T.value(logits)
  if not T.kind(labels) then labels = tf.tensor(labels, "int64") end
  if labels:rank() and logits:rank() and labels:rank() == logits:rank() then
    labels = raw.Squeeze(labels, {squeeze_dims = {-1}})
  end
  local loss = tf.nn.sparse_softmax_cross_entropy_with_logits{labels = labels, logits = logits}
  return weighted(loss, weights, collection, reduction, "tf.losses.sparse_softmax_cross_entropy")
end)
