-- tf.keras.preprocessing, utils and datasets. Expected values: the examples of Keras' documentation (pad_sequences, TimeseriesGenerator,
-- to_categorical), the tests of keras_preprocessing 1.0 (Tokenizer), else what a formula or a pixel shift says.
local tf = require "tfsdk"
local K = tf.keras
local here = arg[0]:match "^(.*)/" or "."
local wrong, n = 0, 0
local function same(what, got, want)
  n = n + 1
  local function text(x)
    if tf.kind(x) then x = x:table() end
    if type(x) == "number" then return ("%.6g"):format(x) end
    if type(x) ~= "table" then return tostring(x) end
    local out = {}
    for i, v in ipairs(x) do out[i] = text(v) end
    return "{" .. table.concat(out, ", ") .. "}"
  end
  local a, b = text(got), text(want)
  if a ~= b then
    wrong = wrong + 1
    print(("%s: got %s, want %s"):format(what, a, b))
  end
end
local function fails(what, words, fn, ...)
  n = n + 1
  local ok, why = pcall(fn, ...)
  if ok or not tostring(why):find(words, 1, true) then
    wrong = wrong + 1
    print(what, ok and "no error" or tostring(why))
  end
end

-- ------------------------------------------------------------------------------------- sequences

local sequence = K.preprocessing.sequence
local lists = {{1}, {2, 3}, {4, 5, 6}}
same("pad_sequences", sequence.pad_sequences(lists), {{0, 0, 1}, {0, 2, 3}, {4, 5, 6}})
same("pad_sequences: value", sequence.pad_sequences(lists, {value = -1}), {{-1, -1, 1}, {-1, 2, 3}, {4, 5, 6}})
same("pad_sequences: behind", sequence.pad_sequences(lists, {padding = "post"}), {{1, 0, 0}, {2, 3, 0}, {4, 5, 6}})
same("pad_sequences: maxlen", sequence.pad_sequences(lists, {maxlen = 2}), {{0, 1}, {2, 3}, {5, 6}})
same("pad_sequences: cut behind", sequence.pad_sequences(lists, {maxlen = 2, truncating = "post"}), {{0, 1}, {2, 3}, {4, 5}})
same("pad_sequences: of vectors", sequence.pad_sequences({{{1, 1}}, {{2, 2}, {3, 3}}}, {dtype = "float32"}), {{{0, 0}, {1, 1}}, {{2, 2}, {3, 3}}})
fails("pad_sequences: an unknown place", "\"pre\" or \"post\"", sequence.pad_sequences, lists, {padding = "before"})

local series = {}
for i = 0, 49 do series[i + 1] = {i} end
local g = sequence.TimeseriesGenerator(series, series, 10, {sampling_rate = 2, batch_size = 2})
same("TimeseriesGenerator: batches", g:len(), 20)
local x, y = g:get(0)
same("TimeseriesGenerator: windows", x, {{{0}, {2}, {4}, {6}, {8}}, {{1}, {3}, {5}, {7}, {9}}})
same("TimeseriesGenerator: targets", y, {{10}, {11}})
fails("TimeseriesGenerator: too long", "leaves no window", sequence.TimeseriesGenerator, series, series, 50)
local pairs_, labels = sequence.skipgrams({1, 2, 3}, 4, {window_size = 1, negative_samples = 0, shuffle = false})
same("skipgrams: neighbours", pairs_, {{1, 2}, {2, 1}, {2, 3}, {3, 2}})
same("skipgrams: labels", labels, {1, 1, 1, 1})
pairs_ = sequence.skipgrams({1, 0, 3}, 4, {window_size = 1, negative_samples = 0, shuffle = false})
same("skipgrams: 0 is no word", pairs_, {})

-- ------------------------------------------------------------------------------------- texts

