-- The base of all modules: parameters, buffers, modes, state dictionaries, Torch7's forward and backward.
--
-- A module is called, net(x), or, as in Torch7, run by net:forward(x) and net:backward(x, gradOutput), which adds to the gradients that
-- the module keeps. A class of a script says forward(self, x), as in PyTorch; those of this library say updateOutput.
local tf, T = ...
local nn = T.namespace "tf.torch.nn"
local Module = {__name = "Module"}
Module.__index = Module

local function is_module(x) return type(x) == "table" and rawget(x, "_modules") ~= nil end
local function is_parameter(x) return T.kind(x) == "Variable" end
nn.is_module = is_module

-- ------------------------------------------------------------------------------------- classes

local function begin(self)
  rawset(self, "_parameters", {}) -- {name, variable} in the order of their making
  rawset(self, "_buffers", {})
  rawset(self, "_modules", {})
  rawset(self, "train_mode", true)
  rawset(self, "_gradients", {}) -- by variable, what backward has added up
  return self
end
local function entry_of(list, name)
  for i, e in ipairs(list) do if e[1] == name then return e, i end end
end
local function assign(self, key, value)
  if is_parameter(value) and rawget(self, "_parameters") then
    local e = entry_of(self._parameters, key)
    if e then e[2] = value else table.insert(self._parameters, {key, value}) end
  elseif is_module(value) and rawget(self, "_modules") then
    local e = entry_of(self._modules, key)
    if e then e[2] = value else table.insert(self._modules, {key, value}) end
  end
  rawset(self, key, value)
end
local function new_class(name, base, methods)
  local class = methods or {}
  class.__name, class.base = name, base
  class.__index = function(_, key)
    local value = class[key]
    if value ~= nil then return value end
    return nil
  end
  class.__newindex = assign
  class.__call = function(self, ...) return self:run(...) end
  class.__tostring = function(self) return self:describe "" end
  setmetatable(class, {__index = base, __call = function(c, ...)
    local self = begin(setmetatable({}, c))
    if c.init then c.init(self, ...) end
    return self
  end})
  return class
end
nn.new_class = new_class
-- nn.Module:extend("Net", {init = function(self) self.fc = nn.Linear(2, 1) end, forward = function(self, x) return self.fc(x) end})
function Module.extend(base, name, methods)
  if type(name) == "table" then name, methods = "Module", name end
  if type(name) ~= "string" then T.fail("nn.Module:extend", "expects a name and a table of methods, not %s", T.shown(name)) end
  if methods ~= nil and type(methods) ~= "table" then T.fail("nn.Module:extend", "the methods must be a table, not %s", T.shown(methods)) end
  return new_class(name, base, methods)
end
-- A class of this library: nn.NAME(...). Wrong arguments are told at the script's line.
function nn.publish(name, class)
  for key, fn in pairs(class) do
    if type(fn) == "function" and not key:find "^_" then
      local inner = key == "init" or key == "updateOutput" or key == "setup" or key == "loss"
      class[key] = T.guard(inner and "nn." .. name or "nn." .. name .. ":" .. key, fn)
    end
  end
  rawset(nn, name, class)
end
function nn.class(name, methods, base)
  local class = new_class(name, base or Module, methods)
  nn.publish(name, class)
  return class
end
-- nn.Parameter(tensor): a variable that is trained.
function nn.Parameter(value)
  if not T.kind(value) then value = tf.tensor(value) end
  return tf.eager(function() return T.variable {name = "parameter", init = value, trainable = true} end)
end
local function variable(value, trainable)
  return tf.eager(function() return T.variable {name = trainable and "parameter" or "buffer", init = T.value(value), trainable = trainable} end)
end
function Module.parameter(self, name, value)
  self[name] = variable(value, true)
  return self[name]
end
function Module.register_parameter(self, name, value) self[name] = is_parameter(value) and value or nn.Parameter(value) end
function Module.register_buffer(self, name, value)
  local v = variable(T.kind(value) and value or tf.tensor(value), false)
  table.insert(self._buffers, {name, v})
  rawset(self, name, v)
  return v
