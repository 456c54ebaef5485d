-- Data as Slim has them: a Dataset says where records are and what is in them, a provider hands the items out.
local tf = require "tfsdk"
local slim = tf.slim
local d = slim.tfexample_decoder
local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir " .. folder)
local function told(fn, ...)
  local ok, why = pcall(fn, ...)
  print(ok and "no error" or (tostring(why):gsub("^[^:]*data%.lua:%d+: ", ""):gsub(folder:gsub("%p", "%%%0"), "DIR"):gsub("\n.*", "")))
end

-- Two files of three records: raw images 2 x 1 x 3 of the record's number, a label, a word, boxes in every second one.
local bytes, ints, floats = function(...) return {bytes_list = {...}} end, function(...) return {int64_list = {...}} end, function(...) return {float_list = {...}} end
for f = 0, 1 do
  local writer <close> = tf.python_io.TFRecordWriter(("%s/part-%d.tfrecord"):format(folder, f))
  for i = 3 * f, 3 * f + 2 do
    local feature = {["image/encoded"] = bytes(string.char(i):rep(6)), ["image/format"] = bytes "raw", ["image/label"] = ints(10 * i),
      word = bytes(i % 2 == 0 and "even" or "odd"), height = ints(2), width = ints(1), ["at"] = ints(0, 1, 1, 0), value = floats(i, i + 0.5)}
    if i % 2 == 0 then
      feature["box/ymin"], feature["box/xmin"], feature["box/ymax"], feature["box/xmax"] = floats(0, 0.5), floats(0.1, 0.6), floats(0.2, 0.7), floats(0.3, 0.8)
    end
    writer:write(tf.train.Example {features = {feature = feature}}:SerializeToString())
  end
end
local features = {["image/encoded"] = tf.FixedLenFeature({}, "string"), ["image/format"] = tf.FixedLenFeature({}, "string", "raw"),
  ["image/label"] = tf.FixedLenFeature({}, "int64"), word = tf.FixedLenFeature({}, "string"), height = tf.FixedLenFeature({}, "int64"),
  width = tf.FixedLenFeature({}, "int64"), at = tf.VarLenFeature "int64", value = tf.VarLenFeature "float32",
  ["box/ymin"] = tf.VarLenFeature "float32", ["box/xmin"] = tf.VarLenFeature "float32", ["box/ymax"] = tf.VarLenFeature "float32",
  ["box/xmax"] = tf.VarLenFeature "float32", nothing = tf.VarLenFeature "int64"}
local decoder = d.TFExampleDecoder(features, {
  image = d.Image {shape = {2, 1, 3}},
  label = d.Tensor "image/label",
  parity = d.LookupTensor("word", {even = 0, odd = 1}),
  box = d.BoundingBox(nil, "box/"),
  dense = d.SparseTensor("at", "value", {shape = {2, 2}, densify = true, default_value = -1}),
  pair = d.Tensor("value", {shape = {1, 2}}),
  twice = d.ItemHandlerCallback({"height", "width"}, function(t) return t.height * 2 + t.width end),
  backup = d.BackupHandler(d.Tensor "nothing", d.Tensor "height"),
})
print(table.concat(decoder:list_items(), " ")) -- expect: backup box dense image label pair parity twice
local dataset = slim.dataset.Dataset {data_sources = folder .. "/part-*.tfrecord", reader = "tfrecord", decoder = decoder, num_samples = 6,
  items_to_descriptions = {image = "two pixels"}, num_classes = 2}
print(dataset.num_classes, dataset.items_to_descriptions.image) -- expect: 2	two pixels

-- define-by-run: in the order of the files
local Provider = slim.dataset_data_provider.DatasetDataProvider
tf.eager(function()
  local p = Provider(dataset, {shuffle = false, num_epochs = 1})
  print(p:num_samples(), table.concat(p:list_items(), " ")) -- expect: 6	backup box dense image label pair parity twice record_key
  for i = 0, 5 do
    local image, label, parity, box, key = p:get {"image", "label", "parity", "box", "record_key"}
    print(label:item(), image:max():item(), image.dtype, parity:item(), box.shape[1], (key:item():gsub("^.*/", "")))
  end
  -- expect: 0	0	uint8	0	2	part-0.tfrecord:0
  -- expect: 10	1	uint8	1	0	part-0.tfrecord:1
  -- expect: 20	2	uint8	0	2	part-0.tfrecord:2
  -- expect: 30	3	uint8	1	0	part-1.tfrecord:0
  -- expect: 40	4	uint8	0	2	part-1.tfrecord:1
  -- expect: 50	5	uint8	1	0	part-1.tfrecord:2
  told(p.get, p, {"label"}) -- expect: no error
  local q = Provider(dataset, {shuffle = false})
  local dense, pair, twice, backup, box = q:get {"dense", "pair", "twice", "backup", "box"}
  print(table.concat(dense:reshape {-1}:table(), " "), table.concat(pair.shape, "x"), twice:item(), backup:item()) -- expect: -1.0 0.0 0.5 -1.0	1x2	5	2
  print(("%.1f %.1f %.1f %.1f"):format(table.unpack(box:table()[2]))) -- expect: 0.5 0.6 0.7 0.8
end)

