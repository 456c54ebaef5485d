-- NUM-07: integer division and remainder: signs, zero divisors, and INT_MIN / -1.
-- Know: a = q b + r, with r of the sign of b (floor) or of a (truncate). Zero divisors are errors, on whole
-- numbers of every type.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local a, b = {-7, 7, -7, -7, 7, -6}, {2, -2, -2, 3, -3, 3}
for _, dtype in ipairs {"int32", "int64", "int16", "int8"} do
  t.both_modes({tf.tensor(a, dtype), tf.tensor(b, dtype)}, function(x, y)
    return tf.floordiv(x, y), tf.floormod(x, y), tf.truncatediv(x, y), tf.truncatemod(x, y), x // y, x % y, tf.div(x, y)
  end, function(r)
    local label = r.mode .. " " .. dtype
    t.exact(label .. " floordiv", r[1], {-4, -4, 3, -3, -3, -2})
    t.exact(label .. " floormod", r[2], {1, -1, -1, 2, -2, 0})
    t.exact(label .. " truncatediv", r[3], {-3, -3, 3, -2, -2, -2})
    t.exact(label .. " truncatemod", r[4], {-1, 1, -1, -1, 1, 0})
    t.exact(label .. " //", r[5], {-4, -4, 3, -3, -3, -2})
    t.exact(label .. " %", r[6], {1, -1, -1, 2, -2, 0})
    t.exact(label .. " div", r[7], {-3, -3, 3, -2, -2, -2})
  end)
end
-- ceil(a / 3)
t.both_modes({tf.tensor({3, 7, 10}, "int32")}, function(x) return -tf.floordiv(-x, 3) end, function(r)
  t.exact(r.mode .. " ceil division", r[1], {1, 3, 4})
end)
-- Floats follow the same signs.
t.both_modes({tf.tensor(a), tf.tensor(b)}, function(x, y) return x // y, x % y end, function(r)
  t.exact(r.mode .. " float //", r[1], {-4, -4, 3, -3, -3, -2})
  t.exact(r.mode .. " float %", r[2], {1, -1, -1, 2, -2, 0})
end, {grads = false})
-- Division by zero.
for _, dtype in ipairs {"int32", "int64", "int16", "int8", "uint8", "uint16"} do
  for name, fn in pairs {floordiv = tf.floordiv, floormod = tf.floormod, truncatediv = tf.truncatediv,
    truncatemod = tf.truncatemod, div = tf.div} do
    local two, zero = tf.tensor({2, 2}, dtype), tf.tensor({1, 0}, dtype)
    t.raises("define-by-run " .. name .. " " .. dtype, function() return fn(two, zero) end, "zero")
    local graph <close> = tf.Graph():as_default()
    local x, y = tf.placeholder(dtype, {2}), tf.placeholder(dtype, {2})
    local z = fn(x, y)
    local sess <close> = tf.Session()
    t.raises("graph " .. name .. " " .. dtype, function() return sess:run(z, {[x] = two, [y] = zero}) end, "zero")
    t.exact("graph after the error", sess:run(z, {[x] = two, [y] = tf.tensor({2, 2}, dtype)}), fn(two, two))
    t.raises("a scalar zero, " .. name .. " " .. dtype, function() return fn(two, tf.tensor(0, dtype)) end, "zero")
  end
end
-- The quotient of the smallest number by -1 does not exist: it wraps around (numpy), and nothing traps.
for dtype, smallest in pairs {int64 = math.mininteger, int32 = -2147483648, int16 = -32768, int8 = -128} do
  t.both_modes({tf.tensor({smallest}, dtype), tf.tensor({-1}, dtype)}, function(x, y)
    return x // y, x % y, tf.truncatediv(x, y), tf.truncatemod(x, y)
  end, function(r)
    t.exact(r.mode .. " smallest " .. dtype .. " // -1", r[1], {smallest})
    t.exact(r.mode .. " smallest " .. dtype .. " % -1", r[2], {0})
    t.exact(r.mode .. " smallest " .. dtype .. " truncated", r[3], {smallest})
    t.exact(r.mode .. " its remainder", r[4], {0})
  end)
end
t.done() -- expect: ok
