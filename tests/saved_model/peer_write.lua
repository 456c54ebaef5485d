-- For peer.sh: a trained net as a saved model, one file, and frozen graphs in both forms; its input and output.
local tf = require "tfsdk"
local folder = arg[1]
tf.set_random_seed(3)
local x = tf.placeholder("float32", {-1, 8, 8, 1}, {name = "x"})
local h = tf.layers.conv2d(x, 4, 3, {activation = "relu", name = "conv"})
h = tf.layers.batch_normalization(h, {name = "bn"})
h = tf.layers.max_pooling2d(h, 2, 2)
local p = tf.nn.softmax(tf.layers.dense(tf.layers.flatten(h), 3, {name = "fc"}), {name = "p"})
local train = tf.train.AdamOptimizer(0.01):minimize(tf.reduce_mean(tf.square(p)))
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local data = tf.random.normal({5, 8, 8, 1}, {seed = 1, now = true})
for _ = 1, 3 do sess:run(train, {[x] = data}) end
tf.saved_model.simple_save(sess, folder .. "/model", {image = x}, {probabilities = p})
tf.saved_model.save(sess, folder .. "/frozen_model", {inputs = {image = x}, outputs = {probabilities = p}}, {freeze = true})
local frozen = tf.graph_util.convert_variables_to_constants(sess, tf.get_default_graph():as_graph_def(), {"p"})
frozen = tf.graph_util.remove_training_nodes(frozen, {"p"})
tf.train.write_graph(frozen, folder, "frozen.pb", false)
tf.train.write_graph(frozen, folder, "frozen.pbtxt")
tf.write_npz(folder .. "/io.npz", {x = data, y = sess:run(p, {[x] = data})})
local trace = select(2, sess:run(p, {[x] = data}, {trace = true}))
local file = io.open(folder .. "/run_metadata.pb", "wb")
file:write(trace:run_metadata():SerializeToString())
file:close()
-- every type, as a checkpoint of TensorFlow's
local tensors = {}
for _, dtype in ipairs {"float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"} do
  tensors[dtype] = tf.cast(tf.tensor {{0, 1, 2}, {3, 4, 100}}, dtype)
end
tensors.bool = tf.tensor({{false, true, true}, {true, true, true}}, "bool")
tf.write_safetensors(folder .. "/types.safetensors", tensors)
assert(os.execute(("'%s' ckpt convert '%s/types.safetensors' '%s/types.index' > /dev/null"):format(arg[-2] or "tfsdk", folder, folder)))
