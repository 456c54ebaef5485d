-- Optimizers, learning rates, metrics and initial values of tf.train, tf.metrics and tf.initializers against numbers
-- recorded from TensorFlow (tests/data/oracle/train; its README says how). In both modes where a mode matters.
--
--     tfsdk run tests/train/tf1.lua [CASE]
local tf = require "tfsdk"
local here = arg[0]:match "^(.*)/" or "."
local folder = here .. "/../data/oracle/train/"
local only = arg[1]
local passed, failed, missing = 0, 0, 0
local note = dofile(here .. "/../oracle/note.lua")
local family -- the file that was read last

local function load(name)
  family = "train/" .. name
  local file = assert(io.open(folder .. name .. ".json"))
  local text = file:read "a"
  file:close()
  return tf.json.decode(text), tf.read_safetensors(folder .. name .. ".safetensors")
end

-- Compares relative to the largest entry of `want`; NaN equals NaN.
local function close(got, want, limit, what)
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
local function case(id, fn)
  if only and not id:find(only, 1, true) then return end
  local ok, why = pcall(fn)
  note(family, id:gsub(" graph$", ""):gsub(" eager$", ""), ok and not why, why)
  if ok and not why then passed = passed + 1 return end
  why = tostring(why)
  if why:find "there is no op" or why:find "does not exist" then
    missing = missing + 1
    if only then print("missing", id, why) end
    return
  end
  failed = failed + 1
  print(id, why)
end
local function limit_of(dtype) return dtype == "float64" and 1e-9 or 1e-5 end

-- Recorded names to ours: tf.compat.v1.train.X is tf.train.X.
local function find(path)
  local at = tf
  for word in path:gsub("^tf%.compat%.v1%.", ""):gmatch "[^.]+" do at = at[word] end
  return at
end
local function options(args, step)
  local out = {}
  for key, value in pairs(args) do
    if value ~= tf.json.null then out[key] = value end
  end
  if step then out.global_step = step end
  return out
end
local function starts(s, prefix) return s:sub(1, #prefix) == prefix end

-- ------------------------------------------------------------------------------------- given gradients

local function traces()
  local info, data = load "optimizer_traces"
  for _, c in ipairs(info.cases) do
    if starts(c.id, "tf1.") then
      for _, mode in ipairs{"graph", "eager"} do
        case(c.id .. " " .. mode, function()
          local make, trail = find(c.optimizer), info.trails[c.trail]
          local sparse = c.trail == "sparse"
          local names = {}
          for name in pairs(c.variables) do names[#names + 1] = name end
          table.sort(names)
          local function start(name) return data[sparse and trail.table or trail.init[name]] end
          local function gradient(name, step)
            if sparse then
              return data[trail.values][step], data[trail.indices][step]
            end
            return data[trail.grads[name]][step]
          end
          local dtype = start(names[1]).dtype
          local values, steps = {}, data[c.variables[names[1]]].shape[1]
          if mode == "eager" then
            tf.eager(function()
              local step = tf.Variable(tf.tensor(0, "int64"), {trainable = false})
              local needs_step = c.optimizer:find "AdagradDA"
              local opt = make(options(c.args, needs_step and step or nil))
              local vars = {}
              for i, name in ipairs(names) do vars[i] = tf.Variable(start(name), {name = name}) end
              for s = 1, steps do
                local grads = {}
                for i, name in ipairs(names) do
                  local g, rows = gradient(name, s)
                  grads[i] = rows and tf.IndexedSlices(g, rows, vars[i].shape) or g
                end
                opt:apply_gradients(grads, vars, step)
                for i, name in ipairs(names) do
                  values[name] = values[name] or {}
                  values[name][s] = vars[i]:value()
                end
              end
            end)
          else
            tf.Graph():as_default(function()
              local step = tf.train.get_or_create_global_step()
              local needs_step = c.optimizer:find "AdagradDA"
              local opt = make(options(c.args, needs_step and step or nil))
              local vars, pairs_, feeds = {}, {}, {}
              for i, name in ipairs(names) do
                vars[i] = tf.Variable(start(name), {name = name})
                local g, rows = gradient(name, 1)
                local pg = tf.placeholder(g.dtype, g.shape)
                local pr = rows and tf.placeholder(rows.dtype, rows.shape)
                feeds[i] = {pg, pr}
                pairs_[i] = {pr and tf.IndexedSlices(pg, pr, vars[i].shape) or pg, vars[i]}
              end
              local train = opt:apply_gradients(pairs_, step)
              local sess <close> = tf.Session()
              sess:run(tf.global_variables_initializer())
              for s = 1, steps do
                local feed = {}
                for i, name in ipairs(names) do
                  local g, rows = gradient(name, s)
                  feed[feeds[i][1]] = g
                  if rows then feed[feeds[i][2]] = rows end
                end
                sess:run(train, feed)
                for i, name in ipairs(names) do
                  values[name] = values[name] or {}
                  values[name][s] = sess:run(vars[i], nil, {raw = true})
                end
              end
            end)
          end
          for _, name in ipairs(names) do
            local why = close(tf.stack(values[name]), data[c.variables[name]], limit_of(dtype), name)
            if why then return why end
          end
        end)
      end
    end
  end
end

-- ------------------------------------------------------------------------------------- models

local function forward(layers, params, batch)
  local x, loss = batch.x or batch.ids, nil
  for _, l in ipairs(layers) do
    if l.op == "dense" then
      x = tf.matmul(x, params[l.kernel]) + params[l.bias]
      if l.activation == "relu" then x = tf.nn.relu(x) end
    elseif l.op == "embedding_lookup" then x = tf.nn.embedding_lookup(params[l.table], x)
    elseif l.op == "reduce_mean" then x = tf.reduce_mean(x, {axis = l.axis})
    elseif l.op == "loss" and l.name == "mean_squared_error" then
      loss = tf.reduce_mean(tf.squared_difference(x, batch.y))
    elseif l.op == "loss" and l.name == "sparse_softmax_cross_entropy" then
      loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = batch.y, logits = x})
    else error("unknown layer " .. l.op .. " " .. tostring(l.name)) end
  end
  return loss
