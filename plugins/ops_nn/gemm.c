/* gemm.c - see gemm.h. */
#include "gemm.h"
#include "row.h"

enum { BLOCK = 64 }; /* columns of b unpacked at a time */

#define ACC     double
#define LOAD    nn_load_f
#define STORE   nn_store_f
#define MUL_ADD nn_mul_add_f
#define NAME    product_f
#include "gemm_typed.h"

#define ACC     int64_t
#define LOAD    nn_load_i
#define STORE   nn_store_i
#define MUL_ADD nn_mul_add_i
#define NAME    product_i
#include "gemm_typed.h"

tfsdk_status *nn_gemm_workspace(tfsdk_run *r, const nn_gemm *g, void **out_work) {
  return r->api->workspace(r, ((size_t)g->k * (BLOCK + 1) + 1) * sizeof(double), out_work);
}

void nn_gemm_run(const nn_gemm *g, const void *a, int64_t a_at, const void *b, int64_t b_at,
                 void *c, int64_t c_at, void *work) {
  if (nn_is_float(g->c_dtype))
    product_f(g, a, a_at, b, b_at, c, c_at, (double *)work);
  else
    product_i(g, a, a_at, b, b_at, c, c_at, (int64_t *)work);
}
