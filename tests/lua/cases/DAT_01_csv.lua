-- DAT-01: CSV: quotes, line breaks, missing fields, byte order mark.
-- Know: RFC 4180; the Python csv module gives the same three records.
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local lines = {'id,text,val', '1,"a,b",2.5', '2,"say ""hi""",', '3,"line1\nline2",-1e3'}
local crlf, lf = table.concat(lines, "\r\n") .. "\r\n", table.concat(lines, "\n") .. "\n"
local forms = {crlf = crlf, mark = "\xEF\xBB\xBF" .. crlf, lf = lf, ["no last line end"] = lf:sub(1, -2), ["blank lines"] = crlf .. "\r\n\r\n"}
local names = {"id", "text", "val"}
for form, bytes in pairs(forms) do
  local path = t.temporary(bytes, ".csv")
  local function check(label, x)
    t.exact(label .. " id", x.id, {1, 2, 3})
    t.exact(label .. " text", x.text, {"a,b", 'say "hi"', "line1\nline2"})
    t.exact(label .. " val", x.val, {2.5, -9, -1000})
  end
  for buffer = 1, 64 do
    local ds = tf.data.csv(path, {defaults = {"", "", "-9"}, buffer_size = buffer})
    t.exact(form .. " header", ds.components, names)
    for x in ds:batch(10):iter() do check(("%s, buffer %d"):format(form, buffer), x) end
  end
  check(form .. " whole", tf.read_csv(path, {defaults = {"", "", "-9"}}))
end
-- Faults: error with file and line.
local function fault(label, bytes, options, ...)
  local path = t.temporary(bytes, ".csv")
  local name = path:match "[^/]*$"
  t.raises(label, function() return tf.read_csv(path, options) end, name, ...)
end
fault("a field too few", "id,text,val\n1,a,2\n2,b\n", {}, ":3", "2 fields")
fault("a field too many", "id,text,val\n1,a,2\n2,b,3,4\n", {}, ":3", "4 fields")
fault("a required value", lf, {}, ":3", "val")
fault("an open quote", 'id,text\n1,a\n2,"b\n', {}, ":3", "quote")
fault("3000000000 as int32", "id\n1\n3000000000\n", {types = {"int32"}}, ":3", "3000000000", "int32")
fault("1,5 as a number", 'a,b\n"1,5",2\n', {types = {"float32", "float32"}, header = "yes"}, ":2", "1,5")
t.raises("no such file", function() return tf.read_csv "/no/such/file.csv" end, "/no/such/file.csv")
-- A field of 100 KB.
local long = ("x,\n"):rep(34134):sub(1, 102400)
local got = tf.read_csv(t.temporary('a,b\n1,"' .. long .. '"\n2,z\n', ".csv"))
t.check("a field of 100 KB", got.b[1]:item() == long, #got.b[1]:item(), #long)
t.remove_temporary()
t.done() -- expect: ok