end
function Module.add_module(self, name, module)
  if not is_module(module) then T.fail("add_module", "'%s' must be a module, not %s", name, T.kind(module) or type(module)) end
  self[name] = module
end

-- ------------------------------------------------------------------------------------- running

local function value_of(x)
  if T.kind(x) then return x end
  if type(x) == "table" and (T.kind(x[1]) or type(x[1]) == "table" and T.kind(x[1][1])) then return x end -- a table of tensors
  return tf.tensor(x)
end
function Module.run(self, ...)
  local fn = self.forward ~= Module.forward and self.forward or self.updateOutput
  if not fn then T.fail(getmetatable(self).__name, "the class says neither forward(self, x) nor updateOutput(self, x)") end
  local args = table.pack(...)
  if fn == self.updateOutput then -- of this library: values, numbers, or tables of them
    for i = 1, math.max(args.n, 1) do
      local x = args[i]
      if T.kind(x) == nil and type(x) ~= "table" and type(x) ~= "number" then
        T.fail("nn." .. getmetatable(self).__name, "argument %d must be a tensor, not %s", i, T.shown(x))
      end
      if not is_module(x) then args[i] = value_of(x) end
    end
  end
  return tf.eager(function()
    for _, hook in ipairs(rawget(self, "_before") or {}) do hook(self, table.unpack(args, 1, args.n)) end
    local results = table.pack(fn(self, table.unpack(args, 1, args.n)))
    for _, hook in ipairs(rawget(self, "_after") or {}) do hook(self, args[1], results[1]) end
    return table.unpack(results, 1, results.n)
  end)
