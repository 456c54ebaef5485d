-- What types layers compute in and keep their weights in.
--
-- A policy is a type ("float32": both), or "mixed_float16" and "mixed_bfloat16": 16 bits for values, float32 for weights. A layer without
-- a `dtype` has the policy of tf.keras.mixed_precision.set_global_policy, which is keras.backend.floatx() where none was set.
local tf, T = ...
local S = T.include("keras", "engine/state")
S.settings = S.settings or {floatx = "float32", epsilon = 1e-7}
local floats = {float16 = true, bfloat16 = true, float32 = true, float64 = true}
S.is_float = floats
local _ = tf.mixed_precision.Policy -- loads T.dtype_policy: policies are those of tf.mixed_precision

-- The policy of a name, an object, what get_config wrote; nil: the global one.
function S.policy(x, who)
  if x == nil or x == false or x == tf.json.null then return T.layer_policy or T.dtype_policy(S.settings.floatx) end
  return T.dtype_policy(x, who or "tf.keras.mixed_precision.Policy")
end

local mixed = T.keras_namespace "mixed_precision"
T.def("tf.keras.mixed_precision.Policy", "name", function(name) return S.policy(name, "tf.keras.mixed_precision.Policy") end)
T.def("tf.keras.mixed_precision.set_global_policy", "policy", function(policy)
  T.layer_policy = S.policy(policy, "tf.keras.mixed_precision.set_global_policy")
end)
T.def("tf.keras.mixed_precision.global_policy", "", function() return S.policy() end)
for name, old in pairs {DTypePolicy = "Policy", set_dtype_policy = "set_global_policy", dtype_policy = "global_policy"} do rawset(mixed, name, mixed[old]) end
return S
