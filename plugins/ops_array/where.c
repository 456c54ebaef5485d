/* Where: the coordinates of all elements that are not zero, in row-major order. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  c->out[0].shape = tfsdk_shape_of_rank(2);
  c->out[0].shape.dim[1] = c->in[0].shape.rank;
  return NULL;
}

/* NaN is not zero. */
static int set(const tfsdk_view *x, int64_t i) {
  switch (x->dtype) {
  case TFSDK_COMPLEX64: {
    const float *z = (const float *)x->data + 2 * i;
    return z[0] != 0 || z[1] != 0;
  }
  case TFSDK_COMPLEX128: {
    const double *z = (const double *)x->data + 2 * i;
    return z[0] != 0 || z[1] != 0;
  }
  case TFSDK_INT64:
  case TFSDK_UINT64: return ((const uint64_t *)x->data)[i] != 0;
  case TFSDK_BOOL: return ((const uint8_t *)x->data)[i] != 0;
  default: return tfsdk_view_number(x, i) != 0;
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t dim[2], *y;
  dim[0] = 0;
  dim[1] = x->rank;
  for (int64_t i = 0; i < x->n_elem; i++) dim[0] += set(x, i);
  TFSDK_TRY(array_alloc(r, 0, 2, dim));
  y = (int64_t *)r->out[0].data;
  for (int64_t i = 0; x->rank > 0 && i < x->n_elem; i++) {
    int64_t rest = i;
    if (!set(x, i)) continue;
    for (int32_t k = x->rank; k-- > 0; rest /= x->dim[k]) y[k] = rest % x->dim[k];
    y += x->rank;
  }
  return NULL;
}

static const tfsdk_arg in[] = {{"input", "T", "any shape", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"index", "int64", "[n, rank]: a row for each element", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_NUMBER_TYPES_AND_BOOL, "bool", "type of the elements", 0, 0}};
static const char *const samples[] = {"bool{{true,false},{true,true}}", "T[2,3]", "float32[0,2]",
                                      "bool(true)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Where", "the coordinates of what is not zero"),
     .doc =
         "One row for each element that is true, or not 0 (NaN is not 0), in row-major order.\n\n"
         "Source: TensorFlow `Where`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "integers", .samples = samples}};
TFSDK_UNIT_OPS(where, ops);
