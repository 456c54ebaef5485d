/* GatherV2: picks slices of params along an axis, and GatherV2Grad, its backward op for other axes
 * than the first. Along axis 0 the gradient stays sparse: rows with their indices, so that the
 * table of an embedding gets no dense gradient. */
#include "pick.h"
#include "accumulate.h"

/* -------------------------------------------------------------------------------------- forward */

static tfsdk_status *infer(tfsdk_infer *c) {
  int32_t axis;
  TFSDK_TRY(array_axis_arg(c, 2, c->in[0].shape.rank, &axis));
  return array_gather_shape(array_host_of(c), &c->in[0].shape, &c->in[1].shape, axis,
                            tfsdk_attr_int(&c->attr, "batch_dims"), &c->out[0].shape);
}

static int32_t axis_of(const tfsdk_view *axis, int32_t rank) {
  int64_t a = tfsdk_view_int(axis, 0);
  return (int32_t)(a < 0 ? a + rank : a);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_gather_run(r, &r->in[0], &r->in[1], axis_of(&r->in[2], r->in[0].rank),
                          tfsdk_attr_int(&r->attr, "batch_dims"), 0, NULL);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val params = tfsdk_input(g, 0), indices = tfsdk_input(g, 1), axis = tfsdk_input(g, 2),
            in[4];
  int64_t batch = tfsdk_attr_int(&g->attr, "batch_dims");
  tfsdk_attrval a = tfsdk_a_int("batch_dims", batch);
  int32_t rank = tfsdk_type(c, params).shape.rank, index_rank = tfsdk_type(c, indices).shape.rank;
  tfsdk_view v;
  int first = 0;
  if (tfsdk_known(c, axis, &v))
    first = tfsdk_view_int(&v, 0) == 0 || (rank > 0 && tfsdk_view_int(&v, 0) == -rank);
  if (first && (batch == 0 || (index_rank >= 0 && batch == -index_rank)))
    return array_gather_slices(c, g, 0, indices, tfsdk_dy(g, 0));
  in[0] = params;
  in[1] = indices;
  in[2] = axis;
  in[3] = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "GatherV2Grad", in, 4, &a, 1));
}

/* ------------------------------------------------------------------------------------- backward */

static tfsdk_status *infer_back(tfsdk_infer *c) {
  tfsdk_shape y, merged;
  int32_t axis;
  TFSDK_TRY(array_axis_arg(c, 2, c->in[0].shape.rank, &axis));
  TFSDK_TRY(array_gather_shape(array_host_of(c), &c->in[0].shape, &c->in[1].shape, axis,
                               tfsdk_attr_int(&c->attr, "batch_dims"), &y));
  c->out[0].shape = c->in[0].shape;
  return tfsdk_merge(c, &y, &c->in[3].shape, "dy does not have the result's shape", &merged);
}

static tfsdk_status *compute_back(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->out[0], *indices = &r->in[1], *dy = &r->in[3];
  int32_t axis = axis_of(&r->in[2], x->rank);
  int64_t b = tfsdk_attr_int(&r->attr, "batch_dims"), batch, outer, limit, inner, n, from = 0;
  array_sum sum;
  if (b < 0) b += indices->rank;
  limit = x->dim[axis];
  batch = array_extent(x->dim, 0, (int32_t)b);
  outer = array_extent(x->dim, (int32_t)b, axis);
  inner = array_extent(x->dim, axis + 1, x->rank);
  n = array_extent(indices->dim, (int32_t)b, indices->rank);
  TFSDK_TRY(array_check_indices(r, 1, "indices", limit));
  if (x->n_elem == 0) return NULL;
  TFSDK_TRY(array_sum_begin(r, x->dtype, x->n_elem, &sum));
  for (int64_t k = 0; k < batch * outer; k++)
    for (int64_t i = 0; i < n; i++, from += inner)
      array_sum_add(&sum, (k * limit + array_index(indices, k / outer * n + i)) * inner, dy, from,
                    inner, 1);
  array_sum_end(&sum, x);
  return NULL;
}

