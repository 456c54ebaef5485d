-- What the training loop asks a model for; nothing else in training/ knows how models are made.
local tf, T = ...
local raw = tf.raw
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
function engine.session(model) return S.session(model.graph) end
-- Gives the variables that have no value yet their first one; the session.
function engine.initialize(model) return S.initialize(model.graph) end
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

-- A number for all shuffling of a graph (or of define-by-run mode): from its seed alone, by chance without one.
local bases = setmetatable({}, {__mode = "k"})
local eager_key = {}
local function shuffle_base(graph)
  local key = graph or eager_key
  if not bases[key] then
    local function draw()
      local absolute <close> = T.scope "keras_shuffle/"
      return raw.RandomUniformInt({}, 0, 2147483647, {Tout = "int64"})
    end
    if graph then
      bases[key] = S.session(graph):run(graph:as_default(function()
        local c <close> = tf.control_dependencies(false)
        return draw()
      end))
    else
      bases[key] = tf.eager(draw):item()
    end
  end
  return bases[key]
end
-- An order of n things that depends on the seed and on how many batches the optimizer has seen: so training that goes on from a file
-- goes on in the same order.
function engine.permutation(model, n)
  local seed = {shuffle_base(engine.graph(model)), model.compiled.optimizer.calls}
  local u = tf.random.stateless_uniform({n}, {seed = seed, now = true})
  return tf.cast(select(2, raw.TopKV2(u, n)), "int64")
end

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
