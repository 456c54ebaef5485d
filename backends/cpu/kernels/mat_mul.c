/* MatMul on the matrix product of gemm.h. */
#include "common.h"
#include "gemm.h"

enum { TRANSPOSE_A = 1, TRANSPOSE_B = 2 };

/* The state is the flags themselves. */
static tfsdk_status *create(const tfsdk_kbuild *b, void **out) {
  uintptr_t flags = tfsdk_attr_int(&b->attr, "transpose_a") ? TRANSPOSE_A : 0;
  if (tfsdk_attr_int(&b->attr, "transpose_b")) flags |= TRANSPOSE_B;
  *out = (void *)flags;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *a = &r->in[0], *b = &r->in[1], *c = &r->out[0];
  const uintptr_t flags = (uintptr_t)state;
  const int ta = (flags & TRANSPOSE_A) != 0, tb = (flags & TRANSPOSE_B) != 0;
  cpu_gemm g = {.dtype = c->dtype, .finish = 1};
  g.m = c->dim[0], g.n = c->dim[1], g.k = a->dim[ta ? 0 : 1];
  g.a = a->data, g.b = b->data, g.c = c->data;
  g.a_row = ta ? 1 : a->dim[1], g.a_col = ta ? a->dim[1] : 1;
  g.b_row = tb ? 1 : b->dim[1], g.b_col = tb ? b->dim[1] : 1;
  g.c_row = g.n;
  g.b_stamp = b->stamp;
  return cpu_gemm_run(r, &g);
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("MatMul", "gemm", compute), .create = create, .traits = TFSDK_KERNEL_FINISHES}};
TFSDK_UNIT_KERNELS(mat_mul, kernels);
