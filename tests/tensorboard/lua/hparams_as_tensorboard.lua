-- Hyperparameters are written as TensorBoard's own API does, byte by byte: data/hparams.json, recorded by record_hparams.py.
local tf = require "tfsdk"
local here = arg[0]:match "^.*/" or "./"
local t = dofile(here .. "support.lua")
local hp = tf.summary.hp
local file = assert(io.open(here .. "../data/hparams.json"))
local want = tf.json.decode(file:read "a")
file:close()
local function hex(s) return (s:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end
for name, value in pairs {rate = 0.01, units = 16, optimizer = "sgd", nesterov = true} do
  t.exact(name, hex(hp.hparams_pb({[name] = value}, {trial_id = "trial", start_time_secs = 1000.5})), want[name])
end
t.exact("config", hex(hp.hparams_config_pb(
  {hp.HParam("rate", hp.RealInterval(0.001, 0.1), "Rate", "how fast"), hp.HParam("units", hp.Discrete {8, 16}), hp.HParam("optimizer", hp.Discrete {"adam", "sgd"}),
    hp.HParam("layers", hp.IntInterval(1, 4)), hp.HParam("nesterov", hp.Discrete {false, true})},
  {hp.Metric("loss", {group = "validation", display_name = "Loss", description = "of the rest", dataset_type = "validation"})}, {time_created_secs = 5.25})), want.config)
t.exact("end", hex(hp.session_end_pb("failure", {end_time_secs = 7.5})), want["end"])
t.done() -- expect: ok
