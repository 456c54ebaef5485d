-- SHP-10: bilinear resize: three grids, which must not be mixed up.
-- Know: the three formulas of the place of a pixel, with the border's pixel beyond the border. tf.image's default is the
-- half-pixel grid, the raw op's the plain one (docs/conventions.md).
package.path = (arg[0]:match "^.*/" or "./") .. "?.lua;" .. package.path
local tf, t = require "tfsdk", require "support"

local image = tf.tensor {{1, 2}, {3, 4}}:reshape {1, 2, 2, 1}
local function plane(x) return tf.squeeze(x, {axis = {0, 3}}) end
local grids = {
  ["half-pixel"] = {{half_pixel_centers = true}, {1, 1.25, 1.75, 2}, {1, 1.5, 2.5, 3}},
  plain = {{}, {1, 1.5, 2, 2}, {1, 2, 3, 3}},
  ["aligned corners"] = {{align_corners = true}, {1, 1.3333333, 1.6666667, 2}, {1, 1.6666667, 2.3333333, 3}},
}
for name, grid in pairs(grids) do
  local options, row, column = table.unpack(grid)
  local want, share = {}, {}
  for i = 1, 4 do -- the interpolation is a sum of a row's and a column's part here
    want[i] = {}
    for k = 1, 4 do want[i][k] = row[k] + column[i] - 1 end
    share[i] = row[i] - 1 -- how much the second pixel of an axis counts in output i
  end
  local second = share[1] + share[2] + share[3] + share[4]
  local first = 4 - second
  for _, dtype in ipairs {"float32", "float64"} do
    t.both_modes({tf.cast(image, dtype)}, function(x) return plane(tf.raw.ResizeBilinear(x, {4, 4}, options)) end, function(r)
      local label = ("%s %s %s"):format(r.mode, name, dtype)
      t.near(label, r[1], want, 1e-6)
      t.exact(label .. " type", r[1].dtype, "float32")
      t.near(label .. " gradient", tf.cast(plane(r.grads[1]), "float32"), {{first * first, first * second}, {second * first, second * second}})
    end)
  end
  -- The same size is the identity, bit for bit, in all three.
  local odd = tf.random.normal({2, 5, 7, 3}, {seed = 1, now = true})
  t.both_modes({odd}, function(x) return tf.raw.ResizeBilinear(x, {5, 7}, options) end, function(r)
    t.check(r.mode .. " identity, " .. name, r[1]:bytes() == odd:bytes())
    t.exact(r.mode .. " its gradient", tf.reduce_min(r.grads[1]), 1)
  end)
end
local function by_function(label, options, want)
  t.both_modes({image}, function(x) return plane(tf.image.resize_bilinear(x, {4, 4}, options)) end, function(r)
    t.near(r.mode .. " tf.image, " .. label, r[1][1], want)
  end)
end
by_function("default", {}, grids["half-pixel"][2])
by_function("aligned corners", {align_corners = true}, grids["aligned corners"][2])
by_function("plain", {half_pixel_centers = false}, grids.plain[2])
t.raises("two grids at once", function() return tf.raw.ResizeBilinear(image, {4, 4}, {align_corners = true, half_pixel_centers = true}) end, "align_corners")
t.raises("size 0", function() return tf.image.resize_bilinear(image, {0, 4}) end, "size")
t.raises("size of three", function() return tf.image.resize_bilinear(image, {4, 4, 1}) end, "size")
-- Bytes, shrinking, a size known only when the graph runs.
t.near("bytes", tf.image.resize_bilinear(tf.cast(image, "uint8"), {4, 4}):reshape {4, 4}[1], grids["half-pixel"][2])
t.exact("shrinking", tf.image.resize_bilinear(t.counting(16, 0, {1, 4, 4, 1}), {2, 2}):reshape {2, 2}, {{2.5, 4.5}, {10.5, 12.5}})
do
  local graph <close> = tf.Graph():as_default()
  local size = tf.placeholder("int32", {2})
  local y = tf.image.resize_bilinear(image, size)
  local sess <close> = tf.Session()
  t.shape("a fed size", sess:run(y, {[size] = {3, 5}}), {1, 3, 5, 1})
end
t.done() -- expect: ok
