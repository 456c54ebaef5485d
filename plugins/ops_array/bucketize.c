/* Bucketize: the number of boundaries that are not above x: the bucket that x falls into. */
#include "array.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_attrval *b = tfsdk_attr_find(&r->attr, "boundaries");
  int32_t *y = (int32_t *)r->out[0].data;
  for (uint32_t k = 1; k < b->n; k++)
    TFSDK_REQUIRE(r, b->v.floats[k - 1] <= b->v.floats[k],
                  "boundaries must rise, but %g follows %g", b->v.floats[k], b->v.floats[k - 1]);
  for (int64_t i = 0; i < r->out[0].n_elem; i++) {
    double x = tfsdk_view_number(&r->in[0], i);
    uint32_t lo = 0, hi = b->n;
    while (lo < hi) {
      uint32_t mid = lo + (hi - lo) / 2;
      /* TensorFlow keeps boundaries as float32; so 0.1 as a float32 input falls on the boundary
       * 0.1. */
      if ((double)(float)b->v.floats[mid] <= x)
        lo = mid + 1;
      else
        hi = mid;
    }
    y[i] = (int32_t)lo;
  }
  return NULL;
}

static const tfsdk_arg in[] = {{"input", "T", "any shape", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"output", "int32", "of input's shape: 0 to the number of boundaries", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype{int32,int64,float32,float64}", NULL, "type of input", 0, 0},
    {"boundaries", "list(float)", NULL, "rising", 0, 0}};
static const char *const samples[] = {"T[2,3] | boundaries=[-1,0,1]",
                                      "float32{0,10,100,150} | boundaries=[0,10,100]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Bucketize", "sorts numbers into buckets"),
     .doc = "`y = number of boundaries b with b <= x`.\n\nSource: TensorFlow `Bucketize`.",
     ARRAY_SCHEMA(in, out, attr), .infer = tfsdk_infer_same, .reference = compute,
     .no_grad_reason = "a step function", .samples = samples}};
TFSDK_UNIT_OPS(bucketize, ops);
