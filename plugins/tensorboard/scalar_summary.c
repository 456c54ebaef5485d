/* ScalarSummary: numbers for the scalars dashboard.
 *
 *     Summary with a value {tag, simple_value} for each element      (TensorFlow's ScalarSummary)
 */
#include "summary.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape both;
  TFSDK_TRY(tfsdk_merge(c, &c->in[0].shape, &c->in[1].shape, "tags and values", &both));
  return tfsdk_infer_scalar(c);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  pb b = pb_new(r->host);
  (void)state;
  for (int64_t i = 0; i < r->in[1].n_elem; i++) {
    uint64_t n = 0;
    const char *tag = tfsdk_view_string(&r->in[0], i, &n);
    size_t value = pb_begin(&b, 1);
    pb_put_bytes(&b, 1, tag, (size_t)n);
    pb_always_float(&b, 2, (float)tfsdk_view_number(&r->in[1], i));
    pb_end(&b, value);
  }
  return summary_finish(r, &b);
}

static const tfsdk_arg in[] = {
    {"tags", "string", "the tag of each value", 0, 0},
    {"values", "T", "of the shape of `tags`; NaN and infinities stay what they are",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {{"summary", "string", "a serialized Summary", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", SUMMARY_REALS, NULL, "the type of `values`", 0, 0}};
static const char *const samples[] = {"string(\"loss\") ; T(2)", NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ScalarSummary", "numbers for TensorBoard"),
    .doc = "A serialized Summary message with one `simple_value` for each element of `values`.",
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = infer,
    .reference = compute,
    .no_grad_reason = "the output is a string",
    .samples = samples,
}};
TFSDK_UNIT_OPS(scalar_summary, ops);
