-- InceptionV3 (Szegedy et al., 2015) and InceptionResNetV2 (2016).
local _, T = ...
local A = T.include("keras", "applications/common")
local L = A.L
local function conv(x, filters, size, o)
  o = o or {}
  return A.conv_bn(x, filters, size, {strides = o.strides, padding = o.padding, scale = false, activation = o.activation, name = o.name})
end
local half = {strides = 2, padding = "valid"}
local valid = {padding = "valid"}
-- conv after conv: {filters, size, options}, ...
local function chain(x, ...)
  for _, c in ipairs {...} do x = conv(x, c[1], c[2], c[3]) end
  return x
end
local function average(x) return L.AveragePooling2D(3, {strides = 1, padding = "same"})(x) end
local function largest(x) return L.MaxPooling2D(3, {strides = 2})(x) end
local function join(list, name) return L.Concatenate(name and {name = name})(list) end
local function stem(x)
  x = chain(x, {32, 3, half}, {32, 3, valid}, {64, 3})
  x = chain(largest(x), {80, 1, valid}, {192, 3, valid})
  return largest(x)
end

A.application("InceptionV3", {size = 299, name = "inception_v3", least = 75, body = function(x)
  x = stem(x)
  for i, pool in ipairs {32, 64, 64} do
    x = join({conv(x, 64, 1), chain(x, {48, 1}, {64, 5}), chain(x, {64, 1}, {96, 3}, {96, 3}), conv(average(x), pool, 1)}, "mixed" .. i - 1)
  end
  x = join({conv(x, 384, 3, half), chain(x, {64, 1}, {96, 3}, {96, 3, half}), largest(x)}, "mixed3")
  for i, f in ipairs {128, 160, 160, 192} do
    x = join({conv(x, 192, 1), chain(x, {f, 1}, {f, {1, 7}}, {192, {7, 1}}), chain(x, {f, 1}, {f, {7, 1}}, {f, {1, 7}}, {f, {7, 1}}, {192, {1, 7}}),
      conv(average(x), 192, 1)}, "mixed" .. i + 3)
  end
  x = join({chain(x, {192, 1}, {320, 3, half}), chain(x, {192, 1}, {192, {1, 7}}, {192, {7, 1}}, {192, 3, half}), largest(x)}, "mixed8")
  for i = 0, 1 do
    local one = conv(x, 320, 1)
    local three = conv(x, 384, 1)
    three = join({conv(three, 384, {1, 3}), conv(three, 384, {3, 1})}, "mixed9_" .. i)
    local double = chain(x, {448, 1}, {384, 3})
    double = join {conv(double, 384, {1, 3}), conv(double, 384, {3, 1})}
    x = join({one, three, double, conv(average(x), 192, 1)}, "mixed" .. 9 + i)
  end
  return x
end})

-- x + scale * y, in a layer of its own.
local Scale = L.Layer:extend("CustomScaleLayer", {
  init = function(self, o) self.scale = o.scale end,
  call = function(self, xs) return xs[1] + xs[2] * self.scale end,
  get_config = function(self) return {name = self.name, scale = self.scale} end})
local function residual(x, scale, branches, name, activation)
  local mixed = join(branches, name .. "_mixed")
  local up = L.Conv2D(x.shape[4], 1, {padding = "same", name = name .. "_conv"})(mixed)
  x = Scale({scale = scale})({x, up})
  return activation == false and x or L.Activation("relu", {name = name .. "_ac"})(x)
end
A.application("InceptionResNetV2", {size = 299, name = "inception_resnet_v2", least = 75, body = function(x)
  x = stem(x)
  x = join({conv(x, 96, 1), chain(x, {48, 1}, {64, 5}), chain(x, {64, 1}, {96, 3}, {96, 3}), conv(average(x), 64, 1)}, "mixed_5b")
  for i = 1, 10 do
    x = residual(x, 0.17, {conv(x, 32, 1), chain(x, {32, 1}, {32, 3}), chain(x, {32, 1}, {48, 3}, {64, 3})}, "block35_" .. i)
  end
  x = join({conv(x, 384, 3, half), chain(x, {256, 1}, {256, 3}, {384, 3, half}), largest(x)}, "mixed_6a")
  for i = 1, 20 do
    x = residual(x, 0.1, {conv(x, 192, 1), chain(x, {128, 1}, {160, {1, 7}}, {192, {7, 1}})}, "block17_" .. i)
  end
  x = join({chain(x, {256, 1}, {384, 3, half}), chain(x, {256, 1}, {288, 3, half}), chain(x, {256, 1}, {288, 3}, {320, 3, half}), largest(x)}, "mixed_7a")
  for i = 1, 10 do
    x = residual(x, i < 10 and 0.2 or 1, {conv(x, 192, 1), chain(x, {192, 1}, {224, {1, 3}}, {256, {3, 1}})}, "block8_" .. i, i < 10)
  end
  return conv(x, 1536, 1, {name = "conv_7b"})
end})
A.space("inception_v3", "tf", {"InceptionV3"})
A.space("imagenet_utils", "caffe", {})
A.space("inception_resnet_v2", "tf", {"InceptionResNetV2"})
return true
