-- RNN-03, part A: sequences of different lengths are turned round without their padding.
-- Know: by hand. (Recurrent layers that use it have tests of their own.)
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local rows = tf.tensor {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}
local lengths = tf.tensor({4, 2, 0}, "int32")
local function turned(x, n) return tf.reverse_sequence(x, n, {seq_axis = 1, batch_axis = 0}) end
t.both_modes({rows, lengths}, function(x, n) return turned(x, n), turned(turned(x, n), n) end, function(r)
  t.exact(r.mode .. " turned", r[1], {{4, 3, 2, 1}, {6, 5, 7, 8}, {9, 10, 11, 12}})
  t.exact(r.mode .. " turned twice", r[2], rows:table())
end)
-- The gradient comes back to where the element was: upstream k goes to the input of output k.
t.both_modes({rows, lengths}, turned, function(r)
  t.exact(r.mode .. " gradient", r.grads[1], {{4, 3, 2, 1}, {6, 5, 7, 8}, {9, 10, 11, 12}})
end, {dy = rows})
-- Time-major.
t.both_modes({tf.transpose(rows), lengths}, function(x, n) return tf.reverse_sequence(x, n, {seq_axis = 0, batch_axis = 1}) end, function(r)
  t.exact(r.mode .. " time-major", tf.transpose(r[1]), {{4, 3, 2, 1}, {6, 5, 7, 8}, {9, 10, 11, 12}})
end)
-- Forward and backward sums of h' = h + x over [1, 2, 99] with length 2, aligned by time; the padding gets no gradient.
t.both_modes({tf.tensor {{1, 2, 99}}}, function(x)
  local n = tf.tensor({2}, "int32")
  local valid = tf.sequence_mask(n, 3, "float32")
  local forward = tf.cumsum(x, 1) * valid
  local backward = turned(tf.cumsum(turned(x, n), 1) * valid, n)
  return forward + backward, forward, backward
end, function(r)
  t.exact(r.mode .. " forward", r[2], {{1, 3, 0}})
  t.exact(r.mode .. " backward", r[3], {{3, 2, 0}})
  t.exact(r.mode .. " gradient, 0 in the padding", r.grads[1], {{3, 3, 0}})
end)
for _, bad in ipairs {5, -1} do
  t.raises("length " .. bad, function() return turned(rows, tf.tensor({4, bad, 0}, "int32")) end, tostring(bad))
end
t.done() -- expect: ok
