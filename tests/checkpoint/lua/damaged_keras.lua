-- Damaged .keras files: no model comes of them, nothing is unpacked, and no name in them is looked up but as a layer.
-- Know: what was done to each file, tests/data/checkpoint/damaged_keras.json.
local here = arg[0]:match "^.*/" or "./"
package.path = here .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local root = here .. "../../data/checkpoint/"
local file = assert(io.open(root .. "damaged_keras.json"))
local cases = tf.json.decode(file:read "a").cases
file:close()
for _, c in ipairs(cases) do
  local ok, fault = pcall(tf.keras.models.load_model, root .. c.path)
  if c.must == "error" then t.check(c.id .. " (" .. c.damage .. ")", not ok) end
  if c.must == "accept" then t.check(c.id, ok, tostring(fault)) end
  if not ok then t.check(c.id .. ": gives a reason", #tostring(fault) > 30, tostring(fault)) end
end
t.exact("cases", #cases, 11)
for _, name in ipairs {root .. "escape.txt", root .. "damaged/escape.txt", "escape.txt"} do t.check("nothing was unpacked", io.open(name) == nil) end
t.done() -- expect: ok
