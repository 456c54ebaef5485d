-- NASNet mobile and large (Zoph et al., 2017).
local _, T = ...
local A = T.include("keras", "applications/common")
local L = A.L
local function norm(x) return L.BatchNormalization({momentum = 0.9997, epsilon = 1e-3})(x) end
local function relu(x) return L.Activation("relu")(x) end
local function squeeze(x, filters) return norm(L.Conv2D(filters, 1, {padding = "same", use_bias = false})(relu(x))) end
local function separable(x, filters, size, stride)
  x = relu(x)
  if stride == 2 then x = L.ZeroPadding2D(A.correct_pad(x, size))(x) end
  x = L.SeparableConv2D(filters, size, {strides = stride or 1, padding = stride == 2 and "valid" or "same", use_bias = false})(x)
  x = relu(norm(x))
  return norm(L.SeparableConv2D(filters, size, {padding = "same", use_bias = false})(x))
end
local function average(x, o) return L.AveragePooling2D(3, o or {strides = 1, padding = "same"})(x) end
local function add(a, b) return L.Add()({a, b}) end
-- Brings the value of the cell before to the extents and channels of this one.
local function adjust(p, x, filters)
  if p == nil then return x end
  if p.shape[2] ~= x.shape[2] then
    p = relu(p)
    local function path(v) return L.Conv2D(filters // 2, 1, {padding = "same", use_bias = false})(L.AveragePooling2D(1, {strides = 2})(v)) end
    local moved = L.Cropping2D({{1, 0}, {1, 0}})(L.ZeroPadding2D({{0, 1}, {0, 1}})(p))
    return norm(L.Concatenate()({path(p), path(moved)}))
  end
  if p.shape[4] ~= filters then return squeeze(p, filters) end
  return p
end
local function normal_cell(x, p, filters)
  p = adjust(p, x, filters)
  local h = squeeze(x, filters)
  local one = add(separable(h, filters, 5), separable(p, filters, 3))
  local two = add(separable(p, filters, 5), separable(p, filters, 3))
  local three = add(average(h), p)
  local four = add(average(p), average(p))
  local five = add(separable(h, filters, 3), h)
  return L.Concatenate()({p, one, two, three, four, five}), x
end
local function reduction_cell(x, p, filters)
  p = adjust(p, x, filters)
  local h = squeeze(x, filters)
  local padded = L.ZeroPadding2D(A.correct_pad(h, 3))(h)
  local function largest() return L.MaxPooling2D(3, {strides = 2})(padded) end
  local one = add(separable(h, filters, 5, 2), separable(p, filters, 7, 2))
  local two = add(largest(), separable(p, filters, 7, 2))
  local three = add(average(padded, {strides = 2}), separable(p, filters, 5, 2))
  local four = add(two, average(one))
  local five = add(separable(one, filters, 3), largest())
  return L.Concatenate()({two, three, four, five}), x
end
for name, s in pairs {NASNetLarge = {331, 4032, 6, 96, true}, NASNetMobile = {224, 1056, 4, 32, false}} do
  A.application(name, {size = s[1], name = s[5] and "nasnet_large" or "nasnet_mobile",
    signature = "input_shape? include_top=true weights? input_tensor? pooling? classes=1000 classifier_activation=softmax name?", body = function(x)
    local filters, p = s[2] // 24, nil
    x = L.Conv2D(s[4], 3, {strides = 2, use_bias = false, name = "stem_conv1"})(x)
    x = L.BatchNormalization({momentum = 0.9997, epsilon = 1e-3, name = "stem_bn1"})(x)
    x, p = reduction_cell(x, p, filters // 4)
    x, p = reduction_cell(x, p, filters // 2)
    for stage = 0, 2 do
      if stage > 0 then
        local before = p
        local skipped
        x, skipped = reduction_cell(x, p, filters << stage)
        p = s[5] and before or skipped
      end
      for _ = 1, s[3] do x, p = normal_cell(x, p, filters << stage) end
    end
    return relu(x)
  end})
end
A.space("nasnet", "tf", {"NASNetLarge", "NASNetMobile"})
return true
