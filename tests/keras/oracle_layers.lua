-- Layers of tf.keras against numbers recorded from Keras 3 (tests/data/oracle/layers): outputs, masks, gradients, weights, penalties,
-- statistics after a call, shapes and counts, in define-by-run and in a graph.
--
--     tfsdk run tests/keras/oracle_layers.lua [CASE]
local tf = require "tfsdk"
local K = tf.keras
local here = arg[0]:match "^(.*)/" or "."
local folder = here .. "/../data/oracle/layers/"
local only = arg[1] ~= "" and arg[1] or nil
local null = tf.json.null
local passed, failed, waiting = 0, 0, {}
local note = dofile(here .. "/../oracle/note.lua")

local function load(name)
  local file = assert(io.open(folder .. name .. ".json"))
  local text = file:read "a"
  file:close()
  return tf.json.decode(text), tf.read_safetensors(folder .. name .. ".safetensors")
end
local function close(got, want, limit, what, floor)
  if type(got) == "number" then got = tf.tensor(got) end
  if got.dtype ~= want.dtype and want.dtype:find "float" then error(("%s: %s, want %s"):format(what, got.dtype, want.dtype), 0) end
  if table.concat(got.shape, "x") ~= table.concat(want.shape, "x") then
    error(("%s: shape {%s}, want {%s}"):format(what, table.concat(got.shape, ","), table.concat(want.shape, ",")), 0)
  end
  if got:size() == 0 then return end
  local a, b = tf.cast(got, "float64"):reshape{-1}:table(), tf.cast(want, "float64"):reshape{-1}:table()
  local top = 1e-30
  for _, x in ipairs(b) do if x == x and math.abs(x) < math.huge then top = math.max(top, math.abs(x)) end end
  for i, x in ipairs(b) do
    local y = a[i]
    if not (x == y or (x ~= x and y ~= y) or math.abs(x - y) <= limit * top + (floor or 0)) then
      error(("%s[%d]: got %.9g, want %.9g"):format(what, i, y, x), 0)
    end
  end
end
-- Of an array's largest entry; 16-bit policies keep 8 or 11 bits. A limit of its own: four times the distance of the recorded value from the
-- float64 one (0.0292983946 for the weight of attention.concat, where it was 0.0292987823: terms that cancel).
local own_limits = {["attention.concat"] = 5.3e-5}
local function limit_of(case)
  local dtype = case.config and case.config.dtype
  local policy = type(dtype) == "table" and dtype.config and dtype.config.name or dtype
  if policy == "mixed_bfloat16" or policy == "bfloat16" then return 2e-2 end
  if policy == "mixed_float16" or policy == "float16" then return 1e-2 end
  return own_limits[case.id] or 1e-5
end
local function tensor_list(keys, data)
  local out = {}
  for i, key in ipairs(keys) do out[i] = key ~= null and data[key] or false end
  return out
end
-- The call's arguments; those that name arrays become tensors.
local function call_options(case, data)
  local o = {}
  for key, value in pairs(case.call or {}) do
    if value ~= null then o[key] = type(value) == "string" and data[value] or value end
  end
  if #case.outputs == 2 then o.return_attention_scores = true end
  if case.class == "ReversibleEmbedding" and data[case.inputs[1]].dtype:find "float" then o.reverse = true end
  for _, name in ipairs{"attention_mask", "query_mask", "value_mask"} do o[name] = data[case.id .. "/" .. name] end
  if case.masks then
    local masks = tensor_list(case.masks, data)
    o.mask = #masks == 1 and #case.inputs == 1 and masks[1] or masks
  end
  return o
end
local lists = {Add = 1, Subtract = 1, Multiply = 1, Average = 1, Maximum = 1, Minimum = 1, Concatenate = 1, Dot = 1, Attention = 1, AdditiveAttention = 1,
  MultiHeadAttention = 1, GroupedQueryAttention = 1}
local function listed(x)
  if type(x) == "table" and getmetatable(x) == nil then return x end
  return {x}
end
local function run_layer(layer, case, inputs, options)
  local x = lists[case.class] and inputs or #inputs == 1 and inputs[1] or inputs
  return listed(layer(x, options))
