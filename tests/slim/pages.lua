-- The blocks of Lua in docs/slim.md run as they stand, each in a graph of its own.
local tf = require "tfsdk"
local here = arg[0]:match "^(.*)/" or "."
local file = assert(io.open(here .. "/../../docs/slim.md"))
local text = file:read "a"
file:close()
local n, wrong = 0, 0
for block in text:gmatch "```lua\n(.-)```" do
  n = n + 1
  local ok, why = xpcall(function() tf.Graph():as_default(assert(load(block, "block " .. n))) end, function(e) return tostring(e) end)
  if not ok then
    wrong = wrong + 1
    print(("block %d: %s"):format(n, why))
  end
end
print(("pages: %d blocks, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and n > 0 and 0 or 1, true)
