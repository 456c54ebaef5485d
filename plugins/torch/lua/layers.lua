-- nn's modules: Torch7's names and PyTorch's over the same functions. Images are {batch, channels, rows, columns}; weights lie as both libraries keep
-- them: a linear layer's {outputs, inputs}, a convolution's {outputs, inputs, rows, columns}.
local tf, T = ...
local raw = tf.raw
local nn = T.namespace "tf.torch.nn"
local Module = nn.Module
local class = nn.class

local function fail(self, ...) T.fail("nn." .. getmetatable(self).__name, ...) end
local function options(self, o, words) return T.options("nn." .. getmetatable(self).__name, o, words) end
local function shape_text(x) return "{" .. table.concat(x.shape, ", ") .. "}" end
local function count(self, name, value)
  if math.type(value) ~= "integer" or value < 1 then fail(self, "'%s' must be a whole number above 0, not %s", name, value) end
  return value
end
local function uniform(bound, ...)
  local shape = {...}
  return tf.eager(function() return tf.random.uniform(shape, {minval = -bound, maxval = bound}) end)
end
local function rank(self, x, n, what)
  if #x.shape ~= n then fail(self, "expects %s, but the input's shape is %s", what, shape_text(x)) end
end
-- Runs a layer record; `weights` gives a value for each role.
local function record(name, inputs, params, weights)
  return T.build_layer(name, inputs, params, function(role) return weights[role] end)[1]
end

-- ------------------------------------------------------------------------------------- linear

