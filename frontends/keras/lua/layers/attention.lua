-- Attention over values: {query, value} or {query, value, key}.
local tf, T = ...
local Layer = T.include("keras", "engine/layer")
local layer = T.keras_layer

-- Query, value and key, the masks that came along, and what the call said, as the records take them.
local function inputs_of(self, xs, o, has_masks)
  local class = getmetatable(self).__name
  if T.kind(xs) or type(xs) ~= "table" or #xs < 2 or #xs > 3 then
    T.fail(self.name, "%s takes {query, value} or {query, value, key}, not %s", class, T.kind(xs) and "one value" or ("a list of %d"):format(#xs))
  end
  local mask = o.mask and not T.kind(o.mask) and o.mask or {}
  local inputs = {xs[1], xs[2], xs[3] or false, mask[1] or false, o.value_mask or mask[2] or false}
  local params = {dropout = self.dropout, seed = self.seed or nil, use_causal_mask = o.use_causal_mask or false}
  if has_masks then
    inputs[6] = o.key_mask or mask[3] or false
    inputs[7] = o.attention_mask or false
  end
  inputs.n = #inputs
  T.flexible(T.layer(self.record), inputs, params, "training", o.training)
  return inputs, params
end
local function attend(self, inputs, params, o)
  local y, scores = self:run_record(inputs, params)
  if o.return_attention_scores then return y, scores end
  return y
end
local function query_mask(_, _, mask)
  if mask and not T.kind(mask) and mask[1] then return mask[1] end
end
local function check_dropout(self, path)
  local d = self.dropout
  if type(d) ~= "number" or d < 0 or d > 1 then T.fail(path, "'dropout' must lie within 0 and 1, not %s", tostring(d)) end
end

layer("Attention", "use_scale=false score_mode=dot dropout=0 seed?", {
  record = "attention", compute_mask = query_mask,
  init = function(self, path)
    check_dropout(self, path)
    if self.score_mode ~= "dot" and self.score_mode ~= "concat" then T.fail(path, "'score_mode' must be \"dot\" or \"concat\", not '%s'", tostring(self.score_mode)) end
  end,
  call = function(self, xs, o)
    local inputs, params = inputs_of(self, xs, o)
    params.use_scale, params.score_mode = self.use_scale, self.score_mode
    return attend(self, inputs, params, o)
  end})
layer("AdditiveAttention", "use_scale=true dropout=0 seed?", {
  record = "additive_attention", compute_mask = query_mask, init = check_dropout,
  call = function(self, xs, o)
    local inputs, params = inputs_of(self, xs, o)
    params.use_scale = self.use_scale
    return attend(self, inputs, params, o)
  end})

-- Several heads: each a projection of its own. Weights query/kernel {features, heads, key_dim} and so on.
local fields = {}
for _, name in ipairs {"query", "key", "gate", "value", "attention_output"} do
  fields[name .. "/kernel"], fields[name .. "/bias"] = "kernel", "bias"
end
local projection = "kernel_initializer=glorot_uniform bias_initializer=zeros kernel_regularizer? bias_regularizer? kernel_constraint? bias_constraint?"
local function check_heads(self, path)
  check_dropout(self, path)
  if self.flash_attention and self.dropout > 0 then T.fail(path, "'flash_attention' and 'dropout' do not go together") end
  local window = self.sliding_window
  if window and (math.type(window) ~= "integer" or window < 1) then T.fail(path, "'sliding_window' must be a whole number above 0, not %s", tostring(window)) end
end
local function heads_call(names)
  return function(self, xs, o)
    local inputs, params = inputs_of(self, xs, o, true)
    for _, name in ipairs(names) do params[name] = self[name] or nil end
    params.use_bias, params.use_gate, params.sliding_window = self.use_bias, self.use_gate, self.sliding_window or nil
    params.output_shape = rawget(self, "wanted_shape") or nil
    return attend(self, inputs, params, o)
  end
end
layer("MultiHeadAttention", "num_heads key_dim value_dim? dropout=0 use_bias=true output_shape? attention_axes? sliding_window? flash_attention? " .. projection .. " use_gate=false seed?", {
  record = "multi_head_attention", weight_fields = fields, compute_mask = query_mask,
  getters = {output_shape = Layer.getters.output_shape},
  init = function(self, path)
    T.keras_positive(self, path, "num_heads", "key_dim")
    if not self.value_dim then rawset(self, "value_dim", self.key_dim) end
    T.keras_positive(self, path, "value_dim")
    check_heads(self, path)
    local wanted = rawget(self, "output_shape")
    rawset(self, "wanted_shape", type(wanted) == "number" and {wanted} or wanted)
    rawset(self, "output_shape", nil)
    if type(self.attention_axes) == "number" then rawset(self, "attention_axes", {self.attention_axes}) end
  end,
  call = heads_call {"num_heads", "key_dim", "value_dim", "attention_axes"},
  get_config = function(self)
    local out = Layer.get_config(self)
    out.output_shape = self.wanted_shape or tf.json.null
    return out
  end})
-- Several heads of queries share one of keys and values.
layer("GroupedQueryAttention", "head_dim num_query_heads num_key_value_heads dropout=0 use_bias=true sliding_window? flash_attention? " .. projection .. " use_gate=false seed?", {
  record = "grouped_query_attention", weight_fields = fields, compute_mask = query_mask,
  init = function(self, path)
    T.keras_positive(self, path, "head_dim", "num_query_heads", "num_key_value_heads")
    check_heads(self, path)
    if self.num_query_heads % self.num_key_value_heads ~= 0 then
      T.fail(path, "'num_query_heads' (%d) must be a multiple of 'num_key_value_heads' (%d)", self.num_query_heads, self.num_key_value_heads)
    end
  end,
  call = heads_call {"head_dim", "num_query_heads", "num_key_value_heads"}})
return true
