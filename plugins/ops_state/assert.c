/* Assert: stops the run unless a condition holds.
 *                                                           (TensorFlow's Assert)
 */
#include "show.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape scalar;
  return tfsdk_with_rank(c, 0, 0, &scalar);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  show_text t = {r->host, NULL, 0, 0, 0};
  int64_t summarize = tfsdk_attr_int(&r->attr, "summarize");
  tfsdk_status *s;
  (void)state;
  if (*(const uint8_t *)r->in[0].data != 0) return NULL;
  for (uint32_t i = 1; i < r->n_in; i++) {
    show_string(&t, i > 1 ? " [" : "[");
    show_tensor(&t, &r->in[i], summarize);
    show_string(&t, "]");
  }
  /* Without memory the assertion still fails, with what text there is. */
  s = TFSDK_FAIL(r, INVALID_ARGUMENT, "assertion failed: %s", t.s != NULL ? t.s : "");
  show_deinit(&t);
  return s;
}

static const tfsdk_arg in[] = {
    {"condition", "bool", "a scalar: what must be true", 0, 0},
    {"data", "list:T", "what the error shows when it is not", 0, 0},
};
static const tfsdk_attrdef attr[] = {
    {"T", "list(dtype)", NULL, "the types of `data`", 0, 0},
    {"summarize", "int", "3", "how many elements of each tensor to show; -1: all", 0, 0},
};
static const char *const samples[] = {
    "bool(1) ; [float32[2,3] ; int32[4]]",
    "bool(1) ; [float32[2]] | summarize=-1",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("Assert", "stops the run unless a condition holds"),
    .doc = "If `condition` is false the run fails with INVALID_ARGUMENT, and the message shows the "
           "first elements of every tensor of `data`. In a graph something must depend on it, by a "
           "control input, for it to run.",
    .flags = TFSDK_OP_EFFECT,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = infer,
    .reference = compute,
    .no_grad_reason = "has no outputs",
    .samples = samples,
}};
TFSDK_UNIT_OPS(assert, ops);
