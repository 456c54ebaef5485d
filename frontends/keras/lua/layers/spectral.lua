-- Spectral normalisation (Miyato et al., 2018): in training the kernel of a layer is divided by its largest singular value, which power
-- iterations follow.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local Wrapper = S.classes.Wrapper

local function unit(v) return v * raw.Minimum(raw.Rsqrt(tf.reduce_sum(raw.Square(v))), T.value(1e7, v.dtype)) end
-- The next vector and the divided kernel; both as they are if the kernel is all zeros.
local function normalized(self, kernel, u)
  local w = tf.reshape(kernel, {-1, kernel.shape[#kernel.shape]})
  local next_u, v = u, nil
  for _ = 1, self.power_iterations do
    v = unit(raw.MatMul(next_u, w, {transpose_b = true}))
    next_u = unit(raw.MatMul(v, w))
  end
  local sigma = tf.reshape(raw.MatMul(raw.MatMul(v, w), next_u, {transpose_b = true}), {})
  local empty = tf.reduce_all(raw.Equal(kernel, tf.zeros({}, kernel.dtype)))
  return tf.stop_gradient(raw.SelectV2(empty, u, next_u)), tf.stop_gradient(raw.SelectV2(empty, kernel, kernel / sigma))
end
T.keras_layer("SpectralNormalization", "layer power_iterations=1", {
  nested = {"layer"}, autocast = false,
  init = function(self, path)
    Wrapper.init(self, path)
    T.keras_positive(self, path, "power_iterations")
  end,
  build = function(self, shape)
    if not self.layer.built then self.layer:build(shape) end
    local kernel = self.layer._by_role.kernel or self.layer._by_role.embeddings
    if not kernel then T.fail(self.name, "%s has neither a kernel nor embeddings to normalise", getmetatable(self.layer).__name) end
    rawset(self, "kernel", kernel)
    table.insert(self._own, {variable = kernel, trainable = true, name = "kernel"})
    rawset(self, "vector_u", self:add_weight {name = "vector_u", shape = {1, kernel.shape[#kernel.shape]}, dtype = kernel.dtype, trainable = false,
      initializer = T.include("keras", "initializers").classes.TruncatedNormal.new {stddev = 0.02}})
  end,
  call = function(self, x, o)
    local inner, training = self.layer, o.training
    if not training or S.stand_ins then return inner(x, {training = training}) end
    local kernel, u = self.kernel, self.vector_u
    if not T.kind(x):find "Node" then
      local new_u, new_kernel = normalized(self, kernel:value(), u:value())
      u:assign(new_u)
      kernel:assign(new_kernel)
      return inner(x, {training = true})
    end
    -- In a graph the kernel moves with the updates, by a difference so that the optimizer's step is kept whichever comes first; this call
    -- has the new value already, whose gradient is the kernel's.
    local old, old_u = T.value(kernel), T.value(u)
    local new_u, new_kernel = normalized(self, old, old_u)
    if T.kind(training) then
      local flag = tf.cast(training, "bool")
      new_u, new_kernel = raw.SelectV2(flag, new_u, old_u), raw.SelectV2(flag, new_kernel, old)
    end
    new_kernel = tf.stop_gradient(new_kernel)
    self:add_update(u:assign(new_u))
    self:add_update(kernel:assign_add(new_kernel - old))
    local before = rawget(inner, "adapt")
    rawset(inner, "adapt", function(layer, role, v)
      if v == kernel then return new_kernel + (old - tf.stop_gradient(old)) end
      local class_adapt = getmetatable(layer).adapt
      return class_adapt and class_adapt(layer, role, v) or v
    end)
    local results = table.pack(pcall(inner, x, {training = training}))
    rawset(inner, "adapt", before)
    if not results[1] then error(results[2], 0) end
    return results[2]
  end})
return true
