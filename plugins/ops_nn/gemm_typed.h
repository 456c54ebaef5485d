/* gemm_typed.h - the product in one computing type. Included with ACC, LOAD, STORE, MUL_ADD, NAME.
 *
 * A block of BLOCK columns of b is unpacked once into `work`; the inner loop then runs over
 * contiguous columns, so that it vectorises whatever the transposes are. */
static void NAME(const nn_gemm *g, const void *a, int64_t a_at, const void *b, int64_t b_at,
                 void *c, int64_t c_at, ACC *work) {
  ACC *columns = work, *row = work + g->k * BLOCK, acc[BLOCK];
  for (int64_t j = 0; j < g->n; j += BLOCK) {
    int64_t n = g->n - j < BLOCK ? g->n - j : BLOCK;
    for (int64_t k = 0; k < g->k; k++) {
      int64_t at = g->transpose_b ? j * g->k + k : k * g->n + j;
      LOAD(g->b_dtype, b, b_at + at, g->transpose_b ? g->k : 1, n, columns + k * BLOCK);
    }
    for (int64_t i = 0; i < g->m; i++) {
      LOAD(g->a_dtype, a, a_at + (g->transpose_a ? i : i * g->k), g->transpose_a ? g->m : 1, g->k,
           row);
      for (int64_t x = 0; x < n; x++) acc[x] = 0;
      for (int64_t k = 0; k < g->k; k++) {
        const ACC *column = columns + k * BLOCK;
        ACC factor = row[k];
        for (int64_t x = 0; x < n; x++) acc[x] = MUL_ADD(acc[x], factor, column[x]);
      }
      STORE(g->c_dtype, c, c_at + i * g->n + j, 1, n, acc);
    }
  }
}
#undef ACC
#undef LOAD
#undef STORE
#undef MUL_ADD
#undef NAME
