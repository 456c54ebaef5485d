-- What the inception nets share: modules written as tables of branches.
local tf, T = ...
local slim = tf.slim
local common = T.include("slim", "nets/common")
local utils = {}

utils.inception_arg_scope = T.bind("inception_arg_scope", "weight_decay=0.00004 use_batch_norm=true batch_norm_decay=0.9997 batch_norm_epsilon=0.001 activation_fn? batch_norm_updates_collections=update_ops",
  function(weight_decay, use_batch_norm, decay, epsilon, activation, updates)
    local params = {decay = decay, epsilon = epsilon, updates_collections = updates}
    return slim.arg_scope({slim.conv2d, slim.fully_connected}, {weights_regularizer = slim.l2_regularizer(weight_decay)}, function()
      return slim.arg_scope({slim.conv2d}, {weights_initializer = slim.variance_scaling_initializer(),
        activation_fn = activation or tf.nn.relu, normalizer_fn = use_batch_norm and slim.batch_norm or false,
        normalizer_params = use_batch_norm and params or {}}, function(sc) return sc end)
    end)
  end)

-- A step of a branch: {filters, kernel, name, options}; {"max", name, options}, {"avg", name, options} pool 3 x 3;
-- {"split", step, step} puts two convolutions of one input side by side.
local function step(net, s)
  local kind = s[1]
  if kind == "max" then return slim.max_pool2d(net, {3, 3}, {scope = s[2], stride = s.stride, padding = s.padding}) end
  if kind == "avg" then return slim.avg_pool2d(net, {3, 3}, {scope = s[2], stride = s.stride, padding = s.padding}) end
  if kind == "split" then return common.concat {step(net, s[2]), step(net, s[3])} end
  local size = type(s[2]) == "table" and s[2] or {s[2], s[2]}
  return slim.conv2d(net, s[1], size, {scope = s[3], stride = s.stride, padding = s.padding, weights_initializer = s.init,
    normalizer_fn = s.normalizer_fn, activation_fn = s.activation_fn})
end
utils.step = step
function utils.branch(net, scope, steps)
  return tf.variable_scope(scope, function()
    for _, s in ipairs(steps) do net = step(net, s) end
    return net
  end)
end
-- Branches side by side, named Branch_0, Branch_1 ...
function utils.branches(net, list)
  local out = {}
  for i, steps in ipairs(list) do out[i] = utils.branch(net, "Branch_" .. (i - 1), steps) end
  return common.concat(out)
end
function utils.module(net, scope, list)
  return tf.variable_scope(scope, function() return utils.branches(net, list) end)
end
-- depth(d): d times the multiplier, at least `least`.
function utils.depth(multiplier, least)
  return function(d) return math.max(math.floor(d * multiplier), least) end
end
function utils.check(multiplier, who)
  if multiplier <= 0 then T.fail(who, "'depth_multiplier' must be above 0, not %g", multiplier) end
end
-- The list of {name, build(net)} up to the end point `final`.
function utils.run(net, list, final, who)
  local names = {}
  for i, e in ipairs(list) do names[i] = e[1] end
  common.check_endpoint(final, names, who)
  local points = {}
  for _, e in ipairs(list) do
    net = e[2](net)
    points[e[1]] = net
    if e[1] == final then break end
  end
  return net, points
end
function utils.scopes(stride, padding, fn)
  return slim.arg_scope({slim.conv2d, slim.max_pool2d, slim.avg_pool2d}, {stride = stride, padding = padding}, fn)
end
-- The convolution that gives class scores.
function utils.scores(net, classes, scope, squeeze, name)
  local logits = slim.conv2d(net, classes, {1, 1}, {activation_fn = false, normalizer_fn = false, scope = scope})
  return squeeze and common.squeeze(logits, name or "SpatialSqueeze") or logits
end
return utils
