-- provides tf.data: Dataset from_tensors from_tensor_slices from_file from_generator range zip csv idx
-- provides tf.data.Dataset: from_tensors from_tensor_slices from_generator range zip
-- provides Dataset: batch shuffle repeat repeat_ take skip prefetch map filter concatenate enumerate make_one_shot_iterator apply cache shard flat_map unbatch padded_batch
-- provides tf: read_csv read_idx
-- Datasets: the core batches, shuffles, repeats and prefetches; what a Lua function makes of elements is done
-- on the script's thread.
local tf, T = ...
local def = T.def
local data, Dataset = T.namespace "tf.data", T.namespace "Dataset"

-- A table by name, a list, or one tensor: names (or false) and tensors in a fixed order.
local function components(x, who, dtype)
  if T.kind(x) then return false, {T.value(x)} end
  if type(x) ~= "table" then return false, {tf.tensor(x)} end
  local names, list = {}, {}
  for key in pairs(x) do if type(key) == "string" then names[#names + 1] = key end end
  if #names > 0 then
    table.sort(names)
    for i, name in ipairs(names) do list[i] = T.kind(x[name]) and x[name] or tf.tensor(x[name]) end
    return names, list
  end
  if T.kind(x[1]) then return false, x end
  return false, {tf.tensor(x)}
end
local function element(names, list)
  if names then
    local out = {}
    for i, name in ipairs(names) do out[name] = list[i] end
    return out
  end
  if #list == 1 then return list[1] end
  return {table.unpack(list)}
end
local function names_of(ds)
  local list = ds.components
  return list[1] ~= "" and list or false, #list
end
-- The members of an element in the order of the components.
local function members(names, n, x, who)
  local out = {}
  if names and (type(x) ~= "table" or T.kind(x) or x[names[1]] == nil) and (n == 1 or type(x) == "table" and x[1] ~= nil) then
    names = false -- values in the order of the names
  end
  if names then
    for i, name in ipairs(names) do
      if x[name] == nil then T.fail(who, "the element lacks '%s'", name) end
      out[i] = T.kind(x[name]) and T.value(x[name]) or tf.tensor(x[name])
    end
  elseif n == 1 and (T.kind(x) or type(x) ~= "table" or not T.kind(x[1])) then
    out[1] = T.kind(x) and T.value(x) or tf.tensor(x)
  else
    for i = 1, n do out[i] = T.kind(x[i]) and x[i] or tf.tensor(x[i]) end
  end
  return out
end

-- What is known of the elements' shapes without reading any: for each dataset a list by component, -1 where an extent is open,
-- false where nothing is known (what a function makes of elements). Nodes of get_next have these shapes.
local shapes_of = setmetatable({}, {__mode = "k"})
local function with_shapes(ds, list)
  if list then shapes_of[ds] = list end
  return ds
end
local function each_shape(list, fn)
  local out = {}
  for i, shape in ipairs(list or {}) do out[i] = shape and fn({table.unpack(shape)}) end
  return list and out
end
local function without_rows(list) return each_shape(list, function(shape) table.remove(shape, 1) return shape end) end
local function with_rows(list, n) return each_shape(list, function(shape) table.insert(shape, 1, n) return shape end) end
local function shapes_of_tensors(list)
  local out = {}
  for i, t in ipairs(list) do out[i] = t.shape end
  return out
end
-- Where two sources disagree the extent is open.
local function either(a, b)
  local out = {}
  for i, shape in ipairs(a and b and a or {}) do
    local other = b[i]
    out[i] = shape and other and #shape == #other and {}
    for k = 1, out[i] and #shape or 0 do out[i][k] = shape[k] == other[k] and shape[k] or -1 end
  end
  return a and b and out
end

function data.from_tensor_slices(x)
  if x == nil then T.fail("tf.data.from_tensor_slices", "the tensors are missing") end
  local names, list = components(x, "tf.data.from_tensor_slices")
  for i, t in ipairs(list) do
    if T.kind(t) ~= "Tensor" then
      T.fail("tf.data.from_tensor_slices", "component %s is no tensor, but a %s", names and "'" .. names[i] .. "'" or i, T.kind(t) or type(t))
    end
  end
  return with_shapes(T.dataset_from_tensors(names, list), without_rows(shapes_of_tensors(list)))
end
function data.from_tensors(x)
  local names, list = components(x, "tf.data.from_tensors")
  local shapes = shapes_of_tensors(list)
  for i, t in ipairs(list) do list[i] = tf.expand_dims(t, 0) end
  return with_shapes(T.dataset_from_tensors(names, list), shapes)
end
function data.range(a, b, step)
  if b == nil then a, b = 0, a end
  return T.dataset_from_tensors(false, {tf.range(tf.tensor(a, "int64"), tf.tensor(b, "int64"), tf.tensor(step or 1, "int64"))})
end
local range = data.range
function data.range(...) return with_shapes(range(...), {{}}) end
-- data.from_file(path, {reader =, ...}): by the reader of that name, else by the file's extension.
function data.from_file(path, options)
  local rest, reader = {}, nil
  for key, value in pairs(options or {}) do
    if key == "reader" then reader = value else rest[key] = value end
  end
  return T.dataset_from_file(path, reader, rest)
end
function data.csv(path, options)
  local all = {reader = "csv"}
  for key, value in pairs(options or {}) do all[key] = value end
  return data.from_file(path, all)
end
function data.idx(path, options)
  local all = {reader = "idx"}
  for key, value in pairs(options or {}) do all[key] = value end
  return data.from_file(path, all)
end
-- data.from_generator(fn, {names =, output_shapes =}): fn() gives an iterator function, which gives an element at each call
-- and nil at the end.
function data.from_generator(fn, options)
  if type(fn) ~= "function" then T.fail("tf.data.from_generator", "'generator' must be a function that gives an iterator function, not %s", fn == nil and "nil" or T.kind(fn) or "a " .. type(fn)) end
  local names, n = options and options.names or false, nil
  if not names then
    local first = fn()()
    if first == nil then T.fail("tf.data.from_generator", "the generator gives nothing; say its components with 'names'") end
    names = components(first)
    n = #select(2, components(first))
  else
    n = #names
  end
  local given = options and options.output_shapes
  if given ~= nil and type(given) ~= "table" then T.fail("tf.data.from_generator", "'output_shapes' must be a shape, or a table of shapes, not a %s", type(given)) end
  if given and names then
    local by_name = given
    given = {}
    for i, name in ipairs(names) do given[i] = by_name[name] or false end
  elseif given and n == 1 and type(given[1]) ~= "table" then
    given = {given}
  end
  return with_shapes(T.dataset_from_generator(names, n, function()
    local next_element = fn()
    return function()
      local x = next_element()
      if x == nil then return nil end
      return members(names, n, x, "tf.data.from_generator")
    end
  end), given)
end
function data.zip(...)
  local list = {...}
  if #list == 1 and type(list[1]) == "table" and not T.kind(list[1]) then list = list[1] end
  if #list == 0 then T.fail("tf.data.zip", "there are no datasets") end
  for i, ds in ipairs(list) do
    if T.kind(ds) ~= "Dataset" then T.fail("tf.data.zip", "argument %d must be a dataset, not %s", i, T.kind(ds) or "a " .. type(ds)) end
  end
  return data.from_generator(function()
    local iterators = {}
    for i, ds in ipairs(list) do iterators[i] = ds:iterator() end
    return function()
      local out = {}
      for i, it in ipairs(iterators) do
        local x = it:next()
        if x == nil then return nil end
        if T.kind(x) then out[#out + 1] = x
        elseif x[1] then for _, v in ipairs(x) do out[#out + 1] = v end
        else for key, v in pairs(x) do out[key] = v end end
      end
      if #out == 1 then return out[1] end
      return out
    end
  end)
end
data.Dataset = T.namespace "tf.data.Dataset"
for _, name in ipairs {"from_tensors", "from_tensor_slices", "from_generator", "range", "zip"} do
  data.Dataset[name] = data[name]
end

-- ------------------------------------------------------------------------------------- transformations

local function same(new, d) return with_shapes(new, shapes_of[d]) end
Dataset.batch = T.bind("batch", "self batch_size drop_remainder=false", function(d, n, drop)
  return with_shapes(T.dataset_batch(d, n, drop), with_rows(shapes_of[d], drop and math.tointeger(n) or -1))
end)
Dataset.shuffle = T.bind("shuffle", "self buffer_size seed? reshuffle_each_iteration=true",
  function(d, n, seed, each) return same(T.dataset_shuffle(d, n, seed, each), d) end)
-- `repeat` is a word of Lua: ds:repeat_(2).
Dataset.repeat_ = T.bind("repeat_", "self count?", function(d, n) return same(T.dataset_repeat(d, n), d) end)
Dataset["repeat"] = Dataset.repeat_
Dataset.take = T.bind("take", "self count", function(d, n) return same(T.dataset_take(d, n), d) end)
Dataset.skip = T.bind("skip", "self count", function(d, n) return same(T.dataset_skip(d, n), d) end)
Dataset.prefetch = T.bind("prefetch", "self buffer_size=1", function(d, n) return same(T.dataset_prefetch(d, n), d) end)
function Dataset.apply(d, fn) return fn(d) end
function Dataset.cache(d) return d end

-- Pulls from `d` and gives what step(element) says: an element, or nil to leave it out.
local function derived(d, step, names, n)
  if names == nil then names, n = names_of(d) end
  return T.dataset_from_generator(names, n, function()
    local it, run = d:iterator(), step()
    return function()
      while true do
        local x = it:next()
        if x == nil then return nil end
        local y = run(x)
        if y ~= nil then return members(names, n, y, "map") end
      end
    end
  end)
end
local function spread(fn, x)
  if T.kind(x) or x[1] == nil then return fn(x) end
  return fn(table.unpack(x))
end
local function pack(...)
  if select("#", ...) <= 1 then return (...) end
  return {...}
end
-- map(fn): fn gets an element (several components without names as several values).
function Dataset.map(d, fn)
  local it = d:iterator()
  local first = it:next()
  it:close()
  if first == nil then return d end
  local sample = pack(spread(fn, first))
  local names, list = components(sample, "map")
  return derived(d, function() return function(x) return pack(spread(fn, x)) end end, names, #list)
end
function Dataset.filter(d, fn)
  return same(derived(d, function()
    return function(x)
      local keep = spread(fn, x)
      if T.kind(keep) then keep = keep:item() end
      return keep and x or nil
    end
  end), d)
end
function Dataset.enumerate(d, start)
  return d:map(function(...) return ... end) and derived(d, function()
    local i = (start or 0) - 1
    return function(x)
      i = i + 1
      local out = {tf.tensor(i, "int64")}
      if T.kind(x) then out[2] = x else for _, v in ipairs(x) do out[#out + 1] = v end end
      return out
    end
  end, false, 1 + select(2, names_of(d)))
end
function Dataset.shard(d, num, index)
  return same(derived(d, function()
    local i = -1
    return function(x)
      i = i + 1
      if i % num == index then return x end
    end
  end), d)
end
function Dataset.concatenate(d, other)
  local names, n = names_of(d)
  return with_shapes(T.dataset_from_generator(names, n, function()
    local it, second = d:iterator(), false
    return function()
      local x = it:next()
      if x == nil and not second then
        second = true
        it = other:iterator()
        x = it:next()
      end
      return x ~= nil and members(names, n, x, "concatenate") or nil
    end
  end), either(shapes_of[d], shapes_of[other]))
end
function Dataset.flat_map(d, fn)
  local it = d:iterator()
  local first = it:next()
  it:close()
  if first == nil then return d end
  local names, n = names_of(spread(fn, first))
  return T.dataset_from_generator(names, n, function()
    local outer, inner = d:iterator(), nil
    return function()
      while true do
        if not inner then
          local x = outer:next()
          if x == nil then return nil end
          inner = spread(fn, x):iterator()
        end
        local y = inner:next()
        if y ~= nil then return members(names, n, y, "flat_map") end
        inner = nil
      end
    end
  end)
end
function Dataset.unbatch(d)
  return with_shapes(d:flat_map(function(...) return data.from_tensor_slices(pack(...)) end), without_rows(shapes_of[d]))
end
-- Batches of elements of unequal shapes, padded with zeros (or padding_values) to the largest.
Dataset.padded_batch = T.bind("padded_batch", "self batch_size padded_shapes? padding_values? drop_remainder=false",
  function(d, size, shapes, values, drop)
    local names, n = names_of(d)
    return T.dataset_from_generator(names, n, function()
      local it = d:iterator()
      return function()
        local rows = {}
        for i = 1, size do
          local x = it:next()
          if x == nil then break end
          rows[i] = members(names, n, x, "padded_batch")
        end
        if #rows == 0 or (drop and #rows < size) then return nil end
        local out = {}
        for k = 1, n do
          local want = {}
          local given = shapes and (names and shapes[names[k]] or n == 1 and not T.kind(shapes[1]) and type(shapes[1]) == "number" and shapes or shapes[k])
          for _, row in ipairs(rows) do
            for a, e in ipairs(row[k].shape) do want[a] = math.max(want[a] or 0, e) end
          end
          for a, e in ipairs(given or {}) do
            if e >= 0 then
              if e < want[a] then T.fail("padded_batch", "an element has %d along axis %d, more than %d", want[a], a - 1, e) end
              want[a] = e
            end
          end
          local value = values
          if type(values) == "table" and not T.kind(values) then value = names and values[names[k]] or values[k] end
          local padded = {}
          for i, row in ipairs(rows) do
            local pads = {}
            for a, e in ipairs(row[k].shape) do pads[a] = {0, want[a] - e} end
            padded[i] = #pads == 0 and row[k] or tf.pad(row[k], pads, {constant_values = value or 0})
          end
          out[k] = tf.stack(padded)
        end
        return out
      end
    end)
  end)

-- An iterator with get_next(): the next element, or an OUT_OF_RANGE error at the end. In a graph get_next
-- gives placeholders; a session run that needs one of them feeds all of them with one element.
local function needs(fetches, wanted, seen)
  local kind = T.kind(fetches)
  if kind == nil then
    if type(fetches) ~= "table" then return false end
    for _, f in pairs(fetches) do if needs(f, wanted, seen) then return true end end
    return false
  end
  local op = kind == "Operation" and fetches or kind == "Node" and fetches.op or nil
  local list = {op}
  while #list > 0 do -- walks back over inputs
    local top = table.remove(list)
    if wanted[top] then return true end
    if not seen[top] then
      seen[top] = true
      for _, x in ipairs(top.inputs) do list[#list + 1] = x.op end
      for _, x in ipairs(top.control_inputs) do list[#list + 1] = x end
    end
  end
  return false
end
local function hook_session()
  local Session = T.namespace "Session"
  local run = Session.run
  T.hooked = true
  Session.run = function(sess, fetches, feeds, options)
    local sources = T.graph_data(sess.graph).sources
    if not sources then return run(sess, fetches, feeds, options) end
    local all = {}
    for key, value in pairs(feeds or {}) do all[key] = value end
    for _, source in ipairs(sources) do
      source.answers = source.answers or setmetatable({}, {__mode = "k"})
      local need = T.kind(fetches) and source.answers[fetches]
      if need == nil then
        local resolved = type(fetches) == "string" and sess.graph:as_graph_element(fetches) or fetches
        need = needs(resolved, source.ops, {})
        if T.kind(fetches) then source.answers[fetches] = need end
      end
      if need then
        local list = source.pull()
        for i, node in ipairs(source.nodes) do if all[node] == nil then all[node] = list[i] end end
      end
    end
    return run(sess, fetches, all, options)
  end
end
function Dataset.make_one_shot_iterator(d)
  local it = d:iterator()
  local names, n = names_of(d)
  local one = {}
  local function pull()
    local x = it:next()
    if x == nil then T.fail_code(11, "get_next", "the dataset is at its end") end
    return x
  end
  function one:get_next()
    if tf.executing_eagerly() then return pull() end
    if self.element then return self.element end
    if not T.hooked then hook_session() end
    -- One element is read ahead: it tells types and ranks. Extents are what the sources promise.
    local start = it:position()
    local first = it:next()
    local sample = first ~= nil and members(names, n, first, "get_next") or nil
    if not sample then T.fail("get_next", "the dataset is empty") end
    local source = {nodes = {}, ops = {}, start = start}
    for i, t in ipairs(sample) do
      local shape = {}
      local known = shapes_of[d] and shapes_of[d][i]
      for a = 1, t:rank() do shape[a] = known and known[a] or -1 end
      local node = tf.placeholder(t.dtype, shape, "IteratorGetNext")
      source.nodes[i], source.ops[node.op] = node, true
    end
    function source.pull()
      local list = sample
      sample = nil
      return list or members(names, n, pull(), "get_next")
    end
    -- Where the data have got to, for checkpoints; going on from there.
    function source.position() return sample and start or it:position() end
    function source.seek(text)
      it = d:iterator()
      T.seek(it, text)
      sample = nil
    end
    local data_of = T.graph_data()
    data_of.sources = data_of.sources or {}
    table.insert(data_of.sources, source)
    self.element = element(names, source.nodes)
    return self.element
  end
  return one
end

-- tf.read_csv(path, options): all rows. With a header (or `names`) a table of tensors by column; without
-- one float32 matrix (unless `types` says otherwise).
function tf.read_csv(path, options)
  options = options or {}
  local function all(ds)
    local it = ds:batch(1 << 30):iterator()
    local x = it:next()
    it:close()
    return x
  end
  local ds = data.csv(path, options)
  if not names_of(ds) and options.stack == nil and not options.types then
    local stacked = {stack = true}
    for key, value in pairs(options) do stacked[key] = value end
    options = stacked
    ds = data.csv(path, options)
  end
  local x = all(ds)
  if x == nil then T.fail("tf.read_csv", "%s has no rows", path) end
  return options.stack and not T.kind(x) and x.values or x
end

-- tf.read_idx(path): the whole file, plain or gzip, as one tensor.
function tf.read_idx(path, options)
  local it = data.idx(path, options):batch(1 << 30):iterator()
  local x = it:next()
  it:close()
  if x == nil then T.fail("tf.read_idx", "%s has no records", path) end
  if not T.kind(x) then
    local _, only = next(x)
    return only
  end
  return x
end
