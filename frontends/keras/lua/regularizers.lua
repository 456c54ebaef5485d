-- tf.keras.regularizers: penalties of a weight or of an output. L2 is factor * sum(w^2), without a half.
local tf, T = ...
local raw = tf.raw
local registry = T.include("keras", "registry")

local Regularizer = {}
function Regularizer:__call(x) return self:call(T.value(x)) end
local regularizers = registry("regularizers", "regularizer", Regularizer)
T.namespace "tf.keras.regularizers".Regularizer = Regularizer

local function total(x) return tf.reduce_sum(x) end
local function checked(self, path)
  for _, name in ipairs(getmetatable(self).names) do
    local value = self[name]
    if type(value) ~= "number" and type(value) ~= "string" or value ~= value or value == math.huge then
      T.fail(path, "'%s' must be a finite number, not %s", name, tostring(value))
    end
  end
end
regularizers:class("L1L2", "l1|l=0 l2=0", {init = checked, call = function(self, x)
  local sum
  if self.l1 ~= 0 then sum = total(raw.Abs(x)) * self.l1 end
  if self.l2 ~= 0 then
    local squares = total(raw.Square(x)) * self.l2
    sum = sum and sum + squares or squares
  end
  return sum or tf.zeros({}, x.dtype)
end})
regularizers:class("L1", "l1|l=0.01", {init = checked, call = function(self, x) return total(raw.Abs(x)) * self.l1 end})
regularizers:class("L2", "l2|l=0.01", {init = checked, call = function(self, x) return total(raw.Square(x)) * self.l2 end})
-- Rows (or columns) that are not at right angles cost the size of their cosine.
regularizers:class("OrthogonalRegularizer", "factor=0.01 mode=rows", {
  init = function(self, path)
    if self.mode ~= "rows" and self.mode ~= "columns" then T.fail(path, "'mode' must be \"rows\" or \"columns\", not '%s'", tostring(self.mode)) end
  end,
  call = function(self, x)
    if x:rank() ~= 2 then T.fail("OrthogonalRegularizer", "the value must have rank 2, not %d", x:rank()) end
    local rows = self.mode == "rows"
    local unit = tf.nn.l2_normalize(x, rows and 1 or 0)
    local product = rows and raw.MatMul(unit, unit, {transpose_b = true}) or raw.MatMul(unit, unit, {transpose_a = true})
    local n = x.shape[rows and 1 or 2]
    local others = product * (-tf.eye(n, n, nil, x.dtype) + 1)
    return total(raw.Abs(others)) * (self.factor * 0.5 / (n * (n - 1) / 2))
  end})
-- Keras 2's functions: keras.regularizers.l2(0.01), l1_l2(0.01, 0.01).
regularizers:public("L1", "l1")
regularizers:public("L2", "l2")
T.def("tf.keras.regularizers.l1_l2", "l1=0.01 l2=0.01", function(l1, l2) return regularizers.classes.L1L2.new(l1, l2) end)
regularizers:alias("L1L2", "l1l2", "l1_l2")
regularizers:alias("OrthogonalRegularizer", "orthogonal_regularizer")
return regularizers
