/* Range: start, start + delta, ... before limit. n = ceil((limit - start) / delta). */
#include <math.h>
#include "array.h"

static int is_float(int32_t dtype) { return tfsdk_dtype_kind(dtype) == 'f'; }

/* How many members there are. */
static tfsdk_status *count(const array_host *c, const tfsdk_view *start, const tfsdk_view *limit,
                           const tfsdk_view *delta, int64_t *out) {
  if (is_float(start->dtype)) {
    double a = tfsdk_view_number(start, 0), b = tfsdk_view_number(limit, 0),
           d = tfsdk_view_number(delta, 0), n;
    TFSDK_REQUIRE(c, d != 0, "'delta' must not be 0");
    TFSDK_REQUIRE(c, d > 0 ? a <= b : a >= b, "delta %g does not lead from start %g to limit %g", d,
                  a, b);
    n = ceil((b - a) / d);
    TFSDK_REQUIRE(c, n < 9.2e18, "start %g, limit %g, delta %g: too many members", a, b, d);
    *out = (int64_t)n;
    return NULL;
  }
  if (start->dtype == TFSDK_UINT64) {
    uint64_t a = *(const uint64_t *)start->data, b = *(const uint64_t *)limit->data,
             d = *(const uint64_t *)delta->data, n;
    TFSDK_REQUIRE(c, d != 0, "'delta' must not be 0");
    TFSDK_REQUIRE(c, a <= b, "start %llu is above limit %llu", (unsigned long long)a,
                  (unsigned long long)b);
    n = (b - a) / d + ((b - a) % d != 0);
    TFSDK_REQUIRE(c, n <= INT64_MAX, "too many members");
    *out = (int64_t)n;
    return NULL;
  }
  int64_t a = tfsdk_view_int(start, 0), b = tfsdk_view_int(limit, 0), d = tfsdk_view_int(delta, 0);
  uint64_t length, step, n;
  TFSDK_REQUIRE(c, d != 0, "'delta' must not be 0");
  TFSDK_REQUIRE(c, d > 0 ? a <= b : a >= b,
                "delta %lld does not lead from start %lld to limit %lld", (long long)d,
                (long long)a, (long long)b);
  length = d > 0 ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
  step = d > 0 ? (uint64_t)d : 0 - (uint64_t)d;
  n = length / step + (length % step != 0);
  TFSDK_REQUIRE(c, n <= INT64_MAX, "too many members");
  *out = (int64_t)n;
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  int64_t n = -1;
  for (uint32_t i = 0; i < 3; i++) TFSDK_TRY(array_scalar_arg(c, i));
  if (array_value(c, 0) && array_value(c, 1) && array_value(c, 2))
    TFSDK_TRY(count(array_host_of(c), array_value(c, 0), array_value(c, 1), array_value(c, 2), &n));
  c->out[0].shape = tfsdk_shape_vector(n);
  return NULL;
}

/* start + i * delta rather than a running sum: errors do not pile up. */
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_view *y = &r->out[0];
  double a = tfsdk_view_number(&r->in[0], 0), d = tfsdk_view_number(&r->in[2], 0);
  uint64_t first = (uint64_t)tfsdk_view_int(&r->in[0], 0),
           step = (uint64_t)tfsdk_view_int(&r->in[2], 0);
  for (int64_t i = 0; i < y->n_elem; i++) {
    uint64_t k = first + (uint64_t)i * step;
    double x = a + (double)i * d;
    switch (y->dtype) {
    case TFSDK_FLOAT32: ((float *)y->data)[i] = (float)x; break;
    case TFSDK_FLOAT64: ((double *)y->data)[i] = x; break;
    case TFSDK_FLOAT16: ((uint16_t *)y->data)[i] = tfsdk_to_half(tfsdk_round_to_odd(x)); break;
    case TFSDK_BFLOAT16: ((uint16_t *)y->data)[i] = tfsdk_to_bfloat16(tfsdk_round_to_odd(x)); break;
    case TFSDK_INT8:
    case TFSDK_UINT8: ((uint8_t *)y->data)[i] = (uint8_t)k; break;
    case TFSDK_INT16:
    case TFSDK_UINT16: ((uint16_t *)y->data)[i] = (uint16_t)k; break;
    case TFSDK_INT32:
    case TFSDK_UINT32: ((uint32_t *)y->data)[i] = (uint32_t)k; break;
    default: ((uint64_t *)y->data)[i] = k; break;
    }
  }
  return NULL;
}

static const tfsdk_arg in[] = {
    {"start", "Tidx", "scalar: the first member", ARRAY_SHAPE_ARG, 0},
    {"limit", "Tidx", "scalar: members stay before it", ARRAY_SHAPE_ARG, 0},
    {"delta", "Tidx", "scalar: the step, not 0", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "Tidx", "vector", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"Tidx", ARRAY_REAL_TYPES, "int32", "type of the members", 0, 0}};
static const char *const samples[] = {
    "int32(1) ; int32(8) ; int32(3)", "int64(5) ; int64(0) ; int64(-2)",
    "float32(0) ; float32(1) ; float32(0.25)", "int32(3) ; int32(3) ; int32(1)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Range", "numbers in even steps"),
     .doc = "`start + i * delta` while before `limit`; n = ceil((limit - start) / delta).\n\n"
            "Errors: delta 0; delta pointing away from limit.\n\nSource: TensorFlow `Range`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 7, .infer = infer, .reference = compute,
     .no_grad_reason = "counts as a constant", .samples = samples}};
TFSDK_UNIT_OPS(range, ops);
