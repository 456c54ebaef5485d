-- What get_next gives in a graph has the shapes that the dataset's sources promise (as TensorFlow's output_shapes has them), so that layers,
-- which need to know the number of channels, can be built on it. What a function makes of elements has open extents.
local tf = require "tfsdk"
local x, y = tf.ones({7, 4, 4, 2}, {now = true}), tf.range(7, {now = true})
local function shapes(ds)
  local e, out = ds:make_one_shot_iterator():get_next(), {}
  if type(e) == "table" then e = e.x and {e.x, e.y} or e else e = {e} end
  for i, node in ipairs(e) do
    local shape = {}
    for a, n in ipairs(node.shape) do shape[a] = n < 0 and "?" or n end
    out[i] = "(" .. table.concat(shape, ",") .. ")"
  end
  print(table.concat(out, " "))
end
local ds = tf.data.from_tensor_slices {x = x, y = y}
shapes(ds)                                                    -- expect: (4,4,2) ()
shapes(ds:batch(3))                                           -- expect: (?,4,4,2) (?)
shapes(ds:batch(3, {drop_remainder = true}))                  -- expect: (3,4,4,2) (3)
shapes(ds:shuffle(3):repeat_(2):skip(1):take(3):batch(2):prefetch(1)) -- expect: (?,4,4,2) (?)
shapes(ds:batch(3):unbatch())                                 -- expect: (4,4,2) ()
shapes(ds:filter(function() return true end):shard(2, 0))     -- expect: (4,4,2) ()
shapes(ds:map(function(e) return {x = e.x * 2, y = e.y} end)) -- expect: (?,?,?) ()
shapes(tf.data.from_tensors {x, y})                           -- expect: (7,4,4,2) (7)
shapes(tf.data.range(5):batch(2))                             -- expect: (?)
local other = tf.ones({2, 4, 5, 2}, {now = true})
shapes(tf.data.from_tensor_slices(x):concatenate(tf.data.from_tensor_slices(other))) -- expect: (4,?,2)
local function rows()
  local i = 0
  return function()
    i = i + 1
    if i < 4 then return tf.ones({i, 2}, {now = true}) end
  end
end
shapes(tf.data.from_generator(rows))                          -- expect: (?,?)
local steps = tf.data.from_generator(rows, {output_shapes = {-1, 2}})
shapes(steps)                                                 -- expect: (?,2)
-- a layer on it, over elements of unequal length
local sum = tf.reduce_sum(tf.layers.dense(steps:make_one_shot_iterator():get_next(), 3, {kernel_initializer = tf.ones_initializer()}))
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
print(sess:run(sum), sess:run(sum), sess:run(sum))            -- expect: 6.0	12.0	18.0
-- an element that breaks the promise is an error
local wrong = tf.data.from_generator(rows, {output_shapes = {-1, 3}}):make_one_shot_iterator():get_next()
print(pcall(sess.run, sess, wrong))                           -- expect match: ^false	.*a value of float32 %(1, 2%) is fed; it takes float32 %(%?, 3%)
-- expect match: run at .*USE_03
