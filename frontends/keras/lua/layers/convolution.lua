-- Convolutions of 1 to 3 axes: plain, transposed, depthwise, separable, locally connected.
local _, T = ...
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
function T.keras_format(self, path)
  if self.data_format == nil or self.data_format == false then rawset(self, "data_format", T.keras_data_format or "channels_last") end
  T.keras_choice(self, path, "data_format", {"channels_last", "channels_first"})
end
local function padding_of(self, path, causal)
  T.keras_choice(self, path, "padding", causal and {"valid", "same", "causal"} or {"valid", "same"})
  T.keras_format(self, path)
end
T.keras_padding = padding_of
local function call(self, x) return activate(self, (self:run_record({x}, params_of(self)))) end

local tail = " activation? use_bias=true kernel_initializer=glorot_uniform bias_initializer=zeros kernel_regularizer? bias_regularizer? kernel_constraint? bias_constraint?"
for n = 1, 3 do
  layer(("Conv%dD"):format(n), "filters kernel_size strides|subsample=1 padding|border_mode=valid data_format? dilation_rate=1 groups=1" .. tail .. " lora_rank? lora_alpha?", {
    record = ("conv%dd"):format(n), ndim = n + 2, axes_text = "(" .. words[n] .. ")", call = call,
    init = function(self, path)
      T.keras_positive(self, path, "filters", "groups")
      spread(self, path, n, 1, "kernel_size", "strides", "dilation_rate")
      padding_of(self, path, n == 1)
      if self.filters % self.groups ~= 0 then T.fail(path, "'filters' (%d) must be a multiple of 'groups' (%d)", self.filters, self.groups) end
    end})
  T.keras_layer_alias(("Convolution%dD"):format(n), ("Conv%dD"):format(n))
  layer(("Conv%dDTranspose"):format(n), "filters kernel_size strides=1 padding=valid " .. (n < 3 and "output_padding? data_format?" or "data_format? output_padding?") .. " dilation_rate=1" .. tail, {
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
  if n > 1 then T.keras_layer_alias(("Deconvolution%dD"):format(n), ("Conv%dDTranspose"):format(n)) end
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

-- A kernel of its own at each place: {places, window * channels, filters}, bias {places..., filters}.
for n = 1, 2 do
  layer(("LocallyConnected%dD"):format(n), "filters kernel_size strides=1 padding=valid data_format?" .. tail, {
    record = ("locally_connected%dd"):format(n), ndim = n + 2, axes_text = "(" .. words[n] .. ")", call = call,
    init = function(self, path)
      T.keras_positive(self, path, "filters")
      spread(self, path, n, 1, "kernel_size", "strides")
      padding_of(self, path)
      if self.padding ~= "valid" then T.fail(path, "'padding' must be \"valid\" for locally connected layers, not '%s'", self.padding) end
    end})
end
return true
