-- What the environment says wrongly is told by its name; results that get lost on the way to standard output end in exit code 1.
local tf = require "tfsdk"
local program, script = arg[-2], os.tmpname()
local file = io.open(script, "w")
file:write 'print(require "tfsdk".zeros({2}, {now = true}):sum():item())'
file:close()
local function run(environment, output)
  local pipe = io.popen(("%s %s run %s 2>&1 %s; echo $?"):format(environment, program, script, output or ""))
  print((pipe:read "a":gsub("\n$", ""):gsub("\n", " | "):gsub("^tfsdk: [^:]*:1: [%w_.]*: ", "")))
  pipe:close()
end
run("TFSDK_THREADS=2 TFSDK_LOG_LEVEL=error")  -- expect: 0.0 | 0
run("TFSDK_THREADS= TFSDK_LOG_LEVEL=")        -- expect: 0.0 | 0
run("TFSDK_THREADS=0")                        -- expect: 0.0 | 0
run("TFSDK_THREADS=two")
-- expect: the environment variable TFSDK_THREADS is 'two'; it takes a number of threads, 0 for as many as there are processors | 1
run("TFSDK_THREADS=-1")
-- expect: the environment variable TFSDK_THREADS is '-1'; it takes a number of threads, 0 for as many as there are processors | 1
run("TFSDK_LOG_LEVEL=loud")
-- expect: the environment variable TFSDK_LOG_LEVEL is 'loud'; there are debug, info, warning, error and none | 1
run("", ">/dev/full")                         -- expect: tfsdk: standard output could not be written | 1
os.remove(script)
