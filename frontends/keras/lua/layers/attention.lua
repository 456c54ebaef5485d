-- Attention over values: {query, value} or {query, value, key}.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local Layer = T.include("keras", "engine/layer")
local layer = T.keras_layer

local function three(self, xs)
  if T.kind(xs) or #xs < 2 or #xs > 3 then T.fail(self.name, "%s takes {query, value} or {query, value, key}", getmetatable(self).__name) end
  return xs[1], xs[2], xs[3] or xs[2]
end
-- 1 where an element may be looked at.
local function causal_mask(scores)
  local rank = #scores.shape
  local q, k = scores.shape[rank - 1], scores.shape[rank]
  if q < 0 or k < 0 then
    local s = tf.shape(scores)
    local function at(i) return tf.reshape(tf.slice(s, {i - 1}, {1}), {}) end
    local rows = tf.expand_dims(tf.range(at(rank - 1)), 1)
    local columns = tf.expand_dims(tf.range(at(rank)), 0)
    return raw.LessEqual(columns, rows)
  end
  return raw.LessEqual(tf.expand_dims(tf.range(k), 0), tf.expand_dims(tf.range(q), 1))
end
local function both(a, b) return a and b and raw.LogicalAnd(a, b) or a or b end
local function attend(self, scores, value, mask, o)
  if mask then scores = scores - (1 - tf.cast(mask, scores.dtype)) * (scores.dtype == "float16" and 65504 or 1e9) end
  local weights = tf.nn.softmax(scores)
  if self.dropout > 0 and o.training then weights = tf.nn.dropout(weights, {rate = self.dropout, seed = self.seed or nil}) end
  return raw.BatchMatMulV2(weights, value), weights
end
local function masks_of(o)
  local mask = o.mask
  if not mask or T.kind(mask) then return nil, nil end
  return mask[1] or nil, mask[2] or nil
end
local function masked_query(y, mask)
  if mask then return y * tf.cast(tf.expand_dims(mask, -1), y.dtype) end
  return y
end
local function given(self, o, y, weights) if o.return_attention_scores then return y, weights end return y end

local function whole(self, xs, o, scores)
  local _, value = three(self, xs)
  local q_mask, v_mask = masks_of(o)
  local mask = v_mask and tf.expand_dims(v_mask, -2)
  if o.use_causal_mask then mask = both(mask, tf.expand_dims(causal_mask(scores), 0)) end
  local y, weights = attend(self, scores, value, mask, o)
  return given(self, o, masked_query(y, q_mask), weights)
end
local function query_mask(_, _, mask)
  if mask and not T.kind(mask) and mask[1] then return mask[1] end
end
layer("Attention", "use_scale=false score_mode=dot dropout=0 seed?", {compute_mask = query_mask,
  init = function(self, path)
    if self.score_mode ~= "dot" and self.score_mode ~= "concat" then T.fail(path, "'score_mode' must be \"dot\" or \"concat\", not '%s'", tostring(self.score_mode)) end
  end,
  build = function(self)
    if self.use_scale then rawset(self, "scale", self:add_weight {name = "scale", shape = {}, initializer = "ones"}) end
    if self.score_mode == "concat" then rawset(self, "concat_score_weight", self:add_weight {name = "concat_score_weight", shape = {}, initializer = "ones"}) end
  end,
  call = function(self, xs, o)
    local query, _, key = three(self, xs)
    local scores
    if self.score_mode == "dot" then
      scores = raw.BatchMatMulV2(query, key, {adj_y = true})
      if self.use_scale then scores = scores * self.scale end
    else
      local sum = tf.expand_dims(query, -2) + tf.expand_dims(key, -3)
      if self.use_scale then sum = sum * self.scale end
      scores = tf.reduce_sum(raw.Tanh(sum), {axis = -1}) * self.concat_score_weight
    end
    return whole(self, xs, o, scores)
  end})
