-- What the workloads share: their command line, the timing loop, the line of JSON, and layers written with plain ops.
--
-- A workload begins with
--   local tf = require "tfsdk"
--   local bench = dofile((arg[0]:match "^(.*)/" or ".") .. "/common.lua")
-- builds its model, and ends with bench.time(step), where step() is one training or inference step. Options:
--   --mode train|infer   default train; bench.training tells
--   --steps N            time N steps; without it as many as a few seconds allow
--   --threads N          threads of the host devices; default: all processors
local tf = require "tfsdk"
local bench = {name = arg[0]:match "([^/]*)%.lua$", mode = "train"}

-- ------------------------------------------------------------------------------------- command line

local function fail(...)
  io.stderr:write(bench.name, ": ", string.format(...), "\n")
  os.exit(2)
end
local function whole(option, text)
  local n = math.tointeger(tonumber(text))
  if not n or n < 1 then fail("%s needs a number above 0, not '%s'", option, text or "") end
  return n
end
local i = 1
while arg[i] do
  local option, value = arg[i], arg[i + 1]
  if option == "--mode" and (value == "train" or value == "infer") then
    bench.mode = value
  elseif option == "--steps" then
    bench.steps = whole(option, value)
  elseif option == "--threads" then
    bench.threads = whole(option, value)
  else
    fail("there are --mode train|infer, --steps N and --threads N, not '%s %s'", option, value or "")
  end
  i = i + 2
end
bench.training = bench.mode == "train"

-- The runtime reads its number of threads when it starts, from the program's option or from the environment, which
-- a script cannot set: with --threads the script runs once more in an environment that has it.
if bench.threads and tonumber(os.getenv "TFSDK_THREADS") ~= bench.threads then
  local first = 0
  while arg[first - 1] do first = first - 1 end
  local words = {"TFSDK_THREADS=" .. bench.threads}
  for k = first, #arg do words[#words + 1] = "'" .. arg[k]:gsub("'", "'\\''") .. "'" end
  local _, _, code = os.execute(table.concat(words, " "))
  os.exit(code)
end

-- ------------------------------------------------------------------------------------- measuring

-- The peak of the process's resident memory so far, in bytes (Linux).
local function peak_memory()
  for line in io.lines "/proc/self/status" do
    local kilobytes = line:match "^VmHWM:%s*(%d+) kB"
    if kilobytes then return tonumber(kilobytes) * 1024 end
  end
end
local peak_before = peak_memory() -- the module is loaded, nothing is built

local function median(list)
  table.sort(list)
  local n = #list
  return n % 2 == 1 and list[n // 2 + 1] or (list[n // 2] + list[n // 2 + 1]) / 2
end

-- Runs step() until it is warm (the first call makes the plan), then times single calls and prints the line of JSON: milliseconds of the median
-- step, the number of steps, megabytes of peak memory since this file was loaded, and, where step() returns it, the loss
-- after the last step. Without --steps: up to 300 steps in about 5 seconds, but not fewer than 5.
function bench.time(step)
  step()
  local began = tf.time()
  for warm = 1, 20 do
    step()
    if warm >= 2 and tf.time() - began > 0.5 then break end
  end
  local times, loss = {}, nil
  began = tf.time()
  for n = 1, bench.steps or 300 do
    local from = tf.time()
    loss = step()
    local now = tf.time()
    times[n] = (now - from) * 1000
    if not bench.steps and n >= 5 and now - began > 5 then break end
  end
  local parameters = 0
  for _, v in ipairs(tf.trainable_variables()) do parameters = parameters + v:size() end
  print(('{"workload":"%s","mode":"%s","ms":%.4f,"n":%d,"peak_mb":%.1f,"parameters":%d%s}'):format(bench.name, bench.mode,
    median(times), #times, (peak_memory() - peak_before) / 1e6, parameters,
    type(loss) == "number" and (',"loss":%.6g'):format(loss) or ""))
end

-- ------------------------------------------------------------------------------------- data

-- Standard normal numbers, and whole numbers below `limit`: what a model is fed, the same at each run.
function bench.normal(shape) return tf.random.normal(shape, {seed = 1, now = true}) end
function bench.below(limit, shape) return tf.random.uniform(shape, {maxval = limit, dtype = "int64", seed = 2, now = true}) end

-- ------------------------------------------------------------------------------------- layers

local he = tf.initializers.he_normal()
local zeros, ones = tf.zeros_initializer(), tf.ones_initializer()

function bench.dense(x, name, units, activation)
  local w = tf.get_variable(name .. "/w", {x.shape[#x.shape], units}, {initializer = he})
  local b = tf.get_variable(name .. "/b", {units}, {initializer = zeros})
  local y = tf.nn.bias_add(tf.matmul(x, w), b)
  return activation and activation(y) or y
end

-- A SAME convolution of NHWC data with a bias and a ReLU.
function bench.conv(x, name, filters, size)
  local w = tf.get_variable(name .. "/w", {size, size, x.shape[4], filters}, {initializer = he})
  local b = tf.get_variable(name .. "/b", {filters}, {initializer = zeros})
  return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, {strides = 1, padding = "SAME"}), b))
end

-- Batch normalisation. In training it uses the batch's own statistics, and its updates of the moving ones wait in the
-- collection UPDATE_OPS for the training step; in inference it uses the moving ones.
function bench.batch_norm(x, name)
  local channels = {x.shape[4]}
  local scale = tf.get_variable(name .. "/scale", channels, {initializer = ones})
  local offset = tf.get_variable(name .. "/offset", channels, {initializer = zeros})
  local moving_mean = tf.get_variable(name .. "/moving_mean", channels, {initializer = zeros, trainable = false})
  local moving_variance = tf.get_variable(name .. "/moving_variance", channels, {initializer = ones, trainable = false})
  if not bench.training then
    return (tf.nn.fused_batch_norm(x, scale, offset, {mean = moving_mean, variance = moving_variance, is_training = false}))
  end
  local y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset, {is_training = true})
  for moving, now in pairs {[moving_mean] = mean, [moving_variance] = variance} do
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, moving:assign_sub((moving - now) * 0.1))
  end
  return y
end

-- Convolution without a bias, batch normalisation, and the activation where one is given.
function bench.conv_bn(x, name, filters, size, stride, activation)
  local w = tf.get_variable(name .. "/w", {size, size, x.shape[4], filters}, {initializer = he})
  local y = bench.batch_norm(tf.nn.conv2d(x, w, {strides = stride, padding = "SAME"}), name)
  return activation and activation(y) or y
end

-- Momentum SGD with the updates of the moving statistics in the same step.
function bench.minimize(loss)
  local together <close> = tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
  return tf.train.MomentumOptimizer(0.01, 0.9):minimize(loss)
end

return bench
