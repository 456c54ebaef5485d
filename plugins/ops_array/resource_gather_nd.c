/* ResourceGatherNd: slices of a variable named by rows of indices, without reading the whole of it
 * (see nd.h). */
#include "nd.h"

/* A handle's static shape is its variable's. */
static tfsdk_status *infer(tfsdk_infer *c) {
  return array_nd_shape(array_host_of(c), &c->in[0].shape, &c->in[1].shape, &c->out[0].shape);
}

typedef struct job {
  const tfsdk_view *v;
  array_nd nd;
} job;

static void write(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  for (int64_t k = 0; k < j->nd.rows; k++)
    array_put(s, j->v, array_nd_slice(&j->nd, k) * j->nd.inner, 1, j->nd.inner);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_shape x, indices = tfsdk_shape_of_view(&r->in[1]), y;
  tfsdk_view v;
  job j = {&v, {0}};
  TFSDK_TRY(r->api->var_view(r, 0, &v));
  TFSDK_REQUIRE(r, v.dtype == r->out[0].dtype, "the variable has type %s, but dtype says %s",
                tfsdk_dtype_name(v.dtype), tfsdk_dtype_name(r->out[0].dtype));
  x = tfsdk_shape_of_view(&v);
  TFSDK_TRY(array_nd_shape(array_host_of(r), &x, &indices, &y));
  TFSDK_TRY(array_nd_begin(r, &r->in[1], v.dim, v.rank, &j.nd));
  return array_write_as(r, 0, (uint32_t)y.rank, y.dim, write, &j);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val indices = tfsdk_input(g, 1), in[3];
  tfsdk_typed_shape t = tfsdk_type(c, indices);
  int64_t flat = -1;
  if (t.shape.rank == 2 && t.shape.dim[1] == 1) /* plain rows: the gradient stays sparse */
    return tfsdk_set_dx_slices(
        g, 0, tfsdk_emit2(c, "Reshape", indices, array_int_const(c, TFSDK_INT32, &flat, 1)),
        tfsdk_dy(g, 0));
  in[0] = indices;
  in[1] = tfsdk_dy(g, 0);
  in[2] = array_shape_of(c, tfsdk_input(g, 0), t.dtype);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "ScatterNd", in, 3, NULL, 0));
}

static const tfsdk_arg in[] = {{"resource", "resource", "the variable v", TFSDK_ARG_HOST, 0},
                               {"indices", "Tindices",
                                "[outer..., K]: rows of K indices, K <= v's rank",
                                TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"output", "dtype", "[outer...] + v.shape[K:]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"dtype", "dtype", NULL, "the variable's type", 0, 0},
    {"Tindices", ARRAY_INDEX_TYPES, NULL, "type of indices", 0, 0}};
static const char *const samples[] = {"var:float32[4,3] ; int32{{0,2},{3,0}} | dtype=float32",
                                      "var:float32[4,3] ; int64{{2},{2}} | dtype=float32", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ResourceGatherNd", "picks slices of a variable by several indices at once"),
     .flags = TFSDK_OP_STATEFUL,
     .doc =
         "`output[k, ...] = v[indices[k, 0], ..., indices[k, K-1], ...]`. An index outside is an "
         "error that names it.\n\nSource: TensorFlow `ResourceGatherNd`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 2,
     .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(resource_gather_nd, ops);
