-- provides tf: abs negative sign square sqrt rsqrt exp expm1 log log1p sin cos tan asin acos atan sinh cosh asinh acosh atanh tanh sigmoid erf erfc lgamma digamma floor ceil round rint reciprocal is_nan is_inf is_finite logical_not log_sigmoid add subtract multiply divide div truediv floordiv floor_div floormod mod truncatediv truncatemod realdiv pow maximum minimum squared_difference atan2 div_no_nan xlogy xdivy zeta polygamma igamma igammac betainc cross equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor approximate_equal
-- provides tf: reduce_sum reduce_mean reduce_prod reduce_min reduce_max reduce_all reduce_any reduce_logsumexp argmax argmin cumsum cumprod add_n accumulate_n count_nonzero matmul sparse_matmul tensordot einsum matrix_transpose cast to_float to_double to_int32 to_int64 to_bfloat16 saturate_cast bitcast scalar_mul linspace lin_space range clip_by_value trace norm bincount confusion_matrix real imag conj angle complex
-- provides tf: segment_sum segment_mean segment_prod segment_min segment_max unsorted_segment_sum unsorted_segment_mean unsorted_segment_prod unsorted_segment_min unsorted_segment_max unsorted_segment_sqrt_n sparse_segment_sum sparse_segment_mean sparse_segment_sqrt_n
-- provides tf.math: abs negative sign square sqrt rsqrt exp expm1 log log1p sin cos tan asin acos atan sinh cosh asinh acosh atanh tanh sigmoid erf erfc lgamma digamma floor ceil round rint reciprocal is_nan is_inf is_finite logical_not log_sigmoid add subtract multiply divide truediv floordiv floormod mod pow maximum minimum squared_difference atan2 divide_no_nan multiply_no_nan xlogy xdivy xlog1py zeta polygamma igamma igammac betainc cross equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor reduce_sum reduce_mean reduce_prod reduce_min reduce_max reduce_all reduce_any reduce_logsumexp reduce_std reduce_variance reduce_euclidean_norm argmax argmin cumsum cumprod cumulative_logsumexp add_n accumulate_n count_nonzero scalar_mul bincount confusion_matrix softplus softsign bessel_i0 bessel_i0e bessel_i1 bessel_i1e segment_sum segment_mean segment_prod segment_min segment_max unsorted_segment_sum unsorted_segment_mean unsorted_segment_prod unsorted_segment_min unsorted_segment_max unsorted_segment_sqrt_n top_k l2_normalize in_top_k real imag conj angle log_softmax softmax zero_fraction polyval ndtri erfinv nextafter expint dawsn spence invert_permutation
-- provides tf.bitwise: bitwise_and bitwise_or bitwise_xor invert left_shift right_shift
-- provides tf.linalg: matmul trace norm matrix_transpose transpose tensordot einsum cross l2_normalize eye matvec
-- Element-wise arithmetic, reductions, products. A line `name signature op` is an op as it is; the
-- functions below say what TensorFlow's Python does around its ops.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope

local function ops(space, list)
  for name, signature, op in list:gmatch "(%S+)%s+([^>\n]+)>%s*(%S+)" do
    def(space .. "." .. name, signature .. " name?", op)
  end
end

