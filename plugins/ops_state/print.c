/* Print: shows values while a graph runs.
 *
 *     output = input, and a line with message and data      (TensorFlow's Print)
 */
#include "show.h"

#include <stdatomic.h>

/* How often a node has printed: first_n limits it. The reference kernel has no state and no limit.
 */
typedef struct counter {
  const tfsdk_host *host;
  atomic_llong n;
} counter;

static tfsdk_status *infer(tfsdk_infer *c) {
  c->out[0].shape = c->in[0].shape;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  counter *count = (counter *)state;
  int64_t first_n = tfsdk_attr_int(&r->attr, "first_n");
  show_text t = {r->host, NULL, 0, 0, 0};
  if (count != NULL && first_n >= 0) {
    if (atomic_load(&count->n) >= first_n) return r->api->forward(r, 0, 0);
    if (atomic_fetch_add(&count->n, 1) >= first_n) return r->api->forward(r, 0, 0);
  }
  show_string(&t, tfsdk_attr_string(&r->attr, "message"));
  for (uint32_t i = 1; i < r->n_in; i++) {
    show_string(&t, "[");
    show_tensor(&t, &r->in[i], tfsdk_attr_int(&r->attr, "summarize"));
    show_string(&t, "]");
  }
  if (!t.failed) r->api->print(r, t.s != NULL ? t.s : "");
  show_deinit(&t);
  if (t.failed) return show_no_memory(r);
  return r->api->forward(r, 0, 0);
}

static tfsdk_status *create(const tfsdk_kbuild *b, void **out_state) {
  counter *count = (counter *)b->host->realloc(b->host, NULL, 0, sizeof *count);
  if (count == NULL) return TFSDK_FAIL(b, RESOURCE_EXHAUSTED, "no memory for a counter");
  count->host = b->host;
  atomic_init(&count->n, 0);
  *out_state = count;
  return NULL;
}
static void destroy(void *state) {
  counter *count = (counter *)state;
  if (count != NULL) count->host->realloc(count->host, count, sizeof *count, 0);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  (void)c;
  return tfsdk_set_dx(g, 0, tfsdk_dy(g, 0));
}

static const tfsdk_arg in[] = {
    {"input", "T", "passed on", 0, 0},
    {"data", "list:U", "what to print", TFSDK_ARG_NONDIFF, 0},
};
static const tfsdk_arg out[] = {{"output", "T", "`input`", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "the type of `input`", 0, 0},
    {"U", "list(dtype)", NULL, "the types of `data`", 0, 0},
    {"message", "string", "", "what the line begins with", 0, 0},
    {"first_n", "int", "-1", "print only so many times; -1: always", 0, 0},
    {"summarize", "int", "3", "how many elements of each tensor to show; -1: all", 0, 0},
};
static const char *const samples[] = {
    "float32[2,3] ; [int32[4] ; float32[2,2]] | message=sample ",
    "T[2] ; [float32(1)] | first_n=0",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("Print", "passes a tensor on and prints others"),
    .doc = "Prints a line of `message` and the first elements of each tensor of `data` whenever "
           "it runs, at most `first_n` times, and passes `input` on. The gradient goes to "
           "`input`.",
    .flags = TFSDK_OP_EFFECT | TFSDK_OP_OWN_OUTPUTS,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = infer,
    .reference = compute,
    .grad = grad,
    .samples = samples,
}};
static const tfsdk_kerneldef kernels[] = {{TFSDK_KERNEL_HEAD("Print", "cpu", 50),
                                           .label = "counting", .create = create,
                                           .compute = compute, .destroy = destroy}};
TFSDK_UNIT_BOTH(print, ops, kernels);
