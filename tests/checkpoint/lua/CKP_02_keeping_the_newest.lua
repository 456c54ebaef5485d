-- CKP-02: keeping only the newest files, whatever the prefix looks like, and after a restart.
-- Know: counting; tensorflow/tensorflow#10755, #16025, #16215, #13381.
package.path = (arg[0]:match "^.*/" or "./") .. "../../lua/cases/?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"
local folder = os.tmpname()
os.remove(folder)
local function sh(command) assert(os.execute(command)) end
local function files()
  local out, pipe = {}, io.popen("ls '" .. folder .. "'")
  for line in pipe:lines() do out[#out + 1] = line end
  pipe:close()
  return out
end
local function has(name) for _, f in ipairs(files()) do if f == name then return true end end return false end
local v = tf.Variable(tf.tensor(0, "int64"), {name = "v"})
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
local function save(saver, prefix, first, last)
  for step = first, last do
    sess:run(tf.assign(v, tf.tensor(step, "int64")))
    saver:save(sess, prefix, {global_step = step})
  end
end
local function check(label, name, steps)
  for step = 1, 13 do
    local there = has(("%s-%d.json"):format(name, step))
    local wanted = false
    for _, s in ipairs(steps) do wanted = wanted or s == step end
    t.check(("%s: step %d"):format(label, step), there == wanted, there, wanted)
    t.check(("%s: data of step %d"):format(label, step), has(("%s-%d.safetensors"):format(name, step)) == wanted)
  end
end
for label, case in pairs {
  ["with a folder"] = {"./model", "model"}, ["without one"] = {"model", "model"},
  ["absolute"] = {folder .. "/model", "model"}, ["pattern characters"] = {"m[1]*", "m[1]*"}} do
  sh("rm -rf '" .. folder .. "' && mkdir '" .. folder .. "'")
  sh("echo mine > '" .. folder .. "/model-99.txt'")
  local script = t.temporary(([[
    local tf = require "tfsdk"
    local v = tf.Variable(tf.tensor(0, "int64"), {name = "v"})
    local sess <close> = tf.Session()
    sess:run(tf.global_variables_initializer())
    local saver = tf.train.Saver{max_to_keep = 3}
    for step = tonumber(arg[2]), tonumber(arg[3]) do
      sess:run(tf.assign(v, tf.tensor(step, "int64")))
      saver:save(sess, arg[1], {global_step = step})
    end
  ]]), ".lua")
  local function run(first, last)
    sh(("cd '%s' && '%s' run '%s' '%s' %d %d"):format(folder, arg[-2]:sub(1, 1) == "/" and arg[-2] or io.popen("pwd"):read "l" .. "/" .. arg[-2], script, case[1], first, last))
  end
  run(1, 10)
  check(label, case[2], {8, 9, 10})
  run(11, 13) -- another process: it takes over what is there
  check(label .. ", restarted", case[2], {11, 12, 13})
  t.check(label .. ": the user's file", has "model-99.txt")
  -- The folder is moved: paths in the state file are relative to it.
  sh(("rm -rf '%s.moved' && mv '%s' '%s.moved'"):format(folder, folder, folder))
  local latest = tf.train.latest_checkpoint(folder .. ".moved")
  if label ~= "absolute" then t.exact(label .. ": moved", latest, ("%s.moved/%s-13"):format(folder, case[2])) end
  t.exact(label .. ": its value", tf.train.load_variable(folder .. ".moved", "v"), 13)
  sh(("rm -rf '%s.moved'"):format(folder))
end
-- 0 keeps all and lists all.
sh("mkdir '" .. folder .. "'")
local all = tf.train.Saver {max_to_keep = 0}
save(all, folder .. "/model", 1, 7)
check("keeping all", "model", {1, 2, 3, 4, 5, 6, 7})
t.exact("all are listed", #tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths, 7)
t.exact("by the saver, too", #all:last_checkpoints(), 7)
-- Two savers in one folder do not remove each other's files.
local best = tf.train.Saver {max_to_keep = 1}
save(best, folder .. "/best", 3, 5)
t.check("another saver's files stay", has "model-1.json" and has "best-5.json" and not has "best-4.json")
-- One checkpoint an hour stays for good; times are those of saving.
sh("rm -rf '" .. folder .. "' && mkdir '" .. folder .. "'")
local hourly = tf.train.Saver {max_to_keep = 2, keep_checkpoint_every_n_hours = 1}
save(hourly, folder .. "/model", 1, 2)
local now = os.time()
hourly:set_last_checkpoints_with_time {{folder .. "/model-1", now + 3601}, {folder .. "/model-2", now + 3602}}
save(hourly, folder .. "/model", 3, 4)
t.check("the one that is older than an hour stays", has "model-1.json")
t.check("the next one goes", not has "model-2.json")
check("hourly", "model", {1, 3, 4})
sh("rm -rf '" .. folder .. "'")
t.remove_temporary()
t.done() -- expect: ok
