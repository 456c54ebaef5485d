-- tf.keras.constraints: what a weight is put back into after each step. An object is called with the weight's value.
local tf, T = ...
local raw = tf.raw
local registry = T.include("keras", "registry")

local Constraint = {}
function Constraint:__call(w) return self:call(T.value(w)) end
local constraints = registry("constraints", "constraint", Constraint)
T.namespace "tf.keras.constraints".Constraint = Constraint

local EPSILON = 1e-7
local function axes(axis) return type(axis) == "table" and axis or {axis} end
-- The norms along `axis`; a norm of zero has the gradient of zero.
local function norms(w, axis) return raw.Sqrt(raw.Sum(raw.Square(w), axes(axis), {keep_dims = true})) end

constraints:class("MaxNorm", "max_value|m=2 axis=0", {call = function(self, w)
  local norm = norms(w, self.axis)
  return w * (raw.ClipByValue(norm, 0, self.max_value) / (norm + EPSILON))
end})
constraints:class("NonNeg", "", {call = function(_, w)
  return w * raw.Cast(raw.GreaterEqual(w, 0), {DstT = w.dtype})
end})
constraints:class("UnitNorm", "axis=0", {call = function(self, w)
  return w / (norms(w, self.axis) + EPSILON)
end})
constraints:class("MinMaxNorm", "min_value=0 max_value=1 rate=1 axis=0", {call = function(self, w)
  local norm = norms(w, self.axis)
  local wanted = raw.ClipByValue(norm, self.min_value, self.max_value) * self.rate + norm * (1 - self.rate)
  return w * (wanted / (norm + EPSILON))
end})
constraints:public("MaxNorm", "max_norm", "maxnorm")
constraints:public("NonNeg", "non_neg", "nonneg")
constraints:public("UnitNorm", "unit_norm", "unitnorm")
constraints:public("MinMaxNorm", "min_max_norm", "minmaxnorm")
return constraints
