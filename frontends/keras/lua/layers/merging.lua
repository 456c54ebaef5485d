-- Layers of several inputs: sums, products, extremes, joins, products of matrices.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local layer = T.keras_layer
local layers = T.keras_namespace "layers"

local function inputs_of(self, xs, least)
  if T.kind(xs) or type(xs) ~= "table" then T.fail(self.name, "%s merges a list of inputs: layer{x, y}", getmetatable(self).__name) end
  if #xs < least then T.fail(self.name, "%s needs %d inputs or more, got %d", getmetatable(self).__name, least, #xs) end
  return xs
end
-- As in Keras 3 an element is there where it is in one input; if an input has no mask, all are. (Keras 2: where it is in all that have masks.)
local function any_mask(_, _, mask)
  if not mask or T.kind(mask) then return mask end
  local out
  for i = 1, #mask do
    local m = mask[i]
    if not m then return nil end
    out = out and raw.LogicalOr(out, m) or m
  end
  return out
end
local function merge(name, exact)
  layer(name, "", {
    record = S.snake(name), supports_masking = true, compute_mask = any_mask,
    call = function(self, xs)
      inputs_of(self, xs, exact or 1)
      if exact and #xs ~= exact then T.fail(self.name, "%s takes exactly %d inputs, got %d", name, exact, #xs) end
      return (self:run_record(xs, {}))
    end})
  local class = S.classes[name]
  -- keras.layers.add{x, y}: the layer, made and called.
  rawset(layers, S.snake(name), function(xs, o) return class.new(o)(xs) end)
end
merge "Add"
merge("Subtract", 2)
merge "Multiply"
merge "Average"
merge "Maximum"
merge "Minimum"

local function axis_in(self, axis, rank)
  local a = axis < 0 and axis + rank or axis
  if a < 0 or a >= rank then T.fail(self.name, "axis %d does not exist in inputs of rank %d", axis, rank) end
  return a
end
layer("Concatenate", "axis=-1", {
  supports_masking = true, record = "concatenate",
  call = function(self, xs)
    inputs_of(self, xs, 1)
    return (self:run_record(xs, {axis = self.axis}))
  end,
  compute_mask = function(self, xs, mask)
    if not mask then return nil end
    local list, any = {}, false
    local axis = axis_in(self, self.axis, #xs[1].shape)
    for i, x in ipairs(xs) do
      local m = mask[i]
      any = any or m
      if not m then
        list[i] = tf.cast(tf.ones_like(x), "bool")
      else
        for _ = 1, #x.shape - #m.shape do m = tf.expand_dims(m, -1) end
        list[i] = raw.LogicalAnd(m, tf.cast(tf.ones_like(x), "bool"))
      end
    end
    if not any then return nil end
    return tf.reduce_all(tf.concat(list, axis), {axis = -1})
  end})
rawset(layers, "concatenate", function(xs, o)
  if type(o) == "number" then o = {axis = o} end
  return S.classes.Concatenate.new(o)(xs)
end)
-- Products of matrices along `axes`; normalized: cosines.
layer("Dot", "axes normalize=false", {
  record = "dot",
  call = function(self, xs)
    inputs_of(self, xs, 2)
    if #xs ~= 2 then T.fail(self.name, "Dot takes exactly 2 inputs, got %d", #xs) end
    return (self:run_record(xs, {axes = self.axes, normalize = self.normalize}))
  end})
rawset(layers, "dot", function(xs, axes, o)
  if type(axes) == "table" and axes.axes then return S.classes.Dot.new(axes)(xs) end
  local options = {}
  for k, v in pairs(o or {}) do options[k] = v end
  options.axes = axes
  return S.classes.Dot.new(options)(xs)
end)
return true
