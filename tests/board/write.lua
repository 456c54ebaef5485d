-- Writes runs of every kind into arg[1], the same each time: what the tests of this folder look at. Values follow from
-- formulas, which the tests repeat.
local tf = require "tfsdk"
local folder = arg[1]
local runs = tonumber(arg[2] or 4)
local steps = tonumber(arg[3] or 200)
local function noise(seed) -- a linear congruential generator: the same everywhere
  local state = seed * 7919 + 1
  return function()
    state = (state * 1103515245 + 12345) % 2147483648
    return state / 2147483648
  end
end

local function train(i)
  local name, rate, units = ("trial_%02d"):format(i), ({0.1, 0.01, 0.001, 0.03})[i % 4 + 1], 8 << i % 3
  local w <close> = tf.summary.FileWriter(folder .. "/" .. name, {flush_secs = 600, max_queue = 1000})
  local random = noise(i)
  w:hparams({rate = rate, units = units, optimizer = i % 2 == 0 and "adam" or "sgd"}, {trial_id = name, start_time_secs = 1000 + i})
  for step = 0, steps - 1 do
    local s = tf.Summary()
    local loss = 2 / (1 + step * rate) + 0.3 * (random() - 0.5) / (1 + step / 50) + 0.1 * i
    local accuracy = 1 - loss / 3
    s.value.add {tag = "train/loss", simple_value = loss}
    s.value.add {tag = "train/accuracy", simple_value = accuracy}
    if step % 10 == 0 then
      s.value.add {tag = "validation/loss", simple_value = loss + 0.05}
      s.value.add {tag = "learning_rate", simple_value = rate * 0.99 ^ step}
    end
    w:add_summary(s, step, 1700000000 + 3600 * i + step * 0.5)
  end
  w:add_summary(tf.summary.hp.session_end_pb(i == 3 and "failure" or "success", {end_time_secs = 2000 + i}))
end
for i = 0, runs - 1 do train(i) end

-- A run that was stopped at step 99 and goes on from its checkpoint of step 60: what it did behind that is done again.
do
  for life, range in ipairs {{0, 99}, {60, 119}} do
    local w <close> = tf.summary.FileWriter(folder .. "/resumed", {max_queue = 1000})
    if life == 2 then w:add_session_log({status = tf.SessionLog.START}, range[1]) end
    for step = range[1], range[2] do w:add_summary(tf.Summary {value = {{tag = "life", simple_value = life}}}, step, 1700000000 + 1000 * life + step) end
  end
end

-- Names that are HTML: nothing of it may become an element.
local hostile = "<img src=x onerror=document.title='broken'>"
do
  local w <close> = tf.summary.FileWriter(folder .. "/" .. hostile)
  w:add_summary(tf.Summary {value = {{tag = "hostile/" .. hostile, simple_value = 1}, {tag = "hostile/\"><script>document.title='broken'</script>", simple_value = 2}}}, 0)
  w:text("hostile/" .. hostile, hostile .. "\n\n[a](javascript:alert(1)) | " .. hostile, 0)
  w:hparams({[hostile] = hostile}, {trial_id = hostile, start_time_secs = 1})
end

-- One run of all other kinds.
local w <close> = tf.summary.FileWriter(folder .. "/kinds", {flush_secs = 600, max_queue = 1000})
local random = noise(99)
local function normal(n, mean, spread)
  local out = {}
  for k = 1, n do
    local sum = 0
    for _ = 1, 12 do sum = sum + random() end
    out[k] = mean + spread * (sum - 6)
  end
  return tf.tensor(out)
end
w:add_summary(tf.summary.hp.hparams_config_pb({tf.summary.hp.HParam("rate", tf.summary.hp.RealInterval(0.001, 0.1)),
  tf.summary.hp.HParam("units", tf.summary.hp.Discrete {8, 16, 32}), tf.summary.hp.HParam("optimizer", tf.summary.hp.Discrete {"adam", "sgd"})},
  {tf.summary.hp.Metric "train/accuracy", tf.summary.hp.Metric "validation/loss"}))
