-- The same seeds give the same numbers in both modes, bit for bit.
local tf = require "tfsdk"
local function model()
  local x = tf.random_normal({3, 4}, {seed = 11})
  return tf.nn.softmax(tf.tanh(x) * 2 + 1)
end
tf.set_random_seed(5)
local node = model()
local sess <close> = tf.Session()
local in_graph = sess:run(node)
local at_once = tf.eager(function()
  tf.set_random_seed(5)
  return model()
end)
print(in_graph:bytes() == at_once:bytes()) -- expect: true
