/* BroadcastTo: repeats a tensor along axes of extent 1, and along new axes in front, up to a shape.
 */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  tfsdk_shape y;
  TFSDK_TRY(array_shape_arg(c, 1, "'shape'", &y));
  c->out[0].shape = y;
  if (x->rank < 0 || y.rank < 0) return NULL;
  for (int32_t i = 0; i < x->rank; i++) {
    int32_t k = y.rank - x->rank + i;
    int64_t n = k >= 0 ? y.dim[k] : -2;
    if (n == -2 || (x->dim[i] >= 0 && n >= 0 && x->dim[i] != 1 && x->dim[i] != n))
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "shape %s cannot be broadcast to %s",
                        tfsdk_shape_text(x).s, tfsdk_shape_text(&y).s);
  }
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  int64_t stride[TFSDK_MAX_RANK];
  int32_t lead = y->rank - x->rank;
  array_walk w = {0};
  array_strides(x->dim, x->rank, stride);
  for (int32_t i = 0; i < y->rank; i++)
    array_walk_axis(&w, y->dim[i], i < lead || x->dim[i - lead] == 1 ? 0 : stride[i - lead]);
  return array_copy_walk(r, 0, 0, &w);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_sum_like(c, tfsdk_dy(g, 0), tfsdk_input(g, 0)));
}

static const tfsdk_arg in[] = {{"input", "T", "any shape", 0, 0},
                               {"shape", "Tidx", "vector: the shape wanted", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "input, repeated", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0},
                                     {"Tidx", ARRAY_INDEX_TYPES, "int32", "type of shape", 0, 0}};
static const char *const samples[] = {"T[3] ; int32{2,3}", "float32[2,1] ; int64{2,3}",
                                      "float32[] ; int32{2,2}", "float32[1] ; int32{0}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BroadcastTo", "repeats a tensor up to a shape"),
     .doc =
         "NumPy's rule: shapes are aligned at their last axes; an extent of 1 is repeated, every "
         "other must be equal.\n\nSource: TensorFlow `BroadcastTo`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute, .grad = grad,
     .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(broadcast_to, ops);
