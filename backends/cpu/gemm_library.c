/* gemm_library.c - large products by the BLAS library, where our own kernels have no wide vectors. */
#include "gemm.h"

#define LIBRARY_WORK 4e8 /* multiply-adds from which the library is the better choice */

static const char *at(const void *p, int64_t elements, size_t size) {
  return (const char *)p + elements * (int64_t)size;
}

/* The library takes pieces of about 512 by 256, each in one thread. */
typedef struct library_plan {
  const cpu_gemm *g;
  const cpu_blas *blas;
  int64_t row_pieces, col_pieces;
} library_plan;

static void library_range(void *user, int64_t begin, int64_t end) {
  const library_plan *p = (const library_plan *)user;
  const cpu_gemm *g = p->g;
  const size_t size = tfsdk_dtype_size(g->dtype);
  const int ta = g->a_col == 1 ? CPU_NO_TRANS : CPU_TRANS,
            tb = g->b_col == 1 ? CPU_NO_TRANS : CPU_TRANS;
  const int lda = (int)(g->a_col == 1 ? g->a_row : g->a_col);
  const int ldb = (int)(g->b_col == 1 ? g->b_row : g->b_col);
  int token = cpu_blas_enter();
  for (int64_t i = begin; i < end; i++) {
    int64_t ri = i % p->row_pieces, ci = i / p->row_pieces;
    int64_t row = cpu_even_begin(g->m, p->row_pieces, ri);
    int64_t col = cpu_even_begin(g->n, p->col_pieces, ci);
    int m = (int)(cpu_even_begin(g->m, p->row_pieces, ri + 1) - row);
    int n = (int)(cpu_even_begin(g->n, p->col_pieces, ci + 1) - col);
    const void *a = at(g->a, row * g->a_row, size), *b = at(g->b, col * g->b_col, size);
    void *c = (char *)g->c + (size_t)(row * g->c_row + col) * size;
    if (size == 4)
      p->blas->sgemm(CPU_ROW_MAJOR, ta, tb, m, n, (int)g->k, 1, (const float *)a, lda,
                     (const float *)b, ldb, g->add ? 1 : 0, (float *)c, (int)g->c_row);
    else
      p->blas->dgemm(CPU_ROW_MAJOR, ta, tb, m, n, (int)g->k, 1, (const double *)a, lda,
                     (const double *)b, ldb, g->add ? 1 : 0, (double *)c, (int)g->c_row);
  }
  cpu_blas_leave(token);
}

/* Where our own kernels have vectors of 8 or 16 they are as fast at any size, tell of finished rows
 * while they are in the cache, and nothing need be loaded. */
static int for_library(const cpu_gemm *g) {
  const int64_t most = INT32_MAX, least = 256;
  return cpu_isa() == CPU_ISA_GENERIC && (g->a_col == 1 || g->a_row == 1) &&
         (g->b_col == 1 || g->b_row == 1) && g->m >= least && g->n >= least && g->k >= least &&
         g->m <= most && g->n <= most && g->k <= most && g->a_row <= most && g->a_col <= most &&
         g->b_row <= most && g->b_col <= most &&
         (double)g->m * (double)g->n * (double)g->k >= LIBRARY_WORK;
}

int cpu_gemm_library(tfsdk_run *r, const cpu_gemm *g) {
  library_plan p = {.g = g};
  const int wide = g->n > g->m;
  if (!for_library(g)) return 0;
  p.blas = cpu_blas_get(r->host);
  if (p.blas == NULL) return 0;
  p.row_pieces = cpu_even_pieces(g->m, wide ? 256 : 512);
  p.col_pieces = cpu_even_pieces(g->n, wide ? 512 : 256);
  r->api->par_for(r, p.row_pieces * p.col_pieces, 1, library_range, &p);
  return 1;
}
