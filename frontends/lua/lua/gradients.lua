-- provides tf: gradients hessians clip_by_norm clip_by_average_norm clip_by_global_norm global_norm value_and_gradients AggregationMethod UnconnectedGradients
-- Gradients of a graph, clipping, and define-by-run helpers on tapes.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope
local _ = tf.norm -- loads T.safe_root

local function list(x)
  if x == nil then return {} end
  if type(x) == "table" and T.kind(x) == nil then return x end
  return {x}
end

def("tf.gradients", "ys xs grad_ys? name? colocate_gradients_with_ops=false gate_gradients=false aggregation_method? stop_gradients? unconnected_gradients=none",
  function(ys, xs, grad_ys, name, _, _, _, stop, unconnected)
    ys, xs = list(ys), list(xs)
    if #ys == 0 then T.fail("tf.gradients", "there are no targets") end
    if #xs == 0 then T.fail("tf.gradients", "there are no sources") end
    if grad_ys ~= nil then
      grad_ys = list(grad_ys)
      if #grad_ys ~= #ys then T.fail("tf.gradients", "%d targets, but %d grad_ys", #ys, #grad_ys) end
      local values = {}
      for i, g in ipairs(grad_ys) do values[i] = g and T.value(g, ys[i].dtype) end
      grad_ys = values
    end
    local s <close> = name and scope(name) or nil -- the core names its own scope otherwise
    local grads = T.gradients(ys, xs, grad_ys, stop and list(stop) or nil)
    if unconnected == "zero" then
      for i, g in ipairs(grads) do if not g then grads[i] = raw.ZerosLike(xs[i]) end end
    end
    return grads
  end)
tf.UnconnectedGradients = {NONE = "none", ZERO = "zero"}
tf.AggregationMethod = {DEFAULT = 0, ADD_N = 0, EXPERIMENTAL_TREE = 1, EXPERIMENTAL_ACCUMULATE_N = 2}

-- Second derivatives of ys with respect to vectors xs.
def("tf.hessians", "ys xs name? colocate_gradients_with_ops=false gate_gradients=false aggregation_method?", function(ys, xs, name)
  local s <close> = scope(name, "hessians")
  local out = {}
  for k, x in ipairs(list(xs)) do
    local g = tf.gradients(ys, {x})[1]
    if not g then T.fail("tf.hessians", "source %d has no gradient", k) end
    g = T.dense(g)
    local shape = x.shape
    local n = 1
    for _, d in ipairs(shape) do
      if d < 0 then T.fail("tf.hessians", "the shape of source %d must be known", k) end
      n = n * d
    end
    local flat, rows = raw.Reshape(g, {-1}), {}
    for i = 1, n do
      local row = tf.gradients(flat[i], {x})[1]
      rows[i] = row and raw.Reshape(T.dense(row), {-1}) or tf.zeros({n}, x.dtype)
    end
    local full = {}
    for _, d in ipairs(shape) do full[#full + 1] = d end
    for _, d in ipairs(shape) do full[#full + 1] = d end
    out[k] = raw.Reshape(tf.stack(rows), full)
  end
  return out
end)

-- ------------------------------------------------------------------------------------- clipping

local function values_of(t) return T.kind(t) == "IndexedSlices" and t.values or t end
local function rebuild(t, values)
  if T.kind(t) == "IndexedSlices" then return tf.IndexedSlices(values, t.indices, t.dense_shape) end
  return values
end
def("tf.clip_by_norm", "t|x clip_norm axes? name?", function(t, clip_norm, axes, name)
  local s <close> = scope(name, "clip_by_norm")
  local x = T.value(values_of(t))
  local sum = tf.reduce_sum(raw.Square(x), axes, true)
  return rebuild(t, raw.RealDiv(x * clip_norm, raw.Maximum(T.safe_root(sum, 0.5), clip_norm)))
end)
def("tf.clip_by_average_norm", "t clip_norm name?", function(t, clip_norm, name)
  local s <close> = scope(name, "clip_by_average_norm")
  t = T.value(t)
  local n = raw.Cast(raw.Size(t), {DstT = t.dtype})
  local inverse = n * raw.Rsqrt(tf.reduce_sum(raw.Square(t)))
  return t * clip_norm * raw.Minimum(inverse, 1 / clip_norm)
end)
def("tf.global_norm", "t_list name?", function(t_list, name)
  local s <close> = scope(name, "global_norm")
  local halves = {}
  for _, t in ipairs(T.list(t_list, "tf.global_norm", "t_list")) do
    if t then halves[#halves + 1] = raw.L2Loss(values_of(t)) end
  end
  if #halves == 0 then return tf.constant(0) end
  return T.safe_root(tf.add_n(halves) * 2, 0.5)
end)
-- A norm that is not finite gives NaN everywhere, so that the fault shows.
def("tf.clip_by_global_norm", "t_list clip_norm use_norm? name?", function(t_list, clip_norm, use_norm, name)
  T.list(t_list, "tf.clip_by_global_norm", "t_list")
  local norm = use_norm or tf.global_norm(t_list, name)
  local s <close> = scope(name, "clip_by_global_norm")
  local scale = raw.Minimum(raw.Reciprocal(norm), 1 / clip_norm) * clip_norm
  scale = raw.SelectV2(raw.IsFinite(norm), scale, 0 / 0)
  local out = {}
  for i, t in ipairs(t_list) do
    out[i] = t and rebuild(t, values_of(t) * scale)
  end
  return out, norm
end)

-- ------------------------------------------------------------------------------------- define-by-run

-- tf.value_and_gradients(fn, sources, ...): fn(...) and the gradients of its first result.
function tf.value_and_gradients(fn, sources, ...)
  local tape <close> = tf.GradientTape()
  for _, x in ipairs(list(sources)) do
    if T.kind(x) == "Tensor" then tape:watch(x) end
  end
  local value = fn(...)
  return value, tape:gradient(value, sources)
end
