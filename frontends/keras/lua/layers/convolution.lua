-- Convolutions of 1 to 3 axes: plain, transposed, depthwise, separable, locally connected.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local layer, activate, params_of = T.keras_layer, T.keras_activate, T.keras_params

-- A number for all axes, or a list of one for each.
local function spread(self, path, n, least, ...)
  for _, name in ipairs {...} do
    local value = self[name]
    if value ~= nil and value ~= false then
      local list = type(value) == "table" and {table.unpack(value)} or {}
      if type(value) ~= "table" then for i = 1, n do list[i] = value end end
      if #list ~= n then T.fail(path, "'%s' must be a number or a list of %d, not %s", name, n, S.say_shape(list)) end
      for i, d in ipairs(list) do
        if math.type(d) == "float" and d == math.floor(d) then list[i] = math.tointeger(d) end
        if math.type(list[i]) ~= "integer" or list[i] < least then T.fail(path, "'%s' must be %d or more, not %s", name, least, tostring(d)) end
      end
      rawset(self, name, list)
    end
  end
end
T.keras_spread = spread
local words = {"batch, steps, channels", "batch, rows, columns, channels", "batch, depth, rows, columns, channels"}
local function padding_of(self, path, causal)
  rawset(self, "padding", tostring(self.padding):lower())
  if self.padding ~= "valid" and self.padding ~= "same" and not (causal and self.padding == "causal") then
    T.fail(path, "'padding' must be \"valid\"%s \"same\"%s, not '%s'", causal and "," or " or", causal and " or \"causal\"" or "", tostring(self.padding))
  end
  if self.data_format == nil then rawset(self, "data_format", T.keras_data_format or "channels_last") end
  if self.data_format ~= "channels_last" and self.data_format ~= "channels_first" then
    T.fail(path, "'data_format' must be \"channels_last\" or \"channels_first\", not '%s'", tostring(self.data_format))
  end
end
T.keras_padding = padding_of
local function call(self, x) return activate(self, (self:run_record({x}, params_of(self)))) end

local tail = " activation? use_bias=true kernel_initializer=glorot_uniform bias_initializer=zeros kernel_regularizer? bias_regularizer? kernel_constraint? bias_constraint?"
for n = 1, 3 do
  layer(("Conv%dD"):format(n), "filters kernel_size strides|subsample=1 padding|border_mode=valid data_format? dilation_rate=1 groups=1" .. tail, {
    record = ("conv%dd"):format(n), ndim = n + 2, axes_text = "(" .. words[n] .. ")", call = call,
    init = function(self, path)
      T.keras_positive(self, path, "filters", "groups")
      spread(self, path, n, 1, "kernel_size", "strides", "dilation_rate")
      padding_of(self, path, n == 1)
      if self.filters % self.groups ~= 0 then T.fail(path, "'filters' (%d) must be a multiple of 'groups' (%d)", self.filters, self.groups) end
    end})
  T.keras_layer_alias(("Convolution%dD"):format(n), ("Conv%dD"):format(n))
  layer(("Conv%dDTranspose"):format(n), "filters kernel_size strides=1 padding=valid output_padding? data_format? dilation_rate=1" .. tail, {
    record = ("conv%dd_transpose"):format(n), ndim = n + 2, axes_text = "(" .. words[n] .. ")", call = call,
    init = function(self, path)
      T.keras_positive(self, path, "filters")
      spread(self, path, n, 1, "kernel_size", "strides", "dilation_rate")
      spread(self, path, n, 0, "output_padding")
      padding_of(self, path)
      for i, p in ipairs(self.output_padding or {}) do
        if p >= self.strides[i] and p >= self.dilation_rate[i] then T.fail(path, "'output_padding' (%d) must be less than the stride (%d)", p, self.strides[i]) end
      end
    end})
  T.keras_layer_alias(("Convolution%dDTranspose"):format(n), ("Conv%dDTranspose"):format(n))
  if n < 3 then
    layer(("DepthwiseConv%dD"):format(n), "kernel_size strides=1 padding=valid depth_multiplier=1 data_format? dilation_rate=1 activation? use_bias=true depthwise_initializer=glorot_uniform bias_initializer=zeros depthwise_regularizer? bias_regularizer? depthwise_constraint? bias_constraint?", {
      record = ("depthwise_conv%dd"):format(n), ndim = n + 2, axes_text = "(" .. words[n] .. ")", call = call, weight_fields = {kernel = "depthwise"},
      init = function(self, path)
        T.keras_positive(self, path, "depth_multiplier")
        spread(self, path, n, 1, "kernel_size", "strides", "dilation_rate")
        padding_of(self, path, n == 1)
      end})
    layer(("SeparableConv%dD"):format(n), "filters kernel_size strides=1 padding=valid data_format? dilation_rate=1 depth_multiplier=1 activation? use_bias=true depthwise_initializer=glorot_uniform pointwise_initializer=glorot_uniform bias_initializer=zeros depthwise_regularizer? pointwise_regularizer? bias_regularizer? depthwise_constraint? pointwise_constraint? bias_constraint?", {
      record = ("separable_conv%dd"):format(n), ndim = n + 2, axes_text = "(" .. words[n] .. ")", call = call,
      weight_fields = {depthwise_kernel = "depthwise", pointwise_kernel = "pointwise"},
      init = function(self, path)
        T.keras_positive(self, path, "filters", "depth_multiplier")
        spread(self, path, n, 1, "kernel_size", "strides", "dilation_rate")
        padding_of(self, path, n == 1)
      end})
    T.keras_layer_alias(("SeparableConvolution%dD"):format(n), ("SeparableConv%dD"):format(n))
  end
