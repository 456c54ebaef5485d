-- tf.keras.applications: parameters (trained and not), layers, weights and shapes as Keras has them (tests/data/oracle/layers/applications.json,
-- written by Keras 3.15.1), with and without the top; and forward passes of small inputs.
local tf = require "tfsdk"
local K = tf.keras
local here = arg[0]:match "^(.*)/" or "."
local file = assert(io.open(here .. "/../data/oracle/layers/applications.json"))
local info = tf.json.decode(file:read "a")
file:close()
local null = tf.json.null
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
    if ok then passed = passed + 1 else
      failed = failed + 1
      print(case.id, why)
    end
  end
end
equal(seen, 36, "cases")
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
local x = K.applications.vgg16.preprocess_input(tf.tensor{{{{255, 0, 0}}}}) -- red: BGR less the mean
assert(math.abs(x:table()[1][1][1][3] - (255 - 123.68)) < 1e-4 and math.abs(x:table()[1][1][1][1] + 103.939) < 1e-4)
print(("applications: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
