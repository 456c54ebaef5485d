-- The judge judged: what it must see, and what it must let pass.
--
--     tfsdk run tests/oracle/self_test.lua
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. package.path
local tf = require "tfsdk"
local compare = require "compare"
local exceptions = require "exceptions"

local failures = 0
local function expect(what, got, want)
  if got ~= want then
    failures = failures + 1
    print(("%s: got %s, want %s"):format(what, got, want))
  end
end

local inf, nan = math.huge, 0 / 0
local exact = {rtol = 0, atol = 0}
local function rule(changes) return setmetatable(changes, {__index = exact}) end

local function message(got, want, how, dtype)
  return (compare.differs(tf.tensor(got, dtype), tf.tensor(want, dtype), how or exact))
end

-- Tolerances: |got - want| <= atol + rtol |want|.
expect("equal", message({1, 2}, {1, 2}), nil)
expect("another number", message({1, 2.5}, {1, 2}), "[1]: got 2.5, want 2 (1 of 2 elements differ)")
expect("inside rtol", message({100}, {101}, rule {rtol = 0.01}), nil)
expect("outside rtol", message({100}, {102}, rule {rtol = 0.01}), "[0]: got 100, want 102 (1 of 1 elements differ)")
expect("inside atol", message({0.5}, {0}, rule {atol = 0.5}), nil)
expect("place", message({{1, 2}, {3, 4}}, {{1, 2}, {0, 4}}), "[1,0]: got 3, want 0 (1 of 4 elements differ)")

-- Integers exactly, whatever the tolerance.
expect("integers", message({7}, {8}, rule {rtol = 1, atol = 9}, "int64"), "[0]: got 7, want 8 (1 of 1 elements differ)")
expect("booleans", message({true}, {false}, exact, "bool"), "[0]: got 1, want 0 (1 of 1 elements differ)")
expect("strings", message({"a"}, {"b"}, exact, "string"), '[0]: got "a", want "b" (1 of 1 elements differ)')

-- Types and shapes exactly, also without elements.
local function typed(got, want) return (compare.differs(got, want, rule {rtol = 1})) end
expect("type", typed(tf.tensor({1}), tf.tensor({1}, "float64")), ": got type float32, want float64")
expect("shape", typed(tf.tensor({1}), tf.tensor(1)), ": got shape {1}, want {}")
expect("empty", typed(tf.tensor({}, "float32", {0, 2}), tf.tensor({}, "float32", {2, 0})),
  ": got shape {0,2}, want {2,0}")

-- What is not finite.
expect("nan is nan", message({nan}, {-nan}), nil)
expect("nan for a number", message({nan}, {1}, rule {rtol = inf}) ~= nil, true)
expect("number for nan", message({1}, {nan}, rule {rtol = inf}) ~= nil, true)
expect("a limit for nan", message({1}, {nan}, rule {nan_or_limit = true}), nil)
expect("no limit for nan", message({inf}, {nan}, rule {nan_or_limit = true}) ~= nil, true)
expect("infinity", message({inf, -inf}, {inf, -inf}), nil)
expect("its sign", message({inf}, {-inf}, rule {rtol = 1}) ~= nil, true)
expect("infinity for a number", message({inf}, {3e38}, rule {rtol = 1}) ~= nil, true)
expect("number for infinity", message({3e38}, {inf}, rule {rtol = 1}) ~= nil, true)
expect("zero's sign", message({-0.0}, {0.0}), nil)
expect("zero's sign counts", message({-0.0}, {0.0}, rule {signed_zero = true}) ~= nil, true)

-- 16 bits: 1.5 and the neighbour above it (IEEE 754 binary16, bfloat16).
for dtype, ulp in pairs {float16 = 2.0 ^ -10, bfloat16 = 2.0 ^ -7} do
  expect(dtype, message({1.5, 2.0 ^ -16, inf}, {1.5, 2.0 ^ -16, inf}, rule {signed_zero = true}, dtype), nil)
  expect(dtype .. " ulp", message({1.5 + ulp}, {1.5}, rule {atol = ulp}, dtype), nil)
  expect(dtype .. " outside", message({1.5 + ulp}, {1.5}, rule {atol = ulp * 0.9}, dtype) ~= nil, true)
end

-- Excepted elements: let pass, replaced, and told whether they were needed.
local function excepted(got, except)
  return compare.differs(tf.tensor(got), tf.tensor({1, 2}), rule {except = except})
end
expect("excepted", (excepted({1, 9}, {[1] = true})), nil)
expect("excepted is needed", select(2, excepted({1, 9}, {[1] = true})), false)
expect("excepted is not needed", select(2, excepted({1, 2}, {[1] = true})), true)
expect("others count", (excepted({0, 9}, {[1] = true})) ~= nil, true)
expect("right value", (excepted({1, 9}, {[1] = 9})), nil)
expect("not the right value", (excepted({1, 8}, {[1] = 9})), "[1]: got 8, want 9 (1 of 2 elements differ)")
for id, entry in pairs(exceptions.values) do expect(id .. " says why", type(entry.reason), "string") end

-- Static shapes.
expect("unknown rank", compare.may_be(nil, {2, 3}), true)
expect("unknown extent", compare.may_be({-1, 3}, {2, 3}), true)
expect("other extent", compare.may_be({-1, 4}, {2, 3}), false)
expect("other rank", compare.may_be({-1}, {2, 3}), false)

print(failures == 0 and "the judge is sound" or failures .. " failures")
os.exit(failures == 0 and 0 or 1)
