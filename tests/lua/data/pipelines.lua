-- Datasets: slices by name, batches, seeds, epochs, Lua functions.
local tf = require "tfsdk"
local ds = tf.data.from_tensor_slices{x = tf.range(10, {now = true}), y = tf.range(10, {now = true}) * 2}
local sizes = {}
for batch in ds:batch(4):iter() do sizes[#sizes + 1] = batch.x:size() end
print(table.concat(sizes, " ")) -- expect: 4 4 2
local function order(d) local out = {} for e in d:iter() do out[#out + 1] = e.x:item() end return table.concat(out, " ") end
local a, b = order(ds:shuffle(10, {seed = 7})), order(ds:shuffle(10, {seed = 7}))
print(a == b, a == order(ds), #a == #order(ds)) -- expect: true	false	true
print(order(ds:shuffle(1, {seed = 3})) == order(ds)) -- expect: true
sizes = {}
local twice = ds:batch(4)
for batch in twice:repeat_(2):iter() do sizes[#sizes + 1] = batch.x:size() end
print(table.concat(sizes, " ")) -- expect: 4 4 2 4 4 2
print(order(ds:skip(2):take(3))) -- expect: 2 3 4
print(order(ds:filter(function(e) return (e.x % 2):eq(0) end))) -- expect: 0 2 4 6 8
local sum = 0
for x in tf.data.range(5):map(function(v) return v * v end):iter() do sum = sum + x:item() end
print(sum) -- expect: 30
local it = tf.data.range(1):make_one_shot_iterator()
tf.enable_eager_execution() -- from here on get_next gives elements, not nodes
it:get_next()
local ok, e = pcall(it.get_next, it)
print(e.code) -- expect: OUT_OF_RANGE
local gen = tf.data.from_generator(function()
  local i = 0
  return function() i = i + 1 if i <= 3 then return tf.tensor(i) end end
end)
local n = 0
for v in gen:prefetch(2):batch(2):iter() do n = n + v:size() end
print(n) -- expect: 3
local bad = tf.data.from_generator(function()
  local i = 0
  return function() i = i + 1 if i == 3 then error "broken at item 3" end return tf.tensor(i) end
end)
print(pcall(function() for _ in bad:iter() do end end)) -- expect match: ^false	.*broken at item 3
