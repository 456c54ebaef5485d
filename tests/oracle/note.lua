-- What a test of recorded cases says of each of them, for tests/oracle/ledger.lua: where the environment names a file (TFSDK_LEDGER), a line
-- "FILE <tab> CASE <tab> passed|failed <tab> why" is written to it. FILE is the recorded file without its ending (layers/core).
--
--     local note = dofile(here .. "/../oracle/note.lua")
--     note("layers/core", case.id, ok, message)
local path = os.getenv "TFSDK_LEDGER"
if not path or path == "" then return function() end end
local file = assert(io.open(path, "w"))
file:setvbuf "line"
return function(family, id, ok, why)
  why = ok and "" or tostring(why):gsub("%s+", " ")
  file:write(table.concat({family, id, ok and "passed" or "failed", why}, "\t"), "\n")
end
