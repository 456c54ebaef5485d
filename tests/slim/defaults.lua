-- Default numbers of Slim's layers, regularizers and initializers: the table of tf.contrib.layers of TensorFlow 1.15
-- (its API golden files and signatures), one line a number.
local tf = require "tfsdk"
local slim = tf.slim
local wrong, n = 0, 0
local function check(what, got, want)
  n = n + 1
  if got ~= want then
    wrong = wrong + 1
    print(("%s: %s, want %s"):format(what, tostring(got), tostring(want)))
  end
end

local layers = [[
conv2d             stride 1      padding SAME   rate 1      trainable true
conv1d             stride 1      padding SAME   rate 1
conv3d             stride 1      padding SAME   rate 1
convolution        stride 1      padding SAME   rate 1
conv2d_transpose   stride 1      padding SAME   trainable true
conv3d_transpose   stride 1      padding SAME
conv2d_in_plane    stride 1      padding SAME   trainable true
separable_conv2d   stride 1      padding SAME   rate 1      depth_multiplier 1   trainable true
fully_connected    trainable true
max_pool2d         stride 2      padding VALID
avg_pool2d         stride 2      padding VALID
max_pool3d         stride 2      padding VALID
avg_pool3d         stride 2      padding VALID
pool               padding VALID dilation_rate 1 stride 1
batch_norm         decay 0.999   center true    scale false epsilon 0.001 is_training true updates_collections update_ops zero_debias_moving_mean false renorm false renorm_decay 0.99 trainable true
dropout            keep_prob 0.5 is_training true
layer_norm         center true   scale true     begin_norm_axis 1 begin_params_axis -1
instance_norm      center true   scale true     epsilon 1e-6
group_norm         groups 32     channels_axis -1 epsilon 1e-6 center true scale true
unit_norm          epsilon 1e-7
one_hot_encoding   on_value 1    off_value 0
maxout             axis -1
gdn                inverse false beta_min 1e-6  gamma_init 0.1 reparam_offset 3.814697265625e-06
embed_sequence     unique false  trainable true
bow_encoder        sparse_lookup true
]]
for line in layers:gmatch "[^\n]+" do
  local name, rest = line:match "^(%S+)%s+(.*)$"
  local defaults = slim.default_arguments(slim[name])
  for key, value in rest:gmatch "(%S+)%s+(%S+)" do
    if value == "true" or value == "false" then value = value == "true" end
    check(name .. "." .. key, defaults[key], tonumber(value) or value)
  end
end

