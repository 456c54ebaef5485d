-- tf.custom_gradient and gradient_override_map, in graphs and define-by-run. Expected are derivatives by formula.
local tf = require "tfsdk"
local wrong, n = 0, 0
local function check(what, got, want)
  n = n + 1
  if got ~= want then
    wrong = wrong + 1
    print(("wrong: %s: %s, want %s"):format(what, tostring(got), tostring(want)))
  end
end
local function near(what, got, want) check(what, type(got) == "number" and math.abs(got - want) < 1e-5 * math.max(1, math.abs(want)) and want or got, want) end
local function fails(what, words, fn, ...)
  local ok, message = pcall(fn, ...)
  check(what, ok and "no error" or tostring(message):find(words, 1, true) and words or tostring(message), words)
end

-- Runs body(gradients, number) in both modes: gradients(build, values) gives numbers: d build(values...)[1] / d values.
local function both(body)
  tf.eager(function()
    body("eager", function(build, values, variables)
      local xs = {}
      for i, v in ipairs(values) do xs[i] = tf.constant(v) end
      local tape <close> = tf.GradientTape()
      for _, x in ipairs(xs) do tape:watch(x) end
      local y = build(table.unpack(xs))
      local sources = {table.unpack(xs)}
      for _, v in ipairs(variables and variables() or {}) do sources[#sources + 1] = v end
      local out = {}
      for i, g in ipairs(tape:gradient(y, sources)) do out[i] = g and g:item() end
      return out, y:item()
    end)
  end)
  local g = tf.Graph()
  local s <close> = g:as_default()
  body("graph", function(build, values, variables)
    local xs = {}
    for i, v in ipairs(values) do xs[i] = tf.placeholder_with_default(tf.constant(v), {}) end
    local y = build(table.unpack(xs))
    local sources = {table.unpack(xs)}
    for _, v in ipairs(variables and variables() or {}) do sources[#sources + 1] = v end
    local grads = tf.gradients(y, sources)
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    return sess:run(grads), sess:run(y)
  end)
end

local log1pexp = tf.custom_gradient(function(x)
  local e = tf.exp(x)
  return tf.log(e + 1), function(dy) return dy * (-1 / (e + 1) + 1) end
end)
tf.RegisterGradient "Triple" (function(op, dy) return dy * 3 * op.inputs[1] end)
-- Springenberg et al. 2014: only what was positive, and only gradients that are
tf.RegisterGradient "Guided" (function(op, dy)
  local zero = tf.zeros_like(dy)
  return tf.where(tf.greater(op.outputs[1], 0), tf.where(tf.greater(dy, 0), dy, zero), zero)
end)
tf.RegisterGradient "Flow" (function(_, dy) return dy end)

both(function(mode, gradients)
  local function say(what) return mode .. ": " .. what end
  -- TensorFlow's example: the plain derivative at 100 is NaN
  local g = gradients(log1pexp, {100.0})
  near(say "log1pexp at 100", g[1], 1)
  near(say "log1pexp at 0", gradients(log1pexp, {0.0})[1], 0.5)
  near(say "chained", gradients(function(x) return log1pexp(x * 2) * 5 end, {0.0})[1], 5)

  -- several arguments and results; one is not used, one has no gradient
  local swap = tf.custom_gradient(function(a, b)
    return a * b, a + b, function(dy, dz) return dy * 10 + dz, {} and false end
  end)
  g = gradients(function(a, b)
    local p, s = swap(a, b)
    return p + s * 2
  end, {3.0, 4.0})
  near(say "two results", g[1], 12)
  check(say "an argument without gradient", g[2], false)
  g = gradients(function(a, b) return (swap(a, b)) end, {3.0, 4.0})
  near(say "a result that is not used has gradient 0", g[1], 10)

  -- a variable read inside
  local w
  g = gradients(function(x)
    w = w or tf.Variable(2.0, {name = "w"})
    return tf.custom_gradient(function(v)
      return v * w, function(dy, more)
        check(say "the variables", #more.variables == 1 and more.variables[1], w)
        return dy * 100, {dy * 1000}
      end
    end)(x)
  end, {3.0}, function() return {w} end)
  near(say "gradient of the argument", g[1], 100)
  near(say "gradient of the variable", g[2], 1000)

  -- the gradient has a gradient of its own: cube with 3x^2 written by hand gives 6x
  local cube = tf.custom_gradient(function(x) return x * x * x, function(dy) return dy * 3 * x * x end end)
  if mode == "graph" then
    local x = tf.placeholder_with_default(tf.constant(5.0), {})
    local first = tf.gradients(cube(x), x)[1]
    local sess <close> = tf.Session()
    near(say "second derivative", sess:run(tf.gradients(first, x)[1]), 30)
  else
    local x = tf.constant(5.0)
    local outer <close> = tf.GradientTape()
    outer:watch(x)
    local inner <close> = tf.GradientTape()
    inner:watch(x)
    near(say "second derivative", outer:gradient(inner:gradient(cube(x), {x})[1], {x})[1]:item(), 30)
  end

  -- ops of a scope
  near(say "override", gradients(function(x)
    return tf.gradient_override_map({Square = "Triple"}, function() return tf.square(x) end)
  end, {5.0})[1], 15)
  near(say "outside of the scope", gradients(tf.square, {5.0})[1], 10)
  near(say "the innermost counts", gradients(function(x)
    local outer <close> = tf.gradient_override_map{Square = "Flow"}
    return tf.gradient_override_map({Square = "Triple"}, function() return tf.square(x) end)
  end, {5.0})[1], 15)
  -- an op without a gradient gets one; rounding lets everything through
  near(say "straight through", gradients(function(x)
    return tf.gradient_override_map({Round = "Flow"}, function() return tf.round(x) * 7 end)
  end, {2.4})[1], 7)
  -- the op is emitted by a layer written in C
  near(say "inside a layer, down", gradients(function(x)
    return tf.gradient_override_map({Relu = "Guided"}, function()
      return -tf.reduce_sum(tf.layers.dense(tf.reshape(x, {1, 1}), 1, {activation = tf.nn.relu, use_bias = false, kernel_initializer = tf.ones_initializer(), name = "guided" .. mode}))
    end)
  end, {2.0})[1], 0)

  fails(say "an unknown gradient", "did you mean 'Guided'?", tf.gradient_override_map, {Relu = "Guide"})
  fails(say "an unknown op", "Squared", tf.gradient_override_map, {Squared = "Guided"})
  fails(say "too few gradients", "gives 1 gradients for 2 arguments", gradients,
    tf.custom_gradient(function(a, b) return a * b, function(dy) return dy end end), {1.0, 2.0})
  fails(say "no function", "its result and a function for its gradient", gradients, tf.custom_gradient(function(a) return a end), {1.0})
  fails(say "an error inside", "from the script", gradients,
    tf.custom_gradient(function(a) return a * 2, function() error("from the script", 0) end end), {1.0})
  fails(say "a wrong shape", "the gradient of input", gradients,
    tf.custom_gradient(function(a) return a * 2, function() return tf.ones{3} end end), {1.0})
end)

-- the method of graphs, as in TensorFlow
local g = tf.Graph()
g:as_default(function()
  local x = tf.constant(5.0)
  local y = g:gradient_override_map({Square = "Triple"}, function() return tf.square(x) end)
  check("the op keeps its type", y.op.type, "Square")
  local sess <close> = tf.Session()
  near("method", sess:run(tf.gradients(y, x)[1]), 15)
end)

if wrong > 0 then error(("%d of %d are wrong"):format(wrong, n), 0) end
print(("%d checks"):format(n))