ops("tf", [[
abs x > Abs
negative x > Neg
sign x > Sign
square x > Square
sqrt x > Sqrt
rsqrt x > Rsqrt
exp x > Exp
expm1 x > Expm1
log x > Log
log1p x > Log1p
sin x > Sin
cos x > Cos
tan x > Tan
asin x > Asin
acos x > Acos
atan x > Atan
sinh x > Sinh
cosh x > Cosh
asinh x > Asinh
acosh x > Acosh
atanh x > Atanh
tanh x > Tanh
sigmoid x > Sigmoid
erf x > Erf
erfc x > Erfc
lgamma x > Lgamma
digamma x > Digamma
floor x > Floor
ceil x > Ceil
round x > Round
rint x > Rint
reciprocal x > Reciprocal
is_nan x > IsNan
is_inf x > IsInf
is_finite x > IsFinite
logical_not x > LogicalNot
add x y > AddV2
subtract x y > Sub
multiply x y > Mul
div x y > Div
floordiv x y > FloorDiv
floor_div x y > FloorDiv
floormod x y > FloorMod
mod x y > FloorMod
truncatediv x y > TruncateDiv
truncatemod x y > TruncateMod
realdiv x y > RealDiv
pow x y > Pow
maximum x y > Maximum
minimum x y > Minimum
squared_difference x y > SquaredDifference
atan2 y x > Atan2
div_no_nan x y > DivNoNan
xlogy x y > Xlogy
xdivy x y > Xdivy
zeta x q > Zeta
polygamma a x > Polygamma
igamma a x > Igamma
igammac a x > Igammac
betainc a b x > Betainc
cross a b > Cross
less x y > Less
less_equal x y > LessEqual
greater x y > Greater
greater_equal x y > GreaterEqual
logical_and x y > LogicalAnd
logical_or x y > LogicalOr
equal x y > Equal
not_equal x y > NotEqual
clip_by_value t|x clip_value_min clip_value_max > ClipByValue
segment_sum data segment_ids > SegmentSum
segment_mean data segment_ids > SegmentMean
segment_prod data segment_ids > SegmentProd
segment_min data segment_ids > SegmentMin
segment_max data segment_ids > SegmentMax
unsorted_segment_sum data segment_ids num_segments > UnsortedSegmentSum
unsorted_segment_prod data segment_ids num_segments > UnsortedSegmentProd
unsorted_segment_min data segment_ids num_segments > UnsortedSegmentMin
unsorted_segment_max data segment_ids num_segments > UnsortedSegmentMax
conj input > Conj
]])
ops("tf.math", [[
divide_no_nan x y > DivNoNan
multiply_no_nan x y > MulNoNan
xlog1py x y > Xlog1py
bessel_i0 x > BesselI0
bessel_i0e x > BesselI0e
bessel_i1 x > BesselI1
bessel_i1e x > BesselI1e
softplus features|x > Softplus
softsign features|x > Softsign
ndtri x > Ndtri
erfinv x > Erfinv
nextafter x1 x2 > NextAfter
expint x > Expint
dawsn x > Dawsn
spence x > Spence
]])
ops("tf.bitwise", [[
bitwise_and x y > BitwiseAnd
bitwise_or x y > BitwiseOr
bitwise_xor x y > BitwiseXor
invert x > Invert
left_shift x y > LeftShift
right_shift x y > RightShift
]])

-- ------------------------------------------------------------------------------------- arithmetic

def("tf.truediv", "x y name?", function(x, y, name)
  if name then local s <close> = scope(name); return T.value(x) / y end
  if not T.kind(x) and not T.kind(y) then x = T.value(x) end
  return x / y
end)
tf.divide = tf.truediv

def("tf.logical_xor", "x y name?", function(x, y, name)
  return raw.NotEqual(x, y, {name = name or "LogicalXor", T = "bool"})
end)
def("tf.approximate_equal", "x y tolerance=1e-5 name?", function(x, y, tolerance, name)
  return raw.ApproximateEqual(x, y, {tolerance = tolerance, name = name})
end)
def("tf.log_sigmoid", "x name?", function(x, name)
  local s <close> = scope(name, "LogSigmoid")
  return -raw.Softplus(-T.value(x))
end)
def("tf.scalar_mul", "scalar x name?", function(scalar, x, name)
  return raw.Mul(scalar, x, {name = name})
end)
def("tf.cast", "x dtype|DstT name?", function(x, dtype, name)
  if T.kind(x) == "IndexedSlices" then
    return tf.IndexedSlices(tf.cast(x.values, dtype), x.indices, x.dense_shape)
  end
  x = T.value(x)
  if x.dtype == dtype and not name then return x end
  return raw.Cast(x, {DstT = dtype, name = name})
end)
for name, dtype in pairs {to_float = "float32", to_double = "float64", to_int32 = "int32",
  to_int64 = "int64", to_bfloat16 = "bfloat16"} do
  def("tf." .. name, "x name?", function(x, n) return tf.cast(x, dtype, n) end)
