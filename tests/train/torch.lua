-- tf.optim against numbers recorded from PyTorch (tests/data/oracle/train): optimizers with given gradients and on a model, learning
-- rates of each epoch, and their defaults (PyTorch 2.15's signatures).
--
--     tfsdk run tests/train/torch.lua [CASE]
local tf = require "tfsdk"
local here = arg[0]:match "^(.*)/" or "."
local folder = here .. "/../data/oracle/train/"
local only = arg[1]
local passed, failed = 0, 0
local note = dofile(here .. "/../oracle/note.lua")
local family -- the file that was read last
local function load(name)
  family = "train/" .. name
  local file = assert(io.open(folder .. name .. ".json"))
  local text = file:read "a"
  file:close()
  return tf.json.decode(text), tf.read_safetensors(folder .. name .. ".safetensors")
end
local function close(got, want, limit, what)
  if type(got) == "number" then got = tf.tensor(got, "float64") end
  if got:size() ~= want:size() then return ("%s: %d values, want %d"):format(what, got:size(), want:size()) end
  local a, b = got:reshape{-1}:table(), want:reshape{-1}:table()
  local top = 1e-30
  for _, x in ipairs(b) do top = math.max(top, math.abs(x)) end
  for i, x in ipairs(b) do
    if not (math.abs(x - a[i]) <= limit * top) then return ("%s[%d]: got %.9g, want %.9g"):format(what, i, a[i], x) end
  end
end
local function case(id, fn)
  if only and not id:find(only, 1, true) then return end
  local ok, why = pcall(tf.eager, fn)
  if family then note(family, id, ok and not why, why) end
  if ok and not why then passed = passed + 1 return end
  failed = failed + 1
  print(id, why)
end
local function options(config)
  local out = {}
  for key, value in pairs(config) do if value ~= tf.json.null and not key:find " " then out[key] = value end end
  return out
end
-- ASGD's rate is a float32 tensor there.
local function limit_of(dtype, c) return dtype == "float64" and (c.optimizer:find "ASGD" and 1e-7 or 1e-10) or 1e-5 end
local function sorted(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end
local function slots(opt, vars, recorded, at, data, limit)
  for name, key in pairs(recorded) do
    local v, slot = name:match "^(.-)/(.*)$"
    local want = data[key]
    if at then want = want[at] end
    local got = opt.state[vars[v]][slot]
    if got == nil then return "no state " .. name end
    local why = close(got, want:reshape{-1}, limit, name)
    if why then return why end
  end
end

local function traces()
  local info, data = load "optimizer_traces"
  for _, c in ipairs(info.cases) do
    if c.optimizer:find "^torch%." then
      case(c.id, function()
        local trail, vars, list, values = info.trails[c.trail], {}, {}, {}
        local names = sorted(c.variables)
        local dtype
        for i, name in ipairs(names) do
          dtype = data[trail.init[name]].dtype
          vars[name], values[name] = tf.Variable(data[trail.init[name]], {name = name}), {}
          list[i] = vars[name]
        end
        local opt = tf.optim[c.optimizer:match "[^.]*$"](list, options(c.config))
        local why
        local steps = data[c.variables[names[1]]].shape[1]
        for s = 1, steps do
          local grads = {}
          for i, name in ipairs(names) do grads[i] = data[trail.grads[name]][s] end
          opt:step(grads)
          for name, v in pairs(vars) do values[name][s] = v:value() end
          if s == 1 or s == 10 then why = why or slots(opt, vars, c.slots_steps_1_and_10 or {}, s == 1 and 1 or 2, data, math.max(limit_of(dtype, c), 1e-7)) end
        end
        for name in pairs(vars) do why = why or close(tf.stack(values[name]), data[c.variables[name]], limit_of(dtype, c), name) end
        return why
      end)
    end
  end
end
local function runs()
  local info, data = load "runs_torch"
  for _, c in ipairs(info.cases) do
    case(c.id, function()
      local m = info.models[c.model]
      local vars, list = {}, {}
      for _, name in ipairs(sorted(m.init)) do
        vars[name] = tf.Variable(data[m.init[name]], {name = name})
        list[#list + 1] = vars[name]
      end
      local opt = tf.optim[c.optimizer:match "[^.]*$"](list, options(c.config))
      local losses, why = {}, nil
      for s = 1, data[c.losses].shape[1] do
        local x, y = data[m.batches.x or m.batches.ids][s], data[m.batches.y][s]
        losses[s] = opt:step(function()
          local h = x
          for _, l in ipairs(m.layers) do
            if l.op == "dense" then h = tf.matmul(h, vars[l.kernel]) + vars[l.bias]
            elseif l.op == "conv2d" then h = tf.nn.conv2d(h, vars[l.kernel], {strides = l.strides, padding = l.padding}) + vars[l.bias]
            elseif l.op == "max_pool" then h = tf.nn.max_pool(h, {ksize = l.size, strides = l.strides, padding = l.padding})
            elseif l.op == "flatten" then h = tf.reshape(h, {h.shape[1], -1})
            elseif l.op == "embedding_lookup" then h = tf.nn.embedding_lookup(vars[l.table], h)
            elseif l.op == "reduce_mean" then h = tf.reduce_mean(h, {axis = l.axis})
            elseif l.op == "loss" then return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = y, logits = h})
            else error("unknown layer " .. l.op) end
            if l.activation == "relu" then h = tf.nn.relu(h) end
          end
        end):item()
      end
      local limit = limit_of(data[c.losses].dtype, c)
      why = close(tf.tensor(losses, "float64"), data[c.losses], limit, "losses")
      for name, key in pairs(c.final) do why = why or close(vars[name]:value(), data[key], limit, name) end
      return why or slots(opt, vars, c.slots or {}, nil, data, limit)
    end)
  end
end
local function schedules()
  local info, data = load "schedules"
  for _, c in ipairs(info.cases) do
    local name = c.schedule:match "^torch%.optim%.lr_scheduler%.(.*)$"
    if name then
      case(c.id, function()
        local opt = tf.optim.SGD({tf.Variable(0.0)}, {lr = c.args["lr of the optimizer"], momentum = 0.9})
        local s = tf.optim.lr_scheduler[name](opt, options(c.args))
        local rates, momenta = {}, {}
        local group = opt.param_groups[1]
        if c.input then
          for i, loss in ipairs(data[info.losses]:table()) do
            s:step(loss)
            rates[i] = group.lr
          end
        else
          for i = 1, info.epochs do
            rates[i], momenta[i] = group.lr, group.momentum
            if i < info.epochs then s:step() end
          end
        end
        local why = close(tf.tensor(rates, "float64"), data[c.values], 1e-9, "rate")
        if name == "OneCycleLR" or name == "CyclicLR" then why = why or close(tf.tensor(momenta, "float64"), data[c.momentum], 1e-9, "momentum") end
        return why
      end)
    end
  end
end

local defaults = [[
SGD       lr 0.001  momentum 0  dampening 0  weight_decay 0  nesterov false
Adam      lr 0.001  betas 0.9,0.999  eps 1e-8  weight_decay 0  amsgrad false
AdamW     lr 0.001  betas 0.9,0.999  eps 1e-8  weight_decay 0.01  amsgrad false
Adamax    lr 0.002  betas 0.9,0.999  eps 1e-8  weight_decay 0
Adagrad   lr 0.01   lr_decay 0  weight_decay 0  initial_accumulator_value 0  eps 1e-10
Adadelta  lr 1      rho 0.9  eps 1e-6  weight_decay 0
RMSprop   lr 0.01   alpha 0.99  eps 1e-8  weight_decay 0  momentum 0  centered false
NAdam     lr 0.002  betas 0.9,0.999  eps 1e-8  weight_decay 0  momentum_decay 0.004
RAdam     lr 0.001  betas 0.9,0.999  eps 1e-8  weight_decay 0
ASGD      lr 0.01   lambd 0.0001  alpha 0.75  t0 1e6  weight_decay 0
Rprop     lr 0.01   etas 0.5,1.2  step_sizes 1e-6,50
]]
local function check_defaults()
  for line in defaults:gmatch "[^\n]+" do
    local name, rest = line:match "^(%S+)%s+(.*)$"
    case("default " .. name, function()
      local group = tf.optim[name] {tf.Variable(0.0)}.param_groups[1]
      for key, value in rest:gmatch "(%S+)%s+(%S+)" do
        local got = group[key]
        if value:find "," then
          local a, b = value:match "^(.*),(.*)$"
          if got[1] ~= tonumber(a) or got[2] ~= tonumber(b) then return key .. ": " .. got[1] .. "," .. got[2] end
        else
          local want = tonumber(value)
          if want == nil then want = value == "true" end
          if got ~= want then return ("%s: %s, want %s"):format(key, tostring(got), value) end
        end
      end
    end)
  end
end
-- What is saved goes on to the same numbers; groups have rates of their own; wrong uses are told.
local function behaviour()
  case("state_dict", function()
    local a, b = tf.Variable(tf.tensor{1, 2}), tf.Variable(tf.tensor{1, 2})
    local one, two = tf.optim.Adam({a}, {lr = 0.1}), tf.optim.Adam({b}, {lr = 0.5})
    for _ = 1, 3 do one:step{tf.tensor{1, -1}} end
    b:assign(a:value())
    two:load_state_dict(one:state_dict())
    one:step{tf.tensor{0.5, 0.5}}
    two:step{tf.tensor{0.5, 0.5}}
    return close(b:value(), a:value(), 0, "after")
  end)
  case("groups", function()
    local a, b = tf.Variable(1.0), tf.Variable(1.0)
    tf.optim.SGD({{params = {a}}, {params = {b}, lr = 1}}, {lr = 0.5}):step{tf.tensor(1.0), tf.tensor(1.0)}
    return close(a:value(), tf.tensor(0.5), 0, "a") or close(b:value(), tf.tensor(0.0), 0, "b")
  end)
  case("wrong uses", function()
    local v = tf.Variable(1.0)
    for words, fn in pairs{["did you mean 'lr'"] = function() tf.optim.SGD({v}, {l = 1}) end, ["nesterov"] = function() tf.optim.SGD({v}, {nesterov = true}) end,
      ["more than one group"] = function() tf.optim.SGD{{params = {v}}, {params = {v}}} end, ["no define-by-run variable"] = function() tf.optim.SGD{tf.tensor(1)} end} do
      local ok, why = pcall(fn)
      if ok or not tostring(why):find(words, 1, true) then return words .. ": " .. tostring(why) end
    end
  end)
end
check_defaults()
behaviour()
schedules()
traces()
runs()
print(("torch: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and passed > 0 and 0 or 1, true)
