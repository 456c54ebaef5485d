-- Ten steps of models with what training is made of, against numbers recorded from TensorFlow (tests/data/oracle/train/
-- runs_models): convolution, batch norm, dropout masks, penalties, clipping, averages, sparse rows, accumulation.
--
--     tfsdk run tests/train/models.lua [CASE]
local tf = require "tfsdk"
local here = arg[0]:match "^(.*)/" or "."
local folder = here .. "/../data/oracle/train/"
local only = arg[1]
local passed, failed, others = 0, 0, 0
local note = dofile(here .. "/../oracle/note.lua")

local function load(name)
  local file = assert(io.open(folder .. name .. ".json"))
  local text = file:read "a"
  file:close()
  return tf.json.decode(text), tf.read_safetensors(folder .. name .. ".safetensors")
end
local function close(got, want, limit, what)
  if table.concat(got.shape, "x") ~= table.concat(want.shape, "x") then
    return ("%s: shape {%s}, want {%s}"):format(what, table.concat(got.shape, ","), table.concat(want.shape, ","))
  end
  local a, b = got:reshape{-1}:table(), want:reshape{-1}:table()
  local top = 1e-30
  for _, x in ipairs(b) do top = math.max(top, math.abs(x)) end
  for i, x in ipairs(b) do
    if not (math.abs(x - a[i]) <= limit * top) then return ("%s[%d]: got %.9g, want %.9g"):format(what, i, a[i], x) end
  end
end
local function options(args)
  local out = {}
  for key, value in pairs(args) do if value ~= tf.json.null then out[key] = value end end
  return out
end
local function find(path)
  local at = tf
  for word in path:gsub("^tf%.compat%.v1%.", ""):gmatch "[^.]+" do at = at[word] end
  return at
end
local null = tf.json.null

-- The loss of a batch; `updates` gets the new moving averages of batch norms.
local function forward(layers, params, batch, updates)
  local x, loss = batch.x or batch.ids, nil
  for _, l in ipairs(layers) do
    if l.op == "dense" then
      x = tf.matmul(x, params[l.kernel])
      if l.bias ~= null then x = x + params[l.bias] end
    elseif l.op == "conv2d" then
      x = tf.nn.conv2d(x, params[l.kernel], {strides = l.strides, padding = l.padding})
      if l.bias ~= null then x = x + params[l.bias] end
    elseif l.op == "max_pool" then x = tf.nn.max_pool(x, {ksize = l.size, strides = l.strides, padding = l.padding})
    elseif l.op == "flatten" then x = tf.reshape(x, {x.shape[1], -1})
    elseif l.op == "relu" then x = tf.nn.relu(x)
    elseif l.op == "embedding_lookup" then x = tf.nn.embedding_lookup(params[l.table], x)
    elseif l.op == "reduce_mean" then x = tf.reduce_mean(x, {axis = l.axis})
    elseif l.op == "multiply by batch.mask and divide by keep_prob" then x = x * batch.mask / l.keep_prob
    elseif l.op == "batch_norm" then
      local mean, variance = tf.nn.moments(x, {axes = {0, 1, 2}})
      local kept = variance
      if l["variance put into the moving average"] == "unbiased" then
        local n = x.shape[1] * x.shape[2] * x.shape[3]
        kept = variance * (n / (n - 1))
      end
      for name, value in pairs{[l.moving_mean] = mean, [l.moving_variance] = kept} do
        updates[#updates + 1] = params[name]:assign(params[name] * l.decay + value * (1 - l.decay))
      end
      x = tf.nn.batch_normalization(x, mean, variance, params[l.beta], params[l.gamma], l.epsilon)
    elseif l.op == "loss" and l.name == "mean_squared_error" then loss = tf.reduce_mean(tf.squared_difference(x, batch.y))
    elseif l.op == "loss" and l.name == "sparse_softmax_cross_entropy" then
      loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits{labels = batch.y, logits = x})
    elseif l.op == "add to the loss" then
      for _, name in ipairs(l.weights) do
        local half = l.rule:find "l2_loss" and 0.5 or 1
        loss = loss + tf.reduce_sum(tf.square(params[name])) * (l.scale * half)
      end
    else error("unknown layer " .. l.op .. " " .. tostring(l.name)) end
    if l.activation == "relu" then x = tf.nn.relu(x) end
  end
  return loss
end

-- What is done to the gradients; the second value is their global norm where one is taken.
local function treated(list, how)
  if not how then return list end
  local grads, norm = {}, nil
  for i, gv in ipairs(list) do grads[i] = gv[1] end
  if how.clip_by_value then
    for i, g in ipairs(grads) do grads[i] = tf.clip_by_value(g, how.clip_by_value[1], how.clip_by_value[2]) end
  elseif how.clip_by_norm then
    for i, g in ipairs(grads) do grads[i] = tf.clip_by_norm(g, how.clip_by_norm) end
  elseif how.clip_by_global_norm then
    grads, norm = tf.clip_by_global_norm(grads, how.clip_by_global_norm)
  elseif (how["gradient of the table"] or ""):find "dense" then
    for i, g in ipairs(grads) do grads[i] = tf.convert_to_tensor(g) end
  end
  local out = {}
  for i, gv in ipairs(list) do out[i] = {grads[i], gv[2]} end
  return out, norm
