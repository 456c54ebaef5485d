-- Slim's rarer layers.
local tf, T = ...
local slim = T.namespace "tf.slim"
local raw, layer, def = tf.raw, T.slim_layer, T.def
local weights, collected, activate, format_of, padding_of = T.slim_weights, T.slim_collected, T.slim_activate, T.slim_format, T.slim_padding

local function scoped(scope, default, fn)
  local s <close> = T.scope(scope, default)
  return fn(T.name_scope())
end
layer("conv2d_in_plane convolution2d_in_plane",
  "inputs kernel_size stride=1 padding=SAME activation_fn? normalizer_fn? normalizer_params? weights_initializer? weights_regularizer? biases_initializer? biases_regularizer? reuse? variables_collections? outputs_collections? trainable=true scope?",
  function(inputs, kernel_size, stride, padding, activation_fn, normalizer_fn, normalizer_params, weights_initializer, weights_regularizer,
      biases_initializer, biases_regularizer, reuse, collections, outputs, trainable, scope)
    return tf.variable_scope(scope or false, "ConvInPlane", {reuse = reuse}, function(sc)
      local y = T.build_layer("conv2d_in_plane", {inputs}, {kernel_size = kernel_size, strides = stride,
        padding = padding_of(padding, "slim.conv2d_in_plane"), use_bias = not normalizer_fn and biases_initializer ~= false},
        weights({kernel = {"weights", weights_initializer, weights_regularizer}, bias = {"biases", biases_initializer, biases_regularizer}},
          trainable, collections))[1]
      if normalizer_fn then y = normalizer_fn(y, normalizer_params or {}) end
      if activation_fn == nil then activation_fn = tf.nn.relu end
      return collected(outputs, sc.original_name_scope, activate(activation_fn, y))
    end)
  end)
layer("unit_norm", "inputs dim epsilon=1e-07 scope?", function(inputs, dim, epsilon, scope)
  return scoped(scope, "UnitNorm", function() return T.build_layer("unit_norm", {inputs}, {dim = dim, epsilon = epsilon})[1] end)
end)
layer("maxout", "inputs num_units axis=-1 scope?", function(inputs, units, axis, scope)
  return scoped(scope, "MaxOut", function() return T.build_layer("maxout", {inputs}, {num_units = units, axis = axis})[1] end)
end)
layer("spatial_softmax", "features temperature? name? variables_collections? trainable=true data_format?",
  function(features, temperature, name, collections, trainable, data_format)
    return tf.variable_scope(name or false, "spatial_softmax", function()
      if type(temperature) == "number" then temperature = tf.constant(temperature, T.value(features).dtype) end
      return T.build_layer("spatial_softmax", {features, temperature, n = 2}, {data_format = format_of(data_format, "slim.spatial_softmax")},
        weights({}, trainable, collections))[1]
    end)
  end)
-- The value as it is, its gradient times a factor.
layer("scale_gradient", "inputs gradient_multiplier", function(inputs, k)
  inputs = T.value(inputs)
  local stopped = raw.StopGradient(inputs)
  return stopped + (inputs - stopped) * T.value(k, inputs.dtype)
end)
-- Generalized divisive normalisation (Balle et al. 2016): x / sqrt(beta + sum gamma x^2). Both are kept as square roots
-- with a floor; below the floor the gradient is zero.
layer("gdn", "inputs inverse=false beta_min=1e-06 gamma_init=0.1 reparam_offset=3.814697265625e-06 data_format? activation_fn? reuse? variables_collections? outputs_collections? trainable=true scope?",
  function(inputs, inverse, beta_min, gamma_init, offset, data_format, activation_fn, reuse, collections, outputs, trainable, scope)
    if format_of(data_format, "slim.gdn") ~= "channels_last" then T.fail_code(12, "slim.gdn", "only channels last is supported") end
    inputs = T.value(inputs)
    return tf.variable_scope(scope or false, "GDN", {reuse = reuse}, function(sc)
      local rank = inputs:rank() or T.fail("slim.gdn", "the input's rank is not known")
      local n, dtype = inputs.shape[rank], inputs.dtype
      if n < 0 then T.fail("slim.gdn", "the number of channels must be known") end
      local pedestal = offset * offset
      local function variable(name, shape, init)
        return slim.model_variable(name, {shape = shape, dtype = dtype, initializer = init, trainable = trainable, collections = collections}):value()
      end
      local beta = variable("reparam_beta", {n}, tf.constant_initializer(math.sqrt(1 + pedestal)))
      local gamma = variable("reparam_gamma", {n, n}, function(shape, t)
        return tf.sqrt(tf.eye(shape[1], shape[2], nil, t) * gamma_init + pedestal)
      end)
      beta = raw.Square(raw.Maximum(beta, math.sqrt(beta_min + pedestal))) - pedestal
      gamma = raw.Square(raw.Maximum(gamma, offset)) - pedestal
      local flat = raw.Reshape(raw.Square(inputs), {-1, n})
      local norm = raw.Reshape(raw.BiasAdd(raw.MatMul(flat, gamma), beta), raw.Shape(inputs))
      norm = inverse and raw.Sqrt(norm) or raw.Rsqrt(norm)
      return collected(outputs, sc.original_name_scope, activate(activation_fn, inputs * norm))
    end)
  end)
