/* AudioSummaryV2: sound for the audio dashboard, as WAV; the rate is an input.
 *
 *     see audio.h                                                 (TensorFlow's AudioSummaryV2)
 */
#include "audio.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  TFSDK_REQUIRE(r, r->in[2].n_elem == 1, "'sample_rate' must be a scalar");
  return audio_summary(r, (double)((const float *)r->in[2].data)[0]);
}

static const tfsdk_arg in[] = {
    {"tag", "string", "a scalar: the beginning of the tags", 0, 0},
    {"tensor", "float32", "[batch, frames] or [batch, frames, channels], within -1..1",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"sample_rate", "float32", "a scalar: frames in a second", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST,
     0},
};
static const tfsdk_arg out[] = {{"summary", "string", "a serialized Summary", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"max_outputs", "int", "3", "how many clips of the batch", 1, 1e9},
};
static const char *const samples[] = {
    "string(\"x\") ; float32[2,5] ; float32(8000)",
    "string(\"x\") ; float32[1,5,2] ; float32(8000) | max_outputs=1", NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("AudioSummaryV2", "sound for TensorBoard"),
    .doc = "A serialized Summary message with the first `max_outputs` clips of a batch as 16-bit "
           "WAV, tagged `tag/audio/0` and so on, or `tag/audio` if `max_outputs` is 1.",
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = audio_infer,
    .reference = compute,
    .no_grad_reason = "the output is a string",
    .samples = samples,
}};
TFSDK_UNIT_OPS(audio_summary_v2, ops);
