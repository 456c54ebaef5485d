-- TRN-05: the end of the data, and an exception in the producer: the reason reaches the consumer, and nothing hangs.
-- Know: counting; liveness.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local function producer(n, fault)
  return function()
    local i = 0
    return function()
      i = i + 1
      if i == fault then error "the producer has broken down" end
      if i <= n then return {i = tf.tensor(i)} end
    end
  end
end
-- 10 items, 2 epochs, batches of 4: exactly 20 items, then the end; and the end stays.
for _, form in ipairs {"plain", "prefetch", "shuffle"} do
  for _ = 1, 20 do
    local ds = tf.data.from_generator(producer(10), {names = {"i"}}):repeat_(2)
    if form == "shuffle" then ds = ds:shuffle(7, {seed = 1}) end
    ds = ds:batch(4)
    if form ~= "plain" then ds = ds:prefetch(2) end
    local it, batches, items, sum = ds:iterator(), 0, 0, 0
    while true do
      local x = it:next()
      if x == nil then break end
      batches, items, sum = batches + 1, items + x.i:size(), sum + x.i:sum():item()
    end
    t.exact(form .. ": batches, items, sum", {batches, items, sum}, {5, 20, 110})
    t.exact(form .. ": the end stays", it:next(), nil)
  end
end
-- In TensorFlow's form the end is an OUT_OF_RANGE error.
tf.eager(function()
  local it = tf.data.range(2):make_one_shot_iterator()
  it:get_next()
  it:get_next()
  for _ = 1, 2 do t.raises("get_next at the end", function() return it:get_next() end, "end") end
  local _, e = pcall(it.get_next, it)
  t.exact("its code", e.code, "OUT_OF_RANGE")
end)
-- An error at item 5: the four items made before come first, then the producer's own message. 200 times.
for round = 1, 200 do
  local prefetch = round % 2 == 0
  local ds = tf.data.from_generator(producer(10, 5), {names = {"i"}})
  if prefetch then ds = ds:prefetch(3) end
  local it, got = ds:iterator(), 0
  local start = os.time()
  local ok, e
  repeat
    local x
    ok, e = pcall(function() x = it:next() end)
    if x then got = got + 1 end
  until not x
  t.exact("items before the error", got, 4)
  t.check("the producer's message", not ok and tostring(e):find("the producer has broken down", 1, true) ~= nil, tostring(e))
  t.check("within a second", os.time() - start <= 1, os.time() - start)
  it:close()
end
-- A function of map that raises, and one over elements of files.
t.raises("map", function()
  for _ in tf.data.range(10):map(function(x)
    if x:item() == 5 then error "five is too much" end
    return x
  end):prefetch(2):iter() do end
end, "five is too much")
-- A list of files with one that is missing.
local function lines(i)
  return t.temporary(("%d,1\n%d,2\n"):format(i, i), ".csv")
end
local paths = {lines(1), "/no/such/file.csv", lines(3)}
local rows = 0
t.raises("a missing file", function()
  for _, path in ipairs(paths) do
    for _ in tf.data.csv(path, {header = "no"}):prefetch(2):iter() do rows = rows + 1 end
  end
end, "/no/such/file.csv")
t.exact("rows before it", rows, 2)
-- Stopping while the queue is full, and leaving iterators behind, 200 times: close returns, no thread stays.
local function threads() return t.process "Threads" or 0 end
local xs = tf.ones({100000}, {now = true})
for i = 1, 4 do tf.data.from_tensor_slices(xs):prefetch(2):iterator():close() end
collectgarbage()
local before, start = threads(), os.time()
for round = 1, 200 do
  local open = {}
  for k = 1, 4 do -- four producers at once
    open[k] = tf.data.from_tensor_slices(xs):shuffle(100, {seed = k}):repeat_():batch(10):prefetch(4):iterator()
    open[k]:next()
  end
  for k = 1, 4 do
    if round % 2 == 0 then open[k]:close() end -- the others are left to the collector
  end
end
collectgarbage()
collectgarbage()
t.check("no thread stays", threads() <= before, threads(), before)
t.check("stopping is prompt", os.time() - start < 60, os.time() - start)
-- The program ends, with its exit code, while producers run.
if arg[-1] == "run" then
  for code, ending in pairs {[0] = "", [1] = "error 'the user's fault'"} do
    ending = ending:gsub("'(.*)'", "[[%1]]")
    local path = t.temporary([[
      local tf = require "tfsdk"
      local it = tf.data.range(1000000):repeat_():batch(10):prefetch(4):iterator()
      it:next()
      ]] .. ending, ".lua")
    local pipe = io.popen(("timeout 20 '%s' run '%s' 2>&1"):format(arg[-2], path))
    local words = pipe:read "a"
    local _, _, exit = pipe:close()
    t.exact("exit code", exit, code)
    if code == 1 then t.check("the user's error", words:find("the user's fault", 1, true) ~= nil, words) end
  end
end
t.remove_temporary()
t.done() -- expect: ok