local text = K.preprocessing.text
same("text_to_word_sequence", text.text_to_word_sequence "hello! ? world!", {"hello", "world"})
same("text_to_word_sequence: split", text.text_to_word_sequence("hello!stop?world!stop", {split = "stop"}), {"hello", "world"})
same("text_to_word_sequence: letters beyond ASCII", text.text_to_word_sequence "ali! veli? kırk dokuz elli", {"ali", "veli", "kırk", "dokuz", "elli"})
local texts = {"The cat sat on the mat.", "The dog sat on the log.", "Dogs and cats living together."}
local t = text.Tokenizer {num_words = 10}
t:fit_on_texts(texts)
same("Tokenizer: the most frequent word is 1", t.word_index.the, 1)
same("Tokenizer: counts", {t.word_counts.the, t.word_docs.the, t.document_count}, {4, 2, 3})
same("Tokenizer: numbers", t:texts_to_sequences {"the cat sat on the mat"}, {{1, 4, 2, 3, 1, 5}})
same("Tokenizer: words past num_words are left out", #t:texts_to_sequences(texts)[3], 2)
local m = t:texts_to_matrix({"the the cat"}, "count")
same("texts_to_matrix: count", {m.shape[2], m[1][2]:item(), m[1][5]:item()}, {10, 2, 1})
same("texts_to_matrix: binary", t:texts_to_matrix {"the the cat"}[1][2]:item(), 1)
same("texts_to_matrix: freq", t:texts_to_matrix({"the the cat"}, "freq")[1][2]:item(), 2 / 3)
-- (1 + ln 2) ln(1 + 3 documents / (1 + 2 that have the word))
same("texts_to_matrix: tfidf", t:texts_to_matrix({"the the cat"}, "tfidf")[1][2]:item(), (1 + math.log(2)) * math.log(1 + 3 / 3))
t = text.Tokenizer()
t:fit_on_texts {"This text has only known words"}
same("Tokenizer: unknown words are left out", #t:texts_to_sequences {"This text has some unknown words"}[1], 4)
t = text.Tokenizer {oov_token = "<unk>"}
t:fit_on_texts {"This text has only known words"}
same("Tokenizer: or are the word for them", #t:texts_to_sequences {"This text has some unknown words"}[1], 6)
t = text.Tokenizer {num_words = 10, oov_token = "<unk>"}
t:fit_on_texts(texts)
same("sequences_to_texts", t:sequences_to_texts(t:texts_to_sequences(texts)), {"the cat sat on the mat", "the dog sat on the log", "dogs <unk> <unk> <unk> <unk>"})
local back = text.tokenizer_from_json(t:to_json())
same("to_json and back", back:texts_to_sequences(texts), t:texts_to_sequences(texts))
t = text.Tokenizer {char_level = true}
t:fit_on_texts {"你好你"}
same("char_level: characters, not bytes", t:texts_to_sequences {"好你"}, {{2, 1}})
local h = text.hashing_trick("The cat sat on the cat", 5)
same("hashing_trick: the same word, the same number", {h[2], h[1]}, {h[6], h[5]})
local inside = true
for _, i in ipairs(h) do inside = inside and i >= 1 and i <= 4 end
same("hashing_trick: 1 to n - 1", inside, true)
fails("a single text", "a list", t.texts_to_sequences, t, "one text")

-- ------------------------------------------------------------------------------------- pictures

local image = K.preprocessing.image
local row = tf.tensor {{{1}, {2}, {3}, {4}}}
local function shifted(mode, cval) return image.apply_affine_transform(row, {ty = 1, fill_mode = mode, cval = cval}):reshape {4} end
same("shift: nearest", shifted "nearest", {2, 3, 4, 4})
same("shift: constant", shifted("constant", 9), {2, 3, 4, 9})
same("shift: reflect", shifted "reflect", {2, 3, 4, 4})
same("shift: wrap", shifted "wrap", {2, 3, 4, 1})
same("a half pixel is the mean of two", image.apply_affine_transform(row, {ty = 0.5}):reshape {4}, {1.5, 2.5, 3.5, 4})
local square = tf.tensor {{{1}, {2}}, {{3}, {4}}}
local turned = image.apply_affine_transform(square, {theta = 180})
same("turned by 180 degrees", tf.round(turned):reshape {4}, {4, 3, 2, 1})
fails("an unknown fill mode", "reflect or wrap", image.apply_affine_transform, square, {fill_mode = "mirror"})
local pictures = tf.reshape(tf.range(0, 48, 1, {dtype = "float32", now = true}), {4, 3, 4, 1})
local plain = image.ImageDataGenerator()
local flow = plain:flow(pictures, tf.tensor {0, 1, 2, 3}, {batch_size = 3, shuffle = false})
same("flow: batches", flow:len(), 2)
local bx, by = flow:get(1)
same("flow: the rest", {bx.shape, by}, {{1, 3, 4, 1}, {3}})
same("flow: unchanged", bx:reshape {12}, pictures[4]:reshape {12})
local part = image.ImageDataGenerator {validation_split = 0.25}
same("subsets", {part:flow(pictures, nil, {subset = "training"}).n, part:flow(pictures, nil, {subset = "validation"}).n}, {3, 1})
local scaled = image.ImageDataGenerator {rescale = 0.5, samplewise_center = true}
same("rescale, then the mean is taken off", scaled:standardize(tf.tensor {{{2}, {4}}}):reshape {2}, {-0.5, 0.5})
local center = image.ImageDataGenerator {featurewise_center = true, featurewise_std_normalization = true}
fails("statistics that are not there", "fit(x) first", center.standardize, center, pictures[1])
center:fit(pictures)
local all = {}
for i = 1, 4 do all[i] = center:standardize(pictures[i]) end
local mean = tf.reduce_mean(tf.stack(all)):item()
same("featurewise: mean 0", math.abs(mean) < 1e-5, true)
same("featurewise: deviation 1", math.abs(tf.reduce_mean(tf.square(tf.stack(all))):item() - 1) < 1e-4, true)
local a = image.ImageDataGenerator {rotation_range = 30, width_shift_range = 0.2, zoom_range = 0.1, horizontal_flip = true, seed = 4}
local b = image.ImageDataGenerator {rotation_range = 30, width_shift_range = 0.2, zoom_range = 0.1, horizontal_flip = true, seed = 4}
same("the same seed, the same pictures", a:random_transform(pictures[1]):reshape {12}, b:random_transform(pictures[1]):reshape {12})
local flip = image.ImageDataGenerator {horizontal_flip = true}
same("a flip", flip:apply_transform(row, {flip_horizontal = true}):reshape {4}, {4, 3, 2, 1})

-- Files: two classes of two pictures each.
local folder = os.tmpname()
os.remove(folder)
os.execute(("mkdir -p '%s/cats' '%s/dogs'"):format(folder, folder))
for i, name in ipairs {"cats/a", "cats/b", "dogs/a", "dogs/b"} do
  tf.write_npy(("%s/%s.npy"):format(folder, name), tf.fill({2, 3, 3}, i, {now = true}))
end
local file = io.open(folder .. "/dogs/c.pgm", "wb")
file:write("P5\n# a comment\n3 2\n255\n", string.char(1, 2, 3, 4, 5, 6))
file:close()
same("load_img: .pgm", image.load_img(folder .. "/dogs/c.pgm", {color_mode = "grayscale"}):reshape {6}, {1, 2, 3, 4, 5, 6})
local found = plain:flow_from_directory(folder, {target_size = {2, 3}, batch_size = 5, shuffle = false})
same("flow_from_directory: classes", {found.class_indices.cats, found.class_indices.dogs, found.samples}, {0, 1, 5})
local fx, fy = found:get(0)
same("flow_from_directory: one-hot targets", fy, {{1, 0}, {1, 0}, {0, 1}, {0, 1}, {0, 1}})
same("flow_from_directory: pictures", {fx.shape[1], fx[2][1][1][1]:item()}, {5, 2})
local frame = plain:flow_from_dataframe({filename = {"a.npy", "b.npy"}, class = {"x", "y"}}, folder .. "/cats", {target_size = {4, 4}, class_mode = "sparse", shuffle = false})
local dx, dy = frame:get(0)
same("flow_from_dataframe", {dx.shape, dy}, {{2, 4, 4, 3}, {0, 1}})
fails("a kind of file that is not read", "loader", image.load_img, "x.jpg")

-- ------------------------------------------------------------------------------------- utils

same("to_categorical", K.utils.to_categorical({0, 1, 2, 3}, 4), {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}})
same("to_categorical: a column", K.utils.to_categorical({{0}, {2}}), {{1, 0, 0}, {0, 0, 1}})
fails("to_categorical: out of range", "the classes are 0 to 1", K.utils.to_categorical, {0, 2}, 2)
same("normalize", K.utils.normalize {{3, 4}}, {{0.6, 0.8}})
same("normalize: order 1", K.utils.normalize({{1, 3}}, {order = 1}), {{0.25, 0.75}})
same("normalize: zeros stay", K.utils.normalize {{0, 0}}, {{0, 0}})
local weights = here .. "/../data/checkpoint/keras_files/cnn.h5" -- written by Keras
local kernel = K.utils.HDF5Matrix(weights, "model_weights/conv/cnn/conv/kernel")
same("HDF5Matrix", kernel.shape, {3, 3, 2, 3})
same("HDF5Matrix: some rows, normalized", K.utils.HDF5Matrix(weights, "model_weights/conv/cnn/conv/kernel", 1, 2, function(x) return x * 2 end)[1][1][1][1], kernel[2][1][1][1] * 2)
fails("HDF5Matrix: an unknown name", "has no dataset", K.utils.HDF5Matrix, weights, "conv/kernel")
local lines = {}
local bar = K.utils.Progbar(4, {write = function(s) lines[#lines + 1] = s end, names = {"loss"}})
for i = 1, 4 do bar:update(i, {{"loss", i}}) end
same("Progbar: one line where there is no terminal", #lines, 1)
same("Progbar: the mean of the steps", lines[1]:find("4/4", 1, true) ~= nil and lines[1]:find("loss: 2.5000", 1, true) ~= nil, true)

local ended = 0
local counted = K.utils.Sequence:extend {len = function() return 2 end, get = function(_, i) return i end, on_epoch_end = function() ended = ended + 1 end}
local queue = K.utils.OrderedEnqueuer(counted())
fails("OrderedEnqueuer: not started", "call start()", queue.get, queue)
queue:start {workers = 1, max_queue_size = 10}
local following = queue:get()
same("OrderedEnqueuer: in order, again and again", {following(), following(), following()}, {0, 1, 0})
same("OrderedEnqueuer: the end of an epoch is told", ended, 1)
queue:stop()
same("OrderedEnqueuer: stopped", {queue:is_running(), following() == nil}, {false, true})
local produced = K.utils.GeneratorEnqueuer(coroutine.create(function() for i = 1, 2 do coroutine.yield(i, i * 10) end end))
produced:start()
local pull = produced:get()
same("GeneratorEnqueuer", {pull(), select(2, pull()), pull() == nil}, {1, 20, true})

-- ------------------------------------------------------------------------------------- whitening

-- P = (S + epsilon I)^(-1/2) is symmetric, and P (S + epsilon I) P = I; S is the covariance of the pictures (Krizhevsky, 2009, appendix A).
tf.eager(function()
  local pictures = tf.cast(tf.random_normal({40, 2, 2, 3}, {seed = 4, now = true}), "float32")
  local gen = K.preprocessing.image.ImageDataGenerator {zca_whitening = true, zca_epsilon = 0.01}
  fails("zca_whitening without statistics", "call generator:fit(x) first", gen.standardize, gen, pictures[1])
  gen:fit(pictures)
  local flat = tf.cast(tf.reshape(pictures - tf.reduce_mean(pictures, {axis = {0, 1, 2}}), {40, 12}), "float64")
  local spread = tf.matmul(flat, flat, {transpose_a = true}) / 40 + tf.eye(12, {dtype = "float64", now = true}) * 0.01
  local p = tf.cast(gen.principal_components, "float64")
  local off = tf.matmul(tf.matmul(p, spread), p) - tf.eye(12, {dtype = "float64", now = true})
  same("zca_whitening: the inverse root of the covariance", tf.reduce_max(tf.abs(off)):item() < 1e-5, true)
  same("zca_whitening: symmetric", tf.reduce_max(tf.abs(p - tf.transpose(p))):item() < 1e-6, true)
  local white = gen:standardize(pictures[3])
  local want = tf.matmul(tf.cast(flat[{{3, 3}}], "float32"), gen.principal_components)
  same("zca_whitening: of one picture", tf.reduce_max(tf.abs(tf.reshape(white, {1, 12}) - want)):item() < 1e-5, true)
end)
local dot = tf.tensor{{{0}, {0}, {0}}, {{0}, {9}, {0}}, {{0}, {0}, {0}}}
local moved = K.preprocessing.image.random_shift(tf.cast(dot, "float32"), 0.34, 0, {seed = 1, fill_mode = "constant"})
same("random_shift: along its axis alone", moved[2]:table()[1][1] + moved[2]:table()[2][1] + moved[2]:table()[3][1] > 4, true)
same("apply_channel_shift", K.preprocessing.image.apply_channel_shift(tf.tensor{{{0, 10}}}, 4), {{{4, 10}}})
same("apply_brightness_shift", K.preprocessing.image.apply_brightness_shift(tf.tensor{{{1, 2}}}, 0.5), {{{0.5, 1}}})

-- ------------------------------------------------------------------------------------- data sets

fails("a data set that is not there", "not fetched from the network", K.datasets.mnist.load_data, folder)
local bytes = {}
for i = 1, 2 do
  bytes[#bytes + 1] = string.char(i)
  bytes[#bytes + 1] = string.char(i):rep(1024) .. string.char(10 + i):rep(1024) .. string.char(20 + i):rep(1024)
end
for i, name in ipairs {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"} do
  file = io.open(("%s/%s.bin"):format(folder, name), "wb")
  file:write(table.concat(bytes))
  file:close()
end
local cx, cy, ux, uy = K.datasets.cifar10.load_data(folder)
same("cifar10: shapes", {cx.shape, cy.shape, ux.shape, uy.shape}, {{10, 32, 32, 3}, {10, 1}, {2, 32, 32, 3}, {2, 1}})
same("cifar10: channels last", cx[2][1][1], {2, 12, 22})
same("cifar10: labels", uy, {{1}, {2}})
os.execute(("rm -r '%s'"):format(folder))

print(("preprocessing: %d checks, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and 0 or 1, true)
