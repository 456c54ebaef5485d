-- Damaged graph files: refused with the file's name, a reason, and a code that fits the damage; or read.
-- Know: what was done to each file, tests/data/saved_model/damaged.json.
local here = arg[0]:match "^.*/" or "./"
package.path = here .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local root = here .. "../../data/saved_model/"
local file = assert(io.open(root .. "damaged.json"))
local cases = tf.json.decode(file:read "a").cases
file:close()
local codes = {truncated = "DATA_LOSS", encoding = "DATA_LOSS", duplicate = "DATA_LOSS", limits = "RESOURCE_EXHAUSTED", unsupported = "NOT_FOUND",
  bounds = "INVALID_ARGUMENT", missing = "DATA_LOSS", invalid = "DATA_LOSS INVALID_ARGUMENT", mismatch = "DATA_LOSS INVALID_ARGUMENT"}
local peak, refused = t.process "VmPeak", 0
for _, c in ipairs(cases) do
  local path = root .. "damaged/" .. c.open
  local ok, result = pcall(tf.saved_model.load, path)
  if c.must == "error" then
    refused = refused + 1
    t.check(c.id .. " (" .. c.damage .. ")", not ok)
    if not ok then
      local text = tostring(result)
      t.check(c.id .. ": names the file", text:find("damaged/" .. c.open, 1, true) ~= nil, text)
      t.check(c.id .. ": its code", codes[c.kind]:find(result.code, 1, true) ~= nil, result.code, codes[c.kind])
      t.check(c.id .. ": gives a reason", #text > #path + 20, text)
    end
  else
    t.check(c.id, ok, tostring(result))
  end
end
t.exact("refused", refused, 16)
if peak and not t.sanitized() then t.check("no absurd memory", t.process "VmPeak" - peak < 500000, t.process "VmPeak" - peak) end
-- What they say of it
local function says(name, ...)
  local ok, fault = pcall(tf.saved_model.load, root .. "damaged/" .. name)
  for _, words in ipairs {...} do t.check(name .. " says " .. words, not ok and tostring(fault):find(words, 1, true) ~= nil, tostring(fault)) end
end
says("duplicate.pb", "'a'")
says("missing_input.pb", "'y'", "'a'")
says("cycle.pb", "circle", "'x'", "'y'")
says("unknown_op.pb", "'NoSuchOp'", "no plugin provides")
says("output_index.pb", "output 3", "'a'")
says("content_short.pb", "7 bytes", "16")
says("text_field.pbtxt", "line 44", "no_such_field")
says("type.pb", "'T'")
-- One value fills the tensor
local m <close> = tf.saved_model.load(root .. "damaged/fill.pb")
local constant
for _, op in ipairs(m.graph:get_operations()) do if op.type == "Const" then constant = op.outputs[1] end end
local filled = m.session:run(constant)
t.exact("filled", {filled.shape[1], filled.shape[2], filled[1][1]:item() == filled[2][2]:item()}, {2, 2, true})
t.raises("no such file", function() tf.saved_model.load(root .. "gone.pb") end, "gone.pb")
t.raises("an empty folder", function() tf.saved_model.load(root .. "damaged") end, "no saved model")
t.raises("another format", function() tf.saved_model.load(root .. "graphs.safetensors") end, "graphs.safetensors")
t.done() -- expect: ok
