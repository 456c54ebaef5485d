/* HistogramSummary: how values are spread, for the histograms and distributions dashboards.
 *
 *     buckets whose limits grow by a tenth from 1e-12 to 1e20, and the same below zero
 *
 * HistogramProto{min 1, max 2, num 3, sum 4, sum_squares 5, bucket_limit 6*, bucket 7*}; a run of
 * empty buckets becomes one (tensorflow/core/lib/histogram). */
#include <float.h>
#include <math.h>
#include <pthread.h>

#include "summary.h"

#define MOST 2048 /* limits: 2 * 776 + 1 */

static double limits[MOST];
static size_t n_limits;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The products are rounded one after another, as TensorFlow's are: the limits are in the bytes. */
static void prepare(void) {
  double up[MOST / 2];
  size_t n = 0;
  for (double v = 1.0e-12; v < 1.0e20 && n + 1 < MOST / 2; v *= 1.1) up[n++] = v;
  up[n++] = DBL_MAX;
  for (size_t i = n; i-- > 0;) limits[n_limits++] = -up[i];
  limits[n_limits++] = 0.0;
  for (size_t i = 0; i < n; i++) limits[n_limits++] = up[i];
}

/* The first bucket whose limit is above x; the last one for what no limit is above. */
static size_t bucket_of(double x) {
  size_t low = 0, high = n_limits;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (limits[middle] <= x)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n_limits ? low : n_limits - 1;
}

static void put_buckets(pb *b, const double *count) {
  pb limit = pb_new(b->host), number = pb_new(b->host);
  for (size_t i = 0; i < n_limits;) {
    size_t last = i++;
    if (count[last] <= 0)
      while (i < n_limits && count[i] <= 0) last = i++;
    pb_fixed(&limit, pb_bits(limits[last]), 8);
    pb_fixed(&number, pb_bits(count[last]), 8);
  }
  pb_put_bytes(b, 6, limit.p, limit.n);
  pb_put_bytes(b, 7, number.p, number.n);
  b->failed = b->failed || limit.failed || number.failed;
  pb_free(&limit);
  pb_free(&number);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *v = &r->in[1];
  double low = DBL_MAX, high = -DBL_MAX, sum = 0, squares = 0, *count;
  const char *tag = NULL;
  uint64_t n = 0;
  void *room;
  (void)state;
  (void)pthread_once(&once, prepare);
  TFSDK_TRY(summary_scalar(r, 0, "tag", &tag, &n));
  TFSDK_TRY(r->api->workspace(r, n_limits * sizeof *count, &room));
  count = (double *)room;
  for (size_t i = 0; i < n_limits; i++) count[i] = 0;
  for (int64_t i = 0; i < v->n_elem; i++) {
    double x = tfsdk_view_number(v, i);
    if (!isfinite(x))
      return TFSDK_FAIL(r, INVALID_ARGUMENT,
                        "%s in the values of the histogram '%.*s' (element %lld)",
                        isnan(x) ? "NaN" : "infinity", n < 200 ? (int)n : 200, tag, (long long)i);
    count[bucket_of(x)] += 1;
    if (x < low) low = x;
    if (x > high) high = x;
    sum += x;
    squares += x * x;
  }
  pb b = pb_new(r->host);
  size_t value = pb_begin(&b, 1), histo;
  pb_put_bytes(&b, 1, tag, (size_t)n);
  histo = pb_begin(&b, 5);
  pb_put_double(&b, 1, low);
  pb_put_double(&b, 2, high);
  pb_put_double(&b, 3, (double)v->n_elem);
  pb_put_double(&b, 4, sum);
  pb_put_double(&b, 5, squares);
  put_buckets(&b, count);
  pb_end(&b, histo);
  pb_end(&b, value);
  return summary_finish(r, &b);
}

static const tfsdk_arg in[] = {
    {"tag", "string", "a scalar", 0, 0},
    {"values", "T", "any shape, all finite", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {{"summary", "string", "a serialized Summary", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", SUMMARY_REALS, "float32", "the type of `values`", 0, 0}};
static const char *const samples[] = {"string(\"w\") ; T[2,3]", NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("HistogramSummary", "how values are spread, for TensorBoard"),
    .doc = "A serialized Summary message with a histogram of all elements of `values`. NaN and "
           "infinities are an error that names the tag and the element.",
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = tfsdk_infer_scalar,
    .reference = compute,
    .no_grad_reason = "the output is a string",
    .samples = samples,
}};
TFSDK_UNIT_OPS(histogram_summary, ops);
