-- Pools of 1 to 3 axes: over windows, over everything, over as many windows as the output has places.
local tf, T = ...
local S = T.include("keras", "engine/state")
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
      ndim = n + 2, axes_text = "(" .. words[n] .. ")", supports_masking = kind == "Average" and n == 1,
      init = function(self, path)
        rawset(self, "padding", "valid")
        T.keras_padding(self, path)
      end,
      compute_mask = function() return nil end,
      call = function(self, x, o)
        local axes = {}
        for i = 1, n do axes[i] = self.data_format == "channels_last" and i or i + 1 end
        local mask = o.mask
        if type(mask) == "table" and not T.kind(mask) then mask = mask[1] end
        if mask and kind == "Average" and n == 1 then -- the mean of the steps that are there
          local m = tf.cast(tf.expand_dims(mask, self.data_format == "channels_last" and 2 or 1), x.dtype)
          local y = tf.reduce_sum(x * m, {axis = axes, keepdims = self.keepdims}) / tf.reduce_sum(m, {axis = axes, keepdims = self.keepdims})
          return y
        end
        local reduce = kind == "Max" and tf.reduce_max or tf.reduce_mean
        return reduce(x, {axis = axes, keepdims = self.keepdims})
      end})
    T.keras_layer_alias(("Global%sPool%dD"):format(kind == "Average" and "Avg" or "Max", n), global)
    -- Place i of `m` covers floor(i d / m) to ceil((i + 1) d / m).
    layer("Adaptive" .. class, "output_size data_format?", {
      ndim = n + 2, axes_text = "(" .. words[n] .. ")",
      init = function(self, path)
        T.keras_spread(self, path, n, 1, "output_size")
        rawset(self, "padding", "valid")
        T.keras_padding(self, path)
      end,
      call = function(self, x)
        local reduce = kind == "Max" and tf.reduce_max or tf.reduce_mean
        for i = 1, n do
          local axis = self.data_format == "channels_last" and i or i + 1
          local d, m, parts = x.shape[axis + 1], self.output_size[i], {}
          if d < 0 then T.fail(self.name, "the extents of the input must be known; its shape is %s", S.say_shape(x.shape)) end
          for k = 0, m - 1 do
            local from, to = k * d // m, -((-(k + 1) * d) // m)
            local begin, size = {}, {}
            for a = 1, #x.shape do begin[a], size[a] = 0, -1 end
            begin[axis + 1], size[axis + 1] = from, to - from
            parts[k + 1] = reduce(tf.slice(x, begin, size), {axis = axis, keepdims = true})
          end
          x = #parts == 1 and parts[1] or tf.concat(parts, axis)
        end
        return x
      end})
  end
end
return true
