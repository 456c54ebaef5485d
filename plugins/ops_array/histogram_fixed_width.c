/* HistogramFixedWidth: counts in nbins bins of equal width over a range; what lies outside goes to
 * the first or last bin. */
#include <math.h>
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_view *v = array_value(c, 2);
  tfsdk_shape range;
  int64_t n = -1;
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &range));
  TFSDK_TRY(array_scalar_arg(c, 2));
  if (range.dim[0] >= 0 && range.dim[0] != 2)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'value_range' must have 2 members, but has %lld",
                      (long long)range.dim[0]);
  if (v != NULL) {
    n = tfsdk_view_int(v, 0);
    if (n < 1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "'nbins' is %lld, but must be at least 1",
                        (long long)n);
  }
  c->out[0].shape = tfsdk_shape_vector(n);
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  double lo = tfsdk_view_number(&r->in[1], 0), hi = tfsdk_view_number(&r->in[1], 1), step;
  int64_t n = y->n_elem;
  TFSDK_REQUIRE(r, lo < hi, "value_range (%g, %g) must rise", lo, hi);
  step = (hi - lo) / (double)n;
  memset(y->data, 0, (size_t)n * tfsdk_dtype_size(y->dtype));
  for (int64_t i = 0; i < x->n_elem; i++) {
    double at = floor((tfsdk_view_number(x, i) - lo) / step);
    int64_t bin = at >= (double)n ? n - 1 : at >= 0 ? (int64_t)at : 0;
    TFSDK_REQUIRE(r, at == at, "values[%lld] is NaN", (long long)i);
    array_set_index(y, bin, array_index(y, bin) + 1);
  }
  return NULL;
}

static const tfsdk_arg in[] = {
    {"values", "T", "any shape", TFSDK_ARG_NONDIFF, 0},
    {"value_range", "T", "vector: lower and upper end of the range",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"nbins", "int32", "scalar: the number of bins", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"out", "dtype", "vector: the count of each bin", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype{int32,int64,float32,float64}", NULL, "type of the values", 0, 0},
    {"dtype", ARRAY_INDEX_TYPES, "int32", "type of the counts", 0, 0}};
static const char *const samples[] = {"float32[20] ; float32{-2,2} ; int32(5)",
                                      "int32{0,5,9,11} ; int32{0,10} ; int32(2) | dtype=int64",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("HistogramFixedWidth", "counts in bins of equal width"),
     .doc = "`bin = floor((x - low) / width)`, kept within 0..nbins-1.\n\n"
            "Source: TensorFlow `HistogramFixedWidth`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 4, .infer = infer, .reference = compute,
     .no_grad_reason = "counts: a step function", .samples = samples}};
TFSDK_UNIT_OPS(histogram_fixed_width, ops);
