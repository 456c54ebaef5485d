-- tf.keras.applications: parameters (trained and not), layers, weights and shapes as Keras has them (tests/data/oracle/layers/applications.json,
-- written by Keras 3.15.1), with and without the top; and forward passes of small inputs.
local tf = require "tfsdk"
local K = tf.keras
local here = arg[0]:match "^(.*)/" or "."
local file = assert(io.open(here .. "/../data/oracle/layers/applications.json"))
local info = tf.json.decode(file:read "a")
file:close()
local null = tf.json.null
local note = dofile(here .. "/../oracle/note.lua")
-- the list of features.md 5.6, and their relatives of other depth
local names = {}
for name in ([[Xception VGG16 VGG19 ResNet50 ResNet101 ResNet152 ResNet50V2 ResNet101V2 ResNet152V2 InceptionV3 InceptionResNetV2 MobileNet MobileNetV2
  DenseNet121 DenseNet169 DenseNet201 NASNetMobile NASNetLarge]]):gmatch "%S+" do names[name] = true end
local passed, failed, seen = 0, 0, 0
local function count(list)
  local n = 0
  for _, v in ipairs(list) do
    local size = 1
    for _, d in ipairs(v.shape) do size = size * d end
    n = n + size
  end
  return n
end
local function equal(got, want, what) if got ~= want then error(("%s: %s, want %s"):format(what, got, want), 0) end end
for _, case in ipairs(info.cases) do
  local name = case.model:match "[^.]*$"
  if names[name] then
    seen = seen + 1
    local ok, why = pcall(function()
      tf.Graph():as_default(function()
        local shape = {}
        for i, d in ipairs(case.input_shape) do shape[i] = d == null and -1 or d end
        local model = K.applications[name]{include_top = case.include_top, input_shape = shape}
        equal(count(model.trainable_weights), case.trainable, "trained parameters")
        equal(count(model.non_trainable_weights), case.non_trainable, "other parameters")
        equal(model:count_params(), case.total, "parameters")
        equal(#model.weights, case.weight_arrays, "weights")
        equal(#model.layers, case.layers, "layers")
        for i, d in ipairs(case.output_shape) do equal(model.output.shape[i + 1], d == null and -1 or d, "extent " .. i .. " of the output") end
        print(("%-18s %-7s %11d trained %8d others"):format(name, case.include_top and "top" or "no top", case.trainable, case.non_trainable))
      end)
    end)
    note("layers/applications", case.id, ok, why)
    if ok then passed = passed + 1 else
      failed = failed + 1
      print(case.id, why)
    end
  end
end
equal(seen, 36, "cases")
-- Totals of the documentation of Keras 2.2.4 (features by name), and shapes of end points that the papers name, for the models' own image sizes.
for line in ([[
Xception           22,910,480  block14_sepconv2_act 10 2048  xception
VGG16             138,357,544  block5_pool          7   512  vgg16
VGG19             143,667,240  block5_pool          7   512  vgg19
ResNet50           25,636,712  conv5_block3_out     7  2048  resnet50
InceptionV3        23,851,784  mixed10              8  2048  inception_v3
InceptionResNetV2  55,873,736  conv_7b_ac           8  1536  inception_resnet_v2
MobileNet           4,253,864  conv_pw_13_relu      7  1024  mobilenet_1.00_224
MobileNetV2         3,538,984  out_relu             7  1280  mobilenetv2_1.00_224
DenseNet121         8,062,504  relu                 7  1024  densenet121
DenseNet169        14,307,880  relu                 7  1664  densenet169
DenseNet201        20,242,984  relu                 7  1920  densenet201
NASNetMobile        5,326,716  -                    7  1056  nasnet_mobile
NASNetLarge        88,949,818  -                    11 4032  nasnet_large
]]):gmatch "[^\n]+" do
  local name, total, point, extent, channels, label = line:match "^(%S+)%s+(%S+)%s+(%S+)%s+(%d+)%s+(%d+)%s+(%S+)"
  local ok, why = pcall(function()
    tf.Graph():as_default(function()
      local model = K.applications[name]()
      equal(model.name, label, "name")
      equal(model:count_params(), math.tointeger((total:gsub(",", ""))), "parameters")
      equal(table.concat(model.output.shape, ","), "-1,1000", "output")
      local node = point ~= "-" and model:get_layer(point).output or nil
      if not node then -- NASNet's last value has no name of its own: it goes into the pool
        for _, layer in ipairs(model.layers) do if getmetatable(layer).__name == "GlobalAveragePooling2D" then node = layer.input end end
      end
      equal(table.concat(node.shape, ","), ("-1,%s,%s,%s"):format(extent, extent, channels), "end point")
    end)
  end)
  if ok then passed = passed + 1 else
    failed = failed + 1
    print(name, why)
  end
end
-- Narrow and wide variants: trained parameters and averages of the nets of TensorFlow's slim with 1000 classes.
for _, v in ipairs{{"MobileNet", 0.75, 2585560, 16416}, {"MobileNet", 0.5, 1331592, 10944}, {"MobileNet", 0.25, 470072, 5472}, {"MobileNetV2", 1.4, 6108776, 47936}, {"MobileNetV2", 0.35, 1677128, 14080}} do
  local ok, why = pcall(function()
    tf.Graph():as_default(function()
      local model = K.applications[v[1]]{alpha = v[2]}
      equal(count(model.trainable_weights), v[3], "trained parameters")
      equal(count(model.non_trainable_weights), v[4], "averages")
    end)
  end)
  if ok then passed = passed + 1 else
    failed = failed + 1
    print(v[1], v[2], why)
  end
end
local function try(label, fn)
  local ok, why = pcall(function() tf.Graph():as_default(fn) end)
  if ok then passed = passed + 1 else
    failed = failed + 1
    print(label, why)
  end
end
try("depth_multiplier", function()
  local model = K.applications.MobileNet{depth_multiplier = 2, include_top = false, input_shape = {64, 64, 3}}
  equal(table.concat(model:get_layer("conv_dw_2").output.shape, ","), "-1,16,16,128", "two filters for each of 64 channels")
end)
try("input_tensor, classes, classifier_activation", function()
  local image = K.Input{32, 32, 3}
  local half = K.layers.Lambda(function(x) return x * 0.5 end)(image)
  local model = K.applications.VGG16{input_tensor = half, classes = 7, classifier_activation = false}
  equal(model.inputs[1], image, "the model begins at the input")
  equal(table.concat(model.output.shape, ","), "-1,7", "output")
  local last = model.layers[#model.layers]
  equal(last:get_config().activation, "linear", "activation")
end)
try("pooling", function()
  for _, how in ipairs{"avg", "max"} do
    equal(table.concat(K.applications.MobileNetV2{include_top = false, pooling = how, input_shape = {96, 96, 3}}.output.shape, ","), "-1,1280", how)
  end
  equal(table.concat(K.applications.DenseNet121{include_top = false}.output.shape, ","), "-1,-1,-1,1024", "open extents")
end)
try("weights of a file", function()
  local path = os.tmpname()
  os.remove(path)
  path = path .. ".safetensors"
  local options = {include_top = false, pooling = "avg", input_shape = {32, 32, 3}, alpha = 0.25}
  local first = K.applications.MobileNet(options)
  first:save_weights(path)
  options.weights = path
  local second = K.applications.MobileNet(options)
  os.remove(path)
  local a, b = first:get_weights(), second:get_weights()
  for i, w in ipairs(a) do equal(tf.reduce_all(tf.equal(w, b[i])):item(), true, "weight " .. i) end
end)
-- Forward passes: finite, and probabilities add up to 1. Small images, so that all take a moment; nets that need more than 32 rows get them.
for name, size in pairs{MobileNet = 64, MobileNetV2 = 64, ResNet50V2 = 64, DenseNet121 = 64, Xception = 71, InceptionV3 = 75, NASNetMobile = 64} do
  local ok, why = pcall(function()
    tf.Graph():as_default(function()
      local model = K.applications[name]{include_top = false, pooling = "avg", input_shape = {size, size, 3}}
      local y = model:predict(tf.random.uniform({2, size, size, 3}, {minval = -1, seed = 1, now = true}))
      equal(y.shape[1], 2, "rows")
      equal(tf.reduce_all(tf.is_finite(y)):item(), true, "finite")
      assert(tf.reduce_max(tf.abs(y)):item() > 0, "all zeros")
    end)
  end)
  if ok then passed = passed + 1 else
    failed = failed + 1
    print(name, why)
  end
end
local function says(label, pattern, fn)
  local ok, why = pcall(fn)
  if not ok and tostring(why):find(pattern) then passed = passed + 1 else
    failed = failed + 1
    print(label, why)
  end
end
says("imagenet", "give the path of a file", function() K.applications.VGG16{weights = "imagenet"} end)
says("small", "32 or more", function() K.applications.VGG16{include_top = false, input_shape = {16, 16, 3}} end)
says("pooling", "avg", function() K.applications.MobileNet{include_top = false, pooling = "mean"} end)
local p = K.applications.vgg16.decode_predictions(tf.tensor{{0.1, 0.7, 0.2}}, {top = 2, class_index = {"cat", "dog", "fish"}})
equal(p[1][1][2], "dog", "the first class")
equal(p[1][2][1], 2, "the number of the second class")
-- Pixels 0, 127.5, 255: what each mode makes of them, by its formula.
for space, mode in pairs{vgg16 = "caffe", vgg19 = "caffe", resnet50 = "caffe", inception_v3 = "tf", inception_resnet_v2 = "tf", xception = "tf", mobilenet = "tf", mobilenet_v2 = "tf", nasnet = "tf",
  densenet = "torch", resnet_v2 = "tf"} do
  local got = K.applications[space].preprocess_input(tf.tensor{{{{0, 127.5, 255}}}}):table()[1][1][1]
  local want = mode == "tf" and {-1, 0, 1} or mode == "torch" and {-0.485 / 0.229, (0.5 - 0.456) / 0.224, (1 - 0.406) / 0.225} or {255 - 103.939, 127.5 - 116.779, -123.68}
  for i = 1, 3 do if math.abs(got[i] - want[i]) > 1e-4 then failed = failed + 1 print(space, i, got[i], want[i]) else passed = passed + 1 end end
end
local x = K.applications.vgg16.preprocess_input(tf.tensor{{{{255, 0, 0}}}}) -- red: BGR less the mean
assert(math.abs(x:table()[1][1][1][3] - (255 - 123.68)) < 1e-4 and math.abs(x:table()[1][1][1][1] + 103.939) < 1e-4)
print(("applications: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
