/* Classes drawn with given chances.
 *
 *     P(output[b, s] = c) = exp(logits[b, c]) / sum_k exp(logits[b, k])
 *
 *
 * A sample is the first class where the running sum of chances passes a uniform number times the
 * whole sum. Sums are in binary64, whatever the type of the logits.
 */
#ifndef OPS_RANDOM_CLASSES_H
#define OPS_RANDOM_CLASSES_H

#include "draw.h"

/* sum[c] is the chance of classes 0..c, not normalised. Classes of chance 0 (logit -inf) add
 * nothing, and the search below never stops at them. */
static inline tfsdk_status *classes_sum(const tfsdk_run *r, int64_t row, int64_t classes,
                                        double *sum) {
  const tfsdk_view *v = &r->in[0];
  double top = -INFINITY, at = 0;
  for (int64_t c = 0; c < classes; c++) {
    double x = tfsdk_view_number(v, row * classes + c);
    TFSDK_REQUIRE(r, !isnan(x) && x < INFINITY, "logits[%lld, %lld] is %s", (long long)row,
                  (long long)c, isnan(x) ? "NaN" : "infinite");
    if (x > top) top = x;
  }
  TFSDK_REQUIRE(r, top > -INFINITY, "no class of row %lld of 'logits' has a chance",
                (long long)row);
  for (int64_t c = 0; c < classes; c++) {
    at += exp(tfsdk_view_number(v, row * classes + c) - top);
    sum[c] = at;
  }
  return NULL;
}

/* The first class whose running sum is more than x; x is less than the last sum. */
static inline int64_t classes_search(const double *sum, int64_t classes, double x) {
  int64_t low = 0, high = classes - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (sum[middle] > x)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static inline tfsdk_status *classes_run(tfsdk_run *r, const tfsdk_view *seed) {
  const tfsdk_view *v = &r->in[0];
  int64_t rows = v->dim[0], classes = v->dim[1], n = tfsdk_view_int(&r->in[1], 0);
  draw_stream s;
  void *memory;
  if (rows == 0 || n == 0) return NULL;
  TFSDK_REQUIRE(r, classes > 0, "'logits' has no classes");
  if (seed != NULL)
    s = draw_open_seed(seed);
  else
    TFSDK_TRY(draw_open(r, rows * n, &s));
  TFSDK_TRY(r->api->workspace(r, (size_t)classes * sizeof(double), &memory));
  for (int64_t row = 0; row < rows; row++) {
    double *sum = (double *)memory, below;
    TFSDK_TRY(classes_sum(r, row, classes, sum));
    /* The product may round up to the whole sum, beyond the last class that has a chance. */
    below = nextafter(sum[classes - 1], 0);
    for (int64_t k = 0; k < n; k++) {
      uint32_t w[4];
      double x;
      tfsdk_philox(s.key, s.counter + (uint64_t)(row * n + k), w);
      x = tfsdk_uniform_double(w[0], w[1]) * sum[classes - 1];
      draw_store(&r->out[0], row * n + k,
                 (double)classes_search(sum, classes, x < below ? x : below));
    }
  }
  return NULL;
}

static inline tfsdk_status *classes_infer(tfsdk_infer *c) {
  tfsdk_shape logits, scalar;
  int64_t n = -1;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 2, &logits));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 0, &scalar));
  if (c->value[1] != NULL) {
    n = tfsdk_view_int(c->value[1], 0);
    TFSDK_REQUIRE(c, n >= 0, "'num_samples' is %lld", (long long)n);
  }
  c->out[0].shape = tfsdk_shape_of_rank(2);
  c->out[0].shape.dim[0] = logits.dim[0];
  c->out[0].shape.dim[1] = n;
  return NULL;
}

#endif
