-- slim.prefetch_queue: elements of a dataset made ahead of time.
local tf, T = ...
local prefetch = T.namespace "tf.slim.prefetch_queue"

local Queue = {}
Queue.__index = Queue
Queue.__name = "PrefetchQueue"
-- source: a tf.data dataset. With dynamic_pad its elements are joined to batches of batch_size, smaller ones padded with zeros.
prefetch.prefetch_queue = T.bind("slim.prefetch_queue.prefetch_queue", "tensors capacity=8 num_threads=1 dynamic_pad=false batch_size? shared_name? name?",
  function(source, capacity, _, pad, batch)
    local who = "slim.prefetch_queue.prefetch_queue"
    if T.kind(source) ~= "Dataset" then
      T.fail_code(12, who, "values of a graph are not made ahead of time; give a tf.data dataset (provider:as_dataset(items):batch(n))")
    end
    if capacity < 1 then T.fail(who, "'capacity' must be above 0, not %s", capacity) end
    if pad then
      if not batch then T.fail(who, "'dynamic_pad' needs 'batch_size'") end
      source = source:padded_batch(batch)
    elseif batch then
      source = source:batch(batch)
    end
    return setmetatable({iterator = source:prefetch(capacity):make_one_shot_iterator()}, Queue)
  end)
-- The next element: nodes in a graph, tensors in define-by-run mode.
function Queue:dequeue() return self.iterator:get_next() end
return prefetch
