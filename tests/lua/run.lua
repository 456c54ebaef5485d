-- Runs the Lua tests: each file is a script of one behaviour; what it must print stands in it.
--
--     tfsdk run tests/lua/run.lua [FOLDER or FILE]...
--
--   print(1 + 1)            -- expect: 2
--   -- expect: 2              the same on a line of its own: the lines of standard output in order
--   -- expect match: ^%d+$    a Lua pattern in place of the text
--   -- expect error: words    standard error has these words, and the exit code is 1
--   -- needs: Svd             skipped as long as there is no such op
--   -- arguments: a b         for the script
local tf = require "tfsdk"
local program = arg[-2]
local here = arg[0]:match "^(.*)/" or "."

local function quote(s) return "'" .. s:gsub("'", "'\\''") .. "'" end
local function lines_of(command)
  local out = {}
  local pipe = io.popen(command)
  for line in pipe:lines() do out[#out + 1] = line end
  local _, kind, code = pipe:close()
  return out, kind == "exit" and code or -1
end

local function read_expectations(path)
  local want = {lines = {}, errors = {}, needs = {}, arguments = ""}
  for line in io.lines(path) do
    local text = line:match "%-%- expect: ?(.*)$"
    if text then want.lines[#want.lines + 1] = {text = text} end
    local pattern = line:match "%-%- expect match: ?(.*)$"
    if pattern then want.lines[#want.lines + 1] = {pattern = pattern} end
    local fault = line:match "%-%- expect error: ?(.*)$"
    if fault then want.errors[#want.errors + 1] = fault end
    local op = line:match "^%-%- needs: (%S+)"
    if op then want.needs[#want.needs + 1] = op end
    want.arguments = line:match "^%-%- arguments: (.*)$" or want.arguments
  end
  return want
end

local function check(path)
  local want = read_expectations(path)
  for _, op in ipairs(want.needs) do
    if not pcall(function() return tf.raw[op] end) then return "skipped", "there is no op " .. op .. " yet" end
  end
  if #want.lines == 0 and #want.errors == 0 then return "failed", "expects nothing" end
  local stderr = os.tmpname()
  local got, code = lines_of(("%s run %s %s 2>%s"):format(quote(program), quote(path), want.arguments, quote(stderr)))
  local file = io.open(stderr)
  local faults = file:read "a"
  file:close()
  os.remove(stderr)
  local wrong = {}
  for i = 1, math.max(#got, #want.lines) do
    local w, g = want.lines[i], got[i]
    local fits = w and g and (w.text and w.text:gsub("%s+$", "") == g:gsub("%s+$", "") or w.pattern and g:find(w.pattern) ~= nil)
    if not fits then
      wrong[#wrong + 1] = ("  line %d: expected %s\n          got      %s"):format(i, w and (w.text or "match " .. w.pattern) or "nothing", g or "nothing")
      if #wrong == 5 then break end
    end
  end
  for _, text in ipairs(want.errors) do
    if not faults:find(text, 1, true) then wrong[#wrong + 1] = "  standard error lacks: " .. text end
  end
  local expected_code = #want.errors > 0 and 1 or 0
  if code ~= expected_code then wrong[#wrong + 1] = ("  exit code %d, expected %d"):format(code, expected_code) end
  if #wrong > 0 then
    if faults ~= "" then wrong[#wrong + 1] = "  standard error: " .. faults:sub(1, 600) end
    return "failed", table.concat(wrong, "\n")
  end
  return "passed"
end

local files = {}
local targets = #arg > 0 and {table.unpack(arg)} or {here}
for _, target in ipairs(targets) do
  if target:find "%.lua$" then
    files[#files + 1] = target
  else
    for _, path in ipairs((lines_of("find " .. quote(target) .. " -name '*.lua' | sort"))) do
      if not path:find "/run%.lua$" then files[#files + 1] = path end
    end
  end
end
local count = {passed = 0, failed = 0, skipped = 0}
for _, path in ipairs(files) do
  local verdict, why = check(path)
  count[verdict] = count[verdict] + 1
  if verdict ~= "passed" then print(verdict, path, verdict == "failed" and "\n" .. why or why) end
end
print(("%d passed, %d failed, %d skipped"):format(count.passed, count.failed, count.skipped))
os.exit(count.failed == 0 and count.passed + count.skipped > 0 and 0 or 1, true)