end
local function make(case)
  local config = {}
  for key, value in pairs(case.config) do config[key] = value end
  return K.layers.deserialize{class_name = case.class, config = config}
end
local function set_weights(layer, case, data)
  local list, names = {}, {}
  for i, w in ipairs(case.weights) do
    list[i] = data[w.key]
    names[i] = w.name
  end
  layer:set_weights(list)
  return names
end
local function loss_of(outputs, case, data)
  local sum
  local k = 0
  for i, y in ipairs(outputs) do
    local dy = case.dy and case.dy[i]
    if dy and dy ~= null then
      local term = tf.reduce_sum(tf.cast(y, "float32") * tf.cast(data[dy], "float32"))
      sum = sum and sum + term or term
      k = k + 1
    end
  end
  return sum, k
end
local function count(list)
  local n = 0
  for _, v in ipairs(list) do
    local size = 1
    for _, d in ipairs(v.shape) do size = size * d end
    n = n + size
  end
  return n
end

local function eager(case, data)
  tf.eager(function()
    local layer = make(case)
    local inputs, options = tensor_list(case.inputs, data), call_options(case, data)
    local quiet = {}
    for key, value in pairs(options) do quiet[key] = value end
    quiet.training = false
    run_layer(layer, case, inputs, options) -- makes the weights
    if #layer.weights ~= #case.weights then error(("%d weights, want %d"):format(#layer.weights, #case.weights), 0) end
    set_weights(layer, case, data)
    local limit = limit_of(case)
    local watched = {}
    for i, x in ipairs(inputs) do watched[i] = x end
    local tape <close> = tf.GradientTape()
    for _, x in ipairs(watched) do if x.dtype:find "float" then tape:watch(x) end end
    local outputs = run_layer(layer, case, inputs, options)
    local loss = case.dy and loss_of(outputs, case, data)
    local penalties = layer.losses
    tape:stop()
    for i, key in ipairs(case.outputs) do close(outputs[i], data[key], limit, "output " .. i) end
    for i, key in ipairs(case.output_masks or {}) do
      if key ~= null and not case.note then
        local mask = layer:compute_mask(lists[case.class] and inputs or inputs[1], options.mask)
        if type(mask) == "table" and getmetatable(mask) == nil then mask = mask[i] end
        if not mask then error("no mask comes out", 0) end
        close(mask, data[key], 0, "mask")
      end
    end
    if case.penalty then
      local sum = 0
      for _, p in ipairs(penalties) do sum = sum + p:item() end
      close(tf.tensor(sum), tf.tensor(case.penalty), 1e-5, "penalty")
    end
    if loss then
      local targets, wants = {}, {}
      for i, key in ipairs(case.grad_inputs or {}) do
        if key ~= null then
          targets[#targets + 1] = inputs[i]
          wants[#wants + 1] = {key, "gradient of input " .. i}
        end
      end
      for i, w in ipairs(case.weights) do
        local key = case.grad_weights and case.grad_weights[w.name]
        if key and key ~= null then
          targets[#targets + 1] = layer.weights[i]
          wants[#wants + 1] = {key, "gradient of " .. w.name}
        end
      end
      local grads = tape:gradient(loss, targets)
      for i, want in ipairs(wants) do
        local g = grads[i]
        if not g then error(want[2] .. ": none", 0) end
        if g.values then g = tf.convert_to_tensor(g) end
        close(g, data[want[1]], limit, want[2],
          want[2] == "gradient of key/bias" and 1e-6) -- softmax does not depend on it: rounding alone
      end
    end
    for i, w in ipairs(case.weights) do
      if w.after then
        -- the layer was called twice; the statistics of one call are wanted
        local fresh = make(case)
        run_layer(fresh, case, inputs, quiet)
        set_weights(fresh, case, data)
        run_layer(fresh, case, inputs, options)
        close(fresh.weights[i]:value(), data[w.after], 1e-5, w.name .. " afterwards")
      end
    end
    if case.trainable_params then
      if count(layer.trainable_weights) ~= case.trainable_params then error(("%d trainable parameters, want %d"):format(count(layer.trainable_weights), case.trainable_params), 0) end
      if count(layer.non_trainable_weights) ~= case.non_trainable_params then error("parameters that are not trained: " .. count(layer.non_trainable_weights), 0) end
    end
    -- the configuration makes the same layer again
    local again = K.layers.deserialize(tf.json.decode(tf.json.encode(K.layers.serialize(layer))))
    run_layer(again, case, inputs, quiet)
    set_weights(again, case, data)
    if not (options.training and case.weights[1]) then
      local other = run_layer(again, case, inputs, options)
      for i, key in ipairs(case.outputs) do close(other[i], data[key], limit, "output of a copy " .. i) end
    end
  end)
end
local function graph(case, data)
  tf.Graph():as_default(function()
    local layer = make(case)
    local inputs, feed = {}, {}
    for i, x in ipairs(tensor_list(case.inputs, data)) do
      local shape = {table.unpack(x.shape)}
      if #shape > 0 and not case.static then shape[1] = -1 end
      inputs[i] = K.Input{batch_shape = shape, dtype = x.dtype}
      feed[inputs[i]] = x
    end
    local outputs = run_layer(layer, case, inputs, call_options(case, data))
    set_weights(layer, case, data)
    local sess = K.backend.get_session()
    local values = sess:run(outputs, feed, {raw = true})
    for i, key in ipairs(case.outputs) do close(values[i], data[key], limit_of(case), "graph: output " .. i) end
    for i, shape in ipairs(case.output_shapes or {}) do
      local told = outputs[i].shape
      for a, d in ipairs(shape) do
        if told[a] ~= d and told[a] >= 0 then error(("graph: the shape told is {%s}, want {%s}"):format(table.concat(told, ","), table.concat(shape, ",")), 0) end
      end
      if #told ~= #shape then error("graph: the rank told is " .. #told, 0) end
    end
    local loss = case.dy and loss_of(outputs, case, data)
    local targets, wants = {}, {}
    for i, key in ipairs(loss and case.grad_inputs or {}) do
      if key ~= null then
        targets[#targets + 1] = inputs[i]
        wants[#wants + 1] = {key, "graph: gradient of input " .. i}
      end
    end
    for i, w in ipairs(case.weights) do
      local key = loss and case.grad_weights and case.grad_weights[w.name]
      if key and key ~= null then
        targets[#targets + 1] = layer.weights[i]
        wants[#wants + 1] = {key, "graph: gradient of " .. w.name}
      end
    end
    if #targets == 0 then return end
    local grads = tf.gradients(loss, targets)
    for i, g in ipairs(grads) do grads[i] = tf.convert_to_tensor(g) end
    local got = sess:run(grads, feed, {raw = true})
    for i, want in ipairs(wants) do close(got[i], data[want[1]], limit_of(case), want[2], want[2]:find "key/bias" and 1e-6) end
  end)
end

-- Layers that make numbers of texts: define-by-run only.
local function strings(case, data)
  tf.eager(function()
    local layer = make(case)
    close(layer(tf.tensor(case.strings)), data[case.outputs[1]], 1e-5, "output")
    local again = K.layers.deserialize(tf.json.decode(tf.json.encode(K.layers.serialize(layer))))
    close(again(tf.tensor(case.strings)), data[case.outputs[1]], 1e-5, "output of a copy")
  end)
end
-- The recorded configuration in ours: names of modules are Python's, and what only Keras' own tools read is left out.
local python_only = {module = true, registered_name = true, quantization_config = true, input_axes = true, output_axes = true, renorm_clipping = true,
  renorm_momentum = true, flash_attention = true, build_config = true}
local function holds(want, got, path)
  if want == null then want = nil end
  if got == null or got == false and want == nil then got = nil end
  if type(want) == "table" and want.class_name == "DTypePolicy" then want = want.config.name end
  if type(want) == "table" and type(got) == "table" then
    for key, value in pairs(want) do if not python_only[key] then holds(value, got[key], path .. "." .. key) end end
    for key in pairs(got) do if type(key) == "number" and want[key] == nil then error(path .. " is longer", 0) end end
  elseif want ~= got and not (type(want) == "number" and type(got) == "number" and math.abs(want - got) < 1e-12) then
    error(("config%s: %s, want %s"):format(path, tf.json.encode(got == nil and null or got), tf.json.encode(want == nil and null or want)), 0)
  end
end
local function config(case) holds(case.config, make(case):get_config(), "") end
-- compute_output_shape of a layer that is not built, with the batch open and given.
local function shapes(case, data)
  if case.class == "ReversibleEmbedding" and case.id ~= "reversible_embedding" then return end -- of a call that is not the plain one
  for _, open in ipairs{true, false} do
    local inputs = {}
    for i, x in ipairs(tensor_list(case.inputs, data)) do
      inputs[i] = {table.unpack(x.shape)}
      if open then inputs[i][1] = -1 end
    end
    local layer = make(case)
    local got = layer:compute_output_shape(#inputs == 1 and inputs[1] or inputs)
    local want = {table.unpack(case.output_shapes[1])}
    if open then want[1] = -1 end
    if table.concat(got, ",") ~= table.concat(want, ",") then error(("compute_output_shape: {%s}, want {%s}"):format(table.concat(got, ","), table.concat(want, ",")), 0) end
    if #layer.weights ~= 0 or layer.built then error("compute_output_shape made weights", 0) end
  end
end

local families = {"core", "reshaping", "merging", "activation_layers", "regularization_layers", "convolution", "pooling", "normalization", "attention", "preprocessing", "recurrent"}
for _, family in ipairs(families) do
  local info, data = load(family)
  local before, broken = passed, failed
  for _, case in ipairs(info.cases) do
    if (not only or case.id:find(only, 1, true)) and (case.inputs or case.calls or case.strings) then
      local why = family == "recurrent" and case.class ~= "TimeDistributed" and "recurrent layers, which need loops in graphs"
      if why then
        waiting[#waiting + 1] = case.id .. ": " .. why
      else
        local ok, message = true, nil
        for _, run in ipairs(case.strings and {strings, config} or case.class == "Hashing" and {eager, config} or {eager, graph, config, shapes}) do
          if ok then ok, message = pcall(run, case, data) end
        end
        note("layers/" .. family, case.id, ok, message)
        if ok then passed = passed + 1 else
          failed = failed + 1
          print(family, case.id, message)
        end
      end
    end
  end
  if not only then print(("%-22s %d passed, %d failed"):format(family, passed - before, failed - broken)) end
end
-- What layers that act by chance do in training, by its law.
if not only then
  local info = load "regularization_layers"
  for _, case in ipairs(info.cases) do
    local law = case["law of the output for inputs of 1, training on"]
    if law then
      local ok, why = pcall(tf.eager, function()
        local layer = K.layers[case.class](case.rate, {seed = 3})
        local y = layer(tf.ones{200000}, {training = true})
        local mean = tf.reduce_mean(y):item()
        local std = math.sqrt(tf.reduce_mean(tf.square(y - mean)):item())
        if law.kept then -- a fraction of 200,000: 4 deviations are 0.0041
          local kept = tf.reduce_mean(tf.cast(tf.greater(y, 0), "float32")):item()
          assert(math.abs(kept - law.kept) < 0.0045, "kept " .. kept)
          assert(math.abs(tf.reduce_max(y):item() - law.value) < 1e-5, "value " .. tf.reduce_max(y):item())
        end
        if law.mean then assert(math.abs(mean - law.mean) < 4 * law.std / math.sqrt(200000), "mean " .. mean) end
        if law.std then assert(math.abs(std - law.std) < 0.01, "deviation " .. std) end
        if law.dropped_value then
          assert(math.abs(tf.reduce_min(y):item() - law.dropped_value) < 1e-5, "dropped " .. tf.reduce_min(y):item())
          assert(math.abs(tf.reduce_max(y):item() - law.kept_value) < 1e-5, "kept " .. tf.reduce_max(y):item())
        end
      end)
      note("layers/regularization_layers", case.id, ok, why)
      if ok then passed = passed + 1 else
        failed = failed + 1
        print("law", case.id, why)
      end
    end
  end
end
local reasons = {}
for _, text in ipairs(waiting) do
  local why = text:match ": (.*)$"
  reasons[why] = (reasons[why] or 0) + 1
end
for why, k in pairs(reasons) do print(("waits: %d cases, %s"):format(k, why)) end
print(("keras layers: %d passed, %d failed, %d wait"):format(passed, failed, #waiting))
os.exit(failed == 0 and 0 or 1)
