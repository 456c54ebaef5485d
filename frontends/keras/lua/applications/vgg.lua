-- VGG16 and VGG19 (Simonyan and Zisserman, 2014).
local _, T = ...
local A = T.include("keras", "applications/common")
local L = A.L
for name, depth in pairs {VGG16 = {2, 2, 3, 3, 3}, VGG19 = {2, 2, 4, 4, 4}} do
  A.application(name, {size = 224,
    body = function(x)
      for b, n in ipairs(depth) do
        for i = 1, n do
          x = L.Conv2D(math.min(32 << b, 512), 3, {activation = "relu", padding = "same", name = ("block%d_conv%d"):format(b, i)})(x)
        end
        x = L.MaxPooling2D(2, {name = ("block%d_pool"):format(b)})(x)
      end
      return x
    end,
    top = function(x, o)
      x = L.Flatten({name = "flatten"})(x)
      x = L.Dense(4096, {activation = "relu", name = "fc1"})(x)
      x = L.Dense(4096, {activation = "relu", name = "fc2"})(x)
      return L.Dense(o.classes, {activation = o.activation, name = "predictions"})(x)
    end})
end
A.space("vgg16", "caffe", {"VGG16"})
A.space("vgg19", "caffe", {"VGG19"})
return true
