-- Zero padding, cropping and up-sampling of 1 to 3 axes.
local tf, T = ...
local S = T.include("keras", "engine/state")
local layer = T.keras_layer
local words = {"batch, steps, channels", "batch, rows, columns, channels", "batch, depth, rows, columns, channels"}

-- A number; a number for each axis; a pair for each axis; for one axis a pair.
local function both_sides(self, path, n, name)
  local value, out = self[name], {}
  local function bad() T.fail(path, "'%s' must be a number, %s, or a pair for each axis, of numbers of 0 or more", name, n == 1 and "a pair" or ("a list of %d"):format(n)) end
  if type(value) == "number" then
    for i = 1, n do out[i] = {value, value} end
  elseif type(value) ~= "table" then bad()
  elseif n == 1 and type(value[1]) == "number" then
    out[1] = {value[1], value[2] or value[1]}
  else
    for i = 1, n do out[i] = type(value[i]) == "table" and {value[i][1], value[i][2]} or {value[i], value[i]} end
  end
  for i = 1, n do
    for k = 1, 2 do if math.type(out[i][k]) ~= "integer" or out[i][k] < 0 then bad() end end
  end
  rawset(self, name, n == 1 and out[1] or out)
  return out
end
local function axis_of(self, i) return self.data_format == "channels_first" and i + 1 or i end

for n = 1, 3 do
  layer(("ZeroPadding%dD"):format(n), "padding=1 data_format?", {
    ndim = n + 2, axes_text = "(" .. words[n] .. ")",
    init = function(self, path)
      local sides = both_sides(self, path, n, "padding")
      rawset(self, "sides", sides)
      local keep = self.padding
      rawset(self, "padding", "valid")
      T.keras_padding(self, path)
      rawset(self, "padding", keep)
    end,
    call = function(self, x)
      local pads = {}
      for a = 1, n + 2 do pads[a] = {0, 0} end
      for i, side in ipairs(self.sides) do pads[axis_of(self, i) + 1] = {side[1], side[2]} end
      return tf.pad(x, pads)
    end})
  layer(("Cropping%dD"):format(n), "cropping=" .. (n == 1 and "1" or "0") .. " data_format?", {
    ndim = n + 2, axes_text = "(" .. words[n] .. ")",
    init = function(self, path)
      rawset(self, "sides", both_sides(self, path, n, "cropping"))
      rawset(self, "padding", "valid")
      T.keras_padding(self, path)
    end,
    call = function(self, x)
      local begin, last, shape = {}, {}, x.shape
      for a = 1, n + 2 do begin[a], last[a] = 0, -1 end
      for i, side in ipairs(self.sides) do
        local a = axis_of(self, i) + 1
        if shape[a] >= 0 then
          if side[1] + side[2] >= shape[a] then
            T.fail(self.name, "cropping {%d, %d} leaves nothing of axis %d, whose extent is %d", side[1], side[2], a - 1, shape[a])
          end
          last[a] = shape[a] - side[1] - side[2]
        elseif side[1] + side[2] > 0 then
          T.fail(self.name, "the extent of axis %d must be known; the input's shape is %s", a - 1, S.say_shape(shape))
        end
        begin[a] = side[1]
      end
      return tf.slice(x, begin, last)
    end})
  layer(("UpSampling%dD"):format(n), "size=2" .. (n > 1 and " data_format?" or "") .. (n == 2 and " interpolation=nearest" or ""), {
    ndim = n + 2, axes_text = "(" .. words[n] .. ")",
    init = function(self, path)
      T.keras_spread(self, path, n, 1, "size")
      rawset(self, "padding", "valid")
      T.keras_padding(self, path)
      rawset(self, "padding", nil)
      if n == 1 then rawset(self, "data_format", "channels_last") end
      if n == 2 and not ({nearest = 1, bilinear = 1, bicubic = 1, lanczos3 = 1, lanczos5 = 1})[self.interpolation] then
        T.fail(path, "'interpolation' must be \"nearest\" or \"bilinear\", not '%s'", tostring(self.interpolation))
      end
    end,
    call = function(self, x)
      if n == 2 and self.interpolation ~= "nearest" then
        if self.interpolation ~= "bilinear" and self.interpolation ~= "bicubic" then T.fail_code(12, self.name, "the interpolation '" .. self.interpolation .. "' is not supported") end
        local first = self.data_format == "channels_first"
        if first then x = tf.transpose(x, {0, 2, 3, 1}) end
        local shape = x.shape
        local rows, columns = shape[2] * self.size[1], shape[3] * self.size[2]
        if shape[2] < 0 or shape[3] < 0 then T.fail(self.name, "the extents of the image must be known; its shape is %s", S.say_shape(shape)) end
        local y
        if self.interpolation == "bilinear" then y = tf.raw.ResizeBilinear(x, tf.tensor({rows, columns}, "int32"), {half_pixel_centers = true})
        else y = tf.raw.ResizeBicubic(x, tf.tensor({rows, columns}, "int32"), {half_pixel_centers = true}) end
        return first and tf.transpose(y, {0, 3, 1, 2}) or y
      end
      for i = 1, n do
        if self.size[i] > 1 then x = T.keras_repeat(x, self.size[i], axis_of(self, i)) end
      end
      return x
    end})
end
-- Each element of an axis k times.
function T.keras_repeat(x, k, axis)
  local shape = x.shape
  local wide = {}
  for a = 1, #shape do wide[a] = 1 end
  table.insert(wide, axis + 2, k)
  local y = tf.tile(tf.expand_dims(x, axis + 1), wide)
  local out, open = {}, 0
  for a, d in ipairs(shape) do
    out[a] = a == axis + 1 and d >= 0 and d * k or d
    if out[a] < 0 then open = open + 1 end
  end
  if open <= 1 then return tf.reshape(y, out) end
  local dynamic = tf.shape(x)
  local parts = {}
  for a = 1, #shape do
    local part = tf.slice(dynamic, {a - 1}, {1})
    parts[a] = a == axis + 1 and part * k or part
  end
  local z = tf.reshape(y, tf.concat(parts, 0))
  z:set_shape(out)
  return z
end
return true
