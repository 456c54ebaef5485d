-- Layers that prepare numbers and categories: rescaled, normalised, put into bins, encoded as vectors.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local Layer = T.include("keras", "engine/layer")
local layer = T.keras_layer

-- Category numbers {..., k} as vectors: "one_hot" each for itself; "multi_hot" and "count" those of a row (axis 1) together.
local function encoded(self, x, mode, depth, dtype, weights)
  if mode == "int" then return x.dtype ~= dtype and tf.cast(x, dtype) or x end
  if #x.shape == 0 then x = tf.expand_dims(x, 0) end
  local rank = #x.shape
  if mode == "one_hot" then
    if rank > 1 and x.shape[rank] == 1 then x = raw.Squeeze(x, {squeeze_dims = {rank - 1}}) end
    return tf.one_hot(x, depth, {dtype = dtype})
  end
  local ones = tf.one_hot(x, depth, {dtype = dtype})
  local axis = rank > 1 and 1 or 0
  if mode == "multi_hot" then return tf.reduce_max(ones, {axis = axis}) end
  if weights then ones = ones * tf.expand_dims(tf.cast(weights, dtype), -1) end
  return tf.reduce_sum(ones, {axis = axis})
end
T.keras_encoded = encoded
local function check_mode(self, path, ...)
  if self.output_mode == "binary" then rawset(self, "output_mode", "multi_hot") end
  if self.output_mode == "tf-idf" then rawset(self, "output_mode", "tf_idf") end
  T.keras_choice(self, path, "output_mode", {...})
  if self.sparse then T.fail_code(12, path, "'sparse' is not supported") end
end
T.keras_check_mode = check_mode
-- Batches of what adapt() is given: a tensor, or a dataset or list of them.
function T.keras_each_batch(data, who, fn)
  if T.kind(data) == "Tensor" then return fn(data) end
  if T.kind(data) == "Dataset" then
    local iterator = data:iterator()
    for batch in function() return iterator:next() end do fn(type(batch) == "table" and not T.kind(batch) and batch[1] or batch) end
    return
  end
  if type(data) == "table" and (type(data[1]) == "number" or type(data[1]) == "string" or type(data[1]) == "table" and T.kind(data[1]) == nil) then return fn(tf.tensor(data)) end
  if type(data) == "table" and T.kind(data[1]) then
    for _, batch in ipairs(data) do fn(batch) end
    return
  end
  T.fail(who, "adapt expects a tensor, a list of tensors or a dataset, not %s", T.kind(data) or type(data))
end

layer("Rescaling", "scale offset=0", {supports_masking = true,
  call = function(self, x)
    if x.dtype ~= self.compute_dtype then x = tf.cast(x, self.compute_dtype) end
    return x * T.value(self.scale, x.dtype) + T.value(self.offset, x.dtype)
  end})
