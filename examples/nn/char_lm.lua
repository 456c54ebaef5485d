-- A language model of characters: a recurrent cell written as a Lua loop over nn modules, define-by-run.
-- Usage: tfsdk run examples/nn/char_lm.lua [TEXT FILE] [STEPS]; without a file it reads this project's own README.
local tf = require "tfsdk"
local nn, optim = tf.torch.nn, tf.torch.optim
local here = arg[0]:match "^(.*)/[^/]*$" or "."
local path = arg[1] and arg[1] ~= "" and arg[1] or here .. "/../../README.md"
local steps = tonumber(arg[2]) or 300
local file = assert(io.open(path))
local text = file:read "a"
file:close()

-- Characters as numbers from 0.
local ids, letters = {}, {}
for c in text:gmatch(utf8.charpattern) do
  if not ids[c] then
    letters[#letters + 1] = c
    ids[c] = #letters - 1
  end
end
local codes = {}
for c in text:gmatch(utf8.charpattern) do codes[#codes + 1] = ids[c] end
print(("%d characters, %d different ones; knowing nothing costs %.3f nats each"):format(#codes, #letters, math.log(#letters)))

local WIDTH, LENGTH, BATCH = 96, 24, 16
-- A gated unit: how much of the old state stays, and what is new (Cho et al., 2014, without the reset gate).
local Net = nn.Module:extend("CharLM", {
  init = function(self)
    self.embed = nn.Embedding(#letters, 32)
    self.gate = nn.Linear(32 + WIDTH, WIDTH)
    self.new = nn.Linear(32 + WIDTH, WIDTH)
    self.out = nn.Linear(WIDTH, #letters)
  end,
  step = function(self, id, state)
    local both = tf.concat({self.embed(id), state}, 1)
    local keep = tf.sigmoid(self.gate(both))
    state = keep * state + (1 - keep) * tf.tanh(self.new(both))
    return self.out(state), state
  end})

tf.set_random_seed(1)
math.randomseed(1)
tf.eager(function()
  local net, loss = Net(), nn.CrossEntropyLoss()
  local opt = optim.Adam(net:parameters(), {lr = 0.004})
  local zero = tf.zeros{BATCH, WIDTH}
  local shown, sum = 0, 0
  for n = 1, steps do
    local columns = {} -- columns[t][b]: character t of snippet b
    for t = 1, LENGTH + 1 do columns[t] = {} end
    for b = 1, BATCH do
      local at = math.random(#codes - LENGTH)
      for t = 1, LENGTH + 1 do columns[t][b] = codes[at + t - 1] end
    end
    local tape <close> = tf.GradientTape()
    local state, total = zero, 0
    for t = 1, LENGTH do
      local logits
      logits, state = net:step(tf.tensor(columns[t], "int64"), state)
      total = total + loss(logits, tf.tensor(columns[t + 1], "int64"))
    end
    total = total / LENGTH
    tape:stop()
    local grads = nn.utils.clip_grad_norm(tape:gradient(total, net:parameters()), 5)
    opt:step(grads)
    shown, sum = shown + 1, sum + total:item()
    if n % math.max(1, steps // 5) == 0 then
      print(("step %4d: %.3f nats a character"):format(n, sum / shown))
      shown, sum = 0, 0
    end
  end

  local state, id, out = tf.zeros{1, WIDTH}, ids["t"] or 0, {}
  for _ = 1, 120 do
    local logits
    logits, state = net:step(tf.tensor({id}, "int64"), state)
    local p, r = tf.nn.softmax(logits * 1.3):reshape{-1}:table(), math.random()
    for i, v in ipairs(p) do
      r = r - v
      if r <= 0 or i == #p then
        id = i - 1
        break
      end
    end
    out[#out + 1] = letters[id + 1]
  end
  print("it writes: " .. table.concat(out):gsub("\n", " "))
end)
