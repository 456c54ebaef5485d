/* ScatterNd: adds updates up in a tensor of zeros, at the slices that rows of indices name (nd.h).
 */
#include "accumulate.h"
#include "nd.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  TFSDK_TRY(array_shape_arg(c, 2, "'shape'", &c->out[0].shape));
  return array_nd_check_updates(c, &c->out[0].shape, 0, 1);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *y = &r->out[0];
  array_sum sum;
  array_nd n;
  TFSDK_TRY(array_nd_begin(r, &r->in[0], y->dim, y->rank, &n));
  if (y->n_elem == 0) return NULL;
  TFSDK_TRY(array_sum_begin(r, y->dtype, y->n_elem, &sum));
  for (int64_t k = 0; k < n.rows; k++) {
    int64_t slice = array_nd_slice(&n, k);
    if (slice >= 0) array_sum_add(&sum, slice * n.inner, &r->in[1], k * n.inner, n.inner, 1);
  }
  array_sum_end(&sum, y);
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_attrval a =
      tfsdk_a_string("bad_indices_policy", tfsdk_attr_string(&g->attr, "bad_indices_policy"));
  tfsdk_val in[2];
  in[0] = tfsdk_dy(g, 0);
  in[1] = tfsdk_input(g, 0);
  return tfsdk_set_dx(g, 1, tfsdk_emit(c, "GatherNd", in, 2, &a, 1));
}

static const tfsdk_arg in[] = {
    {"indices", "Tindices", "[outer..., K]: rows of K indices, K <= the rank of shape",
     TFSDK_ARG_NONDIFF, 0},
    {"updates", "T", "[outer...] + shape[K:]", 0, 0},
    {"shape", "Tindices", "vector: the shape of the result", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of that shape", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_NUMBER_TYPES_AND_BOOL, NULL, "type of the elements", 0, 0},
    {"Tindices", "dtype{int16,int32,int64}", NULL, "type of indices and shape", 0, 0},
    ARRAY_ND_POLICY};
static const char *const samples[] = {
    "int32{{0,2},{3,0},{0,2}} ; T[3] ; int32{4,3}", "int64{{3},{1}} ; float32[2,3] ; int64{4,3}",
    "int32{{5},{1}} ; float32[2] ; int32{3} | bad_indices_policy=IGNORE", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ScatterNd", "adds updates up at given places of a tensor of zeros"),
     .doc =
         "`output[indices[k, 0], ..., indices[k, K-1], ...] += updates[k, ...]`, starting from "
         "zeros: repeated indices add up (bool: or). An index outside is an error that names it; "
         "with bad_indices_policy IGNORE it is skipped.\n\nSource: TensorFlow `ScatterNd`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 4, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 1, .samples = samples}};
TFSDK_UNIT_OPS(scatter_nd, ops);
