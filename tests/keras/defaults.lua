-- Default numbers of tf.keras outside of layers: optimizers, learning rates, losses, metrics, initializers, regularizers, constraints,
-- activations, callbacks, preprocessing. Sources: the signatures of Keras 3.15 (keras.io/api), and of Keras 2.2.4 for
-- what only that has. `none` stands for nothing, the empty field.
local tf = require "tfsdk"
local K = tf.keras
local wrong, n = 0, 0
local function check(what, got, want)
  n = n + 1
  if got ~= want then
    wrong = wrong + 1
    print(("%s: %s, want %s"):format(what, tostring(got), tostring(want)))
  end
end
-- Lines of a class, the arguments that it must be given in brackets, then fields and their values.
local function table_of(space, text)
  for line in text:gmatch "[^\n]+" do
    local name, rest = line:match "^%s*(%S+)%s*(.*)$"
    local given = {}
    rest = rest:gsub("%[(.-)%]%s*", function(list)
      for key, value in list:gmatch "(%S+)=(%S+)" do given[key] = tonumber(value) or value end
      return ""
    end, 1)
    for key, value in pairs(given) do
      if value == "numbers" then given[key] = {1, 2} elseif value == "three" then given[key] = {1, 2, 3} elseif value == "fn" then given[key] = function() end end
    end
    local object = next(given) and space[name](given) or space[name]()
    for key, value in rest:gmatch "(%S+)%s+(%S+)" do
      if value == "true" or value == "false" then value = value == "true"
      elseif value == "none" then value = nil else value = tonumber(value) or value end
      check(name .. "." .. key, object[key], value)
    end
  end
end

