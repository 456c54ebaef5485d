-- tf.keras.applications: image models with Keras' parameter counts. Weights are read from files; without one they are random.
local _, T = ...
local applications = T.keras_namespace "applications"
for _, file in ipairs {"vgg", "resnet", "mobilenet", "densenet", "xception", "inception", "nasnet"} do T.include("keras", "applications/" .. file) end
return applications
