/* Multinomial, StatelessMultinomial: classes drawn with given chances.
 *
 *     P(output[b, s] = c) = exp(logits[b, c]) / sum_k exp(logits[b, k])
 *                                                           (TensorFlow's Multinomial)
 *
 * A sample is the first class where the running sum of chances passes a uniform number times the
 * whole sum. Sums are in binary64, whatever the type of the logits.
 */
#include "draw.h"

/* sum[c] is the chance of classes 0..c, not normalised. Classes of chance 0 (logit -inf) add
 * nothing, and the search below never stops at them. */
static tfsdk_status *running_sum(const tfsdk_run *r, int64_t row, int64_t classes, double *sum) {
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
static int64_t search(const double *sum, int64_t classes, double x) {
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

static tfsdk_status *run(tfsdk_run *r, const tfsdk_view *seed) {
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
    TFSDK_TRY(running_sum(r, row, classes, sum));
    /* The product may round up to the whole sum, beyond the last class that has a chance. */
    below = nextafter(sum[classes - 1], 0);
    for (int64_t k = 0; k < n; k++) {
      uint32_t w[4];
      double x;
      tfsdk_philox(s.key, s.counter + (uint64_t)(row * n + k), w);
      x = tfsdk_uniform_double(w[0], w[1]) * sum[classes - 1];
      draw_store(&r->out[0], row * n + k, (double)search(sum, classes, x < below ? x : below));
    }
  }
  return NULL;
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, NULL);
}
static tfsdk_status *compute_stateless(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &r->in[2]);
}

static tfsdk_status *infer(tfsdk_infer *c) {
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
static tfsdk_status *infer_stateless(tfsdk_infer *c) {
  TFSDK_TRY(draw_infer_seed(c, 2));
  return infer(c);
}

static const tfsdk_arg in[] = {
    {"logits", "T", "[batch, classes]: logarithms of the chances, up to a constant per row",
     TFSDK_ARG_NONDIFF, 0},
    {"num_samples", "int32", "a scalar: samples per row", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg in_stateless[] = {
    {"logits", "T", "[batch, classes]: logarithms of the chances, up to a constant per row",
     TFSDK_ARG_NONDIFF, 0},
    {"num_samples", "int32", "a scalar: samples per row", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"seed", "Tseed", "two integers", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {
    {"output", "output_dtype", "[batch, num_samples]: classes, from 0", 0, 0}};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"T", DRAW_FLOATS, NULL, "the type of `logits`", 0, 0},
    {"output_dtype", "dtype{int32,int64}", "int64", "the type of the output", 0, 0},
};
static const tfsdk_attrdef attr_stateless[] = {
    {"T", DRAW_FLOATS, NULL, "the type of `logits`", 0, 0},
    {"Tseed", "dtype{int32,int64}", NULL, "the type of `seed`", 0, 0},
    {"output_dtype", "dtype{int32,int64}", "int64", "the type of the output", 0, 0},
};
static const char *const samples[] = {
    "T[2,3] ; int32(4) | seed=1; seed2=2",
    "float32[2,3] ; int32(0) | seed=1; seed2=2; output_dtype=int32",
    "float32[0,3] ; int32(2) | seed=1; seed2=2",
    NULL,
};
static const char *const samples_stateless[] = {
    "T[2,3] ; int32(4) ; int32{1,2}",
    "float32[2,3] ; int32(2) ; int64{1,2} | output_dtype=int32",
    NULL,
};
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("Multinomial", "random classes with given log chances"),
        .doc = "Draws `num_samples` classes for each row of `logits`, with replacement. A logit of "
               "-inf is a chance of 0; NaN and +inf are errors. " DRAW_SEED_DOC,
        .flags = TFSDK_OP_RANDOM | TFSDK_OP_STATEFUL,
        .in = in,
        .n_in = TFSDK_COUNT(in),
        .out = out,
        .n_out = TFSDK_COUNT(out),
        .attr = attr,
        .n_attr = TFSDK_COUNT(attr),
        .const_in = 2,
        .infer = infer,
        .reference = compute,
        .no_grad_reason = "integers",
        .samples = samples,
    },
    {
        TFSDK_OP_HEAD("StatelessMultinomial", "classes with given log chances, told by the seed"),
        .doc = "Draws `num_samples` classes for each row of `logits`, with replacement. A logit of "
               "-inf is a chance of 0; NaN and +inf are errors. " DRAW_STATELESS_DOC,
        .in = in_stateless,
        .n_in = TFSDK_COUNT(in_stateless),
        .out = out,
        .n_out = TFSDK_COUNT(out),
        .attr = attr_stateless,
        .n_attr = TFSDK_COUNT(attr_stateless),
        .const_in = 2,
        .infer = infer_stateless,
        .reference = compute_stateless,
        .no_grad_reason = "integers",
        .samples = samples_stateless,
    }};
TFSDK_UNIT_OPS(multinomial, ops);
