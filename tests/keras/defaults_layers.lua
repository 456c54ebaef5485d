-- Defaults of all layers of tf.keras, as their configurations show them, and the order of their arguments. Sources: the signatures of Keras 3.15
-- (keras.io/api/layers); of Keras 2.2.4 for what only that has (ThresholdedReLU, LocallyConnected, pool_size of AveragePooling, data_format
-- of Flatten). A line is a class, the arguments that it must be given in brackets, then names and defaults in the order of the signature.
-- `none`: nothing. `@word` stands for a group below.
local tf = require "tfsdk"
local K = tf.keras
local wrong, n = 0, 0
local function check(what, got, want)
  n = n + 1
  if got ~= want then
    wrong = wrong + 1
    print(("%s: %s, want %s"):format(what, tostring(got), tostring(want)))
  end
end
local groups = {
  kernel = "kernel_initializer=GlorotUniform bias_initializer=Zeros kernel_regularizer=none bias_regularizer=none kernel_constraint=none bias_constraint=none",
  depthwise = "depthwise_initializer=GlorotUniform bias_initializer=Zeros depthwise_regularizer=none bias_regularizer=none depthwise_constraint=none bias_constraint=none",
  separable = "depthwise_initializer=GlorotUniform pointwise_initializer=GlorotUniform bias_initializer=Zeros depthwise_regularizer=none pointwise_regularizer=none "
    .. "bias_regularizer=none depthwise_constraint=none pointwise_constraint=none bias_constraint=none",
  affine = "epsilon=0.001 center=true scale=true beta_initializer=Zeros gamma_initializer=Ones",
  affine_rest = "beta_regularizer=none gamma_regularizer=none beta_constraint=none gamma_constraint=none",
  embeddings = "embeddings_initializer=RandomUniform embeddings_regularizer=none embeddings_constraint=none mask_zero=false"}
