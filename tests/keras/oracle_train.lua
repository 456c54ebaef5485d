-- tf.keras against numbers recorded from Keras 3 (tests/data/oracle): losses, activations, constraints, regularizers,
-- metrics, learning rates, initial values, optimizers with given gradients, ten training steps of whole models, fit.
--
--     tfsdk run tests/keras/oracle_train.lua [CASE] [PART]
local tf = require "tfsdk"
local here = arg[0]:match "^(.*)/" or "."
local folder = here .. "/../data/oracle/"
local only, part = arg[1] ~= "" and arg[1] or nil, arg[2]
local K = tf.keras
local count = {}
local note = dofile(here .. "/../oracle/note.lua")
local family -- the file that was read last

local function load(name)
  family = name
  local file = assert(io.open(folder .. name .. ".json"))
  local text = file:read "a"
  file:close()
  return tf.json.decode(text), tf.read_safetensors(folder .. name .. ".safetensors")
end
-- Compares relative to the largest entry of `want`; NaN equals NaN.
local function close(got, want, limit, what)
  if type(got) == "number" then got = tf.tensor(got, "float64") end
  if type(want) == "number" then want = tf.tensor(want, "float64") end
  if table.concat(got.shape, "x") ~= table.concat(want.shape, "x") then
    return ("%s: shape {%s}, want {%s}"):format(what, table.concat(got.shape, ","), table.concat(want.shape, ","))
  end
  local a, b = got:reshape{-1}:table(), want:reshape{-1}:table()
  local top = 1e-30
  for _, x in ipairs(b) do if x == x and math.abs(x) < math.huge then top = math.max(top, math.abs(x)) end end
  for i, x in ipairs(b) do
    local y = a[i]
    local same = x == y or (x ~= x and y ~= y) or math.abs(x - y) <= limit * top
    if not same then return ("%s[%d]: got %.9g, want %.9g"):format(what, i, y, x) end
  end
end
local area
local function case(id, fn)
  if only and not id:find(only, 1, true) then return end
  local ok, why = pcall(fn)
  local c = count[area]
  note(family, id:gsub(" %(graph%)$", ""), ok and not why, why)
  if ok and not why then c.passed = c.passed + 1 return end
  c.failed = c.failed + 1
  print(area, id, why)
end
-- A class of keras by its recorded name.
local function find(path)
  local at = K
  for word in path:gsub("^keras%.", ""):gmatch "[^.]+" do at = at[word] end
  return at
end
-- A recorded configuration without what it leaves open.
local function options(config, leave_out)
  local out = {}
  for key, value in pairs(config or {}) do
    if value ~= tf.json.null and not (leave_out and leave_out[key]) then out[key] = value end
  end
  return out
end

-- ------------------------------------------------------------------------------------- functions

local parts = {}
-- What Keras leaves out of get_config.
local unsaid = {["5.CosineSimilarity"] = {axis = 0}, ["8.Huber"] = {delta = 0.5}}
function parts.losses()
  local info, data = load "layers/losses"
  for _, c in ipairs(info.cases) do
    case(c.id, function()
      local y, p = data[c.y_true], data[c.y_pred]
      local make = find(c.loss)
      for _, r in ipairs(c.results) do
        local o = options(c.config)
        for key, value in pairs(unsaid[c.id] or {}) do o[key] = value end
        o.reduction = r.reduction
        local loss = make(o)
        local w = c.sample_weights and c.sample_weights[r.sample_weight]
        local want = data[r.value]
        local label = r.reduction .. "/" .. r.sample_weight
        local eager = tf.eager(function() return loss(y, p, w and data[w]) end)
        local why = close(eager, want, 1e-5, label)
        if why then return why end
      end
      local o = options(c.config)
      for key, value in pairs(unsaid[c.id] or {}) do o[key] = value end
      o.reduction = "sum"
      local loss = make(o)
      local want = data[c.grad_of_sum]
      local g = tf.eager(function()
        local tape <close> = tf.GradientTape()
        tape:watch(p)
        local value = loss(y, p)
        tape:stop()
        return tape:gradient(value, {p})[1]
      end)
      local why = close(g, want, 1e-5, "gradient")
      if why then return why end
      -- in a graph, with unknown extents of the batch
      return tf.Graph():as_default(function()
        local function open(x)
          local shape = {table.unpack(x.shape)}
          if #shape > 0 then shape[1] = -1 end
          return tf.placeholder(x.dtype, shape)
        end
        local a, b = open(y), open(p)
        local value = loss(a, b)
        local sess <close> = tf.Session()
        local grad = tf.gradients(value, {b})[1]
        local r = sess:run({value, grad}, {[a] = y, [b] = p}, {raw = true})
        for _, result in ipairs(c.results) do
          if result.reduction == "sum" and result.sample_weight == "none" then
            why = close(r[1], data[result.value], 1e-5, "graph")
          end
        end
        return why or close(r[2], want, 1e-5, "graph gradient")
      end)
    end)
  end