end
local function runs()
  local info, data = load "runs_tf1"
  for _, c in ipairs(info.cases) do
    case(c.id, function()
      local m = info.models[c.model]
      return tf.Graph():as_default(function()
        local step = tf.train.get_or_create_global_step()
        local params, batch, feeds = {}, {}, {}
        local names = {}
        for name in pairs(m.init) do names[#names + 1] = name end
        table.sort(names)
        local trainable = {}
        for _, name in ipairs(m.trainable) do trainable[name] = true end
        for _, name in ipairs(names) do
          params[name] = tf.Variable(data[m.init[name]], {name = name, trainable = trainable[name] or false})
        end
        for name, key in pairs(m.batches) do
          batch[name] = tf.placeholder(data[key].dtype, data[key][1].shape)
        end
        local loss = forward(m.layers, params, batch)
        local needs_step = c.optimizer:find "AdagradDA"
        local opt = find(c.optimizer)(options(c.args, needs_step and step or nil))
        local train = opt:minimize(loss, {global_step = step})
        local sess <close> = tf.Session()
        sess:run(tf.global_variables_initializer())
        local losses, dtype = {}, data[c.losses].dtype
        for s = 1, data[c.losses].shape[1] do
          local feed = {}
          for name, key in pairs(m.batches) do feed[batch[name]] = data[key][s] end
          losses[s] = sess:run({loss, train}, feed)[1]
        end
        local why = close(tf.tensor(losses, dtype), data[c.losses], limit_of(dtype), "losses")
        for name, key in pairs(c.final) do
          why = why or close(sess:run(params[name], nil, {raw = true}), data[key], limit_of(dtype), name)
        end
        for name, key in pairs(c.slots) do
          why = why or close(sess:read(name:gsub(":0$", "")), data[key], limit_of(dtype), name)
        end
        return why
      end)
    end)
  end
end

-- ------------------------------------------------------------------------------------- learning rates

local function schedules()
  local info, data = load "schedules"
  local steps = data[info.steps]:table()
  for _, c in ipairs(info.cases) do
    if starts(c.id, "tf1.") then
      case(c.id, function()
        local at = c.schedule:find "piecewise" and "x" or "global_step"
        local in_graph = tf.Graph():as_default(function()
          local p = tf.placeholder("int64", {})
          local o = options(c.args)
          o[at] = p
          local rate = find(c.schedule)(o)
          local sess <close> = tf.Session()
          local out = {}
          for i, s in ipairs(steps) do out[i] = sess:run(rate, {[p] = s}) end
          return tf.tensor(out)
        end)
        local why = close(in_graph, data[c.values]:cast "float32", 1e-5, "graph")
        if why then return why end
        return tf.eager(function()
          local v = tf.Variable(tf.tensor(0, "int64"), {trainable = false})
          local o = options(c.args)
          o[at] = v
          local rate, out = find(c.schedule)(o), {}
          for i, s in ipairs(steps) do
            v:assign(s)
            out[i] = rate():item()
          end
          return close(tf.tensor(out), data[c.values]:cast "float32", 1e-5, "eager")
        end)
      end)
    end
  end
end

-- ------------------------------------------------------------------------------------- metrics

local function metrics()
  local info, data = load "metrics_tf1"
  for _, c in ipairs(info.cases) do
    case(c.id, function()
      return tf.Graph():as_default(function()
        local args, feeds = options(c.args), {}
        for name, key in pairs(c.inputs) do
          local t = data[info.data[key]]
          local p = tf.placeholder(t.dtype, t[1].shape)
          args[name], feeds[#feeds + 1] = p, {p, t}
        end
        local value, update = find(c.metric)(args)
        local sess <close> = tf.Session()
        sess:run(tf.local_variables_initializer())
        local updates, values = {}, {}
        local batches = feeds[1][2].shape[1]
        for b = 1, batches do
          local feed = {}
          for _, f in ipairs(feeds) do feed[f[1]] = f[2][b] end
          updates[b] = sess:run(update, feed, {raw = true})
          values[b] = sess:run(value, nil, {raw = true})
        end
        return close(tf.stack(updates), data[c.update], 1e-5, "update") or close(tf.stack(values), data[c.value], 1e-5, "value")
      end)
    end)
  end
end

-- ------------------------------------------------------------------------------------- initial values

local function initial()
  local info = load "initializers"
  for _, c in ipairs(info.cases) do
    local path = c.initializer:match "^tf%.compat%.v1%.(.*)$" or c.initializer:match "^slim%..*$" or c.initializer:match "^torch%..*$"
    if path and c.law and c.law.distribution then
      case(c.id, function()
        local make, init = find(path), nil
        if path:find "init%." then -- draws anew in place
          function init(shape) return tf.torch.nn.init[path:match "[^.]*$"](tf.Variable(tf.zeros(shape)), options(c.config)) end
        elseif path:find "^torch" then -- the layer's own weight
          local layer = path:find "Linear" and make(c.shape[2], c.shape[1]) or make(c.shape[2], c.shape[1], c.shape[3])
          function init() return layer.weight end
        else
          init = make(options(c.config or c.args or {}))
        end
        local x = tf.eager(function() return tf.convert_to_tensor(init(c.shape, "float32")) end)
        local n = x:size()
        local mean = tf.reduce_mean(x:cast "float64"):item()
        local deviation = math.sqrt(tf.reduce_mean((x:cast "float64" - mean) ^ 2):item())
        local law = c.law
        local want_mean = law.mean or law.low and (law.low + law.high) / 2 or 0
        local want = law.stddev or law.low and (law.high - law.low) / math.sqrt(12) or deviation
        if math.abs(mean - want_mean) > 6 * want / math.sqrt(n) then return ("mean %g, want %g"):format(mean, want_mean) end
        if math.abs(deviation / want - 1) > 6 / math.sqrt(n) then return ("deviation %g, want %g"):format(deviation, want) end
        local low, high = tf.reduce_min(x):item(), tf.reduce_max(x):item()
        local bound = law.high or law.cut
        if bound and (high > bound * 1.0001 + 1e-6) then return ("largest %g, bound %g"):format(high, bound) end
        if law.low and low < law.low * 1.0001 - 1e-6 then return ("smallest %g, bound %g"):format(low, law.low) end
      end)
    end
  end
end

schedules()
metrics()
initial()
traces()
runs()
print(("train: %d passed, %d failed, %d not there yet"):format(passed, failed, missing))
os.exit(failed == 0 and passed > 0 and 0 or 1, true)
