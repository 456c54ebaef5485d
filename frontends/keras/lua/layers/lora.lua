-- Low-rank adaptation (Hu et al., 2021): a kernel that stays as it is, plus a product of two small ones that are trained.
--
--     local layer = keras.layers.Dense(64, {lora_rank = 4})   -- or, once it is built:
--     layer:enable_lora(4)
local tf, T = ...
local S = T.include("keras", "engine/state")

local function add(self, base, w)
  local shape = {table.unpack(w.shape)}
  local last = table.remove(shape)
  shape[#shape + 1] = self.lora_rank
  local penalty = self[base .. "_regularizer"]
  local function weight(name, extents, initializer)
    local v = self:add_weight {name = name, shape = extents, initializer = initializer, regularizer = penalty, dtype = self.dtype == "float64" and "float64" or "float32"}
    self._by_role[name] = v
  end
  weight("lora_" .. base .. "_a", shape, self.lora_a or "he_uniform")
  weight("lora_" .. base .. "_b", {self.lora_rank, last}, self.lora_b or "zeros")
  for _, own in ipairs(self._own) do if own.variable == w then own.trainable, own.adapted = false, true end end
end
local function methods_for(base)
  local a, b = "lora_" .. base .. "_a", "lora_" .. base .. "_b"
  return {
    on_weight = function(self, role, v) if role == base and self.lora_rank then add(self, base, v) end end,
    adapt = function(self, role, v)
      if role ~= base or not self.lora_rank then return v end
      local left, right = T.value(self._by_role[a]), T.value(self._by_role[b])
      local delta = tf.matmul(tf.reshape(left, {-1, self.lora_rank}), right)
      return v + tf.cast(tf.reshape(delta, v.shape) * ((self.lora_alpha or self.lora_rank) / self.lora_rank), v.dtype)
    end,
    enable_lora = function(self, rank, lora_alpha, a_initializer, b_initializer)
      if type(rank) == "table" then rank, lora_alpha, a_initializer, b_initializer = rank.rank, rank.lora_alpha, rank.a_initializer, rank.b_initializer end
      if type(lora_alpha) == "table" then lora_alpha, a_initializer, b_initializer = lora_alpha.lora_alpha, lora_alpha.a_initializer, lora_alpha.b_initializer end
      local w = self._by_role[base]
      if not w then T.fail("enable_lora", "'%s' is not built yet: call it, or build(input_shape), first", self.name) end
      if self.lora_rank then T.fail("enable_lora", "'%s' has LoRA already, of rank %d", self.name, self.lora_rank) end
      if math.type(rank) ~= "integer" or rank < 1 then T.fail("enable_lora", "'rank' must be a whole number above 0, not %s", tostring(rank)) end
      if self[base .. "_constraint"] then T.fail("enable_lora", "'%s' has a %s_constraint, with which LoRA does not go together", self.name, base) end
      rawset(self, "lora_rank", rank)
      rawset(self, "lora_alpha", lora_alpha or rank)
      rawset(self, "lora_a", a_initializer)
      rawset(self, "lora_b", b_initializer)
      add(self, base, w)
      rawset(self, "step_plans", nil)
    end}
end
for class, base in pairs {Dense = "kernel", EinsumDense = "kernel", Conv1D = "kernel", Conv2D = "kernel", Conv3D = "kernel", Embedding = "embeddings"} do
  local methods, init = methods_for(base), S.classes[class].init
  for name, fn in pairs(methods) do S.classes[class][name] = fn end
  S.classes[class].init = function(self, path)
    if init then init(self, path) end
    if self.lora_rank then T.keras_positive(self, path, "lora_rank") end
    if self.lora_rank and self[base .. "_constraint"] then T.fail(path, "'lora_rank' and '%s_constraint' do not go together", base) end
  end
  S.classes[class].role_order = {base, "bias", "lora_" .. base .. "_a", "lora_" .. base .. "_b"}
end
return true
