-- What the scripts of this folder share: a folder of their own, and event files as bytes.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local t = dofile((arg[0]:match "^.*/" or "./") .. "../../lua/cases/support.lua")
t.data = (arg[0]:match "^.*/" or "./") .. "../data/"
local made = {}
function t.folder()
  local path = os.tmpname()
  os.remove(path)
  made[#made + 1] = path
  return path
end
setmetatable(made, {__gc = function() for _, path in ipairs(made) do os.execute("rm -rf '" .. path .. "'") end end})
t.made = made
function t.read(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "a"
  file:close()
  return bytes
end
function t.files(folder)
  local out, pipe = {}, io.popen("ls '" .. folder .. "' 2>/dev/null")
  for name in pipe:lines() do out[#out + 1] = folder .. "/" .. name end
  pipe:close()
  return out
end
-- The records of an event file without their frames, whose lengths are believed.
function t.records(bytes)
  local out, at = {}, 1
  while at <= #bytes do
    local n = string.unpack("<I8", bytes, at)
    out[#out + 1] = bytes:sub(at + 12, at + 11 + n)
    at = at + 16 + n
  end
  return out
end
function t.hex(s) return (s:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end
function t.from_hex(s) return (s:gsub("%x%x", function(h) return string.char(tonumber(h, 16)) end)) end
function t.events(path)
  local tf, out = require "tfsdk", {}
  for e in tf.train.summary_iterator(path) do out[#out + 1] = e end
  return out
end
if arg[0]:match "support%.lua$" then
  assert(t.hex(t.from_hex "00ff7f") == "00ff7f" and #t.records(("\3" .. ("\0"):rep(11)) .. "abc" .. "\0\0\0\0") == 1)
  print "ok" -- expect: ok
  -- expect: ok
  -- the second is that of the cases' support, which finds itself run, too
end
return t
