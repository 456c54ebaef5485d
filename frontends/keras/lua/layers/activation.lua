-- Activations that have parameters or weights.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local activations = T.include("keras", "activations")
local layer = T.keras_layer

local function not_below_zero(self, path, name)
  local value = self[name]
  if value ~= nil and value ~= false and (type(value) ~= "number" or value < 0) then T.fail(path, "'%s' must not be below 0, but is %s", name, tostring(value)) end
end
layer("ReLU", "max_value? negative_slope=0 threshold=0", {supports_masking = true,
  init = function(self, path) for _, name in ipairs {"max_value", "negative_slope", "threshold"} do not_below_zero(self, path, name) end end,
  call = function(self, x) return activations.relu(x, self.negative_slope, self.max_value, self.threshold) end})
layer("LeakyReLU", "negative_slope|alpha=0.3", {supports_masking = true,
  init = function(self, path) not_below_zero(self, path, "negative_slope") end,
  call = function(self, x) return raw.LeakyRelu(x, {alpha = self.negative_slope}) end})
layer("ELU", "alpha=1", {supports_masking = true, call = function(self, x) return activations.elu(x, self.alpha) end})
layer("ThresholdedReLU", "theta=1", {supports_masking = true,
  init = function(self, path) not_below_zero(self, path, "theta") end,
  call = function(self, x) return x * tf.cast(raw.Greater(x, T.value(self.theta, x.dtype)), x.dtype) end})
layer("Softmax", "axis=-1", {supports_masking = true,
  call = function(self, x, o)
    if o.mask and T.kind(o.mask) then x = x + (1 - tf.cast(o.mask, x.dtype)) * (x.dtype == "float16" and -3e4 or -1e9) end
    if type(self.axis) == "table" then
      if #self.axis == 1 then return activations.softmax(x, self.axis[1]) end
      return raw.Exp(x - tf.reduce_logsumexp(x, {axis = self.axis, keepdims = true}))
    end
    return activations.softmax(x, self.axis)
  end})
layer("PReLU", "alpha_initializer=zeros alpha_regularizer? alpha_constraint? shared_axes?", {supports_masking = true,
  init = function(self) if type(self.shared_axes) == "number" then rawset(self, "shared_axes", {self.shared_axes}) end end,
  build = function(self, shape)
    local list = {table.unpack(shape, 2)}
    for _, axis in ipairs(self.shared_axes or {}) do list[axis] = 1 end
    rawset(self, "alpha", self:add_weight {name = "alpha", shape = list, initializer = self.alpha_initializer, regularizer = self.alpha_regularizer, constraint = self.alpha_constraint})
  end,
  call = function(self, x)
    local positive, negative = raw.Relu(x), -raw.Relu(-x)
    return positive + negative * self.alpha
  end})
local _ = S
return true
