/* ResourceGather: rows of a variable, without reading the whole of it. */
#include "pick.h"

/* A handle's static shape is its variable's. */
static tfsdk_status *infer(tfsdk_infer *c) {
  int64_t batch = tfsdk_attr_int(&c->attr, "batch_dims");
  if (batch < 0 && c->in[1].shape.rank < 0) return NULL;
  return array_gather_shape(array_host_of(c), &c->in[0].shape, &c->in[1].shape,
                            (int32_t)(batch < 0 ? batch + c->in[1].shape.rank : batch), batch,
                            &c->out[0].shape);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  int64_t batch = tfsdk_attr_int(&r->attr, "batch_dims");
  tfsdk_shape x, indices = tfsdk_shape_of_view(&r->in[1]), y;
  tfsdk_view v;
  TFSDK_TRY(r->api->var_view(r, 0, &v));
  TFSDK_REQUIRE(r, v.dtype == r->out[0].dtype, "the variable has type %s, but dtype says %s",
                tfsdk_dtype_name(v.dtype), tfsdk_dtype_name(r->out[0].dtype));
  x = tfsdk_shape_of_view(&v);
  if (batch < 0) batch += indices.rank;
  TFSDK_TRY(array_gather_shape(array_host_of(r), &x, &indices, (int32_t)batch, batch, &y));
  return array_gather_run(r, &v, &r->in[1], (int32_t)batch, batch, (uint32_t)y.rank, y.dim);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  if (tfsdk_attr_int(&g->attr, "batch_dims") != 0)
    return TFSDK_FAIL(g, UNIMPLEMENTED,
                      "no gradient with batch_dims %lld: read the variable and use GatherV2",
                      (long long)tfsdk_attr_int(&g->attr, "batch_dims"));
  return array_gather_slices(c, g, 0, tfsdk_input(g, 1), tfsdk_dy(g, 0));
}

static const tfsdk_arg in[] = {
    {"resource", "resource", "a variable of rank 1 or more", TFSDK_ARG_HOST, 0},
    {"indices", "Tindices", "any shape; 0 <= index < variable.shape[batch_dims]", TFSDK_ARG_NONDIFF,
     0}};
static const tfsdk_arg out[] = {
    {"output", "dtype", "indices.shape + variable.shape[batch_dims + 1:]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"batch_dims", "int", "0", "axes that variable and indices share in front", 0, 0},
    {"validate_indices", "bool", "true", "has no effect: indices are always checked", 0, 0},
    {"dtype", "dtype", NULL, "the variable's type", 0, 0},
    {"Tindices", ARRAY_INDEX_TYPES, NULL, "type of indices", 0, 0}};
static const char *const samples[] = {"var:float32[4,3] ; int32{0,3,3} | dtype=float32",
                                      "var:float32[4,3] ; int64(2) | dtype=float32", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ResourceGather", "picks rows of a variable"), .flags = TFSDK_OP_STATEFUL,
     .doc = "`y[k, ...] = variable[indices[k], ...]`. The gradient is sparse: indices and rows.\n\n"
            "Source: TensorFlow `ResourceGather`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 2,
     .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(resource_gather, ops);
