-- NUM-10: dropout's scale and mask; the graph's seed and an op's seed.
-- Know: d(sum(m x / k))/dx = m / k, and y = m / k when x = 1; TensorFlow 1's documented contract of seeds; the
-- deviation of the truncated normal is 0.87962566 (scipy).
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local n = 1000000
local ones = tf.ones({100, 100, 100}, {now = true})

-- (A)
local function check_mask(label, y, dx)
  local zero, kept = tf.reduce_sum(tf.cast(tf.equal(y, 0), "int64")):item(), tf.reduce_sum(tf.cast(tf.equal(y, 1.25), "int64")):item()
  t.check(label .. " is 0 or 1.25", zero + kept == n, zero + kept, n)
  t.near(label .. " mean", tf.reduce_mean(y), 1, 0, 0.003)
  t.check(label .. ": the gradient is the output", tf.reduce_all(tf.equal(y, dx)):item())
end
local forms = {
  dropout = function(x, seed) return tf.nn.dropout(x, 0.8, {seed = seed}) end,
  rate = function(x, seed) return tf.nn.dropout(x, {rate = 0.2, seed = seed}) end,
  raw = function(x, seed) return (tf.raw.Dropout(x, 0.2, {seed2 = seed})) end,
}
for name, drop in pairs(forms) do
  tf.set_random_seed(42)
  t.both_modes({ones}, function(x)
    return drop(x, 7)
  end, function(r) check_mask(r.mode .. " " .. name, r[1], r.grads[1]) end)
end
for name, drop in pairs {keep_prob = function(x) return tf.nn.dropout(x, 1) end,
  rate = function(x) return tf.nn.dropout(x, {rate = 0}) end, raw = function(x) return (tf.raw.Dropout(x, 0)) end} do
  local x = tf.tensor {0.1, -0.0, 1e-45, 3.4e38}
  t.both_modes({x}, function(v) return drop(v) end, function(r)
    t.check(r.mode .. " keep 1 is the identity, " .. name, r[1]:bytes() == x:bytes(), r[1], x)
    t.exact(r.mode .. " its gradient, " .. name, r.grads[1], {1, 1, 1, 1})
  end)
end
t.raises("keep_prob above 1", function() return tf.nn.dropout(ones, 1.5) end, "dropout")
t.raises("rate below 0", function() return tf.nn.dropout(ones, {rate = -0.1}) end, "dropout")
-- Each channel has its own draw.
local channels = tf.eager(function() return tf.reduce_mean(forms.dropout(ones, 7), {axis = {0, 1}}) end):table()
for c = 2, 100 do t.check("channels differ", channels[c] ~= channels[1] or channels[c] ~= channels[2]) end

-- A graph with the seed, in which build(seed) makes random nodes; returns successive runs of two sessions.
local function draws(graph_seed, build, before)
  local graph <close> = tf.Graph():as_default()
  if graph_seed then tf.set_random_seed(graph_seed) end
  if before then before() end
  local node = build()
  local out = {}
  for i = 1, 2 do
    local sess <close> = tf.Session()
    out[i] = {sess:run(node):bytes(), sess:run(node):bytes()}
  end
  return out
end
local function same(label, a, b, want) t.check(label, (a == b) == want, a == b and "equal" or "different", want and "equal" or "different") end
for name, build in pairs {
  dropout = function() return forms.dropout(tf.ones({100}), 7) end,
  normal = function() return tf.random.normal({20}, {seed = 7}) end,
  uniform = function() return tf.random.uniform({20}, {seed = 7}) end,
  truncated = function() return tf.random.truncated_normal({20}, {seed = 7}) end,
  shuffle = function() return tf.random.shuffle(tf.placeholder_with_default(tf.range(tf.tensor(0, "int32"), 20, 1), {20}), {seed = 7}) end,
} do
  local a = draws(42, build)
  same(name .. ": two sessions, first run", a[1][1], a[2][1], true)
  same(name .. ": two sessions, second run", a[1][2], a[2][2], true)
  same(name .. ": two runs of a session", a[1][1], a[1][2], false)
  -- (B): unrelated nodes change nothing
  local b = draws(42, build, function() for i = 1, 3 do tf.constant(i) end tf.placeholder("float32", {2}) end)
  same(name .. ": after unrelated nodes", a[1][1], b[1][1], true)
  same(name .. ": after unrelated nodes, second run", a[1][2], b[1][2], true)
  same(name .. ": other graph seed", a[1][1], draws(43, build)[1][1], false)
end

-- (d): with either seed the same numbers in another process; with none, others.
local program = arg[-2]
if arg[-1] == "run" then
  local function other_process(code)
    local path = t.temporary("local tf = require 'tfsdk' " .. code, ".lua")
    local pipe = io.popen(("'%s' run '%s'"):format(program, path))
    local text = pipe:read "a"
    pipe:close()
    return text
  end
  for name, seeds in pairs {both = {"tf.set_random_seed(5)", ", {seed = 7}"}, ["op seed"] = {"", ", {seed = 7}"},
    ["graph seed"] = {"tf.set_random_seed(5)", ""}, none = {"", ""}} do
    for mode, code in pairs {
      graph = "%s local s = tf.Session() print(s:run(tf.random.normal({5}%s)))",
      ["define-by-run"] = "tf.enable_eager_execution() %s print(tf.random.normal({5}%s))"} do
      local one = code:format(table.unpack(seeds))
      local a, b = other_process(one), other_process(one)
      t.check(mode .. " draws numbers", #a > 20, a)
      same(("%s, %s, another process"):format(mode, name), a, b, name ~= "none")
    end
  end
  same("the same numbers in both modes",
    other_process "tf.set_random_seed(5) local s = tf.Session() print(s:run(tf.random.normal({5}, {seed = 7})))",
    other_process "tf.enable_eager_execution() tf.set_random_seed(5) print(tf.random.normal({5}, {seed = 7}))", true)
  t.remove_temporary()
end

-- The graph's seed, set after random ops were made, counts for them, too.
local function seeded(when)
  local graph <close> = tf.Graph():as_default()
  if when == "before" then tf.set_random_seed(42) end
  local x = tf.random.normal({20}, {seed = 7})
  if when == "after" then tf.set_random_seed(42) end
  local sess <close> = tf.Session()
  return sess:run(x):bytes()
end
same("seed set after the op", seeded "after", seeded "before", true)
same("seed never set", seeded "never", seeded "before", false)
do -- and between two runs it starts anew, or is an error: it is not ignored
  local graph <close> = tf.Graph():as_default()
  local x = tf.random.normal({20}, {seed = 7})
  local sess <close> = tf.Session()
  sess:run(x)
  local ok = pcall(tf.set_random_seed, 42)
  if ok then same("seed set after a run", sess:run(x):bytes(), seeded "before", true) end
end
-- Define-by-run: setting the seed starts the sequence anew.
tf.eager(function()
  tf.set_random_seed(42)
  local a, b = tf.random.normal({20}, {seed = 7}):bytes(), tf.random.normal({20}, {seed = 7}):bytes()
  same("define-by-run, two draws", a, b, false)
  tf.set_random_seed(42)
  same("define-by-run, seed set again", tf.random.normal({20}, {seed = 7}):bytes(), a, true)
end)

-- (e)
local z = tf.random.truncated_normal({n}, {seed = 7, now = true})
t.check("truncated normal is within 2", tf.reduce_max(tf.abs(z)):item() <= 2, tf.reduce_max(tf.abs(z)))
t.near("truncated normal's deviation", tf.math.reduce_std(z), 0.87963, 0, 0.003)
t.done() -- expect: ok
