-- Whole models of tf.keras against Keras 3 (tests/data/oracle/layers/models, summaries): made from Keras' JSON, the weights put in, outputs of the
-- model and of every layer, gradients, summary().
local tf = require "tfsdk"
local K = tf.keras
local here = arg[0]:match "^(.*)/" or "."
local folder = here .. "/../data/oracle/layers/"
local only = arg[1] ~= "" and arg[1] or nil
local null = tf.json.null
local passed, failed, waits = 0, 0, 0
local note = dofile(here .. "/../oracle/note.lua")
local function text_of(name)
  local file = assert(io.open(folder .. name))
  local text = file:read "a"
  file:close()
  return text
end
local info, data = tf.json.decode(text_of "models.json"), tf.read_safetensors(folder .. "models.safetensors")
local function close(got, want, limit, what)
  if table.concat(got.shape, "x") ~= table.concat(want.shape, "x") then
    error(("%s: shape {%s}, want {%s}"):format(what, table.concat(got.shape, ","), table.concat(want.shape, ",")), 0)
  end
  local a, b, top = got:reshape{-1}:table(), want:reshape{-1}:table(), 1e-6
  for _, x in ipairs(b) do top = math.max(top, math.abs(x)) end
  for i, x in ipairs(b) do
    if not (math.abs(a[i] - x) <= limit * top) then error(("%s[%d]: got %.9g, want %.9g"):format(what, i, a[i], x), 0) end
  end
end
local recurrent = {text = true}
local function inputs_of(case)
  local xs = {}
  for i, key in ipairs(case.inputs) do xs[i] = data[key] end
  return #xs == 1 and xs[1] or xs
end
local function list_of(x) return type(x) == "table" and getmetatable(x) == nil and x or {x} end
local function load_weights(model, case)
  local values = {}
  for i, w in ipairs(case.weights) do values[i] = data[w.key] end
  model:set_weights(values)
  for i, w in ipairs(case.weights) do
    local mine, theirs = model.weights[i].name:gsub(":0$", ""):gsub("_%d+$", ""), w.name:gsub("_%d+$", "")
    if theirs:sub(-#mine) ~= mine then error(("weight %d is %s, want %s"):format(i, mine, theirs), 0) end
  end
end
local function eager(case)
  tf.eager(function()
    K.backend.clear_session()
    local model = K.layers.deserialize(case.model)
    load_weights(model, case)
    local x = inputs_of(case)
    local outputs = list_of(model(x))
    for i, key in ipairs(case.outputs) do close(outputs[i], data[key], 1e-5, "output " .. i) end
    if case.training_outputs and case.gradient_mode == "training" then
      local tape <close> = tf.GradientTape()
      local ys = list_of(model(x, {training = true}))
      local loss
      for i, key in ipairs(case.dy) do
        local term = tf.reduce_sum(ys[i] * data[key])
        loss = loss and loss + term or term
      end
      tape:stop()
      for i, key in ipairs(case.training_outputs) do close(ys[i], data[key], 1e-5, "output in training " .. i) end
      local vars = model.trainable_weights
      local grads = tape:gradient(loss, vars)
      local by_name = {}
      for i, v in ipairs(vars) do by_name[(v.name:gsub(":0$", ""):gsub("_%d+$", ""))] = grads[i] end
      for _, g in ipairs(case.grads) do
        local found
        for name, value in pairs(by_name) do if g.name:sub(-#name) == name then found = value end end
        if not found then error("no gradient for " .. g.name, 0) end
        -- softmax does not depend on the bias of the keys, batch norm not on the bias before it: these gradients are rounding alone
        if g.name:find "key/bias" or g.name:find "block/conv/bias" then assert(tf.reduce_max(tf.abs(found)):item() < 1e-6) else close(found, data[g.key], 1e-5, "gradient of " .. g.name) end
      end
    end
  end)
end
local function graph(case)
  tf.Graph():as_default(function()
    local model = K.models.model_from_json(tf.json.encode(case.model))
    load_weights(model, case)
    local y = list_of(table.pack(model:predict(inputs_of(case))))
    for i, key in ipairs(case.outputs) do close(y[i], data[key], 1e-5, "predict " .. i) end
    if model:count_params() ~= case.total_params then error(("%d parameters, want %d"):format(model:count_params(), case.total_params), 0) end
    local x = model.inputs
    local feed = {}
    for i, key in ipairs(case.inputs) do feed[x[i]] = data[key] end
    for name, key in pairs(case.layer_outputs or {}) do
      local value = K.backend.get_session():run(model:get_layer(name):get_output_at(1), feed, {raw = true})
      close(value, data[key], 1e-5, "layer " .. name)
    end
    -- our own configuration makes the same model
    local copy = K.models.model_from_json(model:to_json())
    copy:set_weights(model:get_weights())
    local again = list_of(table.pack(copy:predict(inputs_of(case))))
    for i, key in ipairs(case.outputs) do close(again[i], data[key], 1e-5, "predict of a copy " .. i) end
  end)
end
local function check(family, id, label, fn, ...)
  local ok, why = pcall(fn, ...)
  note("layers/" .. family, id, ok, why)
  if ok then passed = passed + 1 else
    failed = failed + 1
    print(label, why)
  end
end
for _, case in ipairs(info.cases) do
  if not only or case.id == only then
    if recurrent[case.id] then waits = waits + 1 else
      check("models", case.id, case.id .. " eager", eager, case)
      check("models", case.id, case.id .. " graph", graph, case)
    end
  end
end
for _, case in ipairs(tf.json.decode(text_of "summaries.json").cases) do
  if not recurrent[case.id] and (not only or only == "summary") then
    check("summaries", case.id, "summary " .. case.id, function()
      tf.Graph():as_default(function()
        local model = K.layers.deserialize(case.model)
        if case.id == "nested" then model:get_layer "project".trainable = false end
        local lines, o = {}, {line_length = 100}
        for key, value in pairs(case.options or {}) do if value ~= null then o[key] = value end end
        o.print_fn = function(line) lines[#lines + 1] = line end
        model:summary(o)
        local got, want = table.concat(lines, "\n") .. "\n", text_of(case.file)
        local function stripped(text) return (text:gsub("%s+$", "")) end
        if stripped(got) ~= stripped(want) then error("\n" .. got .. "--- want\n" .. want, 0) end
      end)
    end)
  end
end
print(("keras models: %d passed, %d failed, %d wait for recurrent layers"):format(passed, failed, waits))
os.exit(failed == 0 and 0 or 1)
