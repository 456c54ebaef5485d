-- Builds every net and compares: numbers that are trained, statistics, variables (slim's own net files, run on a stand-in that
-- records every variable), and the shapes of end points (the papers' tables, and slim's tests of the nets).
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
-- net, classes, trained, statistics, variables; then options of the net
local nets = {
  {"lenet", 10, 3274634, 0, 8}, {"cifarnet", 10, 1756426, 0, 10},
  {"alexnet_v2", 1000, 50303912, 0, 16}, {"alexnet_v2", 1001, 50308009, 0, 16},
  {"overfeat", 1000, 145704424, 0, 16}, {"overfeat", 1001, 145708521, 0, 16},
  {"vgg_a", 1000, 132863336, 0, 22}, {"vgg_a", 1001, 132867433, 0, 22},
  {"vgg_16", 1000, 138357544, 0, 32}, {"vgg_16", 1001, 138361641, 0, 32},
  {"vgg_19", 1000, 143667240, 0, 38}, {"vgg_19", 1001, 143671337, 0, 38},
  {"inception_v1", 1000, 6617624, 14560, 230}, {"inception_v1", 1001, 6618649, 14560, 230},
  {"inception_v2", 1000, 11178336, 19776, 277}, {"inception_v2", 1001, 11179361, 19776, 277},
  {"inception_v3", 1000, 27143152, 36224, 388}, {"inception_v3", 1001, 27145970, 36224, 388},
  {"inception_v3", 1000, 23817352, 34432, 378, {create_aux_logits = false}},
  {"inception_v4", 1000, 46006800, 64960, 608}, {"inception_v4", 1001, 46009106, 64960, 608},
  {"inception_v4", 1000, 42648232, 63168, 598, {create_aux_logits = false}},
  {"inception_v4", 1001, 42649769, 63168, 598, {create_aux_logits = false}},
  {"inception_resnet_v2", 1000, 59179952, 62336, 908}, {"inception_resnet_v2", 1001, 59182258, 62336, 908},
  {"inception_resnet_v2", 1000, 55813192, 60544, 898, {create_aux_logits = false}},
  {"inception_resnet_v2", 1001, 55814729, 60544, 898, {create_aux_logits = false}},
  {"resnet_v1_50", 1000, 25557032, 53120, 267}, {"resnet_v1_50", 1001, 25559081, 53120, 267},
  {"resnet_v1_101", 1000, 44549160, 105344, 522}, {"resnet_v1_101", 1001, 44551209, 105344, 522},
  {"resnet_v1_152", 1000, 60192808, 151424, 777}, {"resnet_v1_152", 1001, 60194857, 151424, 777},
  {"resnet_v1_200", 1000, 64673832, 176000, 1017}, {"resnet_v1_200", 1001, 64675881, 176000, 1017},
  {"resnet_v2_50", 1000, 25568360, 45440, 272}, {"resnet_v2_50", 1001, 25570409, 45440, 272},
  {"resnet_v2_101", 1000, 44577896, 97664, 544}, {"resnet_v2_101", 1001, 44579945, 97664, 544},
  {"resnet_v2_152", 1000, 60236904, 143744, 816}, {"resnet_v2_152", 1001, 60238953, 143744, 816},
  {"resnet_v2_200", 1000, 64726120, 168320, 1072}, {"resnet_v2_200", 1001, 64728169, 168320, 1072},
  {"mobilenet_v1", 1000, 4231976, 21888, 137}, {"mobilenet_v1", 1001, 4233001, 21888, 137},
  {"mobilenet_v1_075", 1000, 2585560, 16416, 137}, {"mobilenet_v1_075", 1001, 2586329, 16416, 137},
  {"mobilenet_v1_050", 1000, 1331592, 10944, 137}, {"mobilenet_v1_050", 1001, 1332105, 10944, 137},
  {"mobilenet_v1_025", 1000, 470072, 5472, 137}, {"mobilenet_v1_025", 1001, 470329, 5472, 137},
  {"mobilenet_v2", 1000, 3504872, 34112, 262}, {"mobilenet_v2", 1001, 3506153, 34112, 262},
  {"mobilenet_v2_140", 1000, 6108776, 47936, 262}, {"mobilenet_v2_140", 1001, 6110569, 47936, 262},
  {"mobilenet_v2_035", 1000, 1677128, 14080, 262}, {"mobilenet_v2_035", 1001, 1678409, 14080, 262},
  {"nasnet_mobile", 1000, 5289978, 36738, 1126}, {"nasnet_mobile", 1001, 5291035, 36738, 1126},
  {"nasnet_large", 1000, 88753150, 196668, 1546}, {"nasnet_large", 1001, 88757183, 196668, 1546},
  {"nasnet_cifar", 10, 3346538, 37248, 1424},
  {"pnasnet_mobile", 1000, 5064487, 33664, 933}, {"pnasnet_mobile", 1001, 5065568, 33664, 933},
  {"pnasnet_large", 1000, 86057668, 176988, 1179}, {"pnasnet_large", 1001, 86061989, 176988, 1179},
  -- in training these have an auxiliary head more (its statistics: of 128 and 768 channels)
  {"nasnet_mobile", 1001, 7703044, 36738 + 2 * 896, 1138, {is_training = true}},
  {"nasnet_large", 1001, 93325736, 196668 + 2 * 896, 1558, {is_training = true}},
  {"nasnet_cifar", 10, 4978036, 37248 + 2 * 896, 1436, {is_training = true}},
  {"pnasnet_mobile", 1001, 7479113, 33664 + 2 * 896, 945, {is_training = true}},
  {"pnasnet_large", 1001, 90648974, 176988 + 2 * 896, 1191, {is_training = true}},
}
local channels = {lenet = 1}
local function build(name, classes, options)
  local f = slim.nets.nets_factory.get_network_fn(name, classes, {is_training = options and options.is_training or false})
  local size = f.default_image_size
  local rest = {}
  for k, v in pairs(options or {}) do if k ~= "is_training" then rest[k] = v end end
  return f(tf.placeholder("float32", {2, size, size, channels[name] or 3}), rest)
