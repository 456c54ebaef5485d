-- Layers that act in training only: dropout of elements and of whole channels, noise.
local tf, T = ...
local layer = T.keras_layer

local function check_rate(self, path)
  local r = self.rate
  if type(r) ~= "number" or r < 0 or r > 1 then T.fail(path, "'rate' must lie within 0 and 1, not %s", tostring(r)) end
end
local function run(self, x, o)
  local inputs, params = {x, n = 1}, self:record_params()
  params.seed = self.seed or nil
  if params.noise_shape then
    local shape = {}
    for i, d in ipairs(params.noise_shape) do shape[i] = d and d ~= tf.json.null and d or -1 end
    params.noise_shape = shape
  end
  T.flexible(T.layer(self.record), inputs, params, "training", o.training)
  return (self:run_record(inputs, params))
end
layer("Dropout", "rate noise_shape? seed?", {record = "dropout", supports_masking = true, init = check_rate, call = run})
for n = 1, 3 do
  layer(("SpatialDropout%dD"):format(n), "rate" .. (n > 1 and " data_format?" or "") .. " seed?", {
    record = ("spatial_dropout%dd"):format(n), supports_masking = true, ndim = n + 2, call = run,
    init = function(self, path)
      check_rate(self, path)
      if n > 1 then T.keras_format(self, path) end
    end})
end
layer("GaussianNoise", "stddev seed?", {
  record = "gaussian_noise", supports_masking = true, call = run,
  init = function(self, path) if type(self.stddev) ~= "number" or self.stddev < 0 then T.fail(path, "'stddev' must not be below 0, but is %s", tostring(self.stddev)) end end})
layer("GaussianDropout", "rate seed?", {record = "gaussian_dropout", supports_masking = true, init = check_rate, call = run})
-- Keeps mean and variance of inputs that SELU made.
layer("AlphaDropout", "rate noise_shape? seed?", {record = "alpha_dropout", supports_masking = true, init = check_rate, call = run})
layer("ActivityRegularization", "l1=0 l2=0", {
  record = "activity_regularization", supports_masking = true,
  init = function(self, path)
    for _, name in ipairs {"l1", "l2"} do
      local value = self[name]
      if type(value) ~= "number" or value < 0 then T.fail(path, "'%s' must be a number of 0 or more, not %s", name, tostring(value)) end
    end
  end})
return true
