-- What the scripts of users' cases share: comparing, expecting errors, and running one function in both modes.
-- A script ends with `done()`, which fails with all that was wrong, or prints "ok".
local tf = require "tfsdk"
local M = {}

local faults = {}
local function fault(text, ...)
  faults[#faults + 1] = select("#", ...) > 0 and text:format(...) or text
  io.stderr:write(faults[#faults], "\n")
end
function M.done()
  if #faults > 0 then error(("%d checks failed; the first: %s"):format(#faults, faults[1]), 0) end
  print "ok"
end

-- ---------------------------------------------------------------------------------------- comparing

local function show(x)
  if type(x) == "table" then
    local parts = {}
    for i = 1, math.min(#x, 12) do parts[i] = show(x[i]) end
    if #x > 12 then parts[13] = "..." end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  if math.type(x) == "float" then return ("%.9g"):format(x) end
  return tostring(x)
end
-- A tensor or variable as nested tables or one element, with its type; other values as they are.
local function plain(x)
  local kind = tf.kind(x)
  if kind ~= "Tensor" and kind ~= "Variable" then return x end
  local t = kind == "Variable" and x:value() or x
  return t:rank() == 0 and t:item() or t:table(), t.dtype
end
local tolerance = {float64 = {1e-12, 1e-12}, float16 = {2e-3, 1e-6}, bfloat16 = {1.6e-2, 1e-6}}

local function same(got, want, fits)
  if type(want) ~= "table" then return type(got) ~= "table" and fits(got, want) end
  if type(got) ~= "table" or #got ~= #want then return false end
  for i = 1, #want do
    if not same(got[i], want[i], fits) then return false end
  end
  return true
end
local function compare(label, got, want, fits)
  local g, w = plain(got), plain(want)
  if same(g, w, fits) then return true end
  fault("%s: got %s, want %s", label, show(g), show(w))
  return false
end
-- Numbers within a relative tolerance of 1e-5 (float64: 1e-12) and an absolute one near zero; NaN equals NaN.
function M.near(label, got, want, rtol, atol)
  local _, dtype = plain(got)
  local bounds = tolerance[dtype] or {1e-5, 1e-6}
  rtol, atol = rtol or bounds[1], atol or bounds[2]
  return compare(label, got, want, function(g, w)
    if type(g) ~= "number" or type(w) ~= "number" then return g == w end
    if w ~= w then return g ~= g end
    return g == w or math.abs(g - w) <= atol + rtol * math.abs(w)
  end)
end
-- Equal in every bit (all NaN count as one); -0.0 and 0.0 differ only where `want` is a zero with `signed`.
function M.exact(label, got, want, signed)
  return compare(label, got, want, function(g, w)
    if w ~= w then return g ~= g end
    if signed and g == 0 and w == 0 then return 1 / g == 1 / w end
    return g == w
  end)
end
function M.shape(label, x, want) return compare(label .. ": shape", {table.unpack(x.shape)}, want, rawequal) end
function M.check(label, ok, got, want)
  if not ok then fault("%s: got %s, want %s", label, show(plain(got)), show(want or "true")) end
  return ok
end
function M.finite(label, x)
  local function walk(v)
    if type(v) ~= "table" then return v == v and v ~= math.huge and v ~= -math.huge end
    for _, e in ipairs(v) do if not walk(e) then return false end end
    return true
  end
  return M.check(label, walk((plain(x))), x, "finite numbers")
end

-- `fn` raises an error that has each of the words (in any case); afterwards the process works as before.
function M.raises(label, fn, ...)
  local results = table.pack(pcall(fn))
  if results[1] then
    fault("%s: got %s, want an error", label, results.n > 1 and show((plain(results[2]))) or "no error")
    return ""
  end
  local message = tostring(results[2])
  for _, word in ipairs {...} do
    if not message:lower():find(word:lower(), 1, true) then
      fault("%s: got the error '%s', want the words '%s' in it", label, message, word)
    end
  end
  M.exact(label .. ": the next call", tf.tensor {1, 2} + tf.tensor {3, 4}, {4, 6})
  return message
end

-- ---------------------------------------------------------------------------------------- both modes

local function floating(t) return t.dtype:find "float" ~= nil end
-- Runs y... = fn(x...) on a list of tensors: define-by-run, in a graph with known shapes, and in a graph whose
-- extents are known only when it runs. check(r) gets r.mode, r[1] ... the results, r.grads[i]: the gradient of
-- the first result (times options.dy) by input i, or false. options.grads = false: no gradients;
-- options.static = true: not with unknown extents.
function M.both_modes(inputs, fn, check, options)
  options = options or {}
  local sources, place = {}, {}
  for i, x in ipairs(inputs) do
    if options.grads ~= false and floating(x) then
      sources[#sources + 1] = i
      place[i] = #sources
    end
  end
  local function finish(mode, results, grads)
    results.mode, results.grads = mode, {}
    for i in ipairs(inputs) do results.grads[i] = place[i] and grads[place[i]] or false end
    check(results)
  end
  local function pick(list)
    local out = {}
    for i, k in ipairs(sources) do out[i] = list[k] end
    return out
  end

  tf.eager(function()
    local tape <close> = tf.GradientTape()
    for _, x in ipairs(pick(inputs)) do tape:watch(x) end
    local results = {fn(table.unpack(inputs))}
    local grads = {}
    if #sources > 0 then
      grads = tape:gradient(results[1], pick(inputs), options.dy and {output_gradients = {options.dy}} or nil)
      for i, g in ipairs(grads) do grads[i] = g and tf.convert_to_tensor(g) end
    end
    finish("define-by-run", results, grads)
  end)
  for _, known in ipairs(options.static and {true} or {true, false}) do
    local graph <close> = tf.Graph():as_default()
    local nodes, feeds = {}, {}
    for i, x in ipairs(inputs) do
      local shape = {}
      for k, d in ipairs(x.shape) do shape[k] = known and d or -1 end
      nodes[i] = tf.placeholder(x.dtype, shape)
      feeds[nodes[i]] = x
    end
    local results = {fn(table.unpack(nodes))}
    local grads = #sources > 0 and tf.gradients(results[1], pick(nodes), options.dy and {grad_ys = options.dy} or nil) or {}
    for i, g in ipairs(grads) do grads[i] = g and tf.convert_to_tensor(g) end
    local sess <close> = tf.Session()
    local values = sess:run({results, grads}, feeds, {raw = true})
    finish(known and "graph" or "graph, unknown extents", values[1], values[2])
  end
end
-- Runs fn() define-by-run and in a graph of its own; fn's last argument run(x) gives the value of a node or
-- nest in either mode (in a graph by one session, in which variables are initialized at the first call).
function M.each_mode(fn)
  tf.eager(function() fn("define-by-run", function(x) return type(x) == "function" and x() or x end) end)
  local graph <close> = tf.Graph():as_default()
  local sess
  fn("graph", function(x, feeds)
    if not sess then
      sess = tf.Session()
      sess:run(tf.global_variables_initializer())
    end
    return sess:run(x, feeds, {raw = true})
  end)
  if sess then sess:close() end
end

-- The values of a variable that starts at `start`, after each step of make()'s optimizer with the gradients of a
-- list (tensors, numbers, or tables {values =, indices =}), in both modes: check(mode, {value after step 1, ...}).
-- make(rate): rate is options.rates[i] at step i, a node or function that an optimizer takes.
function M.optimizer_steps(start, gradients, make, check, options)
  options = options or {}
  start = tf.kind(start) and start or tf.tensor(start)
  local function slices(g) return type(g) == "table" and g.indices ~= nil end
  local function rows(g) return tf.tensor(g.indices, "int32") end
  local function value(g) return tf.tensor(g, start.dtype) end
  tf.eager(function()
    local step, after = 0, {}
    local v = tf.Variable(start, {name = "v"})
    local opt = make(function() return options.rates[step] end)
    for i, g in ipairs(gradients) do
      step = i
      opt:apply_gradients {{slices(g) and tf.IndexedSlices(value(g.values), rows(g), start.shape) or value(g), v}}
      after[i] = v:value()
    end
    check("define-by-run", after)
  end)
  local graph <close> = tf.Graph():as_default()
  local v = tf.Variable(start, {name = "v"})
  local rate = tf.placeholder(start.dtype, {})
  local opt, after, feeds = make(rate), {}, {}
  local gradient, at = tf.placeholder(start.dtype, slices(gradients[1]) and {-1, table.unpack(start.shape, 2)} or start.shape)
  if slices(gradients[1]) then
    at = tf.placeholder("int32", {-1})
    gradient = tf.IndexedSlices(gradient, at, start.shape)
  end
  local train = opt:apply_gradients {{gradient, v}}
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  for i, g in ipairs(gradients) do
    if at then feeds[gradient.values], feeds[at] = value(g.values), rows(g) else feeds[gradient] = value(g) end
    if options.rates then feeds[rate] = options.rates[i] end
    sess:run(train, feeds)
    after[i] = sess:run(v, {}, {raw = true})
  end
  check("graph", after)
end
-- The numbers first ... first + n - 1 as a tensor of that shape.
function M.counting(n, first, shape)
  local list = {}
  for i = 1, n do list[i] = first + i - 1 end
  return tf.tensor(list):reshape(shape or {n})
end

-- ---------------------------------------------------------------------------------------- the machine

-- Whether a sanitizer watches: it keeps freed memory, and needs much of the address space.
function M.sanitized()
  local file = io.open "/proc/self/maps"
  if not file then return false end
  local maps = file:read "a"
  file:close()
  return maps:find "lib[at]san" ~= nil
end
-- A number of /proc/self/status; nil where there is none.
function M.process(key)
  local file = io.open "/proc/self/status"
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return tonumber(text:match(key .. ":%s+(%d+)"))
end

-- ---------------------------------------------------------------------------------------- files

local made = {}
function M.temporary(bytes, ending)
  local path = os.tmpname()
  os.remove(path)
  path = path .. (ending or "")
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
  made[#made + 1] = path
  return path
end
setmetatable(M, {__gc = function() for _, path in ipairs(made) do os.remove(path) end end})
function M.remove_temporary()
  for _, path in ipairs(made) do os.remove(path) end
  made = {}
end

-- The helpers themselves, when this file is run alone.
if arg and arg[0] and arg[0]:match "support%.lua$" then
  assert(M.near("a", tf.tensor {1, 2}, {1, 2.000001}))
  local quiet, errors = io.stderr, #faults
  io.stderr = {write = function() end}
  assert(not M.near("b", tf.tensor {1, 2}, {1, 2.1}) and not M.exact("c", tf.tensor {1}, {1, 1}))
  assert(not M.exact("d", tf.tensor(0.0), -0.0, true))
  M.raises("e", function() error "some words" end, "words")
  M.raises("f", function() return 1 end)
  M.raises("g", function() error "some words" end, "others")
  io.stderr = quiet
  assert(#faults == errors + 5, "faults are counted")
  faults = {}
  M.done() -- expect: ok
end
return M