static tfsdk_status *grad_back(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_attrval a = tfsdk_a_int("batch_dims", tfsdk_attr_int(&g->attr, "batch_dims"));
  tfsdk_val in[3];
  in[0] = tfsdk_dy(g, 0);
  in[1] = tfsdk_input(g, 1);
  in[2] = tfsdk_input(g, 2);
  return tfsdk_set_dx(g, 3, tfsdk_emit(c, "GatherV2", in, 3, &a, 1));
}

/* -------------------------------------------------------------------------------------- records */

static const tfsdk_arg in[] = {
    {"params", "Tparams", "rank 1 or more", 0, 0},
    {"indices", "Tindices", "any shape; 0 <= index < params.shape[axis]", TFSDK_ARG_NONDIFF, 0},
    {"axis", "Taxis", "scalar; negative counts from the end", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {
    {"output", "Tparams",
     "params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis+1:]", 0, 0}};
#define ATTRS(params_types)                                                                        \
  {"batch_dims", "int", "0", "axes that params and indices share in front", 0, 0},                 \
      {"Tparams", params_types, NULL, "type of the elements", 0, 0},                               \
      {"Tindices", ARRAY_INDEX_TYPES, NULL, "type of indices", 0, 0}, {                            \
    "Taxis", ARRAY_INDEX_TYPES, NULL, "type of axis", 0, 0                                         \
  }
static const tfsdk_attrdef attr[] = {ATTRS("dtype")};
static const char *const samples[] = {"T[4,3] ; int32{0,3,3} ; int32(0)",
                                      "float32[2,4] ; int64{{0,3},{1,1}} ; int32(-1)",
                                      "float32[2,4] ; int32{{0,3},{1,1}} ; int64(1) | batch_dims=1",
                                      "float32[4,2] ; int32(2) ; int32(0)",
                                      "float32[4,0] ; int32{1} ; int32(0)",
                                      "float32[4] ; int32{} ; int32(0)",
                                      NULL};
static const tfsdk_arg in_back[] = {
    {"params", "Tparams", "what was indexed", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0},
    {"indices", "Tindices", "as given to GatherV2", TFSDK_ARG_NONDIFF, 0},
    {"axis", "Taxis", "as given to GatherV2", ARRAY_SHAPE_ARG, 0},
    {"dy", "Tparams", "of GatherV2's output shape", 0, 0}};
static const tfsdk_arg out_back[] = {{"dx", "Tparams", "dy added up at the indices", 0, 0}};
static const tfsdk_attrdef attr_back[] = {ATTRS(ARRAY_NUMBER_TYPES)};
static const char *const samples_back[] = {
    "T[2,4] ; int32{0,3,3} ; int32(1) ; T[2,3]",
    "float32[2,4] ; int32{{0,3},{1,1}} ; int32(1) ; float32[2,2] | batch_dims=1", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("GatherV2", "picks slices along an axis"),
     .doc =
         "`y[..., k, ...] = params[..., indices[k], ...]` along `axis`. The first `batch_dims` "
         "axes "
         "of params and indices run together. An index out of range is an error that names it.\n\n"
         "Along axis 0 the gradient is sparse: indices and rows, which optimizers apply without "
         "a dense table.\n\nSource: TensorFlow `GatherV2`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 4, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 6, .grad_shape = 1, .samples = samples},
    {TFSDK_OP_HEAD("GatherV2Grad", "the dense gradient of GatherV2"),
     .doc =
         "Zeros like `params`, with `dy` added at the places that GatherV2 read; repeated indices "
         "add up.\n\nSource: the derivative of `GatherV2`, which is linear in params.",
     ARRAY_SCHEMA(in_back, out_back, attr_back), .const_in = 4, .infer = infer_back,
     .reference = compute_back, .grad = grad_back, .grad_in = 6, .samples = samples_back}};
TFSDK_UNIT_OPS(gather_v2, ops);
