-- Saved models: what is saved gives the same bits after loading, without the script that made it; what is missing or unknown
-- is an error that names it.
-- Know: the values of the session that saved; TensorFlow's names and folders.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local root = os.tmpname()
os.remove(root)
os.execute("mkdir '" .. root .. "'")
local data = tf.random.normal({5, 8, 8, 1}, {seed = 1, now = true})
local want, second
do
  tf.set_random_seed(3)
  local x = tf.placeholder("float32", {-1, 8, 8, 1}, {name = "x"})
  local flag = tf.placeholder_with_default(false, {}, {name = "flag"})
  local h = tf.layers.conv2d(x, 4, 3, {activation = "relu", name = "conv"})
  h = tf.layers.batch_normalization(h, {name = "bn", training = flag})
  local logits = tf.layers.dense(tf.layers.flatten(h), 3, {name = "fc"})
  local p = tf.nn.softmax(logits, {name = "p"})
  local classes = tf.argmax(logits, 1, {name = "classes"})
  local train = tf.train.AdamOptimizer(0.01):minimize(tf.reduce_mean(tf.square(p)))
  local sess <close> = tf.Session()
  t.raises("before initialization", function() tf.saved_model.simple_save(sess, root .. "/early", {image = x}, {p = p}) end, "conv/kernel")
  sess:run(tf.global_variables_initializer())
  for _ = 1, 3 do sess:run(train, {[x] = data, [flag] = true}) end
  want, second = sess:run(p, {[x] = data}), sess:run(classes, {[x] = data})
  tf.saved_model.simple_save(sess, root .. "/simple", {image = x}, {probabilities = p})
  tf.saved_model.save(sess, root .. "/one.pb", {inputs = {image = x}, outputs = {probabilities = p}})
  tf.saved_model.save(sess, root .. "/frozen", {both = {inputs = {image = x}, outputs = {p = p, c = classes}}, plain = {inputs = {x = x}, outputs = {c = classes}}},
    {freeze = true, tags = {"serve", "small"}})
  local b = tf.saved_model.builder.SavedModelBuilder(root .. "/built")
  t.raises("the weights come first", function() b:add_meta_graph({"x"}, {serving_default = {inputs = {}, outputs = {p = p}}}) end, "add_meta_graph_and_variables")
  local def = tf.saved_model.signature_def_utils.predict_signature_def({image = x}, {p = p})
  b:add_meta_graph_and_variables(sess, {"serve"}, {serving_default = def})
  b:add_meta_graph({"train"}, {step = {inputs = {image = x}, outputs = {c = classes}}})
  b:save()
  t.raises("a folder that is there", function() tf.saved_model.builder.SavedModelBuilder(root .. "/built") end, "built")
  t.raises("a model that is there", function() tf.saved_model.simple_save(sess, root .. "/simple", {image = x}, {p = p}) end, "simple", "already")
  t.raises("no outputs", function() tf.saved_model.save(sess, root .. "/no", {inputs = {x = x}, outputs = {}}) end, "outputs")
  t.raises("no names", function() tf.saved_model.save(sess, root .. "/no", {inputs = {x}, outputs = {p = p}}) end, "names")
  t.raises("an unknown option", function() tf.saved_model.save(sess, root .. "/no", {inputs = {x = x}, outputs = {p = p}}, {frieze = true}) end, "'freeze'")
  t.check("nothing is left of them", not tf.saved_model.contains_saved_model(root .. "/no"))
end
t.check("a saved model", tf.saved_model.contains_saved_model(root .. "/simple"))
t.check("no saved model", not tf.saved_model.contains_saved_model(root))
do
  local m <close> = tf.saved_model.load(root .. "/simple")
  t.exact("the same bits", m:run {image = data}.probabilities, want)
  t.exact("called", m {image = data}.probabilities, want)
  t.exact("by the signature's name", m.signatures.serving_default {image = data}.probabilities, want)
  t.exact("the only input", m(data).probabilities, want)
  t.exact("another batch", #m {image = data[{{1, 2}}]}.probabilities, 2)
  t.check("it shows itself", tostring(m):find("serving_default input image: float32[-1,8,8,1]", 1, true) ~= nil, tostring(m))
  local ops = {}
  for _, op in ipairs(m.graph:get_operations()) do ops[op.type] = true end
  t.check("no training in it", not ops.ResourceApplyAdam and not ops.MatMulGrad)
  t.raises("an unknown input", function() m {imgae = data} end, "'imgae'", "'image'")
  t.raises("a missing input", function() m {} end, "'image'")
  t.raises("an unknown signature", function() m:run({image = data}, "serve") end, "'serve'")
end
do
  local m <close> = tf.saved_model.load(root .. "/one.pb")
  t.exact("one file: the same bits", m {image = data}.probabilities, want)
  for _, op in ipairs(m.graph:get_operations()) do t.check("no variables", op.type ~= "VarHandleOp") end
end
do
  local m <close> = tf.saved_model.load(root .. "/frozen", {tags = {"small", "serve"}})
  t.exact("several signatures", m.signatures.plain {x = data}.c, second)
  t.exact("of both", m.signatures.both {image = data}.p, want)
  t.raises("which one?", function() m {image = data} end, "'both'", "'plain'")
  t.raises("other tags", function() tf.saved_model.load(root .. "/frozen", {tags = {"train"}}) end, "'serve,small'")
end
do
  local serve <close> = tf.saved_model.load(root .. "/built")
  t.exact("built", serve {image = data}.p, want)
  local train <close> = tf.saved_model.load(root .. "/built", {tags = "train"})
  t.exact("the other graph, the same weights", train {image = data}.c, second)
end
do -- into a graph of one's own
  local g <close> = tf.Graph():as_default()
  local before = tf.constant(1, "float32", {name = "x"})
  local sess <close> = tf.Session()
  local meta = tf.saved_model.loader.load(sess, {"serve"}, root .. "/simple")
  local s = meta.signature_def.serving_default
  t.exact("its method", s.method_name, "tensorflow/serving/predict")
  t.exact("names that are taken are made anew", {before.op.name, s.inputs.image.op.name ~= "x"}, {"x", true})
  local twice = s.outputs.probabilities * 2
  t.near("goes on", sess:run(twice, {[s.inputs.image] = data}), (want * 2):table())
  t.exact("its variables", sess:read("fc/bias").shape[1], 3)
end
-- Versions and needs
local file = io.open(root .. "/one.pb", "rb")
local bytes = file:read "a"
file:close()
local function altered(from, to)
  local at, stop = bytes:find(from, 1, true)
  local out = io.open(root .. "/altered.pb", "wb")
  out:write(bytes:sub(1, at - 1), to, bytes:sub(stop + 1))
  out:close()
  local ok, e = pcall(tf.saved_model.load, root .. "/altered.pb")
  return ok and {} or e
end
local e = altered("format 1\n", "format 9\n")
t.exact("a newer format", e.code, "INCOMPATIBLE")
t.check("both versions are named", tostring(e):find "format 9" and tostring(e):find "formats up to 1", tostring(e))
e = altered("op Softmax ops", "op Sofdmax ops")
t.exact("an op that is not here", e.code, "NOT_FOUND")
t.check("op and plugin are named", tostring(e):find "'Sofdmax'" and tostring(e):find("'ops-nn'", 1, true), tostring(e))
os.remove(root .. "/simple/variables/variables.index")
t.raises("without its weights", function() tf.saved_model.load(root .. "/simple") end, "variables")
os.execute("rm -r '" .. root .. "'")
t.done() -- expect: ok
