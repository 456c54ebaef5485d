-- All inception nets under one name, as in slim.nets.inception.inception_v3.
local _, T = ...
local inception = {}
for _, name in ipairs {"inception_v1", "inception_v2", "inception_v3", "inception_v4", "inception_resnet_v2"} do
  for key, value in pairs(T.include("slim", "nets/" .. name)) do
    if type(value) == "function" then inception[key] = value end
  end
end
return inception
