-- Activations that have parameters or weights.
local _, T = ...
local layer = T.keras_layer

local function not_below_zero(self, path, name)
  local value = self[name]
  if value == nil or value == false then
    if name == "max_value" then return end
    T.fail(path, "'%s' must be a number of 0 or more", name)
  end
  if type(value) ~= "number" or value < 0 then T.fail(path, "'%s' must be a number of 0 or more, not %s", name, tostring(value)) end
end
layer("ReLU", "max_value? negative_slope=0 threshold=0", {
  supports_masking = true, record = "relu",
  init = function(self, path) for _, name in ipairs {"max_value", "negative_slope", "threshold"} do not_below_zero(self, path, name) end end})
layer("LeakyReLU", "negative_slope|alpha=0.3", {
  supports_masking = true, record = "leaky_relu",
  init = function(self, path) not_below_zero(self, path, "negative_slope") end})
layer("ELU", "alpha=1", {supports_masking = true, record = "elu"})
layer("ThresholdedReLU", "theta=1", {
  supports_masking = true, record = "thresholded_relu",
  init = function(self, path) not_below_zero(self, path, "theta") end})
layer("Softmax", "axis=-1", {
  supports_masking = true, record = "softmax",
  call = function(self, x, o)
    local mask = o.mask
    if type(mask) == "table" and not T.kind(mask) then mask = mask[1] end
    return (self:run_record({x, mask or nil}, {axis = self.axis}))
  end})
layer("PReLU", "alpha_initializer=zeros alpha_regularizer? alpha_constraint? shared_axes?", {
  supports_masking = true, record = "prelu",
  init = function(self) if type(self.shared_axes) == "number" then rawset(self, "shared_axes", {self.shared_axes}) end end})
return true
