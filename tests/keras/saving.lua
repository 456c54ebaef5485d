-- Whole models on disk: training goes on to the bit after load_model, in a graph and define-by-run; files that Keras 2 and 3 wrote
-- (tests/data/formats/keras_files) give their outputs; wrong files give errors that say what is wrong.
local tf = require "tfsdk"
local K, L = tf.keras, tf.keras.layers
local here = arg[0]:match "^(.*)/" or "."
local passed, failed = 0, 0
local function check(label, fn)
  local ok, why = pcall(fn)
  if ok then passed = passed + 1 else
    failed = failed + 1
    print(label, why)
  end
end
local folder = os.tmpname()
os.remove(folder)
local path = folder .. ".safetensors"
local x = tf.random.normal({48, 6, 6, 2}, {seed = 1, now = true})
local y = tf.random.uniform({48}, {maxval = 3, dtype = "int64", seed = 2, now = true})

-- ------------------------------------------------------------------------------------- going on

local function go_on(optimizer)
  tf.set_random_seed(3)
  local input = K.Input{6, 6, 2}
  local a = L.Conv2D(4, 3, {activation = "relu", kernel_regularizer = K.regularizers.l2(1e-3)})(input)
  local b = L.Conv2D(4, 3)(input)
  local net = L.Flatten()(L.BatchNormalization()(L.Add(){a, b}))
  local model = K.Model(input, L.Dense(3, {activation = "softmax"})(net))
  model:compile{optimizer = optimizer(), loss = "sparse_categorical_crossentropy", metrics = {"accuracy"}}
  local function train(m) return m:fit(x, y, {epochs = 2, batch_size = 16, verbose = 0, shuffle = false}).history end
  train(model)
  model:save(path)
  local want = train(model)
  local again = K.models.load_model(path)
  local got = train(again)
  for name, values in pairs(want) do
    for i, v in ipairs(values) do if got[name][i] ~= v then error(("%s, epoch %d: %.17g instead of %.17g"):format(name, i, got[name][i], v), 0) end end
  end
  for i, w in ipairs(model:get_weights()) do
    if w:bytes() ~= again:get_weights()[i]:bytes() then error("weight " .. i .. " has other bits", 0) end
  end
end
for name, optimizer in pairs{adam = function() return K.optimizers.Adam(0.01) end,
  momentum = function() return K.optimizers.SGD{learning_rate = 0.05, momentum = 0.9, nesterov = true} end,
  decay = function() return K.optimizers.RMSprop(K.optimizers.schedules.ExponentialDecay(0.01, 3, 0.5)) end} do
  check("graph " .. name, function() tf.Graph():as_default(function() go_on(optimizer) end) end)
  check("define-by-run " .. name, function() tf.eager(function() go_on(optimizer) end) end)
end
check("weights alone, a class of the script, a model in a model", function()
  tf.eager(function()
    local Scale = L.Layer:extend("Scale", {
      build = function(self, shape) self.k = self:add_weight{name = "k", shape = {shape[#shape]}, initializer = "ones"} end,
      call = function(self, v) return v * self.k end})
    local function make()
      local inner = K.Sequential{L.Dense(4, {input_shape = {3}}), Scale()}
      local input = K.Input{3}
      return K.Model(input, L.Dense(2)(inner(input)))
    end
    local a, b = make(), make()
    a:save_weights(path)
    b:load_weights(path)
    local probe = tf.random.normal({5, 3}, {seed = 5, now = true})
    assert(a(probe):bytes() == b(probe):bytes())
    a:save(path)
    local c = K.models.load_model(path, {Scale = Scale})
    assert(a(probe):bytes() == c(probe):bytes())
  end)
end)

-- ------------------------------------------------------------------------------------- files of Keras

local files = here .. "/../data/formats/"
local file = assert(io.open(files .. "keras_files.json"))
local info = tf.json.decode(file:read "a")
file:close()
local data = tf.read_safetensors(files .. "keras_files.safetensors")
local function close(got, want, what)
  local a, b, top = got:reshape{-1}:table(), want:reshape{-1}:table(), 1e-6
  assert(#a == #b, what .. ": another size")
  for _, v in ipairs(b) do top = math.max(top, math.abs(v)) end
  for i, v in ipairs(b) do if math.abs(a[i] - v) > 2e-5 * top then error(("%s[%d]: got %.9g, want %.9g"):format(what, i, a[i], v), 0) end end
end
local function there(name)
  local f = io.open(files .. name, "rb")
  if f then f:close() end
  return f ~= nil
end
local seen = 0
for _, case in ipairs(info.cases) do
  local of = case["contents of the model"] and info.models[case["contents of the model"]] or case
  if there(case.file) and of.inputs then
    seen = seen + 1
    check(case.file, function()
      tf.Graph():as_default(function()
        local model
        if case.file:find "%.weights%.h5$" then -- no architecture in it
          local twin = case.file:gsub("%.weights%.h5$", ".h5")
          model = K.models.load_model(files .. twin)
          local zeros = {}
          for i, w in ipairs(model:get_weights()) do zeros[i] = tf.zeros_like(w) end
          model:set_weights(zeros)
          model:load_weights(files .. case.file)
        else
          model = K.models.load_model(files .. case.file)
        end
        local inputs = {}
        for i, key in ipairs(of.inputs) do inputs[i] = data[key] end
        local got = table.pack(model:predict(#inputs == 1 and inputs[1] or inputs))
        for i, key in ipairs(of.outputs) do close(got[i], data[key], "output " .. i) end
      end)
    end)
  end
end
check("the files of Keras are there", function() assert(seen == 11, seen .. " files") end)

-- ------------------------------------------------------------------------------------- wrong files

local function says(label, pattern, fn)
  check(label, function()
    local ok, why = pcall(fn)
    assert(not ok, "there was no error")
    if not tostring(why):find(pattern) then error("the error is: " .. tostring(why), 0) end
  end)
end
tf.eager(function()
  local model = K.Sequential{L.Dense(4, {input_shape = {3}})}
  says("HDF5 is not written", "%.safetensors", function() model:save "model.h5" end)
  says("a file that is not there", "nowhere", function() K.models.load_model(folder .. "/nowhere.safetensors") end)
  model:save_weights(path)
  says("weights are no model", "holds no model", function() K.models.load_model(path) end)
  says("other shapes", "the shape {3, 4}, the model's", function() K.Sequential{L.Dense(5, {input_shape = {3}})}:load_weights(path) end)
  says("another number of weights", "2 weights, the model 4", function()
    K.Sequential{L.Dense(4, {input_shape = {3}}), L.Dense(1)}:load_weights(path)
  end)
  says("overwrite", "is there already", function() model:save(path, {overwrite = false}) end)
  says("before it is built", "no weights yet", function() K.Sequential{L.Dense(4)}:save_weights(path) end)
  local out = assert(io.open(path, "wb"))
  out:write "not a model"
  out:close()
  says("damage", "safetensors", function() K.models.load_model(path) end)
end)
os.remove(path)
print(("keras saving: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
