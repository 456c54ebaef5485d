-- Layers of tf.keras where no recorded case looks: laws that hold between layers, open extents, masks, types of policies, chance, and what wrong
-- uses are told. Expected values come from the formula that each check names.
local tf = require "tfsdk"
local K = tf.keras
local L = K.layers
local passed, failed = 0, 0
local function check(what, fn)
  local ok, why = pcall(fn)
  if ok then passed = passed + 1 else
    failed = failed + 1
    print("wrong: " .. what, why)
  end
end
local function same(a, b, limit, what)
  a, b = tf.convert_to_tensor(a), tf.convert_to_tensor(b)
  if table.concat(a.shape, "x") ~= table.concat(b.shape, "x") then error(("%s: shapes {%s} and {%s}"):format(what or "", table.concat(a.shape, ","), table.concat(b.shape, ",")), 2) end
  local d = tf.reduce_max(tf.abs(tf.cast(a, "float64") - tf.cast(b, "float64"))):item()
  if not (d <= (limit or 1e-5)) then error(("%s: off by %g"):format(what or "", d), 2) end
end
local function equal(a, b, what) if a ~= b then error(("%s: %s, want %s"):format(what or "", tostring(a), tostring(b)), 2) end end
local function shape(x) return table.concat(x.shape, ",") end
local function eager(what, fn) check(what, function() tf.eager(fn) end) end
local function says(what, pattern, fn)
  check(what, function()
    local ok, why = pcall(fn)
    if ok then error("no error", 0) end
    if not tostring(why):lower():find(pattern:lower()) then error("says: " .. tostring(why), 0) end
  end)
end
local function random(...) return tf.random.uniform({...}, {minval = -1, seed = 7, now = true}) end

-- ------------------------------------------------------------------------------------- laws

-- A locally connected layer whose kernels are all the same is a convolution.
for _, format in ipairs {"channels_last", "channels_first"} do
  eager("LocallyConnected2D, " .. format, function()
    local x = format == "channels_last" and random(2, 5, 6, 3) or random(2, 3, 5, 6)
    local plain = L.Conv2D(4, {2, 3}, {strides = {1, 2}, data_format = format, activation = "tanh", bias_initializer = "uniform"})
    local own = L.LocallyConnected2D(4, {2, 3}, {strides = {1, 2}, data_format = format, activation = "tanh"})
    local y = plain(x)
    own(x)
    local kernel = plain.weights[1]:value()
    -- features of a window: its axes and then the channels; channels and then the axes with channels first (Keras 2.2.4)
    if format == "channels_first" then kernel = tf.transpose(kernel, {2, 0, 1, 3}) end
    own:set_weights {tf.tile(tf.reshape(kernel, {1, 18, 4}), {8, 1, 1}), tf.tile(tf.reshape(plain.weights[2], {1, 1, 4}), {4, 2, 1})}
    same(own(x), y)
    equal(own:count_params(), 8 * 18 * 4 + 8 * 4, "parameters")
  end)
