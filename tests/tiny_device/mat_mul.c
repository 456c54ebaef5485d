/* mat_mul.c - MatMul of the pretend accelerator. */
#include "tiny.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *a = &r->in[0], *b = &r->in[1], *y = &r->out[0];
  int64_t ta = tfsdk_attr_int(&r->attr, "transpose_a"),
          tb = tfsdk_attr_int(&r->attr, "transpose_b");
  int64_t m = y->dim[0], n = y->dim[1], inner = a->dim[ta ? 0 : 1];
  int64_t a_row = ta ? 1 : inner, a_step = ta ? m : 1, b_step = tb ? 1 : n, b_col = tb ? inner : 1;
  float *pa, *pb, *py;
  (void)state;
  TFSDK_TRY(tiny_floats(r, a, &pa));
  TFSDK_TRY(tiny_floats(r, b, &pb));
  TFSDK_TRY(tiny_floats(r, y, &py));
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t k = 0; k < inner; k++)
        sum += (double)pa[i * a_row + k * a_step] * (double)pb[k * b_step + j * b_col];
      py[i * n + j] = (float)sum;
    }
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {{TINY_KERNEL("MatMul", compute)}};
TFSDK_UNIT_KERNELS(mat_mul, kernels);
