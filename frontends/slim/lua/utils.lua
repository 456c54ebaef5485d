-- slim.utils: names of outputs, flags that may be tensors.
local tf, T = ...
local utils = T.namespace "tf.slim.utils"

-- Adds outputs to a collection under an alias; convert_collection_to_dict gives them back by it.
function utils.collect_named_outputs(collections, alias, outputs) return T.slim_collected(collections, alias, outputs) end
function utils.get_tensor_alias(x) return T.slim_alias(x) or (x.name:gsub(":0$", "")) end
function utils.convert_collection_to_dict(collection, clear)
  local out = {}
  for _, x in ipairs(tf.get_collection(collection)) do
    out[(utils.get_tensor_alias(x):gsub("/$", ""))] = x
  end
  if clear then tf.get_default_graph():clear_collection(collection) end
  return out
end
-- true, false or nil (only running tells) for a boolean, a number or a tensor.
function utils.constant_value(x)
  if type(x) == "boolean" then return x end
  if type(x) == "number" then return x ~= 0 end
  local known = T.known(x)
  if known then
    local v = known:item()
    if type(v) == "number" then return v ~= 0 end
    return v
  end
  return nil
end
function utils.smart_cond(pred, yes, no)
  local known = utils.constant_value(pred)
  if known == nil then return tf.cond(pred, yes, no) end
  if known then return yes() end
  return no()
end
function utils.static_cond(pred, yes, no) return utils.smart_cond(pred, yes, no) end
function utils.two_element_tuple(x)
  if type(x) == "number" then return x, x end
  if type(x) ~= "table" or #x ~= 2 then T.fail("slim.utils.two_element_tuple", "expected a number or two, got %d", type(x) == "table" and #x or 0) end
  return x[1], x[2]
end
function utils.n_positive_integers(n, x)
  if type(x) == "number" then x = {x} end
  local out = {}
  for i = 1, n do
    local v = #x == 1 and x[1] or x[i]
    if math.type(v) ~= "integer" or v < 1 then T.fail("slim.utils.n_positive_integers", "expected %d whole numbers above 0", n) end
    out[i] = v
  end
  return out
end
function utils.last_dimension(shape, min_rank)
  if #shape < (min_rank or 1) then T.fail("slim.utils.last_dimension", "the rank must be at least %d, it is %d", min_rank or 1, #shape) end
  return shape[#shape]
end
function utils.channel_dimension(shape, data_format, min_rank)
  if #shape < (min_rank or 1) then T.fail("slim.utils.channel_dimension", "the rank must be at least %d, it is %d", min_rank or 1, #shape) end
  return shape[data_format and data_format:sub(1, 2) == "NC" and 2 or #shape]
end
return utils
