-- MobileNet (Howard et al., 2017) and MobileNetV2 (Sandler et al., 2018).
local _, T = ...
local A = T.include("keras", "applications/common")
local L = A.L
local function norm(x, name, v2) return L.BatchNormalization({name = name, epsilon = v2 and 1e-3 or nil, momentum = v2 and 0.999 or nil})(x) end
local function relu6(x, name) return L.ReLU(6, {name = name})(x) end

local rest = " include_top=true weights? input_tensor? pooling? classes=1000 classifier_activation=softmax name?"
local function label(word)
  return function(o)
    local rows = o.shape[1] and o.shape[1] >= 0 and o.shape[1] or 224
    return ("%s_%.2f_%d"):format(word, o.alpha, rows)
  end
end
local function check(o, name)
  for _, key in ipairs {"alpha", "depth_multiplier"} do
    local v = o[key]
    if v ~= nil and (type(v) ~= "number" or v <= 0) then T.fail("tf.keras.applications." .. name, "'%s' must be above 0, not %s", key, tostring(v)) end
  end
end

A.application("MobileNet", {size = 224, signature = "input_shape? alpha=1 depth_multiplier=1 dropout=0.001" .. rest, name = label "mobilenet",
  body = function(x, o)
    check(o, "MobileNet")
    x = L.Conv2D(math.floor(32 * o.alpha), 3, {strides = 2, padding = "same", use_bias = false, name = "conv1"})(x)
    x = relu6(norm(x, "conv1_bn"), "conv1_relu")
    local filters = {64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024}
    local halves = {[2] = true, [4] = true, [6] = true, [12] = true}
    for i, f in ipairs(filters) do
      if halves[i] then x = L.ZeroPadding2D({{0, 1}, {0, 1}}, {name = "conv_pad_" .. i})(x) end
      x = L.DepthwiseConv2D(3, {padding = halves[i] and "valid" or "same", strides = halves[i] and 2 or 1, depth_multiplier = o.depth_multiplier, use_bias = false, name = "conv_dw_" .. i})(x)
      x = relu6(norm(x, ("conv_dw_%d_bn"):format(i)), ("conv_dw_%d_relu"):format(i))
      x = L.Conv2D(math.floor(f * o.alpha), 1, {padding = "same", use_bias = false, name = "conv_pw_" .. i})(x)
      x = relu6(norm(x, ("conv_pw_%d_bn"):format(i)), ("conv_pw_%d_relu"):format(i))
    end
    return x
  end,
  top = function(x, o)
    x = L.GlobalAveragePooling2D({keepdims = true})(x)
    x = L.Dropout(o.dropout, {name = "dropout"})(x)
    x = L.Conv2D(o.classes, 1, {padding = "same", name = "conv_preds"})(x)
    x = L.Reshape({o.classes}, {name = "reshape_2"})(x)
    return L.Activation(o.activation, {name = "predictions"})(x)
  end})

local function divisible(v)
  local new = math.max(8, (math.floor(v) + 4) // 8 * 8)
  return new < 0.9 * v and new + 8 or new
end
A.application("MobileNetV2", {size = 224, signature = "input_shape? alpha=1" .. rest, name = label "mobilenetv2", body = function(x, o)
  check(o, "MobileNetV2")
  x = L.Conv2D(divisible(32 * o.alpha), 3, {strides = 2, padding = "same", use_bias = false, name = "Conv1"})(x)
  x = relu6(norm(x, "bn_Conv1", true), "Conv1_relu")
  local id = 0
  for _, stage in ipairs {{16, 1, 1, 1}, {24, 2, 6, 2}, {32, 2, 6, 3}, {64, 2, 6, 4}, {96, 1, 6, 3}, {160, 2, 6, 3}, {320, 1, 6, 1}} do
    for i = 1, stage[4] do
      local channels, stride = x.shape[4], i == 1 and stage[2] or 1
      local prefix = id > 0 and ("block_%d_"):format(id) or "expanded_conv_"
      local y = x
      if id > 0 then
        y = L.Conv2D(stage[3] * channels, 1, {padding = "same", use_bias = false, name = prefix .. "expand"})(y)
        y = relu6(norm(y, prefix .. "expand_BN", true), prefix .. "expand_relu")
      end
      if stride == 2 then y = L.ZeroPadding2D(A.correct_pad(y, 3), {name = prefix .. "pad"})(y) end
      y = L.DepthwiseConv2D(3, {strides = stride, padding = stride == 1 and "same" or "valid", use_bias = false, name = prefix .. "depthwise"})(y)
      y = relu6(norm(y, prefix .. "depthwise_BN", true), prefix .. "depthwise_relu")
      local filters = divisible(math.floor(stage[1] * o.alpha))
      y = L.Conv2D(filters, 1, {padding = "same", use_bias = false, name = prefix .. "project"})(y)
      y = norm(y, prefix .. "project_BN", true)
      x = channels == filters and stride == 1 and L.Add({name = prefix .. "add"})({x, y}) or y
      id = id + 1
    end
  end
  x = L.Conv2D(o.alpha > 1 and divisible(1280 * o.alpha) or 1280, 1, {use_bias = false, name = "Conv_1"})(x)
  return relu6(norm(x, "Conv_1_bn", true), "out_relu")
end})
A.space("mobilenet", "tf", {"MobileNet"})
A.space("mobilenet_v2", "tf", {"MobileNetV2"})
return true
