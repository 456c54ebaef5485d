/* TensorStridedSliceUpdate: a copy of a tensor with a slice replaced (specification: slicing.h). */
#include "slicing.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  array_window w;
  c->out[0].shape = c->in[0].shape;
  TFSDK_TRY(array_window_infer(c, &c->in[0].shape, 1, &w));
  return array_window_check_value(array_host_of(c), &w.shape, &c->in[4].shape);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  array_window win;
  TFSDK_TRY(array_window_run(r, x->dim, x->rank, 1, &win));
  if (y->n_elem == 0) return NULL;
  if (y->data != x->data) memcpy(y->data, x->data, (size_t)y->n_elem * tfsdk_dtype_size(y->dtype));
  return array_window_assign(r, &win, y, &r->in[4]);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val in[5];
  tfsdk_attrval a[5];
  array_masks_emit(&g->attr, a);
  in[0] = tfsdk_dy(g, 0);
  for (uint32_t i = 1; i < 4; i++) in[i] = tfsdk_input(g, i);
  if (tfsdk_wants(g, 4)) {
    tfsdk_val slice = tfsdk_emit(c, "StridedSlice", in, 4, a, 5);
    TFSDK_TRY(tfsdk_set_dx(g, 4, tfsdk_sum_like(c, slice, tfsdk_input(g, 4))));
  }
  in[4] = tfsdk_scalar_like(c, in[0], 0);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "TensorStridedSliceUpdate", in, 5, a, 5));
}

static const tfsdk_arg in[] = {
    {"input", "T", "any shape", 0, 0},
    {"begin", "Index", "vector: first position of each range", ARRAY_SHAPE_ARG, 0},
    {"end", "Index", "vector: the position before which each range ends", ARRAY_SHAPE_ARG, 0},
    {"strides", "Index", "vector: the steps, negative to go backwards", ARRAY_SHAPE_ARG, 0},
    {"value", "T", "of the slice's shape, or what broadcasts to it", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "input with the slice replaced by value", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_NUMBER_TYPES_AND_BOOL, NULL, "type of the elements", 0, 0},
    {"Index", ARRAY_INDEX_TYPES, NULL, "type of begin, end and strides", 0, 0},
    ARRAY_MASK_ATTRS};
static const int8_t may_alias[] = {0};
static const char *const samples[] = {
    "T[4,3] ; int32{1,0} ; int32{3,3} ; int32{1,2} ; T[2,2]",
    "float32[4,3] ; int64{3,1} ; int64{0,0} ; int64{-2,1} ; float32[2] | shrink_axis_mask=2",
    "float32[4] ; int32{0} ; int32{4} ; int32{2} ; float32(1)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("TensorStridedSliceUpdate", "replaces a slice of a tensor"),
     .doc =
         "A copy of `input` in which the elements that `StridedSlice` would read hold `value`.\n\n"
         "Source: TensorFlow `TensorStridedSliceUpdate`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 14, .may_alias = may_alias, .infer = infer,
     .reference = compute, .grad = grad, .grad_in = 14, .grad_shape = 16, .samples = samples}};
TFSDK_UNIT_OPS(tensor_strided_slice_update, ops);
