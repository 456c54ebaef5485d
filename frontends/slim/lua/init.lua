-- tf.slim: what is loaded at once, and which file has the rest.
local tf, T = ...
local slim = T.namespace "tf.slim"

T.include("slim", "arg_scope")
T.include("slim", "variables")
T.include("slim", "regularizers")
T.include("slim", "layers")

-- Parts that are loaded when they are first touched. A part of its own name is a namespace: slim.losses.
local parts = {losses = "losses", preprocessing = "preprocessing", metrics = "metrics", learning = "learning", evaluation = "evaluation", nets = "nets",
  utils = "utils", model_analyzer = "model_analyzer"}
for name in ([[gdn GDN recompute_grad embed_sequence bow_encoder images_to_sequence sequence_to_images rev_block
  scale_gradient spatial_softmax maxout unit_norm conv2d_in_plane convolution2d_in_plane poincare_normalize]]):gmatch "%S+" do
  parts[name] = "more_layers"
end
for name in ([[assign_from_values assign_from_values_fn assign_from_checkpoint assign_from_checkpoint_fn]]):gmatch "%S+" do parts[name] = "restore" end
for _, name in ipairs {"dataset", "dataset_data_provider", "tfexample_decoder", "parallel_reader", "prefetch_queue"} do parts[name] = "data/" .. name end
-- Wrong arguments are told at the script's line; layers are checked already, and arg_scope knows them by themselves.
local function guard() T.guard_all("slim.", slim, slim.has_arg_scope) end
guard()
local meta = getmetatable(slim)
local missing = meta.__index
meta.__index = function(t, key)
  local file = parts[key]
  if file then
    local value = T.include("slim", file)
    guard()
    local got = rawget(t, key)
    if got == nil then
      got = value
      rawset(t, key, got)
    end
    return got
  end
  return missing(t, key)
end
