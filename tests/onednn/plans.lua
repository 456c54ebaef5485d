-- oneDNN's kernels in plans (run with TFSDK_PREFER=onednn, and with ONEDNN_DEFAULT_FPMATH_MODE=BF16, which must change
-- nothing). What follows a product or convolution is computed from its rows; weights that stay, and weights that change,
-- give what the CPU backend's kernels give; bfloat16 is for bfloat16 alone.
local tf = require "tfsdk"

local function kernel_of(plan, op) return plan:match("%(" .. op .. "%)[^\n]*kernel (%S+)") end
local function close(got, want, bound, what)
  local off = tf.eager(function() return tf.reduce_max(tf.abs(tf.cast(got, "float64") - tf.cast(want, "float64"))):item() end)
  assert(off <= bound, ("%s: off by %g, allowed are %g"):format(what, off, bound))
end
local function numbers(shape, seed) return tf.eager(function() return tf.random_uniform(shape, {minval = -1, maxval = 1, seed = seed}) end) end

-- A residual block: convolution, bias, sum and activation in one walk, as of finished rows. The same by float64.
do
  local x, w = numbers({2, 9, 7, 32}, 1), numbers({3, 3, 32, 32}, 2)
  local b = numbers({32}, 3)
  local function block(images, filter, bias)
    return tf.nn.relu(tf.nn.conv2d(images, filter, {strides = {1, 1, 1, 1}, padding = "SAME"}) + bias + images)
  end
  local images = tf.placeholder("float32", {2, 9, 7, 32})
  local y = block(images, tf.constant(w), tf.constant(b))
  local sess <close> = tf.Session()
  local plan = sess:explain(y, {[images] = x})
  assert(kernel_of(plan, "Conv2D") == "onednn", "the convolution runs the kernel " .. tostring(kernel_of(plan, "Conv2D")))
  local follow = tonumber(plan:match "(%d+) follow a product")
  assert(follow == 3, tostring(follow) .. " nodes follow the convolution; bias, sum and activation should")
  local want = tf.eager(function() return block(tf.cast(x, "float64"), tf.cast(w, "float64"), tf.cast(b, "float64")) end)
  for _ = 1, 2 do close(sess:run(y, {[images] = x}), want, 288 * 2^-22, "a residual block") end -- 288 terms of up to 1
end

-- Weights that change between runs are packed anew.
do
  local x, w = numbers({64, 256}, 4), tf.get_variable("w", {256, 128}, {initializer = tf.constant_initializer(0.5)})
  local y = tf.matmul(tf.constant(x), w)
  local twice = tf.assign(w, w * 2)
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  local first = sess:run(y)
  close(sess:run(y), first, 0, "the same weights")
  sess:run(twice)
  close(sess:run(y), tf.eager(function() return first * 2 end), 0, "weights doubled")
end

-- 1 + 2^-12 is a float32 and no bfloat16: 256 of them make 256 + 2^-4.
do
  local fine = tf.fill({64, 256}, 1 + 2.0 ^ -12)
  local sum = tf.matmul(fine, tf.ones{256, 64})
  local image = tf.nn.conv2d(tf.reshape(fine, {1, 8, 8, 256}), tf.ones{1, 1, 256, 64}, {strides = {1, 1, 1, 1}, padding = "SAME"})
  local sess <close> = tf.Session{passes = "-fold"}
  close(sess:run(sum), tf.eager(function() return tf.fill({64, 64}, 256 + 2.0 ^ -4) end), 0, "a product of float32")
  close(sess:run(image), tf.eager(function() return tf.fill({1, 8, 8, 64}, 256 + 2.0 ^ -4) end), 0, "a convolution of float32")
end

-- bfloat16, forward and gradients, where the processor is one for it: sums in float, rounded once (8 bits: half a unit is 2^-9).
do
  local function halves(shape, seed) return tf.eager(function() return tf.cast(numbers(shape, seed), "bfloat16") end) end
  local x, w, dy = halves({2, 8, 8, 32}, 5), halves({3, 3, 32, 16}, 6), halves({2, 4, 4, 16}, 7)
  local function all(images, filter, upstream)
    local o = {strides = {1, 2, 2, 1}, padding = "SAME"}
    local y = tf.nn.conv2d(images, filter, o)
    local grads = tf.gradients(y, {images, filter}, {grad_ys = {upstream}})
    local product = tf.matmul(tf.reshape(images, {64, 64}), tf.reshape(filter, {64, 72}))
    return {y, grads[1], grads[2], product}
  end
  local low = all(tf.constant(x), tf.constant(w), tf.constant(dy))
  local high = all(tf.cast(tf.constant(x), "float64"), tf.cast(tf.constant(w), "float64"), tf.cast(tf.constant(dy), "float64"))
  local sess <close> = tf.Session{passes = "none"}
  local plan = sess:explain(low)
  for _, op in ipairs{"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "MatMul"} do
    assert(kernel_of(plan, op) == "onednn" or plan:find "AVX%-512", op .. " runs the kernel " .. tostring(kernel_of(plan, op)))
  end
  local got, want = sess:run(low), sess:run(high)
  for i, name in ipairs{"forward", "gradient of the images", "gradient of the filter", "product"} do
    assert(got[i].dtype == "bfloat16", name .. " is of type " .. tostring(got[i].dtype))
    local most = tf.eager(function() return tf.reduce_max(tf.abs(want[i])):item() end)
    close(got[i], want[i], most * 2^-8, "bfloat16 " .. name)
  end
end