end
eager("LocallyConnected1D", function()
  local x = random(2, 7, 3)
  local plain, own = L.Conv1D(4, 3, {strides = 2}), L.LocallyConnected1D(4, 3, {strides = 2})
  local y = plain(x)
  own(x)
  own:set_weights {tf.tile(tf.reshape(plain.weights[1], {1, 9, 4}), {3, 1, 1}), tf.zeros {3, 4}}
  same(own(x), y)
end)
-- Up-sampling by whole numbers is repetition; cropping undoes padding.
eager("UpSampling3D", function()
  local x = random(1, 2, 3, 2, 2)
  local y = L.UpSampling3D({2, 1, 3})(x)
  equal(shape(y), "1,4,3,6,2")
  for i = 0, 3 do for k = 0, 5 do same(tf.slice(y, {0, i, 1, k, 0}, {1, 1, 1, 1, 2}), tf.slice(x, {0, i // 2, 1, k // 3, 0}, {1, 1, 1, 1, 2}), 0) end end
end)
for n, ones in pairs {[1] = {3}, [2] = {3, 4}, [3] = {3, 4, 2}} do
  for _, format in ipairs(n > 1 and {"channels_last", "channels_first"} or {"channels_last"}) do
    eager(("Cropping%dD of ZeroPadding%dD, %s"):format(n, n, format), function()
      local dims = {2, table.unpack(ones)}
      if format == "channels_last" then dims[#dims + 1] = 5 else table.insert(dims, 2, 5) end
      local sides = n == 1 and {1, 2} or n == 2 and {{1, 2}, {0, 3}} or {{1, 2}, {0, 3}, {2, 0}}
      local x = random(table.unpack(dims))
      local y = L[("ZeroPadding%dD"):format(n)](sides, n > 1 and format or {data_format = format})(x)
      same(L[("Cropping%dD"):format(n)](sides, n > 1 and {data_format = format} or nil)(y), x, 0)
      same(tf.reduce_sum(y), tf.reduce_sum(x), 1e-5, "zeros beside it")
    end)
  end
end
-- Smooth up-sampling leaves a plane as it is inside (weights add up to 1 and have the first moment right).
for _, way in ipairs {"bilinear", "bicubic"} do
  eager("UpSampling2D, " .. way, function()
    local plane = tf.reshape(tf.range(0, 10, {dtype = "float32", now = true}), {1, 1, 10, 1})
    local y = L.UpSampling2D({1, 2}, {interpolation = way})(plane)
    for i = 4, 15 do same(y[1][1][i + 1], tf.tensor {(i + 0.5) / 2 - 0.5}, 1e-5) end
    same(L.UpSampling2D(3, {interpolation = way})(tf.ones {1, 2, 2, 1}), tf.ones {1, 6, 6, 1}, 1e-6)
  end)
end
-- Adaptive pooling to the input's own extents is the identity, to 1 it is global pooling, to a divisor plain pooling.
eager("AdaptiveMaxPooling2D", function()
  local x = random(2, 6, 4, 3)
  same(L.AdaptiveMaxPooling2D({6, 4})(x), x, 0)
  same(L.AdaptiveMaxPooling2D({3, 2})(x), L.MaxPooling2D(2)(x), 0)
  same(L.AdaptiveAveragePooling2D(1)(x), L.GlobalAveragePooling2D {keepdims = true}(x), 1e-6)
end)
-- Attention that looks at all equally is a mean; EinsumDense of "ab,bc->ac" is Dense.
eager("Attention of equal scores", function()
  local v = random(2, 5, 3)
  same(L.Attention()({tf.zeros {2, 4, 3}, v}), tf.tile(tf.reduce_mean(v, {axis = 1, keepdims = true}), {1, 4, 1}))
end)
eager("EinsumDense", function()
  local x = random(3, 4, 5)
  local dense, general = L.Dense(6, {activation = "relu"}), L.EinsumDense("abc,cd->abd", {false, 6}, {activation = "relu", bias_axes = "d"})
  local y = dense(x)
  general(x)
  general:set_weights(dense:get_weights())
  same(general(x), y)
  -- an axis in all three terms is no product of matrices: one kernel for each place
  local each = L.EinsumDense("abc,bcd->abd", {4, 2})
  local z = each(x)
  for i = 1, 4 do same(z[{{}, i}], tf.matmul(x[{{}, i}], each.weights[1]:value()[i])) end
end)
-- A window of 1 step lets each step see itself alone: the output is its projected value. A gate that is 1/2 halves what is projected.
eager("MultiHeadAttention: sliding_window, use_gate", function()
  local x = random(2, 5, 6)
  local att = L.MultiHeadAttention(2, 3, {sliding_window = 1})
  local y, scores = table.unpack(att({x, x}, {return_attention_scores = true}))
  same(scores, tf.tile(tf.reshape(tf.eye(5), {1, 1, 5, 5}), {2, 2, 1, 1}), 1e-6)
  local w = att:get_weights() -- query, key, value, attention_output: kernel and bias each
  local v = tf.einsum("bsf,fhd->bshd", x, w[5]) + w[6]
  same(y, tf.einsum("bshd,hdf->bsf", v, w[7]) + w[8])
  local gated = L.MultiHeadAttention(2, 3, {use_gate = true})
  gated({x, x})
  equal(#gated.weights, 10, "weights")
  equal(gated.weights[5].name:match "gate/kernel" ~= nil, true, "the gate's kernel stands behind the key's")
  local g = gated:get_weights()
  g[5], g[6] = tf.zeros {6, 2, 3}, tf.zeros {2, 3}
  gated:set_weights(g)
  local open = L.MultiHeadAttention(2, 3)
  open({x, x})
  open:set_weights {g[1], g[2], g[3], g[4], g[7], g[8], g[9], g[10]}
  same(gated({x, x}), open({x, x}) * 0.5)
end)
-- With as many heads of keys as of queries grouped attention is that of several heads.
eager("GroupedQueryAttention", function()
  local q, v = random(2, 5, 6), random(2, 4, 6)
  local grouped, heads = L.GroupedQueryAttention(3, 2, 2), L.MultiHeadAttention(2, 3)
  local y = grouped({q, v})
  heads({q, v})
  heads:set_weights(grouped:get_weights())
  same(heads({q, v}), y)
  same(heads({q, v}, {use_causal_mask = true}), grouped({q, v}, {use_causal_mask = true}))
end)
-- Attention over several axes is attention over them as one.
eager("MultiHeadAttention: attention_axes", function()
  local x = random(2, 3, 4, 6)
  local wide, flat = L.MultiHeadAttention(2, 3, {attention_axes = {1, 2}}), L.MultiHeadAttention(2, 3)
  local y = wide({x, x})
  local steps = tf.reshape(x, {2, 12, 6})
  flat({steps, steps})
  flat:set_weights(wide:get_weights())
  same(tf.reshape(y, {2, 12, 6}), flat({steps, steps}))
  -- over one of them: each row for itself
  local rows = L.MultiHeadAttention(2, 3, {attention_axes = 2})
  rows({x, x})
  rows:set_weights(wide:get_weights())
  same(rows({x, x})[{{}, 2}], flat({x[{{}, 2}], x[{{}, 2}]}))
end)

-- ------------------------------------------------------------------------------------- chance

eager("SpatialDropout2D drops whole channels", function()
  local y = L.SpatialDropout2D(0.5, {seed = 3})(tf.ones {4, 5, 6, 20}, {training = true})
  same(tf.reduce_max(y, {axis = {1, 2}}), tf.reduce_min(y, {axis = {1, 2}}), 0)
  local kept = tf.reduce_mean(y[{{}, 1, 1}]):item() / 2
  assert(kept > 0.2 and kept < 0.8, "kept " .. kept)
  same(tf.reduce_max(y), tf.tensor(2.0), 0)
end)
eager("AlphaDropout: noise_shape", function()
  local y = L.AlphaDropout(0.5, {noise_shape = {-1, 1}, seed = 3})(tf.ones {200, 7}, {training = true})
  same(tf.reduce_max(y, {axis = 1}), tf.reduce_min(y, {axis = 1}), 0, "one draw for a row")
  assert(tf.reduce_max(y):item() - tf.reduce_min(y):item() > 1, "both kinds occur")
end)
check("noise in a graph whose phase is fed", function()
  tf.Graph():as_default(function()
    local x = tf.ones {1000}
    local flag = tf.placeholder("bool", {})
    for _, layer in ipairs {L.GaussianNoise(0.5), L.GaussianDropout(0.5), L.AlphaDropout(0.5), L.Dropout(0.5)} do
      local y = layer(x, {training = flag})
      local sess = K.backend.get_session()
      same(sess:run(y, {[flag] = false}, {raw = true}), tf.eager(function() return tf.ones {1000} end), 0, layer.name)
      local noisy = sess:run(y, {[flag] = true}, {raw = true})
      tf.eager(function() assert(tf.reduce_max(noisy):item() > tf.reduce_min(noisy):item(), layer.name .. ": no noise") end)
    end
  end)
end)

-- ------------------------------------------------------------------------------------- open extents, shapes

check("open extents stay open, known ones known", function()
  tf.Graph():as_default(function()
    local function told(what, want, layer, ...)
      local inputs = {}
      for i, s in ipairs {...} do inputs[i] = tf.placeholder("float32", s) end
      equal(shape(layer(#inputs == 1 and inputs[1] or inputs)), want, what)
    end
    told("UpSampling2D", "-1,-1,-1,3", L.UpSampling2D(2), {-1, -1, -1, 3})
    told("UpSampling2D bilinear", "-1,-1,-1,3", L.UpSampling2D(2, {interpolation = "bilinear"}), {-1, -1, -1, 3})
    told("UpSampling3D", "-1,4,-1,6,3", L.UpSampling3D(2), {-1, 2, -1, 3, 3})
    told("ZeroPadding2D", "-1,-1,7,3", L.ZeroPadding2D(1), {-1, -1, 5, 3})
    told("Cropping2D", "-1,-1,3,3", L.Cropping2D(1), {-1, -1, 5, 3})
    told("Reshape", "-1,-1,4", L.Reshape {-1, 4}, {-1, -1, 8})
    told("Reshape", "-1,6,4", L.Reshape {-1, 4}, {-1, 3, 8})
    told("Permute", "-1,5,-1", L.Permute {2, 1}, {-1, -1, 5})
    told("Dot", "-1,-1,6", L.Dot {axes = {2, 1}}, {-1, -1, 5}, {-1, 5, 6})
    told("Dot", "-1,1", L.Dot(1), {-1, 5}, {-1, 5})
    told("MultiHeadAttention", "-1,-1,6", L.MultiHeadAttention(2, 3), {-1, -1, 6}, {-1, -1, 5})
    told("GroupedQueryAttention", "-1,-1,6", L.GroupedQueryAttention(3, 4, 2), {-1, -1, 6}, {-1, -1, 5})
    told("EinsumDense", "-1,-1,7", L.EinsumDense("abc,cd->abd", {false, 7}), {-1, -1, 6})
    told("LocallyConnected1D", "-1,4,2", L.LocallyConnected1D(2, 2), {-1, 5, 3})
  end)
end)
check("open extents compute", function()
  tf.Graph():as_default(function()
    local x = tf.placeholder("float32", {-1, -1, -1, 2})
    local y = {L.UpSampling2D({2, 3})(x), L.Cropping2D {{1, 0}, {0, 1}}(x), L.UpSampling2D(2, {interpolation = "bilinear"})(x)}
    local got = K.backend.get_session():run(y, {[x] = tf.eager(function() return tf.ones {2, 3, 4, 2} end)}, {raw = true})
    equal(shape(got[1]), "2,6,12,2")
    equal(shape(got[2]), "2,2,3,2")
    equal(shape(got[3]), "2,6,8,2")
  end)
end)
eager("empty batches", function()
  for _, layer in ipairs {L.UpSampling2D(2), L.ZeroPadding2D(1), L.Cropping2D(1), L.GlobalMaxPooling2D(), L.Flatten(), L.Reshape {-1}, L.LocallyConnected2D(2, 2), L.Softmax(), L.PReLU()} do
    equal(layer(tf.zeros {0, 4, 4, 3}).shape[1], 0, layer.name)
  end
end)

-- ------------------------------------------------------------------------------------- masks

eager("masks pass, join and end", function()
  local steps = tf.tensor {{{1, 2}, {0, 0}, {3, 0}}, {{0, 0}, {0, 0}, {1, 1}}}
  local masking = L.Masking()
  local y = masking(steps)
  local want = tf.tensor({{true, false, true}, {false, false, true}})
  local mask = masking:compute_mask(steps)
  same(tf.cast(mask, "int32"), tf.cast(want, "int32"), 0)
  for _, layer in ipairs {L.Dense(3), L.Dropout(0.5), L.Activation "relu", L.LayerNormalization(), L.TimeDistributed(L.Dense(2))} do
    assert(layer:compute_mask(steps, mask) ~= nil, layer.name .. " loses the mask")
  end
  for _, layer in ipairs {L.Flatten(), L.GlobalAveragePooling1D()} do assert(layer:compute_mask(steps, mask) == nil, layer.name .. " keeps the mask") end
  -- the mean of the steps that are there
  same(L.GlobalAveragePooling1D()(y), tf.tensor {{2, 1}, {1, 1}}, 1e-6)
  -- of merged inputs a step is there that one of them has (Keras 3); without a mask all are
  local other = tf.tensor({{false, false, true}, {true, false, true}})
  same(tf.cast(L.Add():compute_mask({steps, steps}, {mask, other}), "int32"), tf.tensor({{1, 0, 1}, {1, 0, 1}}, "int32"), 0)
  equal(L.Add():compute_mask({steps, steps}, {mask, false}), nil)
  same(tf.cast(L.Concatenate {axis = 1}:compute_mask({steps, steps}, {mask, other}), "int32"), tf.concat({tf.cast(mask, "int32"), tf.cast(other, "int32")}, 1), 0)
  -- NaN in steps that are left out does not come through
  local nan = tf.tensor {{{1.0, 1.0}, {0 / 0, 0 / 0}}}
  same(L.GlobalAveragePooling1D()(nan, {mask = tf.tensor({{true, false}})}), tf.tensor {{1, 1}}, 0)
end)

-- ------------------------------------------------------------------------------------- types

eager("policies of types", function()
  local x = random(3, 5)
  local layer = L.Dense(4, {dtype = "mixed_bfloat16"})
  local y = layer(x)
  equal(y.dtype, "bfloat16")
  equal(layer.weights[1].dtype, "float32")
  equal(layer.compute_dtype, "bfloat16")
  equal(layer:get_config().dtype, "mixed_bfloat16")
  equal(L.Dense(4, {dtype = "float64"})(x).dtype, "float64")
  equal(L.LayerNormalization {dtype = "mixed_float16"}(x).dtype, "float16")
  equal(L.Embedding(5, 2, {dtype = "mixed_float16"})(tf.tensor({1, 2}, "int32")).dtype, "float16")
  equal(L.Add {dtype = "float64"}({x, x}).dtype, "float64")
  K.mixed_precision.set_global_policy "mixed_bfloat16"
  local ok, why = pcall(function()
    equal(L.Dense(4)(x).dtype, "bfloat16")
    local tape <close> = tf.GradientTape()
    local mixed = L.Dense(2)
    local loss = tf.reduce_sum(tf.cast(mixed(x), "float32"))
    tape:stop()
    equal(tape:gradient(loss, {mixed.weights[1]})[1].dtype, "float32", "of the gradient")
    -- training: weights in float32, the loss as well
    local model = K.Sequential {L.Dense(8, {activation = "relu"}), L.Dense(1, {dtype = "float32"})}
    model:compile {optimizer = K.optimizers.SGD(0.1), loss = "mse"}
    local data = random(64, 5)
    local target = tf.reduce_sum(data, {axis = 1, keepdims = true})
    local history = model:fit(data, target, {epochs = 20, verbose = 0})
    local losses = history.history.loss
    assert(losses[#losses] < losses[1] * 0.5, "the loss does not fall: " .. losses[1] .. " " .. losses[#losses])
  end)
  K.mixed_precision.set_global_policy "float32"
  if not ok then error(why, 0) end
  equal(L.Dense(4)(x).dtype, "float32")
end)

-- ------------------------------------------------------------------------------------- weights that adapt

eager("LoRA", function()
  local x = random(3, 5)
  local layer = L.Dense(4)
  local before = layer(x)
  layer:enable_lora(2)
  same(layer(x), before, 0, "nothing changes at first")
  equal(#layer.trainable_weights, 3, "bias and two factors")
  equal(layer.weights[1], layer.non_trainable_weights[1])
  local a, b = random(5, 2), random(2, 4)
  layer:set_weights {layer.weights[1]:value(), layer.weights[2]:value(), a, b}
  same(layer(x), before + tf.matmul(tf.matmul(x, a), b))
end)
for _, mode in ipairs {"define-by-run", "graph"} do
  check("SpectralNormalization trains, " .. mode, function()
    local function body()
      local model = K.Sequential {K.Input {6}, L.SpectralNormalization(L.Dense(4), {power_iterations = 3}), L.Dense(1)}
      model:compile {optimizer = K.optimizers.SGD(0.0), loss = "mse"}
      local x, y = tf.eager(function() return random(32, 6), random(32, 1) end)
      model:fit(x, y, {epochs = 30, batch_size = 32, verbose = 0})
      tf.eager(function() -- the largest singular value is 1: power iterations of our own find it
        local w = model.layers[1].layer:get_weights()[1]
        local v = tf.ones {4, 1}
        for _ = 1, 500 do
          v = tf.matmul(tf.transpose(w), tf.matmul(w, v))
          v = v / tf.norm(v)
        end
        same(tf.norm(tf.matmul(w, v)), tf.tensor(1.0), 2e-3)
      end)
    end
    if mode == "graph" then tf.Graph():as_default(body) else tf.eager(body) end
  end)
end
eager("ActivityRegularization", function() -- (0.1 sum|x| + 0.01 sum x^2) / batch
  local layer = L.ActivityRegularization {l1 = 0.1, l2 = 0.01}
  layer(tf.tensor {{1, -2}, {3, 0}})
  same(layer.losses[1], tf.tensor((0.1 * 6 + 0.01 * 14) / 2), 1e-6)
end)
eager("TimeDistributed", function()
  local x = random(2, 3, 5, 4)
  local inner = L.Conv1D(6, 2)
  local layer = L.TimeDistributed(inner)
  equal(table.concat(layer:compute_output_shape {-1, 3, 5, 4}, ","), "-1,3,4,6")
  equal(inner.built, false, "asking for a shape builds nothing")
  local y = layer(x)
  for i = 1, 3 do same(y[{{}, i}], inner(x[{{}, i}])) end
  equal(#layer.trainable_weights, 2)
end)
eager("Softmax over several axes, with a mask", function()
  local x = random(2, 3, 4)
  same(L.Softmax {axis = {1, 2}}(x), tf.reshape(tf.nn.softmax(tf.reshape(x, {2, 12})), {2, 3, 4}))
  local none = tf.zeros({2, 3, 4}, "bool")
  same(L.Softmax()(x, {mask = none}), tf.zeros {2, 3, 4}, 0)
end)

-- ------------------------------------------------------------------------------------- preparing data

-- Buckets of texts of 0 to 400 bytes that TensorFlow recorded (tests/data/oracle/ops, the ops StringToHashBucketFast and Strong).
check("Hashing", function()
  local folder = (arg[0]:match "^(.*)/" or ".") .. "/../data/oracle/ops/string"
  local file = assert(io.open(folder .. ".json"))
  local info, data = tf.json.decode(file:read "a"), tf.read_safetensors(folder .. ".safetensors")
  file:close()
  local n = 0
  for _, case in ipairs(info.cases) do
    if case.op == "StringToHashBucketFast" or case.op == "StringToHashBucketStrong" then
      local words = info.strings[case.inputs[1]].values
      local layer = L.Hashing(case.attrs.num_buckets, {salt = case.attrs.key})
      tf.eager(function()
        local got, want = layer(tf.tensor(words)):table(), data[case.outputs[1]]:reshape{-1}:table()
        for i, w in ipairs(want) do equal(got[i], w, case.id .. ": " .. words[i]) end
      end)
      n = n + 1
    end
  end
  assert(n >= 10, n .. " cases")
end)
eager("Normalization: adapt", function()
  local x = random(40, 3) * 5 + 2
  local layer = L.Normalization()
  layer:adapt(x)
  local y = layer(x)
  same(tf.reduce_mean(y, {axis = 0}), tf.zeros {3}, 1e-5, "mean")
  same(tf.reduce_mean(tf.square(y), {axis = 0}), tf.ones {3}, 1e-4, "variance")
  local parts = L.Normalization()
  parts:adapt {x[{{1, 15}}], x[{{16, 40}}]}
  same(parts(x), y, 1e-4, "in two batches")
  same(L.Normalization {mean = parts.weights[1]:value():table(), variance = parts.weights[2]:value():table(), invert = true}(y), x, 1e-4, "and back")
end)
eager("Discretization: adapt", function()
  local layer = L.Discretization {num_bins = 4}
  layer:adapt(tf.range(0, 100, {dtype = "float32", now = true}))
  same(tf.cast(layer(tf.tensor {0, 24, 25, 60, 99}), "int32"), tf.tensor({0, 0, 1, 2, 3}, "int32"), 0)
end)
eager("StringLookup: adapt, back, vectors", function()
  local layer = L.StringLookup()
  layer:adapt(tf.tensor({{"a", "b", "b"}, {"c", "b", "a"}}))
  equal(table.concat(layer:get_vocabulary(), " "), "[UNK] b a c", "the most frequent first")
  same(layer(tf.tensor({"b", "x", "c"})), tf.tensor({1, 0, 3}, "int64"), 0)
  local back = L.StringLookup {vocabulary = layer:get_vocabulary(), invert = true}
  equal(table.concat(back(tf.tensor({1, 0, 3}, "int64")):table(), " "), "b [UNK] c")
  local hot = L.StringLookup {vocabulary = {"a", "b"}, output_mode = "multi_hot"}
  same(hot(tf.tensor({{"b", "x"}})), tf.tensor({{1, 0, 1}}, "int64"), 0)
  -- idf: log(1 + documents / (1 + documents with the token))
  local idf = L.StringLookup {output_mode = "tf_idf"}
  idf:adapt(tf.tensor({{"a", "b"}, {"a", "a"}}))
  same(idf(tf.tensor({{"a", "b"}}))[1][2], tf.tensor(math.log(1 + 2 / 3)), 1e-6)
  local copy = L.deserialize(tf.json.decode(tf.json.encode(L.serialize(layer))))
  same(copy(tf.tensor({"b", "x", "c"})), layer(tf.tensor({"b", "x", "c"})), 0)
end)
check("IntegerLookup in a graph", function()
  tf.Graph():as_default(function()
    local ids = tf.placeholder("int64", {-1, 2})
    local layer = L.IntegerLookup {vocabulary = {30, 10, 20}, num_oov_indices = 2, mask_token = 7}
    local y = K.backend.get_session():run(layer(ids), {[ids] = tf.eager(function() return tf.tensor({{10, 20}, {5, 30}, {7, 8}}, "int64") end)}, {raw = true})
    -- 0 is the mask, 1 and 2 unknown even and odd numbers
    equal(tf.json.encode(y:table()), "[[4,5],[2,3],[0,1]]")
  end)
end)
eager("TextVectorization: adapt", function()
  local layer = L.TextVectorization {output_sequence_length = 4}
  layer:adapt(tf.tensor({"The cat, the dog!", "a CAT?"}))
  equal(table.concat(layer:get_vocabulary(), " "), " [UNK] the cat dog a")
  same(layer(tf.tensor({"the bird", "cat dog a the end"})), tf.tensor({{2, 1, 0, 0}, {3, 4, 5, 2}}, "int64"), 0)
  same(L.TextVectorization {split = "character", vocabulary = {"ü", "b"}}(tf.tensor({"bü"})), tf.tensor({{3, 2}}, "int64"), 0)
  local model = K.Sequential {L.Embedding(6, 3, {mask_zero = true}), L.GlobalAveragePooling1D(), L.Dense(1)}
  equal(shape(model(layer(tf.tensor({"the bird"})))), "1,1")
end)
eager("RandomCrop", function()
  local image = tf.reshape(tf.range(0, 48, {dtype = "float32", now = true}), {1, 6, 8, 1})
  local y = L.RandomCrop(3, 4, {seed = 5})(image, {training = true})
  equal(shape(y), "1,3,4,1")
  same(y - y[1][1][1][1], image[{{}, {1, 3}, {1, 4}}], 0, "rows and columns in their order")
end)
eager("spectrograms", function() -- a wave of 8 periods in a frame of 64 lies in bin 8
  local wave = {}
  for i = 1, 256 do wave[i] = math.cos(2 * math.pi * 8 * (i - 1) / 64) end
  local y = L.STFTSpectrogram {mode = "magnitude", frame_length = 64}(tf.reshape(tf.tensor(wave), {1, 256, 1}))
  equal(shape(y), "1,7,33")
  equal(tf.argmax(y[1][3], 0):item(), 8)
  local mel = L.MelSpectrogram {fft_length = 64, sequence_stride = 32, num_mel_bins = 10, sampling_rate = 4000}(tf.tensor(wave))
  equal(shape(mel), "10,9")
end)

-- ------------------------------------------------------------------------------------- wrong uses

local x4 = tf.eager(function() return tf.zeros {2, 4, 4, 3} end)
local function call(layer, ...)
  local args = {...}
  return function() tf.eager(function() layer(table.unpack(args)) end) end
end
says("rank", "Conv2D expects an input of rank 4 %(batch, rows, columns, channels%), but its shape is {2, 3}", call(L.Conv2D(2, 3), tf.zeros {2, 3}))
says("rank of up-sampling", "rank 4", call(L.UpSampling2D(2), tf.zeros {2, 3}))
says("rank of attention", "rank 3", call(L.Attention(), {tf.zeros {2, 3}, tf.zeros {2, 3}}))
says("unknown option", "did you mean 'activation'", function() L.Dense(3, {activaton = "relu"}) end)
says("unknown option of padding", "did you mean 'padding'", function() L.ZeroPadding2D {pading = 1} end)
says("unknown activation", "did you mean 'softmax'", function() L.Dense(3, {activation = "sofmax"}) end)
says("unknown layer", "did you mean", function() return L.Dens(3) end)
says("missing", "'units' is missing", function() L.Dense() end)
says("negative units", "'units' must be a whole number above 0, not %-3", function() L.Dense(-3) end)
says("broken filters", "above 0, not 2.5", function() L.Conv2D(2.5, 3) end)
says("kernel of 3 numbers", "a list of 2", function() L.Conv2D(2, {3, 3, 3}) end)
says("padding", "did you mean 'same'", function() L.Conv2D(2, 3, {padding = "sane"}) end)
says("causal in 2 axes", "\"valid\" or \"same\"", function() L.Conv2D(2, 3, {padding = "causal"}) end)
says("data_format", "channels_first", function() L.MaxPooling2D {data_format = "NCHW"} end)
says("groups", "multiple of 'groups'", function() L.Conv2D(3, 3, {groups = 2}) end)
says("rate", "within 0 and 1", function() L.Dropout(1.5) end)
says("rate that has no end", "below 1", call(L.GaussianDropout(1), x4, {training = true}))
says("negative size", "0 or more", function() L.ZeroPadding2D(-1) end)
says("three sides", "a pair for each axis", function() L.Cropping2D {{1, 1, 1}, {1, 1}} end)
says("cropping too much", "leaves nothing of axis 1; the input's shape is %(2, 4, 4, 3%)", call(L.Cropping2D(2), x4))
says("interpolation", "did you mean 'bilinear'", function() L.UpSampling2D {interpolation = "bilinar"} end)
says("reshape", "48 elements%) cannot become %(5, 5%)", call(L.Reshape {5, 5}, x4))
says("two open extents", "only one extent", function() L.Reshape {-1, -1} end)
says("permute", "once each", function() L.Permute {1, 1} end)
says("permute: rank", "must have rank 3", call(L.Permute {2, 1}, x4))
says("merge of one value", "merges a list", call(L.Add(), x4))
says("subtract of three", "exactly 2", call(L.Subtract(), {x4, x4, x4}))
says("merge of shapes", "extents must be equal or 1", call(L.Add(), {x4, tf.zeros {2, 4, 5, 3}}))
says("concatenate", "they may differ along axis 3 only", call(L.Concatenate(), {x4, tf.zeros {2, 5, 4, 3}}))
says("concatenate: axis", "'axis' is 7", call(L.Concatenate {axis = 7}, {x4, x4}))
says("dot", "different extents", call(L.Dot(2), {tf.zeros {2, 3, 4}, tf.zeros {2, 3, 5}}))
says("dot of the batch", "must not name the batch", call(L.Dot(0), {tf.zeros {2, 3}, tf.zeros {2, 3}}))
says("equation", "must look like", function() L.EinsumDense("ab>ac", 3) end)
says("equation of another rank", "has 3 axes of the input, whose shape is %(2, 4, 4, 3%)", call(L.EinsumDense("abc,cd->abd", {false, 3}), x4))
says("heads", "multiple of 'num_key_value_heads'", function() L.GroupedQueryAttention(3, 3, 2) end)
says("attention of one value", "takes {query, value}", call(L.MultiHeadAttention(2, 3), tf.zeros {2, 3, 4}))
says("keys and values", "each value has a key", call(L.Attention(), {tf.zeros {2, 3, 4}, tf.zeros {2, 5, 4}, tf.zeros {2, 6, 4}}))
says("groups of channels", "groups", call(L.GroupNormalization(2), x4))
says("axis of a norm", "axis", call(L.BatchNormalization {axis = 9}, x4))
says("windows that do not fit", "does not fit", call(L.LocallyConnected2D(2, 5), x4))
says("same padding of locally connected layers", "must be \"valid\"", function() L.LocallyConnected2D(2, 3, {padding = "same"}) end)
says("open steps of locally connected layers", "must be known", function()
  tf.Graph():as_default(function() L.LocallyConnected1D(2, 3)(K.Input {-1, 3}) end)
end)
says("other channels", "was built.*for inputs whose last axis is 3", function()
  tf.eager(function()
    local layer = L.Conv2D(2, 3, {name = "edges"})
    layer(x4)
    layer(tf.zeros {2, 4, 4, 5})
  end)
end)
says("the layer's own name", "'edges'", call(L.Cropping2D(2, {name = "edges"}), x4))
says("labels of an embedding", "out of range %[0, 4%)", call(L.Embedding(4, 2), tf.tensor({5}, "int32")))
says("weights before they are there", "not built", function() L.Dense(3):count_params() end)
says("setting weights before they are there", "before it is built", function() L.Dense(3):set_weights {tf.zeros {2, 3}, tf.zeros {3}} end)
says("weights of another shape", "has the shape", function()
  tf.eager(function()
    local layer = L.Dense(3)
    layer(tf.zeros {1, 2})
    layer:set_weights {tf.zeros {3, 2}, tf.zeros {3}}
  end)
end)
says("policy", "did you mean 'mixed_float16'", function() L.Dense(3, {dtype = "mixed_float"}) end)
says("a wrapped number", "must be a layer", function() L.TimeDistributed(3) end)
says("LoRA before it is built", "not built", function() L.Dense(3):enable_lora(2) end)
says("no vocabulary", "there is no vocabulary yet", call(L.StringLookup(), tf.tensor({"a"})))
says("a token twice", "twice", function() L.StringLookup {vocabulary = {"a", "b", "a"}} end)
says("unknown token without a number", "is not in the vocabulary", call(L.StringLookup {vocabulary = {"a"}, num_oov_indices = 0}, tf.tensor({"b"})))
says("mean without variance", "go together", function() L.Normalization {mean = 1} end)
says("no boundaries", "either 'bin_boundaries' or 'num_bins'", function() L.Discretization() end)
says("texts in graphs", "define%-by%-run", function() tf.Graph():as_default(function() L.Hashing(3)(tf.placeholder("string", {-1})) end) end)
says("image of rank 2", "rows, columns, channels", call(L.Resizing(3, 3), tf.zeros {2, 3}))
says("renorm", "not supported", function() L.BatchNormalization {renorm = true} end)

print(("keras layers: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1, true)
