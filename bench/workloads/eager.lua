-- eager: 10,000 additions of 4 numbers, define-by-run: what an op costs. Training does them under a tape, with the
-- gradient of the sum and an update.
local tf = require "tfsdk"
local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")
tf.enable_eager_execution()

local x = bench.normal{4}
local w = tf.Variable(tf.random.normal({4}, {seed = 3}), {name = "w"})
local optimizer = tf.train.MomentumOptimizer(0.01, 0.9)

local function chain(y)
  local sum = x
  for _ = 1, 10000 do sum = sum + y end
  return sum
end

local function train()
  local tape <close> = tf.GradientTape()
  local loss = tf.reduce_sum(chain(w:value()))
  optimizer:apply_gradients(tape:gradient(loss, {w}), {w})
  return loss:item()
end

local constant = w:value()
bench.time(bench.training and train or function() return chain(constant) end)
