-- slim.parallel_reader: keys and records of files. Reading is done ahead by the datasets, whatever num_readers is.
local tf, T = ...
local _ = T.include("slim", "data/dataset")
local parallel = T.namespace "tf.slim.parallel_reader"

-- reader: the name of a reader, nil for one by the file's ending. Gives (key, record): nodes in a graph, tensors in define-by-run mode.
parallel.parallel_read = T.bind("slim.parallel_reader.parallel_read", "data_sources reader? num_epochs? num_readers=4 reader_kwargs? shuffle=true dtypes? capacity=256 min_after_dequeue=128 seed? scope?",
  function(sources, reader, epochs, readers, options, shuffle, _, capacity, least, seed)
    local who = "slim.parallel_reader.parallel_read"
    if readers < 1 then T.fail(who, "'num_readers' must be above 0, not %d", readers) end
    if capacity < least then T.fail(who, "'capacity' (%d) must not be below 'min_after_dequeue' (%d)", capacity, least) end
    local whole = {decode = function(_, record) return record end, list_items = function() return {"record"} end}
    local p = tf.slim.dataset_data_provider.DatasetDataProvider(tf.slim.dataset.Dataset {data_sources = sources, reader = reader, decoder = whole},
      {num_epochs = epochs, reader_kwargs = options, shuffle = shuffle, common_queue_capacity = capacity, common_queue_min = least, seed = seed})
    return p:get {"record_key", "record"}
  end)
function parallel.get_data_files(sources) return T.slim_data_files(sources, "slim.parallel_reader.get_data_files") end
return parallel
