-- For faults.sh: trains 200 steps with a log in arg[1], whatever becomes of the log.
local tf = require "tfsdk"
local folder = arg[1]
local w = tf.Variable(tf.tensor(0.0), {name = "w"})
local step = tf.assign_add(w, tf.tensor(1.0))
tf.summary.scalar("weight", step)
local merged = tf.summary.merge_all()
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local writer = tf.summary.FileWriter(folder)
for i = 1, 200 do
  writer:add_summary(sess:run(merged), i)
  writer:add_summary(tf.Summary{value = {{tag = "more", simple_value = i}}}, i)
end
print(("trained %d"):format(sess:run(w)))
local function try(what, fn)
  local ok, why = pcall(fn)
  print(what .. ": " .. (ok and "fine" or why.code .. ": " .. why.message))
end
try("flush", function() writer:flush() end)
collectgarbage()
writer:add_summary(tf.Summary{value = {{tag = "after", simple_value = 1}}}, 201)
try("close", function() writer:close() end)
local highest, after = 0, 0
local pipe = io.popen("ls '" .. folder .. "' 2>/dev/null")
for name in pipe:lines() do
  for e in tf.train.summary_iterator(folder .. "/" .. name) do
    for _, v in ipairs(e.summary and e.summary.value or {}) do
      if v.tag == "after" then after = after + 1 elseif v.tag == "weight" then highest = math.max(highest, e.step) end
    end
  end
end
pipe:close()
print("steps read: " .. highest)
print("after: " .. after)