layer("AdditiveAttention", "use_scale=true dropout=0 seed?", {compute_mask = query_mask,
  build = function(self, shapes)
    if self.use_scale then
      local last = shapes[1]
      rawset(self, "scale", self:add_weight {name = "scale", shape = {last[#last]}, initializer = "glorot_uniform"})
    end
  end,
  call = function(self, xs, o)
    local query, _, key = three(self, xs)
    local sum = raw.Tanh(tf.expand_dims(query, -2) + tf.expand_dims(key, -3))
    if self.use_scale then sum = sum * self.scale end
    return whole(self, xs, o, tf.reduce_sum(sum, {axis = -1}))
  end})

-- Several heads: each a projection of its own (Vaswani et al., 2017). Weights query/kernel {features, heads, key_dim} and so on.
local function projections(self, names)
  local parts = {kernel_initializer = self.kernel_initializer, bias_initializer = self.bias_initializer, kernel_regularizer = self.kernel_regularizer,
    bias_regularizer = self.bias_regularizer, kernel_constraint = self.kernel_constraint, bias_constraint = self.bias_constraint}
  for _, p in ipairs(names) do
    local name, shape, bias = p[1], p[2], p[3]
    rawset(self, name .. "_kernel", self:add_weight {name = name .. "/kernel", shape = shape, initializer = parts.kernel_initializer, regularizer = parts.kernel_regularizer, constraint = parts.kernel_constraint})
    if self.use_bias then
      rawset(self, name .. "_bias", self:add_weight {name = name .. "/bias", shape = bias, initializer = parts.bias_initializer, regularizer = parts.bias_regularizer, constraint = parts.bias_constraint})
    end
  end
end
local function project(self, name, x, equation)
  local y = tf.einsum(equation, x, self[name .. "_kernel"])
  if self.use_bias then y = y + self[name .. "_bias"] end
  return y
end
-- The mask of who looks at whom, {batch, 1, query, key}. That of the query is for what comes behind: its rows attend as any.
local function head_mask(o, scores)
  local v_mask, k_mask
  if o.mask and not T.kind(o.mask) then v_mask, k_mask = o.mask[2] or nil, o.mask[3] or nil end
  v_mask, k_mask = o.value_mask or v_mask, o.key_mask or k_mask
  local mask
  mask = both(mask, v_mask and tf.expand_dims(v_mask, -2))
  mask = both(mask, k_mask and tf.expand_dims(k_mask, -2))
  if o.attention_mask then mask = both(mask, tf.cast(o.attention_mask, "bool")) end
  if mask and #mask.shape < 4 then mask = tf.expand_dims(mask, -3) end
  if o.use_causal_mask then mask = both(mask, tf.expand_dims(tf.expand_dims(causal_mask(scores), 0), 0)) end
  return mask
end
layer("MultiHeadAttention", "num_heads key_dim value_dim? dropout=0 use_bias=true output_shape? attention_axes? kernel_initializer=glorot_uniform bias_initializer=zeros kernel_regularizer? bias_regularizer? kernel_constraint? bias_constraint? seed?", {
  compute_mask = query_mask,
  getters = {output_shape = Layer.getters.output_shape},
  init = function(self, path)
    T.keras_positive(self, path, "num_heads", "key_dim")
    if not self.value_dim then rawset(self, "value_dim", self.key_dim) end
    rawset(self, "wanted_shape", rawget(self, "output_shape"))
    rawset(self, "output_shape", nil)
    if type(self.attention_axes) == "number" then rawset(self, "attention_axes", {self.attention_axes}) end
  end,
  build = function(self, shapes)
    local q, v = shapes[1], shapes[2] or shapes[1]
    local k = shapes[3] or v
    local h, d, e = self.num_heads, self.key_dim, self.value_dim
    local out = self.wanted_shape or q[#q]
    if type(out) == "table" then out = out[1] end
    rawset(self, "features", out)
    projections(self, {{"query", {q[#q], h, d}, {h, d}}, {"key", {k[#k], h, d}, {h, d}}, {"value", {v[#v], h, e}, {h, e}},
      {"attention_output", {h, e, out}, {out}}})
  end,
  call = function(self, xs, o)
    local query, value, key = three(self, xs)
    local rank = #query.shape
    if rank < 3 then T.fail(self.name, "MultiHeadAttention expects inputs of rank 3 or more (batch, steps, features); the query's shape is %s", S.say_shape(query.shape)) end
    local inner
    if rank > 3 then -- all axes between batch and features together
      local axes = self.attention_axes or {}
      for i, axis in ipairs(axes) do
        if axis ~= i or #axes ~= rank - 2 then T.fail_code(12, self.name, "'attention_axes' must be all axes between the batch and the features: of inputs of this rank 1 to " .. rank - 2) end
      end
      local function flat(x)
        local n = 1
        for a = 2, #x.shape - 1 do n = n < 0 and -1 or x.shape[a] < 0 and -1 or n * x.shape[a] end
        return tf.reshape(x, {x.shape[1], n, x.shape[#x.shape]})
      end
      inner = {table.unpack(query.shape, 2, rank - 1)}
      query, key, value = flat(query), flat(key), flat(value)
    end
    local q = project(self, "query", query, "btf,fhd->bthd") * (1 / math.sqrt(self.key_dim))
    local k = project(self, "key", key, "bsf,fhd->bshd")
    local v = project(self, "value", value, "bsf,fhd->bshd")
    local scores = raw.BatchMatMulV2(tf.transpose(q, {0, 2, 1, 3}), tf.transpose(k, {0, 2, 3, 1}))
    local y, weights = attend(self, scores, tf.transpose(v, {0, 2, 1, 3}), head_mask(o, scores), o)
    y = project(self, "attention_output", tf.transpose(y, {0, 2, 1, 3}), "bthd,hdf->btf")
    if inner then
      table.insert(inner, 1, y.shape[1])
      inner[#inner + 1] = y.shape[3]
      y = tf.reshape(y, inner)
    end
    return given(self, o, y, weights)
  end,
  get_config = function(self)
    local out = Layer.get_config(self)
    out.output_shape = self.wanted_shape or tf.json.null
    return out
  end})
-- Several heads of queries share one of keys and values.
layer("GroupedQueryAttention", "head_dim num_query_heads num_key_value_heads dropout=0 use_bias=true kernel_initializer=glorot_uniform bias_initializer=zeros kernel_regularizer? bias_regularizer? kernel_constraint? bias_constraint? seed?", {
  compute_mask = query_mask,
  init = function(self, path)
    T.keras_positive(self, path, "head_dim", "num_query_heads", "num_key_value_heads")
    if self.num_query_heads % self.num_key_value_heads ~= 0 then T.fail(path, "'num_query_heads' (%d) must be a multiple of 'num_key_value_heads' (%d)", self.num_query_heads, self.num_key_value_heads) end
  end,
  build = function(self, shapes)
    local q, v = shapes[1], shapes[2]
    local k = shapes[3] or v
    local d, h, g = self.head_dim, self.num_query_heads, self.num_key_value_heads
    projections(self, {{"query", {q[#q], h, d}, {h, d}}, {"key", {k[#k], g, d}, {g, d}}, {"value", {v[#v], g, d}, {g, d}},
      {"attention_output", {h, d, q[#q]}, {q[#q]}}})
  end,
  call = function(self, xs, o)
    local query, value, key = three(self, xs)
    local each = self.num_query_heads // self.num_key_value_heads
    local q = project(self, "query", query, "btf,fhd->bthd") * (1 / math.sqrt(self.head_dim))
    local k = T.keras_repeat(project(self, "key", key, "bsf,fhd->bshd"), each, 2)
    local v = T.keras_repeat(project(self, "value", value, "bsf,fhd->bshd"), each, 2)
    local scores = raw.BatchMatMulV2(tf.transpose(q, {0, 2, 1, 3}), tf.transpose(k, {0, 2, 3, 1}))
    local y, weights = attend(self, scores, tf.transpose(v, {0, 2, 1, 3}), head_mask(o, scores), o)
    y = project(self, "attention_output", tf.transpose(y, {0, 2, 1, 3}), "bthd,hdf->btf")
    return given(self, o, y, weights)
  end})
return true
