-- save.lua FOLDER STEP MODE: saves a checkpoint whose every value is STEP. MODE: steps (a new name, the oldest
-- goes), same (one name again and again), shards (steps, in several files), background.
local tf = require "tfsdk"
local folder, step, mode = arg[1], tonumber(arg[2]), arg[3]
local w = tf.Variable(tf.zeros({200, 200}, {now = true}), {name = "w"})
local b = tf.Variable(tf.zeros({10}, "float64", {now = true}), {name = "b"})
local n = tf.Variable(tf.tensor(0, "int64"), {name = "n"})
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local saver = tf.train.Saver {max_to_keep = 1, shard_bytes = mode == "shards" and 1000 or nil}
local latest = tf.train.latest_checkpoint(folder)
if latest then saver:restore(sess, latest) end
sess:run {tf.assign(w, tf.fill({200, 200}, step)), tf.assign(b, tf.fill({10}, tf.tensor(step, "float64"))), tf.assign(n, tf.tensor(step, "int64"))}
local ok, fault = pcall(function()
  saver:save(sess, folder .. "/model", {global_step = mode ~= "same" and step or nil, background = mode == "background"})
  saver:wait()
end)
if not ok then
  io.stderr:write(tostring(fault), "\n")
  os.exit(1, true)
end