local text = [[
Dense                  [units=3] activation=linear use_bias=true @kernel
EinsumDense            [equation=ab,bc->ac output_shape=5] activation=linear bias_axes=none @kernel
Activation             [activation=relu]
Identity               []
Dropout                [rate=0.5] noise_shape=none seed=none
SpatialDropout1D       [rate=0.5] seed=none
SpatialDropout2D       [rate=0.5] data_format=channels_last seed=none
SpatialDropout3D       [rate=0.5] data_format=channels_last seed=none
GaussianNoise          [stddev=0.5] seed=none
GaussianDropout        [rate=0.5] seed=none
AlphaDropout           [rate=0.5] noise_shape=none seed=none
ActivityRegularization [] l1=0 l2=0
Flatten                [] data_format=channels_last
Reshape                [target_shape={6}]
Permute                [dims={2,1}]
RepeatVector           [n=3]
Masking                [] mask_value=0
Embedding              [input_dim=5 output_dim=4] @embeddings
ReversibleEmbedding    [input_dim=5 output_dim=4] tie_weights=true @embeddings reverse_dtype=none logit_soft_cap=none
Conv1D                 [filters=4 kernel_size=3] strides={1} padding=valid data_format=channels_last dilation_rate={1} groups=1 activation=linear use_bias=true @kernel
Conv2D                 [filters=4 kernel_size=3] strides={1,1} padding=valid data_format=channels_last dilation_rate={1,1} groups=1 activation=linear use_bias=true @kernel
Conv3D                 [filters=4 kernel_size=3] strides={1,1,1} padding=valid data_format=channels_last dilation_rate={1,1,1} groups=1 activation=linear use_bias=true @kernel
Conv1DTranspose        [filters=4 kernel_size=3] strides={1} padding=valid output_padding=none data_format=channels_last dilation_rate={1} activation=linear use_bias=true @kernel
Conv2DTranspose        [filters=4 kernel_size=3] strides={1,1} padding=valid output_padding=none data_format=channels_last dilation_rate={1,1} activation=linear use_bias=true @kernel
Conv3DTranspose        [filters=4 kernel_size=3] strides={1,1,1} padding=valid data_format=channels_last output_padding=none dilation_rate={1,1,1} activation=linear use_bias=true @kernel
SeparableConv1D        [filters=4 kernel_size=3] strides={1} padding=valid data_format=channels_last dilation_rate={1} depth_multiplier=1 activation=linear use_bias=true @separable
SeparableConv2D        [filters=4 kernel_size=3] strides={1,1} padding=valid data_format=channels_last dilation_rate={1,1} depth_multiplier=1 activation=linear use_bias=true @separable
DepthwiseConv1D        [kernel_size=3] strides={1} padding=valid depth_multiplier=1 data_format=channels_last dilation_rate={1} activation=linear use_bias=true @depthwise
DepthwiseConv2D        [kernel_size=3] strides={1,1} padding=valid depth_multiplier=1 data_format=channels_last dilation_rate={1,1} activation=linear use_bias=true @depthwise
LocallyConnected1D     [filters=4 kernel_size=3] strides={1} padding=valid data_format=channels_last activation=linear use_bias=true @kernel
LocallyConnected2D     [filters=4 kernel_size=3] strides={1,1} padding=valid data_format=channels_last activation=linear use_bias=true @kernel
UpSampling1D           [] size=2
UpSampling2D           [] size={2,2} data_format=channels_last interpolation=nearest
UpSampling3D           [] size={2,2,2} data_format=channels_last
ZeroPadding1D          [] padding={1,1} data_format=channels_last
ZeroPadding2D          [] padding={{1,1},{1,1}} data_format=channels_last
ZeroPadding3D          [] padding={{1,1},{1,1},{1,1}} data_format=channels_last
Cropping1D             [] cropping={1,1}
Cropping2D             [] cropping={{0,0},{0,0}} data_format=channels_last
Cropping3D             [] cropping={{1,1},{1,1},{1,1}} data_format=channels_last
MaxPooling1D           [] pool_size={2} strides={2} padding=valid data_format=channels_last
MaxPooling2D           [] pool_size={2,2} strides={2,2} padding=valid data_format=channels_last
MaxPooling3D           [] pool_size={2,2,2} strides={2,2,2} padding=valid data_format=channels_last
AveragePooling1D       [] pool_size={2} strides={2} padding=valid data_format=channels_last
AveragePooling2D       [] pool_size={2,2} strides={2,2} padding=valid data_format=channels_last
AveragePooling3D       [] pool_size={2,2,2} strides={2,2,2} padding=valid data_format=channels_last
GlobalMaxPooling1D     [] data_format=channels_last keepdims=false
GlobalMaxPooling2D     [] data_format=channels_last keepdims=false
GlobalMaxPooling3D     [] data_format=channels_last keepdims=false
GlobalAveragePooling1D [] data_format=channels_last keepdims=false
GlobalAveragePooling2D [] data_format=channels_last keepdims=false
GlobalAveragePooling3D [] data_format=channels_last keepdims=false
AdaptiveMaxPooling1D     [output_size=2] data_format=channels_last
AdaptiveMaxPooling2D     [output_size=2] data_format=channels_last
AdaptiveMaxPooling3D     [output_size=2] data_format=channels_last
AdaptiveAveragePooling1D [output_size=2] data_format=channels_last
AdaptiveAveragePooling2D [output_size=2] data_format=channels_last
AdaptiveAveragePooling3D [output_size=2] data_format=channels_last
Add                    []
Subtract               []
Multiply               []
Average                []
Maximum                []
Minimum                []
Concatenate            [] axis=-1
Dot                    [axes=1] normalize=false
BatchNormalization     [] axis=-1 momentum=0.99 @affine moving_mean_initializer=Zeros moving_variance_initializer=Ones @affine_rest
LayerNormalization     [] axis={-1} @affine @affine_rest
GroupNormalization     [] groups=32 axis=-1 @affine @affine_rest
RMSNormalization       [] axis=-1 epsilon=0.000001
UnitNormalization      [] axis=-1
LeakyReLU              [] negative_slope=0.3
PReLU                  [] alpha_initializer=Zeros alpha_regularizer=none alpha_constraint=none shared_axes=none
ELU                    [] alpha=1
ThresholdedReLU        [] theta=1
Softmax                [] axis=-1
ReLU                   [] max_value=none negative_slope=0 threshold=0
Attention              [] use_scale=false score_mode=dot dropout=0 seed=none
AdditiveAttention      [] use_scale=true dropout=0
MultiHeadAttention     [num_heads=2 key_dim=3] value_dim=3 dropout=0 use_bias=true output_shape=none attention_axes=none sliding_window=none @kernel use_gate=false seed=none
Rescaling              [scale=2] offset=0
Normalization          [] axis={-1} mean=none variance=none invert=false
Discretization         [num_bins=3] epsilon=0.01 output_mode=int sparse=false
CategoryEncoding       [num_tokens=3] output_mode=multi_hot sparse=false
Hashing                [num_bins=3] mask_value=none salt=none output_mode=int sparse=false
StringLookup           [] max_tokens=none num_oov_indices=1 mask_token=none oov_token=[UNK] vocabulary=none idf_weights=none invert=false output_mode=int sparse=false pad_to_max_tokens=false
IntegerLookup          [] max_tokens=none num_oov_indices=1 mask_token=none oov_token=-1 vocabulary=none vocabulary_dtype=int64 idf_weights=none invert=false output_mode=int sparse=false pad_to_max_tokens=false
TextVectorization      [] max_tokens=none standardize=lower_and_strip_punctuation split=whitespace ngrams=none output_mode=int output_sequence_length=none pad_to_max_tokens=false vocabulary=none
Resizing               [height=3 width=3] interpolation=bilinear crop_to_aspect_ratio=false pad_to_aspect_ratio=false fill_mode=constant fill_value=0 antialias=false data_format=channels_last
CenterCrop             [height=3 width=3] data_format=channels_last
RandomCrop             [height=3 width=3] seed=none data_format=channels_last
STFTSpectrogram        [] mode=log frame_length=256 frame_step=none fft_length=none window=hann periodic=false scaling=density padding=valid expand_dims=false data_format=channels_last
MelSpectrogram         [] fft_length=2048 sequence_stride=512 sequence_length=2048 window=hann sampling_rate=16000 num_mel_bins=128 min_freq=20 max_freq=8000 power_to_db=true top_db=80 mag_exp=2 min_power=1e-10 ref_power=1
GroupedQueryAttention  [head_dim=4 num_query_heads=4 num_key_value_heads=2] dropout=0 use_bias=true sliding_window=none @kernel use_gate=false seed=none
]]
local function value_of(word)
  if word == "none" then return nil elseif word == "true" then return true elseif word == "false" then return false end
  if word:sub(1, 1) == "{" then return load("return " .. word)() end
  return tonumber(word) or word
