-- Forward passes of nets on random images: every end point has the shape that was told when the graph was built, and is finite; class
-- probabilities sum to 1; the same images in define-by-run mode give the same scores to the bit.
--
--     tfsdk run tests/slim/forward.lua [NET]...
local tf = require "tfsdk"
local slim = tf.slim
local wrong = 0
local function fail(...)
  wrong = wrong + 1
  print(string.format(...))
end
local nets = #arg > 0 and arg or {"lenet", "cifarnet", "mobilenet_v1_025", "mobilenet_v2_035", "inception_v1", "nasnet_cifar"}
local classes = 10
for _, name in ipairs(nets) do
  tf.Graph():as_default(function()
    local f = slim.nets.nets_factory.get_network_fn(name, classes, {is_training = false})
    local size = f.default_image_size
    local images = tf.random.uniform({2, size, size, name == "lenet" and 1 or 3}, {minval = -1, maxval = 1, seed = 3, now = true})
    local x = tf.placeholder("float32", {-1, size, size, name == "lenet" and 1 or 3})
    local logits, points = f(x)
    local names, fetches = {}, {}
    for point, node in pairs(points) do
      names[#names + 1], fetches[#fetches + 1] = point, node
    end
    fetches[#fetches + 1] = tf.nn.softmax(logits)
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    local got = sess:run(fetches, {[x] = images}, {raw = true})
    for i, point in ipairs(names) do
      local static, now = fetches[i].shape, got[i].shape
      if #static ~= #now then fail("%s.%s: rank %d, told %d", name, point, #now, #static) end
      for k, d in ipairs(static) do
        if d >= 0 and d ~= now[k] then fail("%s.%s: extent %d is %d, told %d", name, point, k - 1, now[k], d) end
      end
      if now[1] ~= 2 then fail("%s.%s: the batch is %d", name, point, now[1]) end
      if not tf.reduce_all(tf.is_finite(got[i])):item() then fail("%s.%s is not finite", name, point) end
    end
    for _, sum in ipairs(tf.reduce_sum(got[#got], 1):table()) do
      if math.abs(sum - 1) > 1e-5 then fail("%s: probabilities sum to %.7f", name, sum) end
    end
    -- define-by-run, with the same weights
    local values = {}
    for _, v in ipairs(tf.global_variables()) do values[v.op.name] = sess:run(v, nil, {raw = true}) end
    local graph_scores = got[#got]
    local eager_scores = tf.eager(function()
      return tf.variable_scope("run_" .. name, {custom_getter = function(make, short, shape, dtype, _, regularizer, trainable)
        local path = (tf.get_variable_scope().name .. "/" .. short):gsub("^run_" .. name .. "/", "")
        return make(short, shape, dtype, function() return values[path] end, regularizer, trainable)
      end}, function() return tf.nn.softmax((f(images))) end)
    end)
    if eager_scores:bytes() ~= graph_scores:bytes() then
      fail("%s: graph and define-by-run differ by %g", name, tf.reduce_max(tf.abs(eager_scores - graph_scores)):item())
    end
    print(("%-20s %d end points"):format(name, #names))
  end)
end
os.exit(wrong == 0 and 0 or 1, true)