table_of(K.optimizers, [[
SGD       learning_rate 0.01   momentum 0    nesterov false  weight_decay none  clipnorm none  clipvalue none  global_clipnorm none  use_ema false  ema_momentum 0.99  ema_overwrite_frequency none  loss_scale_factor none  gradient_accumulation_steps none  decay 0
Adagrad   learning_rate 0.001  initial_accumulator_value 0.1  epsilon 1e-7  weight_decay none  use_ema false  ema_momentum 0.99
Adadelta  learning_rate 0.001  rho 0.95      epsilon 1e-7   weight_decay none
RMSprop   learning_rate 0.001  rho 0.9       momentum 0     epsilon 1e-7   centered false  weight_decay none
Adam      learning_rate 0.001  beta_1 0.9    beta_2 0.999   epsilon 1e-7   amsgrad false   weight_decay none
AdamW     learning_rate 0.001  beta_1 0.9    beta_2 0.999   epsilon 1e-7   amsgrad false   weight_decay 0.004
Adamax    learning_rate 0.001  beta_1 0.9    beta_2 0.999   epsilon 1e-7   weight_decay none
Nadam     learning_rate 0.001  beta_1 0.9    beta_2 0.999   epsilon 1e-7   weight_decay none
Ftrl      learning_rate 0.001  learning_rate_power -0.5  initial_accumulator_value 0.1  l1_regularization_strength 0  l2_regularization_strength 0  l2_shrinkage_regularization_strength 0  beta 0
Lion      learning_rate 0.001  beta_1 0.9    beta_2 0.99
Lamb      learning_rate 0.001  beta_1 0.9    beta_2 0.999   epsilon 1e-7
Muon      learning_rate 0.001  adam_beta_1 0.9  adam_beta_2 0.999  adam_weight_decay 0.004  epsilon 1e-7  weight_decay 0.004  exclude_layers none  exclude_embeddings true  muon_a 3.4445  muon_b -4.775  muon_c 2.0315  adam_lr_ratio 1  momentum 0.95  ns_steps 5  nesterov true  rms_rate 0.2
ScheduleFreeAdamW learning_rate 0.0025  beta_1 0.9  beta_2 0.999  epsilon 1e-8  warmup_steps 0  weight_decay none
Adafactor learning_rate 0.001  beta_2_decay -0.8  epsilon_1 1e-30  epsilon_2 0.001  clip_threshold 1  relative_step true
]])
table_of(K.optimizers.schedules, [[
ExponentialDecay       [initial_learning_rate=1 decay_steps=1 decay_rate=1] staircase false
InverseTimeDecay       [initial_learning_rate=1 decay_steps=1 decay_rate=1] staircase false
PolynomialDecay        [initial_learning_rate=1 decay_steps=1] end_learning_rate 0.0001  power 1  cycle false
CosineDecay            [initial_learning_rate=1 decay_steps=1] alpha 0  warmup_target none  warmup_steps 0
CosineDecayRestarts    [initial_learning_rate=1 first_decay_steps=1] t_mul 2  m_mul 1  alpha 0
]])
table_of(K.losses, [[
MeanSquaredError               reduction sum_over_batch_size  name mean_squared_error
MeanAbsoluteError              reduction sum_over_batch_size  name mean_absolute_error
MeanAbsolutePercentageError    reduction sum_over_batch_size  name mean_absolute_percentage_error
MeanSquaredLogarithmicError    reduction sum_over_batch_size  name mean_squared_logarithmic_error
CosineSimilarity               axis -1  reduction sum_over_batch_size  name cosine_similarity
LogCosh                        reduction sum_over_batch_size  name log_cosh
Huber                          delta 1  reduction sum_over_batch_size  name huber_loss
Hinge                          reduction sum_over_batch_size  name hinge
SquaredHinge                   reduction sum_over_batch_size  name squared_hinge
CategoricalHinge               reduction sum_over_batch_size  name categorical_hinge
KLDivergence                   reduction sum_over_batch_size  name kl_divergence
Poisson                        reduction sum_over_batch_size  name poisson
BinaryCrossentropy             from_logits false  label_smoothing 0  axis -1  name binary_crossentropy
BinaryFocalCrossentropy        apply_class_balancing false  alpha 0.25  gamma 2  from_logits false  label_smoothing 0  axis -1
CategoricalCrossentropy        from_logits false  label_smoothing 0  axis -1  name categorical_crossentropy
CategoricalFocalCrossentropy   alpha 0.25  gamma 2  from_logits false  label_smoothing 0  axis -1
SparseCategoricalCrossentropy  from_logits false  ignore_class none  axis -1  name sparse_categorical_crossentropy
Dice                           axis none  reduction sum_over_batch_size
Tversky                        alpha 0.5  beta 0.5  axis none
Circle                         gamma 80  margin 0.4  remove_diagonal true
CategoricalGeneralizedCrossEntropy q 0.5
]])
table_of(K.metrics, [[
Mean                          name mean
Sum                           name sum
MeanTensor                    name mean_tensor
MeanRelativeError             [normalizer=three] name mean_relative_error
BinaryAccuracy                threshold 0.5  name binary_accuracy
Accuracy                      name accuracy
CategoricalAccuracy           name categorical_accuracy
SparseCategoricalAccuracy     name sparse_categorical_accuracy
TopKCategoricalAccuracy       k 5  name top_k_categorical_accuracy
SparseTopKCategoricalAccuracy k 5  name sparse_top_k_categorical_accuracy
BinaryCrossentropy            from_logits false  label_smoothing 0
CategoricalCrossentropy       from_logits false  label_smoothing 0  axis -1
SparseCategoricalCrossentropy from_logits false  ignore_class none  axis -1
LogCoshError                  name logcosh
CosineSimilarity              axis -1  name cosine_similarity
RootMeanSquaredError          name root_mean_squared_error
R2Score                       class_aggregation uniform_average  num_regressors 0  name r2_score
AUC                           num_thresholds 200  curve ROC  summation_method interpolation  multi_label false  num_labels none  label_weights none  from_logits false  thresholds none  name auc
Precision                     thresholds none  top_k none  class_id none  name precision
Recall                        thresholds none  top_k none  class_id none  name recall
TruePositives                 thresholds none  name true_positives
FalsePositives                thresholds none  name false_positives
TrueNegatives                 thresholds none  name true_negatives
FalseNegatives                thresholds none  name false_negatives
SensitivityAtSpecificity      [specificity=0.5] num_thresholds 200  class_id none
SpecificityAtSensitivity      [sensitivity=0.5] num_thresholds 200  class_id none
PrecisionAtRecall             [recall=0.5] num_thresholds 200  class_id none
RecallAtPrecision             [precision=0.5] num_thresholds 200  class_id none
F1Score                       average none  threshold none
FBetaScore                    average none  beta 1  threshold none
MeanIoU                       [num_classes=3] ignore_class none  sparse_y_true true  sparse_y_pred true  axis -1
BinaryIoU                     threshold 0.5
]])
table_of(K.initializers, [[
Constant          value 0
RandomNormal      mean 0  stddev 0.05  seed none
RandomUniform     minval -0.05  maxval 0.05  seed none
TruncatedNormal   mean 0  stddev 0.05  seed none
VarianceScaling   scale 1  mode fan_in  distribution truncated_normal  seed none
Orthogonal        gain 1  seed none
Identity          gain 1
GlorotUniform     seed none
HeNormal          seed none
STFT              side real  window hann  scaling density  periodic false
]])
table_of(K.regularizers, [[
L1                        l1 0.01
L2                        l2 0.01
L1L2                      l1 0     l2 0
l1_l2                     l1 0.01  l2 0.01
OrthogonalRegularizer     factor 0.01  mode rows
]])
table_of(K.constraints, [[
MaxNorm      max_value 2  axis 0
UnitNorm     axis 0
MinMaxNorm   min_value 0  max_value 1  rate 1  axis 0
]])
table_of(K.callbacks, [[
EarlyStopping          monitor val_loss  min_delta 0  patience 0  verbose 0  mode auto  baseline none  restore_best_weights false  start_from_epoch 0
ReduceLROnPlateau      monitor val_loss  factor 0.1  patience 10  verbose 0  mode auto  min_delta 0.0001  cooldown 0  min_lr 0
LearningRateScheduler  [schedule=fn] verbose 0
ModelCheckpoint        [filepath=x.h5] monitor val_loss  verbose 0  save_best_only false  save_weights_only false  mode auto  save_freq epoch  period 1
CSVLogger              [filename=x] separator ,  append false
TensorBoard            log_dir ./logs  histogram_freq 0  batch_size 32  write_graph true  write_grads false  write_images false  embeddings_freq 0  update_freq epoch
ProgbarLogger          count_mode steps
RemoteMonitor          root http://localhost:9000  path /publish/epoch/end/  field data  headers none  send_as_json false
]])
table_of(K.preprocessing.image, [[
ImageDataGenerator  featurewise_center false  samplewise_center false  featurewise_std_normalization false  samplewise_std_normalization false  zca_whitening false  zca_epsilon 1e-6  rotation_range 0  width_shift_range 0  height_shift_range 0  brightness_range none  shear_range 0  channel_shift_range 0  fill_mode nearest  cval 0  horizontal_flip false  vertical_flip false  rescale none  validation_split 0
]])
table_of(K.preprocessing.sequence, [[
TimeseriesGenerator  [data=three targets=three length=1] sampling_rate 1  stride 1  shuffle false  reverse false  batch_size 128
]])
table_of(K.preprocessing.text, [[
Tokenizer  num_words none  lower true  char_level false  oov_token none  document_count 0
]])
check("Tokenizer.filters", K.preprocessing.text.Tokenizer().filters, '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n')
check("Progbar.width", K.utils.Progbar(10).width, 30)
check("Progbar.interval", K.utils.Progbar(10).interval, 0.05)

