-- tf.keras.preprocessing.text: texts to words, words to numbers. Texts are UTF-8; lower-casing knows ASCII and, in `char_level`, whole
-- characters. For languages without spaces: char_level, or `tokenize`, a function from a text to its words.
local tf, T = ...
local def = T.def
local _ = T.include("keras", "registry")
local text = T.keras_namespace "preprocessing.text"
local FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'

local function set_of(characters)
  local set = {}
  for _, c in utf8.codes(characters) do set[utf8.char(c)] = true end
  return set
end
local function words_of(s, filters, lower, split)
  if lower then s = s:lower() end
  local set, out = set_of(filters), {}
  for _, c in utf8.codes(s) do
    local ch = utf8.char(c)
    out[#out + 1] = set[ch] and split or ch
  end
  s = table.concat(out)
  local words = {}
  local from = 1
  while true do
    local a, b = s:find(split, from, true)
    local word = s:sub(from, a and a - 1 or #s)
    if word ~= "" then words[#words + 1] = word end
    if not a then return words end
    from = b + 1
  end
end
local function checked(s, who)
  if type(s) ~= "string" then T.fail(who, "a text is a string, not %s", T.kind(s) or type(s)) end
  if not utf8.len(s) then T.fail(who, "the text '%s' is not UTF-8", s:sub(1, 20)) end
  return s
end
local common = " filters? lower=true split?"
def("tf.keras.preprocessing.text.text_to_word_sequence", "text" .. common, function(s, filters, lower, split)
  return words_of(checked(s, "text_to_word_sequence"), filters or FILTERS, lower, split or " ")
end)

-- FNV-1a: the same numbers in every run.
local function stable(word)
  local h = 0xcbf29ce484222325
  for i = 1, #word do h = (h ~ word:byte(i)) * 0x100000001b3 end
  return h >> 1
end
-- Numbers 1 .. n - 1 by hashing; words may share one.
def("tf.keras.preprocessing.text.hashing_trick", "text n hash_function?" .. common, function(s, n, hash, filters, lower, split)
  hash = type(hash) == "function" and hash or stable
  local out = words_of(checked(s, "hashing_trick"), filters or FILTERS, lower, split or " ")
  for i, word in ipairs(out) do out[i] = hash(word) % (n - 1) + 1 end
  return out
end)
def("tf.keras.preprocessing.text.one_hot", "text n" .. common, function(s, n, filters, lower, split)
  return text.hashing_trick(s, n, {filters = filters, lower = lower, split = split})
end)

local Tokenizer = {}
Tokenizer.__index = Tokenizer
def("tf.keras.preprocessing.text.Tokenizer", "num_words|nb_words? filters? lower=true split? char_level=false oov_token? tokenize?",
  function(num_words, filters, lower, split, char_level, oov, tokenize)
    return setmetatable({num_words = num_words, filters = filters or FILTERS, lower = lower, split = split or " ", char_level = char_level,
      oov_token = oov, tokenize = tokenize, document_count = 0, word_counts = {}, word_docs = {}, word_order = {}, word_index = {}, index_word = {},
      index_docs = {}}, Tokenizer)
  end)
local function words(self, s)
  if type(s) == "table" then
    if not self.lower then return s end
    local out = {}
    for i, w in ipairs(s) do out[i] = w:lower() end
    return out
  end
  checked(s, "Tokenizer")
  if self.tokenize then return self.tokenize(s) end
  if self.char_level then
    if self.lower then s = s:lower() end
    local out = {}
    for _, c in utf8.codes(s) do out[#out + 1] = utf8.char(c) end
    return out
  end
  return words_of(s, self.filters, self.lower, self.split)
end
function Tokenizer:fit_on_texts(texts)
  if type(texts) == "string" then texts = {texts} end
  for _, s in ipairs(texts) do
    self.document_count = self.document_count + 1
    local seen = {}
    for _, w in ipairs(words(self, s)) do
      if not self.word_counts[w] then
        self.word_counts[w], self.word_docs[w] = 0, 0
        self.word_order[#self.word_order + 1] = w
      end
      self.word_counts[w] = self.word_counts[w] + 1
      if not seen[w] then
        seen[w] = true
        self.word_docs[w] = self.word_docs[w] + 1
      end
    end
  end
  -- the most frequent first; those as frequent in the order in which they came
  local place, sorted = {}, {}
  for i, w in ipairs(self.word_order) do place[w], sorted[i] = i, w end
  table.sort(sorted, function(a, b)
    local x, y = self.word_counts[a], self.word_counts[b]
    if x ~= y then return x > y end
    return place[a] < place[b]
  end)
  if self.oov_token then table.insert(sorted, 1, self.oov_token) end
  self.word_index, self.index_word, self.index_docs = {}, {}, {}
  for i, w in ipairs(sorted) do
    self.word_index[w], self.index_word[i] = i, w
    self.index_docs[i] = self.word_docs[w] or 0
  end
end
function Tokenizer:fit_on_sequences(sequences)
  for _, s in ipairs(sequences) do
    self.document_count = self.document_count + 1
    local seen = {}
    for _, i in ipairs(s) do
      if not seen[i] then
        seen[i] = true
        self.index_docs[i] = (self.index_docs[i] or 0) + 1
      end
    end
  end
end
function Tokenizer:texts_to_sequences(texts)
  if type(texts) == "string" then T.fail("texts_to_sequences", "the texts are a list; a single one is {text}") end
  local out = {}
  local oov = self.oov_token and self.word_index[self.oov_token]
  for k, s in ipairs(texts) do
    local row = {}
    for _, w in ipairs(words(self, s)) do
      local i = self.word_index[w]
      if i and self.num_words and i >= self.num_words then i = nil end
      i = i or oov
      if i then row[#row + 1] = i end
    end
    out[k] = row
  end
  return out
end
function Tokenizer:sequences_to_texts(sequences)
  local out = {}
  local oov = self.oov_token and self.word_index[self.oov_token]
  for k, s in ipairs(sequences) do
    local list = {}
    for _, i in ipairs(T.kind(s) and s:table() or s) do
      local w = self.index_word[i]
      if w and self.num_words and i >= self.num_words then w = oov and self.index_word[oov] end
      if not w and oov then w = self.index_word[oov] end
      if w then list[#list + 1] = w end
    end
    out[k] = table.concat(list, " ")
  end
  return out
end
function Tokenizer:texts_to_matrix(texts, mode) return self:sequences_to_matrix(self:texts_to_sequences(texts), mode) end
-- One row for each text: binary, count, freq, or tfidf.
function Tokenizer:sequences_to_matrix(sequences, mode)
  mode = type(mode) == "table" and mode.mode or mode or "binary"
  local who = "sequences_to_matrix"
  if not ({binary = 1, count = 1, freq = 1, tfidf = 1})[mode] then T.fail(who, "'mode' must be binary, count, freq or tfidf, not '%s'", tostring(mode)) end
  if mode == "tfidf" and self.document_count == 0 then T.fail(who, "fit the tokenizer on texts before tfidf") end
  local n = self.num_words or #self.index_word + 1
  local rows = {}
  for k, s in ipairs(sequences) do
    local row, counts = {}, {}
    for i = 1, n do row[i] = 0 end
    for _, i in ipairs(s) do if i < n then counts[i] = (counts[i] or 0) + 1 end end
    for i, c in pairs(counts) do
      if mode == "count" then row[i + 1] = c
      elseif mode == "freq" then row[i + 1] = c / #s
      elseif mode == "binary" then row[i + 1] = 1
      else row[i + 1] = (1 + math.log(c)) * math.log(1 + self.document_count / (1 + (self.index_docs[i] or 0))) end
    end
    rows[k] = row
  end
  return tf.tensor(rows)
end
local saved = {"num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count", "word_counts", "word_docs", "word_index",
  "index_docs", "index_word", "word_order"}
function Tokenizer:get_config()
  local out = {}
  for _, name in ipairs(saved) do
    local value = self[name]
    if value == nil then value = tf.json.null end
    out[name] = value
  end
  return out
end
function Tokenizer:to_json() return tf.json.encode {class_name = "Tokenizer", config = self:get_config()} end
function text.tokenizer_from_json(s)
  local config = tf.json.decode(s).config
  local t = text.Tokenizer()
  for _, name in ipairs(saved) do
    local value = config[name]
    if value ~= nil and value ~= tf.json.null then t[name] = value end
  end
  return t
end
return text
