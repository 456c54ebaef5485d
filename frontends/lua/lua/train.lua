-- provides tf.train: Optimizer get_global_step get_or_create_global_step create_global_step assert_global_step global_step ExponentialMovingAverage
-- What all optimizers share: slots, minimize, compute_gradients, apply_gradients in both modes.
local tf, T = ...
local raw, def, scope = tf.raw, T.def, T.scope
local train = T.namespace "tf.train"
local KEYS = tf.GraphKeys

-- ------------------------------------------------------------------------------------- global step

def("tf.train.get_global_step", "graph?", function(graph)
  local list = graph and graph:get_collection(KEYS.GLOBAL_STEP) or tf.get_collection(KEYS.GLOBAL_STEP)
  return list[1]
end)
def("tf.train.create_global_step", "graph?", function(graph)
  if train.get_global_step(graph) then T.fail("tf.train.create_global_step", "there is a global step already") end
  local guard <close> = graph and graph:as_default() or nil
  local v = tf.Variable(tf.tensor(0, "int64"), {trainable = false, name = "global_step",
    collections = {KEYS.GLOBAL_VARIABLES, KEYS.GLOBAL_STEP}})
  return v
end)
def("tf.train.get_or_create_global_step", "graph?", function(graph)
  return train.get_global_step(graph) or train.create_global_step(graph)
end)
def("tf.train.assert_global_step", "global_step_tensor", function(v)
  if not v.dtype:find "int" then T.fail("tf.train.assert_global_step", "the global step must be whole, not %s", v.dtype) end
end)
def("tf.train.global_step", "sess global_step_tensor", function(sess, v)
  if not v.graph then return v:item() end
  return sess:run(v)
end)

-- ------------------------------------------------------------------------------------- the base

local Optimizer = {GATE_NONE = 0, GATE_OP = 1, GATE_GRAPH = 2}
Optimizer.__index = Optimizer
train.Optimizer = Optimizer

