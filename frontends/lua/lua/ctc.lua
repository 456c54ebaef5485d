-- provides tf.nn: ctc_loss ctc_loss_v2 ctc_greedy_decoder ctc_beam_search_decoder ctc_beam_search_decoder_v2
-- Connectionist temporal classification. Sparse labels are a table {indices =, values =, dense_shape =} (what the decoders give, too), or
-- any object with those fields.
local tf, T = ...
local raw, def = tf.raw, T.def

local function sparse(labels, who)
  if type(labels) ~= "table" and type(labels) ~= "userdata" or T.kind(labels) and T.kind(labels) ~= "SparseTensor" then
    T.fail(who, "'labels' must be sparse: a table {indices =, values =, dense_shape =}, not %s", T.kind(labels) or type(labels))
  end
  local indices, values = labels.indices, labels.values
  if indices == nil or values == nil then T.fail(who, "'labels' lacks '%s'", indices == nil and "indices" or "values") end
  return T.value(indices, "int64"), T.value(values, "int32")
end
local function time_first(x, time_major)
  x = T.value(x)
  if time_major then return x end
  return tf.transpose(x, {1, 0, 2})
end
local function whole(x, dtype)
  x = T.value(x, dtype)
  if x.dtype ~= dtype then x = tf.cast(x, dtype) end
  return x
end

-- Logits [time, batch, classes] (time_major) -> the loss of each row; the last class is the blank.
def("tf.nn.ctc_loss", "labels inputs|logits sequence_length preprocess_collapse_repeated=false ctc_merge_repeated=true ignore_longer_outputs_than_inputs=false time_major=true",
  function(labels, inputs, lengths, collapse, merge, ignore, time_major)
    local indices, values = sparse(labels, "tf.nn.ctc_loss")
    return (raw.CTCLoss(time_first(inputs, time_major), whole(indices, "int64"), whole(values, "int32"), whole(lengths, "int32"),
      {preprocess_collapse_repeated = collapse, ctc_merge_repeated = merge, ignore_longer_outputs_than_inputs = ignore}))
  end)
-- TensorFlow 2's: dense labels [batch, most] with their lengths; any class is the blank (blank_index, from the end if negative).
def("tf.nn.ctc_loss_v2", "labels logits label_length logit_length logits_time_major=true unique? blank_index=0 zero_infinity=false name?",
  function(labels, logits, label_length, logit_length, time_major, _, blank, zero, name)
    return (raw.CtcLossDense(time_first(logits, time_major), whole(labels, "int32"), whole(label_length, "int32"), whole(logit_length, "int32"),
      {blank_index = blank, zero_infinity = zero, name = name}))
  end)

local function decoded(indices, values, shape) return {indices = indices, values = values, dense_shape = shape} end
-- A list of one sparse result, and minus the sums of the largest logits [batch, 1].
def("tf.nn.ctc_greedy_decoder", "inputs sequence_length merge_repeated=true blank_index=-1", function(inputs, lengths, merge, blank)
  local indices, values, shape, score = raw.CTCGreedyDecoder(inputs, whole(lengths, "int32"), {merge_repeated = merge, blank_index = blank})
  return {decoded(indices, values, shape)}, score
end)
-- A list of top_paths sparse results, and their log probabilities [batch, top_paths].
local function beam(inputs, lengths, width, paths, merge)
  local indices, values, shapes, score = raw.CTCBeamSearchDecoder(inputs, whole(lengths, "int32"),
    {beam_width = width, top_paths = paths, merge_repeated = merge})
  local out = {}
  for i = 1, paths do out[i] = decoded(indices[i], values[i], shapes[i]) end
  return out, score
end
def("tf.nn.ctc_beam_search_decoder", "inputs sequence_length beam_width=100 top_paths=1 merge_repeated=true", beam)
-- TensorFlow 2's: repeats of the result are kept.
def("tf.nn.ctc_beam_search_decoder_v2", "inputs sequence_length beam_width=100 top_paths=1", function(inputs, lengths, width, paths)
  return beam(inputs, lengths, width, paths, false)
end)