end
for _, row in ipairs(nets) do
  local name, classes, trained, statistics, variables, options = table.unpack(row)
  tf.Graph():as_default(function()
    local net, points = build(name, classes, options)
    local counted, rest = 0, 0
    for _, v in ipairs(tf.global_variables()) do
      local size = 1
      for _, d in ipairs(v.shape) do size = size * d end
      if v.trainable then counted = counted + size else rest = rest + size end
    end
    local label = ("%s (%d classes%s)"):format(name, classes, options and ", options" or "")
    check(label .. ": trained", counted, trained)
    check(label .. ": statistics", rest, statistics)
    check(label .. ": variables", #tf.global_variables(), variables)
    check(label .. ": output", table.concat(net.shape, "x"), "2x" .. classes)
    check(label .. ": model variables", #slim.get_model_variables(), variables)
    print(("%-24s %5d classes %12d trained %8d statistics"):format(name .. (options and "*" or ""), classes, counted, rest))
  end)
end

-- End points: height = width, channels.
local points = {
  inception_v1 = "Conv2d_1a_7x7 112 64 MaxPool_2a_3x3 56 64 Conv2d_2b_1x1 56 64 Conv2d_2c_3x3 56 192 MaxPool_3a_3x3 28 192 Mixed_3b 28 256 "
    .. "Mixed_3c 28 480 MaxPool_4a_3x3 14 480 Mixed_4b 14 512 Mixed_4c 14 512 Mixed_4d 14 512 Mixed_4e 14 528 Mixed_4f 14 832 "
    .. "MaxPool_5a_2x2 7 832 Mixed_5b 7 832 Mixed_5c 7 1024",
  inception_v2 = "Conv2d_1a_7x7 112 64 MaxPool_2a_3x3 56 64 Conv2d_2b_1x1 56 64 Conv2d_2c_3x3 56 192 MaxPool_3a_3x3 28 192 Mixed_3b 28 256 "
    .. "Mixed_3c 28 320 Mixed_4a 14 576 Mixed_4b 14 576 Mixed_4c 14 576 Mixed_4d 14 576 Mixed_4e 14 576 Mixed_5a 7 1024 Mixed_5b 7 1024 "
    .. "Mixed_5c 7 1024",
  inception_v3 = "Conv2d_1a_3x3 149 32 Conv2d_2a_3x3 147 32 Conv2d_2b_3x3 147 64 MaxPool_3a_3x3 73 64 Conv2d_3b_1x1 73 80 "
    .. "Conv2d_4a_3x3 71 192 MaxPool_5a_3x3 35 192 Mixed_5b 35 256 Mixed_5c 35 288 Mixed_5d 35 288 Mixed_6a 17 768 Mixed_6b 17 768 "
    .. "Mixed_6c 17 768 Mixed_6d 17 768 Mixed_6e 17 768 Mixed_7a 8 1280 Mixed_7b 8 2048 Mixed_7c 8 2048",
  inception_v4 = "Conv2d_1a_3x3 149 32 Conv2d_2a_3x3 147 32 Conv2d_2b_3x3 147 64 Mixed_3a 73 160 Mixed_4a 71 192 Mixed_5a 35 384 "
    .. "Mixed_5b 35 384 Mixed_5c 35 384 Mixed_5d 35 384 Mixed_5e 35 384 Mixed_6a 17 1024 Mixed_6b 17 1024 Mixed_6c 17 1024 Mixed_6d 17 1024 "
    .. "Mixed_6e 17 1024 Mixed_6f 17 1024 Mixed_6g 17 1024 Mixed_6h 17 1024 Mixed_7a 8 1536 Mixed_7b 8 1536 Mixed_7c 8 1536 Mixed_7d 8 1536",
  inception_resnet_v2 = "Conv2d_1a_3x3 149 32 Conv2d_2a_3x3 147 32 Conv2d_2b_3x3 147 64 MaxPool_3a_3x3 73 64 Conv2d_3b_1x1 73 80 "
    .. "Conv2d_4a_3x3 71 192 MaxPool_5a_3x3 35 192 Mixed_5b 35 320 Mixed_6a 17 1088 PreAuxLogits 17 1088 Mixed_7a 8 2080 Conv2d_7b_1x1 8 1536",
  resnet_v1_50 = "resnet_v1_50/conv1 112 64 resnet_v1_50/block1 28 256 resnet_v1_50/block2 14 512 resnet_v1_50/block3 7 1024 resnet_v1_50/block4 7 2048",
  resnet_v2_101 = "resnet_v2_101/block1 28 256 resnet_v2_101/block2 14 512 resnet_v2_101/block3 7 1024 resnet_v2_101/block4 7 2048",
  mobilenet_v1 = "Conv2d_0 112 32 Conv2d_1_depthwise 112 32 Conv2d_1_pointwise 112 64 Conv2d_2_depthwise 56 64 Conv2d_2_pointwise 56 128 "
    .. "Conv2d_4_depthwise 28 128 Conv2d_5_pointwise 28 256 Conv2d_6_pointwise 14 512 Conv2d_11_pointwise 14 512 Conv2d_12_depthwise 7 512 "
    .. "Conv2d_13_pointwise 7 1024",
  mobilenet_v2 = "layer_1 112 32 layer_2 112 16 layer_3 56 24 layer_5 28 32 layer_8 14 64 layer_12 14 96 layer_15 7 160 layer_18 7 320 layer_19 7 1280 "
    .. "layer_15/expansion_output 14 576 layer_15/depthwise_output 7 576",
  vgg_16 = "vgg_16/conv1/conv1_1 224 64 vgg_16/pool1 112 64 vgg_16/conv3/conv3_3 56 256 vgg_16/pool5 7 512 vgg_16/fc6 1 4096 vgg_16/fc7 1 4096",
  alexnet_v2 = "alexnet_v2/conv1 54 64 alexnet_v2/pool1 26 64 alexnet_v2/conv2 26 192 alexnet_v2/pool2 12 192 alexnet_v2/conv5 12 256 alexnet_v2/pool5 5 256 alexnet_v2/fc6 1 4096",
  overfeat = "overfeat/conv1 56 64 overfeat/pool1 28 64 overfeat/conv2 24 256 overfeat/pool2 12 256 overfeat/conv5 12 1024 overfeat/pool5 6 1024 overfeat/fc6 1 3072",
  nasnet_mobile = "Stem 28 88 Cell_0 28 264 Cell_3 28 264 Reduction_Cell_0 14 352 Cell_4 14 528 Cell_7 14 528 Reduction_Cell_1 7 704 Cell_8 7 1056 Cell_11 7 1056",
  nasnet_large = "Stem 42 336 Cell_0 42 1008 Cell_5 42 1008 Reduction_Cell_0 21 1344 Cell_6 21 2016 Reduction_Cell_1 11 2688 Cell_12 11 4032 Cell_17 11 4032",
  nasnet_cifar = "Cell_0 32 192 Cell_5 32 192 Reduction_Cell_0 16 256 Cell_6 16 384 Reduction_Cell_1 8 512 Cell_12 8 768 Cell_17 8 768",
  pnasnet_large = "Stem 42 540 Cell_0 42 1080 Cell_3 42 1080 Cell_4 21 2160 Cell_7 21 2160 Cell_8 11 4320 Cell_11 11 4320",
  pnasnet_mobile = "Stem 28 135 Cell_0 28 270 Cell_2 28 270 Cell_3 14 540 Cell_6 7 1080 Cell_8 7 1080",
}
for name, list in pairs(points) do
  tf.Graph():as_default(function()
    local _, got = build(name, name:find "cifar" and 10 or 1000)
    for point, size, depth in list:gmatch "(%S+) (%d+) (%d+)" do
      local p = got[point]
      check(name .. "." .. point, p and table.concat(p.shape, "x"), ("2x%dx%dx%d"):format(size, size, depth))
    end
    for _, known in ipairs {"Logits", "Predictions"} do
      if name:find "inception" or name:find "mobilenet" or name:find "nasnet" then
        check(name .. "." .. known, got[known] and table.concat(got[known].shape, "x"), name:find "cifar" and "2x10" or "2x1000")
      end
    end
  end)
end
-- output_stride: later strides become rates.
for _, row in ipairs {{"resnet_v1_50", 8, "resnet_v1_50/block4", 28, 2048}, {"resnet_v2_50", 16, "resnet_v2_50/block4", 14, 2048},
  {"mobilenet_v1", 8, "Conv2d_13_pointwise", 28, 1024}, {"mobilenet_v1", 16, "Conv2d_13_pointwise", 14, 1024},
  {"mobilenet_v2", 8, "layer_19", 28, 1280}} do
  tf.Graph():as_default(function()
    local _, got = build(row[1], 10, {output_stride = row[2], global_pool = row[1] ~= "mobilenet_v2" or nil})
    check(("%s with output_stride %d"):format(row[1], row[2]), table.concat(got[row[3]].shape, "x"), ("2x%dx%dx%d"):format(row[4], row[4], row[5]))
  end)
end
-- final_endpoint, no classes, other scopes
tf.Graph():as_default(function()
  local x = tf.placeholder("float32", {2, 224, 224, 3})
  local net, got = slim.nets.inception_v1.inception_v1_base(x, {final_endpoint = "Mixed_4b"})
  check("final_endpoint", table.concat(net.shape, "x"), "2x14x14x512")
  check("final_endpoint: nothing behind it", got.Mixed_4c, nil)
  local pooled = slim.nets.resnet_v1.resnet_v1_50(x, {scope = "features"})
  check("no classes: pooled features", table.concat(pooled.shape, "x"), "2x1x1x2048")
  check("scope: 53 convolutions with bias, without the arg scope", #slim.get_model_variables "features/", 106)
end)
print(("%d checks, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and 0 or 1, true)
