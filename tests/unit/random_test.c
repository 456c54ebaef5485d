/* Random ops: their laws, and dropout's mask (NUM-10). Bounds of means are six standard errors of
 * the number of draws. Their seeds: seed_test.c. */
#include "support.h"

#define N 1000000

static tfsdk_tensor *draw(tfsdk_runtime *rt, const char *op, int32_t dtype, int64_t seed,
                          int64_t seed2) {
  const int32_t n[1] = {N};
  tfsdk_tensor *shape, *out = NULL;
  tfsdk_attrval attr[3] = {tfsdk_a_dtype("dtype", dtype), tfsdk_a_int("seed", seed),
                           tfsdk_a_int("seed2", seed2)};
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 1, DIMS(1), n, sizeof n, &shape));
  OK(tfsdk_eager_run(rt, op, &shape, 1, attr, 3, &out, 1));
  tfsdk_tensor_release(shape);
  return out;
}

typedef struct moments {
  double mean, deviation, least, most;
} moments;

static double number_at(const tfsdk_view *v, int64_t i) {
  switch (v->dtype) {
  case TFSDK_FLOAT32: return (double)((const float *)v->data)[i];
  case TFSDK_FLOAT64: return ((const double *)v->data)[i];
  case TFSDK_FLOAT16: return (double)tfsdk_from_half(((const uint16_t *)v->data)[i]);
  case TFSDK_BFLOAT16: return (double)tfsdk_from_bfloat16(((const uint16_t *)v->data)[i]);
  case TFSDK_INT32: return ((const int32_t *)v->data)[i];
  default: return (double)((const int64_t *)v->data)[i];
  }
}
static moments moments_of(tfsdk_tensor *t) {
  tfsdk_view v;
  moments m = {0, 0, INFINITY, -INFINITY};
  double squares = 0;
  OK(tfsdk_tensor_view(t, &v));
  for (int64_t i = 0; i < v.n_elem; i++) {
    double x = number_at(&v, i);
    m.mean += x;
    squares += x * x;
    m.least = fmin(m.least, x);
    m.most = fmax(m.most, x);
  }
  m.mean /= (double)v.n_elem;
  m.deviation = sqrt(squares / (double)v.n_elem - m.mean * m.mean);
  return m;
}
static void expect_moments(tfsdk_tensor *t, double mean, double deviation, double tolerance) {
  moments m = moments_of(t);
  cr_expect(fabs(m.mean - mean) <= 6 * deviation / sqrt(N), "mean %g, not %g", m.mean, mean);
  cr_expect(fabs(m.deviation - deviation) <= tolerance, "deviation %g, not %g", m.deviation,
            deviation);
}

static const int32_t floats_[4] = {TFSDK_FLOAT32, TFSDK_FLOAT64, TFSDK_FLOAT16, TFSDK_BFLOAT16};
/* Half the distance of two numbers next to 1: uniform numbers of 11 and 8 bits lie that much lower.
 */
static const double step_[4] = {0, 0, 1.0 / 4096, 1.0 / 512};

/* Mean 1/2, variance 1/12. */
Test(random, uniform_is_in_0_to_1_in_every_type) {
  tfsdk_runtime *rt = new_runtime();
  for (int i = 0; i < 4; i++) {
    tfsdk_tensor *t = draw(rt, "RandomUniform", floats_[i], 1, 2);
    moments m = moments_of(t);
    expect_moments(t, 0.5 - step_[i], sqrt(1.0 / 12), 1e-3);
    cr_expect(m.least >= 0 && m.most < 1, "%s: %g..%g", tfsdk_dtype_name(floats_[i]), m.least,
              m.most);
    tfsdk_tensor_release(t);
  }
  tfsdk_runtime_release(rt);
}

Test(random, normal_has_mean_0_and_deviation_1_in_every_type) {
  tfsdk_runtime *rt = new_runtime();
  for (int i = 0; i < 4; i++) {
    tfsdk_tensor *t = draw(rt, "RandomStandardNormal", floats_[i], 1, 2);
    moments m = moments_of(t);
    expect_moments(t, 0, 1, 5e-3);
    cr_expect(m.least < -4 && m.most > 4 && isfinite(m.least) && isfinite(m.most));
    tfsdk_tensor_release(t);
  }
  tfsdk_runtime_release(rt);
}

/* Deviation from scipy.stats.truncnorm(-2, 2). */
Test(random, NUM_10_truncated_normal_is_within_two_deviations) {
  tfsdk_runtime *rt = new_runtime();
  for (int i = 0; i < 4; i++) {
    tfsdk_tensor *t = draw(rt, "TruncatedNormal", floats_[i], 42, 7);
    moments m = moments_of(t);
    expect_moments(t, 0, 0.87962566, 3e-3);
    cr_expect(m.least >= -2 && m.most <= 2, "%g..%g", m.least, m.most);
    tfsdk_tensor_release(t);
  }
  tfsdk_runtime_release(rt);
}

