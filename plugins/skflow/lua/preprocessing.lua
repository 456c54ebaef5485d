-- tf.skflow.preprocessing: texts and categories to numbers.
local tf, T = ...
local skflow = T.namespace "tf.skflow"
local P = T.namespace "tf.skflow.preprocessing"
rawset(skflow, "preprocessing", P)

-- Numbers of categories; 0 is "<UNK>", what was never seen.
local Vocabulary = {}
Vocabulary.__index = Vocabulary
T.def("tf.skflow.preprocessing.CategoricalVocabulary", "unknown_token=<UNK>", function(unknown)
  return setmetatable({ids = {[unknown] = 0}, names = {[0] = unknown}, counts = {[unknown] = 0}, n = 1, frozen = false, unknown = unknown}, Vocabulary)
end)
function Vocabulary:__len() return self.n end
function Vocabulary:freeze(on) self.frozen = on ~= false end
function Vocabulary:get(category)
  local id = self.ids[category]
  if id then return id end
  if self.frozen then return 0 end
  self.ids[category], self.names[self.n], self.counts[category] = self.n, category, 0
  self.n = self.n + 1
  return self.n - 1
end
function Vocabulary:add(category, count)
  self:get(category)
  if not self.frozen then self.counts[category] = (self.counts[category] or 0) + (count or 1) end
end
function Vocabulary:reverse(id) return self.names[id] or self.unknown end
-- Keeps what is more frequent than min_frequency, most frequent first; equals in the order of their first appearance.
function Vocabulary:trim(min_frequency)
  local list = {}
  for id = 1, self.n - 1 do list[id] = {self.names[id], self.counts[self.names[id]], id} end
  table.sort(list, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[3] < b[3] end)
  self.ids, self.names, self.n = {[self.unknown] = 0}, {[0] = self.unknown}, 1
  for _, entry in ipairs(list) do
    if entry[2] > min_frequency then
      self.ids[entry[1]], self.names[self.n] = self.n, entry[1]
      self.n = self.n + 1
    end
  end
end

