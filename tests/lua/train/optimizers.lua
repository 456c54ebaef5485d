-- Two steps of each optimizer from w = 1 with gradient 1 in both modes, against the rules in words (features
-- page 3.1; float64 arithmetic below).
local tf = require "tfsdk"
local function reference(name)
  local w, lr, a, b, t = 1, 0.1, 0, 0, 0
  if name == "Adagrad" then a = 0.1 elseif name == "RMSProp" then a = 1 end
  for _ = 1, 2 do
    t = t + 1
    if name == "GradientDescent" then w = w - lr
    elseif name == "Momentum" then a = 0.9 * a + 1; w = w - lr * a
    elseif name == "Nesterov" then a = 0.9 * a + 1; w = w - lr * 1 - lr * 0.9 * a
    elseif name == "Adagrad" then a = a + 1; w = w - lr / math.sqrt(a)
    elseif name == "RMSProp" then a = 0.9 * a + 0.1; b = 0 * b + lr / math.sqrt(a + 1e-10); w = w - b
    elseif name == "Adam" then
      a = 0.9 * a + 0.1; b = 0.999 * b + 0.001
      w = w - lr * math.sqrt(1 - 0.999 ^ t) / (1 - 0.9 ^ t) * a / (math.sqrt(b) + 1e-8)
    elseif name == "Adadelta" then
      a = 0.95 * a + 0.05
      local step = math.sqrt(b + 1e-8) / math.sqrt(a + 1e-8)
      b = 0.95 * b + 0.05 * step * step
      w = w - lr * step
    end
  end
  return w
end
local make = {
  GradientDescent = function() return tf.train.GradientDescentOptimizer(0.1) end,
  Momentum = function() return tf.train.MomentumOptimizer(0.1, 0.9) end,
  Nesterov = function() return tf.train.MomentumOptimizer(0.1, 0.9, {use_nesterov = true}) end,
  Adagrad = function() return tf.train.AdagradOptimizer(0.1) end,
  Adadelta = function() return tf.train.AdadeltaOptimizer(0.1) end,
  RMSProp = function() return tf.train.RMSPropOptimizer(0.1) end,
  Adam = function() return tf.train.AdamOptimizer(0.1) end,
}
for _, name in ipairs{"GradientDescent", "Momentum", "Nesterov", "Adagrad", "Adadelta", "RMSProp", "Adam"} do
  local graph = tf.Graph()
  local in_graph, step = graph:as_default(function()
    local w = tf.Variable(1.0, {name = "w"})
    local global_step = tf.train.get_or_create_global_step()
    local train = make[name]():minimize(w * 1, {global_step = global_step})
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    sess:run(train)
    sess:run(train)
    return sess:run(w), sess:run(global_step)
  end)
  local at_once = tf.eager(function()
    local w = tf.Variable(1.0, {name = "w"})
    local opt = make[name]()
    for _ = 1, 2 do opt:minimize(function() return w * 1 end, {var_list = {w}}) end
    return w:item()
  end)
  local want = reference(name)
  print(name, math.abs(in_graph - want) < 1e-6, in_graph == at_once, step)
end
-- expect: GradientDescent	true	true	2
-- expect: Momentum	true	true	2
-- expect: Nesterov	true	true	2
-- expect: Adagrad	true	true	2
-- expect: Adadelta	true	true	2
-- expect: RMSProp	true	true	2
-- expect: Adam	true	true	2
