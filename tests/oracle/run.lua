-- The outside judge: values, gradients and second derivatives recorded from TensorFlow, against ours.
--
--     tfsdk run tests/oracle/run.lua [FAMILY...] [--case ID] [--list-missing]
--
-- A case passes when it agrees in each of its modes (modes.lua). A line per difference, and at the end
-- "oracle: P passed, F failed, M ops not there yet (C cases)"; exit code 1 if anything failed. --list-missing says
-- which ops and functions are not there yet, and how many cases wait for each.
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. package.path
local data = require "data"
local calls = require "calls"
local compare = require "compare"
local modes = require "modes"
local variables = require "variables"
local exceptions = require "exceptions"

local folder = here .. "/../data/oracle/ops"
local order = {"eager", "graph", "unknown"}

local function usage(message)
  io.stderr:write(message, "\nusage: run.lua [FAMILY...] [--case ID]... [--list-missing]\n",
    "families: ", table.concat(data.families, " "), "\n")
  os.exit(2)
end

local function read_arguments()
  local chosen, only, list = {}, nil, false
  local known = {}
  for _, name in ipairs(data.families) do known[name] = true end
  local i = 1
  while arg[i] do
    if arg[i] == "--case" and arg[i + 1] then
      only, i = only or {}, i + 1
      only[arg[i]] = true
    elseif arg[i] == "--list-missing" then list = true
    elseif known[arg[i]] then chosen[#chosen + 1] = arg[i]
    else usage(("unknown family or option '%s'"):format(arg[i])) end
    i = i + 1
  end
  return #chosen > 0 and chosen or data.families, only, list
end

-- Errors as one line.
local function one_line(err)
  return (tostring(err):gsub("%s*\n%s*", " | "))
end

-- What differs in one mode: a list of texts. `fits` collects which excepted tensors were as recorded.
local function differences(case, family, result, fits)
  local found = {}
  local function check(kind, names, list, zero_for_none)
    for i = 1, #names do
      local label = kind .. i - 1
      local want, got = family:tensor(names[i]), list and list[i]
      if want and not got then
        found[#found + 1] = label .. (kind == "out" and " is missing" or ": there is no gradient")
      elseif want then
        local rule = {rtol = case.rtol or 0, atol = case.atol or 0, except = exceptions.elements(case, label),
          signed_zero = kind == "out" and case.signed_zero,
          nan_or_limit = kind ~= "out" and case.id:find "special" ~= nil}
        local message, all = compare.differs(got, want, rule)
        if message then found[#found + 1] = label .. message end
        if rule.except and not all then fits[label] = false end
      elseif got and kind ~= "out" then
        local zero = not got:bytes():find "[^\0\x80]"
        if not (zero and zero_for_none) then found[#found + 1] = label .. ": got a gradient, want none" end
      end
    end
  end
  check("out", case.outputs, result.outputs)
  for i, name in ipairs(case.outputs) do
    local shape = result.shapes and result.shapes[i]
    local want = family:tensor(name).shape
    if not compare.may_be(shape, want) then
      found[#found + 1] = ("out%d: the graph says shape %s, want %s"):format(i - 1, compare.shape_text(shape),
        compare.shape_text(want))
    end
  end
  if case.dx then check("dx", case.dx, result.dx) end
  if case.ddx then -- null means zero
    check("ddx", case.ddx, result.ddx, true)
    check("ddy", case.ddy, result.ddy, true)
  end
  return found
end

-- "passed", "failed" with a list of {mode, text}, or "missing" with what is.
local function judge(case, family)
  local unusual = family:unusual_types(case)
  if #unusual > 0 then return "missing", unusual[1] end
  local x = family:tensors(case.inputs)
  local dy, dv = case.dy and family:tensors(case.dy), case.dv and family:tensors(case.dv)
  local how = variables.writes(case) and variables or modes
  local faults, fits = {}, {}
  for _, mode in ipairs(order) do
    if not exceptions.skips(case, mode) then
      local ok, result = pcall(how[mode], case, x, dy, dv)
      if not ok then
        local absent = calls.absent(result)
        if absent then return "missing", absent end
        faults[#faults + 1] = {mode, "error: " .. one_line(result)}
      else
        for _, text in ipairs(differences(case, family, result, fits)) do faults[#faults + 1] = {mode, text} end
      end
    end
  end
  for label in pairs(exceptions.values[case.id] or {}) do
    if label ~= "reason" and fits[label] == nil then
      faults[#faults + 1] = {"all modes", label .. ": the exception is no longer needed"}
    end
  end
  if #faults > 0 then return "failed", faults end
  return "passed"
end

local families, only, list_missing = read_arguments()
local passed, failed, missing, waiting, absent_ops, n_absent = 0, 0, 0, {}, {}, 0
for _, name in ipairs(families) do
  local family = data.read(folder, name)
  for _, case in ipairs(family.cases) do
    if not only or only[case.id] then
      local verdict, detail = judge(case, family)
      if verdict == "passed" then
        passed = passed + 1
      elseif verdict == "failed" then
        failed = failed + 1
        for _, fault in ipairs(detail) do print(("%s [%s] %s"):format(case.id, fault[1], fault[2])) end
      else
        missing = missing + 1
        if not absent_ops[case.op] then n_absent = n_absent + 1 end
        absent_ops[case.op] = true
        local key = ("%s (for %s)"):format(detail, case.op)
        waiting[key] = (waiting[key] or 0) + 1
      end
    end
  end
  family = nil
  collectgarbage()
end
if list_missing then
  local keys = {}
  for key in pairs(waiting) do keys[#keys + 1] = key end
  table.sort(keys)
  for _, key in ipairs(keys) do print(("not there yet: %s: %d cases"):format(key, waiting[key])) end
end
print(("oracle: %d passed, %d failed, %d ops not there yet (%d cases)"):format(passed, failed, n_absent, missing))
os.exit(failed == 0 and 0 or 1)
