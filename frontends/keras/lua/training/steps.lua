-- One batch: a plan of its own for training, testing and predicting, kept by the kinds of its inputs; or, for a model whose variables
-- are define-by-run, a tape.
--
-- A step gives {loss = number, parts = {numbers by output}, outputs = {tensors}} and has added the batch to the metrics.
local tf, T = ...
local raw = tf.raw
local compiled = T.include("keras", "training/compiled")
local engine = T.include("keras", "training/engine")
local steps = {}

-- ------------------------------------------------------------------------------------- what both modes share

local function shapes_of(list)
  local out = {}
  for i, t in ipairs(list) do out[i] = t and t.shape or nil end
  return out
end
local function resolved(model, y, outputs, who)
  local c = model.compiled
  if not c.resolved then
    c.resolved = compiled.resolve(c, engine.io(model).outputs, #outputs, shapes_of(y), shapes_of(outputs), who)
    model.metrics_names = {table.unpack(c.resolved.names)}
  end
  if #outputs ~= c.resolved.n then T.fail(who, "the model gave %d outputs, %d before", #outputs, c.resolved.n) end
  return c.resolved
end
-- The sum of all losses and penalties, and the loss of each output.
local function total_loss(r, y, outputs, w, masks, penalties, who)
  local total, parts = nil, {}
  for i = 1, r.n do
    local loss = r.losses[i]
    if loss then
      if not y[i] then T.fail(who, "output %d has a loss, and there are no targets for it", i) end
      local value = loss(y[i], outputs[i], w[i] or nil, masks[i] or nil)
      if value:rank() ~= 0 then value = tf.reduce_mean(value) end
      parts[i] = value
      local weighted = r.weights[i] ~= 1 and value * r.weights[i] or value
      total = total and total + weighted or weighted
    end
  end
  for _, penalty in ipairs(penalties) do
    if T.kind(penalty) == "Variable" or penalty:rank() ~= 0 then penalty = tf.reduce_sum(penalty) end
    if total and penalty.dtype ~= total.dtype then penalty = tf.cast(penalty, total.dtype) end
    total = total and total + penalty or penalty
  end
  return total, parts
end
-- Sums of the batch for each metric; metrics of the script with update_state of their own come later.
local function own(metric) return metric.stats == nil end
local function weight_of(m, w, masks)
  local i = m.output
  local weight = m.weighted and w[i] or nil
  if masks[i] then
    local mask = tf.cast(masks[i], "float32")
    weight = weight and tf.cast(weight, "float32") or nil
    if weight and weight:rank() and mask:rank() and weight:rank() < mask:rank() then weight = raw.ExpandDims(weight, -1) end
    weight = weight and weight * mask or mask
  end
  return weight
end
local function stats(r, y, outputs, w, masks)
  local out = {}
  for k, m in ipairs(r.metrics) do
    if y[m.output] and not own(m.metric) then
      out[k] = m.metric:stats(y[m.output], outputs[m.output], weight_of(m, w, masks))
    end
  end
  return out
end
local function trainable_of(model, who)
  local c = model.compiled
  c.trainable = c.trainable or engine.trainable(model)
  if #c.trainable == 0 then T.fail(who, "the model has no trainable weights") end
  return c.trainable
end
local function pairs_of(grads, vars, who)
  local out, names = {}, {}
  for i, v in ipairs(vars) do
    names[i] = v.name
    if grads[i] then out[#out + 1] = {grads[i], v} end
  end
  if #out == 0 then T.fail(who, "the loss depends on none of the weights: %s", table.concat(names, ", ")) end
  return out
end

-- ------------------------------------------------------------------------------------- plans

local function placeholders(list, shapes, name)
  local out = {}
  for i, t in ipairs(list) do
    out[i] = t and tf.placeholder(t.dtype, shapes[i], {name = name .. (i > 1 and "_" .. i or "")}) or false
  end
  return out
end
-- Extents that the same step has to serve: the first is free, others where batches differed.
local function merged(list, old)
  local out = {}
  for i, t in ipairs(list) do
    if t then
      local shape = {table.unpack(t.shape)}
      if #shape > 0 then shape[1] = -1 end
      for a, d in ipairs(old and old[i] or {}) do if d ~= shape[a] then shape[a] = -1 end end
      out[i] = shape
    else
      out[i] = false
    end
  end
  return out
end
local function fits(list, shapes)
  for i, t in ipairs(list) do
    if t then
      for a, d in ipairs(shapes[i]) do if d >= 0 and t.shape[a] ~= d then return false end end
    end
  end
  return true
end
local function signature(kind, batch, extra)
  local out = {kind, extra}
  for _, part in ipairs {"x", "y", "w"} do
    out[#out + 1] = part
    for _, t in ipairs(batch[part]) do out[#out + 1] = t and t.dtype .. #t.shape or "-" end
  end
  return table.concat(out, " ")
end

local Plan = {}
Plan.__index = Plan
local function build(model, kind, batch, shapes, guarded, who)
  local graph = engine.graph(model)
  local self = setmetatable({model = model, kind = kind, graph = graph, session = engine.session(model), shapes = shapes, fetches = {}, where = {}}, Plan)
  local guard <close> = graph:as_default()
  local none <close> = tf.control_dependencies(false)
  local scope <close> = T.scope(kind)
  self.x, self.y, self.w = placeholders(batch.x, shapes.x, "x"), placeholders(batch.y, shapes.y, "y"), placeholders(batch.w, shapes.w, "sample_weight")
  local outputs, masks, penalties, updates = engine.call(model, self.x, kind == "train")
  local fetches = self.fetches
  local function fetch(node)
    fetches[#fetches + 1] = node
    return #fetches
  end
  if kind ~= "predict" then
    local r = resolved(model, self.y, outputs, who)
    self.resolved = r
    local total, parts = total_loss(r, self.y, outputs, self.w, masks, penalties, who)
    if kind == "train" and not total then T.fail(who, "the model has no loss; say it in model:compile{loss =}") end
    if total then self.where.loss = fetch(total) end
    self.where.parts = {}
    for i, value in pairs(parts) do self.where.parts[i] = fetch(value) end
    self.where.stats = {}
    for k, sums in pairs(stats(r, self.y, outputs, self.w, masks)) do
      self.where.stats[k] = {}
      for i, node in ipairs(sums) do self.where.stats[k][i] = fetch(T.value(node)) end
    end
    for _, m in ipairs(r.metrics) do self.wants_outputs = self.wants_outputs or own(m.metric) end
    if kind == "train" then
      local opt = model.compiled.optimizer
      local vars = trainable_of(model, who)
      local scaled = opt.dynamic and opt:scale(total) or opt.loss_scale_factor and total * opt.loss_scale_factor or total
      local list = pairs_of(tf.gradients(scaled, vars), vars, who)
      if guarded then -- weights stay as they were when the loss is not a number, so that the first bad tensor can be found
        local good = raw.IsFinite(total)
        for i, gv in ipairs(list) do
          local g = T.dense(gv[1])
          list[i] = {raw.SelectV2(good, g, raw.ZerosLike(g)), gv[2]}
        end
      end
      self.list = list
      local function copy()
        local out = {}
        for i, gv in ipairs(list) do out[i] = {gv[1], gv[2]} end
        return out
      end
      local trained = {}
      for i, gv in ipairs(list) do trained[i] = gv[2] end
      self.trained = trained
      local all = {}
      for _, u in ipairs(updates) do all[#all + 1] = u end
      local plain = {table.unpack(all)}
      if opt.gradient_accumulation_steps then
        for _, op in ipairs(opt:emit_accumulation(copy())) do plain[#plain + 1] = op end
        self.accumulate = tf.group(plain, {name = "accumulate"})
      end
      if opt.dynamic then -- kept first; used if all of it is finite
        local ops, finite = opt:emit_store(copy())
        for _, op in ipairs(ops) do all[#all + 1] = op end
        self.finite = finite
        self.stored = tf.group(opt:emit_stored(trained, engine.constraint), {name = "stored"})
      else
        for _, op in ipairs(opt:emit(copy(), engine.constraint)) do all[#all + 1] = op end
      end
      self.update = tf.group(all, {name = "update"})
      if opt.use_ema or opt.dynamic and opt.inner_optimizer.use_ema then
        self.overwrite = tf.group(opt:emit_overwrite(trained), {name = "overwrite"})
      end
    elseif #updates > 0 and kind == "train" then
      self.update = tf.group(updates, {name = "update"})
    end
  end
  self.outputs = outputs
  engine.initialize(model)
  return self
end
-- The step for a batch like this one.
function steps.plan(model, kind, batch, guarded, who)
  local cache = model.step_plans
  if not cache then
    cache = {}
    model.step_plans = cache
  end
  local extra = kind == "train" and (guarded and "guarded" or "free") or ""
  local key = signature(kind, batch, extra)
  local plan = cache[key]
  if plan and plan.graph == engine.graph(model) and plan.session == engine.session(model) and fits(batch.x, plan.shapes.x) and fits(batch.y, plan.shapes.y) and fits(batch.w, plan.shapes.w) then
    return plan
  end
  local old = plan and plan.shapes or {}
  plan = build(model, kind, batch, {x = merged(batch.x, old.x), y = merged(batch.y, old.y), w = merged(batch.w, old.w)}, guarded, who)
  cache[key] = plan
  return plan
end
local function tensor_of(x) return T.kind(x) and x or tf.tensor(x) end
function Plan:run(batch, keep_outputs)
  local feed = {}
  for i, node in ipairs(self.x) do if node then feed[node] = batch.x[i] end end
  for i, node in ipairs(self.y) do if node then feed[node] = batch.y[i] end end
  for i, node in ipairs(self.w) do if node then feed[node] = batch.w[i] end end
  local fetches = {table.unpack(self.fetches)}
  local opt, action, overwrite
  if self.kind == "train" then
    opt = self.model.compiled.optimizer
    action, overwrite = opt:next_action()
    opt:feed(self.graph, feed)
    fetches[#fetches + 1] = action == "accumulate" and self.accumulate or self.update
    if self.finite then fetches[#fetches + 1] = self.finite end
  end
  local first = #fetches
  local with_outputs = keep_outputs or self.wants_outputs
  if with_outputs then for i, node in ipairs(self.outputs) do fetches[first + i] = node end end
  local r = self.session:run(fetches, feed)
  if opt and self.finite then
    if r[first] then self.session:run(self.stored, opt:feed(self.graph, {})) end
    if r[first] and overwrite then self.session:run(self.overwrite) end
    opt:judge(r[first])
  elseif opt then
    if overwrite then self.session:run(self.overwrite) end
    opt:stepped_on()
  end
  local out = {loss = self.where.loss and r[self.where.loss], parts = {}}
  for i, at in pairs(self.where.parts or {}) do out.parts[i] = r[at] end
  if with_outputs then
    out.outputs = {}
    for i = 1, #self.outputs do out.outputs[i] = tensor_of(r[first + i]) end
  end
  if self.kind ~= "predict" then
    for k, m in ipairs(self.resolved.metrics) do
      local at = self.where.stats[k]
      if at then
        local sums = {}
        for i, index in ipairs(at) do sums[i] = r[index] end
        m.metric:add(sums)
      elseif own(m.metric) and batch.y[m.output] then
        local w = m.weighted and batch.w[m.output] or nil
        tf.eager(function() m.metric:update_state(batch.y[m.output], out.outputs[m.output], w) end)
      end
    end
  end
  return out
end

-- ------------------------------------------------------------------------------------- define-by-run

local Eager = {}
Eager.__index = Eager
local function item(x) return T.kind(x) and x:item() or x end
function Eager:run(batch, keep_outputs)
  return tf.eager(function()
    local model, kind, who = self.model, self.kind, self.who
    if kind ~= "train" then
      local outputs, masks, penalties = engine.call(model, batch.x, false)
      if kind == "predict" then return {outputs = outputs, parts = {}} end
      return self:finish(batch, outputs, masks, penalties, keep_outputs)
    end
    local opt = model.compiled.optimizer
    local tape <close> = tf.GradientTape()
    local outputs, masks, penalties = engine.call(model, batch.x, true)
    local r = resolved(model, batch.y, outputs, who)
    local total, parts = total_loss(r, batch.y, outputs, batch.w, masks, penalties, who)
    if not total then T.fail(who, "the model has no loss; say it in model:compile{loss =}") end
    local scaled = opt.dynamic and opt:scale_loss(total) or opt.loss_scale_factor and total * opt.loss_scale_factor or total
    tape:stop()
    local vars = trainable_of(model, who)
    local list = pairs_of(tape:gradient(scaled, vars), vars, who)
    local value = total:item()
    local finite = value == value and math.abs(value) < math.huge
    if opt.dynamic then
      opt:apply_gradients(list)
    elseif finite or not self.guarded then
      local action, overwrite = opt:next_action()
      local trained = {}
      for i, gv in ipairs(list) do trained[i] = gv[2] end
      if action == "accumulate" then opt:emit_accumulation(list) else opt:emit(list, engine.constraint) end
      if overwrite then opt:emit_overwrite(trained) end
      opt:stepped_on()
    end
    return self:finish(batch, outputs, masks, penalties, keep_outputs, total, parts)
  end)
end
function Eager:finish(batch, outputs, masks, penalties, keep_outputs, total, parts)
  local r = resolved(self.model, batch.y, outputs, self.who)
  if parts == nil then total, parts = total_loss(r, batch.y, outputs, batch.w, masks, penalties, self.who) end
  local out = {loss = total and item(total), parts = {}, outputs = keep_outputs and outputs or nil}
  for i, value in pairs(parts) do out.parts[i] = item(value) end
  local all = stats(r, batch.y, outputs, batch.w, masks)
  for k, m in ipairs(r.metrics) do
    if all[k] then m.metric:add(all[k])
    elseif own(m.metric) and batch.y[m.output] then m.metric:update_state(batch.y[m.output], outputs[m.output], m.weighted and batch.w[m.output] or nil) end
  end
  return out
end

-- ------------------------------------------------------------------------------------- choosing

function steps.get(model, kind, batch, guarded, who)
  if engine.graph(model) then return steps.plan(model, kind, batch, guarded, who) end
  return setmetatable({model = model, kind = kind, who = who, guarded = guarded}, Eager)
end
-- At the end of training the averages of the weights are put into them.
function steps.finalize(model) model.compiled.optimizer:finalize_variable_values(model.compiled.trainable or {}) end
return steps