-- in a graph: a record at each run, then the end
tf.Graph():as_default(function()
  local image, label = Provider(dataset, {shuffle = false, num_epochs = 1}):get {"image", "label"}
  local total = tf.reduce_sum(tf.cast(image, "int64")) + label
  local sess <close> = tf.Session()
  local sums = {}
  for i = 1, 6 do sums[i] = sess:run(total) end
  print(table.concat(sums, " ")) -- expect: 0 16 32 48 64 80
  local ok, why = pcall(sess.run, sess, total)
  print(ok, why.code) -- expect: false	OUT_OF_RANGE
end)

-- shuffled: each record once an epoch, the same order for the same seed
local function order(seed)
  local out = {}
  for x in Provider(dataset, {seed = seed, num_epochs = 1}):as_dataset({"label"}):iter() do out[#out + 1] = x.label:item() end
  return table.concat(out, " ")
end
local one = order(3)
print(one == order(3), one ~= order(4)) -- expect: true	true
local sum = 0
for v in one:gmatch "%d+" do sum = sum + v end
print(sum, select(2, one:gsub("%d+", ""))) -- expect: 150	6

-- batches, with something done to each
local ds = Provider(dataset, {shuffle = false, num_epochs = 2}):as_dataset({"image", "label"}, function(x)
  return {image = tf.cast(x.image, "float32") / 255, label = x.label}
end):batch(4)
for b in ds:iter() do print(table.concat(b.image.shape, "x"), table.concat(b.label:table(), " ")) end
-- expect: 4x2x1x3	0 10 20 30
-- expect: 4x2x1x3	40 50 0 10
-- expect: 4x2x1x3	20 30 40 50

-- files of other kinds: a decoder of the script's own
local csv = folder .. "/x.csv"
local file = io.open(csv, "w")
file:write "a,b\n1,2\n3,4\n"
file:close()
local own = {list_items = function() return {"sum"} end, decode = function(_, r) return r.a + r.b end}
local rows = slim.dataset.Dataset(csv, "csv", own, 2, {sum = "a + b"})
tf.eager(function()
  local p = Provider(rows, {shuffle = false, reader_kwargs = {header = "yes"}})
  print(p:get({"sum"}):item(), p:get({"sum"}):item(), p:get({"sum"}):item()) -- expect: 3	7	3
  local key, record = slim.parallel_reader.parallel_read(folder .. "/part-1.tfrecord", {shuffle = false})
  print((key:item():gsub("^.*/", "")), #record:item() > 50) -- expect: part-1.tfrecord:0	true
  -- boxes of unequal number, padded
  local queue = slim.prefetch_queue.prefetch_queue(Provider(dataset, {shuffle = false}):as_dataset {"box", "label"}, {dynamic_pad = true, batch_size = 2})
  local x = queue:dequeue()
  print(table.concat(x.box.shape, "x"), x.box:table()[2][1][1], table.concat(queue:dequeue().label:table(), " ")) -- expect: 2x2x4	0.0	20 30
end)

told(slim.dataset.Dataset, {data_sources = "x"}) -- expect: slim.dataset.Dataset: argument 'decoder' is missing
told(Provider, slim.dataset.Dataset {data_sources = folder .. "/none-*", decoder = decoder}, {common_queue_capacity = 100}) -- expect: slim.dataset_data_provider.DatasetDataProvider: 'common_queue_capacity' (100) must not be below 'common_queue_min' (128)
local none = Provider(slim.dataset.Dataset {data_sources = folder .. "/none-*", decoder = decoder})
told(none.as_dataset, none) -- expect: slim.dataset.Dataset: no file matches 'DIR/none-*'
local p = Provider(dataset, {shuffle = false})
told(p.as_dataset, p, {"lable"}) -- expect match: there is no item 'lable'; the nearest is 'label'
told(decoder.decode, decoder, "\1\2\3") -- expect match: the message is damaged
told(d.SparseTensor, {shape = {2}}) -- expect: slim.tfexample_decoder.SparseTensor: sparse tensors are not there; {densify = true} gives a dense one
os.execute("rm -r " .. folder)
