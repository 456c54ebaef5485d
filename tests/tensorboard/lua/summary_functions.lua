-- tf.summary: names, tags, families, collections, merging; define-by-run; tf.contrib.summary; the old names.
local here = arg[0]:match "^.*/" or "./"
local tf, t = require "tfsdk", dofile(here .. "support.lua")
local function values(bytes) -- tags of a serialized Summary, by way of a file
  local folder = t.folder()
  local w = tf.summary.FileWriter(folder)
  w:add_summary(bytes, 3)
  w:close()
  local out = {}
  for i, v in ipairs(t.events(t.files(folder)[1])[2].summary.value) do out[i] = v.tag .. " " .. v.kind end
  return out
end
do
  local g <close> = tf.Graph():as_default()
  t.check("nothing to merge", tf.summary.merge_all() == nil, "a node")
  local x = tf.constant {1, 2, 3}
  do
    local s <close> = tf.name_scope "train"
    tf.summary.scalar("loss", tf.reduce_sum(x))
    tf.summary.scalar("a bad/name:0", tf.reduce_sum(x)) -- TensorFlow: illegal characters become "_"
    tf.summary.scalar("loss", tf.reduce_mean(x), {family = "kind"})
  end
  tf.summary.histogram("x", x)
  tf.summary.histogram("x", x)
  tf.summary.scalar("hidden", tf.reduce_sum(x), {collections = {"others"}})
  tf.summary.image("i", tf.zeros {2, 2, 2, 3})
  tf.summary.image("one", tf.zeros {2, 2, 2, 3}, {max_outputs = 1})
  local sess <close> = tf.Session()
  -- The tags follow summary_op_util.summary_scope: FAMILY/SCOPE/FAMILY/NAME with a family.
  t.exact("tags", values(sess:run(tf.summary.merge_all())), {"train/loss scalar", "train/a_bad/name_0 scalar", "kind/train/kind/loss scalar",
    "x histogram", "x_1 histogram", "i/image/0 image", "i/image/1 image", "one/image image"})
  t.exact("by scope", values(sess:run(tf.summary.merge_all{scope = "train/"})), {"train/loss scalar", "train/a_bad/name_0 scalar", "kind/train/kind/loss scalar"})
  t.exact("another collection", values(sess:run(tf.summary.merge_all "others")), {"hidden scalar"})
  local a = tf.summary.scalar("same", 1)
  t.raises("a tag twice", function() sess:run(tf.summary.merge {a, a}) end, "same", "tag")
  t.raises("NaN in a histogram", function() sess:run(tf.summary.histogram("bad", tf.constant {1, 0 / 0})) end, "NaN", "bad")
end
do
  local g <close> = tf.Graph():as_default()
  local s = tf.scalar_summary("old/loss", 2.5)
  tf.histogram_summary("old/h", tf.constant {1, 2})
  local sess <close> = tf.Session()
  t.exact("old names", values(sess:run(tf.merge_all_summaries())), {"old/loss scalar", "old/h histogram"})
end
-- Define-by-run: a summary is a string at once, and a writer takes values.
tf.eager(function()
  t.exact("at once", values(tf.summary.scalar("e", tf.tensor(2))), {"e scalar"})
end)
local folder = t.folder()
do
  local w <close> = tf.summary.FileWriter(folder)
  w:scalar("s", 0.5, 1)
  w:histogram("h", tf.tensor {1, 2, 3}, 1)
  w:image("i", tf.zeros({1, 2, 2, 1}, {now = true}), 1, {max_outputs = 1})
  w:audio("a", tf.zeros({1, 10, 1}, {now = true}), 8000, 1, {max_outputs = 1})
  w:text("t", "words", 1)
end
local kinds = {}
for i, e in ipairs(t.events(t.files(folder)[1])) do if e.summary then kinds[i - 1] = e.summary.value[1].tag .. " " .. e.summary.value[1].kind end end
t.exact("a writer's own", kinds, {"s scalar", "h histogram", "i/image image", "a/audio audio", "t tensor"})
-- tf.contrib.summary records where a rule says so, at the global step if none is given.
folder = t.folder()
tf.eager(function()
  local writer = tf.contrib.summary.create_file_writer(folder)
  local default <close> = writer:as_default()
  tf.contrib.summary.scalar("unasked", 1, {step = 1})
  for step = 1, 6 do
    local rule <close> = tf.contrib.summary.record_summaries_every_n_global_steps(3, step)
    tf.contrib.summary.scalar("third", step, {step = step})
  end
  tf.contrib.summary.always_record_summaries(function() tf.contrib.summary.scalar("x", 1, {step = 9, family = "f"}) end)
  writer:close()
end)
local got = {}
for _, e in ipairs(t.events(t.files(folder)[1])) do if e.summary then got[#got + 1] = e.summary.value[1].tag .. " " .. e.step end end
t.exact("contrib", got, {"third 3", "third 6", "f/x 9"})
t.done() -- expect: ok
