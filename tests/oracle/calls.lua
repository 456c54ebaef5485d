-- Calls the op or function of a case with its inputs: tensors in define-by-run, nodes in a graph. Gives a flat list of
-- its outputs.
local tf = require "tfsdk"

local M = {}

-- Inputs of ops that take lists: 1 a single tensor, N a list of attrs.N, * a list of all that are left.
local list_inputs = {
  AddN = "N", Concat = "1N", ConcatV2 = "N1", ConcatOffset = "1N", Pack = "N", DynamicStitch = "NN",
  ParallelDynamicStitch = "NN", IdentityN = "*", ShapeN = "N", Einsum = "N", ReduceJoin = "11",
  StringJoin = "N", SparseConcat = "NNN1",
}

local function cut(list, from, n)
  return table.move(list, from, from + n - 1, 1, {})
end

local function flatten(...)
  local out = {}
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    if type(v) == "table" and not tf.kind(v) then
      table.move(v, 1, #v, #out + 1, out)
    else
      out[#out + 1] = v
    end
  end
  return out
end

-- What an error says is not there: a raw op, the function of the case or its module, the sparse tensors that some take.
-- Any other name that is missing is a fault.
function M.absent(case, err)
  local message = type(err) == "table" and err.code == "NOT_FOUND" and err.message
  if not message then return nil end
  local op = message:match "there is no op '([^']+)'"
  local name = message:match "^(%S+) does not exist"
  if name and name ~= "tf.SparseTensor" and case.op ~= name and case.op:sub(1, #name + 1) ~= name .. "."
    and case.id ~= name then name = nil end
  return op or name
end

-- The first type of a list that nothing can compute with yet. An op tells: the first that is written for the type.
function M.absent_type(types)
  for _, name in ipairs(types) do
    local op = name:find "^complex" and "ComplexAbs" or "QuantizeV2"
    if not pcall(function() return tf.raw[op] end) then return name end
  end
  return nil
end

local function lookup(path)
  local at = tf
  for word in path:gmatch "[^.]+" do
    if word ~= "tf" then at = at[word] end
  end
  return at
end

function M.raw_arguments(case, x)
  local form = list_inputs[case.op]
  if not form then return x, #x end
  local args, at, n = {}, 1, case.attrs.N or 0
  for c in form:gmatch "." do
    if c == "1" then args[#args + 1], at = x[at], at + 1
    elseif c == "N" then args[#args + 1], at = cut(x, at, n), at + n
    else args[#args + 1], at = cut(x, at, #x - at + 1), #x + 1 end
  end
  return args, #args
end

local function options_of(attrs)
  local out = {}
  for key, value in pairs(attrs) do out[key] = value end
  return out
end

-- Functions whose arguments are not simply the inputs and then the attributes as options.
-- f: the function, a: attributes (a copy), x: inputs.
local special = {
  ["tf.nn.ctc_loss"] = function(f, attrs, x)
    attrs.time_major = attrs.time_major or false
    return f({indices = x[2], values = x[3]}, x[1], x[4], attrs)
  end,}

special["tf.clip_by_global_norm"] = function(f, a, x)
  local list, norm = f(x, a.clip_norm)
  return flatten(list, norm)
end
special["tf.global_norm"] = function(f, _, x) return f(x) end
special["tf.accumulate_n"] = special["tf.global_norm"]
special["tf.math.polyval"] = function(f, _, x) return f(cut(x, 1, #x - 1), x[#x]) end
special["tf.einsum"] = function(f, a, x) return f(a.equation, table.unpack(x)) end
special["tf.confusion_matrix"] = function(f, a, x)
  a.weights = x[3]
  return f(x[1], x[2], a)
end
special["tf.nn.swish"] = function(f, _, x)
  if x[2] then return f(x[1], {beta = x[2]}) end
  return f(x[1])
end
special["tf.stop_gradient"] = function(f, _, x) return f(x[1]) * x[2] end
special["tf.nn.batch_normalization"] = function(f, a, x)
  return f(x[1], x[2], x[3], x[4] or false, x[5] or false, a.variance_epsilon)
end
special["tf.nn.sufficient_statistics"] = function(f, a, x)
  a.shift = x[2]
  return f(x[1], a)
end
special["tf.nn.weighted_moments"] = function(f, a, x)
  a.frequency_weights = x[2]
  return f(x[1], a)
end

-- `_sentinel` is the first parameter of these, so that labels and logits cannot be mixed up.
local function by_name(f, a, x)
  a.labels, a.logits = x[1], x[2]
  return f(a)
end
for _, name in ipairs {"softmax_cross_entropy_with_logits", "sparse_softmax_cross_entropy_with_logits",
  "sigmoid_cross_entropy_with_logits"} do special["tf.nn." .. name] = by_name end

special["tf.losses.cosine_distance"] = function(f, a, x)
  a.labels, a.predictions, a.weights = x[1], x[2], x[3]
  return f(a)
end
local function sampled(f, a, x)
  a.weights, a.biases, a.labels, a.inputs = x[1], x[2], x[3], x[4]
  a.sampled_values = {x[5], x[6], x[7]}
  return f(a)
end
special["tf.nn.sampled_softmax_loss"], special["tf.nn.nce_loss"] = sampled, sampled

special["tf.nn.embedding_lookup"] = function(f, a, x)
  local params = cut(x, 1, #x - 1)
  return f(#params == 1 and params[1] or params, x[#x], a)
end
-- inputs: table, indices, ids, dense_shape (, weights)
local function sparse_lookup(name)
  return function(f, a, x)
    local ids = tf.SparseTensor(x[2], x[3], x[4])
    a[name] = x[5] and tf.SparseTensor(x[2], x[5], x[4])
    return f(x[1], ids, a)
  end
end
special["tf.nn.embedding_lookup_sparse"] = sparse_lookup "sp_weights"
special["tf.nn.safe_embedding_lookup_sparse"] = sparse_lookup "sparse_weights"

-- ------------------------------------------------------------------------------------- put together

local function count_from(first, last)
  local out = {}
  for i = first, last do out[#out + 1] = i end
  return out
end

-- What contrib's normalisation layers compute once their variables beta and gamma are there.
local function normalise(x, axes, beta, gamma, epsilon)
  local mean, variance = tf.nn.moments(x, axes, {keepdims = true})
  return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)
end
local layers = {}
layers["tf.contrib.layers.layer_norm"] = function(a, x)
  return normalise(x[1], count_from(a.begin_norm_axis, x[1]:rank() - 1), x[2], x[3], a.variance_epsilon)
end
layers["tf.contrib.layers.instance_norm"] = function(a, x)
  return normalise(x[1], {1, 2}, x[2], x[3], a.epsilon)
end
layers["tf.contrib.layers.group_norm"] = function(a, x)
  local shape = tf.shape(x[1])
  local channels = shape[{{-1, -1}}]
  local groups = tf.constant({a.groups}, "int32")
  local split = tf.concat({shape[{{1, 3}}], groups, tf.floordiv(channels, groups)}, 0)
  local params = tf.concat({tf.constant({1, 1, 1}, "int32"), groups, tf.floordiv(channels, groups)}, 0)
  local y = normalise(tf.reshape(x[1], split), {1, 2, 4}, tf.reshape(x[2], params), tf.reshape(x[3], params),
    a.epsilon)
  return tf.reshape(y, shape)
end

-- Cases that are no single op: the formula is in their note.
local composed = {
  ["where/gradient_of_branch_not_taken"] = function(x)
    return tf.where(tf.greater(x, 0), tf.sqrt(x), tf.zeros_like(x))
  end,
  second_reshape_concat_square = function(a, b)
    return tf.square(tf.concat({tf.reshape(a, {3, 2}), b}, 1))
  end,
  second_slice_transpose_tanh = function(a)
    return tf.tanh(tf.transpose(a[{{2, -1}, {1, -1, 2}}]))
  end,
  second_mlp = function(x, w1, b1, w2)
    return tf.nn.log_softmax(tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2))
  end,
}

local function by_formula(case)
  return composed[case.id] or (case.op == "composed" and composed[case.id:match "^[^/]+"])
end

-- ------------------------------------------------------------------------------------- the call

function M.run(case, x)
  local formula = by_formula(case)
  if formula then return flatten(formula(table.unpack(x))) end
  if case.op == "composed" then error {code = "NOT_FOUND", message = case.id .. " does not exist"} end
  local attrs = options_of(case.attrs)
  if layers[case.op] then return flatten(layers[case.op](attrs, x)) end
  if case.op:find "^tf%." then
    local f = lookup(case.op)
    if special[case.op] then return flatten(special[case.op](f, attrs, x)) end
    local args = cut(x, 1, #x)
    if next(attrs) ~= nil then args[#args + 1] = attrs end
    return flatten(f(table.unpack(args)))
  end
  local args, n = M.raw_arguments(case, x)
  local f = tf.raw[case.op]
  attrs.N = nil
  args = cut(args, 1, n)
  if next(attrs) ~= nil then args[n + 1], n = attrs, n + 1 end
  return flatten(f(table.unpack(args, 1, n)))
end

return M
