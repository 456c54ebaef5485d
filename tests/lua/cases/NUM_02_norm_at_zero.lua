-- NUM-02: norm and square root at zero: a zero vector must not destroy the weights.
-- Know: d(sum x^2) = 2x; d norm = x/norm; 0 is in the subdifferential. Ours at zero: the gradient of tf.norm is 0
-- (docs/conventions.md); norm of a value whose square underflows is 0.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local norm = function(x) return tf.norm(x) end
t.both_modes({tf.tensor {0, 0}}, function(x) return tf.reduce_sum(x * x) end, function(r)
  t.exact(r.mode .. " sum of squares", r.grads[1], {0, 0})
end)
t.both_modes({tf.tensor {3, 4}}, norm, function(r)
  t.near(r.mode .. " norm", r[1], 5)
  t.near(r.mode .. " norm gradient", r.grads[1], {0.6, 0.8})
end)
t.both_modes({tf.tensor {0, 0}}, norm, function(r)
  t.exact(r.mode .. " norm at zero", r[1], 0)
  t.exact(r.mode .. " norm gradient at zero", r.grads[1], {0, 0})
end)
-- A zero row beside a good one, by axis; and as Euclidean norm op.
for name, fn in pairs {norm = tf.norm, euclidean = function(x, o) return tf.math.reduce_euclidean_norm(x, o) end} do
  t.both_modes({tf.tensor {{0, 0}, {3, 4}}}, function(x) return fn(x, {axis = 1}) end, function(r)
    t.near(r.mode .. " " .. name .. " by rows", r[1], {0, 5})
    t.near(r.mode .. " " .. name .. " gradient by rows", r.grads[1], {{0, 0}, {0.6, 0.8}})
  end)
end
-- The row of l2_normalize: gradient of its sum = (g - y (y.g)) / norm with g = 1: (1 - y * 1.4) / 5.
t.both_modes({tf.tensor {{0, 0}, {3, 4}}}, function(x) return tf.nn.l2_normalize(x, 1) end, function(r)
  t.near(r.mode .. " l2_normalize", r[1], {{0, 0}, {0.6, 0.8}})
  t.near(r.mode .. " its good row's gradient", r.grads[1][2], {(1 - 0.6 * 1.4) / 5, (1 - 0.8 * 1.4) / 5})
  t.finite(r.mode .. " its zero row's gradient", r.grads[1][1])
end)
-- The square underflows: 0, and a gradient without inf.
t.both_modes({tf.tensor {1e-30, 0}}, norm, function(r)
  t.near(r.mode .. " tiny norm", r[1], 0, 0, 1e-29)
  t.finite(r.mode .. " tiny norm gradient", r.grads[1])
end)
-- The kind: other functions of a length that people differentiate at zero.
t.both_modes({tf.tensor {0, 0}}, function(x) return tf.clip_by_norm(x, 1) end, function(r)
  t.exact(r.mode .. " clip_by_norm at zero", r[1], {0, 0})
  t.exact(r.mode .. " clip_by_norm gradient at zero", r.grads[1], {1, 1})
end)
t.both_modes({tf.tensor {0, 0}}, function(x) return (tf.clip_by_global_norm({x}, 1))[1] end, function(r)
  t.exact(r.mode .. " clip_by_global_norm of zero", r[1], {0, 0})
end, {grads = false})
t.both_modes({tf.tensor {0, 0}, tf.tensor {0}}, function(x, y) return tf.global_norm {x, y} end, function(r)
  t.exact(r.mode .. " global_norm at zero", r[1], 0)
  t.exact(r.mode .. " global_norm gradient at zero", r.grads[1], {0, 0})
end)
t.both_modes({tf.tensor {1, 2, 2}}, function(x) return tf.norm(x, 3) end, function(r)
  t.near(r.mode .. " third norm", r[1], 17 ^ (1 / 3))
end)
t.both_modes({tf.tensor {0, 0}}, function(x) return tf.norm(x, 3) end, function(r)
  t.exact(r.mode .. " third norm's gradient at zero", r.grads[1], {0, 0})
end)
t.both_modes({tf.tensor {1, 1}}, tf.math.reduce_std, function(r)
  t.exact(r.mode .. " deviation of equal numbers", r[1], 0)
  t.finite(r.mode .. " its gradient", r.grads[1])
end)
t.done() -- expect: ok
