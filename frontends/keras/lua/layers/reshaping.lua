-- Zero padding, cropping and up-sampling of 1 to 3 axes.
local _, T = ...
local layer = T.keras_layer
local words = {"batch, steps, channels", "batch, rows, columns, channels", "batch, depth, rows, columns, channels"}

-- A number; a number for each axis; a pair for each axis; for one axis a pair. As Keras writes them down: pairs.
local function both_sides(self, path, n, name)
  local value, out = self[name], {}
  local function bad()
    local text = type(value) == "table" and "a list of " .. #value or tostring(value)
    T.fail(path, "'%s' must be a number, %s, or a pair for each axis, of whole numbers of 0 or more, not %s", name, n == 1 and "a pair" or ("a list of %d"):format(n), text)
  end
  if type(value) == "number" then
    for i = 1, n do out[i] = {value, value} end
  elseif type(value) ~= "table" then bad()
  elseif n == 1 and type(value[1]) == "number" then
    if #value > 2 then bad() end
    out[1] = {value[1], value[2] or value[1]}
  elseif #value ~= n then bad()
  else
    for i = 1, n do
      if type(value[i]) == "table" and #value[i] ~= 2 then bad() end
      out[i] = type(value[i]) == "table" and {value[i][1], value[i][2]} or {value[i], value[i]}
    end
  end
  local flat = {}
  for i = 1, n do
    for k = 1, 2 do
      if math.type(out[i][k]) ~= "integer" or out[i][k] < 0 then bad() end
      flat[#flat + 1] = out[i][k]
    end
  end
  rawset(self, name, n == 1 and out[1] or out)
  rawset(self, "sides", flat)
end
for n = 1, 3 do
  layer(("ZeroPadding%dD"):format(n), "padding=1 data_format?", {
    record = ("zero_padding%dd"):format(n), ndim = n + 2, axes_text = "(" .. words[n] .. ")",
    init = function(self, path)
      both_sides(self, path, n, "padding")
      T.keras_format(self, path)
    end,
    call = function(self, x) return (self:run_record({x}, {padding = self.sides, data_format = self.data_format})) end})
  layer(("Cropping%dD"):format(n), "cropping=" .. (n == 2 and "0" or "1") .. (n > 1 and " data_format?" or ""), {
    record = ("cropping%dd"):format(n), ndim = n + 2, axes_text = "(" .. words[n] .. ")",
    init = function(self, path)
      both_sides(self, path, n, "cropping")
      if n > 1 then T.keras_format(self, path) end
    end,
    call = function(self, x) return (self:run_record({x}, {cropping = self.sides, data_format = self.data_format})) end})
  layer(("UpSampling%dD"):format(n), "size=2" .. (n > 1 and " data_format?" or "") .. (n == 2 and " interpolation=nearest" or ""), {
    record = ("up_sampling%dd"):format(n), ndim = n + 2, axes_text = "(" .. words[n] .. ")",
    init = function(self, path)
      T.keras_spread(self, path, n, 1, "size")
      if n > 1 then T.keras_format(self, path) end
      if n == 1 then rawset(self, "size", self.size[1]) end
      if n == 2 then T.keras_choice(self, path, "interpolation", {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"}) end
    end})
end
return true