end

local function run(c, data)
  local limit = c.dtype == "float64" and 1e-9 or 1e-5
  local how = c.treatment
  local micro = how and how.accumulation
  return tf.Graph():as_default(function()
    local step = tf.train.get_or_create_global_step()
    local m = c.model
    local params, batch, names, trained = {}, {}, {}, {}
    for name in pairs(m.init) do names[#names + 1] = name end
    table.sort(names)
    local trainable = {}
    for _, name in ipairs(m.trainable) do trainable[name] = true end
    for _, name in ipairs(names) do
      params[name] = tf.Variable(data[m.init[name]], {name = name, trainable = trainable[name] or false})
      if trainable[name] then trained[#trained + 1] = params[name] end
    end
    for name, key in pairs(m.batches) do
      local t = data[key][1]
      if micro then t = t[1] end
      batch[name] = tf.placeholder(t.dtype, t.shape)
    end
    local updates = {}
    local loss = forward(m.layers, params, batch, updates)
    local opt = find(c.optimizer)(options(c.args))
    local raw = opt:compute_gradients(loss, trained)
    local list, norm = treated(raw, how)
    local add, train
    if micro then -- the mean over the micro-batches, gathered in variables
      local sums, adds, means, clear = {}, {}, {}, {}
      for i, gv in ipairs(list) do
        sums[i] = tf.Variable(tf.zeros(gv[2].shape, {now = true}), {trainable = false, name = "sum_" .. i})
        adds[i] = sums[i]:assign_add(gv[1])
        means[i] = {sums[i]:value() / micro, gv[2]}
        clear[i] = sums[i].initializer
      end
      add = tf.group(adds)
      local apply = opt:apply_gradients(means, step)
      local after <close> = tf.control_dependencies{apply}
      for i, s in ipairs(sums) do clear[i] = s:assign(tf.zeros(s.shape)) end
      train = tf.group(clear)
    else
      train = opt:apply_gradients(list, step)
    end
    local average
    if how and how.ExponentialMovingAverage then
      local o = how.ExponentialMovingAverage
      average = tf.train.ExponentialMovingAverage{decay = o.decay, num_updates = o.num_updates and step or nil, zero_debias = o.zero_debias or false}
      local after <close> = tf.control_dependencies{train}
      train = average:apply(trained)
    end
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    local first = c.grads_step1
    local losses, norms, why = {}, {}, nil
    local steps = data[c.losses].shape[1]
    for s = 1, steps do
      if micro then
        local row = {}
        for k = 1, micro do
          local feed = {}
          for name, key in pairs(m.batches) do feed[batch[name]] = data[key][s][k] end
          row[k] = sess:run({loss, add}, feed)[1]
        end
        losses[s] = row
        sess:run(train)
      else
        local feed = {}
        for name, key in pairs(m.batches) do feed[batch[name]] = data[key][s] end
        if s == 1 then
          local grads = {}
          for i, gv in ipairs(list) do grads[i] = tf.convert_to_tensor(gv[1]) end
          local got = sess:run(grads, feed, {raw = true})
          for i, gv in ipairs(list) do
            local name = gv[2].op.name
            local key = first[name .. ".applied"] or first[name]
            if key then why = why or close(got[i], data[key], limit, "gradient of " .. name) end
          end
        end
        local r = sess:run({loss = loss, train = train, norm = norm, updates = #updates > 0 and tf.group(updates) or nil}, feed)
        losses[s], norms[s] = r.loss, r.norm
        if s == 1 then
          for name, key in pairs(c.after_step1 or {}) do
            if params[name] then why = why or close(sess:run(params[name], nil, {raw = true}), data[key], limit, name .. " after step 1") end
          end
        end
      end
    end
    why = why or close(tf.tensor(losses, c.dtype), data[c.losses], limit, "losses")
    for name, key in pairs(c.final) do
      why = why or close(sess:run(params[name], nil, {raw = true}), data[key], limit, name)
    end
    for name, key in pairs(c.slots) do why = why or close(sess:read(name:gsub(":0$", "")), data[key], limit, name) end
    for name, key in pairs(c.extra or {}) do
      local of = name:match "^shadow%.(.*)$"
      if of then why = why or close(sess:run(average:average(params[of]), nil, {raw = true}), data[key], limit, name)
      elseif name == "global_norm" then why = why or close(tf.tensor(norms), data[key], limit, name) end
    end
    return why
  end)
end

local info, data = load "runs_models"
for _, c in ipairs(info.cases) do
  if c.optimizer:find "^tf%." then
    if not only or c.id:find(only, 1, true) then
      local ok, why = pcall(run, c, data)
      note("train/runs_models", c.id, ok and not why, why)
      if ok and not why then passed = passed + 1 else
        failed = failed + 1
        print(c.id, why)
      end
    end
  else
    others = others + 1 -- Keras' own: tests/keras/oracle_train.lua
  end
end
print(("models: %d passed, %d failed, %d elsewhere"):format(passed, failed, others))
os.exit(failed == 0 and passed > 0 and 0 or 1, true)
