-- What types layers compute in and keep their weights in.
--
-- A policy is a type ("float32": both), or "mixed_float16" and "mixed_bfloat16": 16 bits for values, float32 for weights. A layer without
-- a `dtype` has the policy of tf.keras.mixed_precision.set_global_policy, which is keras.backend.floatx() where none was set.
local tf, T = ...
local S = T.include("keras", "engine/state")
S.settings = S.settings or {floatx = "float32", epsilon = 1e-7}
local floats = {float16 = true, bfloat16 = true, float32 = true, float64 = true}
local types = {}
for name in ("float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string complex64 complex128"):gmatch "%S+" do types[name] = true end
S.is_float = floats
local Policy = {}
Policy.__index = Policy
function Policy.__tostring(self) return ("<DTypePolicy %s>"):format(self.name) end
function Policy.get_config(self) return {name = self.name} end
local known = {}

-- The policy of a name, an object, what get_config wrote; nil: the global one.
function S.policy(x, who)
  if x == nil or x == false or x == tf.json.null then return S.global_policy or S.policy(S.settings.floatx) end
  if getmetatable(x) == Policy then return x end
  if type(x) == "table" and type(x.config) == "table" then x = x.config.name end
  if type(x) ~= "string" then T.fail(who or "tf.keras.mixed_precision.Policy", "a policy is a name, \"float32\" or \"mixed_bfloat16\", not %s", type(x)) end
  local short = x:match "^mixed_(b?float16)$"
  if not short and not types[x] then
    local names = {"float16", "bfloat16", "float32", "float64", "mixed_float16", "mixed_bfloat16"}
    local near = T.nearest(x, names)
    T.fail(who or "tf.keras.mixed_precision.Policy", "there is no type or policy '%s'; there are %s%s", x, table.concat(names, ", "), near and ("; did you mean '%s'?"):format(near) or "")
  end
  known[x] = known[x] or setmetatable({name = x, compute_dtype = short or x, variable_dtype = short and "float32" or x}, Policy)
  return known[x]
end

local mixed = T.keras_namespace "mixed_precision"
T.def("tf.keras.mixed_precision.Policy", "name", function(name) return S.policy(name, "tf.keras.mixed_precision.Policy") end)
T.def("tf.keras.mixed_precision.set_global_policy", "policy", function(policy)
  S.global_policy = S.policy(policy, "tf.keras.mixed_precision.set_global_policy")
end)
T.def("tf.keras.mixed_precision.global_policy", "", function() return S.policy() end)
for name, old in pairs {DTypePolicy = "Policy", set_dtype_policy = "set_global_policy", dtype_policy = "global_policy"} do rawset(mixed, name, mixed[old]) end
return S
