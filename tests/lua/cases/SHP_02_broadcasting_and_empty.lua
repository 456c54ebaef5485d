-- SHP-02: broadcasting, and dimensions of size zero.
-- Know: numpy's rules; the empty sum is 0, the empty product 1. The maximum of nothing is -inf, its mean NaN
-- (docs/conventions.md).
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function zeros(shape) return tf.zeros(shape, {now = true}) end
local function broadcast(a, b, want)
  t.both_modes({zeros(a), zeros(b)}, function(x, y) return x + y, x * y, tf.less(x, y), tf.where(tf.less(x, y), x, y) end, function(r)
    for i = 1, 4 do t.shape(("%s result %d"):format(r.mode, i), r[i], want) end
    t.shape(r.mode .. " gradient of x", r.grads[1], a)
    t.shape(r.mode .. " gradient of y", r.grads[2], b)
  end)
end
broadcast({0, 3}, {1, 3}, {0, 3})
broadcast({2, 1}, {0}, {2, 0})
broadcast({0}, {1}, {0})
broadcast({2, 0, 4}, {1, 4}, {2, 0, 4})
-- A gradient over an empty axis sums to zero, also where the other input has elements.
t.both_modes({tf.tensor {{1, 2, 3}}, zeros {0, 3}}, function(x, y) return x + y end, function(r)
  t.exact(r.mode .. " gradient over an empty axis", r.grads[1], {{0, 0, 0}})
end)
-- Shapes that do not fit are named.
local function misfit(a, b, ...)
  local words = {...}
  t.raises("define-by-run", function() return zeros(a) + zeros(b) end, table.unpack(words))
  local graph <close> = tf.Graph():as_default()
  t.raises("graph", function() return tf.placeholder("float32", a) + tf.placeholder("float32", b) end, table.unpack(words))
  local x, y = tf.placeholder "float32", tf.placeholder "float32" -- of unknown shape: when it runs
  local z = x + y
  local sess <close> = tf.Session()
  t.raises("when it runs", function() return sess:run(z, {[x] = zeros(a), [y] = zeros(b)}) end, table.unpack(words))
end
misfit({0}, {3}, "(0)", "(3)")
misfit({2, 3}, {2}, "(2, 3)", "(2)")

local function reshape(from, to, want)
  t.both_modes({zeros(from)}, function(x) return tf.reshape(x, to) end, function(r)
    t.shape(r.mode .. " reshape", r[1], want)
    t.shape(r.mode .. " gradient", r.grads[1], from)
  end)
end
reshape({0, 3}, {-1}, {0})
reshape({4, 0}, {37, -1}, {37, 0})
reshape({0, 3}, {3, -1}, {3, 0})
t.raises("ambiguous reshape", function() return tf.reshape(zeros {4, 0}, {0, -1}) end, "Reshape")
do
  local graph <close> = tf.Graph():as_default()
  local x = tf.placeholder("float32", {-1, -1})
  local sess <close> = tf.Session()
  t.raises("ambiguous reshape in a graph", function() return sess:run(tf.reshape(x, {0, -1}), {[x] = zeros {4, 0}}) end, "Reshape")
end

t.both_modes({zeros {0, 3}}, function(x)
  return tf.reduce_sum(x, 0), tf.reduce_prod(x, 0), tf.reduce_max(x, 0), tf.reduce_min(x, 0), tf.reduce_mean(x, 0),
    tf.reduce_logsumexp(x, 0), tf.reduce_all(tf.less(x, 0), 0), tf.reduce_any(tf.less(x, 0), 0)
end, function(r)
  local inf = math.huge
  t.exact(r.mode .. " empty sum", r[1], {0, 0, 0})
  t.exact(r.mode .. " empty product", r[2], {1, 1, 1})
  t.exact(r.mode .. " empty maximum", r[3], {-inf, -inf, -inf})
  t.exact(r.mode .. " empty minimum", r[4], {inf, inf, inf})
  t.exact(r.mode .. " empty mean", r[5], {0 / 0, 0 / 0, 0 / 0})
  t.exact(r.mode .. " empty logsumexp", r[6], {-inf, -inf, -inf})
  t.exact(r.mode .. " all of nothing", r[7], {true, true, true})
  t.exact(r.mode .. " any of nothing", r[8], {false, false, false})
  t.shape(r.mode .. " gradient", r.grads[1], {0, 3})
end)
t.both_modes({zeros {2, 0}, zeros {0, 3}}, tf.matmul, function(r)
  t.exact(r.mode .. " product over nothing", r[1], {{0, 0, 0}, {0, 0, 0}})
  t.shape(r.mode .. " gradient of the left", r.grads[1], {2, 0})
  t.shape(r.mode .. " gradient of the right", r.grads[2], {0, 3})
end)
t.both_modes({zeros {2, 0, 3}, zeros {2, 3, 4}}, tf.matmul, function(r) t.shape(r.mode .. " empty batch product", r[1], {2, 0, 4}) end)
t.raises("argmax of nothing", function() return tf.argmax(zeros {0, 3}, 0) end, "ArgMax")
-- A step of training on no rows: nothing crashes, nothing changes.
t.both_modes({zeros {0, 4}, tf.ones({4, 3}, {now = true})}, function(x, w)
  return tf.nn.softmax(tf.nn.relu(tf.matmul(x, w))), tf.nn.log_softmax(tf.matmul(x, w))
end, function(r)
  t.shape(r.mode .. " softmax of no rows", r[1], {0, 3})
  t.exact(r.mode .. " gradient of the weights", r.grads[2], zeros {4, 3})
end)
t.both_modes({zeros {0, 8, 8, 3}, tf.ones({3, 3, 3, 5}, {now = true})}, function(x, w)
  return tf.nn.max_pool(tf.nn.conv2d(x, w, {padding = "SAME"}), 2, 2), tf.nn.avg_pool(x, 2, 2)
end, function(r)
  t.shape(r.mode .. " convolution of no images", r[1], {0, 4, 4, 5})
  t.exact(r.mode .. " gradient of its filter", r.grads[2], zeros {3, 3, 3, 5})
end)
t.done() -- expect: ok
