-- tf.keras.preprocessing.sequence: lists of unequal length to one tensor, pairs for word vectors, windows of time series.
local tf, T = ...
local def = T.def
local _ = T.include("keras", "registry")
local sequence = T.keras_namespace "preprocessing.sequence"

local function as_table(x) return T.kind(x) and x:table() or x end

def("tf.keras.preprocessing.sequence.pad_sequences", "sequences maxlen? dtype=int32 padding=pre truncating=pre value=0",
  function(sequences, maxlen, dtype, padding, truncating, value)
    local who = "tf.keras.preprocessing.sequence.pad_sequences"
    for name, x in pairs {padding = padding, truncating = truncating} do
      if x ~= "pre" and x ~= "post" then T.fail(who, "'%s' must be \"pre\" or \"post\", not '%s'", name, tostring(x)) end
    end
    local longest, sample = 0, nil
    local lists = {}
    for i, s in ipairs(sequences) do
      lists[i] = as_table(s)
      if type(lists[i]) ~= "table" then T.fail(who, "sequences[%d] is no list, but a %s", i, type(s)) end
      longest = math.max(longest, #lists[i])
      if not sample and type(lists[i][1]) == "table" then sample = lists[i][1] end
    end
    maxlen = maxlen or longest
    local function filler()
      if not sample then return value end
      local out = {}
      for k = 1, #sample do out[k] = value end
      return out
    end
    local rows = {}
    for i, s in ipairs(lists) do
      local n = math.min(#s, maxlen)
      local from = truncating == "pre" and #s - n or 0
      local row = {}
      local start = padding == "pre" and maxlen - n or 0
      for k = 1, maxlen do
        local at = k - start
        row[k] = at >= 1 and at <= n and s[from + at] or filler()
      end
      rows[i] = row
    end
    return tf.tensor(rows, dtype)
  end)

-- Probabilities of keeping a word of each rank, if the frequencies follow Zipf's law.
def("tf.keras.preprocessing.sequence.make_sampling_table", "size sampling_factor=0.00001", function(size, factor)
  local gamma = 0.577
  local out = {}
  for i = 1, size do
    local rank = i == 1 and 1 or i - 1
    local inverse = rank * (math.log(rank) + gamma) + 0.5 - 1 / (12 * rank)
    local f = factor * inverse
    out[i] = math.min(1, f / math.sqrt(f))
  end
  return tf.tensor(out)
end)

-- Pairs (word, word of its neighbourhood) labelled 1, and as many times `negative_samples` pairs with a random word, labelled 0.
-- Index 0 is no word.
def("tf.keras.preprocessing.sequence.skipgrams", "sequence vocabulary_size window_size=4 negative_samples=1 shuffle=true categorical=false sampling_table? seed?",
  function(words, vocabulary, window, negative, shuffle, categorical, table_, seed)
    words = as_table(words)
    table_ = table_ and as_table(table_)
    local state = math.tointeger(seed) or math.random(0, 0x7fffffff)
    local function random(n) -- 0 .. n - 1, from the seed alone
      state = (state * 6364136223846793005 + 1442695040888963407)
      return (state >> 33) % n
    end
    local couples, labels = {}, {}
    for i, w in ipairs(words) do
      if w ~= 0 and not (table_ and table_[w + 1] < random(1 << 24) / (1 << 24)) then
        for j = math.max(1, i - window), math.min(#words, i + window) do
          if j ~= i and words[j] ~= 0 then
            couples[#couples + 1] = {w, words[j]}
            labels[#labels + 1] = categorical and {0, 1} or 1
          end
        end
      end
    end
    if negative > 0 then
      local n = math.floor(#labels * negative)
      local firsts = {}
      for i, pair in ipairs(couples) do firsts[i] = pair[1] end
      if shuffle then
        for i = #firsts, 2, -1 do
          local j = random(i) + 1
          firsts[i], firsts[j] = firsts[j], firsts[i]
        end
      end
      for i = 1, n do
        couples[#couples + 1] = {firsts[(i - 1) % #firsts + 1], random(vocabulary - 1) + 1}
        labels[#labels + 1] = categorical and {1, 0} or 0
      end
    end
    if shuffle then
      for i = #couples, 2, -1 do
        local j = random(i) + 1
        couples[i], couples[j] = couples[j], couples[i]
        labels[i], labels[j] = labels[j], labels[i]
      end
    end
    return couples, labels
  end)

-- Windows of `length` steps with the target behind them, as batches: works as input of fit.
local Generator = setmetatable({}, {__index = T.include("keras", "utils").Sequence})
Generator.__index = Generator
def("tf.keras.preprocessing.sequence.TimeseriesGenerator", "data targets length sampling_rate=1 stride=1 start_index=0 end_index? shuffle=false reverse=false batch_size=128",
  function(data, targets, length, rate, stride, first, last, shuffle, reverse, batch)
    local who = "tf.keras.preprocessing.sequence.TimeseriesGenerator"
    if not T.kind(data) then data = tf.tensor(data) end
    if not T.kind(targets) then targets = tf.tensor(targets) end
    if data.shape[1] ~= targets.shape[1] then
      T.fail(who, "data has %d steps, targets %d", data.shape[1], targets.shape[1])
    end
    local start = first + length
    last = last or data.shape[1] - 1
    if start > last then T.fail(who, "length %d leaves no window: start_index + length is %d, end_index %d", length, start, last) end
    return setmetatable({data = data, targets = targets, length = length, sampling_rate = rate, stride = stride, start_index = start, end_index = last,
      shuffle = shuffle, reverse = reverse, batch_size = batch}, Generator)
  end)
function Generator:len()
  return (self.end_index - self.start_index + self.batch_size * self.stride) // (self.batch_size * self.stride)
end
Generator.__len = Generator.len
function Generator:get(index)
  local rows = {}
  if self.shuffle then
    for i = 1, self.batch_size do rows[i] = math.random(self.start_index, self.end_index) end
  else
    local i = self.start_index + self.batch_size * self.stride * index
    while #rows < self.batch_size and i <= self.end_index do
      rows[#rows + 1] = i
      i = i + self.stride
    end
  end
  local windows = {}
  for k, row in ipairs(rows) do
    local steps = {}
    for at = row - self.length, row - 1, self.sampling_rate do steps[#steps + 1] = at end
    if self.reverse then
      for a = 1, #steps // 2 do steps[a], steps[#steps - a + 1] = steps[#steps - a + 1], steps[a] end
    end
    windows[k] = steps
  end
  return tf.gather(self.data, tf.tensor(windows, "int64")), tf.gather(self.targets, tf.tensor(rows, "int64"))
end
return sequence
