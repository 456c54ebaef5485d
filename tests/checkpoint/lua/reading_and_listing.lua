-- What checkpoints say of themselves: names, shapes, one tensor, state; background saving; the state file.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local folder = os.tmpname()
os.remove(folder)
local v = tf.Variable(tf.tensor {1.5, 2.5}, {name = "v"})
local names = tf.Variable(tf.tensor({"", "a", "naïve \0 ☃"}), {name = "names"})
local wide = tf.Variable(tf.tensor({3, -4}, "float64"), {name = "scope/wide"})
local half = tf.Variable(tf.cast(tf.tensor {0.5, 65504}, "float16"), {name = "half"})
local flags = tf.Variable(tf.tensor({true, false}), {name = "flags"})
local none = tf.Variable(tf.zeros({0, 3}, {now = true}), {name = "none"})
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local saver = tf.train.Saver {shard_bytes = 20}
local path = saver:save(sess, folder .. "/sub/model", {global_step = 7, epoch = 2, best_metric = 0.25, state = {note = "hi", list = {1, 2}}})
t.exact("its path", path, folder .. "/sub/model-7")
local reader = tf.train.NewCheckpointReader(folder .. "/sub")
t.exact("names", reader:names(), {"flags", "half", "names", "none", "scope/wide", "v"})
t.exact("shapes", reader:get_variable_to_shape_map()["scope/wide"], {2})
t.exact("an empty one's shape", reader:get_variable_to_shape_map().none, {0, 3})
t.exact("types", reader:get_variable_to_dtype_map().names, "string")
t.exact("floats", reader:get_tensor "v", {1.5, 2.5})
t.exact("doubles", tf.train.load_variable(path, "scope/wide:0"), {3, -4})
t.exact("halves", reader:get_tensor("half"):table(), {0.5, 65504})
t.exact("strings", reader:get_tensor("names"):table(), {"", "a", "naïve \0 ☃"})
t.exact("booleans", reader:get_tensor "flags", {true, false})
t.exact("nothing", reader:get_tensor("none"):size(), 0)
t.check("has_tensor", reader:has_tensor "v" and not reader:has_tensor "w")
t.exact("list_variables", tf.train.list_variables(path)[6], {"v", {2}})
t.raises("no such tensor", function() reader:get_tensor "scope/wid" end, "'scope/wid'", "'scope/wide'")
local meta = reader:metadata()
t.exact("state", {meta.global_step, meta.epoch, meta.best_metric, meta.extra.note, meta.extra.list[2]}, {7, 2, 0.25, "hi", 2})
-- The pages of the files instead of copies.
local mapped = tf.train.load_checkpoint(path, {map = true}):get_tensors()
t.exact("mapped", mapped.v, {1.5, 2.5})
t.exact("mapped, copied where it must be", mapped.names:table(), {"", "a", "naïve \0 ☃"})
t.exact("a copy on write", (mapped.v + 1), {2.5, 3.5})
-- What was saved comes back, bit for bit.
sess:run(tf.assign(v, tf.zeros({2})))
saver:restore(sess, path)
t.exact("restored", sess:run(v, {}, {raw = true}), {1.5, 2.5})
t.exact("strings restored", sess:run(names, {}, {raw = true}):table(), {"", "a", "naïve \0 ☃"})
-- In the background: the values are those of the moment of saving.
local second = saver:save(sess, folder .. "/sub/model", {global_step = 8, background = true})
sess:run(tf.assign(v, tf.tensor {9, 9}))
saver:wait()
t.exact("a snapshot", tf.train.load_variable(second, "v"), {1.5, 2.5})
t.check("not saving any more", not saver:is_saving())
t.exact("latest", tf.train.latest_checkpoint(folder .. "/sub"), second)
-- The same name again: the old one stays until the new one is whole, then goes.
for i = 1, 3 do
  sess:run(tf.assign(v, tf.tensor {i, i}))
  tf.train.Saver {var_list = {v}}:save(sess, folder .. "/same", {latest_filename = "last"})
  t.exact("overwritten", tf.train.load_variable(folder .. "/same", "v"), {i, i})
end
local count = 0
for name in io.popen("ls " .. folder):lines() do count = count + (name:find "^same" and 1 or 0) end
t.exact("no files are left over", count, 2)
-- The state file is TensorFlow's text form.
local file = io.open(folder .. "/state", "w")
file:write [[
# a comment
model_checkpoint_path: "a\"b\303\244" ; all_model_checkpoint_paths: 'one'
all_model_checkpoint_paths:"two"
all_model_checkpoint_timestamps: 1.5e3
something_else: 7
]]
file:close()
local state = tf.train.get_checkpoint_state(folder, "state")
t.exact("escapes", state.model_checkpoint_path, folder .. '/a"bä')
t.exact("a list", state.all_model_checkpoint_paths, {folder .. "/one", folder .. "/two"})
t.exact("numbers", state.all_model_checkpoint_timestamps, {1500})
t.raises("what it names must be there", function() tf.train.latest_checkpoint(folder, "state") end, "state", "not there")
t.exact("no state file", tf.train.latest_checkpoint(folder, "absent"), nil)
t.raises("no folder", function() tf.train.load_checkpoint(folder .. "/nowhere") end, "nowhere")
-- Faults of the call.
t.raises("an unknown option", function() tf.train.Saver {max_to_kep = 1} end, "max_to_keep")
t.raises("a graph's variable without a session", function() saver:save(nil, folder .. "/x") end, "session")
t.raises("a folder as prefix", function() saver:save(sess, folder .. "/") end, "prefix")
t.raises("a file where a folder should be", function() saver:save(sess, folder .. "/state/x") end, "state")
t.raises("not initialized", function()
  local other <close> = tf.Session()
  tf.train.Saver():save(other, folder .. "/x")
end, "initializer")
-- Define-by-run.
tf.eager(function()
  local e = tf.Variable(tf.tensor {1, 2}, {name = "e"})
  local own = tf.train.Saver {var_list = {e}}
  local p = own:save(folder .. "/eager", {global_step = 1})
  e:assign(tf.tensor {0, 0})
  own:restore(p)
  t.exact("define-by-run", e:value(), {1, 2})
end)
os.execute("rm -rf " .. folder)
t.done() -- expect: ok
