-- Dense, Activation, Flatten, Embedding, Lambda, Masking and their like, and layers around layers.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local Layer = T.include("keras", "engine/layer")
local activations = T.include("keras", "activations")
local layer = T.keras_layer
local list_of = S.list_of

-- A whole number above 0.
function T.keras_positive(self, path, ...)
  for _, name in ipairs {...} do
    local value = self[name]
    if math.type(value) == "float" and value == math.floor(value) then value = math.tointeger(value) end
    if math.type(value) ~= "integer" or value <= 0 then T.fail(path, "'%s' must be a whole number above 0, not %s", name, tostring(self[name])) end
    rawset(self, name, value)
  end
end
-- Applies the field `activation`.
local function activate(self, y)
  if not self.activation or self.activation == activations.linear then return y end
  return self.activation(y)
end
T.keras_activate = activate
-- The record's parameters without `activation`, which is a function here.
local function params_of(self)
  local params = self:record_params()
  params.activation = nil
  return params
end
T.keras_params = params_of

local weights_and_bias = "kernel_initializer=glorot_uniform bias_initializer=zeros kernel_regularizer? bias_regularizer? kernel_constraint? bias_constraint?"
layer("Dense", "units activation? use_bias=true " .. weights_and_bias, {
  record = "dense", min_ndim = 2, supports_masking = true,
  init = function(self, path) T.keras_positive(self, path, "units") end,
  call = function(self, x) return activate(self, (self:run_record({x}, params_of(self)))) end})
layer("Activation", "activation", {
  supports_masking = true,
  call = function(self, x) return activate(self, x) end})
layer("Identity", "", {supports_masking = true, call = function(_, x) return x end})
layer("Flatten", "data_format=channels_last", {record = "flatten"})
layer("Embedding", "input_dim output_dim embeddings_initializer=uniform embeddings_regularizer? embeddings_constraint? mask_zero=false", {
  input_dtype = "int64",
  init = function(self, path)
    T.keras_positive(self, path, "input_dim", "output_dim")
  end,
  call = function(self, x)
    local dtype = T.kind(x) and x.dtype
    if dtype and not dtype:find "int" then x = tf.cast(x, "int64") end
    return (self:run_record({x}, {input_dim = self.input_dim, output_dim = self.output_dim}, "embedding"))
  end,
  compute_mask = function(self, x) if self.mask_zero then return raw.NotEqual(x, tf.zeros({}, x.dtype)) end end})

-- Extents of a target shape, one of which may be open.
local function filled(self, known, target)
  local open, n, m = nil, 1, 1
  for i, d in ipairs(target) do
    if d == -1 then
      if open then T.fail(self.name, "only one extent of the target shape may be -1, in %s there are two", S.say_shape(target)) end
      open = i
    else
      m = m * d
    end
  end
  for i = 2, #known do
    if known[i] < 0 then return target end
    n = n * known[i]
  end
  if open and m > 0 and n % m == 0 then
    local out = {table.unpack(target)}
    out[open] = n // m
    return out
  end
  if open or n ~= m then
    T.fail(self.name, "a sample of shape %s (%d elements) cannot become %s (%s)", S.say_shape {table.unpack(known, 2)}, n, S.say_shape(target),
      open and "no whole number fits" or ("%d elements"):format(m))
  end
  return target
end
layer("Reshape", "target_shape", {
  init = function(self) if type(self.target_shape) == "number" then rawset(self, "target_shape", {self.target_shape}) end end,
  call = function(self, x)
    local target = filled(self, x.shape, self.target_shape)
    local shape = x.shape
    if shape[1] >= 0 then return tf.reshape(x, {shape[1], table.unpack(target)}) end
    return tf.reshape(x, {-1, table.unpack(target)})
  end})
