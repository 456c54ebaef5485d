-- SHP-07: gather outside the range: an error that names index and range, and the table is not changed.
-- Know: contract of the op. Negative indices are outside, too (docs/conventions.md).
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local params = t.counting(30, 0, {10, 3})
local rows = {[0] = {0, 1, 2}, [9] = {27, 28, 29}}
local function ids(...) return tf.tensor({...}, "int32") end
local readers = {
  gather = function(p, i) return tf.gather(p, i) end,
  gather_nd = function(p, i) return tf.gather_nd(p, tf.expand_dims(i, 1)) end,
  embedding_lookup = function(p, i) return tf.nn.embedding_lookup(p, i) end,
  batch_gather = function(p, i) return tf.batch_gather(tf.expand_dims(p, 0), tf.expand_dims(i, 0)) end,
}
for name, fn in pairs(readers) do
  t.both_modes({params, ids(0, 9)}, fn, function(r)
    t.exact(r.mode .. " " .. name, tf.reshape(r[1], {-1, 3}), {rows[0], rows[9]})
    t.exact(r.mode .. " " .. name .. " gradient", tf.reduce_sum(r.grads[1], 1), {3, 0, 0, 0, 0, 0, 0, 0, 0, 3})
  end)
  for _, bad in ipairs {10, -1, 2147483647, -2147483648} do
    local label = name .. " " .. bad
    t.raises("define-by-run " .. label, function() return fn(params, ids(0, bad, 9)) end, tostring(bad), "10")
    local graph <close> = tf.Graph():as_default()
    local p, i = tf.placeholder("float32", {10, 3}), tf.placeholder("int32", {-1})
    local y = fn(p, i)
    local sess <close> = tf.Session()
    t.raises("graph " .. label, function() return sess:run(y, {[p] = params, [i] = ids(0, bad, 9)}) end, tostring(bad), "10")
    t.exact("graph after the error", sess:run(y, {[p] = params, [i] = ids(9)}):reshape {-1}, rows[9])
  end
end
-- int64 indices beyond 32 bits do not wrap around.
t.raises("index 2^32", function() return tf.gather(params, tf.tensor({4294967296}, "int64")) end, "4294967296")

-- Through an update of an embedding: nothing of the step happens.
for _, make in ipairs {function() return tf.train.GradientDescentOptimizer(1) end, function() return tf.train.AdamOptimizer(0.1) end,
  function() return tf.train.AdagradOptimizer(0.1) end} do
  local graph <close> = tf.Graph():as_default()
  local v = tf.Variable(params, {name = "table"})
  local i = tf.placeholder("int32", {-1})
  local train = make():minimize(tf.reduce_sum(tf.nn.embedding_lookup(v, i)))
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  for _, bad in ipairs {10, -1} do
    t.raises("update, index " .. bad, function() sess:run(train, {[i] = ids(0, bad)}) end, tostring(bad))
    t.exact("the table", sess:run(v), params:table())
  end
  sess:run(train, {[i] = ids(0, 0)})
  t.check("a good index trains", sess:run(v[{1, 1}]) < 0)
end
-- Writers: scatter.
for name, write in pairs {
  scatter_update = function(v, i) return v:scatter_update(i, tf.zeros_like(tf.gather(params, ids(0, 1)))) end,
  scatter_add = function(v, i) return v:scatter_add(i, tf.ones_like(tf.gather(params, ids(0, 1)))) end,
  scatter_nd_update = function(v, i) return v:scatter_nd_update(tf.expand_dims(i, 1), tf.zeros_like(tf.gather(params, ids(0, 1)))) end,
} do
  for _, bad in ipairs {10, -1} do
    tf.eager(function()
      local v = tf.Variable(params, {name = "table"})
      t.raises("define-by-run " .. name .. " " .. bad, function() return write(v, ids(0, bad)) end, tostring(bad))
      t.exact("the table after " .. name, v, params:table())
    end)
    local graph <close> = tf.Graph():as_default()
    local v = tf.Variable(params, {name = "table"})
    local i = tf.placeholder("int32", {2})
    local op = write(v, i)
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    t.raises("graph " .. name .. " " .. bad, function() return sess:run(op, {[i] = ids(0, bad)}) end, tostring(bad))
    t.exact("the table after " .. name .. " in a graph", sess:run(v), params:table())
  end
end
-- Segments: a negative id is dropped by unsorted_segment_sum, one above the range is an error.
local seg = function(id) return tf.unsorted_segment_sum(tf.tensor {1, 2}, ids(0, id), 2) end
t.exact("a negative segment", seg(-1), {1, 0})
t.raises("a segment beyond the range", function() return seg(2) end, "2")
t.done() -- expect: ok
