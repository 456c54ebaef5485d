-- NUM-01: softmax, cross entropies, sigmoid and softplus at extreme logits: no overflow, no log(0), no NaN.
-- Know: shift by the maximum, then log-sum-exp; max(x,0) - x z + log1p(exp(-|x|)); recomputed in float64.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local float = function(x) return tf.tensor(x) end

-- (a)
t.both_modes({float {1000, 1000.5, -1000}}, tf.nn.softmax, function(r)
  t.near(r.mode .. " softmax", r[1], {0.37754067, 0.62245933, 0})
  t.finite(r.mode .. " softmax gradient", r.grads[1])
end)
t.both_modes({float {1000, 1000.5, -1000}}, tf.nn.log_softmax, function(r)
  t.near(r.mode .. " log_softmax", r[1], {-0.97407698, -0.47407698, -2000.97407698})
  t.finite(r.mode .. " log_softmax gradient", r.grads[1])
end)

-- (b), (c), (d): sparse labels
local function sparse(logits, label, loss, grad)
  t.both_modes({float {logits}, tf.tensor({label}, "int32")}, function(z, l)
    return tf.nn.sparse_softmax_cross_entropy_with_logits {labels = l, logits = z}
  end, function(r)
    t.near(r.mode .. " sparse loss", r[1], {loss})
    t.near(r.mode .. " sparse gradient", r.grads[1], {grad})
  end)
end
sparse({0, 200}, 0, 200, {-1, 1})
sparse({1e8, 1e8}, 1, 0.69314718, {0.5, -0.5})
sparse({-431, 279, 427}, 0, 858, {-1, 0, 1})

-- (e): a zero label times a log-probability of -1000
for name, loss in pairs {
  v1 = tf.nn.softmax_cross_entropy_with_logits, v2 = tf.nn.softmax_cross_entropy_with_logits_v2} do
  t.both_modes({float {{0, -1000}}}, function(z)
    return loss {labels = tf.tensor {{1, 0}}, logits = z}
  end, function(r)
    t.exact(r.mode .. " soft loss " .. name, r[1], {0})
    t.exact(r.mode .. " soft gradient " .. name, r.grads[1], {{0, 0}})
  end)
end
t.both_modes({float {{0, -1000}}, float {{1, 0}}}, function(z, l)
  return tf.nn.softmax_cross_entropy_with_logits_v2 {labels = l, logits = z}
end, function(r)
  t.finite(r.mode .. " gradient by the labels", r.grads[2])
end)

-- (f)
local logits, labels = float {1000, -1000, -1000, 1000, 0}, float {0, 0, 1, 1, 0.5}
t.both_modes({logits}, function(x)
  return tf.nn.sigmoid_cross_entropy_with_logits {labels = labels, logits = x}
end, function(r)
  t.near(r.mode .. " sigmoid loss", r[1], {1000, 0, 1000, 0, 0.69314718})
  t.near(r.mode .. " sigmoid gradient", r.grads[1], {1, 0, -1, 0, 0})
end)
t.both_modes({logits}, function(x) -- weight 1 is the same loss
  return tf.nn.weighted_cross_entropy_with_logits(labels, x, 1)
end, function(r)
  t.near(r.mode .. " weighted loss", r[1], {1000, 0, 1000, 0, 0.69314718})
  t.finite(r.mode .. " weighted gradient", r.grads[1])
end)
t.both_modes({logits}, tf.log_sigmoid, function(r)
  t.near(r.mode .. " log_sigmoid", r[1], {0, -1000, -1000, 0, -0.69314718})
  t.near(r.mode .. " log_sigmoid gradient", r.grads[1], {0, 1, 1, 0, 0.5})
end)

-- (g): exp(-100) = 3.72e-44 is subnormal in float32 and is kept
t.both_modes({float {-100, -20, 0, 20, 100, 1000}}, tf.nn.softplus, function(r)
  t.near(r.mode .. " softplus", r[1], {3.72e-44, 2.0611536e-9, 0.69314718, 20, 100, 1000}, 1e-5, 1e-45)
  t.near(r.mode .. " softplus gradient", r.grads[1], {3.72e-44, 2.0611536e-9, 0.5, 1, 1, 1}, 1e-5, 1e-6)
end)
t.check("softplus(-100) is not flushed to zero", tf.nn.softplus(tf.tensor(-100)):item() > 0, 0, "3.72e-44")

-- The kind: log-sum-exp of the same logits, and logits of -inf (a class that is ruled out).
t.both_modes({float {1000, 1000.5, -1000}}, tf.reduce_logsumexp, function(r)
  t.near(r.mode .. " logsumexp", r[1], 1000.97407698)
  t.near(r.mode .. " logsumexp gradient", r.grads[1], {0.37754067, 0.62245933, 0}, 1e-4)
end)
t.both_modes({float {{-math.huge, 0, 0}}}, tf.nn.softmax, function(r)
  t.near(r.mode .. " softmax with -inf", r[1], {{0, 0.5, 0.5}})
  t.finite(r.mode .. " its gradient", r.grads[1])
end)
t.done() -- expect: ok