Test(random, whole_numbers_take_every_value_of_the_range_alike) {
  tfsdk_runtime *rt = new_runtime();
  const int32_t n[1] = {N}, low = -3, high = 4;
  tfsdk_tensor *in[3], *out = NULL;
  tfsdk_view v;
  int64_t count[7] = {0};
  tfsdk_attrval attr[2] = {tfsdk_a_int("seed", 1), tfsdk_a_int("seed2", 2)};
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 1, DIMS(1), n, 4, &in[0]));
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 0, NULL, &low, 4, &in[1]));
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 0, NULL, &high, 4, &in[2]));
  OK(tfsdk_eager_run(rt, "RandomUniformInt", in, 3, attr, 2, &out, 1));
  OK(tfsdk_tensor_view(out, &v));
  for (int64_t i = 0; i < N; i++) {
    int64_t x = (int64_t)number_at(&v, i);
    cr_assert(x >= -3 && x <= 3);
    count[x + 3]++;
  }
  for (int i = 0; i < 7; i++) /* binomial: standard error sqrt(n p (1 - p)) */
    cr_expect(fabs((double)count[i] - N / 7.0) <= 6 * sqrt(N * 6.0 / 49), "%d: %lld", i - 3,
              (long long)count[i]);
  tfsdk_tensor_release(out);
  FAILS(tfsdk_eager_run(rt, "RandomUniformInt", (tfsdk_tensor *[]){in[0], in[2], in[1]}, 3, attr, 2,
                        &out, 1),
        TFSDK_INVALID_ARGUMENT, "'minval' must be less");
  for (int i = 0; i < 3; i++) tfsdk_tensor_release(in[i]);
  tfsdk_runtime_release(rt);
}

/* Mean alpha, variance alpha. */
Test(random, gamma_and_poisson_have_their_means_and_deviations) {
  tfsdk_runtime *rt = new_runtime();
  const double parameter[4] = {0.5, 3, 10, 50};
  const int32_t n[1] = {N};
  tfsdk_attrval attr[2] = {tfsdk_a_int("seed", 1), tfsdk_a_int("seed2", 2)};
  tfsdk_tensor *in[2], *out = NULL;
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 1, DIMS(1), n, 4, &in[0]));
  for (int i = 0; i < 4; i++) {
    double deviation = sqrt(parameter[i]);
    OK(tfsdk_tensor_create(rt, TFSDK_FLOAT64, 0, NULL, &parameter[i], 8, &in[1]));
    OK(tfsdk_eager_run(rt, "RandomGamma", in, 2, attr, 2, &out, 1));
    expect_moments(out, parameter[i], deviation, 0.01 * deviation);
    tfsdk_tensor_release(out);
    OK(tfsdk_eager_run(rt, "RandomPoissonV2", in, 2, attr, 2, &out, 1));
    expect_moments(out, parameter[i], deviation, 0.01 * deviation);
    tfsdk_tensor_release(out);
    tfsdk_tensor_release(in[1]);
  }
  tfsdk_tensor_release(in[0]);
  tfsdk_runtime_release(rt);
}

/* d sample / d alpha, by mpmath 1.4: -diff(lambda a: gammainc(a, 0, x, regularized=True), a) /
 * density. */
Test(random, gradient_of_gamma_numbers) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_tensor *in[2] = {FLOATS(rt, 1, DIMS(4), 0.3f, 1, 7, 30),
                         FLOATS(rt, 1, DIMS(4), 0.06f, 1.11f, 7, 62)};
  tfsdk_tensor *out = run1(rt, "RandomGammaGrad", in, 2);
  EXPECT_FLOATS(out, 1e-5, 0.561297823f, 1.23684345f, 1.02412064f, 1.41421541f);
  for (int i = 0; i < 2; i++) tfsdk_tensor_release(in[i]);
  tfsdk_tensor_release(out);
  tfsdk_runtime_release(rt);
}

Test(random, shuffle_keeps_each_row_once) {
  tfsdk_runtime *rt = new_runtime();
  float rows[100];
  int seen[50] = {0}, moved = 0;
  for (int i = 0; i < 100; i++) rows[i] = (float)i;
  tfsdk_tensor *in = floats(rt, 2, DIMS(50, 2), rows), *out = NULL;
  tfsdk_attrval attr[2] = {tfsdk_a_int("seed", 1), tfsdk_a_int("seed2", 2)};
  OK(tfsdk_eager_run(rt, "RandomShuffle", &in, 1, attr, 2, &out, 1));
  const float *got = data_of(out);
  for (int i = 0; i < 50; i++) {
    int row = (int)got[2 * i] / 2;
    cr_expect_eq(got[2 * i + 1], got[2 * i] + 1, "the row at %d came apart", i);
    seen[row]++;
    moved += row != i;
  }
  for (int i = 0; i < 50; i++) cr_expect_eq(seen[i], 1, "row %d appears %d times", i, seen[i]);
  cr_expect_gt(moved, 25);
  tfsdk_tensor_release(in);
  tfsdk_tensor_release(out);
  tfsdk_runtime_release(rt);
}

