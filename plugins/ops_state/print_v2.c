/* PrintV2: prints a string.
 *
 *     a line with input                                     (TensorFlow's PrintV2)
 */
#include "show.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape scalar;
  return tfsdk_with_rank(c, 0, 0, &scalar);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  show_text t = {r->host, NULL, 0, 0, 0};
  const char *end = tfsdk_attr_string(&r->attr, "end");
  size_t n = strlen(end);
  (void)state;
  show_element(&t, &r->in[0], 0);
  /* The host ends the line itself. */
  if (n > 0 && end[n - 1] == '\n') n--;
  show_bytes(&t, end, n);
  if (!t.failed) r->api->print(r, t.s);
  show_deinit(&t);
  return t.failed ? show_no_memory(r) : NULL;
}

static const tfsdk_arg in[] = {{"input", "string", "a scalar: the text", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"output_stream", "string", "stderr",
     "accepted for TensorFlow's sake: the text goes where the runtime's log goes", 0, 0},
    {"end", "string", "\n", "added at the end", 0, 0},
};
static const char *const samples[] = {"string(\"hello\")", NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("PrintV2", "prints a string"),
    .doc = "Prints `input` as a line. In a graph something must depend on it, by a control "
           "input, for it to run.",
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
TFSDK_UNIT_OPS(print_v2, ops);
