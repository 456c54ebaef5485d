-- For peer.sh: a run of every kind into arg[1], and what was written as JSON into arg[2].
local tf = require "tfsdk"
local folder, out = arg[1], arg[2]
local x = tf.placeholder("float32", {-1, 4}, {name = "x"})
local w = tf.get_variable("w", {4, 3}, {initializer = tf.ones_initializer()})
local hidden
do
  local s <close> = tf.name_scope "layer"
  hidden = tf.nn.relu(tf.matmul(x, w), {name = "out"})
end
local loss = tf.reduce_mean(hidden, {name = "loss"})
tf.summary.scalar("train/loss", loss)
tf.summary.histogram("train/hidden", hidden)
local picture = {}
for i = 0, 2 * 3 * 4 * 3 - 1 do picture[i + 1] = (i * 37) % 256 end
tf.summary.image("picture", tf.constant(tf.tensor(picture, "uint8"):reshape{2, 3, 4, 3}))
local sound = {}
for i = 0, 99 do sound[i + 1] = i / 128 - 0.375 end
tf.summary.audio("sound", tf.constant(tf.tensor(sound):reshape{1, 100, 1}), 8000, {max_outputs = 1})
tf.summary.text("note", {"**bold**", "two"})
local merged = tf.summary.merge_all()
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local written = {losses = {}, hidden = {}, picture = picture, sound = sound}
local writer = tf.summary.FileWriter(folder)
writer:add_session_log({status = tf.SessionLog.START}, 0)
writer:add_graph(sess.graph)
for step = 0, 9 do
  local feed = {}
  for i = 1, 5 do feed[i] = {i, step, -i, 0.5} end
  local r = sess:run({merged = merged, loss = loss, hidden = hidden}, {[x] = feed})
  writer:add_summary(r.merged, step)
  written.losses[step + 1], written.hidden[step + 1] = r.loss, r.hidden:reshape{-1}:table()
end
for step, v in ipairs {0 / 0, math.huge, -math.huge, 1e-40} do writer:scalar("odd", v, step) end
-- PrCurvePluginData{version 1, num_thresholds 2} = {0, 3}: true and false positives, true and false negatives, precision, recall
writer:tensor("curve", tf.tensor {{4, 3, 0}, {4, 1, 0}, {0, 3, 4}, {0, 1, 4}, {0.5, 0.75, 0}, {1, 0.75, 0}}, 1, {plugin_name = "pr_curves", content = "\x10\3"})
writer:add_run_metadata({step_stats = {dev_stats = {{device = "/device:CPU:0", node_stats = {
  {node_name = "layer/MatMul", all_start_micros = 1000, op_start_rel_micros = 1, op_end_rel_micros = 7, all_end_rel_micros = 8,
    memory = {{allocator_name = "cpu", total_bytes = 60}}}}}}}}, "step 9", 9)
-- What our own helpers make: curves, hyperparameters, embeddings, a traced run.
local labels, predictions = tf.tensor({true, false, true, true, false, true, false}, "bool"), tf.tensor {0.9, 0.8, 0.75, 0.3, 0.25, 1, 0}
writer:pr_curve("classes", labels, predictions, 3, {num_thresholds = 5})
writer:hparams({rate = 0.01, units = 16, optimizer = "sgd", nesterov = true}, {trial_id = "trial", start_time_secs = 1000.5})
writer:add_summary(tf.summary.hp.session_end_pb("success", {end_time_secs = 1007.5}))
local projector = tf.contrib.tensorboard.plugins.projector
projector.visualize_embeddings(writer, projector.ProjectorConfig {model_checkpoint_path = "model.ckpt",
  embeddings = {{tensor_name = "w", metadata_path = "a \"quoted\" name.tsv", tensor_shape = {4, 3}, sprite = {image_path = "s.png", single_image_dim = {8, 9}}}}})
local _, trace = sess:run(loss, {[x] = {{1, 2, 3, 4}}}, {trace = true})
writer:add_run_metadata(trace:run_metadata(), "traced", 12)
written.traced = {}
for i, row in ipairs(trace:rows "node") do written.traced[i] = row.name end
writer:close()
local file = assert(io.open(out, "w"))
file:write(tf.json.encode(written))
file:close()
