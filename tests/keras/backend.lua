-- tf.keras.backend: functions of values. Expected values are what the definitions give for small whole numbers, or the named function of tf.
local tf = require "tfsdk"
local K = tf.keras.backend
local wrong, n = 0, 0
local function same(what, got, want)
  n = n + 1
  local function text(x)
    if tf.kind(x) == "Variable" then x = x:value() end
    if tf.kind(x) then x = x:table() end
    if type(x) == "number" then return ("%.5g"):format(x + 0.0) end
    if type(x) ~= "table" then return tostring(x) end
    local out = {}
    for i, v in ipairs(x) do out[i] = text(v) end
    return "{" .. table.concat(out, ",") .. "}"
  end
  local a, b = text(got), text(want)
  if a ~= b then
    wrong = wrong + 1
    print(("%s: got %s, want %s"):format(what, a, b))
  end
end
local function fails(what, words, fn, ...)
  n = n + 1
  local ok, why = pcall(fn, ...)
  if ok or not tostring(why):find(words, 1, true) then
    wrong = wrong + 1
    print(what, ok and "no error" or tostring(why))
  end
end

tf.eager(function()
  local x = tf.tensor{{1.0, 2}, {3, 4}}
  same("logsumexp", K.logsumexp(x, 1), {math.log(math.exp(1) + math.exp(2)), math.log(math.exp(3) + math.exp(4))})
  same("std", K.std(x), math.sqrt(1.25))
  same("var: axis", K.var(x, 0), {1, 1})
  same("var: keepdims", K.var(x, 1, true), {{0.25}, {0.25}})
  same("cumsum: axis 0", K.cumsum(x), {{1, 2}, {4, 6}})
  same("cumprod", K.cumprod(x, 1), {{1, 2}, {3, 12}})
  same("arange: to", K.arange(3), {0, 1, 2})
  same("arange: from, to, by", K.arange(1, 6, 2), {1, 3, 5})
  same("reverse", K.reverse(x, 1), {{2, 1}, {4, 3}})
  same("slice", K.slice(x, {1, 0}, {1, 2}), {{3, 4}})
  same("repeat_", K.repeat_(x, 2), {{{1, 2}, {1, 2}}, {{3, 4}, {3, 4}}})
  fails("repeat_: rank", "rank 2", K.repeat_, tf.ones{2}, 2)
  same("repeat_elements", K.repeat_elements(x, 2, 1), {{1, 1, 2, 2}, {3, 3, 4, 4}})
  same("switch: one condition", K.switch(tf.tensor(true), x, function() error "not taken" end), x)
  same("switch: rows", K.switch(tf.tensor{1, 0}, x, x * 0), {{1, 2}, {0, 0}})
  same("in_top_k", K.in_top_k(x, tf.tensor({1, 0}, "int32"), 1), {true, false})
  same("bias_add", K.bias_add(x, tf.tensor{10.0, 20}), {{11, 22}, {13, 24}})
  same("bias_add: channels first", K.bias_add(tf.zeros{1, 2, 1, 1}, tf.tensor{1.0, 2}, "channels_first"), {{{{1}}, {{2}}}})
  -- Keras' documentation: (32, 20) and (32, 30, 20) by axes 1 and 2 give (32, 30); (2, 3, 4) and (2, 4, 5) give (2, 3, 5)
  same("batch_dot: shapes", K.batch_dot(tf.ones{32, 20}, tf.ones{32, 30, 20}, {1, 2}).shape, {32, 30})
  same("batch_dot: default axes", K.batch_dot(tf.ones{2, 3, 4}, tf.ones{2, 4, 5}).shape, {2, 3, 5})
  same("batch_dot: vectors", K.batch_dot(x, x, 1), {{5}, {25}})
  same("categorical_crossentropy", K.categorical_crossentropy(tf.tensor{{0.0, 1}}, tf.tensor{{0.5, 0.5}}), {math.log(2)})
  same("sparse_categorical_crossentropy", K.sparse_categorical_crossentropy(tf.tensor({1}, "int64"), tf.tensor{{0.5, 0.5}}), {math.log(2)})
  same("binary_crossentropy: each element", K.binary_crossentropy(tf.tensor{1.0, 0}, tf.tensor{0.5, 0.75}), {math.log(2), -math.log(0.25)})
  same("binary_crossentropy: logits", K.binary_crossentropy(tf.tensor{1.0}, tf.tensor{0.0}, true), {math.log(2)})
  same("conv1d: causal", K.conv1d(tf.tensor{{{1.0}, {2}, {3}}}, tf.ones{2, 1, 1}, {padding = "causal"}), {{{1}, {3}, {5}}})
  same("conv1d: causal, dilated", K.conv1d(tf.tensor{{{1.0}, {2}, {3}}}, tf.ones{2, 1, 1}, {padding = "causal", dilation_rate = 2}), {{{1}, {2}, {4}}})
  same("conv2d: valid", K.conv2d(tf.ones{1, 3, 3, 1}, tf.ones{2, 2, 1, 1}), {{{{4}, {4}}, {{4}, {4}}}})
  same("conv2d: same, strides", K.conv2d(tf.ones{1, 3, 3, 1}, tf.ones{2, 2, 1, 1}, 2, "same"), {{{{4}, {2}}, {{2}, {1}}}})
  same("conv2d_transpose", K.conv2d_transpose(tf.ones{1, 1, 1, 1}, tf.ones{2, 2, 1, 1}, {1, 2, 2, 1}), {{{{1}, {1}}, {{1}, {1}}}})
  same("depthwise_conv2d", K.depthwise_conv2d(tf.ones{1, 2, 2, 2}, tf.ones{2, 2, 2, 1}), {{{{4, 4}}}})
  same("pool2d: max", K.pool2d(tf.tensor{{{{1.0}, {2}}, {{3}, {4}}}}, {2, 2}), {{{{4}}}})
  same("pool2d: avg", K.pool2d(tf.tensor{{{{1.0}, {2}}, {{3}, {4}}}}, {2, 2}, {pool_mode = "avg"}), {{{{2.5}}}})
  fails("pool2d: a word that is none", "\"max\" or \"avg\"", K.pool2d, tf.ones{1, 2, 2, 1}, {2, 2}, {pool_mode = "sum"})
  fails("a layout that is none", "channels_last", K.conv2d, tf.ones{1, 2, 2, 1}, tf.ones{1, 1, 1, 1}, {data_format = "NHWC"})
  same("temporal_padding", K.temporal_padding(tf.ones{1, 1, 1}, {1, 2}), {{{0}, {1}, {0}, {0}}})
  same("spatial_2d_padding", K.spatial_2d_padding(tf.ones{1, 1, 1, 1}, {{0, 1}, {1, 0}}), {{{{0}, {1}}, {{0}, {0}}}})
  same("spatial_2d_padding: channels first", K.spatial_2d_padding(tf.ones{1, 1, 1, 1}, {{0, 1}, {0, 0}}, "channels_first"), {{{{1}, {0}}}})
  same("resize_images", K.resize_images(tf.tensor{{{{1.0}, {2}}}}, 1, 2), {{{{1}, {1}, {2}, {2}}}})
  same("resize_volumes", K.resize_volumes(tf.ones{1, 1, 1, 1, 1}, 2, 1, 1).shape, {1, 2, 1, 1, 1})
  same("batch_normalization", K.batch_normalization(x, tf.tensor{1.0, 2}, tf.tensor{4.0, 1}, tf.tensor{0.0, 1}, tf.tensor{2.0, 1}, {epsilon = 0}), {{0, 1}, {2, 3}})
  same("batch_normalization: axis 0", K.batch_normalization(x, tf.tensor{1.0, 3}, tf.tensor{1.0, 1}, tf.tensor{0.0, 0}, tf.tensor{1.0, 1}, {axis = 0, epsilon = 0}), {{0, 1}, {0, 1}})
  local y, mean, variance = K.normalize_batch_in_training(x, tf.ones{2}, tf.zeros{2}, {0}, 0)
  same("normalize_batch_in_training", {y:table(), mean:table(), variance:table()}, {{{-1, -1}, {1, 1}}, {2, 3}, {1, 1}})
  same("map_fn", K.map_fn(function(v) return v * 2 end, x), {{2, 4}, {6, 8}})
  same("foldl", K.foldl(function(a, b) return a * 2 + b end, tf.tensor{1.0, 2, 3}), 11)
  same("foldr", K.foldr(function(a, b) return a * 2 + b end, tf.tensor{1.0, 2, 3}), 17)
  local v = K.variable(x)
  K.update(v, x * 2)
  K.update_add(v, x)
  K.update_sub(v, x * 2)
  same("update, update_add, update_sub", v, x)
  K.moving_average_update(v, x * 0, 0.75)
  same("moving_average_update", v, {{0.75, 1.5}, {2.25, 3}})
  K.batch_set_value{{v, x}}
  same("batch_set_value, eval", K.eval(v), x)
  same("random_binomial: 0 and 1", {K.random_binomial({3}, 0):table(), K.random_binomial({3}, 1):table()}, {{0, 0, 0}, {1, 1, 1}})
  same("random_uniform: bounds", tf.reduce_min(K.random_uniform({100}, 3, 4)):item() >= 3 and tf.reduce_max(K.random_uniform({100}, 3, 4)):item() < 4, true)
  same("dropout: none", K.dropout(x, 0), x)
  same("cast_to_floatx", K.cast_to_floatx(tf.tensor({1}, "int32")).dtype, "float32")
  K.reset_uids()
  same("get_uid", {K.get_uid "a", K.get_uid "a", K.get_uid "b"}, {1, 2, 1})
  same("image_dim_ordering", K.image_dim_ordering(), "tf")
end)
tf.Graph():as_default(function()
  local p = K.placeholder({false, 2})
  same("is_placeholder", {K.is_placeholder(p), K.is_placeholder(p + 1), K.is_tensor(p), K.is_sparse(p)}, {true, false, true, false})
  fails("map_fn over an open extent", "must be known", K.map_fn, function(v) return v end, p)
  same("std in a graph", K.get_session():run(K.std(p), {[p] = tf.eager(function() return tf.tensor{{1.0, 2}, {3, 4}} end)}), math.sqrt(1.25))
end)
print(("backend: %d checks, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and 0 or 1, true)