-- Points with a norm of at least 1 go back into the open unit ball.
layer("poincare_normalize", "x axis=1 epsilon=1e-05 name?", function(x, axis, epsilon, name)
  local s <close> = T.scope(name, "poincare_normalize")
  x = T.value(x)
  local sum = tf.reduce_sum(raw.Square(x), axis, true)
  return x * raw.Minimum(raw.Rsqrt(raw.Maximum(sum, epsilon)) * (1 - epsilon), 1)
end)

-- ------------------------------------------------------------------------------------- sequences

-- Rows of a table for numbers of words.
local function embed(ids, vocab_size, embed_dim, initializer, regularizer, trainable, unique)
  if not T.kind(ids) then ids = tf.tensor(ids, "int64") end
  local table_ = slim.model_variable("embeddings", {shape = {vocab_size, embed_dim}, initializer = initializer, regularizer = regularizer,
    trainable = trainable})
  return tf.nn.embedding_lookup(table_, ids)
end
layer("embed_sequence", "ids vocab_size? embed_dim? unique=false initializer? regularizer? trainable=true scope? reuse?",
  function(ids, vocab_size, embed_dim, unique, initializer, regularizer, trainable, scope, reuse)
    if not (reuse or (vocab_size and embed_dim)) then T.fail("slim.embed_sequence", "'vocab_size' and 'embed_dim' must be given") end
    return tf.variable_scope(scope or false, "EmbedSequence", {reuse = reuse}, function()
      return embed(ids, vocab_size, embed_dim, initializer, regularizer, trainable, unique)
    end)
  end)
-- The mean of the words' rows.
layer("bow_encoder", "ids vocab_size embed_dim sparse_lookup=true initializer? regularizer? trainable=true scope? reuse?",
  function(ids, vocab_size, embed_dim, _, initializer, regularizer, trainable, scope, reuse)
    return tf.variable_scope(scope or false, "BowEncoder", {reuse = reuse}, function()
      return tf.reduce_mean(embed(ids, vocab_size, embed_dim, initializer, regularizer, trainable), 1)
    end)
  end)
-- [batch, height, width, depth] to [width, batch height, depth]: rows of images as sequences, and back.
layer("images_to_sequence", "inputs data_format? outputs_collections? scope?", function(inputs, data_format, outputs, scope)
  return scoped(scope, "ImagesToSequence", function(name)
    if format_of(data_format, "slim.images_to_sequence") ~= "channels_last" then T.fail_code(12, "slim.images_to_sequence", "only channels last is supported") end
    inputs = T.value(inputs)
    local shape = inputs.shape
    if not shape or #shape ~= 4 then T.fail("slim.images_to_sequence", "the images must have rank 4 (batch, height, width, channels)") end
    if shape[3] < 0 or shape[4] < 0 then T.fail("slim.images_to_sequence", "width and channels must be known") end
    local y = tf.reshape(inputs, {-1, shape[3], shape[4]})
    return collected(outputs, name, tf.transpose(y, {1, 0, 2}))
  end)
end)
layer("sequence_to_images", "inputs height output_data_format=channels_last outputs_collections? scope?", function(inputs, height, _, outputs, scope)
  return scoped(scope, "SequenceToImages", function(name)
    inputs = T.value(inputs)
    local shape = inputs.shape
    if not shape or #shape ~= 3 then T.fail("slim.sequence_to_images", "the sequences must have rank 3 (width, batch height, channels)") end
    local y = tf.transpose(inputs, {1, 0, 2})
    return collected(outputs, name, tf.reshape(y, {-1, height, shape[1], shape[3]}))
  end)
end)
-- Reversible residual layers (Gomez et al. 2017): y1 = x1 + f(x2), y2 = x2 + g(y1).
def("tf.slim.rev_block", "x1 x2 f g num_layers=1 f_side_input? g_side_input? is_training=true", function(x1, x2, f, g, n, fs, gs)
  if type(f) == "function" then f = {f} end
  if type(g) == "function" then g = {g} end
  return tf.variable_scope(false, "revblock", function()
    for i = 1, n do
      local fi, gi = f[#f == 1 and 1 or i], g[#g == 1 and 1 or i]
      if not fi or not gi then T.fail("slim.rev_block", "%d layers need %d functions", n, n) end
      tf.variable_scope(("revlayer_%d"):format(i - 1), function()
        tf.variable_scope("f", function() x1 = x1 + fi(x2, fs) end)
        tf.variable_scope("g", function() x2 = x2 + gi(x1, gs) end)
      end)
    end
    return x1, x2
  end)
end)
-- Recomputing (tf.recompute_grad): what fn computes on the way is not kept, but computed again in the backward walk, with the
-- default arguments that held at the call. One list of results is given with tupleize_grads all the same.
def("tf.slim.recompute_grad", "fn use_data_dep? tupleize_grads=false", function(fn)
  if type(fn) ~= "function" then T.fail("slim.recompute_grad", "expected a function, not a %s", T.kind(fn) or type(fn)) end
  return function(...)
    local defaults = slim.current_arg_scope()
    return tf.recompute_grad(function(...)
      local s <close> = slim.arg_scope(defaults)
      return fn(...)
    end)(...)
  end
end)
rawset(slim, "GDN", slim.gdn)
return true
