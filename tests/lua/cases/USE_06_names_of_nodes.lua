-- Names that a saved graph could not be read back with (TensorFlow's form: 'x:0' is an output, '^x' a node to wait for) are errors at
-- the line that gives them; no name, "" and false are the op's own.
local tf = require "tfsdk"
for _, name in ipairs {"a", "a/b", "_a", "A.1-b", "a>b", ""} do print(tf.placeholder("float32", {}, {name = name}).name) end
-- expect: a:0
-- expect: a/b:0
-- expect: _a:0
-- expect: A.1-b:0
-- expect: a>b:0
-- expect: Placeholder:0
print(tf.placeholder("float32", {}, {name = false}).name, tf.add(1, tf.placeholder("float32", {}), {name = "a"}).name)
-- expect: Placeholder_1:0	a_1:0
for _, name in ipairs {"x:0", "^x", "a b", "/", "a/", "-x", "ü", "a\0b"} do
  local ok, e = pcall(tf.placeholder, "float32", {}, {name = name})
  print(ok, e.op, e.message:match "^'name' is '.-', which cannot name a node")
end
-- expect: false	Placeholder	'name' is 'x:0', which cannot name a node
-- expect: false	Placeholder	'name' is '^x', which cannot name a node
-- expect: false	Placeholder	'name' is 'a b', which cannot name a node
-- expect: false	Placeholder	'name' is '/', which cannot name a node
-- expect: false	Placeholder	'name' is 'a/', which cannot name a node
-- expect: false	Placeholder	'name' is '-x', which cannot name a node
-- expect: false	Placeholder	'name' is 'ü', which cannot name a node
-- expect: false	Placeholder	'name' is 'a', which cannot name a node
print(pcall(tf.raw.Relu, tf.placeholder("float32", {}), {name = 5}))
-- expect match: ^false	.*USE_06_names_of_nodes%.lua:25: Relu: 'name' must be a string, not a number$
