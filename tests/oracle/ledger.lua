-- Which recorded cases of layers and training (tests/data/oracle/layers, train) pass, fail or wait: runs the tests that compare with them and counts.
--
--     tfsdk run tests/oracle/ledger.lua [--kinds] [--waiting]
--
-- A line per file; with --kinds also one per class, function or rule, with --waiting the waiting cases. Exit code 1 if a case fails, is seen by no test and not
-- named below as waiting, or passes though it is named below.
local tf = require "tfsdk"
local here = arg[0]:match "^(.*)/" or "."
local program = arg[-2]
local flags = {}
for _, a in ipairs(arg) do flags[a] = true end

-- Cases that no test can pass yet: file, pattern of the id (all without one), why; a class that does not wait.
local waiting = {
  {"layers/recurrent", nil, "loops in graphs: recurrent layers", "TimeDistributed"},
  {"layers/models", "^text$", "loops in graphs: a model with an LSTM"},
  {"layers/summaries", "^text$", "loops in graphs: a model with an LSTM"},
  {"layers/applications", "^ConvNeXt", "not in features.md 5.6: ConvNeXt"},
  {"layers/applications", "^EfficientNet", "not in features.md 5.6: EfficientNet"},
  {"layers/applications", "^MobileNetV3", "not in features.md 5.6: MobileNetV3"},
  {"layers/activations", "^sparsemax$", "the recorded value is not sparsemax: its rows do not sum to 1 (Keras adds up all partial sums of the support)"},
}
-- The tests, the slow one first: it runs beside the others.
local tests = {"keras/applications", "keras/oracle_layers", "keras/oracle_train", "keras/oracle_models", "slim/oracle", "train/tf1", "train/models", "train/torch"}
local files = {"layers/core", "layers/reshaping", "layers/merging", "layers/activation_layers", "layers/regularization_layers", "layers/convolution", "layers/pooling",
  "layers/normalization", "layers/attention", "layers/preprocessing", "layers/recurrent", "layers/activations", "layers/losses", "layers/models", "layers/summaries",
  "layers/applications", "layers/slim", "train/initializers", "train/schedules", "train/metrics_keras", "train/metrics_tf1", "train/optimizer_traces", "train/runs_keras",
  "train/runs_models", "train/runs_tf1", "train/runs_torch", "train/keras_fit"}
local total = {layers = 780, train = 966} -- what was recorded

-- family -> id -> {passed = n, failed = n, why = text}
local said = {}
local function run_tests()
  local open = {}
  local function start(test)
    local notes = os.tmpname()
    local pipe = io.popen(("TFSDK_LEDGER='%s' '%s' run '%s/../%s.lua' 2>&1"):format(notes, program, here, test))
    open[#open + 1] = {test = test, notes = notes, pipe = pipe}
  end
  local function finish(at)
    local t = table.remove(open, at)
    local text = t.pipe:read "a"
    local ok, _, code = t.pipe:close()
    if not ok then print(("%s ended with %s: %s"):format(t.test, tostring(code), text:sub(-400))) end
    for line in io.lines(t.notes) do
      local family, id, verdict, why = line:match "^([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$"
      said[family] = said[family] or {}
      local s = said[family][id] or {passed = 0, failed = 0}
      said[family][id] = s
      s[verdict] = s[verdict] + 1
      if verdict == "failed" then s.why = why end
    end
    os.remove(t.notes)
    return ok
  end
  local all = true
  for i, test in ipairs(tests) do
    start(test)
    if i > 1 then all = finish(2) and all end
  end
  return finish(1) and all
end
local function kind_of(case)
  local name = case.class or case.loss or case.metric or case.optimizer or case.schedule or case.initializer or case.activation or case.constraint or case.regularizer or case.model
  if type(name) == "table" then name = name.class end
  if type(name) ~= "string" or name:find "[{ ]" then name = case.id end
  return (name:gsub("^keras%.%a+%.", ""):gsub("^tf%.compat%.v1%.", "tf."))
end
local function reason_to_wait(file, case)
  for _, w in ipairs(waiting) do
    if w[1] == file and (not w[2] or case.id:find(w[2])) and (not w[4] or case.class ~= w[4]) then return w[3] end
  end
end

local tests_passed = run_tests()
local faults, sums, reasons, order = {}, {}, {}, {}
for _, name in ipairs(files) do
  local file = assert(io.open(here .. "/../data/oracle/" .. name .. ".json"))
  local cases = tf.json.decode(file:read "a").cases
  file:close()
  local n, kinds, list = {passed = 0, failed = 0, waiting = 0}, {}, {}
  for _, case in ipairs(cases) do
    local s, why = said[name] and said[name][case.id], reason_to_wait(name, case)
    local verdict
    if s and s.failed > 0 then
      verdict = "failed"
      faults[#faults + 1] = ("%s %s fails: %s"):format(name, case.id, s.why)
    elseif s then
      verdict = "passed"
      if why then faults[#faults + 1] = ("%s %s passes, but is named as waiting"):format(name, case.id) end
    elseif why then
      verdict = "waiting"
      if not reasons[why] then
        reasons[why] = {}
        order[#order + 1] = why
      end
      table.insert(reasons[why], name .. " " .. case.id)
    else
      verdict = "failed"
      faults[#faults + 1] = ("%s %s: no test compares with it, and it is not named as waiting"):format(name, case.id)
    end
    n[verdict] = n[verdict] + 1
    local kind = kind_of(case)
    if not kinds[kind] then
      kinds[kind] = {passed = 0, failed = 0, waiting = 0}
      list[#list + 1] = kind
    end
    kinds[kind][verdict] = kinds[kind][verdict] + 1
  end
  print(("%-30s %4d cases: %4d passed, %d failed, %d waiting"):format(name, #cases, n.passed, n.failed, n.waiting))
  if flags["--kinds"] then
    for _, kind in ipairs(list) do
      local k = kinds[kind]
      print(("    %-40s %4d passed, %d failed, %d waiting"):format(kind, k.passed, k.failed, k.waiting))
    end
  end
  local group = name:match "^%a+"
  local sum = sums[group] or {cases = 0, passed = 0, failed = 0, waiting = 0}
  sums[group] = sum
  sum.cases = sum.cases + #cases
  for verdict, k in pairs(n) do sum[verdict] = sum[verdict] + k end
end
for _, group in ipairs{"layers", "train"} do
  local s = sums[group]
  print(("%-30s %4d cases: %4d passed, %d failed, %d waiting"):format("all of " .. group, s.cases, s.passed, s.failed, s.waiting))
  if s.cases ~= total[group] then faults[#faults + 1] = ("%s has %d cases, want %d"):format(group, s.cases, total[group]) end
end
for _, why in ipairs(order) do
  print(("%4d wait: %s"):format(#reasons[why], why))
  if flags["--waiting"] then print("      " .. table.concat(reasons[why], "\n      ")) end
end
for _, text in ipairs(faults) do print(text) end
os.exit(#faults == 0 and tests_passed and 0 or 1, true)
