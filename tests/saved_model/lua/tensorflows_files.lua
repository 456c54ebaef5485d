-- Graphs as TensorFlow wrote them give the numbers that TensorFlow computed: frozen graphs in both forms, saved models of both
-- versions and of Keras, a meta graph.
-- Know: tests/data/saved_model/README.md.
local here = arg[0]:match "^.*/" or "./"
package.path = here .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local root = here .. "../../data/saved_model/"
local file = assert(io.open(root .. "graphs.json"))
local cases = tf.json.decode(file:read "a").cases
file:close()
local values = tf.read_safetensors(root .. "graphs.safetensors")
local tried = 0
for _, c in ipairs(cases) do
  if c.inputs and not c.id:find "^loop" then
    local m <close> = tf.saved_model.load(root .. c.path)
    local ins, outs, got = {}, {}, nil
    for _, i in ipairs(c.inputs) do ins[i.name] = values[i.key] end
    if next(m.signature_def) then
      -- Keras calls its tensors by names of its own; there is one of each then
      local s = m.signature_def.serving_default
      local in_name, out_name = next(s.inputs), next(s.outputs)
      if not s.inputs[c.inputs[1].name] then ins = {[in_name] = values[c.inputs[1].key]} end
      got = m:run(ins)
      if not got[c.outputs[1].name] then got = {[c.outputs[1].name] = got[out_name]} end
    else
      for _, o in ipairs(c.outputs) do outs[o.name] = o.name end
      got = m.session:run(outs, ins, {raw = true})
    end
    for _, o in ipairs(c.outputs) do
      tried = tried + 1
      t.near(c.id .. ": " .. o.name, got[o.name], values[o.key]:table(), 1e-5, 1e-6)
    end
    for _, v in ipairs(c.id == "saved_model_v1" and c.variables or {}) do t.exact(v.name, m.session:read(v.name), values[v.key]) end
    for i, n in ipairs(c.nodes or {}) do
      local op = m.graph:get_operation_by_name(n.name)
      local inputs = {}
      for k, x in ipairs(op.inputs) do inputs[k] = x.op.name end
      t.exact(c.id .. ": node " .. i, {op.type, table.concat(inputs, " ")}, {n.op, table.concat(n.inputs, " ")})
    end
  end
end
t.exact("outputs", tried, 6)
-- The meta graph: the same net; its own init gives the weights, and nothing of the saver is there.
local m <close> = tf.saved_model.load(root .. "cnn.meta")
for _, op in ipairs(m.graph:get_operations()) do t.check("no " .. op.name, not op.name:find "^save/") end
m.session:run "init"
t.near("the meta graph's output", m.session:run("probabilities:0", {["image:0"] = values["saved_model_v1/in/image"]}),
  values["saved_model_v1/out/probabilities"]:table(), 1e-5, 1e-6)
-- The same as TensorFlow 1's programs do it: the meta graph, then the weights of a checkpoint
do
  local g <close> = tf.Graph():as_default()
  local saver = tf.train.import_meta_graph(root .. "cnn.meta")
  local sess <close> = tf.Session()
  saver:restore(sess, root .. "saved_model_v1/variables/variables")
  t.near("restored", sess:run("probabilities:0", {["image:0"] = values["saved_model_v1/in/image"]}), values["saved_model_v1/out/probabilities"]:table(), 1e-5, 1e-6)
  local prefix = os.tmpname()
  os.remove(prefix)
  saver:save(sess, prefix)
  local bytes = tf.train.export_meta_graph {filename = prefix .. ".meta"}
  local again <close> = tf.Graph():as_default()
  local second <close> = tf.Session()
  tf.train.import_meta_graph(prefix .. ".meta"):restore(second, prefix)
  t.near("exported and back", second:run("probabilities:0", {["image:0"] = values["saved_model_v1/in/image"]}), values["saved_model_v1/out/probabilities"]:table(), 1e-5, 1e-6)
  t.exact("from bytes", #tf.train.import_meta_graph(bytes, {import_scope = "again"}).names, 5)
  t.raises("other weights", function() saver:restore(sess, root .. "saved_model_v2/variables/variables") end, "conv/")
  for _, ending in ipairs {".meta", ".index", ".data-00000-of-00001"} do os.remove(prefix .. ending) end
end
-- Loops of TensorFlow 1
local ok, fault = pcall(tf.saved_model.load, root .. "loop.pb")
t.exact("a loop is refused", {ok, fault.code}, {false, "UNIMPLEMENTED"})
t.check("and named", tostring(fault):find "loop" and tostring(fault):find("loop.pb", 1, true), tostring(fault))
t.done() -- expect: ok
