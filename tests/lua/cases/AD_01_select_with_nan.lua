-- AD-01: select with a NaN in the branch that is not taken.
-- Know: calculus; the safe form contains no NaN at all. Ours of the naive form: sqrt passes nothing where nothing
-- comes in, exp gives 0 * inf = NaN (docs/conventions.md); other elements are never touched.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local x = tf.tensor {-1, 0, 4}
t.both_modes({x}, function(v)
  local good = tf.greater(v, 0)
  return tf.where(good, tf.sqrt(tf.where(good, v, tf.ones_like(v))), v)
end, function(r)
  t.exact(r.mode .. " safe form", r[1], {-1, 0, 2})
  t.exact(r.mode .. " safe form, gradient", r.grads[1], {1, 1, 0.25})
end)
t.both_modes({x}, function(v) return tf.where(tf.greater(v, 0), tf.sqrt(v), v) end, function(r)
  t.exact(r.mode .. " naive form", r[1], {-1, 0, 2})
  t.exact(r.mode .. " naive form, gradient", r.grads[1], {1, 1, 0.25})
end)
-- exp overflows where it is not taken: the value is 0, the gradient 0 * inf; the neighbours are clean.
t.both_modes({tf.tensor {1e10, -1, 1e10, 0}}, function(v)
  return tf.where(tf.greater(v, 0), tf.zeros_like(v), tf.exp(v))
end, function(r)
  t.near(r.mode .. " exp", r[1], {0, 0.36787944, 0, 1})
  t.near(r.mode .. " exp, gradient", r.grads[1], {0 / 0, 0.36787944, 0 / 0, 1})
end)
-- A whole row each, and a scalar condition.
t.both_modes({tf.tensor {{1, 2}, {0 / 0, 0 / 0}}, tf.tensor {{5, 6}, {7, 8}}}, function(a, b)
  return tf.where(tf.constant({true, false}), a, b)
end, function(r)
  t.exact(r.mode .. " rows", r[1], {{1, 2}, {7, 8}})
  t.exact(r.mode .. " rows, gradient", r.grads[1], {{1, 1}, {0, 0}})
  t.exact(r.mode .. " rows, gradient of the other", r.grads[2], {{0, 0}, {1, 1}})
end)
-- Division by zero where the quotient is not wanted: div_no_nan is the tool.
t.both_modes({tf.tensor {0, 2}}, function(v) return tf.div_no_nan(tf.ones_like(v), v) end, function(r)
  t.exact(r.mode .. " div_no_nan", r[1], {0, 0.5})
  t.exact(r.mode .. " div_no_nan, gradient", r.grads[1], {0, -0.25})
end)
t.done() -- expect: ok
