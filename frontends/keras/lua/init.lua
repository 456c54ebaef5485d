-- tf.keras: what is loaded at once, and which file has the rest.
local tf, T = ...
local keras = T.namespace "tf.keras"

for _, file in ipairs {"registry", "activations", "initializers", "regularizers", "constraints", "engine/state", "engine/layer", "engine/network",
  "engine/config", "layers/core", "layers/convolution", "layers/pooling", "layers/reshaping", "layers/merging", "layers/normalization",
  "layers/activation", "layers/regularization", "layers/attention", "layers/lora", "layers/spectral", "layers/preprocessing", "layers/preprocessing_text", "layers/preprocessing_image", "layers/preprocessing_audio", "engine/summary", "backend", "losses", "metrics", "optimizers", "callbacks", "callbacks_remote", "utils", "training/progbar", "engine/saving", "backend_functions"} do
  T.include("keras", file)
end

-- Parts that are loaded when they are first touched.
local parts = {applications = "applications", datasets = "datasets", wrappers = "wrappers"}
local meta = getmetatable(keras)
local missing = meta.__index
meta.__index = function(t, key)
  local file = parts[key]
  if file then
    T.include("keras", file)
    return rawget(t, key) or missing(t, key)
  end
  if key == "preprocessing" then
    for _, name in ipairs {"sequence", "text", "image"} do T.include("keras", "preprocessing/" .. name) end
    return rawget(t, key) or missing(t, key)
  end
  return missing(t, key)
end
