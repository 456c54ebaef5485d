-- What the nets share.
local tf, T = ...
local slim = tf.slim
local common = {}

-- Dropout and batch normalisation behave as `is_training` says.
function common.training(is_training, fn)
  return slim.arg_scope({slim.batch_norm, slim.dropout}, {is_training = is_training}, fn)
end
-- Collects end points under their names, and stops the net at `final_endpoint`.
function common.recorder(final_endpoint)
  local points = {}
  return points, function(name, net)
    points[name] = net
    return name == final_endpoint
  end
end
function common.check_endpoint(name, known, who)
  if name == nil then return end
  for _, k in ipairs(known) do if k == name then return end end
  local near = T.nearest(name, known)
  T.fail(who, "there is no end point '%s'%s", name, near and ("; the nearest is '%s'"):format(near) or "")
end
function common.height_width(net)
  local s = net.shape
  return s[2], s[3]
end
-- A window of at most that size: smaller images have smaller maps.
function common.reduced_kernel(net, size)
  local h, w = common.height_width(net)
  if not h or h < 0 or w < 0 then return {size, size} end
  return {math.min(h, size), math.min(w, size)}
end
function common.squeeze(net, name) return tf.squeeze(net, {axis = {1, 2}, name = name}) end
function common.channels(net) return net.shape[net:rank()] end
function common.concat(list) return tf.concat(list, 3) end
function common.truncated(stddev) return tf.truncated_normal_initializer(0, stddev) end
function common.global_pool(net, name) return tf.reduce_mean(net, {axis = {1, 2}, keepdims = true, name = name}) end
-- Class scores and what comes from them.
function common.finish(points, logits, predict)
  points.Logits = logits
  points.Predictions = predict(logits, {scope = "Predictions"})
  return logits, points
end
return common
