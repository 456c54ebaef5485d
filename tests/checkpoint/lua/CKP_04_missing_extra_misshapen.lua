-- CKP-04: missing, extra and misshapen tensors: an error names them and changes nothing; less strict on request.
-- Know: contract; tensorflow/tensorflow#1245, mozilla/DeepSpeech#2081.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local prefix = os.tmpname()
os.remove(prefix)
local w, w1, slot = tf.tensor {{1, 2, 3}, {4, 5, 6}}, tf.tensor {7, 8, 9}, tf.tensor {{-1, -2, -3}, {-4, -5, -6}}
local function model(variables)
  local out = {}
  for _, v in ipairs(variables) do out[v[1]] = tf.Variable(v[2], {name = v[1]}) end
  return out
end
do
  local graph <close> = tf.Graph():as_default()
  model {{"w", w}, {"w_1", w1}, {"w/Adam", slot}}
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  tf.train.Saver():save(sess, prefix)
end
-- fn(saver, session, variables) over a model of zeros; afterwards every variable's value.
local function attempt(variables, fn, options)
  local graph <close> = tf.Graph():as_default()
  for _, v in ipairs(variables) do v[2] = tf.zeros(v[2], v[3] or "float32", {now = true}) end
  local vars = model(variables)
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  local saver = tf.train.Saver(options or {})
  local ok, result = pcall(fn, saver, sess, vars)
  return ok, ok and result or tostring(result), sess:run(vars, {}, {raw = true})
end
local function restore(options)
  return function(saver, sess) return saver:restore(sess, prefix, options) end
end
local function refused(label, variables, words, options)
  local ok, message, values = attempt(variables, restore(options))
  t.check(label .. ": refused", not ok)
  for _, word in ipairs(words) do
    t.check(label .. ": names " .. word, message:find(word, 1, true) ~= nil, message, word)
  end
  for name, value in pairs(values) do
    t.check(label .. ": " .. name .. " is unchanged", tf.reduce_max(tf.abs(tf.cast(value, "float32"))):item() == 0)
  end
end
-- (a) the same; names that are prefixes of one another are told apart
local ok, report, values = attempt({{"w", {2, 3}}, {"w_1", {3}}, {"w/Adam", {2, 3}}}, restore())
t.check("the same", ok, report)
t.exact("w", values.w, w)
t.exact("w_1", values.w_1, w1)
t.exact("w/Adam", values["w/Adam"], slot)
t.exact("all restored", report.restored, {"w", "w/Adam", "w_1"})
-- (b) another shape
refused("misshapen", {{"w", {3, 2}}, {"w_1", {3}}}, {"'w'", "[3,2]", "[2,3]", "w/Adam"})
-- (c) one that is missing
refused("missing", {{"w", {2, 3}}, {"v", {1}}}, {"lacks 'v'"})
local _, partial, some = attempt({{"w", {2, 3}}, {"v", {1}}}, restore {strict = false})
t.exact("partial: w", some.w, w)
t.exact("partial: v", some.v, {0})
t.exact("partial: missing", partial.missing, {"v"})
t.exact("partial: extra", partial.extra, {"w/Adam", "w_1"})
-- (d) a subset is fine
local fine, subset, one = attempt({{"w", {2, 3}}}, restore())
t.check("only w", fine, subset)
t.exact("only w: its value", one.w, w)
-- (e) another type, (f) no broadcasting
refused("float64", {{"w", {2, 3}, "float64"}}, {"'w'", "float64", "float32"})
refused("a vector of one", {{"w_1", {1}}}, {"'w_1'", "[1]", "[3]"})
refused("strict only about what is asked", {{"w", {3, 2}}}, {"'w'"}, {strict = true})
local _, loose, kept = attempt({{"w", {3, 2}}, {"w_1", {3}}}, restore {strict = false})
t.exact("not strict: w stays", kept.w, {{0, 0}, {0, 0}, {0, 0}})
t.exact("not strict: w_1 comes", kept.w_1, w1)
t.exact("not strict: told", loose.mismatched[1].name, "w")
-- reshape = true takes the elements in another shape
local _, _, reshaped = attempt({{"w", {3, 2}}}, restore(), {reshape = true})
t.exact("reshaped", reshaped.w, {{1, 2}, {3, 4}, {5, 6}})
-- names: as a table, as a function, and left out
local _, _, mapped = attempt({{"kernel", {2, 3}}}, restore {map = {kernel = "w"}})
t.exact("renamed", mapped.kernel, w)
local _, skipped, half = attempt({{"m/w", {2, 3}}, {"m/b", {3}}}, restore {map = function(name) return name == "m/w" and "w" or nil end})
t.exact("by a function", half["m/w"], w)
t.exact("skipped", skipped.skipped, {"m/b"})
-- saved under other names
do
  local graph <close> = tf.Graph():as_default()
  local a = tf.Variable(w, {name = "a"})
  local sess <close> = tf.Session()
  sess:run(tf.global_variables_initializer())
  tf.train.Saver {var_list = {other = a}}:save(sess, prefix .. ".names")
  t.exact("other names", tf.train.load_variable(prefix .. ".names", "other"), w)
  -- two under one name: an error when the saver is made
  local b = tf.Variable(w, {name = "b"})
  t.raises("two under one name", function() tf.train.Saver {var_list = {a, a}} end, "'a'")
  t.raises("a list and a name", function() tf.train.Saver {var_list = {b, b = a}} end, "'b'", "two variables")
end
t.raises("nothing to save", function()
  local graph <close> = tf.Graph():as_default()
  tf.train.Saver()
end, "no variables")
for _, name in ipairs {"", ".names"} do tf.train.remove_checkpoint(prefix .. name) end
os.execute("rm -f " .. prefix:match "^(.*)/" .. "/checkpoint")
t.check("removed", not tf.train.checkpoint_exists(prefix))
t.done() -- expect: ok
