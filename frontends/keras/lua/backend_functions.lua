-- tf.keras.backend: the functions of values that backend.lua's short list lacks, under Keras' names and in its order of arguments.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local K = T.keras_namespace "backend"
local function def(name, signature, fn) T.def("tf.keras.backend." .. name, signature, fn) end

-- Keras' words for layouts and borders in those of tf.nn.
local layouts = {channels_last = {"NWC", "NHWC", "NDHWC"}, channels_first = {"NCW", "NCHW", "NCDHW"}}
local function layout(format, n, who)
  format = format or T.keras_data_format or "channels_last"
  local list = layouts[format]
  if not list then T.fail("tf.keras.backend." .. who, "'data_format' must be \"channels_last\" or \"channels_first\", not '%s'", tostring(format)) end
  return list[n]
end

-- ------------------------------------------------------------------------------------- settings and variables

def("image_dim_ordering", "", function() return K.image_data_format() == "channels_last" and "tf" or "th" end)
def("cast_to_floatx", "x", function(x) return tf.cast(T.value(x), K.floatx()) end)
def("get_uid", "prefix=", function(prefix)
  S.uids = S.uids or {}
  S.uids[prefix] = (S.uids[prefix] or 0) + 1
  return S.uids[prefix]
end)
def("reset_uids", "", function() S.uids = {} end)
-- Variables always get a value when they are first needed.
def("manual_variable_initialization", "value", function() end)
def("eval", "x", function(x)
  if T.kind(x) == "Tensor" then return x end
  return K.get_value(x)
end)
def("batch_set_value", "tuples", function(list) for _, p in ipairs(list) do K.set_value(p[1], p[2]) end end)
def("get_variable_shape", "x", function(x) return {table.unpack(x.shape)} end)
def("is_tensor", "x", function(x) return T.kind(x) == "Tensor" or T.kind(x) == "Node" end)
def("is_sparse", "tensor", function(x) return T.kind(x) == "SparseTensor" or T.kind(x) == "IndexedSlices" end)
def("is_placeholder", "x", function(x) return T.kind(x) == "Node" and x.op.type == "Placeholder" end)
def("is_keras_tensor", "x", function(x) return S.history ~= nil and S.history[x] ~= nil or false end)
def("to_dense", "tensor", function(x) return T.kind(x) == "IndexedSlices" and T.dense(x) or T.value(x) end)
K.name_scope = tf.name_scope
def("update", "x new_x", function(x, new) return tf.assign(x, new) end)
def("update_add", "x increment", function(x, by) return tf.assign_add(x, by) end)
def("update_sub", "x decrement", function(x, by) return tf.assign_sub(x, by) end)
def("moving_average_update", "x value momentum", function(x, value, momentum)
  return tf.assign_sub(x, (x:value() - T.value(value, x.dtype)) * (1 - momentum))
end)
def("print_tensor", "x message=", function(x, message) return tf.Print(x, {x}, {message = message}) end)

-- ------------------------------------------------------------------------------------- numbers of chance

local function drawn(name, signature, fn)
  def(name, signature, function(shape, a, b, dtype, seed) return fn(shape, a, b, {dtype = dtype or K.floatx(), seed = seed}) end)
end
drawn("random_normal", "shape mean=0 stddev=1 dtype? seed?", tf.random_normal)
drawn("random_uniform", "shape minval=0 maxval=1 dtype? seed?", tf.random_uniform)
drawn("truncated_normal", "shape mean=0 stddev=1 dtype? seed?", tf.truncated_normal)
def("random_binomial", "shape p=0 dtype? seed?", function(shape, p, dtype, seed)
  return tf.cast(raw.LessEqual(tf.random_uniform(shape, 0, 1, {dtype = "float32", seed = seed}), T.value(p, "float32")), dtype or K.floatx())
end)
def("random_normal_variable", "shape mean scale dtype? name? seed?", function(shape, mean, scale, dtype, name, seed)
  return K.variable(tf.random_normal(shape, mean, scale, {dtype = dtype or K.floatx(), seed = seed}), dtype or K.floatx(), name)
end)
def("random_uniform_variable", "shape low high dtype? name? seed?", function(shape, low, high, dtype, name, seed)
  return K.variable(tf.random_uniform(shape, low, high, {dtype = dtype or K.floatx(), seed = seed}), dtype or K.floatx(), name)
end)
def("dropout", "x level noise_shape? seed?", function(x, level, shape, seed) return tf.nn.dropout(x, {rate = level, noise_shape = shape, seed = seed}) end)

