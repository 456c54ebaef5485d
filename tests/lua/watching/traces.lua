-- {trace = true}: what ran, when, and what it made; the results are those of a run without.
-- Know: the graph; Chrome's trace event format (fields ph, ts, dur, pid, tid, name, args).
package.path = (arg[0]:match "^.*/" or "./") .. "../cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local x = tf.placeholder("float32", {4, 3}, {name = "x"})
local w = tf.Variable(tf.ones({3, 2}, "float32", {now = true}), {name = "w"})
local y = tf.matmul(x, w, {name = "y"})
local z = tf.name_scope("head", function() return tf.reduce_sum(tf.exp(y * 0.5), {name = "z"}) end)
local step = tf.train.GradientDescentOptimizer(0.1):minimize(z)
local feed = {[x] = {{1, 2, 3}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}}}
local function fresh()
  local sess = tf.Session()
  sess:run(tf.global_variables_initializer())
  return sess
end
local a <close> = fresh()
local b <close> = fresh()
local plain = a:run({z, step}, feed)
local traced, trace = b:run({z, step}, feed, {trace = true})
t.exact("same result", traced, plain)
t.exact("same variable", b:run(w):table(), a:run(w):table())
t.exact("its kind", tf.kind(trace), "Trace")
-- every op that computes is there once
local calls = {}
for _, row in ipairs(trace:rows "op") do calls[row.name] = row.calls end
t.exact("forward product and the weights' gradient", calls.MatMul, 2)
t.exact("one update", calls.ResourceApplyGradientDescent, 1)
t.exact("variables read", calls.ReadVariableOp, 1)
-- shares add up, the slowest first
local sum, last = 0, math.huge
for _, row in ipairs(trace:rows "node") do
  sum = sum + row.share
  t.check("sorted", row.ns <= last)
  last = row.ns
end
t.near("shares", sum, 1)
local scopes, lines = {}, {}
for _, row in ipairs(trace:rows "scope") do scopes[row.name] = row end
for _, row in ipairs(trace:rows "line") do lines[row.name:match ":(%d+)$"] = row end
t.check("a scope", scopes.head ~= nil and scopes["(no scope)"] ~= nil)
t.check("a line", lines["7"] ~= nil and lines["8"] ~= nil)
t.raises("an unknown view", function() trace:rows "colour" end, "colour", "scope")
-- the text
local text = tostring(trace)
for _, word in ipairs {"1 run of 1 plan", "by op", "MatMul", "by scope", "head", "by line", "traces.lua:7", "memory of values"} do
  t.check("the table has " .. word, text:find(word, 1, true) ~= nil, text)
end
-- memory: y is 4 x 2 floats and lives until its gradient is taken
local memory = trace:memory()
t.check("a peak", memory.peak >= 32 and memory.peak < 400, memory.peak)
t.check("holders", #memory.holders > 0 and memory.holders[1].bytes >= 32)
local top = 0
for _, bytes in ipairs(memory.steps) do top = math.max(top, bytes) end
t.exact("the curve's top", top, memory.peak)
-- Chrome's format
local chrome = tf.json.decode(trace:chrome {show_dataflow = true})
local found, flows, before = {}, {s = 0, t = 0}, -1
for _, e in ipairs(chrome.traceEvents) do
  if e.ph == "X" then
    found[e.args.name] = e
    t.check("one after another", e.ts >= before - 0.002, e.ts, before)
    before = e.ts + e.dur
  elseif e.ph == "s" or e.ph == "t" then
    flows[e.ph] = flows[e.ph] + 1
  end
end
t.exact("its op", found.y.args.op, "MatMul")
t.exact("its output", found.y.args.output0, "float32[4,2]")
t.check("its line", found.y.args.line:find "traces.lua:7$" ~= nil)
t.check("arrows have two ends", flows.s == flows.t and flows.s > 2, flows.s)
-- files, several runs in one recorder are not mixed up, options
local path = os.tmpname()
trace:write(path)
local file = io.open(path)
t.exact("the file", #tf.json.decode(file:read "a").traceEvents > 5, true)
file:close()
os.remove(path)
t.raises("no such folder", function() trace:write(path .. "/no/x.json") end, path)
t.raises("an unknown option", function() a:run(z, feed, {trase = true}) end, "trase", "trace")
t.raises("an error is as without", function() a:run(z, nil, {trace = true}) end, "'x'")
t.exact("and the next run", a:run(y, feed, {trace = true}):rank(), 2)
t.done() -- expect: ok
