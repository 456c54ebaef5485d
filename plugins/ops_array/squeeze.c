/* Squeeze: drops axes of extent 1, all of them or those that squeeze_dims lists. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  tfsdk_shape y = tfsdk_shape_scalar();
  uint32_t n, drop = 0;
  const int64_t *dims = tfsdk_attr_ints(&c->attr, "squeeze_dims", &n);
  if (x->rank < 0) return NULL;
  for (uint32_t i = 0; i < n; i++) {
    int32_t axis = 0;
    TFSDK_TRY(tfsdk_axis(c, dims[i], x->rank, &axis));
    if (x->dim[axis] >= 0 && x->dim[axis] != 1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "cannot squeeze axis %d of shape %s: its extent is %lld, not 1", (int)axis,
                        tfsdk_shape_text(x).s, (long long)x->dim[axis]);
    drop |= 1u << axis;
  }
  if (n == 0) {
    for (int32_t i = 0; i < x->rank; i++) {
      if (x->dim[i] < 0) return NULL; /* may or may not be 1: not even the rank is known */
      if (x->dim[i] == 1) drop |= 1u << i;
    }
  }
  for (int32_t i = 0; i < x->rank; i++)
    if (!(drop >> i & 1)) y.dim[y.rank++] = x->dim[i];
  c->out[0].shape = y;
  return NULL;
}

static const tfsdk_arg in[] = {{"input", "T", "any shape", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "input without the axes", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"squeeze_dims", "list(int)", "[]", "the axes to drop; none given: all of extent 1", 0, 0}};
static const char *const samples[] = {"T[1,3,1]", "T[1,3,1] | squeeze_dims=[-1]",
                                      "float32[1,1] | squeeze_dims=[0,1]", "float32[1,0]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Squeeze", "drops axes of extent 1"), .flags = TFSDK_OP_VIEW,
     .doc = "Nothing is copied. An axis that is listed and has another extent is an error.\n\n"
            "Source: TensorFlow `Squeeze`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .grad = array_grad_reshape, .grad_shape = 1,
     .samples = samples}};
TFSDK_UNIT_OPS(squeeze, ops);