end
local limits = {int8 = {-128, 127}, uint8 = {0, 255}, int16 = {-32768, 32767}, uint16 = {0, 65535},
  int32 = {-2147483648, 2147483647}, uint32 = {0, 4294967295}, int64 = {math.mininteger, math.maxinteger}, float16 = {-65504, 65504},
  bfloat16 = {-3.3895313892515355e38, 3.3895313892515355e38}, float32 = {-3.4028234663852886e38, 3.4028234663852886e38}}
def("tf.saturate_cast", "value dtype name?", function(value, dtype, name)
  local s <close> = scope(name, "saturate_cast")
  value = T.value(value)
  local l, from = limits[dtype], limits[value.dtype]
  if l then
    local lo = from and math.max(l[1], from[1]) or l[1]
    local hi = from and math.min(l[2], from[2]) or l[2]
    value = raw.ClipByValue(value, lo, hi)
  end
  return raw.Cast(value, {DstT = dtype})
end)
def("tf.bitcast", "input type name?", function(input, type, name)
  return raw.Bitcast(input, {type = type, name = name})
end)
def("tf.complex", "real imag name?", function(re, im, name)
  re = T.value(re)
  local out = re.dtype == "float64" and "complex128" or "complex64"
  return raw.Complex(re, im, {Tout = out, name = name})
end)
for name, op in pairs {real = "Real", imag = "Imag", angle = "Angle"} do
  def("tf." .. name, "input name?", function(x, n)
    x = T.value(x)
    if x.dtype ~= "complex64" and x.dtype ~= "complex128" then
      if name == "real" then return x end
      x = raw.Cast(x, {DstT = x.dtype == "float64" and "complex128" or "complex64"})
    end
    return raw[op](x, {Tout = x.dtype == "complex128" and "float64" or "float32", name = n})
  end)
end

local function integers(...)
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    if v ~= nil and math.type(v) ~= "integer" and not (T.kind(v) and v.dtype:find "int") then
      return false
    end
  end
  return true
end
def("tf.range", "start limit? delta=1 dtype? name?", function(start, limit, delta, dtype, name)
  if limit == nil then start, limit = 0, start end
  if not dtype then
    for _, v in ipairs {start, limit, delta} do
      if T.kind(v) then dtype = v.dtype break end
    end
    dtype = dtype or integers(start, limit, delta) and "int32" or "float32"
  end
  return raw.Range(start, limit, delta, {Tidx = dtype, name = name})
end)
def("tf.linspace", "start stop num name?", function(start, stop, num, name)
  return raw.LinSpace(start, stop, num, {name = name})
end)
tf.lin_space = tf.linspace

-- ------------------------------------------------------------------------------------- reductions

-- All axes of a value: a constant where the rank is known, else counted when the graph runs.
local axes_by_rank = {}
local function all_axes(x)
  local rank = x:rank()
  if not rank then return raw.Range(0, raw.Rank(x), 1) end
  if not axes_by_rank[rank] then
    local axes = {}
    for i = 1, rank do axes[i] = i - 1 end
    axes_by_rank[rank] = tf.tensor(axes, "int32")
  end
  return axes_by_rank[rank]
end
local function axes_of(x, axis)
  if axis == nil or axis == false then return all_axes(x) end
  return axis
end
T.axes_of = axes_of

for name, op in pairs {sum = "Sum", mean = "Mean", prod = "Prod", min = "Min", max = "Max",
  all = "All", any = "Any"} do
  local dtype = (op == "All" or op == "Any") and "bool" or nil
  def("tf.reduce_" .. name, "input_tensor|input axis|reduction_indices? keepdims|keep_dims=false name?",
    function(x, axis, keep, n)
      x = T.value(x, dtype)
      return raw[op](x, axes_of(x, axis), {keep_dims = keep, name = n})
    end)
