/* GatherNd: slices named by rows of indices into the first axes (see nd.h). */
#include "nd.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  if (c->in[0].shape.rank == 0)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'params' is a scalar: there is nothing to index");
  return array_nd_shape(array_host_of(c), &c->in[0].shape, &c->in[1].shape, &c->out[0].shape);
}

typedef struct job {
  const tfsdk_view *params;
  array_nd nd;
} job;

static void write(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  for (int64_t k = 0; k < j->nd.rows; k++) {
    int64_t slice = array_nd_slice(&j->nd, k);
    if (slice < 0)
      array_put_zeros(s, j->nd.inner);
    else
      array_put(s, j->params, slice * j->nd.inner, 1, j->nd.inner);
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  job j = {&r->in[0], {0}};
  TFSDK_TRY(array_nd_begin(r, &r->in[1], r->in[0].dim, r->in[0].rank, &j.nd));
  return array_write(r, 0, write, &j);
}

/* Rows of one number each are plain rows: their gradient stays sparse, as that of GatherV2. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val indices = tfsdk_input(g, 1), in[3];
  tfsdk_typed_shape t = tfsdk_type(c, indices);
  const char *policy = tfsdk_attr_string(&g->attr, "bad_indices_policy");
  tfsdk_attrval a = tfsdk_a_string("bad_indices_policy", policy);
  if (t.shape.rank == 2 && t.shape.dim[1] == 1 && strcmp(policy, "IGNORE") != 0) {
    int64_t flat = -1;
    tfsdk_val list = tfsdk_emit2(c, "Reshape", indices, array_int_const(c, TFSDK_INT32, &flat, 1));
    return tfsdk_set_dx_slices(g, 0, list, tfsdk_dy(g, 0));
  }
  in[0] = indices;
  in[1] = tfsdk_dy(g, 0);
  in[2] = array_emit_shape(c, tfsdk_input(g, 0), t.dtype);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "ScatterNd", in, 3, &a, 1));
}

static const tfsdk_arg in[] = {{"params", "Tparams", "rank 1 or more", 0, 0},
                               {"indices", "Tindices",
                                "[outer..., K]: rows of K indices, K <= params' rank",
                                TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"output", "Tparams", "[outer...] + params.shape[K:]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"Tparams", "dtype", NULL, "type of the elements", 0, 0},
    {"Tindices", "dtype{int16,int32,int64}", NULL, "type of indices", 0, 0},
    ARRAY_ND_POLICY};
static const char *const samples[] = {
    "T[4,3] ; int32{{0,2},{3,0},{0,2}}", "float32[4,3] ; int64{{3},{1},{3}}",
    "float32[2,3,2] ; int32{{{0,1},{1,2}}}",
    "float32[3] ; int32{{5},{1}} | bad_indices_policy=IGNORE", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("GatherNd", "picks slices by several indices at once"),
     .doc =
         "`output[k, ...] = params[indices[k, 0], ..., indices[k, K-1], ...]`. An index outside is "
         "an error that names it; with bad_indices_policy IGNORE it gives zeros.\n\n"
         "Source: TensorFlow `GatherNd`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 2,
     .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(gather_nd, ops);
