-- provides tf.nn: relu relu6 elu selu softplus softsign tanh sigmoid leaky_relu crelu swish gelu softmax log_softmax conv1d conv2d conv3d convolution atrous_conv2d conv2d_transpose conv3d_transpose atrous_conv2d_transpose depthwise_conv2d depthwise_conv2d_native separable_conv2d conv2d_backprop_input conv2d_backprop_filter max_pool max_pool2d max_pool1d max_pool3d avg_pool avg_pool2d avg_pool1d avg_pool3d pool max_pool_with_argmax bias_add dropout l2_loss l2_normalize moments sufficient_statistics normalize_moments weighted_moments batch_normalization fused_batch_norm batch_norm_with_global_normalization local_response_normalization lrn embedding_lookup embedding_lookup_sparse sigmoid_cross_entropy_with_logits weighted_cross_entropy_with_logits softmax_cross_entropy_with_logits softmax_cross_entropy_with_logits_v2 sparse_softmax_cross_entropy_with_logits log_poisson_loss top_k in_top_k zero_fraction xw_plus_b relu_layer space_to_depth depth_to_space with_space_to_batch dilation2d erosion2d
-- Neural network functions. Windows may be written short: strides = 2, ksize = {3, 2}; padding is SAME, VALID,
-- or a list of {before, after} per axis.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope

for line in ([[
relu features|x > Relu
relu6 features|x > Relu6
elu features|x > Elu
selu features|x > Selu
softplus features|x > Softplus
softsign features|x > Softsign
tanh x > Tanh
sigmoid x > Sigmoid
l2_loss t|x > L2Loss
]]):gmatch "[^\n]+" do
  local name, signature, op = line:match "(%S+)%s+(.-)%s+>%s*(%S+)"
  def("tf.nn." .. name, signature .. " name?", op)
end
def("tf.nn.leaky_relu", "features|x alpha=0.2 name?", function(x, alpha, name)
  return raw.LeakyRelu(x, {alpha = alpha, name = name})
end)
def("tf.nn.crelu", "features|x name? axis=-1", function(x, name, axis)
  local s <close> = scope(name, "CRelu")
  x = T.value(x)
  return raw.Relu(raw.ConcatV2({x, -x}, axis))
end)
def("tf.nn.swish", "features|x name? beta=1", function(x, name, beta)
  local s <close> = scope(name, "swish")
  x = T.value(x)
  return x * raw.Sigmoid(beta == 1 and x or x * beta)
end)
def("tf.nn.gelu", "features|x approximate=false name?", function(x, approximate, name)
  local s <close> = scope(name, "gelu")
  x = T.value(x)
  if approximate then
    return x * 0.5 * (raw.Tanh((x + raw.Pow(x, 3) * 0.044715) * math.sqrt(2 / math.pi)) + 1)
  end
  return x * 0.5 * (raw.Erf(x * math.sqrt(0.5)) + 1)
end)

-- A function of the last axis, applied along another one.
local function along(x, axis, fn)
  local rank = x:rank()
  if rank == nil then
    if axis ~= -1 then T.fail("softmax", "the rank must be known for an axis other than -1") end
    return fn(x)
  end
  if rank == 0 then T.fail("softmax", "a scalar has no axis") end
  local at = axis < 0 and axis + rank or axis
  if at < 0 or at >= rank then T.fail("softmax", "axis %d of a tensor of rank %d", axis, rank) end
  if at == rank - 1 then return fn(x) end
  local perm = {}
  for i = 1, rank do perm[i] = i - 1 end
  perm[at + 1], perm[rank] = rank - 1, at
  return raw.Transpose(fn(raw.Transpose(x, perm)), perm)
end
def("tf.nn.softmax", "logits|x axis|dim=-1 name?", function(logits, axis, name)
  return along(T.value(logits), axis, function(x) return raw.Softmax(x, {name = name}) end)
end)
def("tf.nn.log_softmax", "logits|x axis|dim=-1 name?", function(logits, axis, name)
  return along(T.value(logits), axis, function(x) return raw.LogSoftmax(x, {name = name}) end)
end)

-- ------------------------------------------------------------------------------------- windows