for step = 0, 190, 10 do
  w:histogram("layer1/weights", normal(400, step / 100, 1 - step / 400), step)
  w:histogram("layer1/bias", normal(50, 0, 0.1 + step / 500), step)
  local picture = {}
  for y = 0, 15 do
    for x = 0, 15 do
      picture[#picture + 1] = math.floor(127 + 120 * math.sin((x + step / 10) / 3) * math.cos(y / 4)) // 1
      picture[#picture + 1] = x * 16
      picture[#picture + 1] = y * 16
    end
  end
  w:image("input", tf.tensor(picture, "uint8"):reshape {1, 16, 16, 3}, step)
  local labels, predictions = {}, {}
  for k = 1, 200 do
    labels[k] = k % 2 == 0
    predictions[k] = math.min(1, math.max(0, (labels[k] and 0.5 + step / 600 or 0.5 - step / 600) + 0.8 * (random() - 0.5)))
  end
  w:pr_curve("classes/digits", tf.tensor(labels, "bool"), tf.tensor(predictions), step, {num_thresholds = 51})
end
for step, value in ipairs {0 / 0, math.huge, -math.huge, 1e-40, 0.5, -0.0} do w:scalar("odd", value, step) end
local sound = {}
for k = 0, 799 do sound[k + 1] = math.sin(k / 8) * 0.8 end
w:audio("tone", tf.tensor(sound):reshape {1, 800, 1}, 8000, 1, {max_outputs = 1})
w:text("notes", "## Setup\nTwo layers, **dropout** of `0.5`.\n\n- first\n- second\n\n<img src=x onerror=alert(1)>", 1)
w:tensor("table", tf.tensor({{"layer", "shape"}, {"dense", "4x3"}}, "string"), 1, {plugin_name = "text"})

-- A graph, and what running it costs.
local g = tf.Graph()
g:as_default(function()
  local x = tf.placeholder("float32", {-1, 64}, {name = "x"})
  local y = tf.placeholder("int64", {-1}, {name = "y"})
  local net = x
  for i, units in ipairs {128, 64, 10} do
    local s <close> = tf.variable_scope("layer" .. i)
    local kernel = tf.get_variable("kernel", {net.shape[2], units})
    local bias = tf.get_variable("bias", {units}, {initializer = tf.zeros_initializer()})
    net = tf.nn.bias_add(tf.matmul(net, kernel), bias)
    if units > 10 then net = tf.nn.relu(net) end
  end
  local loss
  do
    local s <close> = tf.name_scope "loss"
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits {labels = y, logits = net})
  end
  tf.train.AdamOptimizer(0.01):minimize(loss)
end)
w:add_graph(g)
local names = {"layer1/MatMul", "layer1/BiasAdd", "layer1/Relu", "layer2/MatMul", "layer2/BiasAdd", "layer2/Relu", "layer3/MatMul", "layer3/BiasAdd", "loss/Mean"}
local nodes, at = {}, 1700000000000000
for i, name in ipairs(names) do
  local took = name:find "MatMul" and 400 or 60
  local width = ({128, 64, 10})[tonumber(name:match "layer(%d)") or 3]
  nodes[i] = {node_name = name, all_start_micros = at, op_start_rel_micros = 2, op_end_rel_micros = 2 + took, all_end_rel_micros = 4 + took, thread_id = i % 3 == 0 and 1 or 0,
    timeline_label = name .. " = " .. name:match "[^/]+$" .. "(...)",
    output = {{slot = 0, dtype = "float32", shape = {32, width}, bytes = 32 * width * 4, allocator_name = "cpu:0"}}}
  at = at + took + 10
end
w:add_run_metadata({step_stats = {dev_stats = {{device = "/job:localhost/replica:0/task:0/device:Cpu:0", node_stats = nodes}}}}, "step 100", 100)

-- Monitored: rates and memory as a run writes them.
for k = 1, 40 do
  w:add_summary(tf.Summary {value = {{tag = "monitor/steps_per_second", simple_value = 50 + 5 * math.sin(k / 4)}, {tag = "monitor/memory_bytes", simple_value = 4e7 + 1e6 * k},
    {tag = "monitor/input_stall_ratio", simple_value = 0.38}}}, k * 50, 1700000000 + k)
end

-- Embeddings: three groups of points in eight dimensions, as tables beside a config.
local points, labels = assert(io.open(folder .. "/kinds/points.tsv", "w")), assert(io.open(folder .. "/kinds/labels.tsv", "w"))
labels:write "word\tgroup\n"
for k = 0, 149 do
  local row = {}
  for d = 1, 8 do row[d] = ("%.5f"):format((d == k % 3 + 1 and 3 or 0) + 0.6 * (random() - 0.5)) end
  points:write(table.concat(row, "\t"), "\n")
  labels:write(("word%d\t%s\n"):format(k, ({"animals", "plants", "stones"})[k % 3 + 1]))
end
points:close()
labels:close()
tf.contrib.tensorboard.plugins.projector.visualize_embeddings(w, tf.contrib.tensorboard.plugins.projector.ProjectorConfig {
  embeddings = {{tensor_name = "words", tensor_path = "points.tsv", metadata_path = "labels.tsv"}, {tensor_name = "outside", tensor_path = "../../../etc/passwd"}}})
