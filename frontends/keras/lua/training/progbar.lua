-- keras.utils.Progbar: how far a loop is, how long it will take, and its numbers. A bar on a terminal; elsewhere (a file, a pipe) one
-- line at the end. To standard error, as all progress.
local tf, T = ...
local format = T.include("keras", "training/format")
T.keras_namespace "utils"

local Progbar = {}
Progbar.__index = Progbar
T.def("tf.keras.utils.Progbar", "target? width=30 verbose=1 interval=0.05 stateful_metrics? unit_name=step prefix? names? write?",
  function(target, width, verbose, interval, stateful, unit, prefix, names, write)
    local kept = {}
    for _, name in ipairs(stateful or {}) do kept[name] = true end
    return setmetatable({target = target, width = width, verbose = verbose, interval = interval, unit = unit, prefix = prefix, names = names or {},
      stateful = kept, sums = {}, order = {}, started = tf.time(), drawn = -math.huge, terminal = not write and T.is_terminal(),
      write = write or function(text) io.stderr:write(text) end}, Progbar)
  end)

-- What to show, in the order of `names`, then by name.
local function numbers(self, logs)
  local out, seen = {}, {batch = true, size = true, batch_loss = true}
  local function add(name)
    if seen[name] or logs[name] == nil then return end
    seen[name] = true
    if type(logs[name]) == "number" then out[#out + 1] = ("%s: %s"):format(name, format.number(logs[name])) end
  end
  for _, name in ipairs(self.names) do add(name) end
  for _, name in ipairs(format.sorted(logs)) do add(name) end
  return table.concat(out, " - ")
end
local function count(self, done)
  return self.target and ("%d/%d"):format(done, self.target) or tostring(done)
end
function Progbar:show(done, logs)
  if self.verbose ~= 1 or not self.terminal then return end
  local now = tf.time()
  if now - self.drawn < self.interval and done ~= self.target then return end
  self.drawn = now
  local each = (now - self.started) / math.max(done, 1)
  local bar = ""
  if self.target then
    local full = math.floor(math.min(done / self.target, 1) * self.width)
    local rest = self.width - full
    bar = (" [%s%s%s]"):format(("="):rep(math.max(full - 1, 0)), full == 0 and "" or rest == 0 and "=" or ">", ("."):rep(rest))
    bar = bar .. " - ETA: " .. format.duration(each * math.max(self.target - done, 0))
  else
    bar = " - " .. format.duration(now - self.started) .. " " .. format.pace(each, self.unit)
  end
  self.write(("\r%s%s - %s\27[K"):format(count(self, done), bar, numbers(self, logs)))
  io.stderr:flush()
end
-- The last state, and a new line.
function Progbar:finish(done, logs)
  if self.verbose == 0 then return end
  local took = tf.time() - self.started
  local pace = ("%s %s"):format(format.duration(took), format.pace(took / math.max(done, 1), self.unit))
  if self.verbose == 1 and self.terminal then
    self.write(("\r%s [%s] - %s - %s\27[K\n"):format(count(self, done), ("="):rep(self.width), pace, numbers(self, logs)))
  else
    self.write(("%s%s - %s - %s\n"):format(self.prefix and self.prefix .. " - " or "", count(self, done), pace, numbers(self, logs)))
  end
end
-- Keras' own call: values are pairs {name, value}, averaged over the steps unless they are stateful.
function Progbar:update(done, values, finalize)
  local logs = {}
  local step = done - (self.last or 0)
  self.last = done
  for _, pair in ipairs(values or {}) do
    local name, value = pair[1], pair[2]
    local sum = self.sums[name]
    if not sum then
      self.sums[name] = {0, 0}
      sum = self.sums[name]
      self.order[#self.order + 1] = name
    end
    if self.stateful[name] then sum[1], sum[2] = value, 1
    else sum[1], sum[2] = sum[1] + value * step, sum[2] + step end
  end
  for name, sum in pairs(self.sums) do logs[name] = sum[1] / math.max(sum[2], 1) end
  self.names = #self.names > 0 and self.names or self.order
  if finalize or finalize == nil and self.target and done >= self.target then self:finish(done, logs) else self:show(done, logs) end
end
function Progbar:add(n, values) self:update((self.last or 0) + n, values) end
return Progbar
