-- NUM-13: shape products that overflow: an error before any memory is asked for.
-- Know: integer arithmetic: 4096^6 = 2^72 and (2^32)^2 = 2^64 are both 0 modulo 2^64; [65536,65536] int8 is 2^32 bytes.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local program = arg[-2]
local huge = {4096, 4096, 4096, 4096, 4096, 4096}
local wide = {4294967296, 4294967296}
-- In both modes: define-by-run, and when the graph is built or run.
local function fails(label, make, ...)
  local words = {...}
  tf.eager(function() t.raises(label .. ", define-by-run", make, table.unpack(words)) end)
  local graph <close> = tf.Graph():as_default()
  local sess <close> = tf.Session()
  t.raises(label .. ", graph", function() return sess:run(make()) end, table.unpack(words))
end
for name, shape in pairs {["2^72"] = huge, ["2^64"] = wide} do
  fails("zeros " .. name, function() return tf.zeros(shape) end)
  fails("ones " .. name, function() return tf.ones(shape, "int8") end)
  fails("fill " .. name, function() return tf.fill(tf.tensor(shape, "int64"), tf.tensor(1)) end)
  fails("random " .. name, function() return tf.random.normal(shape) end)
  fails("broadcast " .. name, function() return tf.broadcast_to(tf.tensor(1), tf.tensor(shape, "int64")) end)
  fails("variable " .. name, function() return tf.get_variable("v", shape) end)
  fails("reshape " .. name, function() return tf.reshape(tf.tensor {}, tf.tensor(shape, "int64")) end)
  fails("scatter " .. name, function()
    return tf.scatter_nd(tf.tensor({{0}}, "int64"), tf.tensor {1}, tf.tensor(shape, "int64"))
  end)
end
fails("tile", function() return tf.tile(tf.tensor {{1, 2}}, tf.tensor({1 << 40, 1 << 40}, "int64")) end)
fails("pad", function() return tf.pad(tf.tensor {1}, tf.tensor({{math.maxinteger, math.maxinteger}}, "int64")) end)
fails("range", function() return tf.range(tf.tensor(0, "int64"), tf.tensor(math.maxinteger, "int64"), tf.tensor(1, "int64")) end)
fails("one_hot", function() return tf.one_hot(tf.tensor({1, 2, 3}, "int32"), 2147483647) end)
-- The data of a fill fits in no machine of today: out of memory, not a crash.
fails("1e6 cubed", function() return tf.zeros {1e6, 1e6, 1e6} end)
-- 2^32 bytes: fine on a big machine, else an error; here with a limit on the memory.
if arg[-1] == "run" and not t.sanitized() then
  local path = t.temporary([[
    local tf = require "tfsdk"
    local ok, e = pcall(function() return tf.zeros({65536, 65536}, "int8", {now = true}) end)
    print(ok or "error: " .. tostring(e))
    print((tf.tensor {1, 2} + 1):table()[2])]], ".lua")
  local pipe = io.popen(("ulimit -v 3000000; '%s' run '%s'"):format(program, path))
  local first, second = pipe:read "l", pipe:read "l"
  pipe:close()
  t.check("2^32 bytes of int8", first == "true" or first and first:find "memory" ~= nil, first, "an error with the word memory")
  t.exact("the next call", second, "3.0")
  t.remove_temporary()
end
-- Of size zero: an empty tensor or an error, from every op; the products of its other extents pass 2^63.
for _, shape in ipairs {{0, 9223372036854775806}, {9223372036854775806, 0}, {4294967296, 4294967296, 0}, {0, 4294967296, 4294967296},
  {4294967296, 0, 4294967296}} do
  local ok, x = pcall(tf.fill, tf.tensor(shape, "int64"), tf.tensor(1))
  if ok then
    t.exact("empty", x:size(), 0)
    t.exact("sum of empty", tf.reduce_sum(x), 0)
    for axis = 0, #shape - 1 do
      for name, fn in pairs {sum = tf.reduce_sum, mean = tf.reduce_mean, argmax = tf.argmax, cumsum = tf.cumsum, softmax = tf.nn.softmax,
        reverse = function(v, a) return tf.reverse(v, {a}) end, roll = function(v, a) return tf.roll(v, 1, a) end,
        concat = function(v, a) return tf.concat({v, v}, a) end, split = function(v, a) return (tf.split(v, 2, a)) end,
        gather = function(v, a) return tf.gather(v, tf.tensor({0}, "int32"), {axis = a}) end,
        unstack = function(v, a) return (tf.unstack(v, {axis = a})) end, sort = tf.sort} do
        local done, y = pcall(fn, x, axis)
        t.check(("%s of (%s) along %d"):format(name, table.concat(shape, ","), axis),
          not done or tf.kind(y) ~= "Tensor" or y:size() == 0, y, "an empty tensor or an error")
      end
    end
    for name, fn in pairs {add = function(v) return v + v end, transpose = tf.transpose, tile = function(v) return tf.tile(v, tf.shape(v, {out_type = "int64"}) * 0 + 2) end,
      matmul = function(v) return tf.matmul(v, v, false, true) end, where = function(v) return tf.where(tf.equal(v, v)) end, norm = tf.norm} do
      t.check(name .. " of an empty tensor", (pcall(fn, x)) ~= nil)
    end
  end
end
-- Negative extents.
fails("zeros of a negative shape", function() return tf.zeros {2, -3} end, "-3")
fails("fill of a negative shape", function() return tf.fill(tf.tensor({2, -3}, "int32"), tf.tensor(1)) end, "-3")
fails("random of a negative shape", function() return tf.random.normal {-1} end, "-1")
fails("reshape to 2, -3", function() return tf.reshape(tf.tensor {1, 2, 3, 4, 5, 6}, {2, -3}) end, "-3")
fails("placeholder of a negative shape", function() return tf.placeholder("float32", {-2}) end)
t.done() -- expect: ok
