-- Dense, Activation, Flatten, Embedding, Lambda, Masking and their like, and layers around layers.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local Layer = T.include("keras", "engine/layer")
local activations = T.include("keras", "activations")
local layer = T.keras_layer

-- A whole number above 0.
function T.keras_positive(self, path, ...)
  for _, name in ipairs {...} do
    local value = self[name]
    if math.type(value) == "float" and value == math.floor(value) then value = math.tointeger(value) end
    if math.type(value) ~= "integer" or value <= 0 then T.fail(path, "'%s' must be a whole number above 0, not %s", name, tostring(self[name])) end
    rawset(self, name, value)
  end
end
-- One of a few words.
function T.keras_choice(self, path, name, words)
  local value = self[name]
  for _, word in ipairs(words) do
    if type(value) == "string" and value:lower() == word then
      rawset(self, name, word)
      return
    end
  end
  local near = type(value) == "string" and T.nearest(value, words)
  T.fail(path, "'%s' must be \"%s\", not '%s'%s", name, table.concat(words, '", "'):gsub(', ("[^"]*)$', " or %1"), tostring(value), near and ("; did you mean '%s'?"):format(near) or "")
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

local lora = " lora_rank? lora_alpha?"
local weights_and_bias = "kernel_initializer=glorot_uniform bias_initializer=zeros kernel_regularizer? bias_regularizer? kernel_constraint? bias_constraint?"
layer("Dense", "units activation? use_bias=true " .. weights_and_bias .. lora, {
  record = "dense", min_ndim = 2, supports_masking = true,
  init = function(self, path) T.keras_positive(self, path, "units") end,
  call = function(self, x) return activate(self, (self:run_record({x}, params_of(self)))) end})
layer("Activation", "activation", {
  supports_masking = true,
  call = function(self, x) return activate(self, x) end})
layer("Identity", "", {supports_masking = true, call = function(_, x) return x end})
layer("Flatten", "data_format=channels_last", {record = "flatten"})
local Embedding = layer("Embedding", "input_dim output_dim embeddings_initializer=uniform embeddings_regularizer? embeddings_constraint? mask_zero=false" .. lora, {
  record = "embedding", fixed_last = false, input_dtype = "int64", autocast = false,
  init = function(self, path) T.keras_positive(self, path, "input_dim", "output_dim") end,
  call = function(self, x)
    if not x.dtype:find "int" then x = tf.cast(x, "int64") end
    local y = self:run_record({x}, {input_dim = self.input_dim, output_dim = self.output_dim, dtype = self.dtype})
    return y.dtype ~= self.compute_dtype and tf.cast(y, self.compute_dtype) or y
  end,
  compute_mask = function(self, x) if self.mask_zero then return raw.NotEqual(x, tf.zeros({}, x.dtype)) end end})
