/* LinSpace: num numbers at equal distances from start to stop, both included. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_view *v = array_value(c, 2);
  int64_t n = -1;
  for (uint32_t i = 0; i < 3; i++) TFSDK_TRY(array_scalar_arg(c, i));
  if (v != NULL) {
    n = tfsdk_view_int(v, 0);
    if (n < 1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "'num' is %lld, but must be at least 1", (long long)n);
  }
  c->out[0].shape = tfsdk_shape_vector(n);
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *y = &r->out[0];
  double a = tfsdk_view_number(&r->in[0], 0), b = tfsdk_view_number(&r->in[1], 0);
  double step = y->n_elem > 1 ? (b - a) / (double)(y->n_elem - 1) : 0;
  for (int64_t i = 0; i < y->n_elem; i++) {
    double x = i > 0 && i == y->n_elem - 1 ? b : a + (double)i * step; /* the end is exact */
    switch (y->dtype) {
    case TFSDK_FLOAT32: ((float *)y->data)[i] = (float)x; break;
    case TFSDK_FLOAT16: ((uint16_t *)y->data)[i] = tfsdk_to_half(tfsdk_round_to_odd(x)); break;
    case TFSDK_BFLOAT16: ((uint16_t *)y->data)[i] = tfsdk_to_bfloat16(tfsdk_round_to_odd(x)); break;
    default: ((double *)y->data)[i] = x; break;
    }
  }
  return NULL;
}

static const tfsdk_arg in[] = {{"start", "T", "scalar", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
                               {"stop", "T", "scalar", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
                               {"num", "Tidx", "scalar: how many, at least 1", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "vector of num numbers", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", ARRAY_FLOAT_TYPES, NULL, "type of the numbers", 0, 0},
                                     {"Tidx", ARRAY_INDEX_TYPES, "int32", "type of num", 0, 0}};
static const char *const samples[] = {"T[] ; T[] ; int32(5)", "float32(1) ; float32(-2) ; int64(1)",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("LinSpace", "numbers at equal distances"),
     .doc = "`start + i (stop - start) / (num - 1)`; the last is exactly `stop`, a single one is "
            "`start`.\n\nSource: TensorFlow `LinSpace`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 4, .infer = infer, .reference = compute,
     .no_grad_reason = "counts as a constant", .samples = samples}};
TFSDK_UNIT_OPS(lin_space, ops);