layer("Permute", "dims", {
  init = function(self, path)
    local seen = {}
    for _, d in ipairs(self.dims) do seen[d] = true end
    for i = 1, #self.dims do
      if not seen[i] then T.fail(path, "'dims' must name the axes 1 to %d once each (0 is the batch), not %s", #self.dims, S.say_shape(self.dims)) end
    end
  end,
  call = function(self, x)
    if #x.shape ~= #self.dims + 1 then T.fail(self.name, "Permute with %d dims expects an input of rank %d; its shape is %s", #self.dims, #self.dims + 1, S.say_shape(x.shape)) end
    return tf.transpose(x, {0, table.unpack(self.dims)})
  end})
layer("RepeatVector", "n", {
  ndim = 2,
  init = function(self, path) T.keras_positive(self, path, "n") end,
  call = function(self, x) return tf.tile(raw.ExpandDims(x, 1), {1, self.n, 1}) end})
-- A function of a script as a layer: function(x) or function(x, arguments).
layer("Lambda", "function output_shape? mask? arguments?", {
  supports_masking = true,
  init = function(self, path)
    if type(self["function"]) ~= "function" then T.fail(path, "'function' must be a function, not %s", type(self["function"])) end
  end,
  call = function(self, x) return self["function"](x, self.arguments) end,
  compute_mask = function(self, x, mask)
    if type(self.mask) == "function" then return self.mask(x, mask) end
    return self.mask or mask
  end,
  get_config = function(self)
    T.fail_code(12, "get_config", "'%s' is a Lambda: its function cannot be written down; make a class with Layer:extend", self.name)
  end})
-- Steps whose values are all `mask_value` are left out by the layers behind.
layer("Masking", "mask_value=0", {
  supports_masking = true,
  compute_mask = function(self, x) return tf.reduce_any(raw.NotEqual(x, T.value(self.mask_value, x.dtype)), {axis = -1}) end,
  call = function(self, x)
    local keep = tf.reduce_any(raw.NotEqual(x, T.value(self.mask_value, x.dtype)), {axis = -1, keepdims = true})
    return x * tf.cast(keep, x.dtype)
  end})
layer("ActivityRegularization", "l1=0 l2=0", {
  supports_masking = true,
  init = function(self)
    rawset(self, "activity_regularizer", T.include("keras", "regularizers").classes.L1L2.new(self.l1, self.l2))
  end,
  call = function(_, x) return x end})

-- ------------------------------------------------------------------------------------- EinsumDense

layer("EinsumDense", "equation output_shape activation? bias_axes? " .. weights_and_bias, {
  init = function(self, path)
    local left, right, out = self.equation:gsub("%s", ""):match "^([%a%.]+),([%a%.]+)%->([%a%.]+)$"
    if not left then T.fail(path, "'equation' must look like \"ab,bc->ac\", not '%s'", self.equation) end
    rawset(self, "parts", {left, right, out})
    local wanted = rawget(self, "output_shape")
    rawset(self, "wanted_shape", type(wanted) == "number" and {wanted} or wanted)
    rawset(self, "output_shape", nil)
  end,
  getters = {output_shape = Layer.getters.output_shape},
  build = function(self, shape)
    local left, right, out = table.unpack(self.parts)
    local extent = {}
    local function walk(labels, dims)
      local before, after = labels:match "^(%a*)%.%.%.(%a*)$"
      if not before then before, after = labels, "" end
      for i = 1, #before do
        local d = dims[i]
        if d and d > 0 then extent[before:sub(i, i)] = d end
      end
      for i = 1, #after do
        local d = dims[#dims - #after + i]
        if d and d > 0 then extent[after:sub(i, i)] = d end
      end
    end
    local target = {}
    for i, d in ipairs(self.wanted_shape) do target[i] = (d == tf.json.null or not d) and -1 or d end
    walk(left, shape)
    local labels = out:match "^%a?(.*)$" -- without the batch
    if out:find "%.%.%." and out:sub(1, 3) == "..." then labels = out end
    walk(labels, target)
    local kernel = {}
    for i = 1, #right do
      local label = right:sub(i, i)
      if not extent[label] then T.fail(self.name, "the extent of axis '%s' of the kernel is not known from the input %s and output_shape %s", label, S.say_shape(shape), S.say_shape(target)) end
      kernel[i] = extent[label]
    end
    rawset(self, "kernel", self:add_weight {name = "kernel", shape = kernel, initializer = self.kernel_initializer, regularizer = self.kernel_regularizer, constraint = self.kernel_constraint})
    if self.bias_axes then
      local bias, first = {}, nil
      local order = out:gsub("%.%.%.", "")
      for i = 1, #order do
        local label = order:sub(i, i)
        local has = self.bias_axes:find(label, 1, true)
        if has and not first then first = i end
        if first then bias[#bias + 1] = has and extent[label] or 1 end
      end
      rawset(self, "bias", self:add_weight {name = "bias", shape = bias, initializer = self.bias_initializer, regularizer = self.bias_regularizer, constraint = self.bias_constraint})
    end
  end,
  call = function(self, x)
    local y = tf.einsum(self.equation, x, self.kernel)
    if rawget(self, "bias") then y = y + self.bias end
    return activate(self, y)
  end,
  get_config = function(self)
    local out = Layer.get_config(self)
    out.output_shape = self.wanted_shape
    return out
  end})

-- ------------------------------------------------------------------------------------- around layers

local Wrapper = layer("Wrapper", "layer", {nested = {"layer"},
  init = function(self, path)
    if not S.is_layer(self.layer) then T.fail(path, "'layer' must be a layer, not %s", T.kind(self.layer) or type(self.layer)) end
    Layer.track(self, self.layer)
  end})
-- The layer for each step of the second axis: batch and steps become one axis for the inner layer.
layer("TimeDistributed", "layer", {nested = {"layer"}, supports_masking = true, min_ndim = 3,
  init = Wrapper.init,
  call = function(self, x, o)
    local shape = x.shape
    local steps, batch = shape[2], shape[1]
    if steps < 0 and batch < 0 then
      local dynamic = tf.shape(x)
      local y = self.layer(tf.reshape(x, {-1, table.unpack(shape, 3)}), {training = o.training})
      local rest = y.shape
      local parts = {dynamic[{{1, 2}}]}
      parts[2] = tf.tensor({table.unpack(rest, 2)}, "int32")
      local out = tf.reshape(y, tf.concat(parts, 0))
      out:set_shape {-1, -1, table.unpack(rest, 2)}
      return out
    end
    local y = self.layer(tf.reshape(x, {batch >= 0 and steps >= 0 and batch * steps or -1, table.unpack(shape, 3)}), {training = o.training})
    return tf.reshape(y, {batch >= 0 and batch or -1, steps >= 0 and steps or -1, table.unpack(y.shape, 2)})
  end})
local _ = list_of
return true
