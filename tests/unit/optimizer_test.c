/* Optimizer steps against the public reports OPT-01, 03 and 05, and the checks of their arguments.
 * Values are those of the reports, which name their sources. */
#include "support.h"
#include <stdio.h>

typedef struct world {
  tfsdk_runtime *rt;
  tfsdk_variable *v[4];
  int n_vars;
  tfsdk_tensor *made[64];
  int n_made;
} world;

static world new_world(void) {
  world w = {0};
  w.rt = new_runtime();
  return w;
}
static tfsdk_tensor *keep(world *w, tfsdk_tensor *t) {
  cr_assert_lt(w->n_made, 64);
  return w->made[w->n_made++] = t;
}
static void end(world *w) {
  for (int i = 0; i < w->n_made; i++) tfsdk_tensor_release(w->made[i]);
  for (int i = 0; i < w->n_vars; i++) tfsdk_variable_release(w->v[i]);
  tfsdk_runtime_release(w->rt);
}
/* A variable of the eager context, and its handle as a tensor. */
static tfsdk_tensor *variable(world *w, uint32_t rank, const int64_t *dim, const float *data) {
  char name[16];
  tfsdk_ctx *c = tfsdk_eager_ctx(w->rt);
  tfsdk_varspec spec = {.struct_size = sizeof spec, .dtype = TFSDK_FLOAT32};
  snprintf(name, sizeof name, "v%d", w->n_vars);
  spec.shape.rank = (int32_t)rank;
  for (uint32_t i = 0; i < rank; i++) spec.shape.dim[i] = dim[i];
  spec.init = tfsdk_constant(c, TFSDK_FLOAT32, rank, dim, data);
  OK(tfsdk_variable_create(c, name, &spec, &w->v[w->n_vars]));
  return tfsdk_eager_tensor(tfsdk_variable_handle(w->v[w->n_vars++]));
}
static tfsdk_tensor *scalar_variable(world *w, float x) { return variable(w, 0, NULL, &x); }
static tfsdk_tensor *scalar(world *w, float x) { return keep(w, FLOATS(w->rt, 0, NULL, x)); }

static void expect_value(world *w, int i, double want, const char *when) {
  tfsdk_tensor *t = NULL;
  OK(tfsdk_variable_read(w->v[i], &t));
  double got = (double)data_of(t)[0];
  cr_expect(fabs(got - want) <= 1e-5 * fabs(want) + 1e-6, "%s: %.8g, not %.8g", when, got, want);
  tfsdk_tensor_release(t);
}

/* ----------------------------------------------------------------------------------------- Adam */

static void expect_adam(double epsilon, const double *gradient, const double *want) {
  world w = new_world();
  tfsdk_tensor *var = scalar_variable(&w, 1), *m = scalar_variable(&w, 0),
               *v = scalar_variable(&w, 0);
  double power1 = 1, power2 = 1;
  for (int step = 0; step < 3; step++) {
    char when[32];
    power1 *= 0.9;
    power2 *= 0.999;
    tfsdk_tensor *in[10] = {var,
                            m,
                            v,
                            scalar(&w, (float)power1),
                            scalar(&w, (float)power2),
                            scalar(&w, 0.1f),
                            scalar(&w, 0.9f),
                            scalar(&w, 0.999f),
                            scalar(&w, (float)epsilon),
                            scalar(&w, (float)gradient[step])};
    OK(tfsdk_eager_run(w.rt, "ResourceApplyAdam", in, 10, NULL, 0, NULL, 0));
    snprintf(when, sizeof when, "step %d", step + 1);
    expect_value(&w, 0, want[step], when);
  }
  end(&w);
}
/* TensorFlow's form: epsilon before the correction of v's bias. */
Test(optimizer, OPT_01_adam_adds_epsilon_before_the_bias_of_v_is_corrected) {
  expect_adam(0.1, (const double[]){1, 1, 1}, (const double[]){0.9759747, 0.9450783, 0.9097008});
  expect_adam(1e-8, (const double[]){0.001, -0.002, 0.003},
              (const double[]){0.9000316, 0.9366368, 0.9023156});
}
/* The dense rule: momentum moves a row on without a gradient. */
Test(optimizer, OPT_03_dense_adam_moves_rows_whose_moments_are_not_zero) {
  expect_adam(1e-8, (const double[]){1, 0, 0}, (const double[]){0.9, 0.8329942, 0.7811985});
}
Test(optimizer, OPT_03_a_row_never_used_stays_bit_for_bit) {
  world w = new_world();
  const float start[2] = {0.1f, 0.3f}, zero[2] = {0, 0}, gradient[2] = {0, 1};
  tfsdk_tensor *in[10] = {variable(&w, 1, DIMS(2), start),
                          variable(&w, 1, DIMS(2), zero),
                          variable(&w, 1, DIMS(2), zero),
                          scalar(&w, 0.9f),
                          scalar(&w, 0.999f),
                          scalar(&w, 0.1f),
                          scalar(&w, 0.9f),
                          scalar(&w, 0.999f),
                          scalar(&w, 1e-8f),
                          keep(&w, floats(w.rt, 1, DIMS(2), gradient))};
  tfsdk_tensor *t = NULL;
  OK(tfsdk_eager_run(w.rt, "ResourceApplyAdam", in, 10, NULL, 0, NULL, 0));
  OK(tfsdk_variable_read(w.v[0], &t));
  cr_expect_eq(data_of(t)[0], start[0]);
  cr_expect_neq(data_of(t)[1], start[1]);
  tfsdk_tensor_release(t);
  end(&w);
}