-- ------------------------------------------------------------------------------------- elements and axes

local function reduced(name, fn)
  def(name, "x axis? keepdims=false", function(x, axis, keep) return fn(T.value(x), {axis = axis, keepdims = keep}) end)
end
reduced("logsumexp", tf.reduce_logsumexp)
reduced("std", function(x, o)
  local middle = tf.reduce_mean(x, {axis = o.axis, keepdims = true})
  return raw.Sqrt(tf.reduce_mean(raw.Square(x - middle), o))
end)
reduced("var", function(x, o)
  local middle = tf.reduce_mean(x, {axis = o.axis, keepdims = true})
  return tf.reduce_mean(raw.Square(x - middle), o)
end)
def("cumsum", "x axis=0", function(x, axis) return tf.cumsum(x, axis) end)
def("cumprod", "x axis=0", function(x, axis) return tf.cumprod(x, axis) end)
def("arange", "start stop? step=1 dtype=int32", function(start, stop, step, dtype)
  if stop == nil then start, stop = 0, start end
  return tf.range(start, stop, step, {dtype = dtype})
end)
def("reverse", "x axes", function(x, axes) return tf.reverse(x, type(axes) == "table" and axes or {axes}) end)
def("slice", "x start size", function(x, start, size) return tf.slice(x, start, size) end)
def("repeat_", "x n", function(x, n)
  x = T.value(x)
  if x:rank() ~= 2 then T.fail("tf.keras.backend.repeat_", "the value must have rank 2 (batch, features), not %d", x:rank()) end
  return tf.tile(tf.expand_dims(x, 1), {1, n, 1})
end)
def("repeat_elements", "x rep axis", function(x, n, axis) return tf.repeat_(x, n, axis) end)
def("switch", "condition then_expression else_expression", function(condition, yes, no)
  local function value(v) return T.value(type(v) == "function" and v() or v) end
  local when = T.value(condition)
  if when.dtype ~= "bool" then when = raw.NotEqual(when, raw.ZerosLike(when)) end
  if T.kind(when) == "Tensor" and when:rank() == 0 then -- only the branch that is taken is computed
    return value(when:item() and yes or no)
  end
  local a, b = value(yes), value(no)
  for _ = (when:rank() or 0) + 1, when:rank() == 0 and 0 or a:rank() or 0 do when = raw.ExpandDims(when, -1) end
  return raw.SelectV2(when, a, b)
end)
def("in_top_k", "predictions targets k", function(predictions, targets, k) return tf.nn.in_top_k(predictions, targets, k) end)
def("bias_add", "x bias data_format?", function(x, bias, format)
  x, bias = T.value(x), T.value(bias)
  if (format or K.image_data_format()) == "channels_last" or x:rank() == 2 then return x + bias end
  local shape = {1}
  for i = 2, x:rank() do shape[i] = i == 2 and bias.shape[1] or 1 end
  return x + raw.Reshape(bias, shape)
end)
-- Sums over one axis of each, sample by sample: the axes of both but the summed and the batch remain, a's first.
def("batch_dot", "x y axes?", function(x, y, axes)
  x, y = T.value(x), T.value(y)
  local rx, ry = x:rank(), y:rank()
  if axes == nil then axes = {rx - 1, ry == 2 and 1 or ry - 2} end
  if type(axes) ~= "table" then axes = {axes, axes} end
  local letters, a, b, out = "cdefghij", "a", "a", "a"
  local at = 0
  local function spell(rank, axis)
    local word = "a"
    for i = 1, rank - 1 do
      if i == (axis + rank) % rank then word = word .. "b" else
        at = at + 1
        word, out = word .. letters:sub(at, at), out .. letters:sub(at, at)
      end
    end
    return word
  end
  a, b = spell(rx, axes[1]), spell(ry, axes[2])
  local r = tf.einsum(a .. "," .. b .. "->" .. out, x, y)
  return #out == 1 and raw.ExpandDims(r, 1) or r
end)
for _, name in ipairs {"hard_sigmoid", "softsign", "gelu", "selu", "swish", "exponential", "linear"} do K[name] = tf.keras.activations[name] end

