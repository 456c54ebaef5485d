/* ResourceStridedSliceAssign: replaces a slice of a variable (specification: slicing.h). */
#include "slicing.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  array_window w;
  TFSDK_TRY(array_window_infer(c, &c->in[0].shape, 1, &w));
  return array_window_check_value(array_host_of(c), &w.shape, &c->in[4].shape);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_shape value = tfsdk_shape_of_view(&r->in[4]);
  array_window win;
  tfsdk_view v;
  TFSDK_TRY(r->api->var_mutable(r, 0, &v)); /* nothing is changed before all is checked */
  TFSDK_REQUIRE(r, v.dtype == r->in[4].dtype, "the variable has type %s, but value has %s",
                tfsdk_dtype_name(v.dtype), tfsdk_dtype_name(r->in[4].dtype));
  TFSDK_TRY(array_window_run(r, v.dim, v.rank, 1, &win));
  TFSDK_TRY(array_window_check_value(array_host_of(r), &win.shape, &value));
  return array_window_assign(r, &win, &v, &r->in[4]);
}

static const tfsdk_arg in[] = {
    {"ref", "resource", "the variable", TFSDK_ARG_HOST, 0},
    {"begin", "Index", "vector: first position of each range", ARRAY_SHAPE_ARG, 0},
    {"end", "Index", "vector: the position before which each range ends", ARRAY_SHAPE_ARG, 0},
    {"strides", "Index", "vector: the steps, negative to go backwards", ARRAY_SHAPE_ARG, 0},
    {"value", "T", "of the slice's shape, or what broadcasts to it", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_NUMBER_TYPES_AND_BOOL, NULL, "type of the variable", 0, 0},
    {"Index", ARRAY_INDEX_TYPES, NULL, "type of begin, end and strides", 0, 0},
    ARRAY_MASK_ATTRS};
static const char *const samples[] = {
    "var:T[4,3] ; int32{1,0} ; int32{3,3} ; int32{1,2} ; T[2,2]",
    "var:float32[4] ; int64{0} ; int64{4} ; int64{2} ; float32(1)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ResourceStridedSliceAssign", "replaces a slice of a variable"),
     .flags = TFSDK_OP_STATEFUL,
     .doc = "The elements that `StridedSlice` would read become `value`, in place.\n\n"
            "Source: TensorFlow `ResourceStridedSliceAssign`.",
     .in = in, .attr = attr, .n_in = TFSDK_COUNT(in), .n_attr = TFSDK_COUNT(attr), .const_in = 14,
     .infer = infer, .reference = compute,
     .no_grad_reason = "changes a variable; the gradient goes through reading it",
     .samples = samples}};
TFSDK_UNIT_OPS(resource_strided_slice_assign, ops);
