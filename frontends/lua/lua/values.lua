-- provides Value: sum mean max min prod any all std var eq ne lt le gt ge dot mm t get_shape dim eval
-- Methods that every value has besides the functions of tf: Torch's short names and comparisons.
local tf, T = ...
local Value = T.namespace "Value"

local function alias(name, target)
  Value[name] = function(self, ...) return tf[target](self, ...) end
end
for name, target in pairs {
  sum = "reduce_sum", mean = "reduce_mean", max = "reduce_max", min = "reduce_min",
  prod = "reduce_prod", any = "reduce_any", all = "reduce_all",
  eq = "equal", ne = "not_equal", lt = "less", le = "less_equal", gt = "greater",
  ge = "greater_equal", mm = "matmul", t = "transpose",
} do alias(name, target) end

function Value.std(self, ...) return tf.math.reduce_std(self, ...) end
function Value.var(self, ...) return tf.math.reduce_variance(self, ...) end
function Value.dot(self, other) return tf.tensordot(self, other, 1) end
function Value.get_shape(self) return self.shape end
function Value.dim(self) return self:rank() end

-- node:eval(feeds, session): the value in a session, the default one if none is given.
function Value.eval(self, feeds, session)
  if T.kind(self) == "Tensor" then return self end
  session = session or tf.get_default_session()
  if not session then T.fail("eval", "there is no default session; give one: x:eval(feeds, session)") end
  return session:run(self, feeds)
end