/* ------------------------------------------------------------------------- RMSProp and momentum */

static void expect_rms_prop(float start, double first, double second) {
  world w = new_world();
  tfsdk_tensor *var = scalar_variable(&w, 0), *ms = scalar_variable(&w, start),
               *mom = scalar_variable(&w, 0);
  for (int step = 0; step < 2; step++) {
    tfsdk_tensor *in[8] = {var,
                           ms,
                           mom,
                           scalar(&w, 0.1f),
                           scalar(&w, 0.9f),
                           scalar(&w, 0),
                           scalar(&w, 1),
                           scalar(&w, step == 0 ? 1 : 2)};
    OK(tfsdk_eager_run(w.rt, "ResourceApplyRMSProp", in, 8, NULL, 0, NULL, 0));
    expect_value(&w, 0, step == 0 ? first : second, "RMSProp");
  }
  end(&w);
}
/* Epsilon inside of the root; a mean square that starts at 1 or at 0. */
Test(optimizer, OPT_05_rms_prop_has_epsilon_inside_of_the_root) {
  expect_rms_prop(1, -0.0707107, -0.2025868);
  expect_rms_prop(0, -0.0953463, -0.2591926);
}

static void expect_momentum(const char *op, int nesterov, const float *rate, const float *gradient,
                            const double *want) {
  world w = new_world();
  tfsdk_tensor *var = scalar_variable(&w, 0), *accum = scalar_variable(&w, 0);
  tfsdk_attrval attr = tfsdk_a_bool("use_nesterov", nesterov);
  for (int step = 0; step < 3; step++) {
    tfsdk_tensor *in[5] = {var, accum, scalar(&w, rate[step]), scalar(&w, gradient[step]),
                           scalar(&w, 0.9f)};
    OK(tfsdk_eager_run(w.rt, op, in, 5, &attr, 1, NULL, 0));
    expect_value(&w, 0, want[step], op);
  }
  end(&w);
}
/* TensorFlow's velocity has no rate in it, Keras' and Caffe's has; they part when the rate drops.
 */
Test(optimizer, OPT_05_momentum_when_the_rate_changes_and_nesterov) {
  const float falling[3] = {0.1f, 0.1f, 0.01f}, same[3] = {0.1f, 0.1f, 0.1f}, ones[3] = {1, 1, 1},
              mixed[3] = {1, -2, 0.5f};
  expect_momentum("ResourceApplyMomentum", 0, falling, ones,
                  (const double[]){-0.1, -0.29, -0.3171});
  expect_momentum("ResourceApplyKerasMomentum", 0, falling, ones,
                  (const double[]){-0.1, -0.29, -0.471});
  expect_momentum("ResourceApplyMomentum", 1, same, mixed, (const double[]){-0.19, 0.109, 0.1031});
  expect_momentum("ResourceApplyKerasMomentum", 1, same, mixed,
                  (const double[]){-0.19, 0.109, 0.1031});
}

/* ------------------------------------------------------------------------------------- checking */

Test(optimizer, wrong_arguments_are_named) {
  world w = new_world();
  const float zeros[6] = {0};
  const int32_t far[2] = {0, 3};
  tfsdk_tensor *var = variable(&w, 2, DIMS(2, 3), zeros), *slot = variable(&w, 1, DIMS(2), zeros),
               *indices = NULL;
  tfsdk_tensor *rate = scalar(&w, 1), *gradient = keep(&w, floats(w.rt, 2, DIMS(2, 3), zeros));
  OK(tfsdk_tensor_create(w.rt, TFSDK_INT32, 1, DIMS(2), far, 8, &indices));
  keep(&w, indices);
  FAILS(tfsdk_eager_run(w.rt, "ResourceApplyGradientDescent", (tfsdk_tensor *[]){var, rate, rate},
                        3, NULL, 0, NULL, 0),
        TFSDK_INVALID_ARGUMENT,
        "'var' and 'delta' must have the same shape, but they have (2, 3) and ()");
  FAILS(tfsdk_eager_run(w.rt, "ResourceApplyAdagrad", (tfsdk_tensor *[]){var, slot, rate, gradient},
                        4, NULL, 0, NULL, 0),
        TFSDK_INVALID_ARGUMENT,
        "'var' and 'accum' must have the same shape, but they have (2, 3) and (2)");
  FAILS(tfsdk_eager_run(w.rt, "ResourceApplyGradientDescent",
                        (tfsdk_tensor *[]){var, gradient, gradient}, 3, NULL, 0, NULL, 0),
        TFSDK_INVALID_ARGUMENT, "'alpha' must have rank 0");
  FAILS(tfsdk_eager_run(w.rt, "ResourceSparseApplyAdagrad",
                        (tfsdk_tensor *[]){var, var, rate, gradient, indices}, 5, NULL, 0, NULL, 0),
        TFSDK_INVALID_ARGUMENT, "indices[1] is 3, but 'var' has rows 0..1");
  end(&w);
}
