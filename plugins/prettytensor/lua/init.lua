-- tf.prettytensor: a tensor that layers are called on, each giving the next.
--
--     local pt = tf.prettytensor
--     local softmax, loss = pt.wrap(images):flatten():fully_connected(200, {activation_fn = tf.nn.relu}):softmax_classifier(10, labels)
--
-- A wrapped value has its tensor in `.tensor`; operators and the methods of tensors work on it, too. Defaults that hold for many calls
-- are said by defaults_scope; what a call says goes before.
local tf, T = ...
local raw = tf.raw
local pt = T.namespace "tf.prettytensor"
local KEYS = tf.GraphKeys

pt.Phase = {train = "train", test = "test", infer = "infer"}
pt.DIM_SAME, pt.DIM_REST = "same", "rest"
local MARKED = "prettytensor/marked_losses"

-- ------------------------------------------------------------------------------------- defaults

local known = {activation_fn = true, batch_normalize = true, l2loss = true, learned_moments_update_rate = true, parameter_modifier = true, phase = true,
  scale_after_normalization = true, summary_collections = true, trainable_variables = true, variable_collections = true, variance_epsilon = true,
  unroll = true}
local scopes = {}
-- defaults_scope({activation_fn = tf.nn.relu, phase = "train"}, function() ... end): inside, calls that leave these open get them.
function pt.defaults_scope(options, fn)
  if type(options) ~= "table" or T.kind(options) then T.fail("tf.prettytensor.defaults_scope", "expects a table of options, not %s", options) end
  if fn ~= nil and type(fn) ~= "function" then T.fail("tf.prettytensor.defaults_scope", "expects a function behind the options, not %s", fn) end
  local names = {}
  for name in pairs(known) do names[#names + 1] = name end
  for name in pairs(options) do
    if not known[name] then
      local near = T.nearest(tostring(name), names)
      T.fail("tf.prettytensor.defaults_scope", "unknown default '%s'%s", name, near and ("; did you mean '%s'?"):format(near) or "")
    end
  end
  scopes[#scopes + 1] = options
  local depth = #scopes
  if not fn then return setmetatable({}, {__close = function() scopes[depth] = nil end}) end
  local results = table.pack(pcall(fn))
  scopes[depth] = nil
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end
local function default(name)
  for i = #scopes, 1, -1 do if scopes[i][name] ~= nil then return scopes[i][name] end end
end
local function chosen(o, name, otherwise)
  if o[name] ~= nil then return o[name] end
  local value = default(name)
  if value ~= nil then return value end
  return otherwise
end
local function training(o) return (chosen(o, "phase", "train")) == "train" end

-- ------------------------------------------------------------------------------------- wrapped values

local Pretty, methods = {}, {}
local function is_pretty(x) return type(x) == "table" and getmetatable(x) == Pretty end
local function unwrap(x) return is_pretty(x) and x.tensor or x end
pt.unwrap, pt.is_wrapped = unwrap, is_pretty
local function wrap(tensor, from)
  return setmetatable({tensor = tensor, layer_parameters = from and from.layer_parameters or {}, mutable = false}, Pretty)
end
function pt.wrap(x)
  if is_pretty(x) then return x end
  if x == nil or type(x) == "function" then T.fail("tf.prettytensor.wrap", "expects a tensor, not %s", x) end
  if not T.kind(x) then x = tf.tensor(x) end
  return wrap(x)
end
-- Results that are values are wrapped; a mutable head moves on and is given back.
local function step(self, value)
  if not T.kind(value) then return value end
  if self.mutable then
    rawset(self, "tensor", value)
    return self
  end
  return wrap(value, self)
end
local function unwrapped(...)
  local args = table.pack(...)
  for i = 1, args.n do
    local x = args[i]
    if is_pretty(x) then args[i] = x.tensor
    elseif type(x) == "table" and getmetatable(x) == nil and T.kind(x) == nil then
      local copy = {}
      for key, value in pairs(x) do copy[key] = unwrap(value) end
      args[i] = copy
    end
  end
  return table.unpack(args, 1, args.n)
end
function Pretty.__index(self, key)
  local method = methods[key]
  if method then
    return T.guard("tf.prettytensor." .. key, function(first, ...) -- (a function of C keeps the caller's line in `return x:method()`)
      if first ~= self then T.fail("tf.prettytensor", "call methods with a colon: x:%s(...)", key) end
      local template = rawget(self, "template")
      if template then return template(self, key, ...) end
      return method(self, ...)
    end)
  end
  local tensor = rawget(self, "tensor")
  if tensor == nil then return nil end
  local value = tensor[key]
  if value == nil and type(key) == "string" and not key:find "^_" then
    local names = {}
    for name in pairs(methods) do names[#names + 1] = name end
    table.sort(names)
    local near = T.nearest(key, names)
    T.fail("tf.prettytensor", "there is no method '%s'%s", key, near and ("; did you mean '%s'?"):format(near) or "")
  end
  if type(value) ~= "function" then return value end
  return function(_, ...) return step(self, value(tensor, unwrapped(...))) end
end
for event, fn in pairs {__add = function(a, b) return a + b end, __sub = function(a, b) return a - b end, __mul = function(a, b) return a * b end,
  __div = function(a, b) return a / b end, __pow = function(a, b) return a ^ b end, __unm = function(a) return -a end} do
  Pretty[event] = function(a, b) return step(is_pretty(a) and a or b, fn(unwrap(a), unwrap(b))) end
end
function Pretty.__tostring(self) return "PrettyTensor(" .. tostring(rawget(self, "tensor") or "a template") .. ")" end

-- Register("name", function(x, ...) ... end): a method of all wrapped values; x is the tensor.
function pt.Register(name, fn)
  if type(name) ~= "string" or type(fn) ~= "function" then T.fail("tf.prettytensor.Register", "expects a name and a function") end
  methods[name] = function(self, ...) return step(self, fn(self.tensor, unwrapped(...))) end
end
-- RegisterCompoundOp: x is wrapped, so that the function is a chain itself.
function pt.RegisterCompoundOp(name, fn)
  methods[name] = function(self, ...)
    local y = fn(wrap(self.tensor, self), ...)
    return step(self, unwrap(y))
  end
end

-- ------------------------------------------------------------------------------------- layers

-- Names of options that many methods share.
local VARIABLES = "name phase parameter_modifier trainable_variables variable_collections summary_collections "
local LAYER = VARIABLES .. "activation_fn batch_normalize l2loss learned_moments_update_rate variance_epsilon scale_after_normalization bias init weights "
local LOSS = "name loss_weight per_example_weights "
local COMPOSITE = "regularize include_marked "
local function options_of(o, who, words) return T.options("tf.prettytensor." .. who, o, words) end
local function whole(n, who, what)
  if math.type(n) ~= "integer" or n < 1 then T.fail("tf.prettytensor." .. who, "%s must be a whole number above 0, not %s", what, n) end
  return n
end
local function apply_fn(fn, x)
  if not fn then return x end
  if type(fn) == "table" and type(fn[1]) == "function" then return fn[1](x, table.unpack(fn, 2)) end
  return fn(x)
end
local relus = {}
local function is_relu(fn)
  if next(relus) == nil then for _, name in ipairs {"relu", "relu6", "elu"} do relus[tf.nn[name]] = true end end
  return fn ~= nil and relus[fn] or false
end
-- He's bounds before a rectifier, Glorot's otherwise; uniform.
local function initial(fan_in, fan_out, activation)
  local bound = is_relu(activation) and math.sqrt(6 / fan_in) or math.sqrt(6 / (fan_in + fan_out))
  return tf.random_uniform_initializer(-bound, bound)
end
local function initializer_of(given, otherwise)
  if given == nil or given == true then return otherwise end
  if type(given) == "number" then return tf.constant_initializer(given) end
  if T.kind(given) then return function() return given end end
  return given
end
local function l2_regularizer(scale)
  if not scale or scale == 0 then return nil end
  return function(w) return raw.L2Loss(w) * scale end
end
-- The function that a layer record asks for weights. names: role -> {name, initializer, regularizer}.
local function giver(self, names, o)
  local modifier = chosen(o, "parameter_modifier")
  local collections = chosen(o, "variable_collections")
  local trainable = chosen(o, "trainable_variables", true)
  return function(role, shape, dtype, proposed, state)
    local w = names[role] or {role}
    local list
    if collections then
      list = {KEYS.GLOBAL_VARIABLES, table.unpack(type(collections) == "table" and collections or {collections})}
    end
    local first = w[2]
    if first == nil then first = T.proposed_initializer(proposed) end
    if first ~= nil and type(first) == "table" and first.fans then first = initial(first.fans(shape)) end
    local v = tf.get_variable(w[1], shape, dtype, first, w[3], trainable and not state, list)
    self.layer_parameters[w[1]] = v
    if modifier and not state then return modifier(w[1], v:value(), o.phase or default "phase" or "train") end
    return v
  end
end
local function scoped(o, name, fn)
  return tf.variable_scope(o.name or false, name, fn)
end
local function run(self, record, inputs, params, names, o)
  local outputs, effects = T.build_layer(record, inputs, params, giver(self, names, o))
  T.collect_effects(effects)
  return outputs[1]
end
local function normalised(self, x, o)
  local arguments = chosen(o, "batch_normalize", false)
  if not arguments then return x end
  local a = type(arguments) == "table" and arguments or {}
  return methods.batch_normalize(wrap(x, self), {phase = o.phase, learned_moments_update_rate = a.learned_moments_update_rate,
    variance_epsilon = a.variance_epsilon, scale_after_normalization = a.scale_after_normalization}).tensor
end
local function finished(self, x, o)
  x = normalised(self, x, o)
  x = apply_fn(chosen(o, "activation_fn"), x)
  return step(self, x)
end

function methods.fully_connected(self, size, o)
  o = options_of(o, "fully_connected", LAYER .. "transpose_weights")
  local x, who = self.tensor, "tf.prettytensor.fully_connected"
  whole(size, "fully_connected", "the size")
  if #x.shape ~= 2 then T.fail(who, "expects a matrix {batch, features}; the input's shape is {%s} (flatten() first)", table.concat(x.shape, ", ")) end
  local activation = chosen(o, "activation_fn")
  local y = scoped(o, "fully_connected", function()
    local names = {kernel = {"weights", initializer_of(o.weights or o.init, initial(x.shape[2], size, activation)), l2_regularizer(chosen(o, "l2loss"))},
      bias = {"bias", initializer_of(o.bias, tf.zeros_initializer())}}
    if o.transpose_weights then
      local w = giver(self, {kernel = names.kernel}, o)("kernel", {size, x.shape[2]}, x.dtype, "glorot_uniform", false)
      local product = tf.matmul(x, w, {transpose_b = true})
      if o.bias == false then return product end
      return product + giver(self, {bias = names.bias}, o)("bias", {size}, x.dtype, "zeros", false)
    end
    return run(self, "dense", {x}, {units = size, use_bias = o.bias ~= false}, names, o)
  end)
  return finished(self, y, o)
end
local function pair(k, who, what)
  if type(k) == "number" then return {k, k} end
  if type(k) ~= "table" or #k ~= 2 then T.fail(who, "'%s' must be a number or {rows, columns}, not %s", what, T.shown(k)) end
  return k
end
local function images(self, who)
  if #self.tensor.shape ~= 4 then T.fail(who, "expects images {batch, rows, columns, channels}; the input's shape is {%s}", table.concat(self.tensor.shape, ", ")) end
  return self.tensor
end
function methods.conv2d(self, kernel, depth, o)
  o = options_of(o, "conv2d", LAYER .. "stride edges")
  local who = "tf.prettytensor.conv2d"
  whole(depth, "conv2d", "the depth")
  local x, size = images(self, who), pair(kernel, who, "kernel")
  local fan = size[1] * size[2]
  local y = scoped(o, "conv2d", function()
    return run(self, "conv2d", {x}, {filters = depth, kernel_size = size, strides = pair(o.stride or 1, who, "stride"), padding = (o.edges or "SAME"):lower(),
      use_bias = o.bias ~= false}, {kernel = {"weights", initializer_of(o.weights or o.init, initial(fan * x.shape[4], fan * depth, chosen(o, "activation_fn"))),
      l2_regularizer(chosen(o, "l2loss"))}, bias = {"bias", initializer_of(o.bias, tf.zeros_initializer())}}, o)
  end)
  return finished(self, y, o)
end
function methods.depthwise_conv2d(self, kernel, multiplier, o)
  o = options_of(o, "depthwise_conv2d", LAYER .. "stride edges")
  local who = "tf.prettytensor.depthwise_conv2d"
  local x, size = images(self, who), pair(kernel, who, "kernel")
  local fan = size[1] * size[2]
  local y = scoped(o, "depthwise_conv2d", function()
    return run(self, "depthwise_conv2d", {x}, {kernel_size = size, depth_multiplier = multiplier or 1, strides = pair(o.stride or 1, who, "stride"),
      padding = (o.edges or "SAME"):lower(), use_bias = o.bias ~= false}, {kernel = {"weights",
      initializer_of(o.weights, initial(fan, fan * (multiplier or 1), chosen(o, "activation_fn"))), l2_regularizer(chosen(o, "l2loss"))},
      bias = {"bias", initializer_of(o.bias, tf.zeros_initializer())}}, o)
  end)
  return finished(self, y, o)
end
for name, record in pairs {average_pool = "average_pooling2d", max_pool = "max_pooling2d"} do
  methods[name] = function(self, kernel, stride, o)
    if type(stride) == "table" and not stride[1] then stride, o = nil, stride end
    o = options_of(o, name, "name stride edges")
    local who = "tf.prettytensor." .. name
    local size = pair(kernel, who, "kernel")
    return step(self, T.build_layer(record, {images(self, who)}, {pool_size = size, strides = pair(stride or o.stride or size, who, "stride"),
      padding = (o.edges or "SAME"):lower()})[1])
  end
end
-- Normalises by the batch in training, else by the averages, which move by learned_moments_update_rate.
function methods.batch_normalize(self, o)
  o = options_of(o, "batch_normalize", VARIABLES .. "learned_moments_update_rate variance_epsilon scale_after_normalization")
  local rate, epsilon = chosen(o, "learned_moments_update_rate", 0.0003), chosen(o, "variance_epsilon", 0.001)
  local y = scoped(o, "batch_normalize", function()
    return run(self, "batch_normalization", {self.tensor}, {momentum = 1 - rate, epsilon = epsilon, scale = chosen(o, "scale_after_normalization", false),
      center = true, training = training(o)}, {}, o)
  end)
  return step(self, y)
end
function methods.dropout(self, keep_prob, o)
  o = options_of(o, "dropout", "name phase seed")
  if type(keep_prob) ~= "number" and not T.kind(keep_prob) then T.fail("tf.prettytensor.dropout", "'keep_prob' must be a number or a tensor, not %s", T.shown(keep_prob)) end
  if not training(o) then return step(self, self.mutable and self.tensor or tf.identity(self.tensor)) end
  return step(self, tf.nn.dropout(self.tensor, keep_prob, o.seed and {seed = o.seed} or nil))
end
function methods.diagonal_matrix_mul(self, o)
  o = options_of(o, "diagonal_matrix_mul", "name init l2loss")
  local x = self.tensor
  return step(self, scoped(o, "diagonal_matrix_mul", function()
    local w = tf.get_variable("weights", {x.shape[#x.shape]}, x.dtype, initializer_of(o.init, tf.truncated_normal_initializer(0, 0.1)), l2_regularizer(chosen(o, "l2loss")))
    self.layer_parameters.weights = w
    return x * w
  end))
end
function methods.embedding_lookup(self, count, shape, o)
  o = options_of(o, "embedding_lookup", "name weights")
  if type(shape) == "number" then shape = {shape} end
  return step(self, scoped(o, "embedding_lookup", function()
    local table_ = tf.get_variable("weights", {count, table.unpack(shape)}, "float32", initializer_of(o.weights, nil))
    self.layer_parameters.weights = table_
    return tf.nn.embedding_lookup(table_, self.tensor)
  end))
end

-- ------------------------------------------------------------------------------------- shapes

-- All axes but the batch become one; preserve_batch = false: all.
function methods.flatten(self, o)
  local x = self.tensor
  if type(o) == "table" and o.preserve_batch == false then return step(self, tf.reshape(x, {-1})) end
  local n = 1
  for a = 2, #x.shape do
    if x.shape[a] < 0 then n = -1 break end
    n = n * x.shape[a]
  end
  local batch = x.shape[1]
  return step(self, tf.reshape(x, {n < 0 and batch or -1, n}))
end
-- A list of extents; DIM_SAME keeps that of the input, DIM_REST takes what is left.
function methods.reshape(self, spec)
  if type(spec) ~= "table" or #spec == 0 and next(spec) ~= nil then T.fail("tf.prettytensor.reshape", "the shape must be a list of extents, not %s", T.shown(spec)) end
  local x, list = self.tensor, {}
  for i, d in ipairs(spec) do
    if d == pt.DIM_SAME then
      d = x.shape[i]
      if d == nil then T.fail("tf.prettytensor.reshape", "DIM_SAME stands at axis %d, and the input has %d axes", i - 1, #x.shape) end
    elseif d == pt.DIM_REST then d = -1 end
    list[i] = d
  end
  return step(self, tf.reshape(x, list))
end
local function others_of(list, who)
  if T.kind(list) or is_pretty(list) then return {list} end
  if list ~= nil and (type(list) ~= "table" or #list == 0 and next(list) ~= nil) then T.fail("tf.prettytensor." .. who, "the others must be a list of tensors, not %s", T.shown(list)) end
  return list or {}
end
function methods.concat(self, axis, others)
  local list = {self.tensor}
  others = others_of(others, "concat")
  for _, x in ipairs(others or {}) do list[#list + 1] = unwrap(x) end
  return step(self, tf.concat(list, axis))
end
-- The results of branches together: along the last axis, or by join_function.
function methods.join(self, others, o)
  o = options_of(o, "join", "name join_function batch_normalize activation_fn phase")
  local list = {self.tensor}
  others = others_of(others, "join")
  for _, x in ipairs(others or {}) do list[#list + 1] = unwrap(x) end
  local fn = o.join_function or function(all) return tf.concat(all, -1) end
  local y = fn(list)
  if o.batch_normalize then y = normalised(self, y, o) end
  return step(self, apply_fn(o.activation_fn, y))
end
function methods.split(self, axis, n)
  local out = {}
  for i, x in ipairs(tf.split(self.tensor, n, axis)) do out[i] = wrap(x, self) end
  return out
end
function methods.unzip(self, n)
  local parts, out = {}, {}
  n = n or 2
  local rows = self.tensor.shape[1]
  if rows >= 0 and rows % n ~= 0 then T.fail("tf.prettytensor.unzip", "%d rows cannot be dealt to %d", rows, n) end
  local shape = {table.unpack(self.tensor.shape, 2)}
  local y = tf.reshape(self.tensor, {-1, n, table.unpack(shape)})
  for i, x in ipairs(tf.unstack(y, n, 1)) do
    parts[i] = x
    out[i] = wrap(parts[i], self)
  end
  return out
end
function methods.slice(self, begin, size) return step(self, tf.slice(self.tensor, begin, size)) end
function methods.squeeze(self, axes) return step(self, tf.squeeze(self.tensor, {axis = axes})) end
function methods.stop_gradient(self) return step(self, tf.stop_gradient(self.tensor)) end
function methods.to_dense_one_hot(self, classes) return step(self, tf.one_hot(self.tensor, classes)) end
-- apply(op, ...): any function of a tensor, with this one first.
function methods.apply(self, op, ...)
  local y = op(self.tensor, unwrapped(...))
  return step(self, unwrap(y))
end
methods.apply_op = methods.apply
function methods.apply_with_summary(self, op, ...)
  local y = op(self.tensor, unwrapped(...))
  tf.summary.histogram("activation", y)
  return step(self, y)
end
function methods.map(self, fn) return fn(self) end
for _, name in ipairs {"relu", "relu6", "elu", "softplus", "log_softmax", "l2_normalize"} do
  methods[name] = function(self, ...) return step(self, tf.nn[name](self.tensor, ...)) end
end
for _, name in ipairs {"sigmoid", "tanh", "abs", "exp", "log", "sqrt", "square", "sign", "floor", "ceil"} do
  methods[name] = function(self) return step(self, tf[name](self.tensor)) end
end
for _, name in ipairs {"reduce_mean", "reduce_sum", "reduce_max", "reduce_min", "reduce_prod"} do
  methods[name] = function(self, axis, o) return step(self, tf[name](self.tensor, {axis = axis, keepdims = o and o.keepdims})) end
end
function methods.softmax_activation(self) return step(self, tf.nn.softmax(self.tensor)) end

-- ------------------------------------------------------------------------------------- losses

local function weighted(per_example, o)
  if o.per_example_weights then
    local w = unwrap(o.per_example_weights)
    local sum = tf.reduce_sum(w)
    per_example = tf.reduce_sum(per_example * w) / raw.SelectV2(raw.Equal(sum, 0), raw.OnesLike(sum), sum)
  else
    per_example = tf.reduce_mean(per_example)
  end
  local loss = per_example
  if o.loss_weight then loss = loss * o.loss_weight end
  if T.kind(loss) == "Node" then tf.add_to_collection(KEYS.LOSSES, loss) end
  return loss
end
-- softmax(labels): the probabilities and the loss. Labels are rows of probabilities.
function methods.softmax(self, labels, o)
  o = options_of(o, "softmax", LOSS)
  local y = tf.nn.softmax(self.tensor)
  if labels == nil then return wrap(y, self), nil end
  local loss = tf.nn.softmax_cross_entropy_with_logits {labels = unwrap(labels), logits = self.tensor}
  return wrap(y, self), wrap(weighted(loss, o), self)
end
function methods.softmax_classifier(self, classes, labels, o)
  o = options_of(o, "softmax_classifier", LAYER .. LOSS .. "transpose_weights")
  local plain, of_loss = {}, {loss_weight = o.loss_weight, per_example_weights = o.per_example_weights}
  for key, value in pairs(o) do if of_loss[key] == nil then plain[key] = value end end
  plain.activation_fn, plain.batch_normalize = false, false
  local logits = methods.fully_connected(wrap(self.tensor, self), classes, plain)
  return methods.softmax(logits, labels, of_loss)
end
function methods.cross_entropy(self, labels, o)
  return wrap(weighted(tf.nn.softmax_cross_entropy_with_logits {labels = unwrap(labels), logits = self.tensor}, options_of(o, "cross_entropy", LOSS)), self)
end
function methods.sparse_cross_entropy(self, labels, o)
  return wrap(weighted(tf.nn.sparse_softmax_cross_entropy_with_logits {labels = unwrap(labels), logits = self.tensor}, options_of(o, "sparse_cross_entropy", LOSS)), self)
end
function methods.binary_cross_entropy_with_logits(self, target, o)
  local per = tf.nn.sigmoid_cross_entropy_with_logits {labels = unwrap(target), logits = self.tensor}
  return wrap(weighted(tf.reduce_sum(per, {axis = -1}), options_of(o, "binary_cross_entropy_with_logits", LOSS)), self)
end
-- The sum over all axes but the batch.
local function each_sum(x)
  local axes = {}
  for a = 1, #x.shape - 1 do axes[a] = a end
  return #axes > 0 and tf.reduce_sum(x, {axis = axes}) or x
end
function methods.l2_regression(self, target, o)
  return wrap(weighted(each_sum(tf.square(self.tensor - unwrap(target))), options_of(o, "l2_regression", LOSS)), self)
end
function methods.l1_regression(self, target, o)
  return wrap(weighted(each_sum(tf.abs(self.tensor - unwrap(target))), options_of(o, "l1_regression", LOSS)), self)
end
-- The share of rows whose label is among the topk largest.
local function hits(self, classes, topk)
  return tf.cast(tf.nn.in_top_k(self.tensor, tf.cast(classes, "int64"), topk or 1), "float32")
end
function methods.evaluate_classifier(self, labels, topk) return tf.reduce_mean(hits(self, tf.argmax(unwrap(labels), 1), topk)) end
function methods.evaluate_classifier_sparse(self, labels, topk) return tf.reduce_mean(hits(self, unwrap(labels), topk)) end
methods.evaluate_classifier_fraction = function(self, labels, topk)
  local h = hits(self, tf.argmax(unwrap(labels), 1), topk)
  return tf.reduce_sum(h), tf.cast(tf.size(h), "float32")
end
function methods.evaluate_precision_recall(self, labels, threshold)
  local yes, truth = tf.cast(tf.greater(self.tensor, threshold or 0.5), "float32"), tf.cast(unwrap(labels), "float32")
  local both = tf.reduce_sum(yes * truth)
  local function ratio(a, b) return a / tf.maximum(b, 1e-12) end
  return ratio(both, tf.reduce_sum(yes)), ratio(both, tf.reduce_sum(truth))
end
-- Counts towards the loss of apply_optimizer (include_marked).
function methods.mark_as_required(self)
  tf.add_to_collection(MARKED, self.tensor)
  return self
end

-- ------------------------------------------------------------------------------------- chains that move

-- sequential(): each call moves the head and gives it back; as_layer() ends that.
function methods.sequential(self)
  local head = wrap(self.tensor, self)
  rawset(head, "mutable", true)
  return head
end
function methods.as_layer(self) return wrap(self.tensor, self) end
-- subdivide(n, function(tower1, tower2, ...) ... end): towers begin at the head; their ends are joined along the last axis (subdivide_with: by
-- a function) and become the head.
local function subdivide(self, n, join, fn)
  if not self.mutable then T.fail("tf.prettytensor.subdivide", "only a sequential() can be subdivided") end
  local towers = {}
  for i = 1, n do
    towers[i] = wrap(self.tensor, self)
    rawset(towers[i], "mutable", true)
  end
  fn(table.unpack(towers))
  local ends = {}
  for i, tower in ipairs(towers) do ends[i] = tower.tensor end
  rawset(self, "tensor", join(ends))
  return self
end
function methods.subdivide(self, n, fn) return subdivide(self, n, function(ends) return tf.concat(ends, -1) end, fn) end
function methods.subdivide_with(self, n, join, fn) return subdivide(self, n, join, fn) end

-- ------------------------------------------------------------------------------------- templates

-- template("input"): a chain without its input. construct{input = x} builds it, each time with the same parameters. UnboundVariable("labels")
-- stands for another value that construct gives.
local Unbound = {}
Unbound.__index = Unbound
function pt.UnboundVariable(name, otherwise) return setmetatable({name = name, otherwise = otherwise}, Unbound) end
local numbered = 0
local make_template
local function replay(calls, values, who)
  local function bound(x)
    if getmetatable(x) == Unbound then
      local value = values[x.name]
      if value == nil then value = x.otherwise end
      if value == nil then T.fail(who, "'%s' is not given", x.name) end
      return unwrap(value)
    end
    if type(x) == "table" and getmetatable(x) == nil and T.kind(x) == nil then
      local copy = {}
      for key, value in pairs(x) do copy[key] = bound(value) end
      return copy
    end
    return x
  end
  local first = values[calls.key]
  if first == nil then T.fail(who, "'%s' is not given", calls.key) end
  local results = table.pack(pt.wrap(unwrap(first)))
  for _, call in ipairs(calls) do
    local args = table.pack(table.unpack(call.args, 1, call.args.n))
    for i = 1, args.n do args[i] = bound(args[i]) end
    results = table.pack(results[1][call.name](results[1], table.unpack(args, 1, args.n)))
  end
  return results
end
make_template = function(calls, shared)
  local self = setmetatable({layer_parameters = {}, mutable = false}, Pretty)
  rawset(self, "template", function(_, name, ...)
    local longer = {key = calls.key}
    for i, call in ipairs(calls) do longer[i] = call end
    longer[#longer + 1] = {name = name, args = table.pack(...)}
    return make_template(longer)
  end)
  local defaults = {table.unpack(scopes)}
  rawset(self, "construct", function(_, values)
    if type(values) ~= "table" or T.kind(values) then T.fail("tf.prettytensor.construct", "expects the values by name, {%s = ...}, not %s", calls.key, values) end
    if not shared then
      numbered = numbered + 1
      shared = tf.make_template("template_" .. numbered, function(given)
        local outer = scopes
        scopes = {table.unpack(defaults)}
        for _, s in ipairs(outer) do scopes[#scopes + 1] = s end
        local results = table.pack(pcall(replay, calls, given, "tf.prettytensor.construct"))
        scopes = outer
        if not results[1] then error(results[2], 0) end
        local r = results[2]
        return table.unpack(r, 1, r.n)
      end)
    end
    return shared(values)
  end)
  -- as_fn("input", "labels"): the same as a function of these values.
  rawset(self, "as_fn", function(_, ...)
    local names = {...}
    return function(...)
      local values = {}
      for i, name in ipairs(names) do values[name] = (select(i, ...)) end
      return self:construct(values)
    end
  end)
  return self
end
function pt.template(key)
  if type(key) ~= "string" then T.fail("tf.prettytensor.template", "expects the name of the input, a string, not %s", key) end
  return make_template {key = key}
end
function pt.construct_all(list, values)
  local out = {}
  for i, t in ipairs(list) do out[i] = t:construct(values) end
  return out
end

-- ------------------------------------------------------------------------------------- parameters, training

pt.parameters = {}
function pt.parameters.l2_regularizer(weight)
  return function(_, v, phase)
    if phase == "train" then tf.add_to_collection(KEYS.REGULARIZATION_LOSSES, raw.L2Loss(v) * weight) end
    return v
  end
end
function pt.parameters.l1_regularizer(weight)
  return function(_, v, phase)
    if phase == "train" then tf.add_to_collection(KEYS.REGULARIZATION_LOSSES, tf.reduce_sum(tf.abs(v)) * weight) end
    return v
  end
end
function pt.parameters.Noise(stddev, seed)
  return function(_, v, phase)
    if phase ~= "train" then return v end
    return v + tf.random.normal(v.shape, {stddev = stddev, dtype = v.dtype, seed = seed})
  end
end
function pt.parameters.DropConnect(keep_prob, seed)
  return function(_, v, phase)
    if phase ~= "train" then return v end
    return tf.nn.dropout(v, keep_prob, seed and {seed = seed} or nil)
  end
end
function pt.parameters.compose(...)
  local list = {...}
  return function(name, v, phase)
    for _, fn in ipairs(list) do v = fn(name, v, phase) end
    return v
  end
end

function pt.global_step() return tf.train.get_or_create_global_step() end
function pt.with_update_ops(op)
  local list = tf.get_collection(KEYS.UPDATE_OPS)
  if #list == 0 then return op end
  return tf.group {op, table.unpack(list)}
end
-- The sum of the losses, penalties (regularize) and marked losses (include_marked).
function pt.create_composite_loss(losses, o)
  o = options_of(o, "create_composite_loss", COMPOSITE)
  local sum
  local function add(x)
    x = unwrap(x)
    sum = sum and sum + x or x
  end
  if T.kind(losses) or is_pretty(losses) then losses = {losses} end
  if losses ~= nil and type(losses) ~= "table" then T.fail("tf.prettytensor.create_composite_loss", "the losses must be a list, not %s", losses) end
  for i, x in ipairs(losses or {}) do
    if not T.kind(unwrap(x)) then T.fail("tf.prettytensor.create_composite_loss", "loss %d is no value, but %s", i, T.shown(x)) end
    add(x)
  end
  if o.regularize ~= false then for _, x in ipairs(tf.get_collection(KEYS.REGULARIZATION_LOSSES)) do add(x) end end
  if o.include_marked ~= false then for _, x in ipairs(tf.get_collection(MARKED)) do add(x) end end
  if sum == nil then T.fail("tf.prettytensor.create_composite_loss", "there is no loss") end
  return sum
end
-- One step of the optimizer on the losses; updates of averages come along. Gives the train op and the loss.
function pt.apply_optimizer(optimizer, losses, o)
  o = options_of(o, "apply_optimizer", COMPOSITE .. "clip_gradients_by_norm global_step var_list")
  if type(optimizer) ~= "table" and not T.kind(optimizer) or not optimizer.compute_gradients then
    T.fail("tf.prettytensor.apply_optimizer", "expects an optimizer of tf.train and a list of losses, not %s", T.shown(optimizer))
  end
  local loss = pt.create_composite_loss(losses, {regularize = o.regularize, include_marked = o.include_marked})
  local list = optimizer:compute_gradients(loss, o.var_list and {var_list = o.var_list} or nil)
  if o.clip_gradients_by_norm then
    for _, gv in ipairs(list) do
      if gv[1] then gv[1] = tf.clip_by_norm(T.dense(gv[1]), o.clip_gradients_by_norm) end
    end
  end
  local op = optimizer:apply_gradients(list, o.global_step and {global_step = o.global_step} or nil)
  return pt.with_update_ops(op), loss
end

-- train.Runner: runs ops in a session that it makes, saves and restores.
pt.train = {}
local Runner = {}
Runner.__index = Runner
function pt.train.Runner(o)
  o = options_of(o, "train.Runner", "save_path restore logdir")
  return setmetatable({save_path = o.save_path, restore = o.restore ~= false}, Runner)
end
function Runner:prepare()
  if self.session then return self.session end
  self.session = tf.Session()
  self.session:run(tf.global_variables_initializer())
  if self.save_path then
    self.saver = tf.train.Saver()
    local last = self.restore and tf.train.latest_checkpoint((self.save_path:match "^(.*)/[^/]*$" or "."))
    if last then self.saver:restore(self.session, last) end
  end
  return self.session
end
local function each_feed(data, i)
  if type(data) == "function" then return data(i) end
  return data
end
-- train_model(train_op, loss, steps, {feed = table or function(step)}): the last loss.
function Runner:train_model(op, loss, steps, o)
  o = options_of(o, "train_model", "feed print_every")
  local session, last = self:prepare(), nil
  for i = 1, steps do
    local r = session:run({op, unwrap(loss)}, each_feed(o.feed, i))
    last = r[2]
    if o.print_every and i % o.print_every == 0 then print(("step %d: loss %.5g"):format(i, last)) end
    if last ~= last then T.fail("tf.prettytensor.train_model", "the loss of step %d is not a number", i) end
  end
  if self.saver then self.saver:save(session, self.save_path, {global_step = steps}) end
  return last
end
function Runner:run_model(fetches, steps, o)
  o = options_of(o, "run_model", "feed")
  local session, out = self:prepare(), nil
  for i = 1, steps do out = session:run(fetches, each_feed(o.feed, i)) end
  return out
end
-- The mean of an accuracy over `steps` batches.
function Runner:evaluate_model(accuracy, steps, o)
  o = options_of(o, "evaluate_model", "feed")
  local session, sum = self:prepare(), 0
  for i = 1, steps do sum = sum + session:run(unwrap(accuracy), each_feed(o.feed, i)) end
  return sum / steps
end
pt.methods = methods
T.guard_all("tf.prettytensor.", methods)
T.guard_all("tf.prettytensor.", pt)
T.guard_all("tf.prettytensor.train.Runner:", Runner)
T.guard_all("tf.prettytensor.parameters.", pt.parameters)
return pt
