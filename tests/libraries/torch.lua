-- tf.torch: modules, criterions, parameters, training. Expected numbers are worked out by hand unless a comment names another source.
local tf = require "tfsdk"
local nn, optim = tf.torch.nn, tf.torch.optim
local passed, failed = 0, 0
local function check(label, fn)
  local ok, why = pcall(fn)
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
local function numbers(t, want, limit)
  local got = t:reshape{-1}:table()
  if #got ~= #want then error(("%d elements, want %d"):format(#got, #want), 2) end
  for i, v in ipairs(want) do if not (math.abs(got[i] - v) <= (limit or 1e-5)) then error(("element %d: %.9g, want %.9g"):format(i, got[i], v), 2) end end
end
local function close(a, b, limit) if not (math.abs(a - b) <= (limit or 1e-6)) then error(("%.9g, want %.9g"):format(a, b), 2) end end

-- ------------------------------------------------------------------------------------- Torch7's way

check("linear: forward, backward, update", function()
  local m = nn.Linear(2, 1)
  m:load_state_dict{weight = tf.tensor{{2, -1}}, bias = tf.tensor{0.5}}
  local x = tf.tensor{{1, 2}, {3, 4}}
  numbers(m:forward(x), {0.5, 2.5})
  numbers(m:backward(x, tf.tensor{{1}, {10}}), {2, -1, 20, -10})
  numbers(m:gradients()[1], {31, 42}) -- 1 * {1, 2} + 10 * {3, 4}
  numbers(m:gradients()[2], {11})
  m:backward(x, tf.tensor{{1}, {0}}, 2) -- adds up, scaled
  numbers(m:gradients()[1], {33, 46})
  m:updateParameters(0.1)
  numbers(m.weight:value(), {2 - 3.3, -1 - 4.6})
  m:zeroGradParameters()
  assert(m:gradients()[1] == false)
end)
check("criterions count classes from 1", function()
  local log_p = tf.log(tf.tensor{{0.25, 0.75}, {0.5, 0.5}})
  local c = nn.ClassNLLCriterion()
  close(c:forward(log_p, tf.tensor({2, 1}, "int64")), -(math.log(0.75) + math.log(0.5)) / 2)
  numbers(c:backward(log_p, tf.tensor({2, 1}, "int64")), {0, -0.5, -0.5, 0})
  close(nn.CrossEntropyCriterion():forward(tf.tensor{{0, 0}}, tf.tensor({1}, "int64")), math.log(2))
  local w = nn.ClassNLLCriterion(tf.tensor{1, 3}) -- weighted: (3 * -log .75 + 1 * -log .5) / 4
  close(w:forward(log_p, tf.tensor({2, 1}, "int64")), -(3 * math.log(0.75) + math.log(0.5)) / 4)
end)
check("criterions on numbers", function()
  local x, t = tf.tensor{1, 4}, tf.tensor{3, 4.5}
  close(nn.MSECriterion():forward(x, t), (4 + 0.25) / 2)
  close(nn.MSECriterion{sizeAverage = false}:forward(x, t), 4.25)
  close(nn.AbsCriterion():forward(x, t), 1.25)
  close(nn.SmoothL1Criterion():forward(x, t), (2 - 0.5 + 0.125) / 2)
  close(nn.BCECriterion():forward(tf.tensor{0.5, 0.25}, tf.tensor{1, 0}), -(math.log(0.5) + math.log(0.75)) / 2)
  close(nn.MarginCriterion():forward(tf.tensor{0.5, 2}, tf.tensor{1, 1}), 0.25)
  close(nn.HingeEmbeddingCriterion():forward(tf.tensor{0.2, 0.3}, tf.tensor{1, -1}), (0.2 + 0.7) / 2)
  close(nn.MultiMarginCriterion():forward(tf.tensor{{0.1, 0.5}}, tf.tensor({1}, "int64")), 1.4 / 2)
  close(nn.DistKLDivCriterion{sizeAverage = false}:forward(tf.log(tf.tensor{{0.5, 0.5}}), tf.tensor{{0.25, 0.75}}), 0.25 * math.log(0.5) + 0.75 * math.log(1.5))
end)
check("containers and tables", function()
  local both = nn.ConcatTable():add(nn.MulConstant(2)):add(nn.Identity())
  local net = nn.Sequential():add(both):add(nn.CAddTable())
  numbers(net(tf.tensor{1, 2}), {3, 6})
  numbers(nn.Concat(2):add(nn.Identity()):add(nn.Square())(tf.tensor{{1, 2}}), {1, 2, 1, 4})
  local p = nn.ParallelTable():add(nn.MulConstant(2)):add(nn.AddConstant(1))
  local out = p{tf.tensor{1}, tf.tensor{1}}
  numbers(nn.JoinTable(1)(out), {2, 2})
  numbers(nn.CSubTable()(out), {0})
  numbers(nn.MM(){tf.tensor{{1, 2}}, tf.tensor{{3}, {4}}}, {11})
  -- the gradient through a table
  net:forward(tf.tensor{1, 2})
  numbers(net:backward(tf.tensor{1, 2}, tf.tensor{1, 1}), {3, 3})
end)
check("shapes", function()
  local x = tf.tensor{{{1, 2, 3}, {4, 5, 6}}}
  assert(nn.View(-1)(x).shape[2] == 6 and nn.Reshape(3, 2)(tf.concat({x, x}, 0)).shape[2] == 3)
  numbers(nn.Select(2, 2)(x), {4, 5, 6})
  numbers(nn.Narrow(3, 2, 2)(x), {2, 3, 5, 6})
  numbers(nn.Transpose{2, 3}(x), {1, 4, 2, 5, 3, 6})
  numbers(nn.Sum(3)(x), {6, 15})
  numbers(nn.Max(2)(x), {4, 5, 6})
end)
check("flat parameters and optim", function()
  -- f = (w - 3)^2: a step of 0.1 from 0 gives 0.6, then 1.08 (w += 0.2 (3 - w))
  local m = nn.Module:extend("One", {init = function(self) self.w = nn.Parameter(tf.tensor{0}) end, forward = function(self) return tf.square(self.w - 3) end})()
  local params, grads = m:getParameters()
  local function feval()
    m:zeroGradParameters()
    local y = m:forward(tf.tensor{0})
    m:backward(tf.tensor{0}, tf.tensor{1})
    return y:item(), grads
  end
  -- our forward of a class of the script is the script's own: run it as Torch7 does
  m.forward = nil
  local plain = nn.Module:extend("Plain", {init = function(self) self.w = nn.Parameter(tf.tensor{0}) end, updateOutput = function(self, x) return tf.square(self.w - 3) + x * 0 end})()
  m = plain
  params, grads = m:getParameters()
  local state = {learningRate = 0.1}
  local _, f = optim.sgd(feval, params, state)
  close(f[1], 9)
  close(params:get():item(), 0.6)
  optim.sgd(feval, params, state)
  close(params:get():item(), 0.6 + 0.2 * 2.4)
  params:set(tf.tensor{0})
  optim.adam(feval, params, {learningRate = 0.1})
  close(params:get():item(), 0.1, 1e-6) -- Adam's first step has the size of the rate
end)
check("StochasticGradient learns exclusive or", function()
  tf.set_random_seed(4)
  math.randomseed(1)
  local net = nn.Sequential():add(nn.Linear(2, 20)):add(nn.Tanh()):add(nn.Linear(20, 1))
  local data = {{tf.tensor{0, 0}, tf.tensor{0}}, {tf.tensor{0, 1}, tf.tensor{1}}, {tf.tensor{1, 0}, tf.tensor{1}}, {tf.tensor{1, 1}, tf.tensor{0}}}
  local trainer = nn.StochasticGradient(net, nn.MSECriterion())
  trainer.learningRate, trainer.maxIteration, trainer.verbose = 0.1, 400, false
  assert(trainer.learningRateDecay == 0 and trainer.shuffleIndices == true)
  local last = trainer:train(data)
  assert(last < 1e-2, last)
end)
check("a confusion matrix", function()
  local c = optim.ConfusionMatrix{"a", "b"}
  c:batchAdd(tf.tensor{{0.9, 0.1}, {0.2, 0.8}, {0.7, 0.3}}, tf.tensor({1, 2, 2}, "int64"))
  c:updateValids()
  close(c.totalValid, 2 / 3)
  close(c.averageValid, (1 + 0.5) / 2)
  assert(tostring(c):find "global correct")
end)