end
function parts.activations()
  local info, data = load "layers/activations"
  for _, c in ipairs(info.cases) do
    -- rows of Keras' sparsemax do not sum to 1 there (-0.5 ... 2.5 3 gives zeros): compared with the definition below
    if c.id ~= "sparsemax" then case(c.id, function()
      local x = data[c.w or info.x]
      local name = c.activation or c.constraint or c.regularizer
      local make, object = find(name), nil
      local o = options(c.args or c.config)
      if not c.activation then object = make(o) end
      return tf.eager(function()
        local tape <close> = tf.GradientTape()
        tape:watch(x)
        local y
        if object then y = object(x) else y = next(o) and make(x, o) or make(x) end
        tape:stop()
        local why = close(y, data[c.y or c.result or c.value], 1e-5, "value")
        if why or c.constraint then return why end
        local dy
        if c.activation then
          dy = data[info.dy]
          if dy.shape[#dy.shape] ~= y.shape[#y.shape] then dy = dy[{{}, {1, y.shape[2]}}] end
        end
        local dx = tape:gradient(y, {x}, dy and {output_gradients = dy} or nil)[1]
          return close(dx, data[c.dx or c.grad], 1e-5, "gradient")
      end)
    end) end
  end
end

-- ------------------------------------------------------------------------------------- metrics, rates, beginnings

function parts.metrics()
  local info, data = load "train/metrics_keras"
  for _, c in ipairs(info.cases) do
    case(c.id, function()
      local o = options(c.config)
      if c.config.class_aggregation == tf.json.null then o.class_aggregation = false end
      local m = find(c.metric)(o)
      local values = {}
      if c.before_any_batch then
        local why = close(m:result(), data[c.before_any_batch], 1e-6, "before")
        if why then return why end
      end
      for b = 1, 5 do
        local args = {}
        for i, name in ipairs(c.inputs) do args[i] = data[info.data[name]][b] end
        local w = c.sample_weight and data[info.data[c.sample_weight]][b] or nil
        if #args == 1 then m:update_state(args[1], w) else m:update_state(args[1], args[2], w) end
        local r = m:result()
        values[b] = type(r) == "number" and tf.tensor(r) or r
      end
      local why = close(tf.stack(values), data[c.values], 1e-5, "result")
      if why then return why end
      m:reset_state()
      return c.before_any_batch and close(m:result(), data[c.before_any_batch], 1e-6, "after reset")
    end)
  end
end
function parts.schedules()
  local info, data = load "train/schedules"
  local steps = data[info.steps]:table()
  for _, c in ipairs(info.cases) do
    if c.schedule:find "^keras%.optimizers" then
      case(c.id, function()
        local schedule, out = find(c.schedule)(options(c.config)), {}
        for i, s in ipairs(steps) do out[i] = schedule(s) end
        return close(tf.tensor(out), data[c.values]:cast "float32", 1e-5, "rate")
      end)
    end
  end
end
-- Callbacks that watch a number, over recorded losses; the model is only what they touch.
function parts.callbacks()
  local info, data = load "train/schedules"
  local losses = data[info.losses]:table()
  for _, c in ipairs(info.cases) do
    if c.schedule:find "^keras%.callbacks" then
      case(c.id, function()
        local o = options(c.args, {["lr of the optimizer"] = true})
        local callback = find(c.schedule)(o)
        local model = {optimizer = K.optimizers.SGD(c.args["lr of the optimizer"] or 0.01), get_weights = function() return {} end}
        callback:set_model(model)
        callback:on_train_begin{}
        local rates, stopped = {}, nil
        for i, loss in ipairs(losses) do
          local logs = {loss = loss}
          callback:on_epoch_end(i - 1, logs)
          rates[i] = model.optimizer.learning_rate
          if model.stop_training and not stopped then stopped = i - 1 break end
        end
        if c.values then return close(tf.tensor(rates), data[c.values]:cast "float32", 1e-6, "rates") end
        if stopped ~= c.stopped_in_epoch then return ("stopped in epoch %s, want %s"):format(tostring(stopped), tostring(c.stopped_in_epoch)) end
        if callback.best_epoch ~= c.best_epoch then return ("best epoch %s, want %s"):format(tostring(callback.best_epoch), c.best_epoch) end
        return close(callback.best, c.best, 1e-6, "best")
      end)
    end
  end
end
function parts.initializers()
  local info, data = load "train/initializers"
  for _, c in ipairs(info.cases) do
    local name = c.initializer:match "^keras%.(.*)$"
    if name then
      case(c.id, function()
        local o = options(c.config)
        if name:find "Identity" then o.gain = tf.reduce_max(data[c.value]):item() end -- Keras leaves it out of get_config
        local init = find(name)(o)
        local x = tf.eager(function() return tf.convert_to_tensor(init(c.shape, "float32")) end)
        if c.value then return close(x, data[c.value], name:find "STFT" and 1e-6 or 1e-7, "value") end -- angles are float32 there
        local law = c.law
        if not law.distribution then -- orthogonal
          local m = x:reshape(law["reshaped to"])
          if m.shape[1] > m.shape[2] then m = tf.transpose(m) end
          local gain = c.config.gain
          return close(tf.matmul(m, m, {transpose_b = true}), tf.eye(m.shape[1], {now = true}) * (gain * gain), 1e-5, "rows")
        end
        local n = x:size()
        local mean = tf.reduce_mean(x:cast "float64"):item()
        local deviation = math.sqrt(tf.reduce_mean((x:cast "float64" - mean) ^ 2):item())
        local want_mean = law.mean or law.low and (law.low + law.high) / 2 or 0
        local want = law.stddev or law.low and (law.high - law.low) / math.sqrt(12)
        if math.abs(mean - want_mean) > 6 * want / math.sqrt(n) then return ("mean %g, want %g"):format(mean, want_mean) end
        if math.abs(deviation / want - 1) > 6 / math.sqrt(n) then return ("deviation %g, want %g"):format(deviation, want) end
        local low, high = tf.reduce_min(x):item(), tf.reduce_max(x):item()
        local bound = law.high or law.cut and law.cut + (law.mean or 0)
        if bound and high > bound * 1.0001 + 1e-6 then return ("largest %g, bound %g"):format(high, bound) end
        if law.low and low < law.low * 1.0001 - 1e-6 then return ("smallest %g, bound %g"):format(low, law.low) end
      end)
    end
  end
end

-- ------------------------------------------------------------------------------------- optimizers

local no_rule = {LossScaleOptimizer = true} -- has a part of its own
local function optimizer(c)
  local class = c.optimizer:match "[^.]*$"
  return find(c.optimizer)(options(c.config, {name = true})), class
end
-- A slot by its recorded name: adam/w_momentum; Adafactor's have no names of their own.
local function slot_value(opt, vars, name, recorded)
  local key = name:match "/(.*)$" or name
  if key == "iteration" then return tf.tensor(opt.calls, "int64") end
  if key == "learning_rate" then return tf.tensor(opt:rate(), "float32") end
  if name == "variable" then return tf.tensor(opt.product, "float32") end
  for v_name, v in pairs(vars) do
    if key == v_name then return opt:get_slot(v, "row") end
    if key == v_name .. "#1" then return opt:get_slot(v, "column") end
    local slot = key:match("^" .. v_name .. "_(.*)$")
    if slot then return opt:get_slot(v, slot) end
  end
  return nil, "no slot " .. name
end
-- Four times the distance of the recorded value from the float64 one (0.0222265605 for a bias; 0.0222263541 was recorded): gradients that nearly cancel.
local own_limits = {["adam_accumulation.embedding"] = 3.7e-5, ["adam_accumulation.embedding.slices"] = 3.7e-5}
-- Nadam's product of momenta is a float32 variable there.
local function limit_of(dtype, c)
  if dtype ~= "float64" then return own_limits[c.id] or 1e-5 end
  return c.optimizer:find "Nadam" and 5e-8 or 1e-9
end

function parts.traces()
  local info, data = load "train/optimizer_traces"
  -- One optimizer on given gradients, define-by-run or as a plan; values of the variables after each step.
  local function trace(c, in_graph)
    local trail = info.trails[c.trail]
    local sparse = c.trail == "sparse"
    local names, vars, by_name, grads, dtype = {}, {}, {}, {}, nil
    for name in pairs(c.variables) do names[#names + 1] = name end
    table.sort(names)
    local opt = optimizer(c)
    opt.sum_repeated_rows = not c.id:find "%.slices$" -- the cases without had them summed
    for i, name in ipairs(names) do
      local start = data[sparse and trail.table or trail.init[name]]
      dtype = start.dtype
      vars[i] = tf.Variable(start, {name = name})
      by_name[name] = vars[i]
      grads[i] = sparse and {data[trail.values], data[trail.indices]} or {data[trail.grads[name]]}
    end
    local values, steps, why = {}, data[c.variables[names[1]]].shape[1], nil
    local function slots(at, read)
      for name, key in pairs(c.slots_steps_1_and_10 or {}) do
        local got, missing = slot_value(opt, by_name, name)
        if missing then return missing end
        local want = data[key][at]
        if got and want:size() > 0 and not (name:find "adafactor" and #want.shape == 0) then
          if tf.kind(got) == "Variable" then got = read(got) end
          why = why or close(got:cast "float64":reshape(want.shape), want:cast "float64", limit_of(dtype, c), name .. " step " .. at)
        end
      end
    end
    local step, read
    if in_graph then
      local held, list, every = {}, {}, opt.gradient_accumulation_steps
      for i, g in ipairs(grads) do
        local value = tf.placeholder(g[1].dtype, g[1][1].shape)
        local rows = sparse and tf.placeholder(g[2].dtype, g[2][1].shape)
        held[i] = {value, rows}
        list[i] = rows and tf.IndexedSlices(value, rows, vars[i].shape) or value
      end
      local function fresh_pairs()
        local out = {}
        for i, v in ipairs(vars) do out[i] = {list[i], v} end
        return out
      end
      local accumulate = every and tf.group(opt:emit_accumulation(fresh_pairs()))
      local update = tf.group(opt:emit(fresh_pairs()))
      local overwrite = opt.use_ema and tf.group(opt:emit_overwrite(vars))
      local sess = tf.Session()
      sess:run(tf.global_variables_initializer())
      function step(s)
        local feed = {}
        for i, h in ipairs(held) do
          feed[h[1]] = grads[i][1][s]
          if h[2] then feed[h[2]] = grads[i][2][s] end
        end
        opt:feed(vars[1].graph, feed)
        local action, over = opt:next_action()
        sess:run(action == "accumulate" and accumulate or update, feed)
        if over then sess:run(overwrite) end
        opt:stepped_on()
      end
      function read(v) return sess:run(v, nil, {raw = true}) end
    else
      function step(s)
        local list = {}
        for i, v in ipairs(vars) do
          list[i] = {sparse and tf.IndexedSlices(grads[i][1][s], grads[i][2][s], v.shape) or grads[i][1][s], v}
        end
        opt:apply_gradients(list)
      end
      function read(v) return v:value() end
    end
    for s = 1, steps do
      step(s)
      for i, name in ipairs(names) do
        values[name] = values[name] or {}
        values[name][s] = read(vars[i])
      end
      if s == 1 then slots(1, read) elseif s == 10 then slots(2, read) end
    end
    for _, name in ipairs(names) do
      why = close(tf.stack(values[name]), data[c.variables[name]], limit_of(dtype, c), name) or why
    end
    return why
  end
  for _, c in ipairs(info.cases) do
    if c.id:find "^keras%." and not no_rule[c.optimizer:match "[^.]*$"] then
      case(c.id, function() return tf.eager(function() return trace(c, false) end) end)
      case(c.id .. " (graph)", function() return tf.Graph():as_default(function() return trace(c, true) end) end)
    end
  end
end

-- Scaled gradients, some of which are not finite: the scale before each step and the variables after it.
function parts.loss_scale()
  local info, data = load "train/optimizer_traces"
  for _, c in ipairs(info.cases) do
    if c.optimizer:find "LossScale" then
      case(c.id, function()
        return tf.eager(function()
          local trail, vars, values, why = info.trails[c.trail], {}, {}, nil
          local opt = K.optimizers.LossScaleOptimizer(K.optimizers.SGD(0.1, 0.9), {initial_scale = c.config.initial_scale, dynamic_growth_steps = c.config.dynamic_growth_steps})
          for name, key in pairs(trail.init) do vars[name], values[name] = tf.Variable(data[key], {name = name}), {} end
          for s, scale in ipairs(c.scale_before_each_step) do
            if opt.dynamic_scale ~= scale then why = why or ("scale before step %d: %g, want %g"):format(s, opt.dynamic_scale, scale) end
            local list = {}
            for name, v in pairs(vars) do list[#list + 1] = {data[c.scaled_grads[name]][s], v} end
            opt:apply_gradients(list)
            for name, v in pairs(vars) do values[name][s] = v:value() end
          end
          for name in pairs(vars) do why = why or close(tf.stack(values[name]), data[c.variables[name]], 1e-5, name) end
          return why
        end)
      end)
    end
  end
end

-- ------------------------------------------------------------------------------------- models

-- The recorded layers as a model of keras.layers; the recorded parameters in the order of its weights.
local function model_of(m, dtype)
  local layers, order = {}, {}
  local L = K.layers
  local first = true
  local function input(shape)
    local o = first and {input_shape = shape} or {}
    first = false
    return o
  end
  for _, l in ipairs(m.layers) do
    if l.op == "dense" then
      local o = input{m.width}
      o.units, o.activation = m.shapes[l.kernel][2], l.activation ~= tf.json.null and l.activation or nil
      layers[#layers + 1] = L.Dense(o)
      order[#order + 1], order[#order + 2] = l.kernel, l.bias
    elseif l.op == "embedding_lookup" then
      layers[#layers + 1] = L.Embedding{input_dim = m.shapes[l.table][1], output_dim = m.shapes[l.table][2], input_shape = {m.width}}
      first = false
      order[#order + 1] = l.table
    elseif l.op == "reduce_mean" then layers[#layers + 1] = L.GlobalAveragePooling1D()
    elseif l.op == "conv2d" then
      local o = input(m.image)
      local k = m.shapes[l.kernel]
      o.filters, o.kernel_size, o.strides, o.padding = k[4], {k[1], k[2]}, l.strides, l.padding:lower()
      o.use_bias = l.bias ~= tf.json.null
      layers[#layers + 1] = L.Conv2D(o)
      order[#order + 1] = l.kernel
      if o.use_bias then order[#order + 1] = l.bias end
    elseif l.op == "batch_norm" then
      layers[#layers + 1] = L.BatchNormalization{momentum = l.decay, epsilon = l.epsilon}
      for _, role in ipairs{"gamma", "beta", "moving_mean", "moving_variance"} do order[#order + 1] = l[role] end
    elseif l.op == "relu" then layers[#layers + 1] = L.Activation "relu"
    elseif l.op == "max_pool" then layers[#layers + 1] = L.MaxPooling2D{pool_size = l.size, strides = l.strides, padding = l.padding:lower()}
    elseif l.op == "flatten" then layers[#layers + 1] = L.Flatten()
    elseif l.op ~= "loss" then error("unknown layer " .. l.op) end
  end
  return K.Sequential(layers), order
end
-- Ten steps by train_on_batch: losses before each, weights and slots after.
local function ten_steps(c, m, data, opt, extra)
  local shapes = {}
  for name, key in pairs(m.init) do shapes[name] = data[key].shape end
  m.shapes = shapes
  local xs = data[m.batches.x or m.batches.ids]
  m.width = xs.shape[3]
  m.image = {xs.shape[3], xs.shape[4], xs.shape[5]}
  local model, order = model_of(m)
  model:compile{optimizer = opt, loss = K.losses.SparseCategoricalCrossentropy{from_logits = true}}
  local start = {}
  for i, name in ipairs(order) do start[i] = data[m.init[name]] end
  model:set_weights(start)
  local losses = {}
  local ys = data[m.batches.y]
  local limit = limit_of(data[c.losses].dtype, c)
  local why
  for s = 1, xs.shape[1] do
    if opt.loss_scale_factor then -- recorded with gradients of the plain loss, which the optimizer still divides
      local tape <close> = tf.GradientTape()
      local loss = model.loss(ys[s], model(xs[s]))
      tape:stop()
      opt:apply_gradients(tape:gradient(loss, model.trainable_weights), model.trainable_weights)
      losses[s] = loss:item()
    else
      losses[s] = model:train_on_batch(xs[s], ys[s])
    end
  end
  for i, name in ipairs(order) do
    local key = c.extra and c.extra["before_finalize." .. name]
    if key then why = why or close(model:get_weights()[i], data[key], limit, name .. " before finalize") end
  end
  opt:finalize_variable_values(model.trainable_weights)
  why = why or close(tf.tensor(losses), data[c.losses]:cast "float32", limit, "losses")
  local final, by_name = model:get_weights(), {}
  for i, name in ipairs(order) do
    by_name[name] = model.weights[i]
    if c.final[name] then why = why or close(final[i], data[c.final[name]], limit, name) end
  end
  local state, at = opt:get_weights(), {}
  for i, v in ipairs(opt:variables()) do at[v] = state[i + 1] end
  for name, key in pairs(c.slots) do
    local got, missing = slot_value(opt, by_name, name)
    if missing then return missing end
    local want = data[key]
    if got and want:size() > 0 and not (name:find "adafactor" and #want.shape == 0) then
      if tf.kind(got) == "Variable" then got = at[got] end
      why = why or close(got:cast "float64":reshape(want.shape), want:cast "float64", limit, name)
    end
  end
  if extra and not why then why = extra(model) end
  return why
end
-- Adafactor's slots of vectors have the variables' own names there; ten steps of Lion turn on the signs of numbers near zero.
function parts.runs()
  local info, data = load "train/runs_keras"
  for _, c in ipairs(info.cases) do
    local class = c.optimizer:match "[^.]*$"
    if not no_rule[class] then
      case(c.id, function()
        local opt = optimizer(c)
        opt.sum_repeated_rows = not c.id:find "%.slices$"
        opt.exclude_embeddings = false -- Muon: the table is called just "table" there
        local function go() return ten_steps(c, info.models[c.model], data, opt) end
        if c.id:find "loss_scale" then return tf.eager(go) end
        return go()
      end)
    end
  end
  local models, numbers = load "train/runs_models"
  for _, c in ipairs(models.cases) do
    if c.optimizer:find "^keras%." then
      case(c.id, function()
        return ten_steps(c, c.model, numbers, find(c.optimizer)(options(c.args)), function(model)
          return close(model:predict(numbers[c.model.batches.x][1]), numbers[c.extra.inference_output], 1e-5, "inference")
        end)
      end)
    end
  end
end
-- Whole models from their recorded configuration: fit, evaluate, predict.
function parts.fit()
  local info, data = load "train/keras_fit"
  for _, c in ipairs(info.cases) do
    case(c.id, function()
      local model = K.models.model_from_json(c.model)
      local compile = tf.json.decode(c.model).compile_config
      local function given(x) if x ~= tf.json.null then return x end end
      model:compile{optimizer = find("keras.optimizers." .. c.optimizer.class)(options(c.optimizer.config, {name = true})), loss = compile.loss,
        metrics = given(compile.metrics), weighted_metrics = given(compile.weighted_metrics)}
      local start = {}
      for i, w in ipairs(c.weights) do start[i] = data[w.start] end
      model:set_weights(start)
      local f = {}
      for key, value in pairs(c.fit) do f[key] = value end
      local function named(x) return data[info.data[x]] end
      f.x, f.y = named(f.x), named(f.y)
      if f.sample_weight then f.sample_weight = named(f.sample_weight) end
      if f.validation_data then f.validation_data = {named(f.validation_data[1]), named(f.validation_data[2])} end
      f.verbose = 0
      local history = model:fit(f).history
      local why
      for name, want in pairs(c.history) do
        if not history[name] then return "no " .. name .. " in the history" end
        why = why or close(tf.tensor(history[name]), tf.tensor(want), 1e-5, name)
      end
      for i, w in ipairs(model:get_weights()) do why = why or close(w, data[c.weights[i].final], 1e-5, c.weights[i].name) end
      local target = c.fit.y == "target" and "target_val" or "y_val"
      local result = model:evaluate(named "x_val", named(target), {return_dict = true, verbose = 0})
      for name, want in pairs(c["evaluate on validation"]) do why = why or close(result[name], want, 1e-5, "evaluate " .. name) end
      return why or close(model:predict(named "x_val"), data[c.predict], 1e-5, "predict")
    end)
  end
end

local order = {"losses", "activations", "metrics", "schedules", "callbacks", "initializers", "traces", "loss_scale", "runs", "fit"}
local failed, passed = 0, 0
for _, name in ipairs(order) do
  if not part or part == name then
    area = name
    count[name] = {passed = 0, failed = 0}
    parts[name]()
    print(("%-14s %d passed, %d failed"):format(name, count[name].passed, count[name].failed))
    passed, failed = passed + count[name].passed, failed + count[name].failed
  end
end
os.exit(failed == 0 and passed > 0 and 0 or 1, true)
