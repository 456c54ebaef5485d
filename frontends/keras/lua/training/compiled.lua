-- What compile was given, and what becomes of it once outputs and targets are known: one loss for each output, metrics with names.
local tf, T = ...
local losses = T.include("keras", "losses")
local metrics = T.include("keras", "metrics")
local optimizers = T.include("keras", "optimizers")
local compiled = {}

local function is_list(x) return type(x) == "table" and T.kind(x) == nil and getmetatable(x) == nil and not x.class_name end
local function has_names(x)
  for key in pairs(x) do if type(key) == "string" then return true end end
  return false
end
local function joined(names) return names and table.concat(names, ", ") or "unknown" end

-- A value for each output: one for all (`same`), a list, or a table by name.
local function by_output(x, names, n, what, who, same)
  local out = {}
  if x == nil then return out end
  if not is_list(x) or next(x) == nil then
    if same or n == 1 then
      for i = 1, n do out[i] = x end
      return out
    end
    T.fail(who, "%s: the model has %d outputs (%s); give a list or a table by name", what, n, joined(names))
  end
  if has_names(x) then
    local at = {}
    for i, name in ipairs(names or {}) do at[name] = i end
    for key, value in pairs(x) do
      if not at[key] then
        local near = names and T.nearest(tostring(key), names)
        T.fail(who, "%s: there is no output '%s'; there are %s%s", what, tostring(key), joined(names), near and ("; did you mean '%s'?"):format(near) or "")
      end
      out[at[key]] = value
    end
    return out
  end
  local count = #x
  if count ~= n then T.fail(who, "%s: the model has %d outputs (%s), %d were given", what, n, joined(names), count) end
  for i = 1, n do out[i] = x[i] end
  return out
end

-- Arguments of compile, checked as far as they can be.
function compiled.new(o, who)
  local c = {}
  local optimizer = o.optimizer
  if type(optimizer) == "table" and optimizer.apply_pairs then optimizer = optimizers.classes.TFOptimizer.new(optimizer) end
  c.optimizer = optimizers:get(optimizer, who)
  if type(c.optimizer) == "function" or c.optimizer == nil then T.fail(who, "'optimizer' is a name or a Keras optimizer, not %s", type(o.optimizer)) end
  local function check_loss(x)
    if is_list(x) then for _, member in pairs(x) do check_loss(member) end
    elseif x ~= nil and x ~= false then losses:get(x, who) end
  end
  check_loss(o.loss)
  if o.sample_weight_mode then
    local function check(mode)
      if mode and mode ~= "temporal" then T.fail(who, "'sample_weight_mode' must be false or \"temporal\", not '%s'", tostring(mode)) end
    end
    if is_list(o.sample_weight_mode) then for _, mode in pairs(o.sample_weight_mode) do check(mode) end else check(o.sample_weight_mode) end
  end
  if o.target_tensors then T.fail_code(12, who, "'target_tensors' is not supported: give the targets to fit") end
  c.loss, c.metrics, c.weighted_metrics, c.loss_weights = o.loss, o.metrics, o.weighted_metrics, o.loss_weights
  c.sample_weight_mode, c.run_eagerly = o.sample_weight_mode, o.run_eagerly
  return c
end

-- "accuracy" (or "crossentropy") for these targets, predictions and loss.
local function auto(name, y, p, loss)
  local ry, rp = y and #y, p and #p
  local last_y, last_p = ry and y[ry], rp and p[rp]
  local suffix = name == "accuracy" and "Accuracy" or "Crossentropy"
  if last_p == 1 or loss and getmetatable(loss).__name == "BinaryCrossentropy" then return "Binary" .. suffix end
  if ry and rp and (ry < rp or last_y == 1 and last_p > 1) then return "SparseCategorical" .. suffix end
  return "Categorical" .. suffix
end

-- y_shapes[i] is the shape of the targets of output i, or nil; p_shapes[i] of the predictions.
function compiled.resolve(c, names, n, y_shapes, p_shapes, who)
  local out = {losses = {}, weights = {}, metrics = {}, names = {"loss"}, n = n}
  local loss_list = by_output(c.loss, names, n, "loss", who, true)
  local weight_list = by_output(c.loss_weights, names, n, "loss_weights", who, false)
  for i = 1, n do
    local x = loss_list[i]
    out.losses[i] = x ~= nil and x ~= false and losses:as_object(x, who) or false
    out.weights[i] = weight_list[i] or 1
    if type(out.weights[i]) ~= "number" then T.fail(who, "loss_weights[%d] is no number, but %s", i, type(out.weights[i])) end
  end
  local function label(i) return names and names[i] or "output_" .. i end
  if n > 1 then
    for i = 1, n do if out.losses[i] then out.names[#out.names + 1] = label(i) .. "_loss" end end
  end
  local used = {}
  local function add(x, i, weighted)
    if x == nil or x == false then return end
    local metric = metrics:as_object(x, function(name) return auto(name, y_shapes[i], p_shapes[i], out.losses[i]) end, who)
    local name = metric.name or "metric"
    if n > 1 then name = label(i) .. "_" .. name end
    local unique, k = name, 1
    while used[unique] do
      unique = ("%s_%d"):format(name, k)
      k = k + 1
    end
    used[unique] = true
    out.metrics[#out.metrics + 1] = {metric = metric, output = i, weighted = weighted, name = unique}
    out.names[#out.names + 1] = unique
  end
  local function spread(given, weighted, what)
    if given == nil or given == false then return end
    if not is_list(given) then given = {given} end
    if has_names(given) then
      for i, list in pairs(by_output(given, names, n, what, who)) do
        if is_list(list) then for _, x in ipairs(list) do add(x, i, weighted) end else add(list, i, weighted) end
      end
      return
    end
    local nested = false
    for _, x in ipairs(given) do nested = nested or is_list(x) or x == false end
    if n > 1 and nested then
      if #given ~= n then T.fail(who, "%s: the model has %d outputs (%s), there are %d lists", what, n, joined(names), #given) end
      for i, list in ipairs(given) do
        if is_list(list) then for _, x in ipairs(list) do add(x, i, weighted) end else add(list, i, weighted) end
      end
      return
    end
    for i = 1, n do
      for _, x in ipairs(given) do
        if is_list(x) then for _, y in ipairs(x) do add(y, i, weighted) end
        -- one object counts for one output; names and functions are made anew for each
        elseif i == 1 or not metrics:is(x) then add(x, i, weighted) end
      end
    end
  end
  spread(c.metrics, false, "metrics")
  spread(c.weighted_metrics, true, "weighted_metrics")
  return out
end
return compiled