class("Linear", {
  init = function(self, inputs, outputs, bias)
    if type(bias) == "table" then bias = options(self, bias, "bias").bias end
    count(self, "inputs", inputs)
    count(self, "outputs", outputs)
    rawset(self, "inputs", inputs)
    rawset(self, "outputs", outputs)
    local bound = 1 / math.sqrt(inputs)
    self:parameter("weight", uniform(bound, outputs, inputs))
    if bias ~= false then self:parameter("bias", uniform(bound, outputs)) end
  end,
  updateOutput = function(self, x)
    if x.shape[#x.shape] ~= self.inputs then fail(self, "expects %d features, but the input's shape is %s", self.inputs, shape_text(x)) end
    local flat = #x.shape == 1
    if flat then x = raw.ExpandDims(x, 0) end
    local y = record("dense", {x}, {units = self.outputs, use_bias = rawget(self, "bias") ~= nil}, {kernel = tf.transpose(self.weight:value()), bias = rawget(self, "bias")})
    return flat and tf.reshape(y, {self.outputs}) or y
  end,
  reset = function(self, bound)
    bound = bound and bound * math.sqrt(3) or 1 / math.sqrt(self.inputs)
    self.weight:assign(uniform(bound, self.outputs, self.inputs))
    if rawget(self, "bias") then self.bias:assign(uniform(bound, self.outputs)) end
    return self
  end,
  extra_repr = function(self) return ("%d -> %d"):format(self.inputs, self.outputs) end})
class("Bilinear", {
  init = function(self, a, b, outputs, bias)
    local bound = 1 / math.sqrt(a)
    self:parameter("weight", uniform(bound, outputs, a, b))
    if bias ~= false then self:parameter("bias", uniform(bound, outputs)) end
  end,
  updateOutput = function(self, x, y)
    if y == nil then x, y = x[1], x[2] end
    local z = tf.einsum("na,oab,nb->no", x, self.weight:value(), y)
    return rawget(self, "bias") and z + self.bias or z
  end})
-- Rows of a table: nn.LookupTable(n, size) counts from 1, nn.Embedding(n, size) from 0.
local function lookup(first)
  return {
    init = function(self, n, size, o)
      o = options(self, o, "padding_idx max_norm norm_type sparse")
      rawset(self, "padding", o.padding_idx)
      rawset(self, "n", count(self, "n", n))
      local table_ = tf.eager(function()
        local w = tf.random.normal {n, size}
        if self.padding then
          local keep = 1 - tf.one_hot(self.padding - first, n)
          w = w * tf.expand_dims(keep, 1)
        end
        return w
      end)
      self:parameter("weight", table_)
    end,
    updateOutput = function(self, ids)
      ids = tf.cast(ids, "int64")
      if first ~= 0 then ids = ids - first end
      if ids:size() > 0 then
        local low, high = tf.reduce_min(ids):item(), tf.reduce_max(ids):item()
        if low < 0 or high >= self.n then fail(self, "index %d is out of range: there are %d to %d", (low < 0 and low or high) + first, first, self.n - 1 + first) end
      end
      return tf.nn.embedding_lookup(self.weight, ids)
    end,
    extra_repr = function(self) return ("%d, %d"):format(self.n, self.weight.shape[2]) end}
end
class("LookupTable", lookup(1))
class("Embedding", lookup(0))

-- ------------------------------------------------------------------------------------- convolutions

local names = {"rows", "rows, columns", "depth, rows, columns"}
local function list(x, n)
  if type(x) == "table" then return x end
  local out = {}
  for i = 1, n do out[i] = x end
  return out
end
local function shifted(x, n, padding)
  local any = false
  for _, p in ipairs(padding) do any = any or p > 0 end
  if not any then return x end
  local pads = {{0, 0}, {0, 0}}
  for i = 1, n do pads[i + 2] = {padding[i], padding[i]} end
  return tf.pad(x, pads)
end
-- Channels second to channels last, where the fast kernels are, and back.
local function last(n) local order = {0} for a = 2, n + 1 do order[#order + 1] = a end order[#order + 1] = 1 return order end
local function second(n) local order = {0, n + 1} for a = 1, n do order[#order + 1] = a end return order end
local turn = {{2, 1, 0}, {2, 3, 1, 0}, {2, 3, 4, 1, 0}} -- {out, in, ...} to {..., in, out}
local function convolution(n)
  return {
    setup = function(self, inputs, outputs, o)
      count(self, "inputs", inputs)
      count(self, "outputs", outputs)
      for _, key in ipairs {"size", "stride", "padding", "dilation"} do
        local given = o[key] == nil and key ~= "size" and {} or list(o[key], n)
        if #given ~= n and o[key] ~= nil or key == "size" and #given ~= n then fail(self, "'%s' must be a number or %d of them, not %s", key == "size" and "kernel_size" or key, n, T.shown(o[key])) end
        for _, v in ipairs(given) do
          if math.type(v) ~= "integer" or v < (key == "padding" and 0 or 1) then fail(self, "'%s' must be made of whole numbers, not %s", key == "size" and "kernel_size" or key, T.shown(v)) end
        end
      end
      for key, value in pairs {n = n, inputs = inputs, outputs = outputs, size = list(o.size, n), stride = list(o.stride or 1, n), padding = list(o.padding or 0, n),
        dilation = list(o.dilation or 1, n), groups = o.groups or 1} do rawset(self, key, value) end
      if inputs % self.groups ~= 0 or outputs % self.groups ~= 0 then fail(self, "channels (%d, %d) must be multiples of groups (%d)", inputs, outputs, self.groups) end
      local fan = inputs // self.groups
      for _, k in ipairs(self.size) do fan = fan * k end
      local bound = 1 / math.sqrt(fan)
      self:parameter("weight", uniform(bound, outputs, inputs // self.groups, table.unpack(self.size)))
      if o.bias ~= false then self:parameter("bias", uniform(bound, outputs)) end
    end,
    updateOutput = function(self, x)
      rank(self, x, n + 2, "{batch, channels, " .. names[n] .. "}")
      if x.shape[2] ~= self.inputs then fail(self, "expects %d channels, but the input's shape is %s", self.inputs, shape_text(x)) end
      local same = true -- does the padding keep the extents?
      for i = 1, n do same = same and self.stride[i] == 1 and 2 * self.padding[i] == (self.size[i] - 1) * self.dilation[i] end
      local y = record(("conv%dd"):format(n), {tf.transpose(same and x or shifted(x, n, self.padding), last(n))}, {filters = self.outputs, kernel_size = self.size,
        strides = self.stride, dilation_rate = self.dilation, groups = self.groups, padding = same and "same" or "valid", use_bias = rawget(self, "bias") ~= nil},
        {kernel = tf.transpose(self.weight:value(), turn[n]), bias = rawget(self, "bias")})
      return tf.transpose(y, second(n))
    end,
    extra_repr = function(self)
      return ("%d -> %d, %s"):format(self.inputs, self.outputs, table.concat(self.size, "x"))
    end}
end
for n = 1, 3 do
  local c = convolution(n)
  -- PyTorch: nn.Conv2d(in, out, kernel, {stride =, padding =, dilation =, groups =, bias =})
  c.init = function(self, inputs, outputs, size, o)
    o = options(self, o, "stride padding dilation groups bias")
    self:setup(inputs, outputs, {size = size, stride = o.stride, padding = o.padding, dilation = o.dilation, groups = o.groups, bias = o.bias})
  end
  class(("Conv%dd"):format(n), c)
end
-- Torch7: columns before rows: nn.SpatialConvolution(in, out, kW, kH, dW, dH, padW, padH).
local spatial = convolution(2)
spatial.init = function(self, inputs, outputs, kw, kh, dw, dh, pw, ph)
  self:setup(inputs, outputs, {size = {kh or kw, kw}, stride = {dh or dw or 1, dw or 1}, padding = {ph or pw or 0, pw or 0}})
end
spatial.noBias = function(self)
  for i, e in ipairs(self._parameters) do if e[1] == "bias" then table.remove(self._parameters, i) break end end
  rawset(self, "bias", nil)
  return self
end
class("SpatialConvolution", spatial)
rawset(nn, "SpatialConvolutionMM", nn.SpatialConvolution)
local dilated = convolution(2)
dilated.init = function(self, inputs, outputs, kw, kh, dw, dh, pw, ph, diw, dih)
  self:setup(inputs, outputs, {size = {kh, kw}, stride = {dh or 1, dw or 1}, padding = {ph or pw or 0, pw or 0}, dilation = {dih or diw or 1, diw or 1}})
end
class("SpatialDilatedConvolution", dilated)
-- {batch, steps, features}, a kernel over steps: nn.TemporalConvolution(in, out, kW, dW); weight {out, kW * in}, as Torch7 keeps it.
class("TemporalConvolution", {
  init = function(self, inputs, outputs, kw, dw)
    for key, value in pairs {inputs = inputs, outputs = outputs, kw = kw, dw = dw or 1} do rawset(self, key, value) end
    local bound = 1 / math.sqrt(kw * inputs)
    self:parameter("weight", uniform(bound, outputs, kw * inputs))
    self:parameter("bias", uniform(bound, outputs))
  end,
  updateOutput = function(self, x)
    rank(self, x, 3, "{batch, steps, features}")
    local kernel = tf.transpose(tf.reshape(self.weight:value(), {self.outputs, self.kw, self.inputs}), {1, 2, 0})
    return record("conv1d", {x}, {filters = self.outputs, kernel_size = {self.kw}, strides = {self.dw}}, {kernel = kernel, bias = self.bias})
  end})

-- ------------------------------------------------------------------------------------- pools

local function pool(n, kind)
  return function(self, x)
    rank(self, x, n + 2, "{batch, channels, " .. names[n] .. "}")
    if self.ceil_mode then
      local pads, any = {}, false
      for i = 1, n do
        local d = x.shape[i + 2] + 2 * self.padding[i]
        local rest = (d - self.size[i]) % self.stride[i]
        pads[i] = rest > 0 and self.stride[i] - rest or 0
        any = any or pads[i] > 0
      end
      if any and kind == "average" then T.fail_code(12, "nn", "ceil() of average pools is not supported") end
      if any then
        local all = {{0, 0}, {0, 0}}
        for i = 1, n do all[i + 2] = {0, pads[i]} end
        x = tf.pad(x, all, {constant_values = -3.4e38})
      end
    end
    if kind == "max" then
      local any = false
      for _, p in ipairs(self.padding) do any = any or p > 0 end
      if any then
        local all = {{0, 0}, {0, 0}}
        for i = 1, n do all[i + 2] = {self.padding[i], self.padding[i]} end
        x = tf.pad(x, all, {constant_values = -3.4e38})
      end
    else
      x = shifted(x, n, self.padding) -- padding counts in the mean, as in both libraries
    end
    return T.build_layer(("%s_pooling%dd"):format(kind, n), {x}, {pool_size = self.size, strides = self.stride, data_format = "channels_first"})[1]
  end
end
local function pool_fields(self, n, size, stride, padding)
  rawset(self, "size", list(size, n))
  rawset(self, "stride", list(stride or size, n))
  rawset(self, "padding", list(padding or 0, n))
end
for n = 1, 3 do
  for kind, word in pairs {max = "Max", average = "Avg"} do
    class(("%sPool%dd"):format(word, n), {
      init = function(self, size, stride, o)
        if type(stride) == "table" and stride[1] == nil then stride, o = stride.stride, stride end
        o = options(self, o, "stride padding ceil_mode count_include_pad return_indices dilation")
        pool_fields(self, n, size, stride, o and o.padding)
        rawset(self, "ceil_mode", o and o.ceil_mode or false)
      end,
      updateOutput = pool(n, kind)})
  end
  class(("AdaptiveAvgPool%dd"):format(n), {
    init = function(self, size) rawset(self, "target", list(size, n)) end,
    updateOutput = function(self, x)
      for i = 1, n do
        local d, m, parts = x.shape[i + 2], self.target[i], {}
        for k = 0, m - 1 do
          local from, to = k * d // m, -((-(k + 1) * d) // m)
          local begin, size = {}, {}
          for a = 1, #x.shape do begin[a], size[a] = 0, -1 end
          begin[i + 2], size[i + 2] = from, to - from
          parts[k + 1] = tf.reduce_mean(tf.slice(x, begin, size), {axis = i + 1, keepdims = true})
        end
        x = #parts == 1 and parts[1] or tf.concat(parts, i + 1)
      end
      return x
    end})
end
for name, kind in pairs {SpatialMaxPooling = "max", SpatialAveragePooling = "average"} do
  class(name, {
    init = function(self, kw, kh, dw, dh, pw, ph)
      pool_fields(self, 2, {kh or kw, kw}, {dh or dw or kh or kw, dw or kw}, {ph or pw or 0, pw or 0})
      rawset(self, "ceil_mode", false)
    end,
    ceil = function(self) rawset(self, "ceil_mode", true) return self end,
    floor = function(self) rawset(self, "ceil_mode", false) return self end,
    updateOutput = pool(2, kind)})
end

-- ------------------------------------------------------------------------------------- normalisation

local function batch_norm(n, ones)
  return {
    init = function(self, channels, o, momentum, affine)
      if type(o) == "number" then o = {eps = o, momentum = momentum, affine = affine} end -- Torch7's order
      o = options(self, o, "eps momentum affine track_running_stats")
      count(self, "channels", channels)
      for key, value in pairs {channels = channels, eps = o.eps or 1e-5, momentum = o.momentum or 0.1} do rawset(self, key, value) end
      if o.affine ~= false then
        self:parameter("weight", ones and tf.eager(function() return tf.ones {channels} end) or tf.eager(function() return tf.random.uniform {channels} end))
        self:parameter("bias", tf.eager(function() return tf.zeros {channels} end))
      end
      self:register_buffer("running_mean", tf.eager(function() return tf.zeros {channels} end))
      self:register_buffer("running_var", tf.eager(function() return tf.ones {channels} end))
    end,
    updateOutput = function(self, x)
      if n and #x.shape ~= n + 2 then rank(self, x, n + 2, "{batch, channels, " .. names[n] .. "}") end
      if x.shape[2] ~= self.channels then fail(self, "expects %d channels, but the input's shape is %s", self.channels, shape_text(x)) end
      local affine, m = rawget(self, "weight") ~= nil, #x.shape - 2
      local y = record("batch_normalization", {m > 0 and tf.transpose(x, last(m)) or x}, {momentum = 1 - self.momentum, epsilon = self.eps, center = affine,
        scale = affine, unbiased = true, training = self.train_mode}, {gamma = rawget(self, "weight"), beta = rawget(self, "bias"),
        moving_mean = self.running_mean, moving_variance = self.running_var})
      return m > 0 and tf.transpose(y, second(m)) or y
    end,
    extra_repr = function(self) return tostring(self.channels) end}
end
class("BatchNormalization", batch_norm(nil, false))
class("SpatialBatchNormalization", batch_norm(2, false))
class("BatchNorm1d", batch_norm(nil, true))
class("BatchNorm2d", batch_norm(2, true))
class("BatchNorm3d", batch_norm(3, true))
class("LayerNorm", {
  init = function(self, shape, o)
    o = options(self, o, "eps elementwise_affine")
    shape = type(shape) == "table" and shape or {count(self, "normalized_shape", shape)}
    rawset(self, "shape", shape)
    rawset(self, "eps", o and o.eps or 1e-5)
    self:parameter("weight", tf.eager(function() return tf.ones(shape) end))
    self:parameter("bias", tf.eager(function() return tf.zeros(shape) end))
  end,
  updateOutput = function(self, x)
    local axes = {}
    for i = 1, #self.shape do axes[i] = i - 1 - #self.shape end
    return record("layer_normalization", {x}, {axis = axes, epsilon = self.eps, params_axis = axes}, {gamma = self.weight, beta = self.bias})
  end})
rawset(nn, "LayerNormalization", nn.LayerNorm)
class("GroupNorm", {
  init = function(self, groups, channels, o)
    o = options(self, o, "eps affine")
    count(self, "groups", groups)
    count(self, "channels", channels)
    for key, value in pairs {groups = groups, channels = channels, eps = o and o.eps or 1e-5} do rawset(self, key, value) end
    self:parameter("weight", tf.eager(function() return tf.ones {channels} end))
    self:parameter("bias", tf.eager(function() return tf.zeros {channels} end))
  end,
  updateOutput = function(self, x)
    return record("group_normalization", {x}, {groups = self.groups, axis = 1, epsilon = self.eps}, {gamma = self.weight, beta = self.bias})
  end})

-- ------------------------------------------------------------------------------------- by chance

local function drop(shape_of)
  return {
    init = function(self, p)
      rawset(self, "p", p or 0.5)
      if type(self.p) ~= "number" or self.p < 0 or self.p > 1 then fail(self, "the share to drop must lie within 0 and 1, not %s", p) end
    end,
    updateOutput = function(self, x)
      if not self.train_mode or self.p == 0 then return x end
      return T.build_layer("dropout", {x}, {rate = self.p, noise_shape = shape_of and shape_of(x) or nil, training = true})[1]
    end,
    extra_repr = function(self) return ("%g"):format(self.p) end}
end
local function channels_of(x)
  local shape = {x.shape[1], x.shape[2]}
  for a = 3, #x.shape do shape[a] = 1 end
  return shape
end
class("Dropout", drop())
for _, name in ipairs {"SpatialDropout", "VolumetricDropout", "Dropout2d", "Dropout3d"} do class(name, drop(channels_of)) end

-- ------------------------------------------------------------------------------------- functions

-- name: function(x, self); `init` takes numbers into fields.
local function simple(name, fn, init) class(name, {init = init, updateOutput = function(self, x) return fn(x, self) end}) end
local function field(name, otherwise) return function(self, value)
  if type(value) == "table" then value = options(self, value, name .. " inplace")[name] end
  if value ~= nil and type(value) ~= "number" then fail(self, "'%s' must be a number, not %s", name, T.shown(value)) end
  rawset(self, name, value == nil and otherwise or value)
end end
local function alias(name, ...) for _, other in ipairs {...} do rawset(nn, other, nn[name]) end end
simple("Identity", function(x) return x end)
simple("ReLU", function(x) return raw.Relu(x) end)
simple("ReLU6", function(x) return raw.Relu6(x) end)
simple("Tanh", function(x) return raw.Tanh(x) end)
simple("Sigmoid", function(x) return raw.Sigmoid(x) end)
simple("LogSigmoid", function(x) return -raw.Softplus(-x) end)
simple("SoftPlus", function(x) return raw.Softplus(x) end)
simple("SoftSign", function(x) return raw.Softsign(x) end)
simple("ELU", function(x, self) return raw.SelectV2(raw.Greater(x, 0), x, raw.Elu(x) * self.alpha) end, field("alpha", 1))
simple("SELU", function(x) return raw.Selu(x) end)
simple("GELU", function(x) return x * (raw.Erf(x / math.sqrt(2)) + 1) * 0.5 end)
simple("SiLU", function(x) return x * raw.Sigmoid(x) end)
simple("LeakyReLU", function(x, self) return raw.LeakyRelu(x, {alpha = self.negative_slope}) end, field("negative_slope", 0.01))
simple("HardTanh", function(x, self) return raw.ClipByValue(x, self.low, self.high) end, function(self, low, high)
  rawset(self, "low", low or -1)
  rawset(self, "high", high or 1)
end)
simple("HardShrink", function(x, self) return raw.SelectV2(raw.Greater(raw.Abs(x), self.lambda), x, raw.ZerosLike(x)) end, field("lambda", 0.5))
simple("SoftShrink", function(x, self)
  return raw.SelectV2(raw.Greater(x, self.lambda), x - self.lambda, raw.SelectV2(raw.Less(x, -self.lambda), x + self.lambda, raw.ZerosLike(x)))
end, field("lambda", 0.5))
simple("TanhShrink", function(x) return x - raw.Tanh(x) end)
simple("Threshold", function(x, self) return raw.SelectV2(raw.Greater(x, self.threshold), x, raw.ZerosLike(x) + self.value) end, function(self, threshold, value)
  rawset(self, "threshold", threshold or 1e-6)
  rawset(self, "value", value or 0)
end)
alias("SoftPlus", "Softplus")
alias("SoftSign", "Softsign")
alias("HardTanh", "Hardtanh")
alias("HardShrink", "Hardshrink")
alias("SoftShrink", "Softshrink")
alias("TanhShrink", "Tanhshrink")
-- Over the last axis, or over `dim` (PyTorch: from 0).
local function over(fn) return function(x, self) return fn(x, self.dim or -1) end end
simple("SoftMax", over(function(x, axis) return tf.nn.softmax(x, axis) end), field "dim")
simple("SoftMin", over(function(x, axis) return tf.nn.softmax(-x, axis) end), field "dim")
simple("LogSoftMax", over(function(x, axis) return tf.nn.log_softmax(x, axis) end), field "dim")
alias("SoftMax", "Softmax")
alias("SoftMin", "Softmin")
alias("LogSoftMax", "LogSoftmax")
simple("SpatialSoftMax", function(x) return tf.nn.softmax(x, 1) end)
class("PReLU", {
  init = function(self, n, o)
    if type(n) == "table" then n, o = n.num_parameters, n end
    o = options(self, o, "init num_parameters")
    if n == 0 then n = 1 end
    rawset(self, "n", n or 1)
    self:parameter("weight", tf.eager(function() return tf.fill({n or 1}, o and o.init or 0.25) end))
  end,
  updateOutput = function(self, x)
    local w = self.weight:value()
    if self.n > 1 then
      local shape = {1, self.n}
      for a = 3, #x.shape do shape[a] = 1 end
      w = tf.reshape(w, shape)
    end
    return raw.Relu(x) - w * raw.Relu(-x)
  end})
simple("Abs", function(x) return raw.Abs(x) end)
simple("Exp", function(x) return raw.Exp(x) end)
simple("Log", function(x) return raw.Log(x) end)
simple("Square", function(x) return raw.Square(x) end)
simple("Sqrt", function(x) return raw.Sqrt(x) end)
simple("Power", function(x, self) return x ^ self.p end, field("p", 2))
simple("Clamp", function(x, self) return raw.ClipByValue(x, self.low, self.high) end, function(self, low, high)
  rawset(self, "low", low)
  rawset(self, "high", high)
end)
simple("AddConstant", function(x, self) return x + self.constant end, field("constant", 0))
simple("MulConstant", function(x, self) return x * self.constant end, field("constant", 1))
simple("Normalize", function(x, self)
  local norm = self.p == 2 and raw.Sqrt(tf.reduce_sum(raw.Square(x), {axis = -1, keepdims = true})) or tf.reduce_sum(raw.Abs(x) ^ self.p, {axis = -1, keepdims = true}) ^ (1 / self.p)
  return x / (norm + 1e-10)
end, field("p", 2))
class("Mul", {init = function(self) self:parameter("weight", uniform(1, 1)) end, updateOutput = function(self, x) return x * self.weight end})
class("CMul", {init = function(self, ...) self:parameter("weight", uniform(1, ...)) end, updateOutput = function(self, x) return x * self.weight end})
class("Add", {init = function(self, n) self:parameter("bias", uniform(1 / math.sqrt(n), n)) end, updateOutput = function(self, x) return x + self.bias end})
class("CAdd", {init = function(self, ...) self:parameter("bias", uniform(1, ...)) end, updateOutput = function(self, x) return x + self.bias end})

-- ------------------------------------------------------------------------------------- shapes; dimensions count from 1, as in Torch7

simple("Reshape", function(x, self)
  local n = 1
  for _, d in ipairs(self.sizes) do n = n * d end
  if x:size() == n and x.shape[1] ~= 1 then return tf.reshape(x, self.sizes) end
  return tf.reshape(x, {x.shape[1], table.unpack(self.sizes)})
end, function(self, ...)
  for _, d in ipairs {...} do if math.type(d) ~= "integer" then fail(self, "sizes must be whole numbers, not %s", T.shown(d)) end end
  rawset(self, "sizes", {...})
end)
simple("View", function(x, self)
  if self.sizes[1] == -1 and #self.sizes == 1 then return tf.reshape(x, {x.shape[1], -1}) end
  local n = 1
  for _, d in ipairs(self.sizes) do n = n * d end
  if n > 0 and x:size() ~= n then return tf.reshape(x, {-1, table.unpack(self.sizes)}) end
  return tf.reshape(x, self.sizes)
end, function(self, ...)
  local sizes = {...}
  if type(sizes[1]) == "table" then sizes = sizes[1] end
  for _, d in ipairs(sizes) do if math.type(d) ~= "integer" then fail(self, "sizes must be whole numbers, not %s", T.shown(d)) end end
  rawset(self, "sizes", sizes)
end)
simple("Flatten", function(x) return tf.reshape(x, {x.shape[1], -1}) end)
local function dim_of(self, x, dim)
  local d = dim < 0 and dim + #x.shape + 1 or dim
  if d < 1 or d > #x.shape then fail(self, "dimension %d does not exist in an input of shape %s", dim, shape_text(x)) end
  return d - 1
end
local function reduction(name, fn)
  class(name, {init = function(self, dim) rawset(self, "dim", dim or 1) end, updateOutput = function(self, x) return fn(x, {axis = dim_of(self, x, self.dim)}) end})
end
reduction("Max", tf.reduce_max)
reduction("Min", tf.reduce_min)
reduction("Mean", tf.reduce_mean)
reduction("Sum", tf.reduce_sum)
simple("Select", function(x, self)
  local axis, begin, size = dim_of(self, x, self.dim), {}, {}
  for a = 1, #x.shape do begin[a], size[a] = 0, -1 end
  local i = self.index
  begin[axis + 1], size[axis + 1] = (i < 0 and i + x.shape[axis + 1] + 1 or i) - 1, 1
  return tf.squeeze(tf.slice(x, begin, size), {axis = {axis}})
end, function(self, dim, index)
  rawset(self, "dim", dim)
  rawset(self, "index", index)
end)
simple("Narrow", function(x, self)
  local axis, begin, size = dim_of(self, x, self.dim), {}, {}
  for a = 1, #x.shape do begin[a], size[a] = 0, -1 end
  begin[axis + 1], size[axis + 1] = self.offset - 1, self.length
  return tf.slice(x, begin, size)
end, function(self, dim, offset, length)
  rawset(self, "dim", dim)
  rawset(self, "offset", offset)
  rawset(self, "length", length or 1)
end)
simple("Squeeze", function(x, self) return self.dim and tf.squeeze(x, {axis = {dim_of(self, x, self.dim)}}) or tf.squeeze(x) end, field "dim")
simple("Unsqueeze", function(x, self) return tf.expand_dims(x, self.dim - 1) end, field("dim", 1))
-- Pairs of dimensions that change places, one after another.
simple("Transpose", function(x, self)
  local order = {}
  for a = 1, #x.shape do order[a] = a - 1 end
  for _, pair in ipairs(self.pairs_) do
    local a, b = dim_of(self, x, pair[1]) + 1, dim_of(self, x, pair[2]) + 1
    order[a], order[b] = order[b], order[a]
  end
  return tf.transpose(x, order)
end, function(self, ...) rawset(self, "pairs_", {...}) end)
simple("SpatialZeroPadding", function(x, self) return tf.pad(x, {{0, 0}, {0, 0}, {self.top, self.bottom}, {self.left, self.right}}) end, function(self, left, right, top, bottom)
  for key, value in pairs {left = left, right = right or left, top = top or left, bottom = bottom or left} do rawset(self, key, value) end
end)
simple("SpatialUpSamplingNearest", function(x, self)
  local k, s = self.scale, x.shape
  local y = tf.tile(tf.reshape(x, {s[1], s[2], s[3], 1, s[4], 1}), {1, 1, 1, k, 1, k})
  return tf.reshape(y, {s[1], s[2], s[3] * k, s[4] * k})
end, field("scale", 2))

-- ------------------------------------------------------------------------------------- tables

local function folded(name, fn)
  class(name, {updateOutput = function(self, xs)
    if T.kind(xs) then fail(self, "expects a table of values") end
    local y = xs[1]
    for i = 2, #xs do y = fn(y, xs[i]) end
    return y
  end})
end
folded("CAddTable", function(a, b) return a + b end)
folded("CSubTable", function(a, b) return a - b end)
folded("CMulTable", function(a, b) return a * b end)
folded("CDivTable", function(a, b) return a / b end)
folded("CMaxTable", raw.Maximum)
folded("CMinTable", raw.Minimum)
simple("JoinTable", function(xs, self) return tf.concat(xs, self.dim - 1) end, function(self, dim) rawset(self, "dim", dim) end)
simple("SplitTable", function(x, self) return tf.unstack(x, x.shape[dim_of(self, x, self.dim) + 1], dim_of(self, x, self.dim)) end, function(self, dim) rawset(self, "dim", dim) end)
simple("SelectTable", function(xs, self) return xs[self.index < 0 and self.index + #xs + 1 or self.index] end, function(self, index) rawset(self, "index", index) end)
simple("FlattenTable", function(xs)
  local out = {}
  local function go(x) if T.kind(x) then out[#out + 1] = x else for _, v in ipairs(x) do go(v) end end end
  go(xs)
  return out
end)
simple("MM", function(xs, self)
  return (#xs[1].shape == 3 and raw.BatchMatMulV2 or tf.matmul)(xs[1], xs[2], #xs[1].shape == 3 and {adj_x = self.a, adj_y = self.b} or {transpose_a = self.a, transpose_b = self.b})
end, function(self, a, b)
  rawset(self, "a", a or false)
  rawset(self, "b", b or false)
end)
simple("DotProduct", function(xs) return tf.reduce_sum(xs[1] * xs[2], {axis = -1}) end)
simple("CosineDistance", function(xs)
  local function norm(x) return raw.Sqrt(tf.reduce_sum(raw.Square(x), {axis = -1}) + 1e-12) end
  return tf.reduce_sum(xs[1] * xs[2], {axis = -1}) / (norm(xs[1]) * norm(xs[2]))
end)
simple("PairwiseDistance", function(xs, self)
  local d = raw.Abs(xs[1] - xs[2])
  if self.p == 2 then return raw.Sqrt(tf.reduce_sum(raw.Square(d), {axis = -1})) end
  return tf.reduce_sum(d ^ self.p, {axis = -1}) ^ (1 / self.p)
end, field("p", 2))
local _ = Module
return nn
