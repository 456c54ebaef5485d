-- Ten thousand training steps with a hundred batch sizes: more than a session keeps plans for. Memory stays where it is after
-- the first round, and giving it back leaves the variables as they are.
local tf = require "tfsdk"
tf.set_random_seed(3)
local x, y = tf.placeholder("float32", {-1, 12}), tf.placeholder("float32", {-1, 1})
local w1 = tf.get_variable("w1", {12, 16}, {initializer = tf.truncated_normal_initializer{stddev = 0.3}})
local w2 = tf.get_variable("w2", {16, 1}, {initializer = tf.truncated_normal_initializer{stddev = 0.3}})
local loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2) - y))
local step = tf.train.MomentumOptimizer(1e-3, 0.9):minimize(loss)
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())

-- What the runtime holds, and what the process has: a sanitizer keeps freed memory for a while, so only the first counts there.
local function memory()
  collectgarbage()
  local info = tf.memory_info()
  for line in io.lines "/proc/self/status" do
    info.resident = info.resident or tonumber(line:match "^VmRSS:%s+(%d+)") -- kilobytes
  end
  return info
end
local sanitized = false
for line in io.lines "/proc/self/maps" do sanitized = sanitized or line:match "lib[atu]b?san" ~= nil end
local batches = {}
for n = 1, 100 do batches[n] = {x = tf.random.normal({n, 12}, {seed = n, now = true}), y = tf.random.normal({n, 1}, {seed = n + 200, stddev = 0.1, now = true})} end
local function round(times)
  local last
  for _ = 1, times do
    for _, b in ipairs(batches) do last = sess:run({step, loss = loss}, {[x] = b.x, [y] = b.y}).loss end
  end
  return last
end

local first = round(10)
local before = memory()
local last = round(90)
local after = memory()
assert(after.live_blocks <= before.live_blocks + 8,
  ("9,000 steps left %d blocks"):format(after.live_blocks - before.live_blocks))
assert(after.in_use <= before.in_use, ("memory in use grew from %d to %d bytes"):format(before.in_use, after.in_use))
assert(sanitized or after.resident - before.resident < 2048,
  ("memory grew by %d kB in 9,000 steps"):format(after.resident - before.resident))
assert(last < first, ("the loss was %g, then %g"):format(first, last))
local total = tf.reduce_sum(tf.abs(w1))
local kept = sess:run(total)
sess:release_memory()
assert(sess:run(total) == kept, "releasing memory changed a variable")
assert(round(1) <= last * 1.01)
