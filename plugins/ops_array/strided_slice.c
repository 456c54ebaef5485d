/* StridedSlice: x[b0:e0:s0, ..., new axis, i] in one op, and StridedSliceGrad, its backward op. The
 * specification is explained in slicing.h. */
#include "slicing.h"

/* -------------------------------------------------------------------------------------- forward */

static tfsdk_status *infer(tfsdk_infer *c) {
  array_window w;
  TFSDK_TRY(array_window_infer(c, &c->in[0].shape, 1, &w));
  c->out[0].shape = w.shape;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  array_window win;
  array_walk w;
  TFSDK_TRY(array_window_run(r, r->in[0].dim, r->in[0].rank, 1, &win));
  array_window_walk(&win, r->in[0].dim, &w);
  return array_copy_walk(r, 0, 0, &w);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val in[5];
  tfsdk_attrval a[5];
  in[0] = array_shape_of(c, tfsdk_input(g, 0), TFSDK_INT32);
  for (uint32_t i = 1; i < 4; i++) in[i] = tfsdk_input(g, i);
  in[4] = tfsdk_dy(g, 0);
  array_masks_emit(&g->attr, a);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "StridedSliceGrad", in, 5, a, 5));
}

/* ------------------------------------------------------------------------------------- backward */

static tfsdk_status *infer_back(tfsdk_infer *c) {
  array_window w;
  tfsdk_shape merged;
  TFSDK_TRY(array_shape_arg(c, 0, "'shape'", &c->out[0].shape));
  TFSDK_TRY(array_window_infer(c, &c->out[0].shape, 1, &w));
  return tfsdk_merge(c, &w.shape, &c->in[4].shape, "dy does not have the slice's shape", &merged);
}

static tfsdk_status *compute_back(void *state, tfsdk_run *r) {
  array_window win;
  array_walk w;
  TFSDK_TRY(array_window_run(r, r->out[0].dim, r->out[0].rank, 1, &win));
  if (r->out[0].n_elem == 0) return NULL;
  array_window_walk(&win, r->out[0].dim, &w);
  memset(r->out[0].data, 0, (size_t)r->out[0].n_elem * tfsdk_dtype_size(r->out[0].dtype));
  if (r->in[4].n_elem > 0)
    array_scatter_walk(r->out[0].data, tfsdk_dtype_size(r->out[0].dtype), &w, r->in[4].data);
  return NULL;
}

static tfsdk_status *grad_back(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val in[4];
  tfsdk_attrval a[5];
  in[0] = tfsdk_dy(g, 0);
  for (uint32_t i = 1; i < 4; i++) in[i] = tfsdk_input(g, i);
  array_masks_emit(&g->attr, a);
  return tfsdk_set_dx(g, 4, tfsdk_emit(c, "StridedSlice", in, 4, a, 5));
}

/* -------------------------------------------------------------------------------------- records */

#define SPEC_ARGS                                                                                  \
  {"begin", "Index", "vector: first position of each range", ARRAY_SHAPE_ARG, 0},                  \
      {"end", "Index", "vector: the position before which each range ends", ARRAY_SHAPE_ARG, 0}, { \
    "strides", "Index", "vector: the steps, negative to go backwards", ARRAY_SHAPE_ARG, 0          \
  }

static const tfsdk_arg in[] = {{"input", "T", "any shape", 0, 0}, SPEC_ARGS};
static const tfsdk_arg out[] = {{"output", "T", "the slice", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Index", "dtype{int16,int32,int64}", NULL, "type of begin, end and strides", 0, 0},
    ARRAY_MASK_ATTRS};
static const char *const samples[] = {
    "T[4,3] ; int32{1,0} ; int32{3,3} ; int32{1,2}",
    "float32[4,3] ; int32{-1,0} ; int32{0,1} ; int32{-2,1} | end_mask=1;shrink_axis_mask=2",
    "float32[2,3,4] ; int64{0,0,1} ; int64{0,0,3} ; int64{1,1,1} | ellipsis_mask=1;new_axis_mask=2",
    "float32[3,0] ; int32{0} ; int32{2} ; int32{1}", NULL};
static const tfsdk_arg in_back[] = {{"shape", "Tshape", "vector: x's shape", ARRAY_SHAPE_ARG, 0},
                                    SPEC_ARGS,
                                    {"dy", "T", "of the slice's shape", 0, 0}};
static const tfsdk_arg out_back[] = {
    {"output", "T", "dy at the slice's place, zeros elsewhere", 0, 0}};
static const tfsdk_attrdef attr_back[] = {
    {"T", ARRAY_NUMBER_TYPES_AND_BOOL, NULL, "type of the elements", 0, 0},
    {"Tshape", ARRAY_INDEX_TYPES, NULL, "type of shape", 0, 0},
    {"Index", "dtype{int16,int32,int64}", NULL, "type of begin, end and strides", 0, 0},
    ARRAY_MASK_ATTRS};
static const char *const samples_back[] = {
    "int32{4,3} ; int32{1,0} ; int32{3,3} ; int32{1,2} ; T[2,2]",
    "int32{4,3} ; int32{3,0} ; int32{0,1} ; int32{-2,1} ; float32[2] | shrink_axis_mask=2", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("StridedSlice", "ranges with steps, single positions and new axes"),
     .doc =
         "Entry i of `begin`, `end`, `strides` is a range of the next axis, as in Python's "
         "`x[b:e:s]`; bits of the masks change its meaning: `begin_mask` and `end_mask` leave that "
         "end open, `shrink_axis_mask` takes the one position `begin[i]` and drops the axis, "
         "`new_axis_mask` adds an axis of extent 1, `ellipsis_mask` stands for all axes left "
         "over. Ranges are cut to the axis; a single position outside is an error.\n\n"
         "Source: TensorFlow `StridedSlice`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 14, .infer = infer, .reference = compute,
     .grad = grad, .grad_in = 14, .grad_shape = 1, .samples = samples},
    {TFSDK_OP_HEAD("StridedSliceGrad", "the gradient of StridedSlice"),
     .doc = "Zeros of shape `shape` with `dy` at the places that StridedSlice would have read.\n\n"
            "Source: TensorFlow `StridedSliceGrad`.",
     ARRAY_SCHEMA(in_back, out_back, attr_back), .const_in = 15, .infer = infer_back,
     .reference = compute_back, .grad = grad_back, .grad_in = 14, .samples = samples_back}};
TFSDK_UNIT_OPS(strided_slice, ops);
