-- SHP-09: inputs that are slices or transposed, and row lengths that are no multiple of a vector's width.
-- Know: counting: 14 * 14 * 3 = 588; the columns 1..2 of 0..11 shaped 3x4 sum to 1+2+5+6+9+10 = 33.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function ones(...) return tf.ones({...}, {now = true}) end
local nan = 0 / 0
t.both_modes({ones(1, 14, 14, 3), ones(14, 14, 3, 1)}, function(x, k) return tf.nn.conv2d(x, k, {padding = "VALID"}) end, function(r)
  t.exact(r.mode .. " convolution of a patch", r[1], {{{{588}}}})
end)
-- Rows that lie between bytes of NaN: the operands are cut out of larger tensors, and memory that was NaN is reused.
local function among_nan(n)
  local data = {}
  for i = 1, n + 64 do data[i] = i > 32 and i <= n + 32 and 1 or nan end
  return tf.tensor(data)
end
for _, dtype in ipairs {"float32", "float64", "float16", "bfloat16"} do
  for _, n in ipairs {1, 7, 31, 33, 588} do
    local wide = tf.cast(among_nan(n), dtype)
    t.both_modes({wide}, function(w)
      local x = tf.slice(w, {32}, {n})
      local row, column = tf.reshape(x, {1, n}), tf.reshape(x, {n, 1})
      return tf.matmul(row, column), tf.matmul(row, row, false, true), tf.reduce_sum(x), tf.reduce_max(x), tf.tensordot(x, x, 1),
        tf.reduce_mean(tf.nn.relu(x)), tf.reduce_sum(tf.nn.softmax(row))
    end, function(r)
      local label = ("%s %s length %d"):format(r.mode, dtype, n)
      t.exact(label .. " dot", r[1], {{n}})
      t.exact(label .. " dot, transposed", r[2], {{n}})
      t.exact(label .. " sum", r[3], n)
      t.exact(label .. " maximum", r[4], 1)
      t.exact(label .. " tensordot", r[5], n)
      t.exact(label .. " mean", r[6], 1)
      t.near(label .. " softmax", r[7], 1, 1e-2)
      local g = tf.cast(r.grads[1], "float32"):table()
      t.check(label .. " gradient", g[32] == 0 and g[33] == 2 and g[n + 32] == 2 and g[n + 33] == 0, {g[32], g[33], g[n + 32], g[n + 33]}, {0, 2, 2, 0})
    end)
  end
end
local x = t.counting(12, 0, {3, 4})
t.both_modes({x}, function(v)
  return tf.reduce_sum(v[{{}, {2, 3}}]), tf.reduce_sum(tf.transpose(v)[{{2, 3}}]), tf.reduce_sum(tf.strided_slice(v, {0, 1}, {3, 3})),
    tf.reduce_sum(tf.transpose(tf.transpose(v)[{{2, 3}}]), 1)
end, function(r)
  t.exact(r.mode .. " columns", r[1], 33)
  t.exact(r.mode .. " rows of the transpose", r[2], 33)
  t.exact(r.mode .. " strided slice", r[3], 33)
  t.exact(r.mode .. " by rows", r[4], {3, 11, 19})
  t.exact(r.mode .. " gradient", r.grads[1], {{0, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 1, 0}})
end)
-- Channels of 3, widths of 5 and 7: every element-wise, pooling and convolution loop has a remainder.
t.both_modes({ones(2, 7, 5, 3), ones(3, 3, 3, 5)}, function(v, k)
  local y = tf.nn.conv2d(v, k, {padding = "VALID"})
  return y, tf.nn.max_pool(v, 2, 1, "VALID"), tf.nn.avg_pool(v, 3, 2, "SAME"), tf.sqrt(v) + tf.exp(v * 0)
end, function(r)
  t.exact(r.mode .. " convolution", tf.reshape(r[1], {-1}), tf.fill(tf.tensor({150}, "int32"), tf.tensor(27)))
  t.exact(r.mode .. " max_pool", tf.reduce_max(r[2]), 1)
  t.exact(r.mode .. " avg_pool", tf.reduce_min(r[3]), 1)
  t.exact(r.mode .. " element-wise", tf.reduce_max(r[4]), 2)
  t.near(r.mode .. " gradient of the filter", tf.reshape(r.grads[2], {-1}), tf.fill(tf.tensor({135}, "int32"), tf.tensor(30)))
end)
t.done() -- expect: ok
