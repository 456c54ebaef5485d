-- slim.model_analyzer: how many numbers the variables hold, and the sizes of what ops give.
local tf, T = ...
local analyzer = T.namespace "tf.slim.model_analyzer"

local function count(shape)
  local n = 1
  for _, d in ipairs(shape or {}) do n = n * (d < 0 and 0 or d) end
  return n
end
local function row(kind, x, shape, n, bytes)
  print(("%-60s %s %s [%d, bytes: %d]"):format(x.name, kind, "(" .. table.concat(shape or {"?"}, "x") .. ")", n, bytes))
end
local bytes_of = {float64 = 8, int64 = 8, uint64 = 8, float32 = 4, int32 = 4, uint32 = 4, float16 = 2, bfloat16 = 2, int16 = 2, uint16 = 2}
-- Totals: numbers and bytes.
function analyzer.analyze_vars(variables, print_info)
  local total, bytes = 0, 0
  for _, v in ipairs(variables or tf.global_variables()) do
    local n = count(v.shape)
    local b = n * (bytes_of[v.dtype] or 1)
    total, bytes = total + n, bytes + b
    if print_info then row(v.dtype, v, v.shape, n, b) end
  end
  if print_info then print(("Total size of variables: %d\nTotal bytes of variables: %d"):format(total, bytes)) end
  return total, bytes
end
function analyzer.analyze_ops(graph, print_info)
  local total = 0
  for _, op in ipairs(graph:get_operations()) do
    for _, out in ipairs(op.outputs) do
      local n = count(out.shape)
      total = total + n
      if print_info then row(op.type, out, out.shape, n, n * (bytes_of[out.dtype] or 1)) end
    end
  end
  if print_info then print(("Total size of outputs: %d"):format(total)) end
  return total
end
analyzer.tensor_description = function(x) return ("(%s) %s"):format(table.concat(x.shape or {"?"}, "x"), x.dtype) end
return analyzer
