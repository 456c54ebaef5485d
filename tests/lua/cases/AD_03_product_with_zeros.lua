-- AD-03: the gradient of a product with zeros among the factors.
-- Know: it is the product of the others, not the product divided by x.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

for _, dtype in ipairs {"float32", "float64"} do
  for _, c in ipairs {{{2, 0, 3, 4}, {0, 24, 0, 0}}, {{0, 1, 2, 3, 4}, {24, 0, 0, 0, 0}}, {{0, 0, 5}, {0, 0, 0}}, {{2, 3, 4}, {12, 8, 6}}, {{7}, {1}}} do
    t.both_modes({tf.tensor(c[1], dtype)}, tf.reduce_prod, function(r)
      t.exact(("%s %s product of %d"):format(r.mode, dtype, #c[1]), r.grads[1], c[2])
    end)
  end
end
-- Rows with different numbers of zeros, along either axis.
local rows = {{2, 0, 3, 4}, {0, 0, 5, 1}, {2, 3, 4, 1}, {0, 0, 0, 0}}
local want = {{0, 24, 0, 0}, {0, 0, 0, 0}, {12, 8, 6, 24}, {0, 0, 0, 0}}
t.both_modes({tf.tensor(rows)}, function(x) return tf.reduce_prod(x, 1) end, function(r)
  t.exact(r.mode .. " products of rows", r[1], {0, 0, 24, 0})
  t.exact(r.mode .. " products of rows, gradient", r.grads[1], want)
end)
t.both_modes({tf.transpose(tf.tensor(rows))}, function(x) return tf.reduce_prod(x, 0, true) end, function(r)
  t.exact(r.mode .. " products of columns, gradient", tf.transpose(r.grads[1]), want)
end)
t.both_modes({tf.tensor(rows):reshape {2, 2, 2, 2}}, function(x) return tf.reduce_prod(x, {1, 3}) end, function(r)
  -- the groups {2,0,0,0}, {3,4,5,1}, {2,3,0,0}, {4,1,0,0}
  t.exact(r.mode .. " products over two axes", r.grads[1], {{{{0, 0}, {20, 15}}, {{0, 0}, {12, 60}}}, {{{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}}})
end)
-- The kind: running products. d cumprod / dx of [2,0,3]: sum over the outputs of the product of the others.
t.both_modes({tf.tensor {2, 0, 3}}, tf.cumprod, function(r)
  t.exact(r.mode .. " cumprod", r[1], {2, 0, 0})
  t.exact(r.mode .. " cumprod, gradient", r.grads[1], {1 + 0 + 0, 2 + 6, 0})
end)
-- and segments: the groups {2,0}, {0,0}, {3}
t.both_modes({tf.tensor {2, 0, 0, 0, 3}, tf.tensor({0, 0, 1, 1, 2}, "int32")}, function(x, i)
  return tf.unsorted_segment_prod(x, i, 3)
end, function(r)
  t.exact(r.mode .. " segment products", r[1], {0, 0, 3})
  t.exact(r.mode .. " segment products, gradient", r.grads[1], {0, 2, 0, 0, 1})
end)
-- Second order: d2/dx1 dx2 of x1 x2 x3 is x3, also at zero.
t.both_modes({tf.tensor {0, 0, 5}}, function(x)
  if tf.kind(x) == "Node" then return tf.reduce_sum(tf.gradients(tf.reduce_prod(x), x)[1] * tf.tensor {1, 0, 0}) end
  local inner <close> = tf.GradientTape()
  inner:watch(x)
  local y = tf.reduce_prod(x)
  return tf.reduce_sum(inner:gradient(y, {x})[1] * tf.tensor {1, 0, 0})
end, function(r) t.exact(r.mode .. " second order", r.grads[1], {0, 5, 0}) end)
t.done() -- expect: ok
