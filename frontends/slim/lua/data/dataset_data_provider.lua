-- slim.dataset_data_provider.DatasetDataProvider: the items of a Dataset, one record after another, for ever or num_epochs times.
--
--     local provider = slim.dataset_data_provider.DatasetDataProvider(dataset, {shuffle = true, seed = 1})
--     local image, label = provider:get {"image", "label"}           in a graph: values of a record, a new one at each run
--     local batches = provider:as_dataset({"image", "label"}):batch(32)  a tf.data dataset of tables by item
local tf, T = ...
local _ = T.include("slim", "data/dataset")
local provider = T.namespace "tf.slim.dataset_data_provider"

local Provider = {}
Provider.__index = Provider
Provider.__name = "DatasetDataProvider"

provider.DatasetDataProvider = T.bind("slim.dataset_data_provider.DatasetDataProvider", "dataset num_readers=1 reader_kwargs? shuffle=true num_epochs? common_queue_capacity=256 common_queue_min=128 record_key=record_key seed? scope?",
  function(dataset, readers, options, shuffle, epochs, capacity, least, key, seed)
    local who = "slim.dataset_data_provider.DatasetDataProvider"
    if type(dataset) ~= "table" or not dataset.decoder then T.fail(who, "expected a slim.dataset.Dataset, not a %s", T.kind(dataset) or type(dataset)) end
    if readers < 1 then T.fail(who, "'num_readers' must be above 0, not %d", readers) end
    if capacity < least then T.fail(who, "'common_queue_capacity' (%d) must not be below 'common_queue_min' (%d)", capacity, least) end
    if epochs and epochs < 1 then T.fail(who, "'num_epochs' must be above 0, not %s", epochs) end
    for _, item in ipairs(dataset.decoder:list_items()) do
      if item == key then T.fail(who, "'record_key' must not be the name of an item: '%s'", key) end
    end
    return setmetatable({dataset = dataset, options = options, shuffle = shuffle, epochs = epochs, capacity = capacity, key = key, seed = seed}, Provider)
  end)
function Provider:list_items()
  local out = self.dataset.decoder:list_items()
  out[#out + 1] = self.key
  return out
end
function Provider:num_samples() return self.dataset.num_samples end

-- Of a record and its key: the items in that order.
local function items_of(self, record, key, items)
  local wanted, out = {}, {}
  for _, name in ipairs(items) do if name ~= self.key then wanted[#wanted + 1] = name end end
  local values, k = {self.dataset.decoder:decode(record, wanted)}, 0
  for i, name in ipairs(items) do
    if name == self.key then
      out[i] = tf.tensor(key, "string")
    else
      k = k + 1
      out[i] = values[k]
    end
  end
  return out
end
-- The records are shuffled as they lie, the items decoded behind: what waits is small.
local function records(self)
  local parts = T.slim_record_sets(self.dataset.data_sources, self.dataset.reader, self.options, "slim.dataset.Dataset")
  local first = T.slim_each_record(parts)()
  if first == nil then T.fail("DatasetDataProvider", "the sources have no records") end
  local names = false
  if not T.kind(first) then
    names = {}
    for name in pairs(first) do names[#names + 1] = name end
    table.sort(names)
  end
  local components = names and {table.unpack(names)} or {"record"}
  components[#components + 1] = "record key"
  local ds = tf.data.from_generator(function()
    local next_record = T.slim_each_record(parts)
    return function()
      local record, key = next_record()
      if record == nil then return nil end
      local out = {["record key"] = tf.tensor(key, "string")}
      if names then
        for _, name in ipairs(names) do out[name] = record[name] end
      else
        out.record = record
      end
      return out
    end
  end, {names = components})
  if self.shuffle then ds = ds:shuffle(self.capacity, {seed = self.seed}) end
  if self.epochs then ds = ds:repeat_(self.epochs) else ds = ds:repeat_() end
  return ds, function(x)
    local key = x["record key"]:item()
    if not names then return x.record, key end
    local record = {}
    for _, name in ipairs(names) do record[name] = x[name] end
    return record, key
  end
end
-- A tf.data dataset of tables by item. `preprocess(table)` may change each.
function Provider:as_dataset(items, preprocess)
  items = items or self.dataset.decoder:list_items()
  local ds, split = records(self)
  return ds:map(function(x)
    local record, key = split(x)
    local out = {}
    for i, v in ipairs(items_of(self, record, key, items)) do out[items[i]] = v end
    return preprocess and preprocess(out) or out
  end)
end
-- The items as several values: nodes in a graph (a run that needs one of them reads a record), tensors in define-by-run mode. The end of the last
-- epoch is an OUT_OF_RANGE error.
function Provider:get(items)
  if type(items) ~= "table" or #items == 0 then T.fail("get", "expected a list of items; there are %s", table.concat(self:list_items(), ", ")) end
  self.iterators = self.iterators or {}
  local label = table.concat(items, "\0")
  self.iterators[label] = self.iterators[label] or self:as_dataset(items):make_one_shot_iterator()
  local x, out = self.iterators[label]:get_next(), {}
  for i, name in ipairs(items) do out[i] = x[name] end
  return table.unpack(out, 1, #items)
end
return provider