-- ------------------------------------------------------------------------------------- losses of Keras 2's backend

local function loss(name, fn_name)
  def(name, "target output from_logits=false axis=-1", function(target, output, from_logits, axis)
    return tf.keras.losses[fn_name or name](target, output, {from_logits = from_logits, axis = axis})
  end)
end
loss "categorical_crossentropy"
loss "sparse_categorical_crossentropy"
-- Element by element: the mean over the last axis is the loss's.
def("binary_crossentropy", "target output from_logits=false", function(target, output, from_logits)
  output = T.value(output)
  target = tf.cast(T.value(target), output.dtype)
  if from_logits then return tf.nn.sigmoid_cross_entropy_with_logits {labels = target, logits = output} end
  local least = K.epsilon()
  local p = raw.ClipByValue(output, least, 1 - least)
  return -(target * raw.Log(p) + (-target + 1) * raw.Log(-p + 1))
end)
def("ctc_batch_cost", "y_true y_pred input_length label_length", function(y_true, y_pred, input_length, label_length)
  local function flat(x) return raw.Reshape(tf.cast(T.value(x), "int32"), {-1}) end
  local logits = raw.Log(T.value(y_pred) + K.epsilon())
  local value = tf.nn.ctc_loss_v2(tf.cast(T.value(y_true), "int32"), logits, flat(label_length), flat(input_length), {logits_time_major = false, blank_index = -1})
  return raw.ExpandDims(value, 1)
end)

-- ------------------------------------------------------------------------------------- windows and pictures

local function convolution(n, name)
  def(name, "x kernel strides=1 padding=valid data_format? dilation_rate=1", function(x, kernel, strides, padding, format, dilation)
    x = T.value(x)
    if padding == "causal" and n == 1 then
      local width = kernel.shape[1]
      x = tf.pad(x, {{0, 0}, {dilation * (width - 1), 0}, {0, 0}})
      padding = "valid"
    end
    local fn = tf.nn["conv" .. n .. "d"]
    return fn(x, kernel, {[n == 1 and "stride" or "strides"] = strides, padding = padding:upper(), data_format = layout(format, n, name), dilations = dilation})
  end)
end
convolution(1, "conv1d")
convolution(2, "conv2d")
convolution(3, "conv3d")
def("conv2d_transpose", "x kernel output_shape strides=1 padding=valid data_format? dilation_rate=1", function(x, kernel, shape, strides, padding, format, dilation)
  return tf.nn.conv2d_transpose(x, kernel, shape, {strides = strides, padding = padding:upper(), data_format = layout(format, 2, "conv2d_transpose"), dilations = dilation})
end)
def("depthwise_conv2d", "x depthwise_kernel strides=1 padding=valid data_format? dilation_rate=1", function(x, kernel, strides, padding, format, dilation)
  return tf.nn.depthwise_conv2d(x, kernel, {strides = strides, padding = padding:upper(), rate = dilation, data_format = layout(format, 2, "depthwise_conv2d")})
end)
def("separable_conv2d", "x depthwise_kernel pointwise_kernel strides=1 padding=valid data_format? dilation_rate=1", function(x, depthwise, pointwise, strides, padding, format, dilation)
  return tf.nn.separable_conv2d(x, depthwise, pointwise, {strides = strides, padding = padding:upper(), rate = dilation, data_format = layout(format, 2, "separable_conv2d")})
end)
local function pooling(n, name)
  def(name, "x pool_size strides=1 padding=valid data_format? pool_mode=max", function(x, size, strides, padding, format, mode)
    if mode ~= "max" and mode ~= "avg" then T.fail("tf.keras.backend." .. name, "'pool_mode' must be \"max\" or \"avg\", not '%s'", tostring(mode)) end
    local fn = tf.nn[mode .. "_pool" .. (n == 3 and "3d" or "")]
    return fn(x, {ksize = size, strides = strides, padding = padding:upper(), data_format = layout(format, n, name)})
  end)
