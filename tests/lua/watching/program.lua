-- `tfsdk profile FILE`: the script runs as ever, then the table; `--trace FILE` writes Chrome's format, also with `run`.
-- Know: the script's own lines and ops; exit codes of the program's help.
package.path = (arg[0]:match "^.*/" or "./") .. "../cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local script = t.temporary([[
local tf = require "tfsdk"
local x = tf.placeholder("float32", {64, 64})
local y = tf.reduce_sum(tf.name_scope("model", function() return tf.matmul(x, x) end))
local sess <close> = tf.Session()
local data = tf.data.from_tensor_slices(tf.ones({20, 64, 64}, "float32", {now = true}))
for batch in data:iter() do sess:run(y, {[x] = batch}) end
print("the script's own line", arg[1])
if arg[2] then error "on purpose" end
]], ".lua")
local out = t.temporary("", ".json")
local function tfsdk(words)
  local pipe = io.popen(("'%s' %s 2>&1"):format(arg[-2] or "tfsdk", words))
  local text = pipe:read "a"
  local _, _, code = pipe:close()
  return text, code
end
local function events()
  local file = io.open(out)
  local list, names = tf.json.decode(file:read "a").traceEvents, {}
  file:close()
  for _, e in ipairs(list) do if e.ph == "X" then names[e.name] = (names[e.name] or 0) + 1 end end
  return names
end
local text, code = tfsdk(("profile --trace '%s' '%s' A"):format(out, script))
t.exact("exit code", code, 0)
for _, words in ipairs {"the script's own line\tA", "20 runs of 1 plan", "MatMul", "model", ":3 ", "waiting for datasets", "memory of values"} do
  t.check("says " .. words, text:find(words, 1, true) ~= nil, text)
end
t.exact("twenty products", events().MatMul, 20)
io.open(out, "w"):close()
text, code = tfsdk(("run --trace '%s' '%s' B"):format(out, script))
t.check("run prints no table", code == 0 and text:find("by op", 1, true) == nil, text)
t.exact("the same events", events().MatMul, 20)
text, code = tfsdk(("profile '%s' C fail"):format(script))
t.exact("the script's error is the exit code", code, 1)
t.check("what ran until then is shown", text:find("20 runs of 1 plan", 1, true) and text:find("on purpose", 1, true), text)
text, code = tfsdk(("run --trace /no/such/folder/x.json '%s' D"):format(script))
t.check("a file that cannot be written", code == 1 and text:find("/no/such/folder/x.json", 1, true), text)
t.exact("wrong use", select(2, tfsdk "profile"), 2)
local nothing = t.temporary("print(1)", ".lua")
text, code = tfsdk(("profile '%s'"):format(nothing))
t.check("nothing to profile", code == 0 and text:find("no session ran", 1, true), text)
t.remove_temporary()
t.done() -- expect: ok
