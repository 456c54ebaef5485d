-- tf.keras.callbacks.RemoteMonitor.
local tf, T = ...
local kind = T.include("keras", "callbacks")

-- Tells a server each epoch's numbers. `send` is a function(url, headers, body) that does it; without one the program curl is used. A server that cannot
-- be reached is told once and does not stop the training.
kind:class("RemoteMonitor", "root=http://localhost:9000 path=/publish/epoch/end/ field=data headers? send_as_json=false send?", {
  init = function(self, path)
    for _, name in ipairs {"root", "path", "field"} do
      if type(self[name]) ~= "string" then T.fail(path, "'%s' must be a string, not %s", name, tostring(self[name])) end
    end
  end,
  on_epoch_end = function(self, epoch, logs)
    local body = {epoch = epoch}
    for name, value in pairs(logs or {}) do body[name] = T.kind(value) and value:item() or value end
    local text, headers = tf.json.encode(body), {}
    for name, value in pairs(self.headers or {}) do headers[name] = value end
    if self.send_as_json then
      headers["Content-Type"] = "application/json"
    else
      headers["Content-Type"] = "application/x-www-form-urlencoded"
      text = self.field .. "=" .. text:gsub("[^%w%-._~]", function(c) return ("%%%02X"):format(c:byte()) end)
    end
    local ok, why = pcall(self.send or self.by_curl, self.root .. self.path, headers, text)
    if (not ok or why == false) and not self.told then
      self.told = true
      io.stderr:write(("RemoteMonitor: could not reach '%s'%s\n"):format(self.root, ok and "" or ": " .. tostring(why)))
    end
  end,
  -- The body goes through a file: writing into a pipe that nobody reads would end the process.
  by_curl = function(url, headers, text)
    local function quoted(s) return "'" .. s:gsub("'", "'\\''") .. "'" end
    local path = os.tmpname()
    local file = io.open(path, "wb")
    if not file then return false end
    file:write(text)
    file:close()
    local list = {"curl", "-s", "-f", "-m", "10", "-o", "/dev/null", "--data-binary", quoted("@" .. path)}
    for name, value in pairs(headers) do
      list[#list + 1] = "-H"
      list[#list + 1] = quoted(name .. ": " .. value)
    end
    list[#list + 1] = quoted(url)
    local ok = os.execute(table.concat(list, " ") .. " > /dev/null 2>&1")
    os.remove(path)
    return ok == true
  end})
return kind
