-- Giving variables values from tables and checkpoints: fine-tuning begins here.
local tf, T = ...
local slim = T.namespace "tf.slim"
local def = T.def

local function name_of(v) return (v.name:gsub(":%d+$", "")) end
local function shape_text(shape) return "[" .. table.concat(shape, ", ") .. "]" end
local function same_shape(a, b)
  if #a ~= #b then return false end
  for i, d in ipairs(a) do if d ~= b[i] then return false end end
  return true
end

-- Variables that are given values: in a graph by one operation and what it must be fed, in define-by-run mode at once.
local function giver(who)
  local ops, feeds = {}, {}
  local function give(v, value)
    if not v.graph then
      v:assign(value)
      return
    end
    local guard <close> = v.graph:as_default()
    local s <close> = tf.name_scope("")
    local p = tf.placeholder(v.dtype, v.shape, {name = who .. "/" .. name_of(v)})
    ops[#ops + 1] = tf.raw.AssignVariableOp(v, p, {dtype = v.dtype})
    feeds[p] = value
  end
  return give, function()
    if #ops == 0 then return tf.executing_eagerly() or tf.no_op(who), feeds end
    return tf.group(ops), feeds
  end
end

-- A table {name = ...} in an argument's place is that argument, though it looks like a table of options.
local function by_position(name, ...)
  local bound, params = slim[name], {...}
  rawset(slim, name, function(...)
    local args = table.pack(...)
    local table_given = false
    for i = 1, math.min(args.n, #params) do
      table_given = table_given or i <= 2 and type(args[i]) == "table" and not T.kind(args[i])
    end
    if not table_given or args.n == 1 and args[1][params[1]] ~= nil then return bound(...) end
    local options, n = {}, args.n
    if n > 1 and n > (type(args[1]) == "string" and 2 or 1) and T.is_options(args[n]) then
      for key, value in pairs(args[n]) do options[key] = value end
      n = n - 1
    end
    for i = 1, n do options[params[i] or "argument " .. i] = args[i] end
    return bound(options)
  end)
end

-- values: name of a variable -> tensor, number or nested table. Gives an operation and its feeds.
def("tf.slim.assign_from_values", "var_names_to_values", function(values)
  local who = "slim.assign_from_values"
  if type(values) ~= "table" or T.kind(values) then T.fail(who, "expected a table of values by name, not a %s", T.kind(values) or type(values)) end
  local by_name, names = {}, {}
  for _, v in ipairs(tf.global_variables()) do by_name[name_of(v)] = v end
  for name in pairs(values) do
    if type(name) ~= "string" then T.fail(who, "the names of variables are strings, not a %s", type(name)) end
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do -- before anything is given
    if not by_name[name] then
      local all = {}
      for n in pairs(by_name) do all[#all + 1] = n end
      local near = T.nearest(name, all)
      T.fail(who, "there is no variable '%s'%s", name, near and ("; the nearest is '%s'"):format(near) or "")
    end
    local v, x = by_name[name], values[name]
    if T.kind(x) == "Tensor" and v.shape and not same_shape(v.shape, x.shape) then
      T.fail(who, "variable '%s' has the shape %s, its value %s", name, shape_text(v.shape), shape_text(x.shape))
    end
  end
  local give, done = giver("assign_from_values")
  for _, name in ipairs(names) do give(by_name[name], values[name]) end
  return done()
end)
def("tf.slim.assign_from_values_fn", "var_names_to_values", function(values)
  local op, feeds = slim.assign_from_values {var_names_to_values = values}
  return function(sess)
    if op ~= true then sess:run(op, feeds) end
  end
end)

-- {{name in the checkpoint, variable}, ...} by name; a name may stand for a list of variables, which all get its value.
local function entries_of(list, who)
  local out = {}
  local function add(name, v)
    if T.kind(v) ~= "Variable" then T.fail(who, "'%s' is no variable, but a %s", name, T.kind(v) or type(v)) end
    out[#out + 1] = {name, v}
  end
  if T.kind(list) == "Variable" then list = {list} end
  if type(list) ~= "table" or T.kind(list) then
    T.fail(who, "'var_list' is a list of variables, or a table {name in the checkpoint = variable}, not a %s", T.kind(list) or type(list))
  end
  for key, v in pairs(list) do
    if type(key) == "string" then
      if type(v) == "table" and not T.kind(v) then
        for _, part in ipairs(v) do add(key, part) end
      else
        add(key, v)
      end
    end
  end
  for i, v in ipairs(list) do add(T.kind(v) == "Variable" and name_of(v) or "entry " .. i, v) end
  table.sort(out, function(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[2].name < b[2].name
  end)
  return out
end
local function names_text(names)
  local shown = {}
  for i = 1, math.min(#names, 8) do shown[i] = "'" .. names[i] .. "'" end
  if #names > 8 then shown[9] = ("and %d more"):format(#names - 8) end
  return table.concat(shown, ", ")
end
-- The entries that the checkpoint has, and the names that it lacks.
local function there(reader, entries, ignore, who)
  local have, missing = {}, {}
  for _, e in ipairs(entries) do
    if reader:has_tensor(e[1]) then have[#have + 1] = e else missing[#missing + 1] = e[1] end
  end
  if #missing > 0 and not ignore then
    local near = T.nearest(missing[1], reader:names())
    T.fail_code(5, who, ("%s lacks %s%s; {ignore_missing_vars = true} leaves such variables as they are"):format(reader.path,
      names_text(missing), near and (" (the nearest to the first is '%s')"):format(near) or ""))
  end
  return have, missing
end

-- Gives an operation, what to feed it, and the names that the checkpoint lacks. The values are read now.
def("tf.slim.assign_from_checkpoint", "model_path var_list ignore_missing_vars=false", function(path, list, ignore)
  local who = "slim.assign_from_checkpoint"
  local entries = entries_of(list, who)
  local reader = tf.train.NewCheckpointReader(path)
  local have, missing = there(reader, entries, ignore, who)
  local values, names = {}, {}
  for _, e in ipairs(have) do
    if not values[e[1]] then names[#names + 1], values[e[1]] = e[1], true end
  end
  values = reader:get_tensors(names)
  for _, e in ipairs(have) do
    local value, v = values[e[1]], e[2]
    if value.dtype ~= v.dtype or v.shape and not same_shape(v.shape, value.shape) then
      T.fail(who, "variable '%s' is %s %s, in %s '%s' is %s %s", name_of(v), v.dtype, shape_text(v.shape or {}), reader.path, e[1],
        value.dtype, shape_text(value.shape))
    end
  end
  local give, done = giver("assign_from_checkpoint")
  for _, e in ipairs(have) do give(e[2], values[e[1]]) end
  local op, feeds = done()
  return op, feeds, missing
end)

-- Gives a function of a session, for init_fn of slim.learning.train; nil where the checkpoint has none of the variables. The
-- second value are the names that it lacks. The file is read when the function is called.
def("tf.slim.assign_from_checkpoint_fn", "model_path var_list ignore_missing_vars=false reshape_variables=false", function(path, list, ignore, reshape)
  local who = "slim.assign_from_checkpoint_fn"
  local entries, missing = entries_of(list, who), {}
  if #entries == 0 then T.fail(who, "'var_list' is empty: there is nothing to restore") end
  if ignore then
    entries, missing = there(tf.train.NewCheckpointReader(path), entries, true, who)
    if #entries == 0 then return nil, missing end
  end
  local savers, by_name = {}, {} -- a saver has one variable for each name
  for _, e in ipairs(entries) do
    by_name[e[1]] = by_name[e[1]] or {}
    table.insert(by_name[e[1]], e[2])
    local i = #by_name[e[1]]
    savers[i] = savers[i] or {}
    savers[i][e[1]] = e[2]
  end
  for i, vars in ipairs(savers) do savers[i] = tf.train.Saver {var_list = vars, reshape = reshape} end
  return function(sess)
    for _, saver in ipairs(savers) do
      if sess then saver:restore(sess, path, {random = false}) else saver:restore(path, {random = false}) end
    end
  end, missing
end)
by_position("assign_from_values", "var_names_to_values")
by_position("assign_from_values_fn", "var_names_to_values")
by_position("assign_from_checkpoint", "model_path", "var_list", "ignore_missing_vars")
by_position("assign_from_checkpoint_fn", "model_path", "var_list", "ignore_missing_vars", "reshape_variables")
return slim
