/* gemm_kernel.h - tile kernels for one instruction set; included once for each by gemm_f32.c,
 * gemm_f64.c.
 *
 * The includer defines
 *   T, NAME(x)        element type and the prefix of this set's names
 *   VECTOR            elements of a vector;  VT  its type, unaligned and aliasing anything
 *   ROWS              most rows of a tile: ROWS * 2 accumulators, 2 columns and 1 element of a must
 * fit into the registers TARGET            attribute that allows the instructions SET1(x), FMA(a,
 * b, c), ZERO() All of it is undefined again at the end.
 *
 * Rows are reached from every third one by (0, 1, 2) strides, so that twelve rows need four
 * pointers and one stride, which fit the sixteen general registers of x86.
 */

#define EACH_ROW(X)                                                                                \
  X(0, 0, 0)                                                                                       \
  X(1, 0, 1)                                                                                       \
  X(2, 0, 2)                                                                                       \
  X(3, 1, 0)                                                                                       \
  X(4, 1, 1) X(5, 1, 2) X(6, 2, 0) X(7, 2, 1) X(8, 2, 2) X(9, 3, 0) X(10, 3, 1) X(11, 3, 2)

/* A tile that ends within a vector: only the columns that exist are written. */
static void __attribute__((noinline)) NAME(put)(const cpu_tile *t, const T *block, int rows) {
  for (int i = 0; i < rows; i++) {
    T *c = (T *)t->c + i * t->c_row;
    const T *line = block + i * 2 * VECTOR;
    for (int32_t j = 0; j < t->cols; j++) c[j] = t->add ? c[j] + line[j] : line[j];
  }
}

/* `rows`, `vectors` and `copies` are constants once this is inlined. */
TARGET CPU_INLINE void NAME(tile)(const int rows, const int vectors, const int copies,
                                  const cpu_tile *t) {
  const T *b = (const T *)t->b;
  const char *next = (const char *)(t->next != NULL ? t->next : t->b);
  const int64_t next_step = t->next != NULL ? t->next_step : 0;
  T *copy = (T *)t->copy;
  const int64_t a_row = t->a_row, a_col = t->a_col, b_row = t->b_row;
  T *c = (T *)t->c;
#define DECLARE(i, q, s) VT x##i = ZERO(), y##i = ZERO();
  EACH_ROW(DECLARE)
#undef DECLARE
  if (t->k * t->segs >=
      CPU_GEMM_FETCH_K) { /* what is written at the end comes from memory meanwhile */
    const char *o = (const char *)c;
    const int64_t step = t->c_row * (int64_t)sizeof(T);
    for (int i = 0; i < rows; i++, o += step) {
      __builtin_prefetch(o, 1);
      if (vectors > 1) __builtin_prefetch(o + VECTOR * sizeof(T), 1);
    }
  }
  for (int64_t s = 0; s < t->segs; s++) {
    const T *p0 = (const T *)t->a + s * t->a_seg;
    const T *p1 = rows > 3 ? p0 + 3 * a_row : p0;
    const T *p2 = rows > 6 ? p0 + 6 * a_row : p0;
    const T *p3 = rows > 9 ? p0 + 9 * a_row : p0;
    for (int64_t k = t->k; k > 0; k--) {
      VT b0 = *(const VT *)b, b1 = vectors > 1 ? *(const VT *)(b + VECTOR) : ZERO();
      __builtin_prefetch(next, 0, 2);
      next += next_step;
      if (copies) {
        *(VT *)copy = b0;
        *(VT *)(copy + VECTOR) = b1;
        copy += 2 * VECTOR;
      }
#define STEP(i, q, s_)                                                                             \
  if (rows > i) {                                                                                  \
    VT a_ = SET1(p##q[s_ * a_row]);                                                                \
    x##i = FMA(a_, b0, x##i);                                                                      \
    if (vectors > 1) y##i = FMA(a_, b1, y##i);                                                     \
  }
      EACH_ROW(STEP)
#undef STEP
      p0 += a_col;
      if (rows > 3) p1 += a_col;
      if (rows > 6) p2 += a_col;
      if (rows > 9) p3 += a_col;
      b += b_row;
    }
  }
  if (t->cols == vectors * VECTOR) {
#define STORE(i, q, s)                                                                             \
  if (rows > i) {                                                                                  \
    VT *o = (VT *)(c + i * t->c_row), *o1 = (VT *)(c + i * t->c_row + VECTOR);                     \
    *o = t->add ? (VT)(*o + x##i) : (VT)x##i;                                                      \
    if (vectors > 1) *o1 = t->add ? (VT)(*o1 + y##i) : (VT)y##i;                                   \
  }
    EACH_ROW(STORE)
#undef STORE
  } else {
    T block[ROWS * 2 * VECTOR];
#define STORE(i, q, s)                                                                             \
  if (rows > i) {                                                                                  \
    *(VT *)(block + i * 2 * VECTOR) = x##i;                                                        \
    *(VT *)(block + i * 2 * VECTOR + VECTOR) = y##i;                                               \
  }
    EACH_ROW(STORE)
#undef STORE
    NAME(put)(t, block, rows);
  }
}

#define ONE(r)                                                                                     \
  TARGET static void NAME(r##_1)(const cpu_tile *t) { NAME(tile)(r, 1, 0, t); }                    \
  TARGET static void NAME(r##_2)(const cpu_tile *t) { NAME(tile)(r, 2, 0, t); }                    \
  TARGET static void NAME(r##_3)(const cpu_tile *t) { NAME(tile)(r, 2, 1, t); }
ONE(1)
ONE(2)
ONE(3)
ONE(4)
#if ROWS > 4
ONE(5)
ONE(6)
#endif
#if ROWS > 6
ONE(7)
ONE(8)
#endif
#if ROWS > 8
ONE(9)
ONE(10)
ONE(11)
ONE(12)
#endif
#undef ONE

#define ONE(r) NAME(r##_1), NAME(r##_2), NAME(r##_3),
static cpu_tile_fn *const NAME(list)[] = {ONE(1) ONE(2) ONE(3) ONE(4)
#if ROWS > 4
                                              ONE(5) ONE(6)
#endif
#if ROWS > 6
                                                  ONE(7) ONE(8)
#endif
#if ROWS > 8
                                                      ONE(9) ONE(10) ONE(11) ONE(12)
#endif
};
#undef ONE
static const cpu_kernels NAME(kernels) = {ROWS, VECTOR, NAME(list)};

#undef EACH_ROW
#undef NAME
#undef VECTOR
#undef VT
#undef ROWS
#undef TARGET
#undef SET1
#undef FMA
#undef ZERO
