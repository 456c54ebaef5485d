-- provides tf: placeholder placeholder_with_default constant convert_to_tensor zeros ones fill zeros_like ones_like shape shape_n size rank reshape transpose expand_dims squeeze concat stack parallel_stack unstack split slice strided_slice tile pad gather gather_nd batch_gather where one_hot boolean_mask reverse reverse_sequence sequence_mask meshgrid eye broadcast_to broadcast_static_shape broadcast_dynamic_shape roll dynamic_partition dynamic_stitch scatter_nd tensor_scatter_update tensor_scatter_add tensor_scatter_sub tensor_scatter_max tensor_scatter_min tensor_scatter_nd_update tensor_scatter_nd_add tensor_scatter_nd_sub unique unique_with_counts setdiff1d invert_permutation space_to_depth depth_to_space space_to_batch_nd batch_to_space_nd space_to_batch batch_to_space unravel_index ensure_shape repeat repeat_ extract_image_patches extract_volume_patches sort argsort searchsorted
-- provides tf.manip: roll reshape reverse tile gather_nd scatter_nd space_to_batch_nd batch_to_space_nd
-- provides tf: guarantee_const newaxis
-- Making, shaping, joining and picking.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope

local function ops(list)
  for name, signature, op in list:gmatch "(%S+)%s+([^>\n]+)>%s*(%S+)" do
    def("tf." .. name, signature .. " name?", op)
  end
end

ops [[
tile input multiples > Tile
invert_permutation x > InvertPermutation
broadcast_to input shape > BroadcastTo
broadcast_dynamic_shape shape_x shape_y > BroadcastArgs
scatter_nd indices updates shape > ScatterNd
tensor_scatter_update tensor indices updates > TensorScatterUpdate
tensor_scatter_add tensor indices updates > TensorScatterAdd
tensor_scatter_sub tensor indices updates > TensorScatterSub
tensor_scatter_max tensor indices updates > TensorScatterMax
tensor_scatter_min tensor indices updates > TensorScatterMin
tensor_scatter_nd_update tensor indices updates > TensorScatterUpdate
tensor_scatter_nd_add tensor indices updates > TensorScatterAdd
tensor_scatter_nd_sub tensor indices updates > TensorScatterSub
unravel_index indices dims > UnravelIndex
dynamic_stitch indices data > DynamicStitch
]]

-- ------------------------------------------------------------------------------------- making

def("tf.placeholder", "dtype shape=false name?", function(dtype, shape, name)
  if tf.executing_eagerly() then T.fail("tf.placeholder", "there are no placeholders in define-by-run mode") end
  return raw.Placeholder{dtype = dtype, shape = shape, name = name}
end)
def("tf.placeholder_with_default", "input shape name?", function(input, shape, name)
  input = T.value(input)
  if T.kind(input) == "Tensor" and not tf.executing_eagerly() then
    input = raw.Const{value = input, dtype = input.dtype}
  end
  return raw.PlaceholderWithDefault(input, {shape = shape, name = name})
end)
-- A shape as the input of an op: int64 where an extent needs it.
local function shape_input(shape)
  if type(shape) == "number" then shape = {shape} end
  if type(shape) ~= "table" or T.kind(shape) then return shape end
  local dtype = "int32"
  for _, d in ipairs(shape) do
    if T.kind(d) then return shape end
    if d > 2147483647 then dtype = "int64" end
  end
  return tf.tensor(shape, dtype)
end
T.shape_input = shape_input

