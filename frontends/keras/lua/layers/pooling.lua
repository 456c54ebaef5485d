-- Pools of 1 to 3 axes: over windows, over everything, over as many windows as the output has places.
local _, T = ...
local layer = T.keras_layer
local words = {"batch, steps, channels", "batch, rows, columns, channels", "batch, depth, rows, columns, channels"}

for n = 1, 3 do
  for _, kind in ipairs {"Max", "Average"} do
    local class = ("%sPooling%dD"):format(kind, n)
    layer(class, "pool_size|pool_length=2 strides|stride? padding|border_mode=valid data_format?", {
      record = ("%s_pooling%dd"):format(kind:lower(), n), ndim = n + 2, axes_text = "(" .. words[n] .. ")",
      init = function(self, path)
        T.keras_spread(self, path, n, 1, "pool_size", "strides")
        if not self.strides then rawset(self, "strides", {table.unpack(self.pool_size)}) end
        T.keras_padding(self, path)
      end})
    T.keras_layer_alias(("%sPool%dD"):format(kind == "Average" and "Avg" or "Max", n), class)
    local global = "Global" .. class
    layer(global, "data_format? keepdims=false", {
      record = ("global_%s_pooling%dd"):format(kind:lower(), n), ndim = n + 2, axes_text = "(" .. words[n] .. ")",
      init = T.keras_format,
      compute_mask = function() return nil end,
      call = function(self, x, o)
        local mask = o.mask
        if type(mask) == "table" and not T.kind(mask) then mask = mask[1] end
        if kind == "Max" or n > 1 then mask = nil end
        return (self:run_record({x, mask or nil}, {data_format = self.data_format, keepdims = self.keepdims}))
      end})
    T.keras_layer_alias(("Global%sPool%dD"):format(kind == "Average" and "Avg" or "Max", n), global)
    layer("Adaptive" .. class, "output_size data_format?", {
      record = ("adaptive_%s_pooling%dd"):format(kind:lower(), n), ndim = n + 2, axes_text = "(" .. words[n] .. ")",
      init = function(self, path)
        T.keras_spread(self, path, n, 1, "output_size")
        T.keras_format(self, path)
      end})
  end
end
return true
