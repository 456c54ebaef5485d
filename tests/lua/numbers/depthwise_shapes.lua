-- Depthwise convolutions and the gradients of image and filter, for the sizes where the backend goes different ways (few and many channels,
-- pixels a multiple of 2 KB apart, strides, dilations): against the sums over taps, written out in float64.
local tf = require "tfsdk"

local function reach(taps, dilation) return (taps - 1) * dilation + 1 end
-- Padding of SAME, as TensorFlow documents it: behind gets the odd one.
local function padding(size, taps, stride, dilation, same)
  if not same then return 0, 0, (size - reach(taps, dilation)) // stride + 1 end
  local out = (size + stride - 1) // stride
  local all = math.max((out - 1) * stride + reach(taps, dilation) - size, 0)
  return all // 2, all - all // 2, out
end
local function near(got, want, what)
  local off = tf.reduce_max(tf.abs(tf.cast(got, "float64") - want)):item()
  local most = tf.reduce_max(tf.abs(want)):item()
  assert(off <= 3e-6 * most, ("%s: off by %g of %g"):format(what, off, most))
end

local function check(batch, h, w, c, taps, stride, dilation, same)
  local what = ("%dx%dx%dx%d, %d taps, stride %d, dilation %d, %s"):format(batch, h, w, c, taps, stride, dilation, same and "SAME" or "VALID")
  local x = tf.random.normal({batch, h, w, c}, {seed = 1, now = true})
  local f = tf.random.normal({taps, taps, c, 1}, {seed = 2, now = true})
  local top, bottom, rows = padding(h, taps, stride, dilation, same)
  local left, right, cols = padding(w, taps, stride, dilation, same)
  local dy = tf.random.normal({batch, rows, cols, c}, {seed = 3, now = true})
  local function forward(x_, f_, wide)
    if not wide then
      return tf.nn.depthwise_conv2d(x_, f_, {strides = {1, stride, stride, 1}, padding = same and "SAME" or "VALID", rate = {dilation, dilation}})
    end
    local padded, sum = tf.pad(x_, {{0, 0}, {top, bottom}, {left, right}, {0, 0}}), nil
    for s = 0, taps - 1 do
      for t = 0, taps - 1 do
        local y0, x0 = s * dilation, t * dilation
        local seen = tf.strided_slice(padded, {0, y0, x0, 0}, {batch, y0 + (rows - 1) * stride + 1, x0 + (cols - 1) * stride + 1, c}, {1, stride, stride, 1})
        local term = seen * tf.reshape(tf.slice(f_, {s, t, 0, 0}, {1, 1, c, 1}), {1, 1, 1, c})
        sum = sum and sum + term or term
      end
    end
    return sum
  end
  local function all(x_, f_, dy_, wide)
    local tape <close> = tf.GradientTape()
    tape:watch(x_)
    tape:watch(f_)
    local y = forward(x_, f_, wide)
    local g = tape:gradient(tf.reduce_sum(y * dy_), {x_, f_})
    return y, g[1], g[2]
  end
  local y, dx, df = all(x, f, dy)
  local wy, wdx, wdf = all(tf.cast(x, "float64"), tf.cast(f, "float64"), tf.cast(dy, "float64"), true)
  near(y, wy, what)
  near(dx, wdx, what .. ", image")
  near(df, wdf, what .. ", filter")
end

tf.eager(function()
  for _, c in ipairs{20, 64, 384, 512, 1024} do
    check(3, 7, 7, c, 3, 1, 1, true)
    check(2, 9, 6, c, 3, 2, 1, true)
  end
  check(2, 14, 14, 512, 3, 1, 1, true)
  check(2, 14, 14, 512, 3, 2, 1, false)
  check(1, 12, 10, 512, 2, 1, 3, true)
  check(5, 4, 30, 1024, 3, 1, 2, false)
  check(2, 40, 20, 512, 3, 1, 1, true) -- too large an image for a block
  check(1, 3, 3, 512, 3, 1, 1, false)
end)
print "as written out" -- expect: as written out