-- A number or list to one entry per axis of the data, batch and channels 1.
local function window(v, n, format, who, what)
  if v == nil or v == false then v = 1 end
  local inner = {}
  if type(v) == "number" then
    for i = 1, n do inner[i] = v end
  elseif #v == n + 2 then return v
  elseif #v == n then inner = v
  elseif #v == 1 then for i = 1, n do inner[i] = v[1] end
  else T.fail(who, "'%s' must be a number or %d or %d numbers, not %d", what, n, n + 2, #v) end
  local out = {1, table.unpack(inner)}
  if format:sub(1, 2) == "NC" then table.insert(out, 2, 1) else out[n + 2] = 1 end
  return out
end
-- Padding as a word, or as pairs {before, after} for each axis (of the window, or of all axes).
local function padding_of(padding, n, format, who)
  if type(padding) == "string" then return padding:upper(), {} end
  if type(padding) ~= "table" then T.fail(who, "'padding' must be SAME, VALID or a list of pairs") end
  local flat = {}
  local function pair(p)
    if type(p) == "number" then p = {p, p} end
    flat[#flat + 1], flat[#flat + 2] = p[1], p[2]
  end
  if #padding == n + 2 then
    for _, p in ipairs(padding) do pair(p) end
  elseif #padding == n then
    pair {0, 0}
    if format:sub(1, 2) == "NC" then pair {0, 0} end
    for _, p in ipairs(padding) do pair(p) end
    if format:sub(1, 2) ~= "NC" then pair {0, 0} end
  else T.fail(who, "'padding' needs %d or %d pairs, not %d", n, n + 2, #padding) end
  return "EXPLICIT", flat
end

def("tf.nn.conv2d", "input|x filter|filters strides=1 padding=VALID use_cudnn_on_gpu=true data_format=NHWC dilations=1 name?",
  function(input, filter, strides, padding, _, format, dilations, name)
    local pad, explicit = padding_of(padding, 2, format, "tf.nn.conv2d")
    return raw.Conv2D(input, filter, {strides = window(strides, 2, format, "tf.nn.conv2d", "strides"),
      padding = pad, explicit_paddings = explicit, data_format = format,
      dilations = window(dilations, 2, format, "tf.nn.conv2d", "dilations"), name = name})
  end)
def("tf.nn.conv3d", "input|x filter|filters strides=1 padding=VALID data_format=NDHWC dilations=1 name?",
  function(input, filter, strides, padding, format, dilations, name)
    return raw.Conv3D(input, filter, {strides = window(strides, 3, format, "tf.nn.conv3d", "strides"),
      padding = padding:upper(), data_format = format,
      dilations = window(dilations, 3, format, "tf.nn.conv3d", "dilations"), name = name})
  end)
def("tf.nn.conv1d", "value|input filters|filter stride=1 padding=VALID use_cudnn_on_gpu=true data_format=NWC dilations=1 name?",
  function(value, filters, stride, padding, _, format, dilations, name)
    local s <close> = scope(name, "conv1d")
    local first = format == "NCW" and 2 or 1 -- the image is one pixel high
    if type(stride) == "table" then stride = #stride == 3 and stride[format == "NCW" and 3 or 2] or stride[1] end
    if type(dilations) == "table" then dilations = dilations[#dilations == 3 and (format == "NCW" and 3 or 2) or 1] end
    local explicit = type(padding) == "table" and {{0, 0}, #padding == 1 and padding[1] or padding} or padding
    local y = tf.nn.conv2d(raw.ExpandDims(value, first), raw.ExpandDims(filters, 0), {strides = {1, stride},
      padding = explicit, data_format = format == "NCW" and "NCHW" or "NHWC", dilations = {1, dilations}})
    return raw.Squeeze(y, {squeeze_dims = {first}})
  end)
def("tf.nn.convolution", "input filter|filters padding=VALID strides=1 dilation_rate|dilations=1 name? data_format?",
  function(input, filter, padding, strides, dilation, name, format)
    local n = T.value(input):rank() - 2
    if n == 1 then
      return tf.nn.conv1d(input, filter, {stride = strides, padding = padding, dilations = dilation, data_format = format, name = name})
    elseif n == 2 then
      return tf.nn.conv2d(input, filter, {strides = strides, padding = padding, dilations = dilation, data_format = format, name = name})
    elseif n == 3 then
      return tf.nn.conv3d(input, filter, {strides = strides, padding = padding, dilations = dilation, data_format = format, name = name})
    end
    T.fail("tf.nn.convolution", "the input must have 1 to 3 axes besides batch and channels, not %d", n)
  end)
def("tf.nn.atrous_conv2d", "value filters rate padding name?", function(value, filters, rate, padding, name)
  return tf.nn.conv2d(value, filters, {padding = padding, dilations = rate, name = name})
end)

-- The shape of a transposed convolution: a table may name only the extents of the window.
local function output_shape(shape) return shape end
def("tf.nn.conv2d_transpose", "value|input filter|filters output_shape strides=1 padding=SAME data_format=NHWC dilations=1 name?",
  function(value, filter, shape, strides, padding, format, dilations, name)
    local pad, explicit = padding_of(padding, 2, format, "tf.nn.conv2d_transpose")
    return raw.Conv2DBackpropInput(output_shape(shape), filter, value, {
      strides = window(strides, 2, format, "tf.nn.conv2d_transpose", "strides"), padding = pad,
      explicit_paddings = explicit, data_format = format,
      dilations = window(dilations, 2, format, "tf.nn.conv2d_transpose", "dilations"), name = name})
  end)
def("tf.nn.atrous_conv2d_transpose", "value filters output_shape rate padding name?", function(value, filters, shape, rate, padding, name)
  return tf.nn.conv2d_transpose(value, filters, shape, {padding = padding, dilations = rate, name = name})
end)
def("tf.nn.conv3d_transpose", "value|input filter|filters output_shape strides=1 padding=SAME data_format=NDHWC dilations=1 name?",
  function(value, filter, shape, strides, padding, format, dilations, name)
    return raw.Conv3DBackpropInputV2(output_shape(shape), filter, value, {
      strides = window(strides, 3, format, "tf.nn.conv3d_transpose", "strides"), padding = padding:upper(),
      data_format = format, dilations = window(dilations, 3, format, "tf.nn.conv3d_transpose", "dilations"), name = name})
  end)
def("tf.nn.conv2d_backprop_input", "input_sizes filter out_backprop strides padding use_cudnn_on_gpu=true data_format=NHWC dilations=1 name?",
  function(sizes, filter, dy, strides, padding, _, format, dilations, name)
    return tf.nn.conv2d_transpose(dy, filter, sizes, strides, padding, format, dilations, name)
  end)
def("tf.nn.conv2d_backprop_filter", "input filter_sizes out_backprop strides padding use_cudnn_on_gpu=true data_format=NHWC dilations=1 name?",
  function(input, sizes, dy, strides, padding, _, format, dilations, name)
    local pad, explicit = padding_of(padding, 2, format, "tf.nn.conv2d_backprop_filter")
    return raw.Conv2DBackpropFilter(input, sizes, dy, {strides = window(strides, 2, format, "tf.nn.conv2d_backprop_filter", "strides"),
      padding = pad, explicit_paddings = explicit, data_format = format,
      dilations = window(dilations, 2, format, "tf.nn.conv2d_backprop_filter", "dilations"), name = name})
  end)
def("tf.nn.depthwise_conv2d", "input filter strides=1 padding=VALID rate|dilations=1 name? data_format=NHWC",
  function(input, filter, strides, padding, rate, name, format)
    local pad, explicit = padding_of(padding, 2, format, "tf.nn.depthwise_conv2d")
    return raw.DepthwiseConv2dNative(input, filter, {strides = window(strides, 2, format, "tf.nn.depthwise_conv2d", "strides"),
      padding = pad, explicit_paddings = explicit, data_format = format,
      dilations = window(rate, 2, format, "tf.nn.depthwise_conv2d", "rate"), name = name})
  end)
def("tf.nn.depthwise_conv2d_native", "input filter strides padding data_format=NHWC dilations=1 name?",
  function(input, filter, strides, padding, format, dilations, name)
    return tf.nn.depthwise_conv2d(input, filter, strides, padding, dilations, name, format)
  end)
def("tf.nn.separable_conv2d", "input depthwise_filter pointwise_filter strides=1 padding=VALID rate|dilations=1 name? data_format=NHWC",
  function(input, depthwise, pointwise, strides, padding, rate, name, format)
    local s <close> = scope(name, "separable_conv2d")
    local y = tf.nn.depthwise_conv2d(input, depthwise, strides, padding, rate, "depthwise", format)
    return tf.nn.conv2d(y, pointwise, {data_format = format})
  end)
def("tf.nn.dilation2d", "input filter|filters strides rates|dilations padding name?", function(input, filter, strides, rates, padding, name)
  return raw.Dilation2D(input, filter, {strides = window(strides, 2, "NHWC", "tf.nn.dilation2d", "strides"),
    rates = window(rates, 2, "NHWC", "tf.nn.dilation2d", "rates"), padding = padding:upper(), name = name})
end)
def("tf.nn.erosion2d", "value kernel strides rates padding name?", function(value, kernel, strides, rates, padding, name)
  return -tf.nn.dilation2d(-T.value(value), raw.ReverseV2(kernel, {0, 1}), strides, rates, padding, name)
end)

-- ------------------------------------------------------------------------------------- pooling

for name, op in pairs {max_pool = "MaxPool", avg_pool = "AvgPool"} do
  def("tf.nn." .. name, "value|input ksize=2 strides=2 padding=VALID data_format=NHWC name?",
    function(x, ksize, strides, padding, format, n)
      local who = "tf.nn." .. name
      local pad, explicit = padding_of(padding, 2, format, who)
      return raw[op](x, {ksize = window(ksize, 2, format, who, "ksize"), strides = window(strides, 2, format, who, "strides"),
        padding = pad, explicit_paddings = pad == "EXPLICIT" and explicit or nil, data_format = format, name = n})
    end)
  T.namespace "tf.nn"[name .. "2d"] = tf.nn[name]
  def("tf.nn." .. name .. "3d", "input|value ksize=2 strides=2 padding=VALID data_format=NDHWC name?",
    function(x, ksize, strides, padding, format, n)
      local who = "tf.nn." .. name .. "3d"
      return raw[op .. "3D"](x, {ksize = window(ksize, 3, format, who, "ksize"), strides = window(strides, 3, format, who, "strides"),
        padding = padding:upper(), data_format = format, name = n})
    end)
  def("tf.nn." .. name .. "1d", "input|value ksize=2 strides=2 padding=VALID data_format=NWC name?",
    function(x, ksize, strides, padding, format, n)
      local s <close> = scope(n, name .. "1d")
      local first = format == "NCW" and 2 or 1
      local function one(v)
        if type(v) == "number" then return {1, v} end
        return {1, #v == 3 and v[format == "NCW" and 3 or 2] or v[1]}
      end
      local y = tf.nn[name](raw.ExpandDims(x, first), one(ksize), one(strides), padding, format == "NCW" and "NCHW" or "NHWC")
      return raw.Squeeze(y, {squeeze_dims = {first}})
    end)
end
def("tf.nn.pool", "input window_shape pooling_type padding dilation_rate|dilations=1 strides=1 name? data_format?",
  function(input, shape, kind, padding, dilation, strides, name, format)
    local n = #shape
    local which = kind:upper() == "MAX" and "max_pool" or kind:upper() == "AVG" and "avg_pool"
    if not which then T.fail("tf.nn.pool", "pooling_type must be MAX or AVG, not '%s'", kind) end
    local function ones(v) return v == nil or v == 1 or (type(v) == "table" and math.max(table.unpack(v)) == 1) end
    if ones(dilation) then
      local fn = n == 2 and tf.nn[which] or tf.nn[which .. n .. "d"]
      return fn(input, shape, strides, padding, format, name)
    end
    if not ones(strides) then T.fail("tf.nn.pool", "strides and dilation_rate cannot both be above 1") end
    return tf.nn.with_space_to_batch(input, dilation, padding, function(x, pad)
      local fn = n == 2 and tf.nn[which] or tf.nn[which .. n .. "d"]
      return fn(x, shape, 1, pad)
    end, shape)
  end)
-- Runs op(x, padding) on blocks so that it sees every rate-th pixel.
def("tf.nn.with_space_to_batch", "input dilation_rate padding op filter_shape?", function(input, rate, padding, op, shape)
  input = T.value(input)
  local n = #shape
  local rates = type(rate) == "number" and {} or rate
  if type(rate) == "number" then for i = 1, n do rates[i] = rate end end
  local pads, crops = {}, {}
  for i = 1, n do
    local size = input.shape[i + 1]
    if size < 0 then size = raw.Shape(input)[i + 1] end
    local before, after = 0, 0
    if padding:upper() == "SAME" then
      local total = (shape[i] - 1) * rates[i]
      before, after = total // 2, total - total // 2
    end
    local extra = -(size + before + after) % rates[i]
    pads[i], crops[i] = {before, extra + after}, {0, extra}
  end
  local y = op(raw.SpaceToBatchND(input, rates, pads), "VALID")
  return raw.BatchToSpaceND(y, rates, crops)
end)
def("tf.nn.max_pool_with_argmax", "input ksize strides padding data_format=NHWC Targmax|output_dtype=int64 name? include_batch_in_index=false",
  function(x, ksize, strides, padding, _, dtype, name, batch)
    return raw.MaxPoolWithArgmax(x, {ksize = window(ksize, 2, "NHWC", "tf.nn.max_pool_with_argmax", "ksize"),
      strides = window(strides, 2, "NHWC", "tf.nn.max_pool_with_argmax", "strides"), padding = padding:upper(),
      Targmax = dtype, include_batch_in_index = batch, name = name})
  end)

-- ------------------------------------------------------------------------------------- normalisation

def("tf.nn.bias_add", "value bias data_format? name?", function(value, bias, format, name)
  return raw.BiasAdd(value, bias, {data_format = format and (format:sub(1, 2) == "NC" and "NCHW" or "NHWC"), name = name})
end)
def("tf.nn.l2_normalize", "x axis|dim? epsilon=1e-12 name?", function(x, axis, epsilon, name)
  local s <close> = scope(name, "l2_normalize")
  x = T.value(x)
  local sum = tf.reduce_sum(raw.Square(x), axis, true)
  return x * raw.Rsqrt(raw.Maximum(sum, epsilon))
end)
-- Gradients flow through the mean, too: TensorFlow stops them there, and its second order is wrong.
def("tf.nn.moments", "x axes|axis shift? name? keepdims|keep_dims=false", function(x, axes, _, name, keep)
  local s <close> = scope(name, "moments")
  x = T.value(x)
  local narrow = x.dtype == "float16" or x.dtype == "bfloat16"
  local y = narrow and raw.Cast(x, {DstT = "float32"}) or x
  if type(axes) == "number" then axes = {axes} end
  local mean = raw.Mean(y, axes, {keep_dims = true, name = "mean"})
  local variance = raw.Mean(raw.SquaredDifference(y, mean), axes, {keep_dims = true, name = "variance"})
  if not keep then
    local list = T.kind(axes) and T.known(axes):table() or axes
    mean, variance = raw.Squeeze(mean, {squeeze_dims = list}), raw.Squeeze(variance, {squeeze_dims = list})
  end
  if narrow then mean, variance = raw.Cast(mean, {DstT = x.dtype}), raw.Cast(variance, {DstT = x.dtype}) end
  return mean, variance
end)
def("tf.nn.sufficient_statistics", "x axes shift? keep_dims|keepdims=false name?", function(x, axes, shift, keep, name)
  local s <close> = scope(name, "sufficient_statistics")
  x = T.value(x)
  local shape, count = x.shape, 1
  for _, a in ipairs(axes) do count = count * shape[(a < 0 and a + #shape or a) + 1] end
  if count < 0 then
    count = raw.Cast(raw.Prod(raw.GatherV2(raw.Shape(x), axes, 0), {0}), {DstT = x.dtype})
  else
    count = T.value(count, x.dtype)
  end
  local y = shift and x - shift or x
  return count, raw.Sum(y, axes, {keep_dims = keep}), raw.Sum(raw.Square(y), axes, {keep_dims = keep}), shift
end)
def("tf.nn.normalize_moments", "counts mean_ss variance_ss shift? name?", function(counts, mean_ss, variance_ss, shift, name)
  local s <close> = scope(name, "normalize")
  local divisor = raw.Reciprocal(counts)
  local shifted = mean_ss * divisor
  local mean = shift and shifted + shift or shifted
  return mean, variance_ss * divisor - raw.Square(shifted)
end)
def("tf.nn.weighted_moments", "x axes frequency_weights name? keep_dims|keepdims=false", function(x, axes, weights, name, keep)
  local s <close> = scope(name, "weighted_moments")
  x = T.value(x)
  local w = tf.cast(T.value(weights, x.dtype), x.dtype)
  local wide = raw.Mul(w, raw.OnesLike(x))
  local total = raw.Sum(wide, axes, {keep_dims = true})
  local mean = raw.Sum(x * w, axes, {keep_dims = true}) / total
  local variance = raw.Sum(w * raw.SquaredDifference(x, mean), axes, {keep_dims = true}) / total
  if keep then return mean, variance end
  return raw.Squeeze(mean, {squeeze_dims = axes}), raw.Squeeze(variance, {squeeze_dims = axes})
end)
def("tf.nn.batch_normalization", "x mean variance offset scale variance_epsilon name?", function(x, mean, variance, offset, scale, epsilon, name)
  local s <close> = scope(name, "batchnorm")
  local inv = raw.Rsqrt(raw.AddV2(variance, epsilon))
  if scale then inv = inv * scale end
  local shift = raw.Mul(mean, inv)
  return raw.AddV2(raw.Mul(x, inv), offset and raw.Sub(offset, shift) or -shift)
end)
def("tf.nn.batch_norm_with_global_normalization", "t|input m|mean v|variance beta gamma variance_epsilon scale_after_normalization name?",
  function(t, m, v, beta, gamma, epsilon, scale, name)
    return tf.nn.batch_normalization(t, m, v, beta, scale and gamma or false, epsilon, name)
  end)
def("tf.nn.fused_batch_norm", "x scale offset mean? variance? epsilon=0.001 data_format=NHWC is_training=true name? exponential_avg_factor=1",
  function(x, scale, offset, mean, variance, epsilon, format, training, name)
    mean = mean or tf.tensor({}, "float32")
    variance = variance or tf.tensor({}, "float32")
    local y, m, v = raw.FusedBatchNormV3(x, scale, offset, mean, variance,
      {epsilon = epsilon, data_format = format, is_training = training, name = name})
    return y, m, v
  end)
def("tf.nn.local_response_normalization", "input depth_radius=5 bias=1 alpha=1 beta=0.5 name?", function(x, radius, bias, alpha, beta, name)
  return raw.LRN(x, {depth_radius = radius, bias = bias, alpha = alpha, beta = beta, name = name})
end)
T.namespace "tf.nn".lrn = tf.nn.local_response_normalization
-- keep_prob is TensorFlow's older way of saying 1 - rate.
def("tf.nn.dropout", "x keep_prob? noise_shape? seed? name? rate?", function(x, keep_prob, noise_shape, seed, name, rate)
  if rate == nil and keep_prob == nil then T.fail("tf.nn.dropout", "argument 'rate' is missing") end
  if rate == nil then rate = type(keep_prob) == "number" and 1 - keep_prob or 1 - T.value(keep_prob) end
  if type(rate) == "number" then
    if rate < 0 or rate >= 1 then T.fail("tf.nn.dropout", "'rate' must be in 0 .. 1 (without 1), not %g", rate) end
    if rate == 0 then return T.value(x) end
  end
  local y = raw.Dropout(T.value(x), rate, noise_shape, {seed2 = seed == 0 and 2147483647 or seed, name = name or "dropout"})
  return y
end)

-- ------------------------------------------------------------------------------------- losses

def("tf.nn.sparse_softmax_cross_entropy_with_logits", "_sentinel? labels logits name?", function(_, labels, logits, name)
  if not T.kind(labels) then labels = tf.tensor(labels, "int64") end
  logits = T.value(logits)
  local rank = logits:rank()
  if rank and rank > 2 then
    local s <close> = scope(name, "SparseSoftmaxCrossEntropyWithLogits")
    local shape = raw.Shape(labels)
    local classes = logits.shape[rank] >= 0 and logits.shape[rank] or raw.Shape(logits)[-1]
    local loss = raw.SparseSoftmaxCrossEntropyWithLogits(raw.Reshape(logits, {-1, classes}), raw.Reshape(labels, {-1}))
    return raw.Reshape(loss, shape)
  end
  if rank == 1 then
    local loss = raw.SparseSoftmaxCrossEntropyWithLogits(raw.ExpandDims(logits, 0), raw.ExpandDims(labels, 0))
    return raw.Squeeze(loss, {squeeze_dims = {0}})
  end
  local loss = raw.SparseSoftmaxCrossEntropyWithLogits(logits, labels, {name = name})
  return loss
end)
local function dense_xent(labels, logits, axis, name)
  logits = T.value(logits)
  labels = T.value(labels, logits.dtype)
  local rank = logits:rank()
  local function last(l, z)
    local r = z:rank()
    if r == 2 or r == nil then return (raw.SoftmaxCrossEntropyWithLogits(z, l, {name = name})) end
    local classes = z.shape[r] >= 0 and z.shape[r] or raw.Shape(z)[-1]
    local shape = raw.Shape(z)
    local loss = raw.SoftmaxCrossEntropyWithLogits(raw.Reshape(z, {-1, classes}), raw.Reshape(l, {-1, classes}))
    return raw.Reshape(loss, raw.StridedSlice(shape, {0}, {-1}, {1}))
  end
  local at = axis < 0 and rank and axis + rank or axis
  if rank and at ~= rank - 1 and axis ~= -1 then
    local perm = {}
    for i = 0, rank - 1 do if i ~= at then perm[#perm + 1] = i end end
    perm[#perm + 1] = at
    return last(raw.Transpose(labels, perm), raw.Transpose(logits, perm))
  end
  return last(labels, logits)
end
def("tf.nn.softmax_cross_entropy_with_logits_v2", "labels logits axis|dim? name?", function(labels, logits, axis, name)
  return dense_xent(labels, logits, axis or -1, name)
end)
def("tf.nn.softmax_cross_entropy_with_logits", "_sentinel? labels logits dim|axis=-1 name?", function(_, labels, logits, axis, name)
  return dense_xent(raw.StopGradient(T.value(labels)), logits, axis, name)
end)
def("tf.nn.sigmoid_cross_entropy_with_logits", "_sentinel? labels logits name?", function(_, labels, logits, name)
  local s <close> = scope(name, "logistic_loss")
  logits = T.value(logits)
  labels = T.value(labels, logits.dtype)
  -- max(x, 0) - x z + log(1 + exp(-|x|)), written so that the gradient at 0 is sigmoid(0) - z
  local positive = raw.GreaterEqual(logits, raw.ZerosLike(logits))
  local relu = raw.SelectV2(positive, logits, raw.ZerosLike(logits))
  local below = raw.SelectV2(positive, -logits, logits)
  return relu - logits * labels + raw.Log1p(raw.Exp(below))
end)
def("tf.nn.weighted_cross_entropy_with_logits", "labels|targets logits pos_weight name?", function(labels, logits, weight, name)
  local s <close> = scope(name, "logistic_loss")
  logits = T.value(logits)
  labels = T.value(labels, logits.dtype)
  local w = labels * (T.value(weight, logits.dtype) - 1) + 1
  return (-labels + 1) * logits + w * (raw.Log1p(raw.Exp(-raw.Abs(logits))) + raw.Relu(-logits))
end)
def("tf.nn.log_poisson_loss", "targets log_input compute_full_loss=false name?", function(targets, log_input, full, name)
  local s <close> = scope(name, "log_poisson_loss")
  log_input = T.value(log_input)
  targets = T.value(targets, log_input.dtype)
  local loss = raw.Exp(log_input) - log_input * targets
  if not full then return loss end
  local stirling = targets * raw.Log(targets) - targets + raw.Log(targets * (2 * math.pi)) * 0.5
  local inside = raw.LogicalAnd(raw.GreaterEqual(targets, 0), raw.LessEqual(targets, 1))
  return loss + raw.SelectV2(inside, raw.ZerosLike(targets), stirling)
end)
def("tf.nn.top_k", "input k=1 sorted=true name?", function(x, k, sorted, name)
  return raw.TopKV2(x, k, {sorted = sorted, name = name})
end)
def("tf.nn.in_top_k", "predictions targets k name?", function(predictions, targets, k, name)
  if not T.kind(targets) then targets = tf.tensor(targets, "int32") end
  return raw.InTopKV2(predictions, targets, k, {name = name})
end)
def("tf.nn.zero_fraction", "value name?", function(value, name)
  local s <close> = scope(name, "zero_fraction")
  value = T.value(value)
  return tf.reduce_mean(raw.Cast(raw.Equal(value, raw.ZerosLike(value)), {DstT = "float32"}))
end)
def("tf.nn.xw_plus_b", "x weights biases name?", function(x, w, b, name)
  local s <close> = scope(name, "xw_plus_b")
  return raw.BiasAdd(raw.MatMul(x, w), b)
end)
def("tf.nn.relu_layer", "x weights biases name?", function(x, w, b, name)
  local s <close> = scope(name, "relu_layer")
  return raw.Relu(raw.BiasAdd(raw.MatMul(x, w), b))
end)

-- ------------------------------------------------------------------------------------- embeddings

-- Rows of a table. A list of tables is one that was cut: by rows (div) or in turn (mod).
def("tf.nn.embedding_lookup", "params ids partition_strategy=mod name? validate_indices=true max_norm?",
  function(params, ids, strategy, name, _, max_norm)
    if not T.kind(ids) then ids = tf.tensor(ids, "int64") end
    local rows
    if T.kind(params) or #params == 1 then
      rows = tf.gather(T.kind(params) and params or params[1], ids, {name = name})
    else
      local s <close> = scope(name, "embedding_lookup")
      local n = #params
      local flat = raw.Reshape(ids, {-1})
      local part, at
      if strategy == "mod" then
        part, at = raw.FloorMod(flat, n), raw.FloorDiv(flat, n)
      else
        -- the first `extra` parts have one row more
        local sizes = {}
        for i, p in ipairs(params) do
          p = T.value(p)
          sizes[i] = p.shape and p.shape[1] >= 0 and tf.tensor(p.shape[1], flat.dtype)
            or raw.Cast(raw.Shape(p)[1], {DstT = flat.dtype})
        end
        local total = sizes[1]
        for i = 2, n do total = total + sizes[i] end
        local each, extra = total // n, total % n
        local short = raw.Maximum(each, 1)
        part = raw.Maximum(raw.FloorDiv(flat, each + 1), raw.FloorDiv(flat - extra, short))
        at = raw.SelectV2(raw.Less(part, extra), raw.FloorMod(flat, each + 1), raw.FloorMod(flat - extra, short))
      end
      part = raw.Cast(part, {DstT = "int32"})
      local pieces = raw.DynamicPartition(at, part, {num_partitions = n})
      local where = raw.DynamicPartition(raw.Range(0, raw.Size(flat), 1, {Tidx = "int32"}), part, {num_partitions = n})
      local found = {}
      for i = 1, n do found[i] = tf.gather(params[i], pieces[i]) end
      local out = raw.DynamicStitch(where, found)
      local first = T.value(params[1])
      rows = raw.Reshape(out, raw.ConcatV2({raw.Shape(ids), raw.StridedSlice(raw.Shape(first), {1}, {0}, {1}, {end_mask = 1})}, 0))
    end
    if max_norm then
      local norm = raw.Sqrt(raw.Sum(raw.Square(rows), {-1}, {keep_dims = true}))
      rows = rows * (max_norm / raw.Maximum(norm, max_norm))
    end
    return rows
  end)
def("tf.nn.embedding_lookup_sparse", "params sp_ids sp_weights? partition_strategy=mod name? combiner=mean max_norm?",
  function(params, ids, weights, strategy, name, combiner, max_norm)
    local s <close> = scope(name, "embedding_lookup_sparse")
    local segment = raw.Cast(ids.indices[{{}, 1}], {DstT = "int32"})
    local rows = tf.nn.embedding_lookup(params, ids.values, strategy, nil, true, max_norm)
    if not weights then
      local op = combiner == "sum" and "SegmentSum" or combiner == "mean" and "SegmentMean"
      if op then return raw[op](rows, segment) end
      local sum = raw.SegmentSum(rows, segment)
      local count = raw.SegmentSum(tf.ones_like(segment, rows.dtype), segment)
      return sum / raw.ExpandDims(raw.Sqrt(count), 1)
    end
    local w = raw.ExpandDims(tf.cast(weights.values, rows.dtype), 1)
    local sum = raw.SegmentSum(rows * w, segment)
    if combiner == "sum" then return sum end
    if combiner == "mean" then return sum / raw.SegmentSum(w, segment) end
    return sum / raw.Sqrt(raw.SegmentSum(raw.Square(w), segment))
  end)
T.namespace "tf.nn".space_to_depth = function(...) return tf.space_to_depth(...) end
T.namespace "tf.nn".depth_to_space = function(...) return tf.depth_to_space(...) end
