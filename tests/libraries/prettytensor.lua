-- tf.prettytensor: chains, shared templates, moving heads, defaults, losses. Expected numbers are worked out by hand.
local tf = require "tfsdk"
local pt = tf.prettytensor
local passed, failed = 0, 0
local function check(label, fn)
  local ok, why = pcall(function() tf.Graph():as_default(fn) end)
  if ok then passed = passed + 1 else
    failed = failed + 1
    print(label, why)
  end
end
local function says(label, pattern, fn)
  check(label, function()
    local ok, why = pcall(fn)
    if ok then error("there was no error", 0) end
    if not tostring(why):find(pattern) then error("the error is: " .. tostring(why), 0) end
  end)
end
local function run(x, feed)
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  return sess:run(pt.unwrap(x), feed, {raw = true})
end
local function numbers(t, want)
  local got = t:reshape{-1}:table()
  if #got ~= #want then error(("%d elements, want %d"):format(#got, #want), 2) end
  for i, v in ipairs(want) do if math.abs(got[i] - v) > 1e-5 then error(("element %d: %g, want %g"):format(i, got[i], v), 2) end end
end
local function fed(...)
  local x = tf.placeholder("float32", {...})
  return x
end

check("a chain", function()
  local x = fed(-1, 2, 2)
  local y = pt.wrap(x):flatten():fully_connected(2, {weights = tf.ones_initializer(), bias = 1, activation_fn = tf.nn.relu})
  numbers(run(y, {[x] = tf.tensor{{{1, 2}, {3, 4}}}}), {11, 11})
  assert(y.layer_parameters.weights and y.layer_parameters.bias)
end)
check("operators and methods of tensors", function()
  local x = fed(-1, 2)
  local y = (pt.wrap(x) * 2 + 1):square()
  numbers(run(y, {[x] = tf.tensor{{1, 2}}}), {9, 25})
  numbers(run(y:apply(tf.subtract, 1), {[x] = tf.tensor{{1, 2}}}), {8, 24})
end)
check("weights lie as they are asked to", function()
  local x = fed(-1, 2)
  local w = tf.tensor{{1, 2}, {3, 4}, {5, 6}} -- {units, inputs}
  numbers(run(pt.wrap(x):fully_connected(3, {weights = w, transpose_weights = true, bias = false}), {[x] = tf.tensor{{1, 1}}}), {3, 7, 11})
end)
check("reshape with DIM_SAME and DIM_REST", function()
  local x = fed(-1, 4, 3)
  local y = pt.wrap(x):reshape{pt.DIM_REST, 2, 6}
  assert(y.shape[2] == 2 and y.shape[3] == 6)
  assert(pt.wrap(fed(5, 4, 3)):reshape{pt.DIM_SAME, pt.DIM_REST}.shape[2] == 12)
end)
check("a moving head, subdivided", function()
  local x = fed(-1, 3)
  local head = pt.wrap(x):sequential()
  head:fully_connected(4, {weights = 1, bias = 0})
  assert(head.shape[2] == 4)
  head:subdivide(2, function(a, b)
    a:fully_connected(1, {weights = 1})
    b:fully_connected(2, {weights = 2})
  end)
  numbers(run(head, {[x] = tf.tensor{{1, 0, 0}}}), {4, 8, 8})
  assert(head:as_layer():fully_connected(1).shape[2] == 1 and head.shape[2] == 3)
end)
check("a template shares its parameters", function()
  local t = pt.template "input":fully_connected(2, {weights = tf.ones_initializer()}):fully_connected(1)
  local x, y = fed(-1, 2), fed(-1, 2)
  local a, b = t:construct{input = x}, t:construct{input = y}
  assert(#tf.trainable_variables() == 4, #tf.trainable_variables() .. " variables")
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  local r = sess:run({a.tensor, b.tensor}, {[x] = tf.tensor{{1, 2}}, [y] = tf.tensor{{1, 2}}}, {raw = true})
  assert(r[1]:bytes() == r[2]:bytes())
end)
check("unbound values", function()
  local labels = pt.UnboundVariable "labels"
  local t = pt.template "input":l2_regression(labels)
  local x = fed(-1, 2)
  numbers(run(t:construct{input = x, labels = tf.constant{{0.0, 0.0}}}, {[x] = tf.tensor{{3, 4}}}), {25})
end)
check("defaults, nested; the call goes before", function()
  local x = fed(-1, 2)
  pt.defaults_scope({activation_fn = tf.nn.relu, l2loss = 0.5}, function()
    pt.defaults_scope({activation_fn = false}, function()
      numbers(run(pt.wrap(x):fully_connected(1, {weights = -1, bias = 0}), {[x] = tf.tensor{{1, 2}}}), {-3})
    end)
    numbers(run(pt.wrap(x):fully_connected(1, {weights = -1, bias = 0}), {[x] = tf.tensor{{1, 2}}}), {0})
    numbers(run(pt.wrap(x):fully_connected(1, {weights = -1, bias = 0, activation_fn = tf.abs}), {[x] = tf.tensor{{1, 2}}}), {3})
  end)
  local penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
  assert(#penalties == 3)
  numbers(run(penalties[1]), {0.5 * (1 + 1) / 2}) -- l2loss * sum(w^2) / 2
end)
check("phases", function()
  local x = fed(-1, 1000)
  local ones = tf.eager(function() return tf.ones{1, 1000} end)
  local same = pt.defaults_scope({phase = pt.Phase.test}, function() return pt.wrap(x):dropout(0.5) end)
  assert(tf.reduce_sum(run(same, {[x] = ones})):item() == 1000)
  local zeros = tf.reduce_sum(tf.cast(tf.equal(run(pt.wrap(x):dropout(0.5), {[x] = ones}), 0), "float32")):item()
  assert(zeros > 400 and zeros < 600, zeros) -- of 1000 coins: six deviations
end)
check("losses", function()
  local x, y = fed(-1, 2), fed(-1, 2)
  local feed = {[x] = tf.tensor{{0, 0}, {0, 0}}, [y] = tf.tensor{{1, 0}, {0, 1}}}
  local softmax, loss = pt.wrap(x):softmax(y)
  numbers(run(softmax, feed), {0.5, 0.5, 0.5, 0.5})
  numbers(run(loss, feed), {math.log(2)})
  local _, weighted = pt.wrap(x):softmax(y, {per_example_weights = tf.constant{1.0, 0.0}, loss_weight = 3})
  numbers(run(weighted, feed), {3 * math.log(2)})
  local ids = tf.constant({0, 1}, "int64")
  numbers(run(pt.wrap(x):sparse_cross_entropy(ids), feed), {math.log(2)})
  local far = {[x] = tf.tensor{{1, 0}, {1, 0}}, [y] = tf.tensor{{1, 0}, {0, 1}}}
  numbers(run(pt.wrap(x):evaluate_classifier(y), far), {0.5})
  numbers(run(pt.wrap(x):l1_regression(y), far), {1}) -- (0 + 2) / 2
end)
check("a method of one's own", function()
  pt.Register("doubled", function(x) return x * 2 end)
  pt.RegisterCompoundOp("two_layers", function(x, n) return x:fully_connected(n, {weights = 1, bias = 0}):fully_connected(1, {weights = 1, bias = 0}) end)
  local x = fed(-1, 2)
  numbers(run(pt.wrap(x):doubled():two_layers(3), {[x] = tf.tensor{{1, 1}}}), {12})
end)
check("training, penalties, batch norm's updates", function()
  local x, y = fed(-1, 2), fed(-1, 1)
  local net = pt.wrap(x):fully_connected(8, {activation_fn = tf.tanh, batch_normalize = true, parameter_modifier = pt.parameters.l2_regularizer(1e-4)})
  local loss = net:fully_connected(1):l2_regression(y)
  local op, total = pt.apply_optimizer(tf.train.AdamOptimizer(0.05), {loss}, {clip_gradients_by_norm = 5})
  local runner = pt.train.Runner{}
  local xs = tf.random.normal({64, 2}, {seed = 1, now = true})
  local feed = {[x] = xs, [y] = tf.reduce_sum(xs, {axis = 1, keepdims = true})}
  local first = runner:train_model(op, total, 1, {feed = feed})
  local last = runner:train_model(op, total, 200, {feed = feed})
  assert(last < first / 10, ("%g after %g"):format(last, first))
  assert(#tf.get_collection(tf.GraphKeys.UPDATE_OPS) > 0)
end)
says("images to fully_connected", "flatten%(%) first", function() pt.wrap(fed(-1, 2, 2)):fully_connected(3) end)
says("an unknown default", "did you mean 'activation_fn'", function() pt.defaults_scope({activation_f = tf.nn.relu}, function() end) end)
says("a template without its input", "'input' is not given", function() pt.template "input":flatten():construct{} end)
says("a size of zero", "whole number above 0", function() pt.wrap(fed(-1, 2)):fully_connected(0) end)
print(("prettytensor: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