end
local function show(x)
  if x == nil or x == tf.json.null then return "none" end
  if type(x) == "table" then
    if x.class_name then return x.class_name end
    local out = {}
    for i, v in ipairs(x) do out[i] = show(v) end
    return "{" .. table.concat(out, ",") .. "}"
  end
  return math.type(x) == "float" and ("%.9g"):format(x) or tostring(x)
end
local function pairs_of(list)
  local out = {}
  for word in list:gmatch "%S+" do
    local key, value = word:match "^([^=]+)=(.+)$"
    out[#out + 1] = {key, value_of(value)}
  end
  return out
end
local seen = 0
for line in text:gmatch "[^\n]+" do
  local class, given, rest = line:match "^(%S+)%s+%[(.-)%]%s*(.*)$"
  rest = rest:gsub("@([%w_]+)", groups)
  seen = seen + 1
  local options, order = {}, {}
  for _, p in ipairs(pairs_of(given)) do options[p[1]] = p[2] order[#order + 1] = p[1] end
  local ok, layer = pcall(K.layers[class], options)
  if not ok then
    check(class, layer, "a layer")
  else
    local config = layer:get_config()
    for _, p in ipairs(pairs_of(rest)) do
      local got = config[p[1]]
      if got == false and p[2] == nil then got = nil end
      check(class .. "." .. p[1], show(got), show(p[2]))
      order[#order + 1] = p[1]
    end
    check(class .. ": trainable", config.trainable, true)
    check(class .. ": dtype", config.dtype, "float32")
    -- the arguments by position
    local place, last = {}, 0
    for i, name in ipairs(getmetatable(layer).names) do place[name] = i end
    for _, name in ipairs(order) do
      check(class .. ": the place of " .. name, (place[name] or 0) > last, true)
      last = place[name] or last
    end
    -- automatic names count from nothing
    K.backend.clear_session()
    local first, second = K.layers[class](options).name, K.layers[class](options).name
    check(class .. ": the second name", second, first .. "_1")
  end
end
check("classes", seen, 94)
-- Keras' names for classes whose spelling does not follow from one rule (keras.utils.naming.to_snake_case).
K.backend.clear_session()
for class, want in pairs {Conv2D = "conv2d", Conv2DTranspose = "conv2d_transpose", MaxPooling2D = "max_pooling2d", ReLU = "re_lu", LeakyReLU = "leaky_re_lu", PReLU = "p_re_lu",
  ELU = "elu", ThresholdedReLU = "thresholded_re_lu", RMSNormalization = "rms_normalization", SpatialDropout1D = "spatial_dropout1d", UpSampling3D = "up_sampling3d",
  BatchNormalization = "batch_normalization", GlobalAveragePooling1D = "global_average_pooling1d", LocallyConnected1D = "locally_connected1d",
  GroupedQueryAttention = "grouped_query_attention", Conv3DTranspose = "conv3d_transpose", DepthwiseConv2D = "depthwise_conv2d", SeparableConv1D = "separable_conv1d"} do
  local options = {filters = 2, kernel_size = 1, rate = 0.5, head_dim = 1, num_query_heads = 1, num_key_value_heads = 1}
  local fields = {}
  for _, name in ipairs {"filters", "kernel_size", "rate", "head_dim", "num_query_heads", "num_key_value_heads"} do
    if text:match("\n" .. class .. "%s+%[[^%]]*" .. name .. "=") then fields[name] = options[name] end
  end
  check("name of " .. class, K.layers[class](fields).name, want)
end
-- Old and short names of the same classes.
for other, class in pairs {Convolution1D = "Conv1D", Convolution2D = "Conv2D", Convolution3D = "Conv3D", Convolution2DTranspose = "Conv2DTranspose", SeparableConvolution2D = "SeparableConv2D",
  MaxPool1D = "MaxPooling1D", MaxPool2D = "MaxPooling2D", MaxPool3D = "MaxPooling3D", AvgPool1D = "AveragePooling1D", AvgPool2D = "AveragePooling2D", AvgPool3D = "AveragePooling3D",
  GlobalMaxPool1D = "GlobalMaxPooling1D", GlobalMaxPool2D = "GlobalMaxPooling2D", GlobalMaxPool3D = "GlobalMaxPooling3D", GlobalAvgPool1D = "GlobalAveragePooling1D",
  GlobalAvgPool2D = "GlobalAveragePooling2D", GlobalAvgPool3D = "GlobalAveragePooling3D"} do
  check(other, K.layers[other], K.layers[class])
end
-- What a default means where no field shows it: the initial kernel of Glorot and Bengio lies within sqrt(6 / (in + out)).
tf.eager(function()
  local dense = K.layers.Dense(300)
  dense(tf.zeros {1, 300})
  local top = tf.reduce_max(tf.abs(dense.weights[1])):item()
  check("Dense: the largest weight", top <= 0.1 and top > 0.0995, true)
  local embedding = K.layers.Embedding(1000, 10)
  embedding(tf.tensor({{1}}, "int32"))
  top = tf.reduce_max(tf.abs(embedding.weights[1])):item()
  check("Embedding: the largest weight", top <= 0.05 and top > 0.0498, true)
end)
print(("keras layers: %d defaults, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and 0 or 1, true)
