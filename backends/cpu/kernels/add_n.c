/* AddN: tensors of one shape added from left to right, a stretch at a time, so that the running sum
 * stays in the first-level cache however many they are. */
#include "common.h"

#define STRETCH 4096

CPU_CLONES static void first_f32(const float *a, const float *b, float *y, int64_t n) {
  _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) y[i] = a[i] + b[i];
}
CPU_CLONES static void first_f64(const double *a, const double *b, double *y, int64_t n) {
  _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) y[i] = a[i] + b[i];
}

static void range(void *user, int64_t begin, int64_t end) {
  const tfsdk_run *r = (const tfsdk_run *)user;
  for (int64_t at = begin; at < end; at += STRETCH) {
    const int64_t n = cpu_min(STRETCH, end - at);
    if (r->out[0].dtype == TFSDK_FLOAT32) {
      float *y = (float *)r->out[0].data + at;
      first_f32((const float *)r->in[0].data + at, (const float *)r->in[1].data + at, y, n);
      for (uint32_t k = 2; k < r->n_in; k++) first_f32(y, (const float *)r->in[k].data + at, y, n);
    } else {
      double *y = (double *)r->out[0].data + at;
      first_f64((const double *)r->in[0].data + at, (const double *)r->in[1].data + at, y, n);
      for (uint32_t k = 2; k < r->n_in; k++) first_f64(y, (const double *)r->in[k].data + at, y, n);
    }
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  if (r->n_in == 1) return r->api->forward(r, 0, 0);
  r->api->par_for(r, r->out[0].n_elem, CPU_GRAIN_COPY / r->n_in + 1, range, r);
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("AddN", "vector", compute)}};
TFSDK_UNIT_KERNELS(add_n, kernels);
