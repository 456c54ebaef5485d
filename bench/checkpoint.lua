-- What saving costs: bytes a second against `dd` with fsync in the same folder, in turn, and the time of a step while a
-- checkpoint is saved in the background against one that is not.
--
--     tfsdk run bench/checkpoint.lua FOLDER [MEGABYTES [ROUNDS]]
local tf = require "tfsdk"
local folder, megabytes, rounds = arg[1] or "run", tonumber(arg[2]) or 1000, tonumber(arg[3]) or 5
os.execute("mkdir -p " .. folder)
local function median(list) table.sort(list) return list[(#list + 1) // 2] end
local n = 16
local side = math.floor(math.sqrt(megabytes * 1e6 / 4 / n))
local vars, init = {}, {}
for i = 1, n do vars[i] = tf.Variable(tf.fill({side, side}, i / 7), {name = "w" .. i}) end
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local bytes = 4 * n * side * side
local saver = tf.train.Saver {var_list = vars, max_to_keep = 1}
local ours, theirs = {}, {}
for round = 1, rounds do
  os.execute "sync"
  local t = tf.time()
  saver:save(sess, folder .. "/model", {global_step = round})
  ours[round] = bytes / (tf.time() - t) / 1e6
  os.execute "sync"
  t = tf.time()
  os.execute(("dd if=/dev/zero of=%s/dd bs=1M count=%d conv=fsync 2>/dev/null"):format(folder, bytes // (1 << 20)))
  theirs[round] = (bytes // (1 << 20) << 20) / (tf.time() - t) / 1e6
  os.remove(folder .. "/dd")
end
local a, b = median(ours), median(theirs)
print(("save   %.0f MB: %.0f MB/s; dd with fsync: %.0f MB/s; ratio %.2f (medians of %d)"):format(bytes / 1e6, a, b, a / b, rounds))
local t = tf.time()
saver:restore(sess, folder .. "/model-" .. rounds)
print(("restore with checksums: %.0f MB/s from the page cache"):format(bytes / (tf.time() - t) / 1e6))
-- A step that trains the first of the variables.
local x = tf.placeholder("float32", {64, side})
local loss = tf.reduce_mean(tf.square(tf.matmul(x, vars[1])))
local train = tf.train.GradientDescentOptimizer(1e-9):minimize(loss, {var_list = {vars[1]}})
local feed = {[x] = tf.random.normal({64, side}, {seed = 1, now = true})}
local background = tf.train.Saver {var_list = vars, max_to_keep = 1, background = true}
for _ = 1, 5 do sess:run(train, feed) end
local alone, meanwhile = {}, {}
for round = 1, rounds do
  for _ = 1, 10 do
    local s = tf.time()
    sess:run(train, feed)
    alone[#alone + 1] = tf.time() - s
  end
  local s = tf.time()
  background:save(sess, folder .. "/model", {global_step = 100 + round})
  local call = tf.time() - s
  while background:is_saving() do
    s = tf.time()
    sess:run(train, feed)
    meanwhile[#meanwhile + 1] = tf.time() - s
  end
  background:wait()
  if round == 1 then print(("the call of a background save: %.1f ms"):format(call * 1e3)) end
end
local p, q, m = median(alone), median(meanwhile), #meanwhile
print(("step   alone: %.2f ms; while saving: %.2f ms; ratio %.2f (medians of %d and %d)"):format(p * 1e3, q * 1e3, q / p, #alone, m))
os.execute("rm -rf " .. folder)
