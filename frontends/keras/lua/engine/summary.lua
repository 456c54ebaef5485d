-- model:summary(): the table that Keras prints.
local tf, T = ...
local S = T.include("keras", "engine/state")
local Model = S.Model
local list_of, shape_of = S.list_of, S.shape_of

local function utf8_cut(text, n)
  local at = utf8.offset(text, n + 1)
  return at and text:sub(1, at - 1) or text
end
local function width(text) return utf8.len(text) or #text end
-- Words into lines of at most n columns; a word that is too long is cut.
local function wrapped(text, n)
  local out, line = {}, ""
  for word in text:gmatch "%S+" do
    if line == "" then line = word
    elseif width(line) + 1 + width(word) <= n then line = line .. " " .. word
    else
      out[#out + 1] = line
      line = word
    end
    while width(line) > n do
      out[#out + 1] = utf8_cut(line, n)
      line = line:sub(#out[#out] + 1)
    end
  end
  out[#out + 1] = line
  return out
end
local function aligned(text, n, how)
  local room = n - width(text)
  if room <= 0 then return text end
  if how == "right" then return (" "):rep(room) .. text end
  if how == "center" then
    local left = room // 2
    return (" "):rep(left) .. text .. (" "):rep(room - left)
  end
  return text .. (" "):rep(room)
end
local function thousands(n)
  local text = ("%d"):format(n)
  local out = text:reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (out:gsub("^,", ""))
end
local function bytes(n)
  local units, i = {"B", "KB", "MB", "GB", "TB", "PB"}, 1
  local x = n + 0.0
  while x >= 1024 and i < #units do
    x = x / 1024
    i = i + 1
  end
  return ("%.2f %s"):format(x, units[i])
end
local sizes = {float64 = 8, int64 = 8, uint64 = 8, float16 = 2, bfloat16 = 2, int8 = 1, uint8 = 1, bool = 1}
local function counted(list)
  local n, size = 0, 0
  for _, v in ipairs(list) do
    local k = 1
    for _, d in ipairs(v.shape) do k = k * d end
    n = n + k
    size = size + k * (sizes[v.dtype] or 4)
  end
  return n, size
end
local function shape_text(shape)
  if shape == nil then return "?" end
  if type(shape[1]) == "table" then
    local parts = {}
    for i, s in ipairs(shape) do parts[i] = shape_text(s) end
    return "[" .. table.concat(parts, ", ") .. "]"
  end
  local parts = {}
  for i, d in ipairs(shape) do parts[i] = d < 0 and "None" or tostring(d) end
  return "(" .. table.concat(parts, ", ") .. (#parts == 1 and ",)" or ")")
end

-- Is each layer fed by the one before it alone?
local function is_chain(model)
  if model.is_sequential then return true end
  if not model.order then return true end
  for i, record in ipairs(model.order) do
    if i > 1 and not record.layer.is_input then
      local ins = list_of(record.inputs)
      if #ins ~= 1 or not S.history[ins[1]] or S.history[ins[1]].record ~= model.order[i - 1] then return false end
    elseif i > 1 then
      return false
    end
  end
  return true
end
local function connections(model, layer)
  local inside, parts = {}, {}
  for _, record in ipairs(model.order or {}) do inside[record] = true end
  for _, record in ipairs(layer.inbound_nodes) do
    if inside[record] then
      for _, x in ipairs(list_of(record.inputs)) do
        local h = T.kind(x) and S.history[x]
        if h then parts[#parts + 1] = ("%s[%d][%d]"):format(h.record.layer.name, h.record.number, h.index - 1) end
      end
    end
  end
  return #parts > 0 and table.concat(parts, ", ") or "-"
end

-- The model as a DOT graph, for Graphviz.
T.def("tf.keras.utils.model_to_dot", "model show_shapes=false show_layer_names=true rankdir=TB", function(model, shapes, names, rankdir)
  if not S.is_layer(model) or not model.is_model then T.fail("tf.keras.utils.model_to_dot", "expects a model, not %s", T.kind(model) or type(model)) end
  local at, out = {}, {"digraph \"" .. model.name .. "\" {", "  rankdir=" .. rankdir .. ";", "  node [shape=record];"}
  local list = model._list or model._layers
  for i, layer in ipairs(list) do
    at[layer] = "l" .. i
    local label = (names and layer.name .. ": " or "") .. getmetatable(layer).__name
    if shapes and layer.inbound_nodes[1] then
      local record = layer.inbound_nodes[1]
      local from = layer.is_input and shape_of(record.outputs) or shape_of(record.inputs)
      label = ("%s|{input:|output:}|{{%s}|{%s}}"):format(label, shape_text(from), shape_text(shape_of(record.outputs)))
    end
    out[#out + 1] = ("  l%d [label=\"%s\"];"):format(i, (label:gsub('"', "'")))
  end
  local edges = {}
  for i, layer in ipairs(list) do
    for _, record in ipairs(layer.inbound_nodes) do
      for _, x in ipairs(list_of(record.inputs)) do
        local h = T.kind(x) and S.history[x]
        local from = h and at[h.record.layer]
        local edge = from and ("  %s -> l%d;"):format(from, i)
        if edge and not edges[edge] then
          edges[edge] = true
          out[#out + 1] = edge
        end
      end
    end
  end
  out[#out + 1] = "}"
  return table.concat(out, "\n") .. "\n"
end)
T.def("tf.keras.utils.plot_model", "model to_file=model.dot show_shapes=false show_layer_names=true rankdir=TB", function(model, path, shapes, names, rankdir)
  if not path:find "%.dot$" then T.fail_code(12, "tf.keras.utils.plot_model", "'" .. path .. "': DOT is written (Graphviz makes pictures of it); give the file the ending .dot") end
  local file, why = io.open(path, "w")
  if not file then T.fail_code(5, "tf.keras.utils.plot_model", why) end
  file:write(T.namespace "tf.keras.utils".model_to_dot(model, shapes, names, rankdir))
  file:close()
end)

function Model.summary(self, o)
  o = o or {}
  if not self.built and #self.weights == 0 then
    T.fail("summary", "'%s' is not built yet, so its shapes are not known: give the first layer an input_shape, call the model, or build(input_shape)", self.name)
  end
  local say = o.print_fn or print
  local chain = is_chain(self)
  local line_length = o.line_length or (chain and 80 or 108)
  local columns = {{"Layer (type)", "left"}, {"Output Shape", "left"}, {"Param #", "right"}}
  local positions = o.positions or (chain and {0.45, 0.80, 1.0} or {0.3, 0.56, 0.74, 1.0})
  if not chain then columns[4] = {"Connected to", "left"} end
  if o.show_trainable then
    columns[#columns + 1] = {"Trainable", "center"}
    if not o.positions then positions = chain and {0.45, 0.70, 0.90, 1.0} or {0.27, 0.5, 0.66, 0.9, 1.0} end
  end
  if positions[#positions] <= 1 then
    local list = {}
    for i, p in ipairs(positions) do list[i] = math.floor(p * line_length) end
    positions = list
  end
  -- the widths that these positions leave inside of the frame, as the table printer of Keras shares them out
  local widths, total, before = {}, 0, 0
  for i, p in ipairs(positions) do
    widths[i] = p - before + 2 -- and a blank at either side
    total = total + widths[i]
    before = p
  end
  local excess = total - (line_length - #columns - 1)
  for i, w in ipairs(widths) do -- all lose alike; halves are rounded to even
    local share = excess / (#widths - i + 1)
    local cut = math.floor(share)
    if share - cut > 0.5 or share - cut == 0.5 and cut % 2 == 1 then cut = cut + 1 end
    widths[i] = w - cut
    excess = excess - cut
  end
  local rows = {}
  local function add(layer, depth, model)
    local prefix = depth > 0 and ("   "):rep(depth) .. "└ " or ""
    local shape
    if layer.inbound_nodes[1] then
      local ok, got = pcall(function() return shape_of(layer.inbound_nodes[1].outputs) end)
      shape = ok and got
    end
    local row = {prefix .. layer.name .. " (" .. getmetatable(layer).__name .. ")", shape_text(shape),
      layer.built and thousands(layer.is_input and 0 or layer:count_params()) or "0 (unbuilt)"}
    if not chain then row[4] = depth == 0 and connections(model, layer) or "-" end
    if o.show_trainable then row[#row + 1] = (#layer.weights > 0) and (layer.trainable and "Y" or "N") or "-" end
    row.prefix = prefix
    rows[#rows + 1] = row
    if o.expand_nested and layer.is_model then
      for _, inner in ipairs(layer.layers) do if not inner.is_input then add(inner, depth + 1, layer) end end
    end
  end
  for _, layer in ipairs(self.layers) do
    if not (layer.is_input and self.is_sequential) then add(layer, 0, self) end
  end
  local function rule(left, bar, between, right)
    local parts = {}
    for i, w in ipairs(widths) do parts[i] = bar:rep(w) end
    return left .. table.concat(parts, between) .. right
  end
  local function row_lines(cells, edge, headers, prefix)
    local parts, tall = {}, 1
    for i, text in ipairs(cells) do
      local inner = widths[i] - 2
      if headers and width(text) > inner then
        parts[i] = {utf8_cut(text, inner - 1) .. "…"}
      elseif prefix and prefix ~= "" and i == 1 then
        local lines = wrapped(text:sub(#prefix + 1), inner)
        local first = prefix .. text:sub(#prefix + 1)
        if width(first) <= inner then
          lines = {first}
        else
          local name, class = text:sub(#prefix + 1):match "^(%S+) (.*)$"
          lines = {prefix .. name, class}
        end
        parts[i] = lines
      else
        parts[i] = wrapped(text, inner)
      end
      tall = math.max(tall, #parts[i])
    end
    for k = 1, tall do
      local cellsk = {}
      for i, lines in ipairs(parts) do cellsk[i] = " " .. aligned(lines[k] or "", widths[i] - 2, columns[i][2]) .. " " end
      say(edge .. table.concat(cellsk, edge) .. edge)
    end
  end
  say(('Model: "%s"'):format(self.name))
  say(rule("┏", "━", "┳", "┓"))
  local titles = {}
  for i, c in ipairs(columns) do titles[i] = c[1] end
  row_lines(titles, "┃", true)
  say(rule("┡", "━", "╇", "┩"))
  for i, row in ipairs(rows) do
    row_lines(row, "│", false, row.prefix)
    say(i == #rows and rule("└", "─", "┴", "┘") or rule("├", "─", "┼", "┤"))
  end
  local trained, trained_bytes = counted(self.trainable_weights)
  local fixed, fixed_bytes = counted(self.non_trainable_weights)
  local slots, slot_bytes = 0, 0
  local optimizer = rawget(self, "optimizer")
  if type(optimizer) == "table" and optimizer.variables then slots, slot_bytes = counted(optimizer:variables()) end
  say((" Total params: %s (%s)"):format(thousands(trained + fixed + slots), bytes(trained_bytes + fixed_bytes + slot_bytes)))
  say((" Trainable params: %s (%s)"):format(thousands(trained), bytes(trained_bytes)))
  say((" Non-trainable params: %s (%s)"):format(thousands(fixed), bytes(fixed_bytes)))
  if slots > 0 then say((" Optimizer params: %s (%s)"):format(thousands(slots), bytes(slot_bytes))) end
end
