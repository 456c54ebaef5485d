-- A summary that is none is an error of that call: the file goes on.
local tf = require "tfsdk"
local t = dofile((arg[0]:match "^.*/" or "./") .. "support.lua")
local folder = t.folder()
local w = tf.summary.FileWriter(folder)
w:scalar("before", 1, 1)
for _, bytes in ipairs {"no summary", "\x0a\xff", "\x0a\x03\x0a\x09x"} do -- text; cut off; a value that is cut off
  local ok, why = pcall(w.add_summary, w, bytes, 2)
  t.exact("refused", {ok, tostring(why):match "is no serialized Summary"}, {false, "is no serialized Summary"})
end
w:scalar("behind", 2, 3)
w:flush()
w:close()
local got = {}
for _, e in ipairs(t.events(t.files(folder)[1])) do if e.summary then got[#got + 1] = e.summary.value[1].tag .. " " .. e.step end end
t.exact("the file", got, {"before 1", "behind 3"})
t.done() -- expect: ok
