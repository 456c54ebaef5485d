-- What the Keras optimizers share: numbers of a step, slots, clipping, decay of weights, averages, accumulation.
--
-- What changes from step to step (the rate, powers of beta) is computed on the host: in a graph it is fed, so the plan of a step
-- stays the same whatever a callback does to the rate. A rule is `update(self, v, g, lr)`; it emits ops that change v and
-- its slots, in either mode. `optimizer.learning_rate` and `optimizer.iterations` can be read and set at any time.
local tf, T = ...
local raw = tf.raw
local registry = T.include("keras", "registry")
local schedules = T.include("keras", "schedules")
local KEYS = tf.GraphKeys

local Optimizer = {}
local optimizers = registry("optimizers", "optimizer", Optimizer)
T.namespace "tf.keras.optimizers".Optimizer = Optimizer

-- ------------------------------------------------------------------------------------- making

local make = optimizers.class
function optimizers:class(name, signature, methods)
  local init = methods.init
  function methods:init(path)
    local rate = self.learning_rate
    if type(rate) == "table" and not T.kind(rate) and rate.class_name then self.learning_rate = schedules:deserialize(rate) end
    rate = self.learning_rate
    if type(rate) == "number" and rate < 0 then T.fail(path, "'learning_rate' must not be below 0, but is %g", rate) end
    local given = 0
    for _, clip in ipairs {"clipnorm", "clipvalue", "global_clipnorm"} do
      local value = self[clip]
      if value then
        given = given + 1
        if value < 0 then T.fail(path, "'%s' must not be below 0, but is %g", clip, value) end
      end
    end
    if given > 1 then T.fail(path, "only one of 'clipnorm', 'clipvalue' and 'global_clipnorm' can be set") end
    local n = self.gradient_accumulation_steps
    if n and n < 2 then T.fail(path, "'gradient_accumulation_steps' must be 2 or more, not %d", n) end
    if self.use_ema and (self.ema_momentum > 1 or self.ema_momentum < 0) then
      T.fail(path, "'ema_momentum' must lie within 0 and 1, not %g", self.ema_momentum)
    end
    if init then init(self, path) end
    -- all that moves
    self.made, self.by_name, self.slots, self.graphs = {}, {}, {}, setmetatable({}, {__mode = "k"})
    self.known, self.calls = {}, 0
  end
  methods.lenient = true
  local class = make(self, name, signature, methods)
  -- iterations counts updates; batches that only accumulate do not count. `lr` is Keras 2's name of the rate.
  class.__index = function(object, key)
    if key == "iterations" then
      local calls = rawget(object, "calls") or 0
      local every = rawget(object, "gradient_accumulation_steps")
      return every and calls // every or calls
    end
    if key == "lr" then return object.learning_rate end
    return class[key]
  end
  class.__newindex = function(object, key, value)
    if key == "iterations" then
      rawset(object, "calls", math.tointeger(value) * (object.gradient_accumulation_steps or 1))
    elseif key == "lr" then
      object.learning_rate = value
    else
      rawset(object, key, value)
    end
  end
  return class
end

-- The rate of the step that is about to be done.
function Optimizer:rate()
  local rate = self.learning_rate
  if T.kind(rate) then rate = T.kind(rate) == "Variable" and rate:value():item() or rate:item() end
  if type(rate) ~= "number" then rate = rate(self.calls) end
  if T.kind(rate) then rate = rate:item() end
  if self.decay ~= 0 then rate = rate / (1 + self.decay * self.iterations) end
  return rate
end
function Optimizer:step_numbers()
  local t = self.iterations + 1
  local out = self.numbers and self:numbers(t) or {}
  out.learning_rate = self:rate()
  out.ema = self.iterations == 0 and 0 or self.ema_momentum
  return out
end

-- A number that is the same at every step, as a value of the present mode.
function Optimizer:constant(name, dtype)
  local value = self[name]
  if tf.executing_eagerly() then
    local known = self.known[name]
    if not known or known.value ~= value or known.tensor.dtype ~= dtype then
      known = {value = value, tensor = tf.tensor(value, dtype)}
      self.known[name] = known
    end
    return known.tensor
  end
  return T.value(value, dtype)
end
-- A number of the step: fed in a graph.
function Optimizer:fed(name, dtype)
  if tf.executing_eagerly() then return tf.tensor(self.now[name], dtype) end
  local graph = tf.get_default_graph()
  local feeds = self.graphs[graph] or {}
  self.graphs[graph] = feeds
  local key = name .. ":" .. dtype
  if not feeds[key] then
    local c <close> = tf.control_dependencies(false)
    feeds[key] = {name = name, node = tf.placeholder(dtype, {}, {name = (self.name .. "/" .. name)})}
  end
  return feeds[key].node
