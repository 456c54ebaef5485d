-- GraphDefs as data: parts, variables as constants, training's nodes removed, imported with other inputs; text form and back.
-- Know: TensorFlow's graph_util and import_graph_def.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local util = tf.graph_util
local x = tf.placeholder("float32", {2, 3}, {name = "x"})
local w = tf.get_variable("w", {3, 2}, {initializer = tf.constant_initializer(0.5)})
local checked = tf.check_numerics(tf.matmul(x, w, {name = "product"}), "bad", {name = "checked"})
local y = tf.identity(tf.identity(checked, "copy") + 1, "y")
local other = tf.multiply(y, 2, {name = "other"})
local _ = w:assign(w * 2)
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local data = tf.tensor {{1, 2, 3}, {4, 5, 6}}
local want = sess:run(y, {[x] = data})
local def = tf.get_default_graph():as_graph_def()
local function names(d)
  local out = {}
  for _, n in ipairs(d.node) do out[n.name] = n end
  return out
end
local step -- the node that assigns; the one before is the initializer's
for _, n in ipairs(def.node) do if n.op == "AssignVariableOp" then step = n.name end end
-- a part
local part = names(util.extract_sub_graph(def, {"product"}))
t.check("what it needs", part.x and part.product and part.w)
t.check("nothing else", not part.y and not part.other and not part[step])
t.raises("an unknown node", function() util.extract_sub_graph(def, {"prodct"}) end, "prodct")
t.raises("no list", function() util.extract_sub_graph(def, "product") end, "list")
-- variables as constants
local frozen = util.convert_variables_to_constants(sess, def, {"y"})
local n = names(frozen)
t.exact("a constant", n.w.op, "Const")
for _, node in ipairs(frozen.node) do t.check("no reads: " .. node.name, node.op ~= "ReadVariableOp" and node.op ~= "VarHandleOp") end
t.exact("left as they are", names(util.convert_variables_to_constants(sess, def, {"y"}, {variable_names_blacklist = {"w"}})).w.op, "VarHandleOp")
t.raises("one that is written", function() util.convert_variables_to_constants(sess, def, {step}) end, step, "'w'")
t.exact("the graph itself is unchanged", names(def).w.op, "VarHandleOp")
-- training's nodes
local small = util.remove_training_nodes(frozen, {"y"})
local s = names(small)
t.check("checks and copies are gone", not s.checked and not s.copy)
t.check("a protected one stays", s.y ~= nil)
-- imported
local function run_imported(graph_def, options)
  local g <close> = tf.Graph():as_default()
  local inner = tf.placeholder("float32", {2, 3}, {name = "inner"})
  options.input_map = {["x:0"] = inner}
  local out = tf.import_graph_def(graph_def, options)
  local one <close> = tf.Session()
  return one:run(out[1], {[inner] = data}), out
end
local got, out = run_imported(small, {return_elements = {"y:0", "product"}})
t.exact("imported", got, want)
t.exact("its names", {out[1].name, tf.kind(out[2]), out[2].name}, {"import/y:0", "Operation", "import/product"})
t.exact("other prefix", select(2, run_imported(frozen, {return_elements = {"y:0"}, name = "a/b"}))[1].name, "a/b/y:0")
t.exact("no prefix", select(2, run_imported(frozen, {return_elements = {"y:0"}, name = ""}))[1].name, "y:0")
t.exact("from bytes", (run_imported(frozen:SerializeToString(), {return_elements = {"y:0"}})), want)
local again = tf.GraphDef()
again:ParseFromString(frozen:SerializeToString())
t.exact("parsed again", again:SerializeToString() == frozen:SerializeToString(), true)
t.raises("an element that is not there", function() run_imported(frozen, {return_elements = {"z:0"}}) end, "'z:0'")
t.raises("a map that fits nothing", function()
  local g <close> = tf.Graph():as_default()
  tf.import_graph_def(frozen, {input_map = {["nope:0"] = tf.zeros {2, 3}}})
end, "'nope:0'")
t.raises("no message", function() tf.GraphDef():ParseFromString "\255\255\255" end, "damaged")
-- files
local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir '" .. folder .. "'")
tf.train.write_graph(frozen, folder, "g.pbtxt")
tf.train.write_graph(frozen, folder, "g.pb", false)
for _, name in ipairs {"g.pbtxt", "g.pb"} do t.exact(name, (run_imported(folder .. "/" .. name, {return_elements = {"y:0"}})), want) end
-- the program
local function graph(words)
  local pipe = io.popen(("'%s' graph %s 2>&1"):format(arg[-2] or "tfsdk", words))
  local text = pipe:read "a"
  local _, _, code = pipe:close()
  return text, code
end
local path = "'" .. folder .. "/g.pb'"
local text, code = graph("show " .. path)
t.check("show", code == 0 and text:find("product = MatMul(x, w/Read) float32[2,2]", 1, true) ~= nil, text)
text = graph("dot " .. path)
t.check("dot", text:find "^digraph" and text:find('"x" -> "product" [label="float32[2,3]"]', 1, true), text)
local json = tf.json.decode((graph("json " .. path)))
t.exact("json", #json.node, #frozen.node)
graph(("pb %s '%s/copy.pb'"):format(path, folder))
t.exact("pb", (run_imported(folder .. "/copy.pb", {return_elements = {"y:0"}})), want)
local script = t.temporary('local tf = require "tfsdk"\ntf.add(tf.placeholder("float32", {}, {name = "p"}), 1, {name = "sum"})\n', ".lua")
t.check("a script's graph", graph("pbtxt '" .. script .. "'"):find('name: "sum"', 1, true) ~= nil)
t.exact("wrong use", select(2, graph "draw x"), 2)
os.execute("rm -r '" .. folder .. "'")
t.remove_temporary()
t.done() -- expect: ok