-- ------------------------------------------------------------------------------------- PyTorch's way

local Net = nn.Module:extend("Net", {
  init = function(self)
    self.conv = nn.Conv2d(1, 4, 3, {padding = 1})
    self.norm = nn.BatchNorm2d(4)
    self.drop = nn.Dropout(0.5)
    self.fc = nn.Linear(4 * 4 * 4, 3)
  end,
  forward = function(self, x)
    x = nn.MaxPool2d(2)(nn.ReLU()(self.norm(self.conv(x))))
    return self.fc(self.drop(x:reshape{x.shape[1], -1}))
  end})
check("names, modes, copies", function()
  local net = Net()
  local names = {}
  for i, e in ipairs(net:named_parameters()) do names[i] = e[1] end
  assert(table.concat(names, " ") == "conv.weight conv.bias norm.weight norm.bias fc.weight fc.bias", table.concat(names, " "))
  assert(#net:modules() == 5 and #net:children() == 4)
  local x = tf.random.normal({2, 1, 8, 8}, {seed = 1, now = true})
  net:eval()
  local y = net(x)
  assert(y:bytes() == net(x):bytes() and not net.drop.train_mode)
  local copy = net:clone()
  assert(copy(x):bytes() == y:bytes())
  copy.fc.bias:assign(copy.fc.bias + 1)
  assert(copy(x):bytes() ~= y:bytes() and net(x):bytes() == y:bytes())
  local again = Net()
  again:load_state_dict(net:state_dict())
  assert(again:eval()(x):bytes() == y:bytes())
  assert(tostring(net):find("(conv): Conv2d(1 -> 4, 3x3)", 1, true))
end)
check("batch norm keeps the unbiased variance", function()
  local m = nn.BatchNorm1d(1)
  local y = m(tf.tensor{{1}, {3}}) -- mean 2, variance 1 (unbiased 2)
  numbers(y, {-1, 1}, 1e-4)
  numbers(m.running_mean:value(), {0.2})
  numbers(m.running_var:value(), {0.9 * 1 + 0.1 * 2})
  m:eval()
  numbers(m(tf.tensor{{0.2}}), {0})
end)
check("losses count classes from 0", function()
  local x = tf.tensor{{0, 0}, {0, 0}}
  close(nn.CrossEntropyLoss()(x, tf.tensor({0, 1}, "int64")):item(), math.log(2))
  close(nn.CrossEntropyLoss{reduction = "sum"}(x, tf.tensor({0, 1}, "int64")):item(), 2 * math.log(2))
  close(nn.CrossEntropyLoss()(x, tf.tensor({0, -100}, "int64")):item(), math.log(2)) -- -100 is ignored
  assert(nn.NLLLoss{reduction = "none"}(x, tf.tensor({0, 1}, "int64")).shape[1] == 2)
  close(nn.BCEWithLogitsLoss()(tf.tensor{0, 0}, tf.tensor{1, 0}):item(), math.log(2))
end)
check("a step with a tape and an optimizer", function()
  tf.eager(function()
    tf.set_random_seed(2)
    local net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
    local x, t = tf.tensor{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, tf.tensor({0, 1, 1, 0}, "int64")
    local opt = optim.Adam(net:parameters(), {lr = 0.05})
    local loss = nn.CrossEntropyLoss()
    local value
    for _ = 1, 150 do
      local tape <close> = tf.GradientTape()
      value = loss(net(x), t)
      tape:stop()
      opt:step(tape:gradient(value, net:parameters()))
    end
    assert(value:item() < 0.05, value:item())
  end)
end)
check("convolutions lie as in PyTorch", function()
  local m = nn.Conv2d(1, 1, {1, 2}, {bias = false}) -- {rows, columns}: the sum of two neighbours, weighted
  m:load_state_dict{weight = tf.tensor{{{{10, 1}}}}}
  numbers(m(tf.tensor{{{{1, 2, 3}}}}), {12, 23})
  local s = nn.SpatialConvolution(1, 1, 2, 1) -- kW, kH
  s:load_state_dict{weight = tf.tensor{{{{10, 1}}}}, bias = tf.tensor{0.5}}
  numbers(s(tf.tensor{{{{1, 2, 3}}}}), {12.5, 23.5})
  local t = nn.TemporalConvolution(2, 1, 2)
  t:load_state_dict{weight = tf.tensor{{1, 10, 100, 1000}}, bias = tf.tensor{0}}
  numbers(t(tf.tensor{{{1, 2}, {3, 4}}}), {1 + 20 + 300 + 4000})
end)
check("pools", function()
  local x = tf.tensor{{{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}}
  numbers(nn.MaxPool2d(2)(x), {5})
  numbers(nn.SpatialMaxPooling(2, 2):ceil()(x), {5, 6, 8, 9})
  numbers(nn.AvgPool2d(2, 1)(x), {3, 4, 6, 7})
  numbers(nn.AdaptiveAvgPool2d(1)(x), {5})
  numbers(nn.MaxPool2d(3, 1, {padding = 1})(x)[{1, 1, 1}], {5, 6, 6})
end)
check("tables of rows", function()
  local e = nn.Embedding(3, 2, {padding_idx = 0})
  numbers(e(tf.tensor({0}, "int64")), {0, 0})
  local l = nn.LookupTable(3, 2)
  assert(l(tf.tensor({1, 3}, "int64")):bytes() == tf.gather(l.weight:value(), tf.tensor({0, 2}, "int64")):bytes())
end)
check("activations", function()
  local x = tf.tensor{-2, -0.25, 0, 0.25, 2}
  numbers(nn.HardTanh()(x), {-1, -0.25, 0, 0.25, 1})
  numbers(nn.HardShrink()(x), {-2, 0, 0, 0, 2})
  numbers(nn.SoftShrink()(x), {-1.5, 0, 0, 0, 1.5})
  numbers(nn.LeakyReLU(0.1)(x), {-0.2, -0.025, 0, 0.25, 2})
  numbers(nn.Threshold(0.5, -7)(x), {-7, -7, -7, -7, 2})
  numbers(nn.ELU(2)(tf.tensor{-1, 1}), {2 * (math.exp(-1) - 1), 1})
  numbers(nn.PReLU()(tf.tensor{-4, 4}), {-1, 4})
  numbers(nn.LogSoftMax()(tf.tensor{{0, 0}}), {-math.log(2), -math.log(2)})
  numbers(nn.SoftMin()(tf.tensor{{0, math.log(3)}}), {0.75, 0.25})
end)

-- ------------------------------------------------------------------------------------- errors

says("features", "expects 2 features, but the input's shape is {1, 3}", function() nn.Linear(2, 1)(tf.tensor{{1, 2, 3}}) end)
says("channels", "expects 1 channels", function() nn.Conv2d(1, 1, 1)(tf.zeros({1, 2, 3, 3}, {now = true})) end)
says("classes", "class 3 is out of range: there are 1 to 2", function() nn.ClassNLLCriterion():forward(tf.tensor{{0, 0}}, tf.tensor({3}, "int64")) end)
says("words", "index 5 is out of range: there are 0 to 2", function() nn.Embedding(3, 2)(tf.tensor({5}, "int64")) end)
says("backward before forward", "not run forward yet", function() nn.Linear(1, 1):backward(tf.tensor{{1}}, tf.tensor{{1}}) end)
says("the shape of gradOutput", "gradOutput has the shape {1, 2}, the output {1, 1}", function()
  local m = nn.Linear(1, 1)
  m:forward(tf.tensor{{1}})
  m:backward(tf.tensor{{1}}, tf.tensor{{1, 2}})
end)
says("a state that lacks names", "missing: bias", function() nn.Linear(1, 1):load_state_dict{weight = tf.tensor{{1}}} end)
says("a state of other shapes", "'weight' has the shape {1, 2}, the module's {1, 1}", function() nn.Linear(1, 1):load_state_dict{weight = tf.tensor{{1, 2}}, bias = tf.tensor{1}} end)
says("a share above 1", "within 0 and 1", function() nn.Dropout(2) end)
says("no module", "expects modules", function() nn.Sequential():add(3) end)
print(("torch: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
