-- ResNet 50, 101, 152 (He et al., 2015), and version 2 (2016), as Keras has them: with biases.
local _, T = ...
local A = T.include("keras", "applications/common")
local L = A.L
local function norm(x, name) return L.BatchNormalization({epsilon = 1.001e-5, name = name})(x) end
local function relu(x, name) return L.Activation("relu", {name = name})(x) end

local function block_v1(x, f, stride, shortcut, name)
  local way = x
  if shortcut then way = norm(L.Conv2D(4 * f, 1, {strides = stride, name = name .. "_0_conv"})(x), name .. "_0_bn") end
  x = relu(norm(L.Conv2D(f, 1, {strides = stride, name = name .. "_1_conv"})(x), name .. "_1_bn"), name .. "_1_relu")
  x = relu(norm(L.Conv2D(f, 3, {padding = "same", name = name .. "_2_conv"})(x), name .. "_2_bn"), name .. "_2_relu")
  x = norm(L.Conv2D(4 * f, 1, {name = name .. "_3_conv"})(x), name .. "_3_bn")
  return relu(L.Add({name = name .. "_add"})({way, x}), name .. "_out")
end
local function block_v2(x, f, stride, shortcut, name)
  local first = relu(norm(x, name .. "_preact_bn"), name .. "_preact_relu")
  local way
  if shortcut then
    way = L.Conv2D(4 * f, 1, {strides = stride, name = name .. "_0_conv"})(first)
  else
    way = stride > 1 and L.MaxPooling2D(1, {strides = stride})(x) or x
  end
  local y = relu(norm(L.Conv2D(f, 1, {use_bias = false, name = name .. "_1_conv"})(first), name .. "_1_bn"), name .. "_1_relu")
  y = L.ZeroPadding2D(1, {name = name .. "_2_pad"})(y)
  y = relu(norm(L.Conv2D(f, 3, {strides = stride, use_bias = false, name = name .. "_2_conv"})(y), name .. "_2_bn"), name .. "_2_relu")
  y = L.Conv2D(4 * f, 1, {name = name .. "_3_conv"})(y)
  return L.Add({name = name .. "_out"})({way, y})
end
for depth, blocks in pairs {[50] = {3, 4, 6, 3}, [101] = {3, 4, 23, 3}, [152] = {3, 8, 36, 3}} do
  for version = 1, 2 do
    A.application("ResNet" .. depth .. (version == 2 and "V2" or ""), {size = 224, body = function(x)
      x = L.ZeroPadding2D(3, {name = "conv1_pad"})(x)
      x = L.Conv2D(64, 7, {strides = 2, name = "conv1_conv"})(x)
      if version == 1 then x = relu(norm(x, "conv1_bn"), "conv1_relu") end
      x = L.ZeroPadding2D(1, {name = "pool1_pad"})(x)
      x = L.MaxPooling2D(3, {strides = 2, name = "pool1_pool"})(x)
      for s, n in ipairs(blocks) do
        for b = 1, n do
          local name = ("conv%d_block%d"):format(s + 1, b)
          if version == 1 then
            x = block_v1(x, 32 << s, b == 1 and s > 1 and 2 or 1, b == 1, name)
          else
            x = block_v2(x, 32 << s, b == n and s < 4 and 2 or 1, b == 1, name)
          end
        end
      end
      if version == 2 then x = relu(norm(x, "post_bn"), "post_relu") end
      return x
    end})
  end
end
A.space("resnet", "caffe", {"ResNet50", "ResNet101", "ResNet152"})
A.space("resnet50", "caffe", {"ResNet50"})
A.space("resnet_v2", "tf", {"ResNet50V2", "ResNet101V2", "ResNet152V2"})
return true
