-- Layers that make numbers of texts and of categories: hashes, vocabularies. Texts are tensors of strings, or tables of them, in define-by-run mode
-- (graphs have no strings); IntegerLookup works in graphs as well.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local Layer = T.include("keras", "engine/layer")
local hashes = T.include("keras", "hashes")
local layer, encoded = T.keras_layer, T.keras_encoded

-- The texts of a value as nested tables.
local function texts(self, x)
  if T.kind(x) == "Node" then T.fail_code(12, self.name, "texts cannot be computed on in graphs: call the layer in define-by-run mode, where the data is prepared") end
  if T.kind(x) then return x:table() end
  return x
end
local function map(x, fn)
  if type(x) ~= "table" then return fn(x) end
  local out = {}
  for i, v in ipairs(x) do out[i] = map(v, fn) end
  return out
end
local function text_of(v) return type(v) == "string" and v or math.type(v) == "float" and ("%d"):format(v // 1) or tostring(v) end
local function eager(fn) return tf.eager(fn) end

layer("Hashing", "num_bins mask_value? salt? output_mode=int sparse=false", {
  autocast = false, any_input = true,
  init = function(self, path)
    T.keras_positive(self, path, "num_bins")
    T.keras_check_mode(self, path, "int", "one_hot", "multi_hot", "count")
    if math.type(self.salt) == "integer" then rawset(self, "salt", {self.salt, self.salt}) end
    if self.salt and #self.salt ~= 2 then T.fail(path, "'salt' must be a whole number or two of them") end
  end,
  call = function(self, x)
    return eager(function()
      local mask = self.mask_value ~= nil and self.num_bins > 1
      local bins = mask and self.num_bins - 1 or self.num_bins
      local numbers = map(texts(self, x), function(v)
        if mask and v == self.mask_value then return 0 end
        local text = text_of(v)
        local h = self.salt and hashes.siphash(text, self.salt[1], self.salt[2]) or hashes.fingerprint64(text)
        return hashes.bucket(h, bins) + (mask and 1 or 0)
      end)
      local dtype = self.output_mode == "int" and (self.dtype:find "int" and self.dtype or "int64") or self.compute_dtype
      return encoded(self, tf.tensor(numbers, "int64"), self.output_mode, self.num_bins, dtype)
    end)
  end})

-- ------------------------------------------------------------------------------------- vocabularies

local Lookup = {autocast = false}
local function oov_start(self) return self.mask_token ~= nil and self.output_mode == "int" and 1 or 0 end
local function token_start(self) return oov_start(self) + self.num_oov_indices end
function Lookup.init(self, path)
  T.keras_check_mode(self, path, "int", "one_hot", "multi_hot", "count", "tf_idf")
  if math.type(self.num_oov_indices) ~= "integer" or self.num_oov_indices < 0 then T.fail(path, "'num_oov_indices' must be a whole number of 0 or more, not %s", tostring(self.num_oov_indices)) end
  if self.max_tokens and self.max_tokens <= 1 then T.fail(path, "'max_tokens' must be above 1, not %s", tostring(self.max_tokens)) end
  if self.pad_to_max_tokens and not self.max_tokens then T.fail(path, "'pad_to_max_tokens' needs 'max_tokens'") end
  if self.invert and self.output_mode ~= "int" then T.fail(path, "'invert' goes with output_mode = \"int\" only") end
  if self.oov_method then T.keras_choice(self, path, "oov_method", {"floormod", "farmhash"}) end
  if math.type(self.salt) == "integer" then rawset(self, "salt", {self.salt, self.salt}) end
  rawset(self, "tokens", {})
  if self.vocabulary ~= nil then self:set_vocabulary(self.vocabulary, self.idf_weights) end
end
function Lookup.set_vocabulary(self, list, idf)
  if type(list) == "string" then -- a file, one token a line
    local file, why = io.open(list)
    if not file then T.fail_code(5, "set_vocabulary", why) end
    list = {}
    for line in file:lines() do list[#list + 1] = self.of_numbers and math.tointeger(line) or line end
    file:close()
  end
  if T.kind(list) then list = list:table() end
  if #list == 0 then T.fail("set_vocabulary", "the vocabulary of '%s' is empty", self.name) end
  if self.output_mode == "tf_idf" and idf == nil then T.fail("set_vocabulary", "'%s' needs 'idf_weights' for output_mode = \"tf_idf\"", self.name) end
  if T.kind(idf) then idf = idf:table() end
  if idf and #idf ~= #list then T.fail("set_vocabulary", "there are %d idf_weights for %d tokens", #idf, #list) end
  -- mask and unknown tokens in front are the special ones
  local start, special = token_start(self), true
  for i = 1, start do special = special and list[i] == (i <= oov_start(self) and self.mask_token or self.oov_token) end
  special = special and start > 0
  local tokens, at, weights, sum = {}, {}, {}, 0
  for i, token in ipairs(list) do
    if idf then sum = sum + idf[i] end
    if not (special and i <= start) then
      if at[token] then T.fail("set_vocabulary", "the token '%s' is in the vocabulary of '%s' twice", tostring(token), self.name) end
      if token == self.mask_token then T.fail("set_vocabulary", "the mask token '%s' may stand only at the start of the vocabulary", tostring(token)) end
      tokens[#tokens + 1] = token
      at[token] = start + #tokens - 1
    end
  end
  if self.max_tokens and start + #tokens > self.max_tokens then T.fail("set_vocabulary", "%d tokens are more than max_tokens = %d", start + #tokens, self.max_tokens) end
  if idf then
    if not special then for i = 1, start do weights[i] = sum / #idf end end
    for _, w in ipairs(idf) do weights[#weights + 1] = w end
    while self.pad_to_max_tokens and #weights < self.max_tokens do weights[#weights + 1] = 0 end
  end
  rawset(self, "tokens", tokens)
  rawset(self, "_at", at)
  rawset(self, "_idf", idf and weights or nil)
  rawset(self, "_sorted", nil)
end
function Lookup.vocabulary_size(self) return #self.tokens + token_start(self) end
function Lookup.get_vocabulary(self, special)
  local out = {}
  if special ~= false then
    for i = 1, token_start(self) do out[i] = i <= oov_start(self) and self.mask_token or self.oov_token end
  end
  for _, token in ipairs(self.tokens) do out[#out + 1] = token end
  return out
end
-- Counts tokens of rows (each a document); the most frequent come first, of equally frequent ones the last in the alphabet.
function Lookup.learn(self, batches)
  if self.vocabulary ~= nil then T.fail("adapt", "'%s' was given its vocabulary", self.name) end
  local counts, documents, n = {}, {}, 0
  for _, rows in ipairs(batches) do
    for _, row in ipairs(rows) do
      local seen = {}
      n = n + 1
      map(row, function(v)
        counts[v] = (counts[v] or 0) + 1
        if not seen[v] then
          seen[v] = true
          documents[v] = (documents[v] or 0) + 1
        end
      end)
    end
  end
  if self.mask_token ~= nil then counts[self.mask_token] = nil end
  if self.oov_token ~= nil then counts[self.oov_token] = nil end
  local list = {}
  for token in pairs(counts) do list[#list + 1] = token end
  table.sort(list, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a > b end)
  local most = self.max_tokens and self.max_tokens - token_start(self)
  local idf
  for i = #list, (most or #list) + 1, -1 do list[i] = nil end
  if #list == 0 then T.fail("adapt", "'%s' found no tokens", self.name) end
  if self.output_mode == "tf_idf" then
    idf = {}
    for i, token in ipairs(list) do idf[i] = math.log(1 + n / (1 + documents[token])) end
  end
  self:set_vocabulary(list, idf)
end
function Lookup.adapt(self, data)
  local batches = {}
  eager(function()
    T.keras_each_batch(data, self.name, function(batch)
      local rows = batch:table()
      batches[#batches + 1] = #batch.shape > 1 and rows or {rows}
    end)
  end)
  self:learn(batches)
end
local function unknown(self, v)
  local n = self.num_oov_indices
  if n == 0 then T.fail(self.name, "'%s' is not in the vocabulary; with num_oov_indices = 1 unknown tokens get a number", tostring(v)) end
  if n == 1 then return oov_start(self) end
  if self.of_numbers and self.oov_method ~= "farmhash" then return oov_start(self) + v % n end
  local text = text_of(v)
  return oov_start(self) + hashes.bucket(self.salt and hashes.siphash(text, self.salt[1], self.salt[2]) or hashes.fingerprint64(text), n)
end
-- The number of a token; -1, which no vector shows, for the mask token where vectors come out.
function Lookup.index_of(self, v)
  if self.mask_token ~= nil and v == self.mask_token then return self.output_mode == "int" and 0 or -1 end
  return self._at and self._at[v] or unknown(self, v)
end
local function vectors(self, numbers)
  if self.output_mode == "int" then return numbers end
  local depth = self.pad_to_max_tokens and self.max_tokens or self:vocabulary_size()
  local mode = self.output_mode == "tf_idf" and "count" or self.output_mode
  local y = encoded(self, numbers, mode, depth, self.output_mode == "tf_idf" and self.compute_dtype or "int64")
  return self.output_mode == "tf_idf" and y * tf.constant(self._idf, y.dtype) or y
end
Lookup.vectors = vectors
local function check_ready(self)
  if #self.tokens == 0 then T.fail(self.name, "there is no vocabulary yet: give one, or call adapt(data)") end
end
-- Numbers by a search in the sorted vocabulary: in graphs, too.
local function search(self, x)
  if not self._sorted then
    local order = {}
    for i = 1, #self.tokens do order[i] = i end
    table.sort(order, function(a, b) return self.tokens[a] < self.tokens[b] end)
    local keys, places = {}, {}
    for i, k in ipairs(order) do keys[i], places[i] = self.tokens[k], token_start(self) + k - 1 end
    rawset(self, "_sorted", {keys, places})
  end
  local keys, places = tf.constant(self._sorted[1], "int64"), tf.constant(self._sorted[2], "int64")
  local flat = tf.reshape(tf.cast(x, "int64"), {1, -1})
  local at = raw.LowerBound(tf.expand_dims(keys, 0), flat, {out_type = "int64"})
  at = raw.Minimum(at, tf.constant(#self.tokens - 1, "int64"))
  local found = raw.Equal(tf.gather(keys, at), flat)
  local n = self.num_oov_indices
  local other = n > 1 and raw.FloorMod(flat, tf.constant(n, "int64")) + oov_start(self) or tf.constant(n == 1 and oov_start(self) or -1, "int64")
  local y = raw.SelectV2(found, tf.gather(places, at), other)
  if self.mask_token ~= nil then
    y = raw.SelectV2(raw.Equal(flat, tf.constant(self.mask_token, "int64")), tf.constant(self.output_mode == "int" and 0 or -1, "int64"), y)
  end
  local shape = x.shape
  local open = 0
  for _, d in ipairs(shape) do open = open + (d < 0 and 1 or 0) end
  y = open > 1 and tf.reshape(y, tf.shape(x)) or tf.reshape(y, shape)
  if open > 1 then y:set_shape(shape) end
  return y
end
function Lookup.call(self, x)
  check_ready(self)
  if self.invert then
    local words = self:get_vocabulary()
    return eager(function()
      return tf.tensor(map(texts(self, x), function(i) return words[i + 1] or self.oov_token end), self.of_numbers and "int64" or nil)
    end)
  end
  if self.of_numbers and T.kind(x) and self.oov_method ~= "farmhash" and (T.kind(x) == "Node" or self.num_oov_indices > 0) then return vectors(self, search(self, x)) end
  return eager(function() return vectors(self, tf.tensor(map(texts(self, x), function(v) return self:index_of(v) end), "int64")) end)
end
function Lookup.get_config(self)
  local out = Layer.get_config(self)
  out.vocabulary_size = #self.tokens > 0 and self:vocabulary_size() or tf.json.null
  if self.vocabulary == nil and #self.tokens > 0 then -- what adapt has learnt
    out.vocabulary = {table.unpack(self.tokens)}
    if self._idf then out.idf_weights = {table.unpack(self._idf, token_start(self) + 1)} end
  end
  return out
end
local function lookup_class(name, signature, more)
  local methods = {}
  for key, fn in pairs(Lookup) do methods[key] = fn end
  for key, fn in pairs(more) do methods[key] = fn end
  return layer(name, signature, methods)
end
lookup_class("StringLookup", "max_tokens? num_oov_indices=1 mask_token? oov_token=[UNK] vocabulary? idf_weights? invert=false output_mode=int sparse=false pad_to_max_tokens=false oov_method=floormod salt? encoding=utf-8", {})
lookup_class("IntegerLookup", "max_tokens? num_oov_indices=1 mask_token? oov_token=-1 vocabulary? vocabulary_dtype=int64 idf_weights? invert=false output_mode=int sparse=false pad_to_max_tokens=false oov_method=floormod salt?",
  {of_numbers = true, input_dtype = "int64"})

-- ------------------------------------------------------------------------------------- sentences

local function characters(text)
  local out = {}
  for c in text:gmatch(utf8.charpattern) do out[#out + 1] = c end
  return out
end
layer("TextVectorization", "max_tokens? standardize=lower_and_strip_punctuation split=whitespace ngrams? output_mode=int output_sequence_length? pad_to_max_tokens=false vocabulary? idf_weights? sparse=false ragged=false encoding=utf-8", {
  autocast = false,
  init = function(self, path)
    T.keras_check_mode(self, path, "int", "multi_hot", "count", "tf_idf")
    if type(self.standardize) == "string" then T.keras_choice(self, path, "standardize", {"lower_and_strip_punctuation", "lower", "strip_punctuation"}) end
    if type(self.split) == "string" then T.keras_choice(self, path, "split", {"whitespace", "character"}) end
    if self.ragged then T.fail_code(12, path, "'ragged' is not supported") end
    if self.output_sequence_length and self.output_mode ~= "int" then T.fail(path, "'output_sequence_length' goes with output_mode = \"int\" only") end
    rawset(self, "lookup", S.classes.StringLookup.new {max_tokens = self.max_tokens, vocabulary = self.vocabulary, idf_weights = self.idf_weights, mask_token = "",
      output_mode = self.output_mode, pad_to_max_tokens = self.pad_to_max_tokens, name = self.name .. "_lookup"})
  end,
  -- The tokens of a text.
  tokens_of = function(self, text)
    local how = self.standardize
    if type(how) == "function" then text = how(text) elseif how then
      if how ~= "strip_punctuation" then text = text:lower() end
      if how ~= "lower" then text = text:gsub("%p", "") end
    end
    local list = {}
    if type(self.split) == "function" then list = self.split(text)
    elseif self.split == "whitespace" then for word in text:gmatch "%S+" do list[#list + 1] = word end
    elseif self.split == "character" then list = characters(text)
    else list = {text} end
    if not self.ngrams then return list end
    local widths = self.ngrams
    if type(widths) == "number" then
      widths = {}
      for i = 1, self.ngrams do widths[i] = i end
    end
    local grams = {}
    for _, w in ipairs(widths) do
      for i = 1, #list - w + 1 do grams[#grams + 1] = table.concat(list, " ", i, i + w - 1) end
    end
    return grams
  end,
  rows_of = function(self, x)
    local rows = texts(self, x)
    if type(rows) == "string" then rows = {rows} end
    local out = {}
    for i, row in ipairs(rows) do
      if type(row) == "table" then
        if #row ~= 1 then T.fail(self.name, "TextVectorization expects one text a row; row %d has %d", i, #row) end
        row = row[1]
      end
      out[i] = self:tokens_of(row)
    end
    return out
  end,
  call = function(self, x)
    check_ready(self.lookup)
    return eager(function()
      local rows, longest = self:rows_of(x), self.output_sequence_length or 0
      for i, row in ipairs(rows) do
        if not self.output_sequence_length then longest = math.max(longest, #row) end
        rows[i] = map(row, function(v) return self.lookup:index_of(v) end)
      end
      local pad = self.output_mode == "int" and 0 or -1
      for _, row in ipairs(rows) do
        for k = #row, longest + 1, -1 do row[k] = nil end
        for k = #row + 1, longest do row[k] = pad end
      end
      local numbers = longest == 0 and tf.zeros({#rows, 0}, "int64") or tf.tensor(rows, "int64")
      return self.lookup:vectors(numbers)
    end)
  end,
  adapt = function(self, data)
    local batches = {}
    eager(function() T.keras_each_batch(data, self.name, function(batch) batches[#batches + 1] = self:rows_of(batch) end) end)
    self.lookup:learn(batches)
  end,
  set_vocabulary = function(self, list, idf) self.lookup:set_vocabulary(list, idf) end,
  get_vocabulary = function(self, special) return self.lookup:get_vocabulary(special) end,
  vocabulary_size = function(self) return self.lookup:vocabulary_size() end,
  get_config = function(self)
    local out = Layer.get_config(self)
    for _, name in ipairs {"standardize", "split"} do
      if type(self[name]) == "function" then T.fail_code(12, "get_config", ("'%s': a function as '%s' cannot be written down"):format(self.name, name)) end
    end
    local of_lookup = self.lookup:get_config()
    for _, name in ipairs {"vocabulary", "idf_weights", "vocabulary_size"} do out[name] = of_lookup[name] end
    return out
  end})
return true
