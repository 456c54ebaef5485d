-- provides tf: progress
-- Progress on standard error, with the time that is left (ETA): a bar on a terminal, plain lines (a tenth of the way each) elsewhere.
local tf, T = ...

local function clock() return tf.time() end
-- 75 -> "1:15", 4000 -> "1:06:40"
local function duration(seconds)
  local s = math.floor(seconds + 0.5)
  if s >= 3600 then return ("%d:%02d:%02d"):format(s // 3600, s // 60 % 60, s % 60) end
  return ("%d:%02d"):format(s // 60, s % 60)
end
local Progress = {}
Progress.__index = Progress
-- tf.progress(total, {label =}): p:update(done, text), p:close(); or in a <close> variable.
tf.progress = T.bind("tf.progress", "total label=", function(total, label)
  return setmetatable({total = total, label = label, done = -1, tenth = 0, started = clock(), terminal = T.is_terminal()}, Progress)
end)
function Progress:update(done, text)
  done = done or self.done + 1
  self.done, self.text = done, text or self.text or ""
  local part = math.min(done / self.total, 1)
  local spent = clock() - self.started
  local time = part >= 1 and "in " .. duration(spent) or done > 0 and "ETA " .. duration(spent / part * (1 - part)) or "ETA ?"
  local label = self.label ~= "" and self.label .. " " or ""
  if self.terminal then
    local now = clock()
    if part < 1 and self.drawn and now - self.drawn < 0.05 then return end
    self.drawn = now
    local width = 30
    local full = math.floor(part * width)
    io.stderr:write(("\r%s[%s%s] %3d%% %s %s\27[K"):format(label, ("#"):rep(full), ("."):rep(width - full), math.floor(part * 100), time, self.text))
    io.stderr:flush()
  elseif math.floor(part * 10) > self.tenth then
    self.tenth = math.floor(part * 10)
    io.stderr:write(("%s%d/%d %s %s\n"):format(label, done, self.total, time, self.text))
  end
end
function Progress:close()
  if self.terminal and self.drawn then io.stderr:write("\n") end
  self.drawn = nil
end
Progress.__close = Progress.close
