-- Forms that the recorded files do not have: variables of TensorFlow's first years, functions, control flow of TensorFlow 2,
-- attributes that are not known here, text with comments and lists.
-- Know: TensorFlow's op definitions; arithmetic.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local function load(text) return tf.saved_model.load(t.temporary(text, ".pbtxt")) end
local float = 'attr { key: "T" value { type: DT_FLOAT } }'
local function node(name, op, inputs, attrs)
  local out = {}
  for _, i in ipairs(inputs) do out[#out + 1] = ('input: "%s"'):format(i) end
  return ('node { name: "%s" op: "%s" %s %s }\n'):format(name, op, table.concat(out, " "), attrs or float)
end
local function constant(name, values, shape)
  return node(name, "Const", {}, ([[attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { %s } float_val: [%s] } } }]]):format(shape, values))
end
local pair = "dim { size: 2 }"
-- VariableV2 is a value that Assign writes to
local variable = node("v", "VariableV2", {}, [[attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { dim { size: 2 } } } }
  attr { key: "container" value { s: "" } } attr { key: "shared_name" value { s: "" } }]])
local m <close> = load("# a comment\n" .. constant("c", "1.5, -2", pair) .. variable .. node("v/Assign", "Assign", {"v", "c"},
  float .. ' attr { key: "use_locking" value { b: true } } attr { key: "validate_shape" value { b: true } }') .. node("v/read", "Identity", {"v"}) ..
  node("twice", "AddV2", {"v/read", "v"}) .. node("more", "AssignAdd", {"v", "c"}))
m.session:run "v/Assign"
t.exact("read both ways", m.session:run "twice:0", {3, -4})
m.session:run "more"
t.exact("added to", m.session:run "twice:0", {6, -8})
t.exact("its type", m.graph:get_operation_by_name "v".type, "VarHandleOp")
-- A function, called twice, one call inside another's
local call = [[attr { key: "f" value { func { name: "square_sum" } } } attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT type: DT_FLOAT } } }]]
local library = [[library { function { signature { name: "square_sum" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "sum" type: DT_FLOAT } output_arg { name: "square" type: DT_FLOAT } }
  node_def { name: "s" op: "Mul" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
  node_def { name: "axes" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }
  node_def { name: "r" op: "Sum" input: "s:z:0" input: "axes:output:0" attr { key: "T" value { type: DT_FLOAT } } }
  ret { key: "sum" value: "r:output:0" } ret { key: "square" value: "s:z:0" } } }]]
local f <close> = load(constant("c", "3, -4", pair) .. node("a", "PartitionedCall", {"c"}, call) .. node("b", "StatefulPartitionedCall", {"a:1", "^a"}, call) ..
  node("y", "AddV2", {"a", "b:0"}) .. library)
t.exact("25 + (81 + 256)", f.session:run "y:0", 25 + 81 + 256)
t.check("the functions' nodes have the calls' names", f.graph:get_operation_by_name "a/s" and f.graph:get_operation_by_name "b/r")
local function refused(label, text, code, ...)
  local ok, e = pcall(load, text)
  t.check(label .. " is refused", not ok)
  if ok then return end
  t.exact(label .. ": its code", e.code, code)
  for _, words in ipairs {...} do t.check(label .. " says " .. words, tostring(e):find(words, 1, true) ~= nil, tostring(e)) end
end
refused("a call of itself", constant("c", "1", "") .. node("a", "f", {"c"}) .. [[library { function { signature { name: "f" input_arg { name: "x" type: DT_FLOAT }
  output_arg { name: "y" type: DT_FLOAT } } node_def { name: "again" op: "f" input: "x" } ret { key: "y" value: "again:y:0" } } }]], "DATA_LOSS", "without end")
refused("too few inputs", node("a", "PartitionedCall", {}, call) .. library, "DATA_LOSS", "'a'", "0 inputs; it has 1")
refused("a third result", constant("c", "3, -4", pair) .. node("a", "PartitionedCall", {"c"}, call) .. node("y", "Neg", {"a:2"}) .. library, "DATA_LOSS", "'a:2'", "2 results")
refused("control flow of TensorFlow 2", constant("c", "1", "") .. node("i", "StatelessIf", {"c", "c"}, 'attr { key: "then_branch" value { func { name: "g" } } }'),
  "UNIMPLEMENTED", "then_branch", "'i'")
refused("an attribute that would matter", constant("c", "3, -4", pair) .. node("n", "Neg", {"c"}, float .. ' attr { key: "twice" value { b: true } }'),
  "UNIMPLEMENTED", "'twice'", "'n'")
refused("several ops that are not here", constant("c", "1", "") .. node("p", "Foo", {"c"}) .. node("q", "Bar", {"p"}) .. node("r", "Foo", {"q"}), "NOT_FOUND", "'Foo', 'Bar'")
local quiet <close> = load(constant("c", "3, -4", pair) .. node("n", "Neg", {"c"}, float .. ' attr { key: "twice" value { b: false } } attr { key: "_hint" value { i: 7 } }'))
t.exact("one that says no", quiet.session:run "n:0", {-3, 4})
-- Numbers of every type, short lists, and a graph out of order
local types = {{"DT_HALF", "half_val: 0x3e00", 1.5}, {"DT_DOUBLE", "double_val: 1.5", 1.5}, {"DT_INT64", "int64_val: -7", -7}, {"DT_UINT8", "int_val: 200", 200},
  {"DT_BOOL", "bool_val: true", true}, {"DT_UINT32", "uint32_val: 4000000000", 4000000000}, {"DT_STRING", 'string_val: "a\\"\\101"', 'a"A'}, {"DT_INT16", "int_val: -3", -3},
  {"DT_BFLOAT16", "half_val: 0x3fc0", 1.5}, {"DT_FLOAT", "float_val: inf", math.huge}}
for _, x in ipairs(types) do
  local one <close> = load(('node { name: "i" op: "Identity" input: "c" attr { key: "T" value { type: %s } } }\n'):format(x[1]) .. ([[node { name: "c" op: "Const"
    attr { key: "dtype" value { type: %s } } attr { key: "value" value { tensor { dtype: %s tensor_shape { dim { size: 3 } } %s } } } }]]):format(x[1], x[1], x[2]))
  local got = one.session:run "i:0"
  t.exact(x[1] .. ": the last value fills", {got.shape[1], got[1]:item(), got[3]:item()}, {3, x[3], x[3]})
end
t.remove_temporary()
t.done() -- expect: ok
