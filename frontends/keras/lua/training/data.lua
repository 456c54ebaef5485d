-- What fit, evaluate and predict take as data, made into batches: tensors and tables, datasets, sequences, generators.
--
-- A source has `steps` (batches of an epoch; nil where only running tells), `samples`, and epoch(number), which gives a function: the
-- next batch {x = {tensors}, y = {tensors}, w = {tensors or false}, n = samples}, or nil. `io` says what the model
-- calls its inputs and outputs: {inputs = {names}, outputs = {names}, dtypes = {}}; lists are nil for a model that tells only when called.
local tf, T = ...
local data = {}

local function count(x) return T.kind(x) and x.shape and x.shape[1] or nil end
local function tensor(x, dtype)
  if T.kind(x) == "Variable" then return x:value() end
  if T.kind(x) then return x end
  return tf.tensor(x, dtype)
end
local function is_table(x) return type(x) == "table" and T.kind(x) == nil end
local function has_names(x)
  for key in pairs(x) do if type(key) == "string" then return true end end
  return false
end

-- A value, a list, or a table by name, as the list of tensors in the order of `names`.
local function listed(x, names, what, who, dtype)
  if x == nil or x == false then return nil end
  if T.kind(x) then
    if names and #names > 1 then T.fail(who, "%s: the model has %d of them (%s), one tensor was given", what, #names, table.concat(names, ", ")) end
    return {tensor(x)}
  end
  if not is_table(x) then T.fail(who, "%s: expected a tensor or a table, got %s", what, type(x)) end
  if has_names(x) then
    if not names then T.fail(who, "%s: this model has no names for them; give them in order", what) end
    local out, known = {}, {}
    for i, name in ipairs(names) do
      known[name] = true
      if x[name] == nil then
        local have = {}
        for key in pairs(x) do have[#have + 1] = tostring(key) end
        table.sort(have)
        T.fail(who, "%s: '%s' is missing; there are %s", what, name, table.concat(have, ", "))
      end
      out[i] = x[name] == false and false or tensor(x[name], dtype)
    end
    for key in pairs(x) do
      if not known[key] then
        local near = T.nearest(tostring(key), names)
        T.fail(who, "%s: '%s' is none of the model's (%s)%s", what, tostring(key), table.concat(names, ", "), near and ("; did you mean '%s'?"):format(near) or "")
      end
    end
    return out
  end
  local first = x[1]
  local several = T.kind(first) ~= nil or first == false or (names and #names > 1 and #x == #names and is_table(first))
  if not several then return {tensor(x, dtype)} end
  if names and #x ~= #names then
    T.fail(who, "%s: the model has %d (%s), %d were given", what, #names, table.concat(names, ", "), #x)
  end
  local out = {}
  for i, t in ipairs(x) do out[i] = t ~= false and tensor(t, dtype) or false end
  return out
end
-- The same for each output where one is given for all.
local function weights_of(w, names, n, who)
  if w == nil or w == false then return nil end
  local list = listed(w, T.kind(w) and {"sample_weight"} or is_table(w) and has_names(w) and names or nil, "sample_weight", who, "float32")
  if #list == 1 and n > 1 then for i = 2, n do list[i] = list[1] end end
  if #list ~= n then T.fail(who, "sample_weight: the model has %d outputs, %d weights were given", n, #list) end
  return list
end

-- class_weight: {[class] = weight}, classes from 0; or a table of these by output.
local function class_table(class_weight, who)
  local low, high = math.huge, -1
  for class, weight in pairs(class_weight) do
    local number = math.tointeger(tonumber(class))
    if not number or number < 0 or type(weight) ~= "number" then
      T.fail(who, "class_weight is a table {[class] = weight} with classes from 0; it has [%s] = %s", tostring(class), tostring(weight))
    end
    low, high = math.min(low, number), math.max(high, number)
  end
  if high < 0 then T.fail(who, "class_weight is empty") end
  local row = {}
  for i = 0, high do row[i + 1] = class_weight[i] or class_weight[tostring(i)] or 1.0 end
  return tf.tensor(row), high
end
function data.class_weights(class_weight, y, w, names, who)
  if class_weight == nil or class_weight == false then return w end
  local tables = {}
  local by_name = names and #names > 0 and type(class_weight[names[1]]) == "table"
  for i = 1, #y do
    if by_name then tables[i] = class_weight[names[i]] and {class_table(class_weight[names[i]], who)} or false
    elseif i == 1 or #y == 1 then tables[i] = {class_table(class_weight, who)} end
  end
  if not by_name and #y > 1 then
    T.fail(who, "class_weight with %d outputs is a table of tables by output: {%s = {[0] = 1, [1] = 2}}", #y, names and names[1] or "output")
  end
  local out = {}
  for i, t in ipairs(y) do
    out[i] = w and w[i] or false
    if tables[i] and t then
      local classes = t
      if t:rank() >= 2 and t.shape[t:rank()] > 1 then classes = tf.argmax(t, -1)
      elseif t:rank() >= 2 then classes = tf.reshape(t, {-1}) end
      classes = tf.cast(classes, "int64")
      local row, high = tables[i][1], tables[i][2]
      -- classes that the table does not name weigh 1
      row = tf.concat({row, tf.tensor {1.0}}, 0)
      local own = tf.gather(row, tf.minimum(classes, tf.tensor(high + 1, "int64")))
      out[i] = out[i] and tf.cast(out[i], "float32") * own or own
    end
  end
  return out
end

local function cast_inputs(list, io)
  for i, t in ipairs(list) do
    local want = io.dtypes and io.dtypes[i]
    if want and t.dtype ~= want and t.dtype ~= "string" then list[i] = tf.cast(t, want) end
  end
  return list
end
local function check_counts(x, y, w, who)
  local n = count(x[1])
  if not n then T.fail(who, "x: the first axis counts the samples; a scalar has none") end
  local function check(list, what)
    for i, t in ipairs(list or {}) do
      if t and count(t) ~= n then
        T.fail(who, "x has %d samples, %s%s has %s", n, what, #list > 1 and ("[%d]"):format(i) or "", tostring(count(t) or "none"))
      end
    end
  end
  check(x, "x")
  check(y, "y")
  check(w, "sample_weight")
  return n
end

-- ------------------------------------------------------------------------------------- arrays

local function slice(list, a, b) -- rows a .. b, from 1
  local out = {}
  for i, t in ipairs(list or {}) do out[i] = t and t[{{a, b}}] or false end
  return out
end
local function rows(list, index)
  local out = {}
  for i, t in ipairs(list or {}) do out[i] = t and tf.gather(t, index) or false end
  return out
end
-- o: batch_size, shuffle (true, false, "batch"), steps
local function arrays(io, x, y, w, o)
  local n = count(x[1])
  if n == 0 then T.fail(o.who, "the data are empty: x has no samples") end
  local size = math.min(o.batch_size, n)
  local source = {samples = n, batch_size = size, steps = (n + size - 1) // size, x = x, y = y, w = w, whole = true}
  if o.steps then source.steps = math.min(source.steps, o.steps) end
  function source.epoch(number)
    local at, done = 0, 0
    local order, batches
    if o.shuffle == "batch" then
      batches = o.permutation((n + size - 1) // size):table()
    elseif o.shuffle then
      order = o.permutation(n)
    end
    return function()
      if at >= n or done >= source.steps then return nil end
      done = done + 1
      local a, b = at, math.min(at + size, n)
      if batches then
        a = math.tointeger(batches[done]) * size
        b = math.min(a + size, n)
      end
      at = at + size
      local batch
      if order then
        local index = order[{{a + 1, b}}]
        batch = {x = rows(x, index), y = rows(y, index), w = rows(w, index), n = b - a}
      elseif a == 0 and b == n then
        batch = {x = {table.unpack(x)}, y = {table.unpack(y or {})}, w = {table.unpack(w or {})}, n = n}
      else
        batch = {x = slice(x, a + 1, b), y = slice(y, a + 1, b), w = slice(w, a + 1, b), n = b - a}
      end
      cast_inputs(batch.x, io) -- here, so that bytes stay bytes as long as they wait
      return batch
    end
  end
  return source
end

-- ------------------------------------------------------------------------------------- streams

-- One element of a stream: x, y, w as they came.
local function batch_of(io, x, y, w, o)
  local xs = cast_inputs(listed(x, io.inputs, "x", o.who), io)
  local ys = listed(y, io.outputs, "y", o.who) or {}
  local ws = weights_of(w, io.outputs, math.max(#ys, 1), o.who)
  local n = check_counts(xs, ys, ws, o.who)
  if o.class_weight and #ys > 0 then ws = data.class_weights(o.class_weight, ys, ws, io.outputs, o.who) end
  return {x = xs, y = ys, w = ws or {}, n = n}
end
-- An element of a dataset: named parts, or inputs, targets and weights one after another.
local function from_element(io, e, o)
  if T.kind(e) then return batch_of(io, e, nil, nil, o) end
  if has_names(e) then
    if e.x ~= nil then return batch_of(io, e.x, e.y, e.sample_weight or e.w, o) end
    local function pick(names)
      local out = {}
      for i, name in ipairs(names or {}) do
        if e[name] == nil then return nil end
        out[i] = e[name]
      end
      return #out > 0 and out or nil
    end
    local x = pick(io.inputs)
    if not x then
      local have = {}
      for key in pairs(e) do have[#have + 1] = tostring(key) end
      table.sort(have)
      T.fail(o.who, "the elements of the dataset have %s; call them x and y (and sample_weight), or as the model calls its inputs (%s)",
        table.concat(have, ", "), io.inputs and table.concat(io.inputs, ", ") or "unknown")
    end
    return batch_of(io, x, pick(io.outputs), e.sample_weight, o)
  end
  local n_in, n_out = io.inputs and #io.inputs or 1, io.outputs and #io.outputs or 1
  local x, y, w = {}, {}, {}
  for i, t in ipairs(e) do
    if i <= n_in then x[i] = t elseif i <= n_in + n_out then y[#y + 1] = t else w[#w + 1] = t end
  end
  return batch_of(io, x, #y > 0 and y or nil, #w > 0 and w or nil, o)
end
local function streamed(pull_factory, o, steps)
  local source = {steps = o.steps or steps}
  local pull
  function source.epoch(number)
    if not pull or not o.steps then pull = pull_factory(number) end
    local done = 0
    return function()
      if source.steps and done >= source.steps then return nil end
      local batch = pull()
      if batch == nil then
        if o.steps and done < o.steps then
          if done == 0 and not o.restarted then -- the next pass over the data
            pull = pull_factory(number)
            batch = pull()
          end
          if batch == nil then source.ran_out = done return nil end
        else
          pull = nil
          return nil
        end
      end
      done = done + 1
      return batch
    end
  end
  return source
end
local function dataset(io, ds, o)
  return streamed(function()
    local it = ds:iterator()
    return function()
      local e = it:next()
      if e ~= nil then return from_element(io, e, o) end
    end
  end, o)
end
local function sequence(io, s, o)
  local function len() return s.len and s:len() or #s end
  local get = s.get or s.__getitem or s.getitem
  if not get then T.fail(o.who, "a sequence needs the functions len and get") end
  local source = {steps = o.steps and math.min(o.steps, len()) or len()}
  if source.steps == 0 then T.fail(o.who, "the data are empty: the sequence has no batches") end
  function source.epoch()
    local order = {}
    for i = 1, len() do order[i] = i - 1 end
    if o.shuffle_sequence then
      order = o.permutation(#order):table()
    end
    local i = 0
    return function()
      if i >= source.steps then return nil end
      i = i + 1
      local x, y, w = get(s, math.tointeger(order[i]))
      if y == nil and is_table(x) and not has_names(x) and T.kind(x[1]) and #x >= 2 and #x > (io.inputs and #io.inputs or 1) then
        return from_element(io, x, o)
      end
      return batch_of(io, x, y, w, o)
    end
  end
  function source.on_epoch_end() if s.on_epoch_end then s:on_epoch_end() end end
  return source
end
local function generator(io, fn, o)
  if type(fn) == "thread" then
    local co = fn
    fn = function()
      if coroutine.status(co) == "dead" then return nil end
      local ok, x, y, w = coroutine.resume(co)
      if not ok then error(x, 0) end
      return x, y, w
    end
  end
  local function pull()
    local x, y, w = fn()
    if x == nil then return nil end
    if y == nil and is_table(x) and not has_names(x) and #x > (io.inputs and #io.inputs or 1) then -- {x, y}, {x, y, w}
      if io.inputs and #io.inputs > 1 or is_table(x[1]) then return batch_of(io, x[1], x[2], x[3], o) end
      return from_element(io, x, o)
    end
    return batch_of(io, x, y, w, o)
  end
  return streamed(function() return pull end, o)
end

-- ------------------------------------------------------------------------------------- choosing

local function kind_of(x)
  if T.kind(x) == "Dataset" then return "dataset" end
  if type(x) == "function" or type(x) == "thread" then return "generator" end
  if is_table(x) and (type(x.get) == "function" or type(x.__getitem) == "function") then return "sequence" end
  return "arrays"
end
-- o: who, batch_size, shuffle, steps, class_weight; permutation(n): an order of 0 .. n - 1, where something is shuffled
function data.source(io, x, y, w, o)
  o.batch_size = o.batch_size or 32
  if math.type(o.batch_size) ~= "integer" or o.batch_size < 1 then T.fail(o.who, "'batch_size' must be a whole number above 0, not %s", tostring(o.batch_size)) end
  if o.steps and (math.type(o.steps) ~= "integer" or o.steps < 1) then T.fail(o.who, "the number of steps must be a whole number above 0, not %s", tostring(o.steps)) end
  local kind = kind_of(x)
  if kind ~= "arrays" then
    if y ~= nil then T.fail(o.who, "a %s gives the targets itself: leave out y", kind) end
    if w ~= nil then T.fail(o.who, "a %s gives the sample weights itself: leave out sample_weight", kind) end
    local source = kind == "dataset" and dataset(io, x, o) or kind == "sequence" and sequence(io, x, o) or generator(io, x, o)
    source.kind = kind
    return source
  end
  local xs = listed(x, io.inputs, "x", o.who)
  if not xs then T.fail(o.who, "x is missing") end
  local ys = listed(y, io.outputs, "y", o.who)
  local ws = weights_of(w, io.outputs, ys and #ys or 1, o.who)
  check_counts(xs, ys, ws, o.who)
  if o.class_weight and ys then ws = data.class_weights(o.class_weight, ys, ws, io.outputs, o.who) end
  local source = arrays(io, xs, ys, ws, o)
  source.kind = kind
  return source
end
-- Splits arrays before any shuffling: the last part is for validation.
function data.split(io, x, y, w, fraction, who)
  if kind_of(x) ~= "arrays" then T.fail(who, "'validation_split' needs tensors; a %s cannot be split: give 'validation_data'", kind_of(x)) end
  if fraction <= 0 or fraction >= 1 then T.fail(who, "'validation_split' must lie between 0 and 1, not %g", fraction) end
  local xs = listed(x, io.inputs, "x", who)
  local ys = listed(y, io.outputs, "y", who)
  local ws = weights_of(w, io.outputs, ys and #ys or 1, who)
  local n = check_counts(xs, ys, ws, who)
  local at = math.floor(n * (1 - fraction))
  if at == 0 or at == n then T.fail(who, "'validation_split' %g of %d samples leaves none %s", fraction, n, at == 0 and "to train on" or "to validate on") end
  return {x = slice(xs, 1, at), y = ys and slice(ys, 1, at), w = ws and slice(ws, 1, at)},
    {x = slice(xs, at + 1, n), y = ys and slice(ys, at + 1, n), w = ws and slice(ws, at + 1, n)}
end
return data
