-- DenseNet 121, 169, 201 (Huang et al., 2016).
local _, T = ...
local A = T.include("keras", "applications/common")
local L = A.L
local function norm(x, name) return L.BatchNormalization({epsilon = 1.001e-5, name = name})(x) end
local function relu(x, name) return L.Activation("relu", {name = name})(x) end
for name, blocks in pairs {DenseNet121 = {6, 12, 24, 16}, DenseNet169 = {6, 12, 32, 32}, DenseNet201 = {6, 12, 48, 32}} do
  A.application(name, {size = 224, body = function(x)
    x = L.ZeroPadding2D(3)(x)
    x = L.Conv2D(64, 7, {strides = 2, use_bias = false, name = "conv1_conv"})(x)
    x = relu(norm(x, "conv1_bn"), "conv1_relu")
    x = L.ZeroPadding2D(1)(x)
    x = L.MaxPooling2D(3, {strides = 2, name = "pool1"})(x)
    for s, n in ipairs(blocks) do
      for b = 1, n do
        local block = ("conv%d_block%d"):format(s + 1, b)
        local y = relu(norm(x, block .. "_0_bn"), block .. "_0_relu")
        y = L.Conv2D(128, 1, {use_bias = false, name = block .. "_1_conv"})(y)
        y = relu(norm(y, block .. "_1_bn"), block .. "_1_relu")
        y = L.Conv2D(32, 3, {padding = "same", use_bias = false, name = block .. "_2_conv"})(y)
        x = L.Concatenate({name = block .. "_concat"})({x, y})
      end
      if s < 4 then
        local pool = "pool" .. s + 1
        x = relu(norm(x, pool .. "_bn"), pool .. "_relu")
        x = L.Conv2D(x.shape[4] // 2, 1, {use_bias = false, name = pool .. "_conv"})(x)
        x = L.AveragePooling2D(2, {strides = 2, name = pool .. "_pool"})(x)
      end
    end
    return relu(norm(x, "bn"), "relu")
  end})
end
A.space("densenet", "torch", {"DenseNet121", "DenseNet169", "DenseNet201"})
return true
