-- provides tf.contrib.summary: create_file_writer scalar histogram image audio generic text graph flush always_record_summaries never_record_summaries record_summaries_every_n_global_steps should_record_summaries
-- Summaries in define-by-run mode, as TensorFlow 1's tf.contrib.summary has them: a writer is made the default one, and
-- what is called inside is written at once, where it is to be recorded at all.
--
--     local writer = tf.contrib.summary.create_file_writer "run"
--     local w <close>, r <close> = writer:as_default(), tf.contrib.summary.always_record_summaries()
--     tf.contrib.summary.scalar("loss", loss, {step = step})
local tf, T = ...
local def = T.def
local summary = T.namespace "tf.contrib.summary"
local writers, rules = {}, {}

-- An entry of a stack until the scope is closed; or while fn runs.
local Scope = {}
Scope.__index = Scope
function Scope:close()
  for i = #self.stack, 1, -1 do
    if self.stack[i] == self then table.remove(self.stack, i) break end
  end
end
Scope.__close = Scope.close
local function enter(stack, value, fn)
  local scope = setmetatable({stack = stack, value = value}, Scope)
  stack[#stack + 1] = scope
  if not fn then return scope end
  local guard <close> = scope
  return fn()
end
local function top(stack) return stack[#stack] and stack[#stack].value end

def("tf.contrib.summary.create_file_writer", "logdir max_queue=10 flush_millis=120000 filename_suffix? name?",
  function(logdir, max_queue, flush_millis, suffix)
    local w = tf.summary.FileWriter(logdir, {max_queue = max_queue, flush_secs = flush_millis / 1000, filename_suffix = suffix})
    return setmetatable({as_default = function(_, fn) return enter(writers, w, fn) end, set_as_default = function() enter(writers, w) end,
      flush = function() w:flush() end, close = function() w:close() end}, {__index = w})
  end)

-- The step that a summary belongs to: the one that is given, or the global step.
local function step_of(step)
  if step == nil then step = tf.train.get_global_step() end
  if step == nil then T.fail("tf.contrib.summary", "the step is missing, and there is no global step") end
  if T.kind(step) then step = step:item() end
  return math.tointeger(step) or T.fail("tf.contrib.summary", "the step must be a whole number, not %s", tostring(step))
end

-- Nothing is recorded before a rule says so, as in TensorFlow.
local function recording(step)
  local rule = top(rules)
  if type(rule) == "function" then return rule(step) end
  return rule == true
end
function summary.always_record_summaries(fn) return enter(rules, true, fn) end
function summary.never_record_summaries(fn) return enter(rules, false, fn) end
def("tf.contrib.summary.record_summaries_every_n_global_steps", "n global_step? fn?", function(n, global_step, fn)
  return enter(rules, function(step) return step_of(global_step or step) % n == 0 end, fn)
end)
function summary.should_record_summaries() return recording(nil) end

local function recorded(name, signature, write)
  def("tf.contrib.summary." .. name, signature, function(tag, value, family, step, ...)
    local w = top(writers)
    if not w or not recording(step) then return end
    write(w, family and family .. "/" .. tag or tag, value, step_of(step), ...)
  end)
end
recorded("scalar", "name tensor family? step?", function(w, tag, x, step) w:scalar(tag, x, step) end)
recorded("histogram", "name tensor family? step?", function(w, tag, x, step) w:histogram(tag, x, step) end)
recorded("text", "name tensor family? step?", function(w, tag, x, step) w:text(tag, x, step) end)
recorded("image", "name tensor family? step? bad_color? max_images=3", function(w, tag, x, step, _, max)
  w:image(tag, x, step, {max_outputs = max})
end)
recorded("audio", "name tensor family? step? sample_rate=44100 max_outputs=3", function(w, tag, x, step, rate, max)
  w:audio(tag, x, rate, step, {max_outputs = max})
end)
recorded("generic", "name tensor family? step? metadata?", function(w, tag, x, step, metadata) w:tensor(tag, x, step, metadata) end)
def("tf.contrib.summary.graph", "param step? name?", function(graph, step)
  if top(writers) then top(writers):add_graph(graph, step and step_of(step)) end
end)
def("tf.contrib.summary.flush", "writer? name?", function(w)
  w = w or top(writers)
  if w then w:flush() end
end)