-- (x - mean) / max(sqrt(variance), 1e-7) along `axis`; adapt(data) measures both.
layer("Normalization", "axis=-1 mean? variance? invert=false", {supports_masking = true,
  init = function(self, path)
    local axis = self.axis
    rawset(self, "axis", (axis == nil or axis == false) and {} or type(axis) == "number" and {axis} or axis)
    if (self.mean == nil) ~= (self.variance == nil) then T.fail(path, "'mean' and 'variance' go together: give both, or none and call adapt") end
  end,
  build = function(self, shape)
    local rank, kept, extents, wide, reduce = #shape, {}, {}, {}, {}
    for _, a in ipairs(self.axis) do
      if a < -rank or a >= rank then T.fail(self.name, "'axis' has %d for an input of rank %d", a, rank) end
      kept[a < 0 and a + rank or a] = true
    end
    for a = 0, rank - 1 do
      wide[a + 1] = 1
      if kept[a] then
        local d = shape[a + 1]
        if d < 0 then T.fail(self.name, "extent %d must be known; the input's shape is %s", a, S.say_shape(shape)) end
        extents[#extents + 1], wide[a + 1] = d, d
      else
        reduce[#reduce + 1] = a
      end
    end
    rawset(self, "_wide", wide)
    rawset(self, "_reduce", reduce)
    if self.mean == nil then
      rawset(self, "adapt_mean", self:add_weight {name = "mean", shape = extents, initializer = "zeros", trainable = false})
      rawset(self, "adapt_variance", self:add_weight {name = "variance", shape = extents, initializer = "ones", trainable = false})
      rawset(self, "adapt_count", self:add_weight {name = "count", shape = {}, dtype = "int64", initializer = "zeros", trainable = false})
    end
  end,
  adapt = function(self, data)
    if self.mean ~= nil then T.fail("adapt", "'%s' was given its mean and variance", self.name) end
    tf.eager(function()
      local mean, variance, total
      T.keras_each_batch(data, self.name, function(batch)
        if not self.built then
          self:build {table.unpack(batch.shape)}
          rawset(self, "built", true)
        end
        local x, n = tf.cast(batch, "float64"), 1
        for _, a in ipairs(self._reduce) do n = n * batch.shape[a + 1] end
        local m = tf.reduce_mean(x, {axis = self._reduce})
        local v = tf.reduce_mean(tf.square(x - tf.reduce_mean(x, {axis = self._reduce, keepdims = true})), {axis = self._reduce})
        if not mean then mean, variance, total = m, v, n else
          local k = n / (total + n)
          local both = mean * (1 - k) + m * k
          variance = (variance + tf.square(mean - both)) * (1 - k) + (v + tf.square(m - both)) * k
          mean, total = both, total + n
        end
      end)
      if not mean then T.fail("adapt", "'%s' got no data", self.name) end
      T.keras_load(self.adapt_mean, tf.cast(mean, self.dtype))
      T.keras_load(self.adapt_variance, tf.cast(variance, self.dtype))
    end)
  end,
  call = function(self, x)
    if x.dtype ~= self.compute_dtype then x = tf.cast(x, self.compute_dtype) end
    local function wide(given, weight)
      if given ~= nil then
        local t = T.kind(given) and given or tf.tensor(given, x.dtype)
        return #t.shape > 0 and tf.reshape(T.value(t, x.dtype), self._wide) or T.value(t, x.dtype)
      end
      if S.stand_ins then return tf.zeros(self._wide, x.dtype) end
      return tf.reshape(tf.cast(weight, x.dtype), self._wide)
    end
    local mean, variance = wide(self.mean, self.adapt_mean), wide(self.variance, self.adapt_variance)
    local deviation = raw.Maximum(raw.Sqrt(variance), T.value(1e-7, x.dtype))
    if self.invert then return mean + x * deviation end
    return (x - mean) / deviation
  end})
-- Numbers of bins: 0 below the first boundary, n from the last one on; adapt(data) sets boundaries between bins of equal counts.
layer("Discretization", "bin_boundaries? num_bins? epsilon=0.01 output_mode=int sparse=false", {autocast = false,
  init = function(self, path)
    check_mode(self, path, "int", "one_hot", "multi_hot", "count")
    if (self.bin_boundaries == nil) == (self.num_bins == nil) then T.fail(path, "give either 'bin_boundaries' or 'num_bins'") end
  end,
  adapt = function(self, data)
    if not self.num_bins then T.fail("adapt", "'%s' was given its boundaries", self.name) end
    local all = {}
    tf.eager(function()
      T.keras_each_batch(data, self.name, function(batch) for _, v in ipairs(tf.reshape(tf.cast(batch, "float64"), {-1}):table()) do all[#all + 1] = v end end)
    end)
    table.sort(all)
    local list = {}
    for i = 1, self.num_bins - 1 do list[i] = all[math.min(#all, #all * i // self.num_bins + 1)] end
    rawset(self, "bin_boundaries", list)
  end,
  call = function(self, x)
    if not self.bin_boundaries then T.fail(self.name, "there are no boundaries yet: call adapt(data)") end
    local list = {}
    for i, b in ipairs(self.bin_boundaries) do list[i] = b + 0.0 end
    return encoded(self, raw.Bucketize(x, {boundaries = list}), self.output_mode, #list + 1, self.compute_dtype)
  end,
  compute_mask = function() return nil end})
layer("CategoryEncoding", "num_tokens output_mode=multi_hot sparse=false", {autocast = false, input_dtype = "int64",
  init = function(self, path)
    T.keras_positive(self, path, "num_tokens")
    check_mode(self, path, "multi_hot", "one_hot", "count")
  end,
  call = function(self, x, o)
    local weights = o.count_weights
    if type(x) == "table" and not T.kind(x) then x, weights = x[1], x[2] end
    if weights and self.output_mode ~= "count" then T.fail(self.name, "'count_weights' go with output_mode = \"count\" only") end
    if not x.dtype:find "int" then x = tf.cast(x, "int64") end
    return encoded(self, x, self.output_mode, self.num_tokens, self.compute_dtype, weights)
  end})
local _ = Layer
return true