-- What is not a field, by what it does. elu(-1) = alpha (e^-1 - 1), leaky_relu(-1) = -slope, hard_sigmoid(1) = 4/6.
local A = K.activations
local function at(fn, x) return tf.eager(function() return fn(tf.tensor(x)):item() end) end
local function near(what, got, want) check(what, math.abs(got - want) < 1e-6, true) end
near("elu: alpha 1", at(A.elu, -1), math.exp(-1) - 1)
near("celu: alpha 1", at(A.celu, -1), math.exp(-1) - 1)
near("leaky_relu: slope 0.2", at(A.leaky_relu, -1), -0.2)
near("relu: slope 0", at(A.relu, -1), 0)
near("relu: no largest value", at(A.relu, 1e6), 1e6)
near("relu6", at(A.relu6, 7), 6)
near("hard_sigmoid", at(A.hard_sigmoid, 1), 4 / 6)
near("selu: scale 1.0507...", at(A.selu, 1), 1.0507009873554805)
near("soft_shrink: threshold 0.5", at(A.soft_shrink, 1), 0.5)
near("hard_shrink: threshold 0.5", at(A.hard_shrink, 0.4), 0)
near("squareplus: b 4", at(A.squareplus, 0), 1)
near("gelu: exact", at(A.gelu, 1), 0.8413447460685429)
-- Slopes below 0 and statistics of batches differ from library to library.
tf.eager(function()
  local minus, nn = tf.tensor{-1.0}, tf.torch.nn
  near("slope of tf.nn.leaky_relu: 0.2", tf.nn.leaky_relu(minus):item(), -0.2)
  near("slope of Keras' LeakyReLU: 0.3", K.layers.LeakyReLU()(minus):item(), -0.3)
  near("slope of Torch's LeakyReLU: 0.01", nn.LeakyReLU()(minus):item(), -0.01)
  check("Torch's BatchNorm2d.momentum", nn.BatchNorm2d(3).momentum, 0.1)
  check("Torch's BatchNorm2d.eps", nn.BatchNorm2d(3).eps, 1e-5)
  check("Torch's Dropout.p", nn.Dropout().p, 0.5)
  near("l1_l2_regularizer of Slim: 1 and 1, half the squares", tf.slim.l1_l2_regularizer()(tf.tensor{2.0}):item(), 4)
  near("l1_l2 of Keras: 0.01 and 0.01, the whole squares", K.regularizers.l1_l2()(tf.tensor{2.0}):item(), 0.06)
end)
local probability = tf.eager(function() return K.losses.binary_crossentropy(tf.tensor{1.0}, tf.tensor{0.0}):item() end)
check("probabilities are kept above 1e-7", math.abs(probability - -math.log(1e-7)) < 1e-3, true)
local pairs_, labels = K.preprocessing.sequence.skipgrams({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12, {seed = 1})
local positive = 0
for _, l in ipairs(labels) do positive = positive + l end
-- 11 words, 4 on each side: 11 * 8 - 2 * (4 + 3 + 2 + 1) pairs, and as many negative ones
check("skipgrams: window_size 4", positive, 68)
check("skipgrams: negative_samples 1", #pairs_, 136)
local padded = K.preprocessing.sequence.pad_sequences{{1}, {1, 2, 3}}
check("pad_sequences: in front", padded[1][1]:item(), 0)
check("pad_sequences: int32", padded.dtype, "int32")
check("pad_sequences: cut in front", K.preprocessing.sequence.pad_sequences({{1, 2, 3}}, {maxlen = 2})[1][1]:item(), 2)
-- with a rate of 1e-5 a word of rank 1 is kept as often as sqrt(1e-5 * (0.577 + 0.5 - 1/12))
near("make_sampling_table: sampling_factor 1e-5", K.preprocessing.sequence.make_sampling_table(2)[1]:item(), math.sqrt(1e-5 * (0.577 + 0.5 - 1 / 12)))
print(("%d defaults, %d wrong"):format(n, wrong))
os.exit(wrong == 0 and 0 or 1, true)
