/* LeakyRelu: x for x > 0, else alpha x; and its gradient from the inputs. alpha counts as a float32,
 * as in the op's own kernels. */
#include "common.h"
#include "vmath.h"

typedef struct job {
  const char *a, *b; /* b: features of the gradient, NULL forward */
  char *y;
  int wide;
  float alpha;
} job;

#define LOOPS(T)                                                                                   \
  CPU_CLONES static void T##_forward(const T *a, T *y, int64_t n, T alpha) {                       \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) {                                         \
      const T x = a[i], low = alpha * x;                                                           \
      y[i] = x > 0 ? x : low;                                                                      \
    }                                                                                              \
  }                                                                                                \
  CPU_CLONES static void T##_backward(const T *a, const T *b, T *y, int64_t n, T alpha) {          \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) {                                         \
      const T g = a[i], low = alpha * g;                                                           \
      y[i] = b[i] > 0 ? g : low;                                                                   \
    }                                                                                              \
  }
LOOPS(float)
LOOPS(double)

static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t n = end - begin;
  if (j->wide) {
    const double *a = (const double *)j->a + begin, *b = (const double *)j->b;
    double *y = (double *)j->y + begin;
    if (b == NULL)
      double_forward(a, y, n, (double)j->alpha);
    else
      double_backward(a, b + begin, y, n, (double)j->alpha);
  } else {
    const float *a = (const float *)j->a + begin, *b = (const float *)j->b;
    float *y = (float *)j->y + begin;
    if (b == NULL)
      float_forward(a, y, n, j->alpha);
    else
      float_backward(a, b + begin, y, n, j->alpha);
  }
}

static tfsdk_status *run(tfsdk_run *r, const void *b) {
  job j = {(const char *)r->in[0].data, (const char *)b, (char *)r->out[0].data,
           r->out[0].dtype == TFSDK_FLOAT64, (float)tfsdk_attr_float(&r->attr, "alpha")};
  r->api->par_for(r, r->out[0].n_elem, CPU_GRAIN_COPY, range, &j);
  return NULL;
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, NULL);
}
static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  (void)state;
  return r->out[0].n_elem > 0 ? run(r, r->in[1].data) : NULL;
}

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("LeakyRelu", "vector", compute)},
                                          {CPU_KERNEL("LeakyReluGrad", "vector", compute_grad)}};
TFSDK_UNIT_KERNELS(leaky_relu, kernels);