local function product(shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end

-- The tensor of a constant; with a shape, the last value fills what is missing.
local function constant_tensor(value, dtype, shape, who)
  local t = tf.tensor(value, dtype)
  if T.kind(t) ~= "Tensor" then T.fail(who, "a node is no constant") end
  if not shape then return t end
  local n = product(shape)
  if t:size() == n then return raw.Reshape(t, tf.tensor(shape, "int32")) end
  if t:size() == 1 then return raw.Fill(shape_input(shape), raw.Reshape(t, tf.tensor({}, "int32")), {now = true}) end
  local flat = raw.Reshape(t, tf.tensor({-1}, "int32"))
  if t:size() > n or t:size() == 0 then
    T.fail(who, "%d values do not fit into shape {%s}", t:size(), table.concat(shape, ", "))
  end
  local rest = raw.Fill(tf.tensor({n - t:size()}, "int32"), flat[-1])
  return raw.Reshape(raw.ConcatV2({flat, rest}, tf.tensor(0, "int32")), tf.tensor(shape, "int32"))
end
def("tf.constant", "value dtype? shape? name=Const verify_shape=false", function(value, dtype, shape, name)
  if T.kind(value) == "Node" then T.fail("tf.constant", "a node is no constant") end
  local t = constant_tensor(value, dtype, shape, "tf.constant")
  if tf.executing_eagerly() then return t end
  return raw.Const{value = t, dtype = t.dtype, name = name}
end)
def("tf.convert_to_tensor", "value dtype? name? preferred_dtype?", function(value, dtype, name, preferred)
  local x = T.value(value, dtype or preferred)
  if dtype and x.dtype ~= dtype then
    T.fail("tf.convert_to_tensor", "the value is %s, not %s", x.dtype, dtype)
  end
  return x
end)

-- A fill of literals alone: the mode decides, though the value is made as a tensor here.
local function fill_by_mode(number, shape, dtype, name, default)
  local value = number
  if dtype == "bool" then value = number ~= 0 elseif dtype == "string" then value = "" end
  local dims = shape_input(shape)
  local lua_dims = type(shape) == "table" and not T.kind(shape) and shape or type(shape) == "number" and {shape} or dims
  local index = T.kind(dims) and dims.dtype == "int64" and "int64" or "int32"
  return raw.Fill(lua_dims, value, {T = dtype, index_type = T.kind(lua_dims) and lua_dims.dtype or index, name = name or default})
end
def("tf.zeros", "shape dtype=float32 name?", function(shape, dtype, name)
  return fill_by_mode(0, shape, dtype, name, "zeros")
end)
def("tf.ones", "shape dtype=float32 name?", function(shape, dtype, name)
  return fill_by_mode(1, shape, dtype, name, "ones")
end)
def("tf.fill", "dims value name?", function(dims, value, name)
  return raw.Fill(dims, value, {name = name})
end)
def("tf.zeros_like", "tensor|input dtype? name? optimize=true", function(x, dtype, name)
  x = T.value(x)
  if dtype and dtype ~= x.dtype then
    return raw.Cast(raw.ZerosLike(x), {DstT = dtype, name = name})
  end
  return raw.ZerosLike(x, {name = name})
end)
def("tf.ones_like", "tensor|input dtype? name? optimize=true", function(x, dtype, name)
  x = T.value(x)
  if dtype and dtype ~= x.dtype then
    return raw.Cast(raw.OnesLike(x), {DstT = dtype, name = name})
  end
  return raw.OnesLike(x, {name = name})
end)
def("tf.eye", "num_rows num_columns? batch_shape? dtype=float32 name?",
  function(rows, columns, batch, dtype, name)
    local s <close> = scope(name, "eye")
    columns = columns or rows
    local r, c = raw.Range(0, rows, 1, {Tidx = "int32"}), raw.Range(0, columns, 1, {Tidx = "int32"})
    local eye = raw.Cast(raw.Equal(raw.ExpandDims(r, 1), raw.ExpandDims(c, 0)), {DstT = dtype})
    if not batch then return eye end
    local full = {}
    for i, d in ipairs(batch) do full[i] = d end
    full[#full + 1], full[#full + 2] = rows, columns
    return raw.BroadcastTo(eye, full)
  end)
def("tf.one_hot", "indices depth on_value? off_value? axis=-1 dtype? name?",
  function(indices, depth, on, off, axis, dtype, name)
    if not T.kind(indices) then indices = tf.tensor(indices, "int64") end
    if not dtype then
      for _, v in ipairs {on or false, off or false} do
        if T.kind(v) then dtype = v.dtype elseif type(v) == "boolean" and v then dtype = "bool" end
      end
      dtype = dtype or "float32"
    end
    if on == nil then on = dtype == "bool" and true or 1 end
    if off == nil then
      if dtype == "bool" then off = false else off = 0 end
    end
    return raw.OneHot(indices, depth, on, off, {axis = axis, T = dtype, name = name})
  end)
def("tf.sequence_mask", "lengths maxlen? dtype=bool name?", function(lengths, maxlen, dtype, name)
  local s <close> = scope(name, "SequenceMask")
  lengths = T.value(lengths, "int32")
  maxlen = maxlen or raw.Max(lengths, T.axes_of and T.axes_of(lengths) or {0})
  local row = raw.Range(T.value(0, lengths.dtype), maxlen, T.value(1, lengths.dtype))
  local mask = raw.Less(row, raw.ExpandDims(lengths, -1))
  return dtype == "bool" and mask or raw.Cast(mask, {DstT = dtype})
end)
function tf.meshgrid(...)
  local list = {...}
  local options = T.is_options(list[#list]) and table.remove(list) or {}
  for key in pairs(options) do
    if key ~= "indexing" and key ~= "name" then T.fail("tf.meshgrid", "unknown option '%s'; there are 'indexing' and 'name'", key) end
  end
  local indexing, n, out, sizes = options.indexing or "xy", #list, {}, {}
  local s <close> = scope(options.name, "meshgrid")
  for i, x in ipairs(list) do
    list[i] = T.value(x)
    sizes[i] = raw.Size(list[i])
  end
  local ones = {}
  for i = 1, n do ones[i] = 1 end
  local shape = {table.unpack(sizes)}
  local place = {}
  for i = 1, n do place[i] = i end
  if indexing == "xy" and n > 1 then
    place[1], place[2] = 2, 1
    shape[1], shape[2] = sizes[2], sizes[1]
  end
  local full = n > 0 and tf.stack(shape) or nil
  for i, x in ipairs(list) do
    local dims = {table.unpack(ones)}
    dims[place[i]] = -1
    out[i] = raw.BroadcastTo(raw.Reshape(x, dims), full)
  end
  return out
end

-- ------------------------------------------------------------------------------------- shapes

def("tf.shape", "input name? out_type=int32", function(input, name, out)
  return raw.Shape(T.value(input), {out_type = out, name = name})
end)
def("tf.shape_n", "input out_type=int32 name?", function(input, out, name)
  return raw.ShapeN(input, {out_type = out, name = name})
end)
def("tf.size", "input name? out_type=int32", function(input, name, out)
  return raw.Size(T.value(input), {out_type = out, name = name})
end)
def("tf.rank", "input name?", function(input, name) return raw.Rank(T.value(input), {name = name}) end)
def("tf.reshape", "tensor shape name?", "Reshape")
def("tf.transpose", "a|x perm? name? conjugate=false", function(a, perm, name)
  a = T.value(a)
  if not perm then
    local rank = a:rank()
    if rank then
      perm = {}
      for i = 1, rank do perm[i] = rank - i end
    else
      perm = raw.Range(raw.Rank(a) - 1, -1, -1)
    end
  end
  return raw.Transpose(a, perm, {name = name})
end)
def("tf.expand_dims", "input axis|dim name?", "ExpandDims")
def("tf.squeeze", "input axis|squeeze_dims? name?", function(input, axis, name)
  if type(axis) == "number" then axis = {axis} end
  return raw.Squeeze(T.value(input), {squeeze_dims = axis, name = name})
end)
def("tf.ensure_shape", "x shape name?", function(x, shape, name)
  return raw.EnsureShape(x, {shape = shape, name = name})
end)
def("tf.broadcast_static_shape", "shape_x shape_y", function(a, b)
  local out, n = {}, math.max(#a, #b)
  for i = 0, n - 1 do
    local x, y = a[#a - i] or 1, b[#b - i] or 1
    if x ~= 1 and y ~= 1 and x ~= y then
      T.fail("tf.broadcast_static_shape", "extents %d and %d cannot be broadcast together", x, y)
    end
    out[n - i] = x == 1 and y or x
  end
  return out
end)
def("tf.guarantee_const", "input name?", function(x, name) return raw.Identity(x, {name = name}) end)

-- ------------------------------------------------------------------------------------- joining and cutting

def("tf.concat", "values axis name=concat", function(values, axis, name)
  if T.kind(values) then return raw.Identity(values, {name = name}) end
  if type(values) == "number" then values, axis = axis, values end -- the order of TensorFlow before 1.0
  if #values == 1 then return raw.Identity(values[1], {name = name}) end
  return raw.ConcatV2(values, axis, {name = name})
end)
def("tf.stack", "values axis=0 name=stack", function(values, axis, name)
  return raw.Pack(values, {axis = axis, name = name})
end)
def("tf.parallel_stack", "values name?", function(values, name) return raw.Pack(values, {axis = 0, name = name}) end)
def("tf.unstack", "value num? axis=0 name=unstack", function(value, num, axis, name)
  value = T.value(value)
  if not num then
    local shape, rank = value.shape, value:rank()
    if not rank then T.fail("tf.unstack", "the shape is not known; give 'num'") end
    local at = axis < 0 and axis + rank or axis
    if at < 0 or at >= rank then T.fail("tf.unstack", "axis %d of a tensor of rank %d", axis, rank) end
    num = shape[at + 1]
    if num < 0 then T.fail("tf.unstack", "the extent of axis %d is not known; give 'num'", axis) end
  end
  return raw.Unpack(value, {num = num, axis = axis, name = name})
end)
def("tf.split", "value num_or_size_splits axis|split_dim=0 num? name=split", function(value, sizes, axis, num, name)
  value = T.value(value)
  if type(sizes) == "number" then
    local most = value.shape and math.max(table.unpack(value.shape)) or 65535
    if sizes < 1 or (most >= 0 and sizes > most) or sizes > 65535 then
      T.fail("tf.split", "shape (%s) cannot be cut into %s parts", value.shape and table.concat(value.shape, ", ") or "?", sizes)
    end
    return raw.Split(axis, value, {num_split = sizes, name = name})
  end
  if type(sizes) == "table" and not T.kind(sizes) then num = #sizes end
  num = num or T.kind(sizes) and sizes.shape and sizes.shape[1]
  if not num or num < 0 then T.fail("tf.split", "the number of parts is not known; give 'num'") end
  return raw.SplitV(value, sizes, axis, {num_split = num, name = name})
end)
def("tf.slice", "input_|input begin size name?", "Slice")
def("tf.strided_slice", "input_|input begin end|end_? strides? begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0 var? name?",
  function(input, from, to, strides, begin_mask, end_mask, ellipsis, new_axis, shrink, _, name)
    if not strides then
      strides = type(from) == "table" and not T.kind(from) and {} or raw.OnesLike(from)
      if not T.kind(strides) then for i = 1, #from do strides[i] = 1 end end
    end
    return raw.StridedSlice(input, from, to, strides, {begin_mask = begin_mask, end_mask = end_mask,
      ellipsis_mask = ellipsis, new_axis_mask = new_axis, shrink_axis_mask = shrink, name = name})
  end)
def("tf.pad", "tensor paddings mode=CONSTANT name? constant_values=0", function(x, paddings, mode, name, value)
  mode = mode:upper()
  if mode == "CONSTANT" then
    if value ~= 0 then return raw.PadV2(x, paddings, value, {name = name}) end
    return raw.Pad(x, paddings, {name = name})
  end
  if mode ~= "REFLECT" and mode ~= "SYMMETRIC" then
    T.fail("tf.pad", "option 'mode' cannot be '%s'; there are CONSTANT, REFLECT, SYMMETRIC", mode)
  end
  return raw.MirrorPad(x, paddings, {mode = mode, name = name})
end)

-- ------------------------------------------------------------------------------------- picking

local function integer(x)
  if T.kind(x) then return x end
  return T.value(x, "int32")
end
def("tf.gather", "params indices validate_indices? name? axis? batch_dims=0",
  function(params, indices, _, name, axis, batch_dims)
    if T.kind(params) == "Variable" and (axis or 0) == 0 and batch_dims == 0 then
      return raw.ResourceGather(params, indices, {dtype = params.dtype, name = name})
    end
    return raw.GatherV2(params, indices, axis or batch_dims, {batch_dims = batch_dims, name = name})
  end)
def("tf.gather_nd", "params indices name? batch_dims=0", function(params, indices, name, batch_dims)
  if batch_dims == 0 then return raw.GatherNd(params, indices, {name = name}) end
  local s <close> = scope(name, "gather_nd")
  params, indices = T.value(params), integer(indices)
  local shape, rank = raw.Shape(indices), indices:rank()
  local batch = raw.StridedSlice(shape, {0}, {batch_dims}, {1})
  local parts = {}
  for i = 1, batch_dims do -- the position along batch axis i, as one more index in front
    local dims = {}
    for k = 1, rank do dims[k] = 1 end
    dims[i] = -1
    local line = raw.Cast(raw.Range(0, batch[i], 1), {DstT = indices.dtype})
    local full = raw.ConcatV2({raw.StridedSlice(shape, {0}, {-1}, {1}), tf.tensor({1}, "int32")}, 0)
    parts[i] = raw.BroadcastTo(raw.Reshape(line, dims), full)
  end
  parts[#parts + 1] = indices
  return raw.GatherNd(params, raw.ConcatV2(parts, -1))
end)
def("tf.batch_gather", "params indices name?", function(params, indices, name)
  indices = integer(indices)
  local b = indices:rank() - 1
  return raw.GatherV2(params, indices, b, {batch_dims = b, name = name})
end)
def("tf.where", "condition x? y? name?", function(condition, x, y, name)
  if x == nil and y == nil then return raw.Where(T.value(condition, "bool"), {name = name}) end
  if x == nil or y == nil then T.fail("tf.where", "give both 'x' and 'y', or neither") end
  condition = T.value(condition, "bool")
  local rc, sx = condition:rank(), T.kind(x) and x.shape or T.kind(y) and y.shape
  if rc == 1 and sx and #sx > 1 then return raw.Select(condition, x, y, {name = name}) end -- a row each
  return raw.SelectV2(condition, x, y, {name = name})
end)
def("tf.boolean_mask", "tensor mask name=boolean_mask axis?", function(x, mask, name, axis)
  local s <close> = scope(name)
  x, mask = T.value(x), T.value(mask, "bool")
  local rm, rx = mask:rank(), x:rank()
  if not rm or rm == 0 then T.fail("tf.boolean_mask", "the mask must have a known rank above 0") end
  axis = axis or 0
  if axis < 0 then axis = axis + rx end
  local dims, shape, static = {}, raw.Shape(x), x.shape
  for i = 1, axis do dims[#dims + 1] = static[i] >= 0 and static[i] or shape[i] end
  dims[#dims + 1] = -1
  for i = axis + rm + 1, rx do dims[#dims + 1] = static[i] >= 0 and static[i] or shape[i] end
  for i = 1, rm do
    local a, b = static[axis + i], mask.shape[i]
    if a >= 0 and b >= 0 and a ~= b then
      T.fail("tf.boolean_mask", "the mask has %d along its axis %d, the tensor %d", b, i - 1, a)
    end
  end
  local at = raw.Squeeze(raw.Where(raw.Reshape(mask, {-1})), {squeeze_dims = {1}})
  return raw.GatherV2(raw.Reshape(x, dims), at, axis)
end)
def("tf.reverse", "tensor axis name?", function(x, axis, name)
  if type(axis) == "number" then axis = {axis} end
  return raw.ReverseV2(x, axis, {name = name})
end)
def("tf.reverse_sequence", "input seq_lengths seq_axis|seq_dim? batch_axis|batch_dim=0 name?",
  function(input, lengths, seq, batch, name)
    return raw.ReverseSequence(input, lengths, {seq_dim = seq, batch_dim = batch, name = name})
  end)
def("tf.roll", "input shift axis name?", "Roll")
def("tf.dynamic_partition", "data partitions num_partitions name?", function(data, partitions, n, name)
  return raw.DynamicPartition(data, partitions, {num_partitions = n, name = name})
end)
def("tf.unique", "x out_idx=int32 name?", function(x, out, name)
  return raw.Unique(x, {out_idx = out, name = name})
end)
def("tf.unique_with_counts", "x out_idx=int32 name?", function(x, out, name)
  return raw.UniqueWithCounts(x, {out_idx = out, name = name})
end)
def("tf.setdiff1d", "x y index_dtype=int32 name?", function(x, y, out, name)
  return raw.ListDiff(x, y, {out_idx = out, name = name})
end)
def("tf.repeat", "input|x repeats axis? name?", function(x, repeats, axis, name)
  local s <close> = scope(name, "Repeat")
  x = T.value(x)
  if axis == nil then x, axis = raw.Reshape(x, {-1}), 0 end
  repeats = integer(repeats)
  local n = raw.Shape(x)[axis < 0 and axis or axis + 1]
  repeats = raw.BroadcastTo(raw.Reshape(repeats, {-1}), raw.ExpandDims(n, 0))
  local mask = tf.sequence_mask(repeats)
  local rows = raw.Range(0, n, 1)
  local grid = raw.BroadcastTo(raw.ExpandDims(rows, 1), raw.Shape(mask))
  return raw.GatherV2(x, tf.boolean_mask(grid, mask), axis)
end)
tf.repeat_ = tf["repeat"] -- `repeat` is a word of Lua
for name, op in pairs {space_to_depth = "SpaceToDepth", depth_to_space = "DepthToSpace"} do
  def("tf." .. name, "input block_size name? data_format=NHWC", function(x, block, n, format)
    return raw[op](x, {block_size = block, data_format = format, name = n})
  end)
end
def("tf.space_to_batch_nd", "input block_shape paddings name?", "SpaceToBatchND")
def("tf.batch_to_space_nd", "input block_shape crops name?", "BatchToSpaceND")
def("tf.space_to_batch", "input paddings block_size name?", function(x, paddings, block, name)
  return raw.SpaceToBatch(x, paddings, {block_size = block, name = name})
end)
def("tf.batch_to_space", "input crops block_size name?", function(x, crops, block, name)
  return raw.BatchToSpace(x, crops, {block_size = block, name = name})
end)
local function window(v)
  if type(v) == "number" then return {1, v, v, 1} end
  if #v == 2 then return {1, v[1], v[2], 1} end
  return v
end
def("tf.extract_image_patches", "images ksizes|sizes strides rates padding name?", function(x, sizes, strides, rates, padding, name)
  return raw.ExtractImagePatches(x, {ksizes = window(sizes), strides = window(strides), rates = window(rates), padding = padding, name = name})
end)
def("tf.extract_volume_patches", "input ksizes strides padding name?", function(x, sizes, strides, padding, name)
  return raw.ExtractVolumePatches(x, {ksizes = sizes, strides = strides, padding = padding, name = name})
end)
def("tf.sort", "values axis=-1 direction=ASCENDING name?", function(x, axis, direction, name)
  local s <close> = scope(name, "sort")
  x = T.value(x)
  local rank = x:rank()
  local at = axis < 0 and axis + rank or axis
  local perm
  if at ~= rank - 1 then
    perm = {}
    for i = 1, rank do perm[i] = i - 1 end
    perm[at + 1], perm[rank] = rank - 1, at
    x = raw.Transpose(x, perm)
  end
  local k = x.shape[rank] >= 0 and x.shape[rank] or raw.Shape(x)[-1]
  local y
  if direction == "DESCENDING" then y = raw.TopKV2(x, k)
  else y = raw.Neg((raw.TopKV2(raw.Neg(x), k))) end
  return perm and raw.Transpose(y, perm) or y
end)
def("tf.argsort", "values axis=-1 direction=ASCENDING stable=false name?", function(x, axis, direction, _, name)
  local s <close> = scope(name, "argsort")
  x = T.value(x)
  local rank = x:rank()
  local at = axis < 0 and axis + rank or axis
  local perm
  if at ~= rank - 1 then
    perm = {}
    for i = 1, rank do perm[i] = i - 1 end
    perm[at + 1], perm[rank] = rank - 1, at
    x = raw.Transpose(x, perm)
  end
  local k = x.shape[rank] >= 0 and x.shape[rank] or raw.Shape(x)[-1]
  local _, y = raw.TopKV2(direction == "DESCENDING" and x or raw.Neg(x), k)
  return perm and raw.Transpose(y, perm) or y
end)
def("tf.searchsorted", "sorted_sequence values side=left out_type=int32 name?", function(sorted, values, side, out, name)
  local op = side == "right" and "UpperBound" or "LowerBound"
  sorted, values = T.value(sorted), T.value(values)
  local flat_s, flat_v = sorted, values
  if sorted:rank() == 1 then flat_s, flat_v = raw.ExpandDims(sorted, 0), raw.ExpandDims(raw.Reshape(values, {-1}), 0) end
  local y = raw[op](flat_s, flat_v, {out_type = out, name = name})
  return raw.Reshape(y, raw.Shape(values))
end)
tf.newaxis = false

local manip = T.namespace "tf.manip"
for _, name in ipairs {"roll", "reshape", "reverse", "tile", "gather_nd", "scatter_nd", "space_to_batch_nd",
  "batch_to_space_nd"} do manip[name] = tf[name] end