/* Chances 1/6, 2/6, 3/6 and none. */
Test(random, multinomial_draws_in_proportion) {
  tfsdk_runtime *rt = new_runtime();
  const int32_t n = N;
  tfsdk_tensor *in[2] = {FLOATS(rt, 2, DIMS(1, 4), 0, logf(2), logf(3), -INFINITY)}, *out = NULL;
  tfsdk_attrval attr[2] = {tfsdk_a_int("seed", 1), tfsdk_a_int("seed2", 2)};
  tfsdk_view v;
  int64_t count[4] = {0};
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 0, NULL, &n, 4, &in[1]));
  OK(tfsdk_eager_run(rt, "Multinomial", in, 2, attr, 2, &out, 1));
  OK(tfsdk_tensor_view(out, &v));
  for (int64_t i = 0; i < N; i++) count[((const int64_t *)v.data)[i]]++;
  for (int i = 0; i < 3; i++) {
    double p = (i + 1) / 6.0;
    cr_expect(fabs((double)count[i] - N * p) <= 6 * sqrt(N * p * (1 - p)), "class %d: %lld", i,
              (long long)count[i]);
  }
  cr_expect_eq(count[3], 0);
  for (int i = 0; i < 2; i++) tfsdk_tensor_release(in[i]);
  tfsdk_tensor_release(out);
  tfsdk_runtime_release(rt);
}

/* -------------------------------------------------------------------------------------- dropout */

static int same_data(tfsdk_tensor *a, tfsdk_tensor *b) {
  return tfsdk_tensor_bytes(a) == tfsdk_tensor_bytes(b) &&
         memcmp(data_of(a), data_of(b), tfsdk_tensor_bytes(a)) == 0;
}
static tfsdk_tensor *ones(tfsdk_runtime *rt) {
  float *data = malloc(N * sizeof *data);
  for (int i = 0; i < N; i++) data[i] = 1;
  tfsdk_tensor *t = floats(rt, 3, DIMS(100, 100, 100), data);
  free(data);
  return t;
}

/* d sum(m x / k) / dx = m / k, and y = m / k where x = 1; the mean's standard error is 5e-4. */
Test(random, NUM_10_dropout_scales_and_keeps_its_mask_for_the_gradient) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_tensor *in[2] = {ones(rt), FLOATS(rt, 0, NULL, 0.2f)}, *out[2], *gradient = NULL;
  tfsdk_attrval attr[2] = {tfsdk_a_int("seed", 42), tfsdk_a_int("seed2", 7)};
  tfsdk_tape *tape;
  double sum = 0;
  OK(tfsdk_tape_create(rt, 0, 1, &tape));
  OK(tfsdk_tape_watch(tape, in[0]));
  OK(tfsdk_eager_run(rt, "Dropout", in, 2, attr, 2, out, 2));
  OK(tfsdk_tape_gradient(tape, out, 1, in, 1, NULL, &gradient, NULL, NULL));
  const float *y = data_of(out[0]);
  for (int i = 0; i < N; i++) {
    cr_assert(y[i] == 0 || y[i] == 1.25f);
    sum += (double)y[i];
  }
  cr_expect(fabs(sum / N - 1) <= 0.003, "mean %g", sum / N);
  cr_expect(same_data(out[0], gradient), "the gradient is not the output");
  tfsdk_tape_release(tape);
  tfsdk_tensor_release(gradient);
  for (int i = 0; i < 2; i++) {
    tfsdk_tensor_release(in[i]);
    tfsdk_tensor_release(out[i]);
  }
  tfsdk_runtime_release(rt);
}

