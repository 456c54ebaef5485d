/* gemm.h - the plain matrix product that MatMul, BatchMatMul, SparseMatMul and Einsum share. */
#ifndef NN_GEMM_H
#define NN_GEMM_H

#include <tfsdk/kernel.h>

/* c [m, n] = op(a) [m, k] * op(b) [k, n]; op is the transpose where asked for (the matrix in
 * memory is then [k, m], [n, k]). All row-major. Floats are summed in double, integers wrap. */
typedef struct nn_gemm {
  int64_t m, n, k;
  int32_t transpose_a, transpose_b;
  int32_t a_dtype, b_dtype, c_dtype; /* all floating, or all integer */
} nn_gemm;

/* The scratch memory that products of this size need. */
tfsdk_status *nn_gemm_workspace(tfsdk_run *r, const nn_gemm *g, void **out_work);
/* One product; a_at, b_at, c_at are the elements where the matrices begin. */
void nn_gemm_run(const nn_gemm *g, const void *a, int64_t a_at, const void *b, int64_t b_at,
                 void *c, int64_t c_at, void *work);

#endif
