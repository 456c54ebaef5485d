-- Batch, layer, group, RMS, unit and spectral normalisation.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local Layer = T.include("keras", "engine/layer")
local layer = T.keras_layer

local affine = "beta_initializer=zeros gamma_initializer=ones %sbeta_regularizer? gamma_regularizer? beta_constraint? gamma_constraint?"
layer("BatchNormalization", "axis=-1 momentum=0.99 epsilon=0.001 center=true scale=true " .. affine:format "moving_mean_initializer=zeros moving_variance_initializer=ones " .. " synchronized=false renorm=false fused?", {
  record = "batch_normalization", supports_masking = true,
  init = function(self, path)
    if type(self.axis) == "table" then rawset(self, "axis", self.axis[1]) end
    if self.renorm then T.fail_code(12, path, "'renorm' is not supported") end
    if self.synchronized then T.fail_code(12, path, "'synchronized' is not supported") end
  end,
  call = function(self, x, o)
    local training = o.training
    if not self._trainable then training = false end -- frozen: the averages are used
    local record, inputs = T.layer "batch_normalization", {x, n = 1}
    local params = {axis = self.axis, momentum = self.momentum, epsilon = self.epsilon, center = self.center, scale = self.scale}
    T.flexible(record, inputs, params, "training", training)
    local mask = o.mask
    if mask and T.kind(mask) then
      inputs[record.input_at.mask] = mask
      inputs.n = math.max(inputs.n, record.input_at.mask)
    end
    return (self:run_record(inputs, params))
  end})
T.keras_layer_alias("BatchNormalizationV1", "BatchNormalization")
layer("LayerNormalization", "axis=-1 epsilon=0.001 center=true scale=true rms_scaling=false " .. affine:format "", {
  record = "layer_normalization", supports_masking = true, role_order = {"gamma", "beta"},
  init = function(self) if type(self.axis) ~= "table" then rawset(self, "axis", {self.axis}) end end,
  call = function(self, x)
    if not self.rms_scaling then
      return (self:run_record({x}, {axis = self.axis, epsilon = self.epsilon, center = self.center, scale = self.scale, params_axis = self.axis}))
    end
    local shape, rank = {}, #x.shape
    local wide = {}
    for a = 1, rank do wide[a] = 1 end
    for _, axis in ipairs(self.axis) do
      local a = axis < 0 and axis + rank or axis
      shape[#shape + 1] = x.shape[a + 1]
      wide[a + 1] = x.shape[a + 1]
    end
    local gamma = self:weight("gamma", shape, "float32", "ones", false)
    if S.stand_ins then gamma = tf.zeros(shape) end
    local variance = tf.reduce_mean(raw.Square(x - tf.reduce_mean(x, {axis = self.axis, keepdims = true})), {axis = self.axis, keepdims = true})
    return x * raw.Rsqrt(variance + self.epsilon) * tf.reshape(gamma, wide)
  end})
layer("GroupNormalization", "groups=32 axis=-1 epsilon=0.001 center=true scale=true " .. affine:format "", {
  record = "group_normalization", supports_masking = true, role_order = {"gamma", "beta"},
  call = function(self, x)
    local rank = #x.shape
    local axis = self.axis < 0 and self.axis + rank or self.axis
    local channels = x.shape[axis + 1]
    local groups = self.groups == -1 and channels or self.groups
    if channels % groups ~= 0 or channels < groups then
      T.fail(self.name, "%d channels cannot be cut into %d groups of one size; the input's shape is %s", channels, groups, S.say_shape(x.shape))
    end
    return (self:run_record({x}, {groups = groups, axis = self.axis, epsilon = self.epsilon, center = self.center, scale = self.scale}))
  end})
layer("RMSNormalization", "axis=-1 epsilon=1e-06", {record = "rms_normalization", supports_masking = true})
layer("UnitNormalization", "axis=-1", {record = "unit_normalization", supports_masking = true})
return true
