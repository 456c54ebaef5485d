-- CTC against recorded cases: losses by all paths summed in float64, decoders of TensorFlow (tests/data/oracle/rnn/ctc.json), in float64 and
-- float32, define-by-run and graph.
local tf = require "tfsdk"
local here = arg[0]:match "^(.*)/" or "."
local file = io.open(here .. "/../data/oracle/rnn/ctc.json")
local cases = tf.json.decode(file:read "a").cases
file:close()
local tensors = tf.read_safetensors(here .. "/../data/oracle/rnn/ctc.safetensors")
local wrong, n, ran = 0, 0, 0
local function complain(...)
  wrong = wrong + 1
  print("wrong: " .. string.format(...))
end
local function compare(what, got, want, limit)
  n = n + 1
  if not got then return complain("%s is missing", what) end
  got, want = tf.cast(got, "float64"), tf.cast(want, "float64")
  if table.concat(got.shape, ",") ~= table.concat(want.shape, ",") then
    return complain("%s: shape [%s], want [%s]", what, table.concat(got.shape, ","), table.concat(want.shape, ","))
  end
  local near = tf.less_equal(tf.abs(got - want), tf.maximum(tf.abs(want), tf.ones_like(want)) * limit)
  if not tf.reduce_all(tf.logical_or(near, tf.equal(got, want))):item() then complain("%s: %s, want %s", what, tostring(got), tostring(want)) end
end

-- Runs build(values) -> outputs by name, and the gradient of `loss` times dy with respect to `logits`.
local function run(mode, values, dy, wanted, build)
  if mode == "eager" then
    return tf.eager(function()
      local tape <close> = tf.GradientTape()
      tape:watch(values[wanted])
      local out = build(values)
      return out, dy and tape:gradient(out.loss, {values[wanted]}, {output_gradients = {tf.cast(dy, out.loss.dtype)}})[1]
    end)
  end
  local g = tf.Graph()
  local s <close> = g:as_default()
  local nodes, feed = {}, {}
  for key, v in pairs(values) do
    nodes[key] = tf.placeholder(v.dtype, v.shape)
    feed[nodes[key]] = v
  end
  local out = build(nodes)
  local fetch = {out = out, gradient = dy and tf.gradients(out.loss, nodes[wanted], tf.cast(dy, out.loss.dtype))[1] or nil}
  local sess <close> = tf.Session()
  local r = sess:run(fetch, feed, {raw = true})
  return r.out, r.gradient
end

local function sparse(v, prefix) return {indices = v[prefix .. "/indices"], values = v[prefix .. "/values"], dense_shape = v[prefix .. "/shape"]} end
local builders = {}
function builders.ctc_loss(c, v)
  return {loss = tf.nn.ctc_loss(sparse(v, "labels"), v.logits, v.sequence_length, {time_major = c.time_major ~= false,
    preprocess_collapse_repeated = c.preprocess_collapse_repeated or false, ctc_merge_repeated = c.ctc_merge_repeated ~= false,
    ignore_longer_outputs_than_inputs = c.ignore_longer_outputs_than_inputs or false})}
end
function builders.ctc_loss_v2(c, v)
  return {loss = tf.nn.ctc_loss_v2(v.labels, v.logits, v.label_length, v.logit_length, {blank_index = c.blank_index, logits_time_major = c.time_major})}
end
function builders.torch_ctc_loss(c, v)
  return {loss = tf.nn.ctc_loss_v2(v.targets, v.log_probs, v.target_lengths, v.input_lengths, {blank_index = c.blank, zero_infinity = c.zero_infinity})}
end
function builders.ctc_greedy_decoder(c, v)
  local d, score = tf.nn.ctc_greedy_decoder(v.logits, v.sequence_length, {merge_repeated = c.merge_repeated, blank_index = c.blank_index})
  return {["decoded/indices"] = d[1].indices, ["decoded/values"] = d[1].values, ["decoded/shape"] = d[1].dense_shape, neg_sum_logits = score}
end
function builders.ctc_beam_search_decoder(c, v)
  local d, score = tf.nn.ctc_beam_search_decoder(v.logits, v.sequence_length, {beam_width = c.beam_width, top_paths = c.top_paths, merge_repeated = c.merge_repeated})
  local out = {log_probability = score}
  for i, s in ipairs(d) do
    local name = "decoded" .. i - 1
    out[name .. "/indices"], out[name .. "/values"], out[name .. "/shape"] = s.indices, s.values, s.dense_shape
  end
  return out
end

for _, case in ipairs(cases) do
  local build = builders[case.config.op]
  if build then
    for _, dtype in ipairs {"float64", "float32"} do
      for _, mode in ipairs {"eager", "graph"} do
        local function tensor(part, key) return tensors[case.id .. "/" .. part .. "/" .. key] end
        local values, label = {}, ("%s %s %s"):format(case.id, dtype, mode)
        local logits = case.inputs.logits and "logits" or "log_probs"
        for key in pairs(case.inputs) do
          values[key] = tensor("inputs", key)
          if key == logits then values[key] = tf.cast(values[key], dtype) end
        end
        ran = ran + 1
        local dy = case.gradients[logits] and tensor("dy", "loss")
        local ok, out, gradient = pcall(run, mode, values, dy, logits, function(v) return build(case.config, v) end)
        if case.config.tf1_error then
          n = n + 1
          if ok or not tostring(out):find(case.config.message_has, 1, true) then
            complain("%s: %s, want an error with '%s'", label, ok and "no error" or tostring(out), case.config.message_has)
          end
        elseif not ok then
          complain("%s: %s", label, tostring(out))
        else
          local limit = (dtype == "float32" or case.config.op == "ctc_beam_search_decoder") and 1e-5 or 1e-9
          for key in pairs(case.outputs) do compare(label .. " " .. key, out[key], tensor("outputs", key), limit) end
          if dy then compare(label .. " gradient", gradient, tensor("gradients", logits), limit) end
        end
      end
    end
  end
end

-- ------------------------------------------------------------------------------------- wrong uses

tf.eager(function()
  local function fails(what, words, fn, ...)
    n = n + 1
    local ok, message = pcall(fn, ...)
    if ok or not tostring(message):find(words, 1, true) then complain("%s: %s, want an error with '%s'", what, tostring(message), words) end
  end
  local x, lengths = tf.ones{4, 1, 3}, tf.tensor({4}, "int32")
  local function labels(value) return {indices = tf.tensor({{0, 0}}, "int64"), values = tf.tensor({value}, "int32"), dense_shape = {1, 1}} end
  fails("the blank as a label", "row 0 has the label 2; labels are 0 to 1", tf.nn.ctc_loss, labels(2), x, lengths)
  fails("a label below 0", "row 0 has the label -1", tf.nn.ctc_loss, labels(-1), x, lengths)
  fails("too long", "the sequence length of row 0 is 5; there are 4 steps", tf.nn.ctc_loss, labels(0), x, {5})
  fails("dense labels", "'labels' must be sparse", tf.nn.ctc_loss, 3, x, lengths)
  fails("rank", "rank 3", tf.nn.ctc_loss, labels(0), tf.ones{4, 3}, lengths)
  fails("top_paths", "'top_paths' is 3, but 'beam_width' only 2", tf.nn.ctc_beam_search_decoder, x, lengths, {beam_width = 2, top_paths = 3})
  fails("no such blank", "'blank_index' is 3 for 3 classes", tf.nn.ctc_greedy_decoder, x, lengths, {blank_index = 3})
end)

if wrong > 0 then error(("%d of %d are wrong"):format(wrong, n), 0) end
print(("%d cases, %d checks"):format(ran, n))
