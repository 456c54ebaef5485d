-- Where a dataset and random numbers have got to: a new iterator, of a dataset made the same way, goes on with the
-- same elements; so do random numbers in both modes.
-- Know: the elements of an iterator that was not stopped.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local rows = tf.data.from_tensor_slices(tf.range(tf.tensor(23, "int64")))
local function counter() -- a generator has its elements from Lua
  return tf.data.from_generator(function()
    local i = -1
    return function()
      i = i + 1
      if i < 11 then return tf.tensor(i, "int64") end
    end
  end)
end
local pipelines = {
  plain = function() return rows end,
  batches = function() return rows:batch(4) end,
  dropped = function() return rows:batch(4, {drop_remainder = true}):repeat_(3) end,
  shuffled = function() return tf.data.from_tensor_slices(tf.range(tf.tensor(23, "int64"))):shuffle(7) end,
  epochs = function() return rows:shuffle(23, {seed = 5}):repeat_(4):batch(5) end,
  batched_epochs = function() return rows:shuffle(5, {seed = 5}):batch(5):repeat_(3) end,
  ahead = function() return rows:shuffle(9):repeat_(3):batch(6):prefetch(3) end,
  same_order = function() return rows:shuffle(9, {seed = 3, reshuffle_each_iteration = false}):repeat_(2) end,
  taken = function() return rows:skip(3):shuffle(4):take(15):repeat_(2) end,
  over_epochs = function() return rows:repeat_(2):shuffle(30, {seed = 1}):batch(7) end,
  generated = function() return counter():repeat_(3):batch(2) end,
  mapped = function() return rows:map(function(x) return x * 2 end):shuffle(6):repeat_(2):batch(3) end,
  nothing = function() return rows:take(0) end,
}
local function drain(it)
  local out = {}
  for i = 1, 1000 do
    local x = it:next()
    if x == nil then return out end
    out[i] = table.concat(x:rank() == 0 and {x:item()} or x:table(), ",")
  end
end
local tried = 0
for name, make in pairs(pipelines) do
  local it, positions, want = make():iterator(), {}, {}
  positions[0] = it:position()
  for i = 1, 1000 do
    local x = it:next()
    if x == nil then break end
    want[i] = table.concat(x:rank() == 0 and {x:item()} or x:table(), ",")
    positions[i] = it:position()
  end
  for k = 0, #want, #want > 60 and 3 or 1 do
    local again = make():iterator()
    local prefix = os.tmpname()
    os.remove(prefix)
    local v = tf.Variable(0, {name = "v"})
    local sess <close> = tf.Session()
    sess:run(v.initializer)
    local saver = tf.train.Saver {var_list = {v}}
    saver:save(sess, prefix, {iterators = {data = positions[k]}, write_state = false})
    saver:restore(sess, prefix, {iterators = {data = again}})
    tf.train.remove_checkpoint(prefix)
    local got = drain(again)
    tried = tried + 1
    t.exact(("%s from %d on"):format(name, k), got, {table.unpack(want, k + 1)})
  end
end
t.check("many positions", tried > 150, tried)
-- A later iterator of the same dataset is the next pass, as it would have been.
do
  local ds, other = rows:shuffle(23, {seed = 9}), rows:shuffle(23, {seed = 9})
  local first = ds:iterator()
  for _ = 1, 5 do first:next() end
  local second = drain(ds:iterator())
  local again = other:iterator()
  local prefix = os.tmpname()
  local v = tf.Variable(0, {name = "v"})
  local sess <close> = tf.Session()
  sess:run(v.initializer)
  local saver = tf.train.Saver {var_list = {v}}
  saver:save(sess, prefix, {iterators = {data = first}, write_state = false})
  saver:restore(sess, prefix, {iterators = {data = again}})
  t.exact("the rest of this pass", drain(again), drain(first))
  t.exact("the pass after it", drain(other:iterator()), second)
  t.raises("a position of another dataset", function() saver:restore(sess, prefix, {iterators = {data = rows:batch(2):iterator()}}) end, "another dataset", "shuffle", "batch")
  t.raises("an iterator in use", function() saver:restore(sess, prefix, {iterators = {data = again}}) end, "in use")
  t.raises("no such iterator", function() saver:restore(sess, prefix, {iterators = {other = other:iterator()}}) end, "'other'")
  tf.train.remove_checkpoint(prefix)
  os.remove(prefix)
end
-- Random numbers: of a session without any seed, and of define-by-run mode.
do
  local prefix = os.tmpname()
  local v = tf.Variable(0, {name = "v"})
  local r, s = tf.random.normal({3}), tf.random.uniform({2}, {seed = 4})
  local saver = tf.train.Saver {var_list = {v}}
  local sess <close> = tf.Session()
  sess:run(v.initializer)
  for _ = 1, 3 do sess:run {r, s} end
  saver:save(sess, prefix, {write_state = false})
  local want = {}
  for i = 1, 4 do want[i] = sess:run({r, s}, {}, {raw = true}) end
  local other <close> = tf.Session()
  saver:restore(other, prefix)
  for i = 1, 4 do
    local got = other:run({r, s}, {}, {raw = true})
    t.exact("unseeded " .. i, got[1], want[i][1])
    t.exact("seeded " .. i, got[2], want[i][2])
  end
  tf.train.remove_checkpoint(prefix)
  tf.eager(function()
    local e = tf.Variable(tf.tensor {1}, {name = "e"})
    local own = tf.train.Saver {var_list = {e}}
    local function draw() return {tf.random.normal({2}):table(), tf.random.uniform({2}, {seed = 4}):table()} end
    draw()
    own:save(prefix, {write_state = false})
    local a = {draw(), draw()}
    own:restore(prefix)
    t.exact("define-by-run", {draw(), draw()}, a)
  end)
  tf.train.remove_checkpoint(prefix)
  os.remove(prefix)
end
t.done() -- expect: ok