-- Words: letters, digits and apostrophes together; other signs that are no blank alone.
local function words(text)
  local out = {}
  for word in text:gmatch "[%w'\128-\255]+" do out[#out + 1] = word end
  return out
end
P.tokenizer = words

-- Texts to rows of word numbers, cut or filled with 0 to max_document_length.
local Words = {}
Words.__index = Words
T.def("tf.skflow.preprocessing.VocabularyProcessor", "max_document_length min_frequency=0 vocabulary? tokenizer_fn?", function(length, frequency, vocabulary, tokenizer)
  if math.type(length) ~= "integer" or length < 1 then T.fail("tf.skflow.preprocessing.VocabularyProcessor", "'max_document_length' must be a whole number above 0, not %s", length) end
  return setmetatable({max_document_length = length, min_frequency = frequency, vocabulary_ = vocabulary or P.CategoricalVocabulary(), tokenize = tokenizer or words}, Words)
end)
-- A list of documents or rows.
local function list_of(list, who)
  if type(list) ~= "table" then T.fail("tf.skflow.preprocessing." .. who, "expects a list, not %s", T.shown(list)) end
  return list
end
local function texts_of(list, who)
  for i, text in ipairs(list_of(list, who)) do
    if type(text) ~= "string" then T.fail("tf.skflow.preprocessing." .. who, "document %d is %s; documents are strings", i, T.shown(text)) end
  end
  return list
end
function Words:fit(documents)
  texts_of(documents, "VocabularyProcessor:fit")
  for _, text in ipairs(documents) do
    for _, word in ipairs(self.tokenize(text)) do self.vocabulary_:add(word) end
  end
  if self.min_frequency > 0 then self.vocabulary_:trim(self.min_frequency) end
  self.vocabulary_:freeze()
  return self
end
function Words:transform(documents)
  texts_of(documents, "VocabularyProcessor:transform")
  local rows = {}
  for i, text in ipairs(documents) do
    local row = {}
    for k = 1, self.max_document_length do row[k] = 0 end
    for k, word in ipairs(self.tokenize(text)) do
      if k > self.max_document_length then break end
      row[k] = self.vocabulary_:get(word)
    end
    rows[i] = row
  end
  return tf.tensor(rows, "int64")
end
function Words:fit_transform(documents) return self:fit(documents):transform(documents) end
function Words:reverse(rows)
  local out = {}
  for i, row in ipairs(T.kind(rows) and rows:table() or rows) do
    local text = {}
    for k, id in ipairs(row) do text[k] = self.vocabulary_:reverse(id) end
    out[i] = table.concat(text, " ")
  end
  return out
end
function Words:save(path)
  local file, why = io.open(path, "w")
  if not file then T.fail_code(5, "save", why) end
  local names = {}
  for id = 1, self.vocabulary_.n - 1 do names[id] = self.vocabulary_.names[id] end
  file:write(tf.json.encode {max_document_length = self.max_document_length, min_frequency = self.min_frequency, words = names}, "\n")
  file:close()
end
function P.restore(path)
  local file, why = io.open(path)
  if not file then T.fail_code(5, "tf.skflow.preprocessing.restore", why) end
  local def = tf.json.decode(file:read "a")
  file:close()
  local vocabulary = P.CategoricalVocabulary()
  for _, word in ipairs(def.words) do vocabulary:get(word) end
  vocabulary:freeze()
  return P.VocabularyProcessor(def.max_document_length, def.min_frequency, vocabulary)
end

-- Texts to rows of byte numbers.
local Bytes = {}
Bytes.__index = Bytes
T.def("tf.skflow.preprocessing.ByteProcessor", "max_document_length", function(length) return setmetatable({max_document_length = length}, Bytes) end)
function Bytes:fit() return self end
function Bytes:transform(documents)
  texts_of(documents, "ByteProcessor:transform")
  local rows = {}
  for i, text in ipairs(documents) do
    local row = {}
    for k = 1, self.max_document_length do row[k] = text:byte(k) or 0 end
    rows[i] = row
  end
  return tf.tensor(rows, "int64")
end
Bytes.fit_transform = Bytes.transform
function Bytes:reverse(rows)
  local out = {}
  for i, row in ipairs(T.kind(rows) and rows:table() or rows) do
    local text = {}
    for _, b in ipairs(row) do if b ~= 0 then text[#text + 1] = string.char(b) end end
    out[i] = table.concat(text)
  end
  return out
end

-- Rows of categories to rows of numbers, a vocabulary for each column (share: one for all).
local Categories = {}
Categories.__index = Categories
T.def("tf.skflow.preprocessing.CategoricalProcessor", "min_frequency=0 share=false vocabularies?", function(frequency, share, vocabularies)
  return setmetatable({min_frequency = frequency, share = share, vocabularies_ = vocabularies or {}}, Categories)
end)
function Categories:column(k)
  if self.share then k = 1 end
  self.vocabularies_[k] = self.vocabularies_[k] or P.CategoricalVocabulary()
  return self.vocabularies_[k]
end
function Categories:fit(rows)
  list_of(rows, "CategoricalProcessor:fit")
  for _, row in ipairs(rows) do for k, value in ipairs(row) do self:column(k):add(value) end end
  for _, v in pairs(self.vocabularies_) do
    if self.min_frequency > 0 then v:trim(self.min_frequency) end
    v:freeze()
  end
  return self
end
function Categories:transform(rows)
  list_of(rows, "CategoricalProcessor:transform")
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = {}
    for k, value in ipairs(row) do out[i][k] = self:column(k):get(value) end
  end
  return tf.tensor(out, "int64")
end
function Categories:fit_transform(rows) return self:fit(rows):transform(rows) end
for name, class in pairs {VocabularyProcessor = Words, ByteProcessor = Bytes, CategoricalProcessor = Categories, CategoricalVocabulary = Vocabulary} do
  T.guard_all("tf.skflow.preprocessing." .. name .. ":", class)
end
return P
