-- {watch = "regex"}: values between feeds and fetches, as the run had them; nothing else changes.
-- Know: arithmetic.
package.path = (arg[0]:match "^.*/" or "./") .. "../cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local x = tf.placeholder("float32", {3}, {name = "x"})
local v = tf.Variable(tf.tensor(10, "float32"), {name = "v"})
local a = tf.add(x, 1, {name = "a"})
local b = tf.name_scope("deep", function() return tf.multiply(a, a, {name = "b"}) end)
local c = tf.reduce_sum(b, {name = "c"})
local unused = tf.negative(a, {name = "unused"})
local add = v:assign_add(c, {name = "add"})
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local feed = {[x] = {1, 2, 3}}
local r, seen = sess:run(c, feed, {watch = "^(a|deep/b):0$"})
t.exact("the fetch", r, 4 + 9 + 16)
t.exact("a", seen["a:0"], {2, 3, 4})
t.exact("deep/b", seen["deep/b:0"], {4, 9, 16})
local n = 0
for _ in pairs(seen) do n = n + 1 end
t.exact("nothing else", n, 2)
-- only what the fetch needs, and not what is fed
_, seen = sess:run(c, feed, {watch = "."})
t.check("not what the fetch does not need", seen["unused:0"] == nil)
t.check("not what is fed", seen["x:0"] == nil)
_, seen = sess:run(c, {a = {0, 0, 2}}, {watch = "."})
t.check("not behind a feed", seen["a:0"] == nil and seen["deep/b:0"] ~= nil)
t.exact("with the fed value", seen["deep/b:0"], {0, 0, 4})
-- state changes once; nests, traces and raw results are as without
local _, trace, both = sess:run({run = add, sum = c}, feed, {watch = "^c", trace = true})
t.exact("the variable", sess:run(v), 39)
t.exact("trace and values", {tf.kind(trace), both["c:0"]:item()}, {"Trace", 29})
t.raises("no regular expression", function() sess:run(c, feed, {watch = "a("}) end, "'a('")
t.raises("no text", function() sess:run(c, feed, {watch = 7}) end, "watch")
-- dumps
local folder = os.tmpname()
os.remove(folder)
t.raises("a folder that cannot be made", function() tf.debug.DumpingDebugWrapperSession(sess, "/dev/null/dump") end, "/dev/null")
-- the folder is made, as TensorFlow's session_root is
local dumping = tf.debug.DumpingDebugWrapperSession(sess, folder)
t.exact("results pass through", dumping:run({c = c}, feed).c, 29)
dumping:run(tf.log(x, {name = "log"}), {[x] = {0, 1, -1}})
t.exact("other members, too", dumping.graph, sess.graph)
local dump = tf.debug.DebugDumpDir(folder)
t.exact("runs", dump:runs(), {1, 2})
t.exact("a value", dump:get_tensor("deep/b", 1), {4, 9, 16})
local hits = dump:find(tf.debug.has_inf_or_nan)
t.exact("where NaN and Inf are", {#hits, hits[1].name, hits[1].run}, {1, "log:0", 2})
-- the program
local function inspect(words)
  local pipe = io.popen(("'%s' inspect %s 2>&1"):format(arg[-2] or "tfsdk", words))
  local text = pipe:read "a"
  local _, _, code = pipe:close()
  return text, code
end
local text, code = inspect(("'%s' -f has_inf_or_nan"):format(folder))
t.exact("inspect", code, 0)
t.check("only the bad one", text:find "log:0" and not text:find "deep/b", text)
t.check("its counts", text:find "log:0 +float32 +%[3%] +1 +1 +0 +0 +0" ~= nil, text)
text = inspect(("'%s/run_1.safetensors' -r 1:3 deep/b"):format(folder))
t.check("a slice", text:find "9" and text:find "16" and text:find "4 to 16", text)
text, code = inspect(("'%s/run_1.safetensors' -r 1:9 deep/b"):format(folder))
t.check("beyond the axis", code == 1 and text:find "1:9" ~= nil, text)
text, code = inspect(("'%s/run_1.safetensors' none"):format(folder))
t.check("no such tensor", code == 1 and text:find "'none'" ~= nil, text)
t.exact("wrong use", select(2, inspect "-q"), 2)
os.execute("rm -r '" .. folder .. "'")
t.done() -- expect: ok
