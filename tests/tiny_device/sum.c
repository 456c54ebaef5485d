/* sum.c - Sum of the pretend accelerator. The axes are an argument in host memory; the sums are
 * kept in a workspace, which is memory of the device. */
#include "tiny.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *axes = &r->in[1], *y = &r->out[0];
  int64_t stride[TFSDK_MAX_RANK] = {0}, at[TFSDK_MAX_RANK] = {0}, step = 1, to = 0;
  int summed[TFSDK_MAX_RANK] = {0};
  float *px, *py;
  void *work, *sums;
  (void)state;
  if (y->n_elem == 0) return NULL;
  for (int64_t i = 0; i < axes->n_elem; i++) {
    int64_t axis = tfsdk_view_int(axes, i);
    summed[axis < 0 ? axis + x->rank : axis] = 1;
  }
  for (int i = x->rank - 1; i >= 0; i--) {
    stride[i] = summed[i] ? 0 : step;
    if (!summed[i]) step *= x->dim[i];
  }
  TFSDK_TRY(tiny_floats(r, x, &px));
  TFSDK_TRY(tiny_floats(r, y, &py));
  TFSDK_TRY(r->api->workspace(r, (size_t)y->n_elem * sizeof(double), &work));
  TFSDK_TRY(tiny_bytes(r, work, (uint64_t)y->n_elem * sizeof(double), &sums));
  double *s = (double *)sums;
  for (int64_t i = 0; i < y->n_elem; i++) s[i] = 0;
  for (int64_t i = 0; i < x->n_elem; i++) {
    s[to] += (double)px[i];
    for (int k = x->rank - 1; k >= 0; k--) {
      to += stride[k];
      if (++at[k] < x->dim[k]) break;
      to -= stride[k] * at[k];
      at[k] = 0;
    }
  }
  for (int64_t i = 0; i < y->n_elem; i++) py[i] = (float)s[i];
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {{TINY_KERNEL("Sum", compute)}};
TFSDK_UNIT_KERNELS(sum, kernels);
