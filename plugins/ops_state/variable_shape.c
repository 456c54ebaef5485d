/* VariableShape: the shape of a variable's present value.
 *
 *     output = the extents of the variable                  (TensorFlow's VariableShape)
 */
#include "state.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  c->out[0].shape = tfsdk_shape_vector(c->in[0].shape.rank);
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_view v;
  int64_t dim[1];
  (void)state;
  TFSDK_TRY(r->api->var_view(r, 0, &v));
  dim[0] = v.rank;
  /* The static rank may be open. */
  TFSDK_TRY(r->api->alloc_out(r, 0, 1, dim));
  for (int32_t i = 0; i < v.rank; i++) {
    if (r->out[0].dtype == TFSDK_INT64) {
      ((int64_t *)r->out[0].data)[i] = v.dim[i];
      continue;
    }
    TFSDK_REQUIRE(r, v.dim[i] <= INT32_MAX, "extent %lld does not fit into int32",
                  (long long)v.dim[i]);
    ((int32_t *)r->out[0].data)[i] = (int32_t)v.dim[i];
  }
  return NULL;
}

static const tfsdk_arg in[] = {{"input", "resource", "the variable's handle", TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {
    {"output", "out_type", "a vector: the extents of the variable's value", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"out_type", "dtype{int32,int64}", "int32", "the type of the extents", 0, 0},
};
static const char *const samples[] = {
    "var:float32[2,3]",
    "var:float32[0,4] | out_type=int64",
    "var:float32[]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("VariableShape", "the shape of a variable's value"),
    .doc = "The extents of the value that the variable has when the op runs.",
    .flags = TFSDK_OP_STATEFUL | TFSDK_OP_OWN_OUTPUTS | TFSDK_OP_ANY_DEVICE,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = infer,
    .reference = compute,
    .no_grad_reason = "integers",
    .samples = samples,
}};
TFSDK_UNIT_OPS(variable_shape, ops);