end
def("tf.math.reduce_euclidean_norm", "input_tensor axis? keepdims=false name?", function(x, axis, keep, n)
  x = T.value(x)
  return raw[x.dtype:find "float" and "VectorNorm" or "EuclideanNorm"](x, axes_of(x, axis), {keep_dims = keep, name = n})
end)
-- x ^ power (below 1) for x >= 0, with a gradient of 0, not infinity, at 0: the root is taken of 1 there.
function T.safe_root(x, power)
  local positive = raw.Greater(x, raw.ZerosLike(x))
  local root = raw.SelectV2(positive, x, raw.OnesLike(x))
  root = power == 0.5 and raw.Sqrt(root) or raw.Pow(root, power)
  return raw.SelectV2(positive, root, x)
end
def("tf.reduce_logsumexp", "input_tensor axis|reduction_indices? keepdims|keep_dims=false name?",
  function(x, axis, keep, name)
    local s <close> = scope(name, "ReduceLogSumExp")
    x = T.value(x)
    local axes = axes_of(x, axis)
    local top = raw.Max(x, axes, {keep_dims = true})
    top = raw.StopGradient(raw.SelectV2(raw.IsFinite(top), top, raw.ZerosLike(top)))
    local y = raw.Log(raw.Sum(raw.Exp(x - top), axes, {keep_dims = keep}))
    if keep then return y + top end
    return y + raw.Reshape(top, raw.Shape(y))
  end)
def("tf.math.reduce_variance", "input_tensor axis? keepdims=false name?", function(x, axis, keep, name)
  local s <close> = scope(name, "reduce_variance")
  x = T.value(x)
  local axes = axes_of(x, axis)
  local mean = raw.Mean(x, axes, {keep_dims = true})
  return raw.Mean(raw.Square(x - mean), axes, {keep_dims = keep})
end)
def("tf.math.reduce_std", "input_tensor axis? keepdims=false name?", function(x, axis, keep, name)
  local s <close> = scope(name, "reduce_std")
  return T.safe_root(tf.math.reduce_variance(x, axis, keep), 0.5)
end)
for name, op in pairs {argmax = "ArgMax", argmin = "ArgMin"} do
  def("tf." .. name, "input axis|dimension=0 name? output_type=int64", function(x, axis, n, out)
    return raw[op](x, axis, {output_type = out, name = n})
  end)
end
for name, op in pairs {cumsum = "Cumsum", cumprod = "Cumprod"} do
  def("tf." .. name, "x axis=0 exclusive=false reverse=false name?", function(x, axis, exclusive, reverse, n)
    return raw[op](x, axis, {exclusive = exclusive, reverse = reverse, name = n})
  end)
end
def("tf.math.cumulative_logsumexp", "x axis=0 exclusive=false reverse=false name?",
  function(x, axis, exclusive, reverse, n)
    return raw.CumulativeLogsumexp(x, axis, {exclusive = exclusive, reverse = reverse, name = n})
  end)
def("tf.add_n", "inputs name?", function(inputs, name)
  if T.kind(inputs) then return inputs end
  if #inputs == 0 then T.fail("tf.add_n", "the list of inputs is empty") end
  if #inputs == 1 then
    local x = T.value(inputs[1])
    return name and raw.Identity(x, {name = name}) or x
  end
  return raw.AddN(inputs, {name = name})
end)
def("tf.accumulate_n", "inputs shape? tensor_dtype? name?", function(inputs, _, _, name)
  return tf.add_n(inputs, name)
end)
def("tf.count_nonzero", "input_tensor axis? keepdims|keep_dims=false dtype=int64 name? reduction_indices?",
  function(x, axis, keep, dtype, name, old)
    local s <close> = scope(name, "count_nonzero")
    x = T.value(x)
    local nonzero = x.dtype == "bool" and x or raw.NotEqual(x, raw.ZerosLike(x))
    return raw.Sum(raw.Cast(nonzero, {DstT = dtype}), axes_of(x, axis or old), {keep_dims = keep})
  end)
