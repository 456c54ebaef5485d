-- What the models of tf.keras.applications share: input, top, weights, preprocessing.
local tf, T = ...
local S = T.include("keras", "engine/state")
local keras = T.namespace "tf.keras"
local L = T.keras_namespace "layers"
local A = {L = L}

local common = "include_top=true weights? input_tensor? input_shape? pooling? classes=1000 classifier_activation=softmax name?"
-- application(NAME, {size =, mode =, signature =, name =, body = function(x, o) ... end, top = function(x, o) ... end}):
-- tf.keras.applications.NAME. `name`: that of the model, or a function of the options and the shape.
function A.application(name, spec)
  local path = "tf.keras.applications." .. name
  local signature, names = spec.signature or common, {}
  for word in signature:gmatch "%S+" do names[#names + 1] = word:match "^[^=?]*" end
  T.def(path, signature, function(...)
    local o = {}
    for i, key in ipairs(names) do o[key] = select(i, ...) end
    local top, weights, tensor, shape, pooling, classes = o.include_top, o.weights, o.input_tensor, o.input_shape, o.pooling, o.classes
    o.activation = o.classifier_activation or "linear"
    if math.type(classes) ~= "integer" or classes < 1 then T.fail(path, "'classes' must be a whole number above 0, not %s", tostring(classes)) end
    if weights == "imagenet" then
      T.fail_code(5, path, "weights of ImageNet are not part of the program: give the path of a file (.h5, .keras, .safetensors), or nothing for random weights")
    end
    if pooling and pooling ~= "avg" and pooling ~= "max" then T.fail(path, "'pooling' must be \"avg\" or \"max\", not '%s'", tostring(pooling)) end
    local least = spec.least or 32
    shape = shape or tensor == nil and (top and {spec.size, spec.size, 3} or {-1, -1, 3}) or nil
    if shape then
      if #shape ~= 3 then T.fail(path, "'input_shape' must be {rows, columns, channels}, not %s", S.say_shape(shape)) end
      for a = 1, 2 do
        if shape[a] >= 0 and shape[a] < least then T.fail(path, "'input_shape' is %s; rows and columns must be %d or more", S.say_shape(shape), least) end
      end
    end
    local input = tensor or L.Input(shape)
    o.shape = {table.unpack(input.shape, 2)}
    local x = spec.body(input, o)
    if top then
      if spec.top then x = spec.top(x, o) else
        x = L.GlobalAveragePooling2D({name = "avg_pool"})(x)
        x = L.Dense(classes, {activation = o.activation, name = "predictions"})(x)
      end
    elseif pooling == "avg" then
      x = L.GlobalAveragePooling2D()(x)
    elseif pooling == "max" then
      x = L.GlobalMaxPooling2D()(x)
    end
    local label = o.name or type(spec.name) == "function" and spec.name(o) or spec.name or name:lower()
    -- a tensor that layers made: the model begins where they do
    local source = tensor and S.sources(tensor, path) or input
    local model = keras.Model(source, x, {name = label})
    if weights then model:load_weights(weights) end
    return model
  end)
end

-- Images of 0 to 255 as the model's authors prepared them: "tf": -1 to 1; "torch": 0 to 1, then ImageNet's mean and deviation; "caffe": BGR
-- without ImageNet's mean.
local function preprocess(x, mode, format)
  if not T.kind(x) then x = tf.tensor(x) end
  if not x.dtype:find "float" then x = tf.cast(x, "float32") end
  local function channels(values)
    local v = tf.tensor(values, x.dtype)
    return format == "channels_first" and tf.reshape(v, {3, 1, 1}) or v
  end
  if mode == "tf" then return x / 127.5 - 1 end
  if mode == "torch" then return (x / 255 - channels {0.485, 0.456, 0.406}) / channels {0.229, 0.224, 0.225} end
  return tf.reverse(x, {format == "channels_first" and -3 or -1}) - channels {103.939, 116.779, 123.68}
end
-- The `top` most likely classes of each row: {{class, name, probability}, ...}. `class_index`: names in the order of the classes, or the path of Keras'
-- imagenet_class_index.json; without it names are numbers.
local function decode(p, top, index)
  if not T.kind(p) then p = tf.tensor(p) end
  if #p.shape ~= 2 then T.fail("decode_predictions", "the predictions must have the shape {samples, classes}, not %s", S.say_shape(p.shape)) end
  if type(index) == "string" then
    local file, why = io.open(index)
    if not file then T.fail_code(5, "decode_predictions", why) end
    local list = tf.json.decode(file:read "a")
    file:close()
    index = {}
    for key, entry in pairs(list) do index[tonumber(key) + 1] = entry[2] end
  end
  local out = {}
  for i, row in ipairs(p:table()) do
    local order = {}
    for k = 1, #row do order[k] = k end
    table.sort(order, function(a, b) return row[a] > row[b] or row[a] == row[b] and a < b end)
    out[i] = {}
    for k = 1, math.min(top, #row) do out[i][k] = {order[k] - 1, index and index[order[k]] or tostring(order[k] - 1), row[order[k]]} end
  end
  return out
end
-- tf.keras.applications.SPACE with the models and the functions of their kind.
function A.space(space, mode, names)
  local public = T.keras_namespace("applications." .. space)
  for _, name in ipairs(names) do rawset(public, name, T.namespace "tf.keras.applications"[name]) end
  T.def("tf.keras.applications." .. space .. ".preprocess_input", "x data_format? mode=" .. mode, function(x, format, how) return preprocess(x, how, format) end)
  T.def("tf.keras.applications." .. space .. ".decode_predictions", "preds top=5 class_index?", decode)
end

-- ------------------------------------------------------------------------------------- pieces

-- Convolution without bias, batch norm, activation.
function A.conv_bn(x, filters, size, o)
  o = o or {}
  local name = o.name
  x = L.Conv2D(filters, size, {strides = o.strides or 1, padding = o.padding or "same", use_bias = o.use_bias or false, name = name})(x)
  if not o.no_norm then x = L.BatchNormalization({scale = o.scale, epsilon = o.epsilon, momentum = o.momentum, name = name and name .. (o.bn or "_bn")})(x) end
  if o.activation ~= false then x = L.Activation(o.activation or "relu", {name = name and name .. "_ac"})(x) end
  return x
end
-- Padding that makes a VALID convolution of stride 2 see what SAME saw in TensorFlow 1.
function A.correct_pad(x, size)
  local s = x.shape
  local function pair(d) return {size // 2 - (d < 0 and 1 or 1 - d % 2), size // 2} end
  return {pair(s[2]), pair(s[3])}
end
return A