-- Makes the class of an optimizer: `signature` in TensorFlow's order, `fields` hold the arguments.
function T.optimizer(path, signature, methods)
  local class = setmetatable(methods, Optimizer)
  class.__index = class
  class.__name = path:match "[^.]*$"
  class.signature = signature
  local names = {}
  for word in signature:gmatch "%S+" do names[#names + 1] = word:match "^[^|?=]*" end
  def(path, signature, function(...)
    local self = setmetatable({slots = {}, order = {}, known = {}, made = setmetatable({}, {__mode = "k"})}, class)
    for i, name in ipairs(names) do self[name] = (select(i, ...)) end
    if self.check then self:check(path) end
    return self
  end)
  return class
end

-- A hyper-parameter as a value of a dtype: numbers become one constant per type and graph.
function Optimizer:hyper(name, dtype)
  local value = self[name]
  if type(value) == "function" then value = value() end
  if T.kind(value) then
    local x = T.value(value)
    if x.dtype == dtype then return x end
    return raw.Cast(x, {DstT = dtype})
  end
  if tf.executing_eagerly() then
    local known = self.known[name]
    if not known or known.value ~= value or known.tensor.dtype ~= dtype then
      known = {value = value, tensor = tf.tensor(value, dtype)}
      self.known[name] = known
    end
    return known.tensor
  end
  local graph = tf.get_default_graph()
  local cache = self.made[graph] or {}
  self.made[graph] = cache
  local key = name .. ":" .. dtype
  if not cache[key] then
    local c <close> = tf.control_dependencies(false)
    local s <close> = self.root and tf.name_scope(self.root) or nil
    cache[key] = tf.constant(value, {dtype = dtype, name = name})
  end
  return cache[key]
end

local function key_of(v) return v end

-- The slot of a variable: a variable named VAR/Optimizer, made at its first use.
function Optimizer:slot(v, slot_name, initial, op_name)
  local named = self.slots[slot_name]
  if not named then
    named = {}
    self.slots[slot_name] = named
    self.order[#self.order + 1] = slot_name
  end
  local key = key_of(v)
  if not named[key] then
    local label = v.name:gsub(":%d+$", "") .. "/" .. (op_name or self.name or self.__name)
    local absolute <close> = not tf.executing_eagerly() and tf.name_scope("") or nil
    local c <close> = tf.control_dependencies(false)
    local value = initial
    if type(initial) == "number" then
      local s <close> = T.scope(label .. "/Initializer/")
      value = raw.Fill(v.shape, initial, {T = v.dtype})
      if tf.executing_eagerly() then value = T.value(value) end
    end
    local slot = T.variable{name = label, init = value, trainable = false}
    named[key] = slot
    if not tf.executing_eagerly() then
      local data = T.graph_data()
      data.known = data.known or {}
      data.known[slot.op.name] = true
      tf.add_to_collection(KEYS.GLOBAL_VARIABLES, slot)
    end
  end
  return named[key]
end
function Optimizer:zeros(v, slot_name, op_name) return self:slot(v, slot_name, 0, op_name) end
function Optimizer:get_slot(v, slot_name) return self.slots[slot_name] and self.slots[slot_name][key_of(v)] end
function Optimizer:get_slot_names() return {table.unpack(self.order)} end
function Optimizer:get_name() return self.name or self.__name end
-- Slots and other variables in the order of making, by variable name.
function Optimizer:variables()
  local out = {}
  for _, slot_name in ipairs(self.order) do
    for _, s in pairs(self.slots[slot_name]) do out[#out + 1] = s end
  end
  for _, s in ipairs(self.extra or {}) do out[#out + 1] = s end
  table.sort(out, function(a, b) return a.name < b.name end)
  return out
end
-- A variable that belongs to no other one: powers of beta.
function Optimizer:scalar(name, value, dtype)
  self.extra = self.extra or {}
  local graph = tf.executing_eagerly() and "eager" or tf.get_default_graph()
  for _, s in ipairs(self.extra) do
    if s.graph == (graph ~= "eager" and graph or nil) and self.extra[s] == name then return s end
  end
  local absolute <close> = not tf.executing_eagerly() and tf.name_scope("") or nil
  local c <close> = tf.control_dependencies(false)
  local s = T.variable{name = name, init = tf.tensor(value, dtype), trainable = false}
  self.extra[#self.extra + 1] = s
  self.extra[s] = name
  if graph ~= "eager" then
    local data = T.graph_data()
    data.known = data.known or {}
    data.known[s.op.name] = true
    tf.add_to_collection(KEYS.GLOBAL_VARIABLES, s)
  end
  return s
end

local function variables_of(list)
  if list == nil then return tf.trainable_variables() end
  if T.kind(list) then return {list} end
  return list
end

-- compute_gradients(loss, var_list): a list of {gradient or false, variable}. In define-by-run mode the loss
-- is a function without arguments.
local compute = T.bind("compute_gradients", "self loss var_list? gate_gradients? aggregation_method? colocate_gradients_with_ops=false grad_loss?",
  function(self, loss, var_list, _, _, _, grad_loss)
    local vars, grads = nil, nil
    if type(loss) == "function" then
      local tape <close> = tf.GradientTape()
      local value = loss()
      vars = variables_of(var_list)
      grads = tape:gradient(value, vars, grad_loss and {output_gradients = grad_loss} or nil)
    elseif T.kind(loss) == "Tensor" then
      T.fail("compute_gradients", "in define-by-run mode the loss is a function: opt:minimize(function() return ... end)")
    else
      local guard <close> = loss.graph:as_default()
      vars = variables_of(var_list)
      if #vars == 0 then T.fail("compute_gradients", "there are no trainable variables") end
      for i, v in ipairs(vars) do
        if T.kind(v) ~= "Variable" then T.fail("compute_gradients", "var_list[%d] is no variable", i) end
      end
      grads = tf.gradients(loss, vars, grad_loss)
    end
    local out = {}
    for i, v in ipairs(vars) do out[i] = {grads[i], v} end
    return out
  end)
function Optimizer.compute_gradients(...) return compute(...) end

-- Rows named twice are added up first: optimizers see each row once.
local function unique_rows(g)
  local rows, at = tf.unique(g.indices)
  local n = raw.StridedSlice(raw.Shape(rows), {0}, {1}, {1}, {shrink_axis_mask = 1})
  return raw.UnsortedSegmentSum(g.values, at, n), rows
end

local function apply_one(self, g, v)
  if T.kind(g) == "IndexedSlices" then
    if self.apply_sparse then
      local values, rows = g.values, g.indices
      if not self.repeats then values, rows = unique_rows(g) end
      return self:apply_sparse(v, values, rows)
    end
    g = T.dense(g)
  end
  return self:apply_dense(v, g)
end

-- apply_gradients(pairs, global_step), or apply_gradients(gradients, variables, global_step).
local function is_variables(x)
  return type(x) == "table" and not T.kind(x) and T.kind(x[1]) == "Variable"
end
function Optimizer.apply_gradients(self, grads, second, ...)
  local args = table.pack(...)
  if is_variables(second) then
    local zipped = {}
    for i, v in ipairs(second) do zipped[i] = {grads[i], v} end
    if #grads ~= #second then T.fail("apply_gradients", "%d gradients for %d variables", #grads, #second) end
    return self:apply_pairs(zipped, table.unpack(args, 1, args.n))
  end
  return self:apply_pairs(grads, second, table.unpack(args, 1, args.n))
end
local apply = T.bind("apply_gradients", "self grads_and_vars global_step? name?", function(self, list, global_step, name)
  local used, names = {}, {}
  for i, gv in ipairs(list) do
    if T.kind(gv) or type(gv) ~= "table" or T.kind(gv[2]) ~= "Variable" then
      T.fail("apply_gradients", "entry %d is no pair {gradient, variable}", i)
    end
    names[i] = gv[2].name
    if gv[1] then used[#used + 1] = gv end
  end
  if #used == 0 then
    T.fail("apply_gradients", "no variable has a gradient: %s", table.concat(names, ", "))
  end
  local first = used[1][2]
  if not first.graph then
    self:prepare(used)
    for _, gv in ipairs(used) do apply_one(self, gv[1], gv[2]) end
    if self.finish then self:finish(used) end
    if global_step then global_step:assign_add(1) end
    return true
  end
  local guard <close> = first.graph:as_default()
  local s <close> = scope(name, self.name or self.__name)
  self.root = T.name_scope()
  self:prepare(used)
  local updates = {}
  for _, gv in ipairs(used) do
    local inner <close> = tf.name_scope("update_" .. gv[2].op.name:gsub("/", "_"))
    updates[#updates + 1] = apply_one(self, gv[1], gv[2])
  end
  if self.finish then
    local c <close> = tf.control_dependencies(updates)
    for _, op in ipairs(self:finish(used)) do updates[#updates + 1] = op end
  end
  local done = tf.group(updates, {name = "update"})
  if global_step then
    local c <close> = tf.control_dependencies{done}
    done = raw.AssignAddVariableOp(global_step, 1, {dtype = global_step.dtype, name = "value"})
  end
  tf.add_to_collection(KEYS.TRAIN_OP, done)
  return done
end)
Optimizer.apply_pairs = apply
function Optimizer:prepare() end

local minimize = T.bind("minimize", "self loss global_step? var_list? gate_gradients? aggregation_method? colocate_gradients_with_ops=false name? grad_loss?",
  function(self, loss, global_step, var_list, _, _, _, name, grad_loss)
    local list = compute(self, loss, var_list, {grad_loss = grad_loss})
    local any, names = false, {}
    for i, gv in ipairs(list) do
      any = any or gv[1]
      names[i] = gv[2].name
    end
    if not any then
      T.fail("minimize", "the loss depends on none of the variables: %s", table.concat(names, ", "))
    end
    return apply(self, list, global_step, name)
  end)
function Optimizer.minimize(...) return minimize(...) end

-- ------------------------------------------------------------------------------------- averages

local Average = {}
Average.__index = Average
-- Shadows of variables: shadow = decay * shadow + (1 - decay) * variable at each run of apply().
def("tf.train.ExponentialMovingAverage", "decay num_updates? zero_debias=false name=ExponentialMovingAverage",
  function(decay, num_updates, zero_debias, name)
    return setmetatable({decay = decay, num_updates = num_updates, zero_debias = zero_debias, name = name, shadows = {}, biased = {}}, Average)
  end)
-- A value read behind what was made before: after a step, not as the step began.
local function present(v)
  if T.kind(v) == "Variable" and v.graph then return raw.ReadVariableOp(v, {dtype = v.dtype}) end
  return T.value(v)
end
function Average:rate(dtype)
  if not self.num_updates then return T.value(self.decay, dtype) end
  local n = tf.cast(present(self.num_updates), dtype)
  return raw.Minimum(T.value(self.decay, dtype), (n + 1) / (n + 10))
end
-- A variable of an average: beside the trained ones, not trained, initialized with all others.
local function average_variable(label, init)
  local absolute <close> = not tf.executing_eagerly() and tf.name_scope("") or nil
  local c <close> = tf.control_dependencies(false)
  local v = T.variable{name = label, init = type(init) == "function" and init() or init, trainable = false}
  if v.graph then
    local data = T.graph_data()
    data.known = data.known or {}
    data.known[v.op.name] = true
    tf.add_to_collection(KEYS.GLOBAL_VARIABLES, v)
  end
  return v
end
function Average:apply(list)
  list = list or tf.trainable_variables()
  local ops = {}
  for _, v in ipairs(list) do
    if not self.shadows[v] then
      local variable = T.kind(v) == "Variable"
      local label = (variable and v.name or v.op.name):gsub(":%d+$", "") .. "/" .. self.name
      local function zeros() return tf.zeros(v.shape, v.dtype) end
      local shadow = average_variable(label, variable and (v.graph and v.initial_value or v:value()) or zeros)
      self.shadows[v] = shadow
      if shadow.graph and variable then tf.add_to_collection(KEYS.MOVING_AVERAGE_VARIABLES, v) end
      -- The average of a tensor starts at zero: what that start weighs is divided out.
      if self.zero_debias and not variable then
        self.biased[shadow] = {sum = average_variable(label .. "/biased", zeros),
          steps = average_variable(label .. "/local_step", function() return tf.zeros({}, v.dtype) end)}
      end
    end
  end
  local s <close> = scope(self.name)
  for _, v in ipairs(list) do
    local shadow = self.shadows[v]
    local value = present(v)
    local keep = self:rate(v.dtype)
    local biased = self.biased[shadow]
    if biased then
      local sum = biased.sum:assign_sub((biased.sum:value() - value) * (-keep + 1))
      local steps = biased.steps:assign_add(1)
      ops[#ops + 1] = raw.AssignVariableOp(shadow, sum / (-raw.Pow(keep, steps) + 1), {dtype = v.dtype})
    else
      ops[#ops + 1] = raw.AssignSubVariableOp(shadow, (shadow:value() - value) * (-keep + 1), {dtype = v.dtype})
    end
  end
  return tf.group(ops)
end
function Average:average(v) return self.shadows[v] end
function Average:average_name(v)
  if self.shadows[v] then return self.shadows[v].op.name end
  return v.op.name .. "/" .. self.name
end
-- Name in the checkpoint -> variable, so that averages are restored into the variables themselves.
function Average:variables_to_restore(moving)
  local out = {}
  for _, v in ipairs(moving or tf.moving_average_variables()) do out[self:average_name(v)] = v end
  for _, v in ipairs(tf.global_variables()) do
    local covered = false
    for m, shadow in pairs(self.shadows) do covered = covered or m == v or shadow == v end
    if not covered then out[v.op.name] = v end
  end
  return out
end
