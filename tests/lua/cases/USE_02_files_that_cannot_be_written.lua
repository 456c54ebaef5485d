-- A file that cannot be written is an error that says which and why, never a short file: whoever writes it. What a link leads to is
-- written, pipes and devices are written into, and nothing is left behind. (/dev/full stands behind a link: no test may replace it.)
local tf = require "tfsdk"
local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir " .. folder .. " && ln -s /dev/full " .. folder .. "/full && ln -s real.npy " .. folder .. "/link.npy && mkdir " .. folder .. "/folder.npy")
local x = tf.range(6, {now = true})
local function fault(f)
  local ok, e = pcall(f)
  print(ok, ok or e.code, ok or (e.message:gsub(folder, "F")))
end
local graph = tf.Graph()
graph:as_default(function() return tf.zeros {2} end)
fault(function() tf.write_npy(folder .. "/full", x) end)
-- expect: false	RESOURCE_EXHAUSTED	F/full: the file cannot be written: No space left on device
fault(function() tf.train.write_graph(graph, folder, "full") end)
-- expect: false	RESOURCE_EXHAUSTED	F/full: the file cannot be written: No space left on device
fault(function() tf.train.update_checkpoint_state(folder, folder .. "/m", nil, "full") end)
-- expect: false	RESOURCE_EXHAUSTED	F/full: the file cannot be written: No space left on device
fault(function()
  local writer = tf.python_io.TFRecordWriter(folder .. "/full")
  writer:write "a"
  writer:flush()
end)
-- expect: false	RESOURCE_EXHAUSTED	F/full: the file cannot be written: No space left on device
local sess <close> = tf.Session {graph = graph}
fault(function()
  local _, trace = sess:run("zeros:0", {}, {trace = true})
  trace:write(folder .. "/full")
end)
-- expect: false	RESOURCE_EXHAUSTED	F/full: the file cannot be written: No space left on device
fault(function() tf.write_npy(folder .. "/nowhere/a.npy", x) end)
-- expect: false	NOT_FOUND	F/nowhere/a.npy: the file cannot be written: No such file or directory
fault(function() tf.write_npy(folder .. "/folder.npy", x) end)
-- expect: false	INVALID_ARGUMENT	F/folder.npy: the file cannot be written: Is a directory

-- a link to a file that is not there yet, and then to one that is
for _ = 1, 2 do
  tf.write_npy(folder .. "/link.npy", x)
  print(tf.read_npy(folder .. "/real.npy"):sum():item(), os.execute("test -L " .. folder .. "/link.npy"))
end
-- expect: 15	true	exit	0
-- expect: 15	true	exit	0
os.execute("mkfifo " .. folder .. "/pipe && (cat " .. folder .. "/pipe > " .. folder .. "/read.npy &)")
tf.write_npy(folder .. "/pipe", x)
os.execute("for i in 1 2 3 4 5 6 7 8 9; do test -s " .. folder .. "/read.npy && break; sleep 0.1; done; test -p " .. folder .. "/pipe")
print(tf.read_npy(folder .. "/read.npy"):sum():item())
-- expect: 15
os.execute("ls " .. folder .. "; rm -r " .. folder)
-- expect: folder.npy
-- expect: full
-- expect: link.npy
-- expect: pipe
-- expect: read.npy
-- expect: real.npy