-- Norms of matrices along two axes: the largest column or row sum, the largest singular value.
local function matrix_norm(x, ord, axis, keep)
  local rank = x:rank()
  local rows, columns = axis[1] % rank, axis[2] % rank
  local function finish(y) return keep and y or raw.Squeeze(y, {squeeze_dims = {rows, columns}}) end
  if ord == 1 then
    return finish(raw.Max(raw.Sum(raw.Abs(x), {rows}, {keep_dims = true}), {columns}, {keep_dims = true}))
  elseif ord == math.huge or ord == "inf" then
    return finish(raw.Max(raw.Sum(raw.Abs(x), {columns}, {keep_dims = true}), {rows}, {keep_dims = true}))
  elseif ord ~= 2 then
    T.fail("tf.norm", "ord of a matrix norm must be 'euclidean', 'fro', 1, 2 or 'inf', not %s", ord)
  end
  local perm = {}
  for i = 0, rank - 1 do if i ~= rows and i ~= columns then perm[#perm + 1] = i end end
  perm[#perm + 1], perm[#perm + 2] = rows, columns
  local s = raw.Svd(raw.Transpose(x, perm), {compute_uv = false})
  local y = raw.Max(s, {-1})
  if not keep then return y end
  for _, a in ipairs {math.min(rows, columns), math.max(rows, columns)} do y = raw.ExpandDims(y, a) end
  return y
end
def("tf.norm", "tensor ord=euclidean axis? keepdims|keep_dims=false name?",
  function(x, ord, axis, keep, name)
    local s <close> = scope(name, "norm")
    x = T.value(x)
    local axes = axes_of(x, axis)
    if type(axis) == "table" and #axis == 2 and ord ~= "euclidean" and ord ~= "fro" then
      return matrix_norm(x, ord, axis, keep)
    end
    if ord == "euclidean" or ord == "fro" or ord == 2 then
      return raw.VectorNorm(x, axes, {keep_dims = keep}) -- its gradient at zero is 0
    end
    if ord == 1 then return raw.Sum(raw.Abs(x), axes, {keep_dims = keep}) end
    if ord == math.huge or ord == "inf" then return raw.Max(raw.Abs(x), axes, {keep_dims = keep}) end
    if type(ord) ~= "number" or ord <= 0 then
      T.fail("tf.norm", "ord must be 'euclidean', 'fro', 'inf' or a positive number, not %s", ord)
    end
    return T.safe_root(raw.Sum(raw.Pow(raw.Abs(x), ord), axes, {keep_dims = keep}), 1 / ord)
  end)

-- ------------------------------------------------------------------------------------- products

def("tf.matmul", "a b transpose_a=false transpose_b=false adjoint_a=false adjoint_b=false a_is_sparse=false b_is_sparse=false name?",
  function(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, _, _, name)
    if not T.kind(a) then a = T.value(a, T.kind(b) and b.dtype or nil) end
    if not T.kind(b) then b = T.value(b, a.dtype) end
    local ra, rb = a:rank(), b:rank()
    if (ra == nil or ra > 2) and (rb == nil or rb > 2) or (ra or 0) > 2 or (rb or 0) > 2 then
      return raw.BatchMatMulV2(a, b, {adj_x = transpose_a or adjoint_a, adj_y = transpose_b or adjoint_b,
        name = name or "MatMul"})
    end
    return raw.MatMul(a, b, {transpose_a = transpose_a or adjoint_a,
      transpose_b = transpose_b or adjoint_b, name = name})
  end)
def("tf.sparse_matmul", "a b transpose_a=false transpose_b=false a_is_sparse=false b_is_sparse=false name?",
  function(a, b, ta, tb, sa, sb, name)
    return raw.SparseMatMul(a, b, {transpose_a = ta, transpose_b = tb, a_is_sparse = sa, b_is_sparse = sb, name = name})
  end)
def("tf.linalg.matvec", "a b transpose_a=false adjoint_a=false name?", function(a, b, ta, aa, name)
  local s <close> = scope(name, "MatVec")
  local y = tf.matmul(a, raw.ExpandDims(b, -1), ta, false, aa)
  return raw.Squeeze(y, {squeeze_dims = {-1}})
end)
def("tf.matrix_transpose", "a name=matrix_transpose conjugate=false", function(a, name)
  a = T.value(a)
  local rank = a:rank()
  if not rank then
    local n = raw.Rank(a)
    local head = raw.Range(0, n - 2, 1)
    return raw.Transpose(a, raw.ConcatV2({head, tf.stack{n - 1, n - 2}}, 0), {name = name})
  end
  if rank < 2 then T.fail("tf.matrix_transpose", "a matrix has at least rank 2, not %d", rank) end
  local perm = {}
  for i = 1, rank do perm[i] = i - 1 end
  perm[rank], perm[rank - 1] = perm[rank - 1], perm[rank]
  return raw.Transpose(a, perm, {name = name})
end)
function tf.einsum(equation, ...)
  local inputs, name = {...}, nil
  if T.is_options(inputs[#inputs]) then
    name = table.remove(inputs).name
  elseif type(inputs[1]) == "table" and not T.kind(inputs[1]) and T.kind(inputs[1][1]) then
    inputs = inputs[1]
  end
  equation = equation:gsub("%s", "")
  if #inputs <= 2 then return raw.Einsum(inputs, {equation = equation, name = name}) end
  -- More than two: from the left, keeping the labels that are still needed.
  local left, out = equation:match "^(.-)%->(.*)$"
  if not left then
    left, out = equation, ""
    local count = {}
    for c in left:gmatch "%a" do count[c] = (count[c] or 0) + 1 end
    for c, n in pairs(count) do if n == 1 then out = out .. c end end
    local letters = {}
    for c in out:gmatch "." do letters[#letters + 1] = c end
    table.sort(letters)
    out = table.concat(letters)
  end
  local terms = {}
  for term in left:gmatch "[^,]+" do terms[#terms + 1] = term end
  if #terms ~= #inputs then T.fail("tf.einsum", "'%s' names %d inputs, given are %d", equation, #terms, #inputs) end
  local s <close> = scope(name, "einsum")
  local x, labels = inputs[1], terms[1]
  for i = 2, #terms do
    local result = out
    if i < #terms then
      local needed = out .. table.concat(terms, "", i + 1)
      result = ""
      local seen = {}
      for c in (labels .. terms[i]):gmatch "%a" do
        if not seen[c] and needed:find(c, 1, true) then result = result .. c end
        seen[c] = true
      end
      if (labels .. terms[i]):find("...", 1, true) then result = "..." .. result end
    end
    x = raw.Einsum({x, inputs[i]}, {equation = labels .. "," .. terms[i] .. "->" .. result})
    labels = result
  end
  return x
end
-- Contracts axes of a with axes of b: transpose, reshape, one matrix product, reshape.
def("tf.tensordot", "a b axes name?", function(a, b, axes, name)
  local s <close> = scope(name, "Tensordot")
  a, b = T.value(a), T.value(b)
  local ra, rb = a:rank(), b:rank()
  if not ra or not rb then T.fail("tf.tensordot", "the ranks of both inputs must be known") end
  local la, lb = {}, {}
  if type(axes) == "number" then
    for i = 1, axes do la[i], lb[i] = ra - axes + i - 1, i - 1 end
  else
    la = type(axes[1]) == "table" and axes[1] or {axes[1]}
    lb = type(axes[2]) == "table" and axes[2] or {axes[2]}
  end
  if #la ~= #lb then T.fail("tf.tensordot", "%d axes of a against %d of b", #la, #lb) end
  local function plan(x, rank, list, front)
    local used, free, sum = {}, {}, {}
    for i, axis in ipairs(list) do
      axis = axis < 0 and axis + rank or axis
      if axis < 0 or axis >= rank or used[axis] then T.fail("tf.tensordot", "axis %d cannot be used", list[i]) end
      used[axis], sum[i] = true, axis
    end
    for axis = 0, rank - 1 do if not used[axis] then free[#free + 1] = axis end end
    local perm = {}
    for _, axis in ipairs(front and sum or free) do perm[#perm + 1] = axis end
    for _, axis in ipairs(front and free or sum) do perm[#perm + 1] = axis end
    local shape = tf.shape(x)
    local static, dims = x.shape, {}
    local function extent(axis) return static[axis + 1] >= 0 and static[axis + 1] or shape[axis + 1] end
    local function product(axes)
      local n = 1
      for _, axis in ipairs(axes) do n = extent(axis) * n end
      return n
    end
    for i, axis in ipairs(free) do dims[i] = extent(axis) end
    local rows, count = product(free), product(sum)
    local moved = raw.Transpose(x, perm)
    return raw.Reshape(moved, front and {count, rows} or {rows, count}), dims
  end
  local ma, da = plan(a, ra, la, false)
  local mb, db = plan(b, rb, lb, true)
  local shape = {}
  for _, d in ipairs(da) do shape[#shape + 1] = d end
  for _, d in ipairs(db) do shape[#shape + 1] = d end
  return raw.Reshape(raw.MatMul(ma, mb), shape)
end)
def("tf.trace", "x name?", function(x, name)
  local s <close> = scope(name, "Trace")
  x = T.value(x)
  local shape = tf.shape(x)
  local eye = tf.eye(x.shape[x:rank() - 1] >= 0 and x.shape[x:rank() - 1] or shape[x:rank() - 1],
    x.shape[x:rank()] >= 0 and x.shape[x:rank()] or shape[x:rank()], nil, x.dtype)
  return raw.Sum(raw.SelectV2(raw.NotEqual(eye, raw.ZerosLike(eye)), x, raw.ZerosLike(x)), {-2, -1})
end)

-- ------------------------------------------------------------------------------------- counting, segments

def("tf.bincount", "arr weights? minlength? maxlength? dtype=int32 name?",
  function(arr, weights, minlength, maxlength, dtype, name)
    local s <close> = scope(name, "bincount")
    arr = raw.Reshape(arr, {-1})
    if arr.dtype ~= "int32" then arr = raw.Cast(arr, {DstT = "int32"}) end
    local some = raw.Cast(raw.Greater(raw.Size(arr), 0), {DstT = "int32"})
    local size = some * (raw.Max(arr, {0}) + 1)
    if minlength then size = raw.Maximum(minlength, size) end
    if maxlength then size = raw.Minimum(maxlength, size) end
    weights = weights and raw.Reshape(weights, {-1}) or tf.ones_like(arr, dtype)
    return raw.UnsortedSegmentSum(weights, raw.SelectV2(raw.Less(arr, size), arr, raw.Neg(raw.OnesLike(arr))), size)
  end)
def("tf.confusion_matrix", "labels predictions num_classes? dtype=int32 name? weights?",
  function(labels, predictions, num_classes, dtype, name, weights)
    local s <close> = scope(name, "confusion_matrix")
    labels, predictions = tf.cast(labels, "int64"), tf.cast(predictions, "int64")
    if not num_classes then
      num_classes = raw.Maximum(raw.Max(predictions, {0}), raw.Max(labels, {0})) + 1
    end
    local n = tf.cast(T.value(num_classes, "int64"), "int64")
    local values = weights and tf.cast(weights, dtype) or tf.ones_like(predictions, dtype)
    local flat = raw.UnsortedSegmentSum(values, labels * n + predictions, n * n)
    return raw.Reshape(flat, tf.stack{n, n})
  end)
local function counts(x, data, ids, n)
  local rank = data:rank()
  local ones = tf.ones_like(ids, data.dtype)
  local c = raw.Maximum(raw.UnsortedSegmentSum(ones, ids, n), raw.OnesLike(raw.UnsortedSegmentSum(ones, ids, n)))
  local extra = {}
  for i = 1, rank - ids:rank() do extra[i] = 1 end
  return #extra == 0 and c or raw.Reshape(c, raw.ConcatV2({raw.Shape(c), tf.constant(extra, "int32")}, 0))
end
def("tf.unsorted_segment_mean", "data segment_ids num_segments name?", function(data, ids, n, name)
  local s <close> = scope(name, "UnsortedSegmentMean")
  data, ids = T.value(data), T.value(ids, "int32")
  return raw.UnsortedSegmentSum(data, ids, n) / counts(nil, data, ids, n)
end)
def("tf.unsorted_segment_sqrt_n", "data segment_ids num_segments name?", function(data, ids, n, name)
  local s <close> = scope(name, "UnsortedSegmentSqrtN")
  data, ids = T.value(data), T.value(ids, "int32")
  return raw.UnsortedSegmentSum(data, ids, n) / raw.Sqrt(counts(nil, data, ids, n))
end)
for name, op in pairs {sum = "SparseSegmentSum", mean = "SparseSegmentMean", sqrt_n = "SparseSegmentSqrtN"} do
  def("tf.sparse_segment_" .. name, "data indices segment_ids name? num_segments?",
    function(data, indices, ids, n, num)
      if num then return raw[op .. "WithNumSegments"](data, indices, ids, num, {name = n}) end
      return raw[op](data, indices, ids, {name = n})
    end)
end
def("tf.math.polyval", "coeffs x name?", function(coeffs, x, name)
  local s <close> = scope(name, "polyval")
  x = T.value(x)
  local y = T.value(coeffs[1], x.dtype)
  for i = 2, #coeffs do y = y * x + coeffs[i] end
  return y
end)

-- tf.math.x and tf.linalg.x for what tf, tf.nn have under that name.
local function mirror(space, from, names)
  local target = T.namespace(space)
  for name in names:gmatch "%S+" do if rawget(target, name) == nil then target[name] = from[name] end end
end
mirror("tf.math", tf, "abs negative sign square sqrt rsqrt exp expm1 log log1p sin cos tan asin acos atan sinh cosh asinh acosh atanh tanh sigmoid erf erfc lgamma digamma floor ceil round rint reciprocal is_nan is_inf is_finite logical_not log_sigmoid add subtract multiply divide truediv floordiv floormod mod pow maximum minimum squared_difference atan2 xlogy xdivy zeta polygamma igamma igammac betainc cross equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor reduce_sum reduce_mean reduce_prod reduce_min reduce_max reduce_all reduce_any reduce_logsumexp argmax argmin cumsum cumprod add_n accumulate_n count_nonzero scalar_mul bincount confusion_matrix segment_sum segment_mean segment_prod segment_min segment_max unsorted_segment_sum unsorted_segment_mean unsorted_segment_prod unsorted_segment_min unsorted_segment_max unsorted_segment_sqrt_n real imag conj angle")
mirror("tf.linalg", tf, "matmul trace norm matrix_transpose tensordot einsum cross")
-- These live in files of their own, which are loaded when they are called.
for name, from in pairs {top_k = "nn", l2_normalize = "nn", in_top_k = "nn", log_softmax = "nn",
  softmax = "nn", zero_fraction = "nn"} do
  T.namespace "tf.math"[name] = function(...) return tf[from][name](...) end
end
T.namespace "tf.math".invert_permutation = function(...) return tf.invert_permutation(...) end
T.namespace "tf.linalg".l2_normalize = function(...) return tf.nn.l2_normalize(...) end
T.namespace "tf.linalg".eye = function(...) return tf.eye(...) end
T.namespace "tf.linalg".transpose = tf.matrix_transpose