end
pooling(2, "pool2d")
pooling(3, "pool3d")
-- Zeros before and behind each of the n axes of places.
local function padded(n, name, default)
  def(name, ("x padding=%s data_format?"):format(default), function(x, padding, format)
    local each = type(padding) == "table" and padding or {padding, padding, padding}
    if n == 1 then each = {type(padding) == "table" and padding or {padding, padding}} end
    local list = {{0, 0}}
    for i = 1, n do list[i + 1] = type(each[i]) == "table" and each[i] or {each[i], each[i]} end
    table.insert(list, n > 1 and layout(format, n, name):sub(2, 2) == "C" and 2 or n + 2, {0, 0})
    return tf.pad(x, list)
  end)
end
padded(1, "temporal_padding", 1)
padded(2, "spatial_2d_padding", 1)
padded(3, "spatial_3d_padding", 1)
def("resize_images", "x height_factor width_factor data_format? interpolation=nearest", function(x, height, width, format, how)
  if how ~= "nearest" and how ~= "bilinear" then T.fail("tf.keras.backend.resize_images", "'interpolation' must be \"nearest\" or \"bilinear\", not '%s'", tostring(how)) end
  return tf.keras.layers.UpSampling2D {size = {height, width}, data_format = format, interpolation = how}(T.value(x))
end)
def("resize_volumes", "x depth_factor height_factor width_factor data_format?", function(x, depth, height, width, format)
  return tf.keras.layers.UpSampling3D {size = {depth, height, width}, data_format = format}(T.value(x))
end)
def("batch_normalization", "x mean var beta gamma axis=-1 epsilon=0.001", function(x, mean, variance, beta, gamma, axis, epsilon)
  x = T.value(x)
  local rank = x:rank()
  axis = (axis + rank) % rank
  local function wide(v)
    if v == nil or v == false or axis == rank - 1 then return v end
    v = T.value(v)
    local shape = {}
    for i = 1, rank do shape[i] = i == axis + 1 and -1 or 1 end
    return raw.Reshape(v, shape)
  end
  return tf.nn.batch_normalization(x, wide(mean), wide(variance), wide(beta), wide(gamma), epsilon)
end)
-- The normalized value, and the mean and variance it was normalized by.
def("normalize_batch_in_training", "x gamma beta reduction_axes epsilon=0.001", function(x, gamma, beta, axes, epsilon)
  local mean, variance = tf.nn.moments(x, axes, {keepdims = true})
  local function wide(v) return v and raw.Reshape(T.value(v), raw.Shape(mean)) or nil end
  local flat = {-1}
  return tf.nn.batch_normalization(x, mean, variance, wide(beta), wide(gamma), epsilon), raw.Reshape(mean, flat), raw.Reshape(variance, flat)
end)

-- ------------------------------------------------------------------------------------- Lua functions over elements

-- The loops are Lua's: the first axis must be known in a graph.
local function rows(x, who)
  x = T.value(x)
  local n = x.shape and x.shape[1] or -1
  if n < 0 then T.fail("tf.keras.backend." .. who, "the extent of the first axis must be known; the shape is %s", S.say_shape(x.shape)) end
  return tf.unstack(x, n)
end
def("map_fn", "fn elems name? dtype?", function(fn, elems)
  local out = rows(elems, "map_fn")
  for i, x in ipairs(out) do out[i] = fn(x) end
  return tf.stack(out)
end)
local function fold(name, backwards)
  def(name, "fn elems initializer? name?", function(fn, elems, sum)
    local list = rows(elems, name)
    local first, last, step = 1, #list, 1
    if backwards then first, last, step = #list, 1, -1 end
    for i = first, last, step do
      if sum == nil then sum = list[i] else sum = fn(sum, list[i]) end
    end
    return sum
  end)
end
fold "foldl"
fold("foldr", true)
return K