Test(random, NUM_10_dropout_of_rate_0_is_the_identity_and_of_rate_1_zero) {
  tfsdk_runtime *rt = new_runtime();
  const float special[6] = {-0.0f, 1e-40f, NAN, INFINITY, -3, 7};
  tfsdk_tensor *x = floats(rt, 1, DIMS(6), special), *rate = FLOATS(rt, 0, NULL, 0), *out[2];
  OK(tfsdk_eager_run(rt, "Dropout", (tfsdk_tensor *[]){x, rate}, 2, NULL, 0, out, 2));
  cr_expect(same_data(x, out[0]), "rate 0 changes bits");
  tfsdk_tensor_release(out[0]);
  tfsdk_tensor_release(out[1]);
  tfsdk_tensor_release(rate);
  rate = FLOATS(rt, 0, NULL, 1);
  OK(tfsdk_eager_run(rt, "Dropout", (tfsdk_tensor *[]){x, rate}, 2, NULL, 0, out, 2));
  EXPECT_FLOATS(out[0], 0, 0, 0, 0, 0, 0, 0);
  tfsdk_tensor_release(out[0]);
  tfsdk_tensor_release(out[1]);
  tfsdk_tensor_release(rate);
  rate = FLOATS(rt, 0, NULL, 1.5f);
  FAILS(tfsdk_eager_run(rt, "Dropout", (tfsdk_tensor *[]){x, rate}, 2, NULL, 0, out, 2),
        TFSDK_INVALID_ARGUMENT, "'rate' is 1.5");
  tfsdk_tensor_release(rate);
  tfsdk_tensor_release(x);
  tfsdk_runtime_release(rt);
}

/* One draw for all elements along the axes where the noise shape is 1. */
Test(random, dropout_stretches_its_mask_over_the_noise_shape) {
  tfsdk_runtime *rt = new_runtime();
  float data[60];
  const int32_t noise[3][3] = {{3, 1, 5}, {1, 4, 1}, {-1, -1, 1}};
  for (int i = 0; i < 60; i++) data[i] = (float)(i + 1);
  tfsdk_tensor *in[3] = {floats(rt, 3, DIMS(3, 4, 5), data), FLOATS(rt, 0, NULL, 0.5f)}, *out[2];
  for (int t = 0; t < 3; t++) {
    OK(tfsdk_tensor_create(rt, TFSDK_INT32, 1, DIMS(3), noise[t], 12, &in[2]));
    OK(tfsdk_eager_run(rt, "Dropout", in, 3, NULL, 0, out, 2));
    const float *y = data_of(out[0]);
    const int64_t *d = tfsdk_tensor_dims(out[1]);
    tfsdk_view mask;
    OK(tfsdk_tensor_view(out[1], &mask));
    for (int i = 0; i < 60; i++) {
      int64_t a = i / 20, b = i / 5 % 4, c = i % 5;
      int64_t m = ((d[0] == 1 ? 0 : a) * d[1] + (d[1] == 1 ? 0 : b)) * d[2] + (d[2] == 1 ? 0 : c);
      cr_expect_eq(y[i], ((const uint8_t *)mask.data)[m] ? 2 * data[i] : 0, "case %d, element %d",
                   t, i);
    }
    for (int i = 0; i < 2; i++) tfsdk_tensor_release(out[i]);
    tfsdk_tensor_release(in[2]);
  }
  for (int i = 0; i < 2; i++) tfsdk_tensor_release(in[i]);
  tfsdk_runtime_release(rt);
}

/* Dropout in a graph: one mask for forward and backward of a run, another in the next run, the same
 * in a fresh session. */
Test(random, NUM_10_dropout_in_a_graph) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g;
  tfsdk_session *s[2];
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_graph_set_seed(g, 42);
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val x = placeholder(c, TFSDK_FLOAT32, 3, DIMS(100, 100, 100)),
            in[2] = {x, tfsdk_scalar(c, TFSDK_FLOAT32, 0.2)}, y[2];
  tfsdk_attrval attr = tfsdk_a_int("seed2", 7);
  tfsdk_emit_n(c, "Dropout", in, 2, &attr, 1, y, 2);
  OK(tfsdk_ctx_error(c));
  tfsdk_gradient grad;
  OK(tfsdk_gradients(g, y, 1, &x, 1, NULL, NULL, 0, &grad));
  tfsdk_tensor *value = ones(rt), *out[2][2][2];
  for (int i = 0; i < 2; i++) {
    OK(tfsdk_session_create(g, NULL, &s[i]));
    for (int run = 0; run < 2; run++) {
      OK(tfsdk_session_run(s[i], (tfsdk_val[]){y[0], grad.value}, 2, &x, &value, 1, out[i][run]));
      double sum = 0;
      const float *p = data_of(out[i][run][0]);
      for (int k = 0; k < N; k++) {
        cr_assert(p[k] == 0 || p[k] == 1.25f);
        sum += (double)p[k];
      }
      cr_expect(fabs(sum / N - 1) <= 0.003, "mean %g", sum / N);
      cr_expect(same_data(out[i][run][0], out[i][run][1]), "the gradient is not the output");
    }
    cr_expect(!same_data(out[i][0][0], out[i][1][0]), "two runs have the same mask");
  }
  for (int run = 0; run < 2; run++)
    cr_expect(same_data(out[0][run][0], out[1][run][0]), "run %d: sessions differ", run);
  for (int i = 0; i < 8; i++) tfsdk_tensor_release((&out[0][0][0])[i]);
  for (int i = 0; i < 2; i++) tfsdk_session_release(s[i]);
  tfsdk_tensor_release(value);
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}
