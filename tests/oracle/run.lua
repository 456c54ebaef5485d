-- The outside judge: values, gradients and second derivatives recorded from TensorFlow, against ours.
--
--     tfsdk run tests/oracle/run.lua [FAMILY...] [--case ID] [--list-missing]
--
-- A case passes when it agrees in each of its modes (modes.lua). A line per difference, and at the end
-- "oracle: P passed, F failed, M ops not there yet (C cases)"; exit code 1 if anything failed. --list-missing says
-- which ops and functions are not there yet, and how many cases wait for each.
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. package.path
local tf = require "tfsdk"
local data = require "data"
local calls = require "calls"
local compare = require "compare"
local modes = require "modes"
local variables = require "variables"
local exceptions = require "exceptions"

local folder = here .. "/../data/oracle/ops"
local order = {"eager", "graph", "unknown", "rankless"}

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

-- The gradient that there is none of, where the record says what "none" means: zeros.
local function zeros(like) return tf.eager(function() return tf.zeros_like(like) end) end

-- What differs in one mode: a list of texts. `needed` tells which parts of the case's exception are.
local function differences(case, family, result, needed)
  local entry = exceptions.values[case.id] or {}
  local found = {}
  local function complain(label, text) found[#found + 1] = label .. text end
  local function compare_one(label, got, want, is_output)
    local rule = {rtol = case.rtol or 0, atol = case.atol or 0, signed_zero = is_output and case.signed_zero,
      nan_or_limit = not is_output and case.id:find "special" ~= nil}
    if type(entry[label]) == "string" then -- another tensor of the case is right
      if compare.differs(got, want, rule) then needed[label] = true end
      want = family:tensor(case.id .. "/" .. entry[label])
    else
      rule.except = entry[label]
    end
    if entry.rtol then
      if compare.differs(got, want, rule) then needed.rtol = true end
      rule.rtol, rule.atol = entry.rtol, entry.rtol
    end
    local message, as_recorded = compare.differs(got, want, rule)
    if message then complain(label, message) end
    if rule.except and not as_recorded then needed[label] = true end
  end
  local function gradients(kind, names, list, second)
    for i, name in ipairs(names) do
      local label, want, got = kind .. i - 1, family:tensor(name), list[i]
      if want and not got and second then got = zeros(want) end
      if want and got then compare_one(label, got, want)
      elseif want then complain(label, ": there is no gradient")
      elseif got and not (second and not got:bytes():find "[^\0]") then
        complain(label, ": got a gradient, want none")
      end
    end
  end
  for i, name in ipairs(case.outputs) do
    local label, want = "out" .. i - 1, family:tensor(name)
    if result.outputs[i] then compare_one(label, result.outputs[i], want, true)
    else complain(label, " is missing") end
    local shape = result.shapes and result.shapes[i]
    if not compare.may_be(shape, want.shape) then
      complain(label, (": the graph says shape %s, want %s"):format(compare.shape_text(shape),
        compare.shape_text(want.shape)))
    end
  end
  if case.dx then gradients("dx", case.dx, result.dx) end
  if case.ddx then
    gradients("ddx", case.ddx, result.ddx, true)
    gradients("ddy", case.ddy, result.ddy, true)
  end
  return found
end

-- "passed", "failed" with a list of {mode, text}, or "missing" with what is.
local function judge(case, family)
  local absent_type = calls.absent_type(family:unusual_types(case))
  if absent_type then return "missing", absent_type end
  local x = family:tensors(case.inputs)
  local dy, dv = case.dy and family:tensors(case.dy), case.dv and family:tensors(case.dv)
  local how = variables.writes(case) and variables or modes
  local faults, needed = {}, {}
  for _, mode in ipairs(order) do
    if how[mode] and not (mode == "rankless" and case.op:find "^tf%.") then
      local ok, result = pcall(how[mode], case, x, dy, dv)
      if not ok then
        local absent = calls.absent(case, result)
        if absent then return "missing", absent end
        faults[#faults + 1] = {mode, "error: " .. one_line(result)}
      else
        for _, text in ipairs(differences(case, family, result, needed)) do faults[#faults + 1] = {mode, text} end
      end
    end
  end
  for part in pairs(exceptions.values[case.id] or {}) do
    if part ~= "reason" and not needed[part] then
      faults[#faults + 1] = {"all modes", part .. ": the exception is no longer needed"}
    end
  end
  if #faults > 0 then return "failed", faults end
  return "passed"
end

-- Equal faults of several modes as one.
local function merged(faults)
  local out, at = {}, {}
  for _, fault in ipairs(faults) do
    local mode, text = fault[1], fault[2]
    if at[text] then
      at[text][1] = at[text][1] .. " " .. mode
    else
      at[text] = {mode, text}
      out[#out + 1] = at[text]
    end
  end
  return out
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
        for _, fault in ipairs(merged(detail)) do print(("%s [%s] %s"):format(case.id, fault[1], fault[2])) end
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
