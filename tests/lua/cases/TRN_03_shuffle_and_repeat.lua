-- TRN-03: shuffle buffer, repeat and batch order.
-- Know: counting; row i never appears before output position i - B + 1 (the bound was checked by simulation).
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function order(ds)
  local out = {}
  for x in ds:iter() do out[#out + 1] = x:item() end
  return out
end
local function text(list) return table.concat(list, " ") end
local function sizes(ds)
  local out = {}
  for x in ds:iter() do out[#out + 1] = x:size() end
  return text(out)
end
local plain = text(order(tf.data.range(20)))
local seen = {} -- the order that the first seed gave, by buffer
for _, buffer in ipairs {1, 3, 5, 20, 100} do
  for seed = 1, 2 do
    local ds = tf.data.range(20):shuffle(buffer, {seed = seed})
    local label = ("buffer %d, seed %d"):format(buffer, seed)
    local epochs = {order(ds), order(ds)}
    for e, list in ipairs(epochs) do
      local sorted = {table.unpack(list)}
      table.sort(sorted)
      t.exact(label .. ": a permutation", text(sorted), plain)
      for position, row in ipairs(list) do
        t.check(label .. ": not before its time", position - 1 >= row - buffer + 1, position - 1, row - buffer + 1)
      end
      if buffer == 1 then t.exact(label .. ": the identity", text(list), plain) end
    end
    local again = tf.data.range(20):shuffle(buffer, {seed = seed})
    t.exact(label .. ": the same seed, epoch 1", text(order(again)), text(epochs[1]))
    t.exact(label .. ": the same seed, epoch 2", text(order(again)), text(epochs[2]))
    if buffer > 1 then
      t.check(label .. ": another epoch, another order", text(epochs[1]) ~= text(epochs[2]))
      t.check(label .. ": another seed, another order", seen[buffer] ~= text(epochs[1]))
      seen[buffer] = text(epochs[1])
      local fixed = tf.data.range(20):shuffle(buffer, {seed = seed, reshuffle_each_iteration = false})
      t.exact(label .. ": not reshuffled", text(order(fixed)), text(order(fixed)))
    end
  end
end
-- Two epochs by repeat: the first is over before the second begins.
local twice = order(tf.data.range(20):shuffle(5, {seed = 1}):repeat_(2))
for e = 0, 1 do
  local part = {table.unpack(twice, 20 * e + 1, 20 * e + 20)}
  table.sort(part)
  t.exact("epoch " .. e, text(part), plain)
end
t.check("epochs differ", text {table.unpack(twice, 1, 20)} ~= text {table.unpack(twice, 21, 40)})
-- Batches.
local ten = tf.data.range(10)
t.exact("repeat, batch", sizes(ten:repeat_(2):batch(4)), "4 4 4 4 4")
t.exact("batch, repeat", sizes(ten:batch(4):repeat_(2)), "4 4 2 4 4 2")
t.exact("repeat, batch, dropping", sizes(ten:repeat_(2):batch(4, {drop_remainder = true})), "4 4 4 4 4")
t.exact("batch, repeat, dropping", sizes(ten:batch(4, {drop_remainder = true}):repeat_(2)), "4 4 4 4")
t.exact("in a shuffle and a prefetch", sizes(ten:shuffle(4, {seed = 1}):batch(4):prefetch(2):repeat_(2)), "4 4 2 4 4 2")
-- Rows stay together: x and y are shuffled alike.
local xs, ys = {}, {}
for i = 1, 20 do xs[i], ys[i] = i, i * i end
for row in tf.data.from_tensor_slices {x = tf.tensor(xs), y = tf.tensor(ys)}:shuffle(20, {seed = 3}):batch(3):iter() do
  t.exact("x and y", row.y, (row.x * row.x):table())
end
t.raises("buffer 0", function() return order(ten:shuffle(0)) end, "buffer")
t.raises("batch 0", function() return order(ten:batch(0)) end, "batch")
t.done() -- expect: ok