end
function Module.register_forward_hook(self, fn)
  local list = rawget(self, "_after") or {}
  rawset(self, "_after", list)
  list[#list + 1] = fn
end
function Module.register_forward_pre_hook(self, fn)
  local list = rawget(self, "_before") or {}
  rawset(self, "_before", list)
  list[#list + 1] = fn
end
local function each_tensor(x, fn)
  if T.kind(x) then fn(x) elseif type(x) == "table" then for _, v in ipairs(x) do each_tensor(v, fn) end end
end
-- Torch7: remembers the way, so that backward can go it.
function Module.forward(self, x)
  x = value_of(x)
  return tf.eager(function()
    local tape = tf.GradientTape {persistent = true}
    each_tensor(x, function(v) if v.dtype:find "float" then tape:watch(v) end end)
    rawset(self, "_input", x)
    local y = self:run(x)
    tape:stop()
    rawset(self, "_tape", tape)
    rawset(self, "output", y)
    return y
  end)
end
-- Gradients of sum(output * gradOutput): for the input (given back, kept as gradInput), and for the parameters, scaled and added to what is there.
function Module.backward(self, x, grad, scale)
  local tape = rawget(self, "_tape")
  if not tape then T.fail("backward", "%s was not run forward yet", getmetatable(self).__name) end
  x = value_of(x)
  if T.kind(x) and T.kind(self._input) and x ~= self._input and x:bytes() ~= self._input:bytes() then
    T.fail("backward", "the input is not the one that forward was called with")
  end
  grad = value_of(grad)
  return tf.eager(function()
    local list = self:parameters()
    local sources, inputs = {}, {}
    each_tensor(self._input, function(v) if v.dtype:find "float" then inputs[#inputs + 1] = v end end)
    for i, v in ipairs(inputs) do sources[i] = v end
    for _, v in ipairs(list) do sources[#sources + 1] = v end
    local targets, seeds = {}, {}
    each_tensor(self.output, function(v) targets[#targets + 1] = v end)
    each_tensor(grad, function(v) seeds[#seeds + 1] = v end)
    for i, y in ipairs(targets) do
      if table.concat(seeds[i].shape, "x") ~= table.concat(y.shape, "x") then
        T.fail("backward", "gradOutput has the shape {%s}, the output {%s}", table.concat(seeds[i].shape, ", "), table.concat(y.shape, ", "))
      end
    end
    local got = tape:gradient(#targets == 1 and targets[1] or targets, sources, {output_gradients = #seeds == 1 and seeds[1] or seeds})
    for i, v in ipairs(list) do
      local g = got[#inputs + i]
      if g then
        g = T.dense(g)
        if scale and scale ~= 1 then g = g * scale end
        local before = self._gradients[v]
        self._gradients[v] = before and before + g or g
      end
    end
    local gradInput = got[1] or nil
    if not T.kind(self._input) then
      gradInput = {}
      for i = 1, #inputs do gradInput[i] = got[i] end
    end
    rawset(self, "gradInput", gradInput)
    return gradInput
  end)
end
function Module.zeroGradParameters(self) rawset(self, "_gradients", {}) end
Module.zero_grad = Module.zeroGradParameters
function Module.updateParameters(self, rate)
  for _, v in ipairs(self:parameters()) do
    local g = self._gradients[v]
    if g then v:assign(v:value() - g * rate) end
  end
end
-- The gradients that backward has added up, in the order of parameters(); false where there is none.
function Module.gradients(self)
  local out = {}
  for i, v in ipairs(self:parameters()) do out[i] = self._gradients[v] or false end
  return out
end

-- ------------------------------------------------------------------------------------- what is inside

local function walk(self, prefix, fn, seen)
  if seen[self] then return end
  seen[self] = true
  fn(prefix, self)
  for _, e in ipairs(self._modules) do walk(e[2], prefix == "" and e[1] or prefix .. "." .. e[1], fn, seen) end
end
function Module.named_modules(self)
  local out = {}
  walk(self, "", function(name, module) out[#out + 1] = {name, module} end, {})
  return out
end
function Module.modules(self)
  local out = {}
  walk(self, "", function(_, module) out[#out + 1] = module end, {})
  return out
end
Module.listModules = Module.modules
function Module.children(self)
  local out = {}
  for i, e in ipairs(self._modules) do out[i] = e[2] end
  return out
end
local function named(self, field)
  local out, seen = {}, {}
  walk(self, "", function(prefix, module)
    for _, e in ipairs(module[field]) do
      if not seen[e[2]] then
        seen[e[2]] = true
        out[#out + 1] = {prefix == "" and e[1] or prefix .. "." .. e[1], e[2]}
      end
    end
  end, {})
  return out
end
function Module.named_parameters(self) return named(self, "_parameters") end
function Module.named_buffers(self) return named(self, "_buffers") end
-- The parameters; as second value, Torch7's way, the gradients.
function Module.parameters(self)
  local out = {}
  for i, e in ipairs(named(self, "_parameters")) do out[i] = e[2] end
  return out
end
function Module.findModules(self, name)
  local out = {}
  name = name:gsub("^nn%.", "")
  walk(self, "", function(_, module) if getmetatable(module).__name == name then out[#out + 1] = module end end, {})
  return out
end
function Module.apply(self, fn)
  for _, module in ipairs(self:modules()) do fn(module) end
  return self
end
local function set_mode(self, on)
  walk(self, "", function(_, module) rawset(module, "train_mode", on) end, {})
  return self
end
function Module.train(self, on) return set_mode(self, on ~= false) end
function Module.training(self) return set_mode(self, true) end
function Module.evaluate(self) return set_mode(self, false) end
Module.eval = Module.evaluate
-- {name = tensor} of all parameters and buffers, as PyTorch names them: "0.weight", "fc.bias".
function Module.state_dict(self)
  local out = {}
  for _, list in ipairs {self:named_parameters(), self:named_buffers()} do
    for _, e in ipairs(list) do out[e[1]] = e[2]:value() end
  end
  return out
end
-- strict: no name may be missing or left over. Gives lists of what was missing and left over.
function Module.load_state_dict(self, state, strict)
  if type(state) ~= "table" or T.kind(state) then T.fail("load_state_dict", "expects a table of tensors by name, not %s", T.shown(state)) end
  if type(strict) == "table" then strict = strict.strict end
  local missing, unexpected, known = {}, {}, {}
  local put = {}
  for _, list in ipairs {self:named_parameters(), self:named_buffers()} do
    for _, e in ipairs(list) do
      known[e[1]] = true
      local value = state[e[1]]
      if value == nil then missing[#missing + 1] = e[1] else
        if not T.kind(value) then T.fail("load_state_dict", "'%s' must be a tensor, not %s", e[1], T.shown(value)) end
        if table.concat(value.shape, "x") ~= table.concat(e[2].shape, "x") then
          T.fail("load_state_dict", "'%s' has the shape {%s}, the module's {%s}", e[1], table.concat(value.shape, ", "), table.concat(e[2].shape, ", "))
        end
        put[#put + 1] = {e[2], value}
      end
    end
  end
  for name in pairs(state) do if not known[name] then unexpected[#unexpected + 1] = name end end
  table.sort(unexpected)
  if strict ~= false and (#missing > 0 or #unexpected > 0) then
    T.fail("load_state_dict", "%s%s", #missing > 0 and "missing: " .. table.concat(missing, ", ") or "",
      #unexpected > 0 and (#missing > 0 and "; " or "") .. "not the module's: " .. table.concat(unexpected, ", ") or "")
  end
  tf.eager(function()
    for _, p in ipairs(put) do p[1]:assign(tf.cast(p[2], p[1].dtype)) end
  end)
  return missing, unexpected
end
-- A copy with parameters of its own.
function Module.clone(self)
  local copies = {}
  local function copy(x)
    if copies[x] then return copies[x] end
    local y = x
    if is_parameter(x) then y = variable(x:value(), x.trainable) elseif type(x) == "table" and (is_module(x) or getmetatable(x) == nil) then
      y = setmetatable({}, nil)
      copies[x] = y
      for key, value in next, x do
        if key == "_gradients" then rawset(y, key, {}) elseif key ~= "_tape" and key ~= "output" and key ~= "_input" and key ~= "gradInput" then rawset(y, key, copy(value)) end
      end
      setmetatable(y, getmetatable(x))
    end
    copies[x] = y
    return y
  end
  return copy(self)
end

-- All parameters as one vector that can be read and set, and that of their gradients: what optim's functions work on.
local Flat = {}
Flat.__index = Flat
function Flat:size() local n = 0 for _, v in ipairs(self.list) do n = n + v:size() end return n end
function Flat:get()
  return tf.eager(function()
    local parts = {}
    for i, v in ipairs(self.list) do
      local x = self.of and (self.of._gradients[v] or tf.zeros(v.shape, v.dtype)) or v:value()
      parts[i] = tf.reshape(x, {-1})
    end
    return #parts == 1 and parts[1] or tf.concat(parts, 0)
  end)
end
function Flat:set(t)
  if t:size() ~= self:size() then T.fail("getParameters", "%d numbers for %d parameters", t:size(), self:size()) end
  tf.eager(function()
    local at = 0
    for _, v in ipairs(self.list) do
      local n = v:size()
      local part = tf.reshape(tf.slice(t, {at}, {n}), v.shape)
      if self.of then self.of._gradients[v] = part else v:assign(part) end
      at = at + n
    end
  end)
end
function Flat:zero()
  if self.of then self.of:zeroGradParameters() else self:set(tf.eager(function() return tf.zeros {self:size()} end)) end
  return self
end
function Flat:norm() return tf.eager(function() return tf.sqrt(tf.reduce_sum(tf.square(self:get()))):item() end) end
function Module.getParameters(self)
  local list = self:parameters()
  if #list == 0 then T.fail("getParameters", "%s has no parameters", getmetatable(self).__name) end
  return setmetatable({list = list}, Flat), setmetatable({list = list, of = self}, Flat)
end

-- ------------------------------------------------------------------------------------- printing

function Module.extra_repr() return "" end
-- The tree of modules, as PyTorch prints it.
function Module.describe(self, indent)
  local name = getmetatable(self).__name
  if #self._modules == 0 then return ("%s(%s)"):format(name, self:extra_repr()) end
  local lines = {name .. "("}
  for _, e in ipairs(self._modules) do lines[#lines + 1] = ("%s  (%s): %s"):format(indent, e[1], e[2]:describe(indent .. "  ")) end
  lines[#lines + 1] = indent .. ")"
  return table.concat(lines, "\n")
end
Module.__call = function(self, ...) return self:run(...) end
T.guard_all("nn.Module:", Module)
rawset(nn, "Module", setmetatable(Module, {__call = function() T.fail("tf.torch.nn.Module", "extend it: nn.Module:extend(\"Net\", {init =, forward =})") end}))

-- ------------------------------------------------------------------------------------- containers

local function add(self, module)
  if type(module) == "function" then
    local fn = module
    module = nn.class_of_function(fn)
  end
  if not is_module(module) then T.fail(getmetatable(self).__name, "expects modules, not %s", T.kind(module) or type(module)) end
  assign(self, tostring(#self._modules), module)
  return self
end
function nn.class_of_function(fn)
  local m = begin(setmetatable({}, nn.Lambda))
  rawset(m, "fn", fn)
  return m
end
nn.class("Lambda", {init = function(self, fn) rawset(self, "fn", fn) end, updateOutput = function(self, x) return self.fn(x) end})
local Container = new_class("Container", Module, {add = add,
  init = function(self, ...)
    local list = {...}
    if #list == 1 and type(list[1]) == "table" and not is_module(list[1]) then list = list[1] end
    for _, module in ipairs(list) do self:add(module) end
  end,
  get = function(self, i)
    local e = self._modules[i]
    if not e then T.fail("get", "there are %d modules, no number %s (they count from 1)", #self._modules, i) end
    return e[2]
  end,
  size = function(self) return #self._modules end})
nn.class("Sequential", {
  updateOutput = function(self, x)
    for _, e in ipairs(self._modules) do x = e[2](x) end
    return x
  end,
  insert = function(self, module, at)
    table.insert(self._modules, at or #self._modules + 1, {"", module})
    for i, e in ipairs(self._modules) do e[1] = tostring(i - 1) end
    return self
  end,
  remove = function(self, at)
    local e = table.remove(self._modules, at)
    for i, other in ipairs(self._modules) do other[1] = tostring(i - 1) end
    return e and e[2]
  end}, Container)
-- All modules get the same input; Concat joins their outputs along a dimension (1 is the first), ConcatTable gives them as a table.
nn.class("ConcatTable", {updateOutput = function(self, x)
  local out = {}
  for i, e in ipairs(self._modules) do out[i] = e[2](x) end
  return out
end}, Container)
nn.class("Concat", {init = function(self, dim) rawset(self, "dim", dim) end, updateOutput = function(self, x)
  local out = {}
  for i, e in ipairs(self._modules) do out[i] = e[2](x) end
  return tf.concat(out, self.dim - 1)
end}, Container)
-- The i-th module gets the i-th value.
nn.class("ParallelTable", {updateOutput = function(self, xs)
  local out = {}
  for i, e in ipairs(self._modules) do out[i] = e[2](xs[i]) end
  return out
end}, Container)
nn.class("MapTable", {updateOutput = function(self, xs)
  local out = {}
  for i, x in ipairs(xs) do out[i] = self._modules[1][2](x) end
  return out
end}, Container)
nn.class("ModuleList", {}, Container)
nn.class("ModuleDict", {init = function(self, modules)
  local names = {}
  for name in pairs(modules or {}) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do self:add_module(name, modules[name]) end
end})
return Module
