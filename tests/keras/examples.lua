-- The examples of examples/keras run, and learn: few epochs here, so the bars are lower than what their whole runs reach.
local here = arg[0]:match "^(.*)/" or "."
local program = arg[-2] or "tfsdk"
local runs = {
  -- 40 epochs, its default, reach 0.98
  {"mnist_cnn.lua", "'' 8", "test accuracy: ([%d.]+)", 0.92},
  {"custom_layer.lua", "60", "accuracy ([%d.]+)", 0.95},
}
local wrong = 0
for _, r in ipairs(runs) do
  local pipe = io.popen(("'%s' run '%s/../../examples/keras/%s' %s 2>/dev/null"):format(program, here, r[1], r[2]))
  local text = pipe:read "a"
  local ok = pipe:close()
  local got = tonumber(text:match(r[3]))
  if not ok or not got or got < r[4] then
    wrong = wrong + 1
    print(("%s: %s, at least %s is wanted"):format(r[1], got and tostring(got) or "no figure", r[4]))
    if not got then print(text) end
  end
end
print(("examples: %d run, %d wrong"):format(#runs, wrong))
os.exit(wrong == 0 and 0 or 1, true)
