-- What layers and models of tf.keras promise: sharing, freezing, masks, names, configurations, errors that a newcomer understands. Expected numbers
-- are worked out by hand.
local tf = require "tfsdk"
local K, L = tf.keras, tf.keras.layers
local passed, failed = 0, 0
local function check(label, fn)
  local ok, why = pcall(fn)
  if ok then passed = passed + 1 else
    failed = failed + 1
    print(label, why)
  end
end
local function equal(got, want, what) if got ~= want then error(("%s: %s, want %s"):format(what or "value", tostring(got), tostring(want)), 2) end end
local function numbers(t, want)
  local got = t:reshape{-1}:table()
  equal(#got, #want, "elements")
  for i, v in ipairs(want) do if math.abs(got[i] - v) > 1e-5 then error(("element %d: %g, want %g"):format(i, got[i], v), 2) end end
end
local function both(label, fn)
  check(label .. " (graph)", function() tf.Graph():as_default(fn) end)
  check(label .. " (define-by-run)", function() tf.eager(fn) end)
end
local function says(label, pattern, fn)
  check(label, function()
    local ok, why = pcall(fn)
    if ok then error("there was no error", 0) end
    if not tostring(why):find(pattern) then error("the error is: " .. tostring(why), 0) end
  end)
end
local function tensor(x) return tf.tensor(x) end

-- ------------------------------------------------------------------------------------- sharing, several inputs, models in models

both("a shared layer", function()
  local a, b = K.Input{2}, K.Input{2}
  local shared = L.Dense(1, {use_bias = false, kernel_initializer = "ones"})
  local model = K.Model({a, b}, L.Subtract(){shared(a), shared(b)})
  equal(#model.weights, 1, "weights")
  equal(#shared.inbound_nodes, 2, "calls")
  numbers(model:predict{tensor{{1, 2}}, tensor{{10, 20}}}, {3 - 30})
  equal(shared:get_input_at(2).shape[2], 2)
end)
both("two outputs, by name", function()
  local x = K.Input({3}, {name = "x"})
  local model = K.Model(x, {L.Dense(1, {kernel_initializer = "ones", name = "sum"})(x), L.Dense(2, {kernel_initializer = "zeros", name = "none"})(x)})
  equal(table.concat(model.output_names, ","), "sum,none")
  local sum, none = model:predict(tensor{{1, 2, 3}})
  numbers(sum, {6})
  numbers(none, {0, 0})
end)
both("a model in a model, frozen", function()
  local inner = K.Sequential({L.Dense(2, {kernel_initializer = "ones", input_shape = {2}})}, {name = "inner"})
  local x = K.Input{2}
  local model = K.Model(x, L.Dense(1, {kernel_initializer = "ones"})(inner(x)))
  equal(#model.trainable_weights, 4)
  inner.trainable = false
  equal(#model.trainable_weights, 2)
  equal(#model.non_trainable_weights, 2)
  numbers(model:predict(tensor{{1, 2}}), {6})
  model:compile{optimizer = "sgd", loss = "mse"}
  model:fit(tensor{{1, 2}}, tensor{{0}}, {verbose = 0})
  numbers(inner:get_weights()[1], {1, 1, 1, 1})
end)
both("Sequential: add, pop, deferred shapes", function()
  local m = K.Sequential()
  m:add(L.Dense(4, {input_shape = {3}}))
  m:add(L.Dense(2))
  equal(m.output_shape[2], 2)
  m:pop()
  equal(m.output_shape[2], 4)
  equal(#m.layers, 1)
  local later = K.Sequential{L.Dense(4), L.Dense(1)}
  equal(later.built, false)
  later:compile{optimizer = "sgd", loss = "mse"}
  later:fit(tensor{{1, 2, 3}}, tensor{{1}}, {verbose = 0})
  equal(later:count_params(), 3 * 4 + 4 + 4 + 1)
end)
both("a class of the script", function()
  local Net = K.Model:extend("Net", {
    init = function(self) self.hidden, self.out = L.Dense(3, {kernel_initializer = "ones"}), L.Dense(1, {kernel_initializer = "ones"}) end,
    call = function(self, x) return self.out(self.hidden(x)) end})
  local net = Net()
  net:compile{optimizer = "sgd", loss = "mse"}
  numbers(net:predict(tensor{{1, 1}}), {6})
  equal(#net.trainable_weights, 4)
  local before = net:evaluate(tensor{{1, 1}}, tensor{{0}}, {verbose = 0})
  net:fit(tensor{{1, 1}}, tensor{{0}}, {verbose = 0})
  assert(before == 36 and net:evaluate(tensor{{1, 1}}, tensor{{0}}, {verbose = 0}) ~= 36)
end)

-- ------------------------------------------------------------------------------------- learning phase, masks, penalties

both("training or not", function()
  local x = K.Input{1000}
  local model = K.Model(x, L.Dropout(0.5)(x))
  numbers(tf.reduce_sum(model:predict(tf.eager(function() return tf.ones{1, 1000} end))), {1000})
  local function dropped(training)
    local y = model(tf.eager(function() return tf.ones{1, 1000} end), {training = training})
    if not tf.executing_eagerly() then y = K.backend.get_session():run(y, nil, {raw = true}) end
    return tf.reduce_sum(tf.cast(tf.equal(y, 0), "float32")):item()
  end
  equal(dropped(false), 0)
  local n = dropped(true) -- 1000 coins: six deviations are 95
  assert(n > 405 and n < 595, "dropped " .. n)
end)
both("masks reach the loss", function()
  local x = K.Input{3, 1}
  local model = K.Model(x, L.TimeDistributed(L.Dense(1, {kernel_initializer = "ones"}))(L.Masking()(x)))
  model:compile{optimizer = "sgd", loss = "mse"}
  -- steps of value 0 are left out: only (2 - 1)^2 and (3 - 1)^2 count, over three elements (Keras 3 divides by all)
  local loss = model:evaluate(tensor{{{2}, {3}, {0}}}, tensor{{{1}, {1}, {1}}}, {verbose = 0})
  assert(math.abs(loss - (1 + 4) / 2) < 1e-5 or math.abs(loss - (1 + 4) / 3) < 1e-5, "loss " .. loss)
end)
both("penalties of weights and outputs", function()
  local x = K.Input{2}
  local y = L.Dense(1, {kernel_initializer = "ones", kernel_regularizer = K.regularizers.l2(0.5), activity_regularizer = K.regularizers.l1(0.25), use_bias = false})(x)
  local model = K.Model(x, y)
  model:compile{optimizer = "sgd", loss = "mse"}
  -- weights 1, 1: 0.5 * 2 = 1; outputs 3 and 5: 0.25 * 8 / 2 = 1; squares (3 - 3)^2, (5 - 5)^2: 0
  local loss = model:evaluate(tensor{{1, 2}, {2, 3}}, tensor{{3}, {5}}, {verbose = 0})
  assert(math.abs(loss - 2) < 1e-5, "loss " .. loss)
  equal(#model.layers[2].losses >= 1, true)
end)
both("a frozen batch norm uses its averages", function()
  local x = K.Input{1}
  local norm = L.BatchNormalization{epsilon = 0}
  local model = K.Model(x, norm(x))
  norm.trainable = false
  norm:set_weights{tensor{2}, tensor{1}, tensor{3}, tensor{4}} -- y = 2 (x - 3) / 2 + 1 = x - 2
  equal(#norm.trainable_weights, 0)
  local y = model(tensor{{5}, {9}}, {training = true})
  if not tf.executing_eagerly() then y = K.backend.get_session():run(y, nil, {raw = true}) end
  numbers(y, {3, 7})
end)

-- ------------------------------------------------------------------------------------- names, configurations

both("names of layers and weights", function()
  K.backend.floatx()
  local layer = L.Dense(2, {name = "mine", input_shape = {3}})
  local m = K.Sequential{layer}
  equal((m.weights[1].name:gsub("_%d+:", ":")), "mine/kernel:0")
  equal(m:get_layer "mine", layer)
  equal(m:get_layer{index = 1}, layer)
end)
both("configurations", function()
  local a = L.Conv2D(4, 3, {strides = 2, padding = "same", kernel_regularizer = "l2", activation = "relu", name = "c"})
  local config = tf.json.decode(tf.json.encode(a:get_config()))
  equal(config.filters, 4)
  equal(config.strides[2], 2)
  equal(config.kernel_regularizer.class_name, "L2")
  equal(config.activation, "relu")
  local b = L.deserialize{class_name = "Conv2D", config = config}
  equal(tf.json.encode(b:get_config()), tf.json.encode(a:get_config()))
end)
both("shapes without weights", function()
  local layer = L.Conv2D(4, 3, {strides = 2})
  local shape = layer:compute_output_shape{-1, 9, 9, 3}
  equal(table.concat(shape, ","), "-1,4,4,4")
  equal(#layer.weights, 0)
  layer:build{-1, 9, 9, 3}
  equal(layer:count_params(), 3 * 3 * 3 * 4 + 4)
end)
check("a model as DOT", function()
  tf.Graph():as_default(function()
    local m = K.Sequential{L.Dense(2, {name = "one", input_shape = {3}}), L.Dense(1, {name = "two"})}
    local dot = K.utils.model_to_dot(m, {show_shapes = true})
    assert(dot:find("l1 -> l2", 1, true) and dot:find("(None, 2)", 1, true), dot)
  end)
end)
both("lower-case merges", function()
  local a, b = K.Input{2}, K.Input{2}
  numbers(K.Model({a, b}, L.add{a, b}):predict{tensor{{1, 2}}, tensor{{3, 4}}}, {4, 6})
  numbers(K.Model({a, b}, L.concatenate({a, b}, {axis = -1})):predict{tensor{{1, 2}}, tensor{{3, 4}}}, {1, 2, 3, 4})
  numbers(K.Model({a, b}, L.dot({a, b}, 1)):predict{tensor{{1, 2}}, tensor{{3, 4}}}, {11})
end)

-- ------------------------------------------------------------------------------------- errors

says("an unknown option", "unknown option 'activaton'; did you mean 'activation'", function() L.Dense(2, {activaton = "relu"}) end)
says("an unknown activation", "relu", function() L.Dense(2, {activation = "relo"}) end)
says("an unknown layer", "did you mean", function() L.deserialize{class_name = "Dens", config = {}} end)
says("units", "'units' must be a whole number above 0, not %-1", function() L.Dense(-1) end)
says("padding", "\"valid\" or \"same\", not 'sam'", function() L.Conv2D(2, 3, {padding = "sam"}) end)
says("the rank of an input", "rank 4 %(batch, rows, columns, channels%), but its shape is {%-1, 8}", function()
  tf.Graph():as_default(function() L.Conv2D(2, 3)(K.Input{8}) end)
end)
says("another width", "was built at .*engine%.lua:%d+ for inputs whose last axis is 3", function()
  tf.eager(function()
    local d = L.Dense(2)
    d(tensor{{1, 2, 3}})
    d(tensor{{1, 2}})
  end)
end)
says("before it is built", "not built yet", function() L.Dense(2):count_params() end)
says("weights before it is built", "has none before it is built", function() L.Dense(2):set_weights{tensor{1}} end)
says("a value that no layer made", "keras.layers.Lambda", function()
  tf.Graph():as_default(function()
    local x = K.Input{2}
    K.Model(x, L.Dense(1)(x * 2))
  end)
end)
says("an input that is missing", "not among the model's inputs", function()
  tf.Graph():as_default(function()
    local a, b = K.Input{2}, K.Input{2}
    K.Model(a, L.Add(){a, b})
  end)
end)
says("two layers of one name", "two layers are called 'd'", function()
  tf.Graph():as_default(function() K.Sequential{L.Dense(1, {name = "d", input_shape = {2}}), L.Dense(1, {name = "d"})} end)
end)
says("shapes that do not merge", "cannot be merged", function()
  tf.Graph():as_default(function() L.Add(){K.Input{2}, K.Input{3}} end)
end)
says("no layer of that name", "did you mean 'hidden'", function()
  tf.Graph():as_default(function() K.Sequential{L.Dense(1, {name = "hidden", input_shape = {2}})}:get_layer "hiden" end)
end)
says("call that gives nothing", "gave nothing", function()
  tf.eager(function() L.Layer:extend("Nothing", {call = function() end})()(tensor{1}) end)
end)
says("a shape of the wrong kind", "whole number", function() K.Input{"a"} end)
says("summary before it is built", "not built yet", function() K.Sequential{L.Dense(1)}:summary() end)
says("the shape that is fed", "the value given {1, 3}", function()
  tf.eager(function() K.Sequential{L.Dense(1, {input_shape = {2}})}(tensor{{1, 2, 3}}) end)
end)
says("target extents of Reshape", "cannot become", function()
  tf.Graph():as_default(function() L.Reshape{5}(K.Input{6}) end)
end)

print(("keras engine: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
