-- Texts: fields of a path as Python writes them, seconds, numbers of a progress line.
local tf, T = ...
local format = {}

-- "{epoch:02d}-{val_loss:.2f}" with values by name.
function format.fields(text, values, who)
  return (text:gsub("{([%w_]*):?([^}]*)}", function(name, spec)
    local value = values[name]
    if value == nil then
      local names = format.sorted(values)
      T.fail(who, "'%s' asks for '%s'; there are %s", text, name, table.concat(names, ", "))
    end
    if T.kind(value) then value = value:item() end
    if spec == "" then
      return math.type(value) == "integer" and tostring(value) or type(value) == "number" and ("%.14g"):format(value) or tostring(value)
    end
    if spec:find "d$" then value = math.floor(value) end
    local ok, out = pcall(string.format, "%" .. spec, value)
    if not ok then T.fail(who, "'%s': the format '%s' of '%s' is not understood", text, spec, name) end
    return out
  end))
end
function format.sorted(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end
-- 5s, 1:05, 2:01:05
function format.duration(seconds)
  seconds = math.floor(seconds + 0.5)
  if seconds >= 3600 then return ("%d:%02d:%02d"):format(seconds // 3600, seconds % 3600 // 60, seconds % 60) end
  if seconds >= 60 then return ("%d:%02d"):format(seconds // 60, seconds % 60) end
  return ("%ds"):format(seconds)
end
function format.pace(seconds, unit)
  if seconds >= 1 or seconds == 0 then return ("%.0fs/%s"):format(seconds, unit) end
  if seconds >= 1e-3 then return ("%.0fms/%s"):format(seconds * 1e3, unit) end
  return ("%.0fus/%s"):format(seconds * 1e6, unit)
end
function format.number(x)
  if T.kind(x) then return tostring(x) end
  if math.abs(x) > 1e-3 or x == 0 then return ("%.4f"):format(x) end
  return ("%.4e"):format(x)
end
return format
