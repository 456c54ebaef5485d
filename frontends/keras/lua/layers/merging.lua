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
-- Inputs of fewer axes get axes of extent 1 behind the batch.
local function same_rank(xs)
  local most = 0
  for _, x in ipairs(xs) do most = math.max(most, #x.shape) end
  local out = {}
  for i, x in ipairs(xs) do
    for _ = 1, most - #x.shape do x = tf.expand_dims(x, 1) end
    out[i] = x
  end
  return out
end
local function check_shapes(self, xs)
  local most = {}
  for _, x in ipairs(xs) do if #x.shape > #most then most = x.shape end end
  for _, x in ipairs(xs) do
    local n = #most - #x.shape
    for a = 2, #x.shape do
      local d, e = x.shape[a], most[a + n]
      for _, other in ipairs(xs) do
        local f = other.shape[a + n - (#most - #other.shape)]
        if f and f > 1 and e == 1 then e = f end
      end
      if d > 1 and e > 1 and d ~= e then
        T.fail(self.name, "inputs of shapes %s and %s cannot be merged by %s", S.say_shape(most), S.say_shape(x.shape), getmetatable(self).__name)
      end
    end
  end
end
-- An element is there only where it is there in all inputs.
local function all_masks(_, _, mask)
  if not mask or T.kind(mask) then return mask end
  local out
  for _, m in ipairs(mask) do
    if not m then return nil end
    out = out and raw.LogicalAnd(out, m) or m
  end
  return out
end
local function merge(name, fold, exact)
  layer(name, "", {
    supports_masking = true, compute_mask = all_masks,
    call = function(self, xs)
      inputs_of(self, xs, exact or 1)
      if exact and #xs ~= exact then T.fail(self.name, "%s takes exactly %d inputs, got %d", name, exact, #xs) end
      check_shapes(self, xs)
      return fold(same_rank(xs))
    end})
  local class = S.classes[name]
  -- keras.layers.add{x, y}: the layer, made and called.
  rawset(layers, S.snake(name), function(xs, o) return class.new(o)(xs) end)
end
local function folded(op)
  return function(xs)
    local y = xs[1]
    for i = 2, #xs do y = op(y, xs[i]) end
    return y
  end
end
local function add(a, b) return a + b end
merge("Add", folded(add))
merge("Subtract", folded(function(a, b) return a - b end), 2)
merge("Multiply", folded(function(a, b) return a * b end))
merge("Average", function(xs) return folded(add)(xs) / #xs end)
merge("Maximum", folded(raw.Maximum))
merge("Minimum", folded(raw.Minimum))

local function axis_in(self, axis, rank)
  local a = axis < 0 and axis + rank or axis
  if a < 0 or a >= rank then T.fail(self.name, "axis %d does not exist in inputs of rank %d", axis, rank) end
  return a
end
layer("Concatenate", "axis=-1", {
  supports_masking = true,
  call = function(self, xs)
    inputs_of(self, xs, 1)
    local rank = #xs[1].shape
    local axis = axis_in(self, self.axis, rank)
    for i, x in ipairs(xs) do
      for a, d in ipairs(x.shape) do
        local first = xs[1].shape[a]
        if #x.shape ~= rank or a ~= axis + 1 and a > 1 and d >= 0 and first >= 0 and d ~= first then
          T.fail(self.name, "input %d has the shape %s, input 1 %s; they may differ along axis %d only", i, S.say_shape(x.shape), S.say_shape(xs[1].shape), axis)
        end
      end
    end
    return tf.concat(xs, axis)
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
  call = function(self, xs)
    inputs_of(self, xs, 2)
    if #xs ~= 2 then T.fail(self.name, "Dot takes exactly 2 inputs, got %d", #xs) end
    local x, y = xs[1], xs[2]
    local a, b = self.axes, self.axes
    if type(self.axes) == "table" then a, b = self.axes[1], self.axes[2] end
    a, b = axis_in(self, a, #x.shape), axis_in(self, b, #y.shape)
    if a == 0 or b == 0 then T.fail(self.name, "'axes' must not name the batch (axis 0)") end
    if x.shape[a + 1] >= 0 and y.shape[b + 1] >= 0 and x.shape[a + 1] ~= y.shape[b + 1] then
      T.fail(self.name, "axis %d of %s and axis %d of %s have different extents", a, S.say_shape(x.shape), b, S.say_shape(y.shape))
    end
    if self.normalize then x, y = tf.nn.l2_normalize(x, a), tf.nn.l2_normalize(y, b) end
    local labels = "abcdefghij"
    local left, right, out = "z", "z", "z"
    local at = 0
    for i = 1, #x.shape - 1 do
      if i == a then left = left .. "k" else
        at = at + 1
        left, out = left .. labels:sub(at, at), out .. labels:sub(at, at)
      end
    end
    for i = 1, #y.shape - 1 do
      if i == b then right = right .. "k" else
        at = at + 1
        right, out = right .. labels:sub(at, at), out .. labels:sub(at, at)
      end
    end
    local result = tf.einsum(left .. "," .. right .. "->" .. out, x, y)
    if #out == 1 then result = tf.expand_dims(result, 1) end
    return result
  end})
rawset(layers, "dot", function(xs, axes, o)
  if type(axes) == "table" and axes.axes then return S.classes.Dot.new(axes)(xs) end
  local options = {}
  for k, v in pairs(o or {}) do options[k] = v end
  options.axes = axes
  return S.classes.Dot.new(options)(xs)
end)
return true
