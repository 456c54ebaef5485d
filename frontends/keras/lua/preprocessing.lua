-- tf.keras.preprocessing: sequences, texts, pictures.
local _, T = ...
T.include("keras", "preprocessing/sequence")
T.include("keras", "preprocessing/text")
T.include("keras", "preprocessing/image")
return true
