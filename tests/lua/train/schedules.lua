-- Learning rates (features page 3.2: the formulas) at step 5 of 10.
local tf = require "tfsdk"
local step = tf.Variable(tf.tensor(5, "int64"), {trainable = false})
local list = {
  {tf.train.exponential_decay(1.0, step, 10, 0.5), 0.5 ^ 0.5},
  {tf.train.exponential_decay(1.0, step, 10, 0.5, {staircase = true}), 1},
  {tf.train.natural_exp_decay(1.0, step, 10, 0.5), math.exp(-0.25)},
  {tf.train.inverse_time_decay(1.0, step, 10, 0.5), 1 / 1.25},
  {tf.train.polynomial_decay(1.0, step, 10), (1 - 1e-4) * 0.5 + 1e-4},
  {tf.train.piecewise_constant(step, {5, 8}, {1.0, 0.1, 0.01}), 1.0},
  {tf.train.piecewise_constant(step, {4, 8}, {1.0, 0.1, 0.01}), 0.1},
  {tf.train.cosine_decay(1.0, step, 10), 0.5 * (1 + math.cos(math.pi / 2))},
  {tf.train.linear_cosine_decay(1.0, step, 10), 0.5 * (0.5 * (1 + math.cos(math.pi * 0.5))) + 0.001},
}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local wrong = 0
for i, pair in ipairs(list) do
  local got = sess:run(pair[1])
  if math.abs(got - pair[2]) > 1e-6 then wrong = wrong + 1 print(i, got, pair[2]) end
end
print(#list, wrong) -- expect: 9	0
