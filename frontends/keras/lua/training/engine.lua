-- What the training loop asks a model for; nothing else in training/ knows how models are made.
local tf, T = ...
local S = T.include("keras", "engine/state")
local engine = {}

-- {inputs = names, outputs = names, dtypes = types of inputs}, where the model tells them before it is called.
function engine.io(model)
  local dtypes
  if model.inputs then
    dtypes = {}
    for i, x in ipairs(model.inputs) do dtypes[i] = x.dtype end
  end
  return {inputs = model.input_names, outputs = model.output_names, dtypes = dtypes}
end
-- The graph of the model's weights; nil: define-by-run.
function engine.graph(model) return model.graph end
-- Gives the variables that have no value yet their first one; the session.
function engine.initialize(model) return S.initialize(model.graph) end
engine.session = engine.initialize
-- Outputs, their masks, penalties and updates for a list of inputs, in the present mode.
function engine.call(model, xs, training)
  local call = {training = training, penalties = {}, updates = {}}
  local y = S.in_call(call, function() return model(#xs == 1 and xs[1] or {table.unpack(xs)}, {training = training}) end)
  local outputs, masks = {table.unpack(S.list_of(y))}, {}
  for i, v in ipairs(outputs) do masks[i] = S.masks[v] end
  model:collect_penalties(call.penalties)
  return outputs, masks, call.penalties, training and call.updates or {}
end
function engine.trainable(model) return model.trainable_weights end
engine.constraint = T.keras_constraint_of
function engine.read(_, v) return T.keras_read(v) end

-- A model that learns the shapes of its inputs from the first data is built when they come.
function engine.prepare(model, xs)
  if model.built or #model.weights > 0 then return end
  local shapes = {}
  for i, x in ipairs(xs) do
    shapes[i] = {table.unpack(x.shape)}
    shapes[i][1] = -1
  end
  model:build(#shapes == 1 and shapes[1] or shapes)
end

-- The outputs of all layers for these inputs in training, in order: {name =, value = tensor}.
function engine.trace(model, xs)
  local noted, watched = {}, {}
  local function watch(layer)
    for _, inner in ipairs(layer._layers) do
      if not watched[inner] then
        watched[inner] = true
        local before, call = rawget(inner, "call"), inner.call
        rawset(inner, "call", function(self, ...)
          local y = call(self, ...)
          for _, v in ipairs(S.list_of(y)) do noted[#noted + 1] = {name = inner.name, value = v} end
          return y
        end)
        watched[inner] = {before}
        watch(inner)
      end
    end
  end
  watch(model)
  local graph = engine.graph(model)
  local ok, why = pcall(function()
    if not graph then return tf.eager(function() engine.call(model, xs, true) end) end
    local feed, ps = {}, {}
    graph:as_default(function()
      for i, x in ipairs(xs) do
        ps[i] = tf.placeholder(x.dtype, x.shape)
        feed[ps[i]] = x
      end
      engine.call(model, ps, true)
    end)
    local nodes = {}
    for i, entry in ipairs(noted) do nodes[i] = entry.value end
    local values = engine.initialize(model):run(nodes, feed, {raw = true})
    for i, entry in ipairs(noted) do entry.value = values[i] end
  end)
  for layer, before in pairs(watched) do rawset(layer, "call", before[1]) end
  if not ok then error(why, 0) end
  return noted
end
return engine
