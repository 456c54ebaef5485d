-- DEV-01: which devices are seen, and what happens without a GPU. Here: a machine whose GPUs are hidden.
-- Know: contract: soft placement (ours unless said otherwise) runs on the CPU and says so once; without it an error
-- names the node and the devices that exist; exhausted memory is an error, and the session goes on.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

-- Runs a script in another process: its output with its log, and the exit code.
local function run(environment, options, code)
  local path = t.temporary(code, ".lua")
  local pipe = io.popen(("%s '%s' run %s '%s' 2>&1"):format(environment, arg[-2], options, path))
  local text = pipe:read "a"
  local _, _, exit = pipe:close()
  return text, exit
end
local code = [[
  local tf = require "tfsdk"
  local x = tf.placeholder("float32", {2}, {name = "x"})
  local y
  tf.device("gpu:0", function() y = tf.add(x, x, {name = "doubled"}) end)
  local soft <close> = tf.Session{allow_soft_placement = %s}
  local feeds = {[x] = {1, 2}}
  for _ = 1, 3 do
    local ok, e = pcall(soft.run, soft, y, feeds)
    print(ok and table.concat(e:table(), " ") or tostring(e))
  end
  local hard <close> = tf.Session()
  print(hard:run(x, feeds):table()[2])]]
local hidden = 'CUDA_VISIBLE_DEVICES=""'
if arg[-1] == "run" then
  for _, list in ipairs {"", "-1", "-1,0"} do -- a list ends at its first invalid entry
    local environment = ('CUDA_VISIBLE_DEVICES="%s"'):format(list)
    local text = run(environment, "", code:format "true")
    local results, messages = select(2, text:gsub("2%.0 4%.0", "")), select(2, text:gsub("node 'doubled' asks for 'cuda:0'", ""))
    t.exact("soft placement, '" .. list .. "'", results, 3)
    t.exact("one message, '" .. list .. "'", messages, 1)
    t.check("the last line", text:find "2%.0\n$" ~= nil, text)
    text = run(environment, "", code:format "false")
    t.exact("without soft placement: errors", select(2, text:gsub("there is no device 'cuda:0'", "")), 3)
    t.exact("they name the node", select(2, text:gsub("doubled", "")), 3)
    t.exact("they name the devices that exist", select(2, text:gsub("cpu:0", "")), 3)
    t.check("and the next run works", text:find "2%.0\n$" ~= nil, text)
  end
  local text, exit = run(hidden, "--device cuda:0", "print 'never'")
  t.exact("--device cuda:0: exit code", exit, 3)
  t.check("--device cuda:0: message", text:find("cuda:0", 1, true) and text:find("cpu:0", 1, true) and not text:find "never", text)
  text = run(hidden, "", [[
    local tf = require "tfsdk"
    print(pcall(tf.Session, {device = "cuda:0"}))
    tf.enable_eager_execution()
    print(pcall(tf.device, "cuda:0"))
    print((tf.tensor {1} + 1):item())]])
  t.exact("asked for by name: errors with the devices", select(2, text:gsub("there is no device 'cuda:0'; the devices are: cpu:0", "")), 2)
  t.check("asked for by name: goes on", text:find "2%.0\n$" ~= nil, text)
  t.remove_temporary()
end
-- Memory: an error, then the session goes on, and what the failed run held is free again.
do
  local graph <close> = tf.Graph():as_default()
  local n, x = tf.placeholder("int64", {3}), tf.placeholder("float32", {2})
  local big, small = tf.fill(n, tf.tensor(1)) * 2, x * 2
  local sess <close> = tf.Session()
  for _ = 1, 3 do
    t.raises("a tensor beyond the memory", function() return sess:run({big, small}, {[n] = {1000000, 1000000, 1000}, [x] = {1, 2}}) end, "memory")
    t.exact("a small one", sess:run(small, {[x] = {1, 2}}), {2, 4})
    t.exact("the same node, small", sess:run(big, {[n] = {1, 1, 2}}), {{{2, 2}}})
  end
end
t.done() -- expect: ok
