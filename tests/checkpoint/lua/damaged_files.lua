-- Damaged files: refused with the file's name and a reason, or read; never a crash, nor memory for absurd sizes.
-- Know: what was done to each file, tests/data/checkpoint/damaged.json.
local here = arg[0]:match "^.*/" or "./"
package.path = here .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local root = here .. "../../data/checkpoint/"
local file = assert(io.open(root .. "damaged.json"))
local cases = tf.json.decode(file:read "a").cases
file:close()
local peak = t.process "VmPeak"
local refused = 0
for _, c in ipairs(cases) do
  local path = root .. c.path
  local ok, fault = pcall(function()
    if c.id:find "^state" then tf.train.latest_checkpoint(path:match "^(.*)/") else tf.train.load_checkpoint(path):get_tensors() end
  end)
  fault = tostring(fault)
  if c.must == "error" then t.check(c.id .. " (" .. c.damage .. ")", not ok) end
  if c.must == "accept" then t.check(c.id, ok, fault) end
  if not ok then
    refused = refused + 1
    t.check(c.id .. ": names the file", fault:find(path:match "damaged/.*" or c.path, 1, true) ~= nil, fault)
    t.check(c.id .. ": gives a reason", #fault > #path + 20, fault)
  end
end
-- A whole PyTorch module is a pickle that names code: nothing of it is run (tests/data/checkpoint/torch_files).
t.raises("code in a pickle", function() tf.train.load_checkpoint(root .. "torch_files/module.pth") end, "torch_files/module.pth", "'Linear' of 'torch.nn.modules.linear'")
t.check("most are refused", refused > 80, refused)
if peak and not t.sanitized() then t.check("no absurd memory", t.process "VmPeak" - peak < 1000000, t.process "VmPeak" - peak, "below 1 GB") end
t.exact("the next call", tf.train.load_variable(root .. "checkpoints/rotation/model.ckpt-4", tf.train.list_variables(root .. "checkpoints/rotation/model.ckpt-4")[1][1]):size() > 0, true)
t.done() -- expect: ok