-- What is not in a signature, by what it does.
tf.eager(function()
  local x = tf.constant {{-1, 2}}
  local one = tf.ones_initializer()
  check("fully_connected: relu", slim.fully_connected(x * -1, 1, {weights_initializer = one}):item(), 0)
  check("linear: no activation", slim.linear(x * -1, 1, {weights_initializer = one}):item(), -1)
  check("relu6", slim.relu6(x * 20, 1, {weights_initializer = one}):item(), 6)
  check("l2_regularizer: half the sum of squares", slim.l2_regularizer(0.5)(x):item(), 0.5 * (1 + 4) / 2)
  check("l1_regularizer", slim.l1_regularizer(0.5)(x):item(), 1.5)
  check("l1_l2_regularizer", slim.l1_l2_regularizer(1, 1)(x):item(), 3 + 2.5)
  check("regularizer of scale 0", slim.l2_regularizer(0)(x), nil)
end)
tf.Graph():as_default(function()
  local x = tf.placeholder("float32", {1, 4, 4, 2})
  slim.conv2d(x, 3, 3, {normalizer_fn = slim.batch_norm})
  check("normalizer_fn: no bias", #slim.get_variables_by_suffix "biases", 0)
  check("batch_norm: no gamma", #slim.get_variables_by_suffix "gamma", 0)
  slim.conv2d(x, 3, 3, {biases_initializer = false})
  check("biases_initializer none: no bias", #slim.get_variables_by_suffix "biases", 0)
end)

-- What layers do when nothing is said: weights by Xavier's law, biases 0, ReLU behind; statistics of this family of layers.

for name, call in pairs {
  conv2d = function(x) return slim.conv2d(x, 3, 3) end, convolution2d = function(x) return slim.convolution2d(x, 3, 3) end,
  fully_connected = function(x) return slim.fully_connected(x, 3) end, conv2d_transpose = function(x) return slim.conv2d_transpose(x, 3, 3) end,
  separable_conv2d = function(x) return slim.separable_conv2d(x, 3, 3) end, conv2d_in_plane = function(x) return slim.conv2d_in_plane(x, 3) end} do
  tf.Graph():as_default(function()
    local y = call(tf.placeholder("float32", {1, 8, 8, 30}))
    check(name .. ": relu", y.op.type, "Relu")
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    for _, v in ipairs(tf.trainable_variables()) do
      local value = sess:run(v, nil, {raw = true})
      local top = tf.reduce_max(tf.abs(value)):item()
      if v.name:find "biases" then
        check(name .. ": biases", top, 0)
      else
        local s = v.shape
        local receptive = #s == 4 and s[1] * s[2] or 1
        local limit = math.sqrt(6 / (receptive * (s[#s - 1] + s[#s])))
        check(name .. ": xavier, " .. v.name, top <= limit and top > (value:size() > 100 and 0.8 or 0.1) * limit, true)
      end
    end
    check(name .. ": no penalty", #tf.losses.get_regularization_losses(), 0)
  end)
end
tf.Graph():as_default(function()
  local x = tf.placeholder("float32", {2, 8, 8, 3})
  check("fully_connected: last axis", table.concat(slim.fully_connected(x, 5).shape, "x"), "2x8x8x5")
  check("separable_conv2d: depthwise alone", table.concat(slim.separable_conv2d(x, false, 3).shape, "x"), "2x8x8x3")
  check("max_pool2d: VALID, stride 2", table.concat(slim.max_pool2d(x, 3).shape, "x"), "2x3x3x3")
  check("avg_pool2d: VALID, stride 2", table.concat(slim.avg_pool2d(x, 3).shape, "x"), "2x3x3x3")
  check("layer_norm: from axis 1", table.concat(slim.layer_norm(x).shape, "x"), "2x8x8x3")
  slim.batch_norm(x, {scope = "bn"})
  check("batch_norm: updates in UPDATE_OPS", #tf.get_collection(tf.GraphKeys.UPDATE_OPS), 2)
  slim.batch_norm(x, {scope = "in_place", updates_collections = false})
  check("batch_norm: in place", #tf.get_collection(tf.GraphKeys.UPDATE_OPS), 2)
end)

-- Initializers by their bounds and deviations: xavier is uniform in sqrt(6 / (in + out)); variance scaling a normal of
-- deviation sqrt(1.3 * 2 / in) cut at two deviations.
tf.eager(function()
  local shape = {3, 3, 40, 60}
  local fan_in, fan_out = 9 * 40, 9 * 60
  local u = slim.xavier_initializer {seed = 1}(shape, "float32")
  local limit = math.sqrt(6 / (fan_in + fan_out))
  check("xavier: bound kept", tf.reduce_max(tf.abs(u)):item() <= limit, true)
  check("xavier: bound reached", tf.reduce_max(tf.abs(u)):item() > 0.999 * limit, true)
  local sd = math.sqrt(1.3 * 2 / fan_in)
  local v = slim.variance_scaling_initializer {seed = 2}(shape, "float32")
  check("variance_scaling: cut at two deviations", tf.reduce_max(tf.abs(v)):item() <= 2 * sd * 1.0001, true)
  -- a normal cut at two deviations has 0.8796 of the deviation; 21,600 numbers tell it to a hundredth
  local got = math.sqrt(tf.reduce_mean(v * v):item()) / (0.87962566103423978 * sd)
  check("variance_scaling: deviation", math.abs(got - 1) < 0.02, true)
end)

-- Arg scopes of the nets: weight decay per family.
local decays = {alexnet_v2 = {"alexnet", "alexnet_v2_arg_scope", 5e-4}, vgg_16 = {"vgg", "vgg_arg_scope", 5e-4},
  overfeat = {"overfeat", "overfeat_arg_scope", 5e-4}, resnet_v1_50 = {"resnet_v1", "resnet_arg_scope", 1e-4},
  inception_v1 = {"inception_v1", "inception_v1_arg_scope", 4e-5}, mobilenet_v1 = {"mobilenet_v1", "mobilenet_v1_arg_scope", 4e-5},
  mobilenet_v2 = {"mobilenet_v2", "training_scope", 4e-5}}
for name, d in pairs(decays) do
  tf.Graph():as_default(function()
    slim.arg_scope(slim.nets[d[1]][d[2]](), function() slim.conv2d(tf.zeros {1, 3, 3, 1}, 1, 1, {weights_initializer = tf.ones_initializer()}) end)
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    local loss = sess:run(tf.losses.get_regularization_losses()[1])
    check(name .. ": weight decay", math.abs(loss / (d[3] / 2) - 1) < 1e-5, true)
  end)
end
tf.Graph():as_default(function()
  slim.arg_scope(slim.nets.cifarnet.cifarnet_arg_scope(), function() slim.fully_connected(tf.zeros {1, 1}, 1, {weights_initializer = tf.ones_initializer()}) end)
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  check("cifarnet: weight decay", math.abs(sess:run(tf.losses.get_regularization_losses()[1]) / 0.002 - 1) < 1e-5, true)
end)
tf.Graph():as_default(function()
  slim.arg_scope(slim.nets.lenet.lenet_arg_scope(), function() slim.fully_connected(tf.zeros {1, 1}, 1) end)
  check("lenet: no weight decay", #tf.losses.get_regularization_losses(), 0)
end)
print(("%d defaults, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and 0 or 1, true)
