-- A layer of one's own: a residual block that learns how much of itself to add. Usage: tfsdk run examples/keras/custom_layer.lua [EPOCHS]
local tf = require "tfsdk"
local keras = tf.keras

local Residual = keras.layers.Layer:extend("Residual", {
  init = function(self, units) self.inner = keras.layers.Dense(units, {activation = "tanh"}) end,
  build = function(self) self.gain = self:add_weight{name = "gain", shape = {}, initializer = "zeros"} end,
  call = function(self, x) return x + self.inner(x) * self.gain end,
})

-- Points in two spirals: which one does a point belong to? 600 to learn from.
tf.set_random_seed(7)
local turns = tf.random.uniform({600, 1}, {seed = 1, now = true})
local side = tf.cast(tf.random.uniform({600, 1}, {maxval = 2, dtype = "int64", seed = 2, now = true}), "float32")
local angle = turns * 7 + side * math.pi
local x = tf.concat({tf.cos(angle), tf.sin(angle)}, 1) * (turns * 2 + 0.2) + tf.random.normal({600, 2}, {stddev = 0.02, seed = 3, now = true})

local model = keras.Sequential{keras.layers.Dense(32, {activation = "tanh", input_shape = {2}}), Residual(32), Residual(32), keras.layers.Dense(1)}
model:summary()
model:compile{optimizer = keras.optimizers.Adam(0.01), loss = keras.losses.BinaryCrossentropy{from_logits = true}, metrics = {keras.metrics.BinaryAccuracy{threshold = 0}}}
model:fit(x, side, {epochs = tonumber(arg[1]) or 60, batch_size = 50, verbose = 0, callbacks = {keras.callbacks.EarlyStopping{monitor = "loss", patience = 10}}})
local loss, accuracy = model:evaluate(x, side, {verbose = 0})
local function gain(i) return keras.backend.get_value(model.layers[i].gain):item() end
print(("loss %.3f, accuracy %.3f, gains %.2f and %.2f"):format(loss, accuracy, gain(2), gain(3)))
