-- Xception (Chollet, 2016).
local _, T = ...
local A = T.include("keras", "applications/common")
local L = A.L
local function norm(x, name) return L.BatchNormalization({name = name})(x) end
local function relu(x, name) return L.Activation("relu", {name = name})(x) end
local function separable(x, filters, name)
  return norm(L.SeparableConv2D(filters, 3, {padding = "same", use_bias = false, name = name})(x), name .. "_bn")
end
local function shortcut(x, filters) return norm(L.Conv2D(filters, 1, {strides = 2, padding = "same", use_bias = false})(x)) end
A.application("Xception", {size = 299, least = 71, body = function(x)
  x = relu(norm(L.Conv2D(32, 3, {strides = 2, use_bias = false, name = "block1_conv1"})(x), "block1_conv1_bn"), "block1_conv1_act")
  x = relu(norm(L.Conv2D(64, 3, {use_bias = false, name = "block1_conv2"})(x), "block1_conv2_bn"), "block1_conv2_act")
  for b, filters in ipairs {128, 256, 728} do
    local name = ("block%d"):format(b + 1)
    local way = shortcut(x, filters)
    if b > 1 then x = relu(x, name .. "_sepconv1_act") end
    x = separable(x, filters, name .. "_sepconv1")
    x = separable(relu(x, name .. "_sepconv2_act"), filters, name .. "_sepconv2")
    x = L.MaxPooling2D(3, {strides = 2, padding = "same", name = name .. "_pool"})(x)
    x = L.Add()({x, way})
  end
  for b = 5, 12 do
    local way = x
    for i = 1, 3 do
      local name = ("block%d_sepconv%d"):format(b, i)
      x = separable(relu(x, name .. "_act"), 728, name)
    end
    x = L.Add()({x, way})
  end
  local way = shortcut(x, 1024)
  x = separable(relu(x, "block13_sepconv1_act"), 728, "block13_sepconv1")
  x = separable(relu(x, "block13_sepconv2_act"), 1024, "block13_sepconv2")
  x = L.MaxPooling2D(3, {strides = 2, padding = "same", name = "block13_pool"})(x)
  x = L.Add()({x, way})
  x = relu(separable(x, 1536, "block14_sepconv1"), "block14_sepconv1_act")
  return relu(separable(x, 2048, "block14_sepconv2"), "block14_sepconv2_act")
end})
A.space("xception", "tf", {"Xception"})
return true
