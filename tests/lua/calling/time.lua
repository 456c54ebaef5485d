-- tf.time(): seconds of a clock that measures spans: it never steps back, it tells far less than a
-- microsecond, and it goes on while nothing computes (os.clock, the processor's time, does not).
local tf = require "tfsdk"

local now = tf.time()
print(math.type(now)) -- expect: float

local back, smallest = 0, math.huge
for _ = 1, 10000 do
  local t = tf.time()
  if t < now then back = back + 1 end
  if t > now then smallest = math.min(smallest, t - now) end
  now = t
end
print(back)            -- expect: 0
print(smallest < 1e-5) -- expect: true

local cpu, from = os.clock(), tf.time()
os.execute "sleep 0.1"
print(tf.time() - from >= 0.1, os.clock() - cpu < 0.1) -- expect: true	true