end
-- What to feed at the step that is about to be done; into `feed`.
function Optimizer:feed(graph, feed)
  local numbers = self:step_numbers()
  for _, f in pairs(self.graphs[graph] or {}) do feed[f.node] = numbers[f.name] end
  return feed
end

-- ------------------------------------------------------------------------------------- variables

function Optimizer:scope_name() return getmetatable(self).variable_scope or self.name:lower() end
-- The slot of a variable, made at its first use: "adam/dense_kernel_momentum".
function Optimizer:slot(v, name, initial, shape)
  local of = self.slots[v]
  if not of then
    of = {}
    self.slots[v] = of
  end
  if of[name] then return of[name] end
  local label = ("%s/%s_%s"):format(self:scope_name(), (v.name:gsub(":%d+$", ""):gsub("/", "_")), name)
  local slot
  shape = shape or v.shape
  if v.graph then
    local guard <close> = v.graph:as_default()
    local absolute <close> = tf.name_scope("")
    local c <close> = tf.control_dependencies(false)
    local value
    if T.kind(initial) then
      value = initial
    else
      local s <close> = T.scope(label .. "/Initializer/")
      value = raw.Fill(shape, initial or 0, {T = v.dtype})
    end
    slot = T.variable {name = label, init = value, trainable = false}
    local data = T.graph_data()
    data.known = data.known or {}
    data.known[slot.op.name] = true
    tf.add_to_collection(KEYS.GLOBAL_VARIABLES, slot)
  else
    local fill = T.kind(initial) and initial or tf.eager(function() return T.value(raw.Fill(shape, initial or 0, {T = v.dtype})) end)
    slot = tf.eager(function() return T.variable {name = label, init = fill, trainable = false} end)
  end
  of[name] = slot
  self.made[#self.made + 1] = slot
  return slot
end
-- Makes all slots, so that they are in the order of the variables.
function Optimizer:build(list)
  for _, v in ipairs(list) do
    if self.use_ema then self:slot(v, "average") end
    if self.gradient_accumulation_steps then self:slot(v, "gradient_accumulator") end
  end
  for _, v in ipairs(list) do self:slots_of(v) end
  self.stepped_variables = {table.unpack(list)}
  self.built = true
end
function Optimizer:slots_of() end
-- The slots in the order of their making.
function Optimizer:variables() return {table.unpack(self.made)} end
Optimizer.get_slot = function(self, v, name) return self.slots[v] and self.slots[v][name] end
-- The value at this place of the order: behind the updates that were emitted before (v:value() is the value that the step begins with).
function Optimizer:fresh(v) return raw.ReadVariableOp(v, {dtype = v.dtype}) end
-- What Keras does to slices before it sums those of one row: their squares, their sizes. `g` is the dense gradient.
function Optimizer:per_slice(fn, g)
  local rows = self.rows
  if not rows then return fn(g) end
  return T.dense(tf.IndexedSlices(fn(rows.values), rows.indices, rows.dense_shape))
end
function Optimizer:square(g) return self:per_slice(raw.Square, g) end
-- For an op that moves `slot` to g^2 by `gain`: puts into the slot beforehand what the squares of single slices are more than the square
-- of their sum G; x (x - G) summed over the slices x of a row is just that.
function Optimizer:add_squares(slot, g, gain)
  local rows = self.rows
  if not rows or gain >= 1 then return end
  local more = rows.values * (rows.values - raw.GatherV2(g, rows.indices, 0))
  self.ops[#self.ops + 1] = raw.ResourceScatterAdd(slot, rows.indices, more * (gain / (1 - gain)), {dtype = slot.dtype})
end
-- Notes an assignment; the ops of a step are what emit() gives.
function Optimizer:assign(variable, value)
  self.ops[#self.ops + 1] = raw.AssignVariableOp(variable, value, {dtype = variable.dtype})
end

-- ------------------------------------------------------------------------------------- a step

-- Gradients for variables: slices become dense where the rule needs it. As in Keras, slices of one row are clipped one by one, and
-- each counts for itself in their norm.
local function clip(self, list)
  local function each(fn, of_slices)
    local out = {}
    for i, gv in ipairs(list) do
      local g = gv[1]
      local slices = T.kind(g) == "IndexedSlices"
      if slices and of_slices and not self.sum_repeated_rows then g = of_slices(g) else g = fn(slices and T.dense(g) or g) end
      out[i] = {g, gv[2]}
    end
    return out
  end
  if self.clipnorm then
    return each(function(g) return tf.clip_by_norm(g, self.clipnorm) end, function(g)
      local size = raw.Sqrt(tf.reduce_sum(raw.Square(g.values)))
      return T.dense(g) * (T.value(self.clipnorm, g.values.dtype) / raw.Maximum(size, T.value(self.clipnorm, g.values.dtype)))
    end)
  elseif self.clipvalue then
    local function clipped(g) return raw.ClipByValue(g, -self.clipvalue, self.clipvalue) end
    return each(clipped, function(g) return tf.IndexedSlices(clipped(g.values), g.indices, g.dense_shape) end)
  elseif self.global_clipnorm then
    local squares = nil
    local function add(x)
      local s = tf.reduce_sum(raw.Square(tf.cast(x, "float32")))
      squares = squares and squares + s or s
    end
    list = each(function(g)
      add(g)
      return g
    end, function(g)
      add(g.values)
      return T.dense(g)
    end)
    if not squares then return list end
    local top = T.value(self.global_clipnorm, "float32")
    local scale = top / raw.Maximum(raw.Sqrt(squares), top)
    for i, gv in ipairs(list) do list[i] = {gv[1] * tf.cast(scale, gv[1].dtype), gv[2]} end
  end
  return list
end
local function scaled(g, k)
  if T.kind(g) == "IndexedSlices" then return tf.IndexedSlices(g.values * k, g.indices, g.dense_shape) end
  return g * k
end
-- Variables (or parts of their names) that weight decay leaves alone.
function Optimizer:exclude_from_weight_decay(var_list, var_names)
  self.without_decay = self.without_decay or {}
  for _, v in ipairs(var_list or {}) do self.without_decay[v] = true end
  for _, name in ipairs(var_names or {}) do table.insert(self.without_decay, name) end
end
local function decays(self, v)
  local without = self.without_decay
  if not without then return true end
  if without[v] then return false end
  for _, part in ipairs(without) do if v.name:find(part, 1, true) then return false end end
  return true
end

-- Emits one update; pairs are {gradient, variable}. Gives the ops (in a graph they have to be run; eager, it is done).
-- constraint(v) tells what a variable is put back into, or nil.
function Optimizer:emit(list, constraint)
  self.ops = {}
  local vars = {}
  for i, gv in ipairs(list) do vars[i] = gv[2] end
  if not self.built then self:build(vars) end
  if tf.executing_eagerly() then self.now = self:step_numbers() end
  if self.loss_scale_factor then
    for i, gv in ipairs(list) do list[i] = {scaled(gv[1], 1 / self.loss_scale_factor), gv[2]} end
  end
  local every = self.gradient_accumulation_steps
  if every then
    for i, gv in ipairs(list) do
      local g = T.kind(gv[1]) == "IndexedSlices" and T.dense(gv[1]) or gv[1]
      list[i] = {(g + self:slot(gv[2], "gradient_accumulator"):value()) / every, gv[2]}
    end
  end
  list = clip(self, list)
  for _, gv in ipairs(list) do
    local g, v = gv[1], gv[2]
    local lr = self:fed("learning_rate", v.dtype)
    local rate = self.decay_of and self:decay_of(v) or not self.decay_of and self.weight_decay
    if rate and decays(self, v) then
      self.ops[#self.ops + 1] = raw.AssignSubVariableOp(v, v:value() * (lr * rate), {dtype = v.dtype})
    end
    local op
    self.rows = nil
    if T.kind(g) == "IndexedSlices" then
      op = self.update_rows and self:update_rows(v, g.values, g.indices, lr)
      if not op then
        if not self.sum_repeated_rows then self.rows = g end
        g = T.dense(g)
      end
    end
    op = op or self:update(v, g, lr) -- which may append to the list itself
    self.ops[#self.ops + 1] = op
  end
  if every then
    for _, v in ipairs(vars) do
      local slot = self:slot(v, "gradient_accumulator")
      self:assign(slot, raw.ZerosLike(slot:value()))
    end
  end
  if self.use_ema then
    for _, v in ipairs(vars) do
      local average, keep = self:slot(v, "average"), self:fed("ema", v.dtype)
      self:assign(average, average:value() * keep + self:fresh(v) * (-keep + 1))
    end
  end
  for _, v in ipairs(vars) do
    local c = constraint and constraint(v)
    if c then self:assign(v, c(self:fresh(v))) end
  end
  local ops = self.ops
  self.ops, self.rows = nil, nil
  return ops
end
-- Adds gradients to what is accumulated.
function Optimizer:emit_accumulation(list)
  local ops, vars = {}, {}
  for i, gv in ipairs(list) do vars[i] = gv[2] end
  if not self.built then self:build(vars) end
  for i, gv in ipairs(list) do
    local g = T.kind(gv[1]) == "IndexedSlices" and T.dense(gv[1]) or gv[1]
    if self.loss_scale_factor then g = g * (1 / self.loss_scale_factor) end
    local slot = self:slot(gv[2], "gradient_accumulator")
    ops[i] = raw.AssignAddVariableOp(slot, g, {dtype = slot.dtype})
  end
  return ops
end
-- Puts averages into the variables.
function Optimizer:emit_overwrite(list)
  local ops = {}
  for i, v in ipairs(list) do
    ops[i] = raw.AssignVariableOp(v, self:fresh(self:slot(v, "average")), {dtype = v.dtype})
  end
  return ops
end

-- What the next batch does: "accumulate" or "update"; and whether averages overwrite the variables behind it.
function Optimizer:next_action()
  local every = self.gradient_accumulation_steps
  local action = every and (self.calls + 1) % every ~= 0 and "accumulate" or "update"
  local overwrite = self.use_ema and self.ema_overwrite_frequency and (self.iterations + 1) % self.ema_overwrite_frequency == 0
  return action, overwrite
end
-- Counts a batch.
function Optimizer:stepped_on()
  local before = self.iterations
  self.calls = self.calls + 1
  if self.stepped and self.iterations > before then self:stepped(self.iterations) end
end

-- Define-by-run: apply_gradients({{g, v}, ...}), or apply_gradients(gradients, variables).
function Optimizer:apply_gradients(grads, variables)
  local list = {}
  if type(variables) == "table" and T.kind(variables[1]) == "Variable" then
    if #grads ~= #variables then T.fail("apply_gradients", "%d gradients for %d variables", #grads, #variables) end
    for i, v in ipairs(variables) do if grads[i] then list[#list + 1] = {grads[i], v} end end
  else
    for i, gv in ipairs(grads) do
      if T.kind(gv) or type(gv) ~= "table" or T.kind(gv[2]) ~= "Variable" then T.fail("apply_gradients", "entry %d is no pair {gradient, variable}", i) end
      if gv[1] then list[#list + 1] = {gv[1], gv[2]} end
    end
  end
  if #list == 0 then T.fail("apply_gradients", "no variable has a gradient") end
  if list[1][2].graph then
    T.fail_code(12, "apply_gradients", "a Keras optimizer works on define-by-run variables and in model:fit; in a graph take tf.train's optimizers")
  end
  tf.eager(function()
    local vars = {}
    for i, gv in ipairs(list) do vars[i] = gv[2] end
    local action, overwrite = self:next_action()
    if action == "accumulate" then
      self:emit_accumulation(list)
    else
      self:emit(list, T.keras_constraint_of)
    end
    if overwrite then self:emit_overwrite(vars) end
    self:stepped_on()
  end)
  return self.iterations
end
Optimizer.apply = Optimizer.apply_gradients
-- minimize(loss function, variables)
function Optimizer:minimize(loss, var_list)
  if type(loss) ~= "function" then T.fail("minimize", "the loss is a function without arguments in define-by-run mode; a model is trained by compile and fit") end
  local vars = var_list or tf.trainable_variables()
  local grads
  do
    local tape <close> = tf.GradientTape()
    local value = loss()
    tape:stop()
    grads = tape:gradient(value, vars)
  end
  return self:apply_gradients(grads, vars)
end
-- At the end of training averages that never overwrote are put into the variables.
function Optimizer:finalize_variable_values(list)
  if not self.use_ema then return end
  for _, v in ipairs(list) do
    local average = self:get_slot(v, "average")
    if average then T.keras_load(v, T.keras_read(average)) end
  end
end

-- ------------------------------------------------------------------------------------- saving

-- Everything that a later run needs: iterations, then slots.
function Optimizer:get_weights()
  local out = {tf.tensor(self.calls, "int64")}
  for _, v in ipairs(self.made) do out[#out + 1] = v.graph and T.keras_read(v) or v:value() end
  return out
end
function Optimizer:set_weights(list)
  if #list ~= #self.made + 1 then
    T.fail("set_weights", "optimizer '%s' has %d weights (iterations and slots), %d were given", self.name, #self.made + 1, #list)
  end
  self.calls = T.kind(list[1]) and list[1]:item() or list[1]
  self.calls = math.tointeger(self.calls)
  for i, v in ipairs(self.made) do
    if v.graph then T.keras_load(v, list[i + 1]) else v:assign(list[i + 1]) end
  end
end
local plain_config = Optimizer.get_config
function Optimizer:get_config()
  local out = plain_config(self)
  local rate = self.learning_rate
  if T.kind(rate) then out.learning_rate = self:rate()
  elseif type(rate) == "table" then out.learning_rate = schedules:serialize(rate)
  elseif type(rate) == "function" then out.learning_rate = self:rate() end
  return out
end
function Optimizer:__tostring() return ("%s(learning_rate=%g)"):format(getmetatable(self).__name, self:rate()) end
T.namespace "tf.keras.optimizers".schedules = T.namespace "tf.keras.optimizers.schedules"
return optimizers
