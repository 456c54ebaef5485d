/* train.c - ResourceApplyGradientDescent and ResourceApplyAdam of the pretend accelerator:
 * variables are changed in place, in the device's memory. The scalars are asked for in host memory.
 */
#include "tiny.h"
#include <math.h>

/* The variable behind input i, for writing; it must have n elements. */
static tfsdk_status *variable(tfsdk_run *r, uint32_t i, int64_t n, float **out) {
  tfsdk_view v;
  TFSDK_TRY(r->api->var_mutable(r, i, &v));
  TFSDK_REQUIRE(r, v.dtype == TFSDK_FLOAT32 && v.n_elem == n,
                "'%s' has %lld elements, the gradient %lld", r->op->in[i].name, (long long)v.n_elem,
                (long long)n);
  return tiny_floats(r, &v, out);
}

static float number(const tfsdk_run *r, uint32_t i) { return *(const float *)r->in[i].data; }

static tfsdk_status *descend(void *state, tfsdk_run *r) {
  int64_t n = r->in[2].n_elem;
  float *var = NULL, *delta = NULL, alpha = number(r, 1);
  (void)state;
  TFSDK_TRY(variable(r, 0, n, &var));
  TFSDK_TRY(tiny_floats(r, &r->in[2], &delta));
  for (int64_t i = 0; i < n; i++) var[i] -= alpha * delta[i];
  return NULL;
}

/* Kingma and Ba 2015, as TensorFlow's op of that name has it. */
static tfsdk_status *adam(void *state, tfsdk_run *r) {
  int64_t n = r->in[9].n_elem;
  float *var = NULL, *m = NULL, *v = NULL, *g = NULL, beta1 = number(r, 6), beta2 = number(r, 7),
        epsilon = number(r, 8);
  const double given1 = tfsdk_attr_float(&r->attr, "_gain1"),
               given2 = tfsdk_attr_float(&r->attr, "_gain2");
  const float gain1 = given1 != 0 ? (float)given1 : 1 - beta1,
              gain2 = given2 != 0 ? (float)given2 : 1 - beta2;
  float rate = number(r, 5) * sqrtf(1 - number(r, 4)) / (1 - number(r, 3));
  (void)state;
  TFSDK_TRY(variable(r, 0, n, &var));
  TFSDK_TRY(variable(r, 1, n, &m));
  TFSDK_TRY(variable(r, 2, n, &v));
  TFSDK_TRY(tiny_floats(r, &r->in[9], &g));
  for (int64_t i = 0; i < n; i++) {
    m[i] += (g[i] - m[i]) * gain1;
    v[i] += (g[i] * g[i] - v[i]) * gain2;
    var[i] -= rate * m[i] / (sqrtf(v[i]) + epsilon);
  }
  return NULL;
}
static tfsdk_status *adam_supports(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n) {
  *yes = !tfsdk_attr_int(&b->attr, "use_nesterov");
  if (!*yes) snprintf(why, why_n, "does not know use_nesterov");
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {
    {TINY_KERNEL("ResourceApplyGradientDescent", descend), .host_in = 1u << 1},
    {TINY_KERNEL("ResourceApplyAdam", adam), .host_in = 0x1f8,
     .supports = adam_supports}, /* inputs 3 to 8 */
};
TFSDK_UNIT_KERNELS(train, kernels);
