-- Objects of tf.keras to configurations and back, through JSON: the same class with the same numbers. Names by which a class is known: those of
-- Keras 2.2.4 and of Keras 3.
local tf = require "tfsdk"
local K = tf.keras
local wrong, n = 0, 0
local function check(what, ok, detail)
  n = n + 1
  if not ok then
    wrong = wrong + 1
    print("wrong: " .. what, tostring(detail or ""))
  end
end
local function round(space, object)
  local before = tf.json.encode(space.serialize(object))
  local back = space.deserialize(tf.json.decode(before))
  local after = tf.json.encode(space.serialize(back))
  check(before, before == after, after)
  check(before .. ": same class", getmetatable(back) == getmetatable(object))
end
local O, S = K.optimizers, K.optimizers.schedules
for _, o in ipairs {O.SGD {learning_rate = 0.3, momentum = 0.7, nesterov = true}, O.RMSprop {rho = 0.8, centered = true}, O.Adam {amsgrad = true, clipnorm = 2},
  O.AdamW {weight_decay = 0.1}, O.Adamax(), O.Nadam(), O.Ftrl {beta = 0.5}, O.Lion(), O.Lamb(), O.Adafactor(), O.Adagrad {use_ema = true}, O.Adadelta {gradient_accumulation_steps = 4},
  O.SGD(S.ExponentialDecay(0.1, 10, 0.5)), O.LossScaleOptimizer(O.Adam(0.25), {initial_scale = 64})} do round(O, o) end
for _, s in ipairs {S.ExponentialDecay(0.1, 10, 0.5, true), S.PiecewiseConstantDecay({1, 2}, {3, 4, 5}), S.PolynomialDecay(1, 5), S.InverseTimeDecay(1, 2, 3),
  S.CosineDecay(1, 10, {warmup_target = 2, warmup_steps = 3}), S.CosineDecayRestarts(1, 10)} do round(S, s) end
local L = K.losses
for _, l in ipairs {L.MeanSquaredError(), L.Huber {delta = 3}, L.BinaryCrossentropy {from_logits = true, label_smoothing = 0.1}, L.SparseCategoricalCrossentropy {ignore_class = 2},
  L.Dice {axis = {1, 2}}, L.CosineSimilarity {axis = 1, reduction = "sum"}, L.Tversky {alpha = 0.25}} do round(L, l) end
local M = K.metrics
for _, m in ipairs {M.AUC {num_thresholds = 20, curve = "PR"}, M.Precision {thresholds = {0.25, 0.5}}, M.MeanIoU(3), M.TopKCategoricalAccuracy {k = 2}, M.F1Score {average = "macro"},
  M.R2Score(), M.SensitivityAtSpecificity(0.5), M.BinaryAccuracy {threshold = 0.25}} do round(M, m) end
local I = K.initializers
for _, i in ipairs {I.GlorotUniform {seed = 3}, I.VarianceScaling {scale = 2, mode = "fan_out", distribution = "uniform"}, I.Constant(3), I.Orthogonal {gain = 2}, I.RandomNormal {stddev = 2}} do round(I, i) end
local R, C = K.regularizers, K.constraints
for _, r in ipairs {R.L1(0.5), R.L2(0.25), R.L1L2(0.5, 0.25), R.OrthogonalRegularizer {mode = "columns"}} do round(R, r) end
for _, c in ipairs {C.MaxNorm(3, {0, 1}), C.NonNeg(), C.UnitNorm {axis = 1}, C.MinMaxNorm {rate = 0.5}} do round(C, c) end

local names = [[
losses        mse MSE mean_squared_error MeanSquaredError
losses        mae MAE mean_absolute_error
losses        mape mean_absolute_percentage_error
losses        msle mean_squared_logarithmic_error
losses        kld KLD kullback_leibler_divergence kl_divergence KLDivergence
losses        cosine_proximity cosine_similarity CosineProximity cosine
losses        logcosh log_cosh LogCosh
losses        huber huber_loss Huber
losses        hinge Hinge
losses        squared_hinge SquaredHinge
losses        categorical_hinge CategoricalHinge
losses        poisson Poisson
losses        binary_crossentropy bce BinaryCrossentropy
losses        categorical_crossentropy CategoricalCrossentropy
losses        sparse_categorical_crossentropy SparseCategoricalCrossentropy
optimizers    sgd SGD
optimizers    rmsprop RMSprop rms_prop RMSProp
optimizers    adam Adam ADAM
optimizers    adagrad Adagrad
optimizers    adadelta Adadelta
optimizers    adamax Adamax
optimizers    nadam Nadam
optimizers    ftrl Ftrl
initializers  zeros zero Zeros
initializers  ones one Ones
initializers  uniform random_uniform RandomUniform
initializers  normal random_normal RandomNormal
initializers  truncated_normal TruncatedNormal
initializers  glorot_uniform GlorotUniform
initializers  glorot_normal GlorotNormal
initializers  he_uniform HeUniform
initializers  he_normal HeNormal
initializers  lecun_uniform LecunUniform
initializers  lecun_normal LecunNormal
initializers  orthogonal Orthogonal
initializers  identity Identity
regularizers  l1 L1
regularizers  l2 L2
regularizers  l1_l2 L1L2 l1l2
constraints   max_norm maxnorm MaxNorm
constraints   non_neg nonneg NonNeg
constraints   unit_norm unitnorm UnitNorm
constraints   min_max_norm MinMaxNorm
metrics       mse mean_squared_error MeanSquaredError
metrics       top_k_categorical_accuracy TopKCategoricalAccuracy
metrics       auc AUC
metrics       precision Precision
]]
for line in names:gmatch "[^\n]+" do
  local space, list = line:match "^(%S+)%s+(.*)$"
  local class
  for name in list:gmatch "%S+" do
    local ok, object = pcall(K[space].get, name)
    local got = ok and getmetatable(object).__name
    class = class or got
    check(space .. " " .. name, ok and got == class, ok and got or object)
  end
end
-- Names of the script's own.
local Half = K.losses.Loss:extend {name = "Half", call = function(_, y, p) return (y - p) * 0.5 end}
check("a class of the script by name", K.utils.custom_object_scope({Half = Half()}, function() return K.losses.get "Half" end) ~= nil)
check("and not behind the scope", not pcall(K.losses.get, "Half"))
check("a function of the script by name", K.utils.custom_object_scope({twice = function(x) return x * 2 end}, function() return K.activations.get "twice" end)(2) == 4)
local ok, why = pcall(K.optimizers.deserialize, {class_name = "Adem", config = {}})
check("an unknown class", not ok and tostring(why):find("did you mean", 1, true), why)

print(("configs: %d checks, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and 0 or 1, true)
