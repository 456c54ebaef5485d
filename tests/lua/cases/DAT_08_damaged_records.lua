-- DAT-08: a damaged file among three: what comes before the damage is delivered, then an error names file and byte; never all, never a huge
-- allocation, never a silent end; compressed files alike. 4 records a file, 16 bytes around each payload of 8: 24 bytes a record.
local tf = require "tfsdk"
local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir " .. folder)
local function path(name) return folder .. "/" .. name end
local function write(name, bytes)
  local file <close> = io.open(path(name), "wb")
  file:write(bytes)
end
local function records(name)
  local writer = tf.python_io.TFRecordWriter(path(name))
  for i = 1, 4 do writer:write(("record %d"):format(i)) end
  writer:close()
end
records "a"
records "b"
records "c"
local file = io.open(path "b", "rb")
local whole = file:read "a"
file:close()
print(#whole)                                                        -- expect: 96
local function read(names, compression)
  local paths, n = {}, 0
  for i, name in ipairs(names) do paths[i] = path(name) end
  local ok, e = pcall(function()
    for _ in tf.data.TFRecordDataset(paths, compression):iter() do n = n + 1 end
  end)
  print(n, ok or e.code, ok or e.message:gsub(folder, ""))
end
read {"a", "b", "c"}                                                 -- expect: 12	true	true
write("b", whole:sub(1, 2 * 24 + 10))                                -- cut inside the third record's head, then its payload
read {"a", "b", "c"}       -- expect: 6	DATA_LOSS	/b: the file ends inside the length of the record at byte 48
write("b", whole:sub(1, 2 * 24 + 15))
read {"a", "b", "c"}       -- expect: 6	DATA_LOSS	/b: a record needs 12 bytes from byte 60 on; the file can hold no more than 3
write("b", whole:sub(1, 48) .. string.pack("<I8", 1 << 60) .. whole:sub(57))
read {"a", "b", "c"}       -- expect: 6	DATA_LOSS	/b: damaged: the length of the record at byte 48 has a wrong checksum
for _, name in ipairs {"a", "c", "b"} do os.execute("gzip -kf " .. path(name)) end
read({"a.gz", "b.gz", "c.gz"}, "GZIP") -- expect: 6	DATA_LOSS	/b.gz: damaged: the length of the record at byte 48 has a wrong checksum
write("b", whole)
os.execute(("gzip -kf %s && head -c 55 %s > %s"):format(path "b", path "b.gz", path "cut.gz"))
read({"a.gz", "cut.gz", "c.gz"}, "GZIP") -- expect match: ^[4-7]	DATA_LOSS	/cut.gz: the compressed data is damaged after %d+ bytes of content: .*
os.execute("rm -r " .. folder)