-- An embedding, and with layer(y, {reverse = true}) the projection back: the scores of all rows for each vector.
layer("ReversibleEmbedding", "input_dim output_dim tie_weights=true embeddings_initializer=uniform embeddings_regularizer? embeddings_constraint? mask_zero=false reverse_dtype? logit_soft_cap?" .. lora, {
  call = function(self, x, o)
    local rows = self:weight("embeddings", {self.input_dim, self.output_dim}, self.dtype, "uniform", false)
    local own = not self.tie_weights and self:weight("reverse_embeddings", {self.output_dim, self.input_dim}, self.dtype, "uniform", false)
    if not o.reverse then return Embedding.call(self, x) end
    local kernel = own or rows
    if S.stand_ins then kernel = tf.zeros(kernel.shape, kernel.dtype) end
    kernel = tf.cast(kernel, self.reverse_dtype or self.compute_dtype)
    x = tf.cast(x, kernel.dtype)
    local shape = x.shape
    if shape[#shape] ~= self.output_dim then
      T.fail(self.name, "a reverse call takes vectors of %d elements; the input's shape is %s", self.output_dim, S.say_shape(shape))
    end
    local y = own and tf.einsum("...d,dv->...v", x, kernel) or tf.einsum("...d,vd->...v", x, kernel)
    if self.logit_soft_cap then y = raw.Tanh(y * (1 / self.logit_soft_cap)) * self.logit_soft_cap end
    return y
  end,
  weight_fields = {reverse_embeddings = "embeddings"}, role_order = {"embeddings", "reverse_embeddings"},
  compute_mask = function(self, x, mask)
    if x.dtype:find "int" then return Embedding.compute_mask(self, x, mask) end
  end}, Embedding)

layer("Reshape", "target_shape", {
  record = "reshape",
  init = function(self, path)
    if type(self.target_shape) == "number" then rawset(self, "target_shape", {self.target_shape}) end
    local open = 0
    for _, d in ipairs(self.target_shape) do
      if math.type(d) ~= "integer" or d < -1 then T.fail(path, "'target_shape' must have whole numbers, or -1 for what is left over, not %s", S.say_shape(self.target_shape)) end
      if d == -1 then open = open + 1 end
    end
    if open > 1 then T.fail(path, "only one extent of 'target_shape' may be -1, in %s there are %d", S.say_shape(self.target_shape), open) end
  end})
layer("Permute", "dims", {
  record = "permute",
  init = function(self, path)
    local seen = {}
    for _, d in ipairs(self.dims) do seen[d] = true end
    for i = 1, #self.dims do
      if not seen[i] then T.fail(path, "'dims' must name the axes 1 to %d once each (0 is the batch), not %s", #self.dims, S.say_shape(self.dims)) end
    end
  end})
layer("RepeatVector", "n", {
  record = "repeat_vector", ndim = 2,
  init = function(self, path) T.keras_positive(self, path, "n") end})
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
    T.fail_code(12, "get_config", ("'%s' is a Lambda: its function cannot be written down; make a class with Layer:extend"):format(self.name))
  end})
-- Steps whose values are all `mask_value` are left out by the layers behind.
layer("Masking", "mask_value=0", {
  supports_masking = true, record = "masking",
  compute_mask = function(self, x)
    local _, mask = self:run_record({x}, {mask_value = self.mask_value})
    return mask
  end,
  call = function(self, x) return (self:run_record({x}, {mask_value = self.mask_value})) end})

-- ------------------------------------------------------------------------------------- EinsumDense

layer("EinsumDense", "equation output_shape activation? bias_axes? " .. weights_and_bias .. lora, {
  record = "einsum_dense",
  init = function(self, path)
    rawset(self, "equation", (tostring(self.equation):gsub("%s", "")))
    if not self.equation:match "^[%a%.]+,%a+%->[%a%.]+$" then T.fail(path, "'equation' must look like \"ab,bc->ac\", not '%s'", self.equation) end
    local wanted = rawget(self, "output_shape")
    local list = {}
    for i, d in ipairs(type(wanted) == "table" and wanted or {wanted}) do list[i] = math.type(d) == "integer" and d or -1 end
    rawset(self, "wanted_shape", list)
    rawset(self, "output_shape", nil)
  end,
  getters = {output_shape = Layer.getters.output_shape},
  call = function(self, x)
    return activate(self, (self:run_record({x}, {equation = self.equation, output_shape = self.wanted_shape, bias_axes = self.bias_axes or nil})))
  end,
  get_config = function(self)
    local out = Layer.get_config(self)
    out.output_shape = {}
    for i, d in ipairs(self.wanted_shape) do out.output_shape[i] = d >= 0 and d or tf.json.null end
    return out
  end})

-- ------------------------------------------------------------------------------------- around layers

local Wrapper = layer("Wrapper", "layer", {nested = {"layer"}, autocast = false,
  init = function(self, path)
    if not S.is_layer(self.layer) then T.fail(path, "'layer' must be a layer, not %s", T.kind(self.layer) or type(self.layer)) end
    Layer.track(self, self.layer)
  end})
-- The layer for each step of the second axis: batch and steps become one axis for the inner layer.
layer("TimeDistributed", "layer", {nested = {"layer"}, autocast = false, supports_masking = true, min_ndim = 3,
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
return true
