-- What a monitor costs: steps of a small network, by turns without and with one. `tfsdk run bench/monitor_overhead.lua [SECONDS]`
-- The step is short (some 200 microseconds), so that a cost per step would show; the monitor traces a run each second,
-- thirty times as often as it does by itself.
local tf = require "tfsdk"
local each = tonumber(arg[1] or 1.5)
local x, y = tf.placeholder("float32", {64, 64}), tf.placeholder("int64", {64})
local net = x
for i = 1, 3 do
  local s <close> = tf.variable_scope("layer" .. i)
  local w = tf.get_variable("w", {net.shape[2], i < 3 and 128 or 10})
  net = tf.matmul(net, w)
  if i < 3 then net = tf.nn.relu(net) end
end
local loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits {labels = y, logits = net})
local train = tf.train.AdamOptimizer(1e-3):minimize(loss)
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local feed = {[x] = tf.ones({64, 64}, {now = true}), [y] = tf.zeros({64}, "int64", {now = true})}
local folder = os.tmpname()
os.remove(folder)
local function rate()
  local clock = os.clock -- processor time: neighbours on the machine do not count, the monitor's thread does
  local n, from = 0, clock()
  repeat
    for _ = 1, 20 do sess:run(train, feed) end
    n = n + 20
  until clock() - from > each
  return n / (clock() - from)
end
rate()
local off, on, ratio = {}, {}, {}
for i = 1, 10 do
  off[i] = rate()
  local m <close> = tf.summary.monitor(folder, {secs = 1, trace_secs = 1})
  on[i] = rate()
  ratio[i] = off[i] / on[i] - 1
end
for _, list in ipairs {off, on, ratio} do table.sort(list) end
print(("without %.0f steps/s, with %.0f steps/s; of ten pairs the middle one: %.1f %% slower (%.1f to %.1f)"):format(off[5], on[5],
  50 * (ratio[5] + ratio[6]), 100 * ratio[1], 100 * ratio[10]))
os.execute("rm -rf '" .. folder .. "'")