end

-- Locally connected: a kernel of its own at each place. Kernel {places, size * channels, filters}, bias {places..., filters}.
local function pieces(self, x, n)
  local shape, k, s = x.shape, self.kernel_size, self.strides
  local out = {}
  for i = 1, n do
    if shape[i + 1] < 0 then T.fail(self.name, "the extents of the input must be known; its shape is %s", S.say_shape(shape)) end
    out[i] = (shape[i + 1] - k[i]) // s[i] + 1
    if out[i] < 1 then T.fail(self.name, "a kernel of %s does not fit into an input of shape %s", S.say_shape(k), S.say_shape(shape)) end
  end
  return out
end
for n = 1, 2 do
  layer(("LocallyConnected%dD"):format(n), "filters kernel_size strides=1 padding=valid data_format? activation? use_bias=true kernel_initializer=glorot_uniform bias_initializer=zeros kernel_regularizer? bias_regularizer? kernel_constraint? bias_constraint?", {
    ndim = n + 2, axes_text = "(" .. words[n] .. ")",
    init = function(self, path)
      T.keras_positive(self, path, "filters")
      spread(self, path, n, 1, "kernel_size", "strides")
      padding_of(self, path)
      if self.padding ~= "valid" then T.fail(path, "'padding' must be \"valid\" for locally connected layers, not '%s'", self.padding) end
    end,
    call = function(self, x)
      if self.data_format == "channels_first" then x = tf.transpose(x, n == 1 and {0, 2, 1} or {0, 2, 3, 1}) end
      local out = pieces(self, x, n)
      local c, size, places = x.shape[n + 2], 1, 1
      for i = 1, n do
        size = size * self.kernel_size[i]
        places = places * out[i]
      end
      local patches = {}
      local function cut(at)
        local from, to = {0}, {-1}
        for i = 1, n do
          from[i + 1], to[i + 1] = at[i] * self.strides[i], self.kernel_size[i]
        end
        from[n + 2], to[n + 2] = 0, -1
        patches[#patches + 1] = tf.reshape(tf.slice(x, from, to), {-1, size * c})
      end
      for i = 0, out[1] - 1 do
        if n == 1 then cut {i} else for j = 0, out[2] - 1 do cut {i, j} end end
      end
      local kernel = self:weight("kernel", {places, size * c, self.filters}, "float32", "glorot_uniform", false)
      if S.stand_ins then kernel = tf.zeros({places, size * c, self.filters}) end
      local y = raw.BatchMatMulV2(tf.stack(patches, 0), kernel)
      y = tf.reshape(tf.transpose(y, {1, 0, 2}), {-1, out[1], out[2], self.filters})
      if n == 1 then y = tf.reshape(y, {-1, out[1], self.filters}) end
      if self.use_bias then
        local shape = n == 1 and {out[1], self.filters} or {out[1], out[2], self.filters}
        local bias = self:weight("bias", shape, "float32", "zeros", false)
        if S.stand_ins then bias = tf.zeros(shape) end
        y = y + bias
      end
      if self.data_format == "channels_first" then y = tf.transpose(y, n == 1 and {0, 2, 1} or {0, 3, 1, 2}) end
      return activate(self, y)
    end})
end
return true
