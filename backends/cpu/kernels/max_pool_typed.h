/* max_pool_typed.h - max pooling for one element type, a row of outputs at a time; see pool_rows.h.
 * The includer defines T, I (an integer of T's size) and NAME(x). */

/* Larger, or the first NaN. */
#define WINS(v, s) ((v > s) | ((v != v) & (s == s)))

CPU_CLONES static void NAME(max)(const pool_rows *p, int64_t n, int64_t o) {
  const int64_t c = p->channels, width = p->w.in * c;
  const T *x = (const T *)p->x + n * p->h.in * width;
  T *y = (T *)p->y + (n * p->h.out + o) * p->w.out * c;
  int64_t ah, aw, h0, h1, w0, w1;
  tfsdk_span_taps(&p->h, o, &ah, &h0, &h1);
  for (int64_t q = 0; q < p->w.out; q++, y += c) {
    tfsdk_span_taps(&p->w, q, &aw, &w0, &w1);
    for (int64_t i = 0; i < c; i++) y[i] = -(T)INFINITY;
    for (int64_t s = h0; s < h1; s++)
      for (int64_t t = w0; t < w1; t++) {
        const T *v = x + (ah + s) * width + (aw + t) * c;
        _Pragma("GCC ivdep") for (int64_t i = 0; i < c; i++) {
          const T a = v[i], b = y[i];
          y[i] = (a > b) | (a != a) ? a : b;
        }
      }
  }
}

/* The gradient goes to the first of the largest elements of each window. */
CPU_CLONES static void NAME(max_grad)(const pool_rows *p, int64_t n, int64_t o, int64_t c0,
                                      int64_t c1) {
  const int64_t c = p->channels, width = p->w.in * c;
  const T *x = (const T *)p->x + n * p->h.in * width;
  const T *dy = (const T *)p->dy + (n * p->h.out + o) * p->w.out * c;
  T *dx = (T *)p->y + n * p->h.in * width;
  int64_t ah, aw, h0, h1, w0, w1;
  T best[POOL_BLOCK];
  I winner[POOL_BLOCK];
  tfsdk_span_taps(&p->h, o, &ah, &h0, &h1);
  for (int64_t q = 0; q < p->w.out; q++, dy += c) {
    tfsdk_span_taps(&p->w, q, &aw, &w0, &w1);
    for (int64_t b = c0; b < c1; b += POOL_BLOCK) {
      const int64_t m = cpu_min(c1 - b, POOL_BLOCK);
      const T *d = dy + b;
      I tap = 0;
      for (int64_t s = h0; s < h1; s++)
        for (int64_t t = w0; t < w1; t++, tap++) {
          const T *v = x + (ah + s) * width + (aw + t) * c + b;
          if (tap == 0) {
            for (int64_t i = 0; i < m; i++) best[i] = v[i], winner[i] = 0;
          } else {
            _Pragma("GCC ivdep") for (int64_t i = 0; i < m; i++) {
              const T a = v[i], z = best[i];
              const I take = -(I)WINS(a, z);
              best[i] = take ? a : z;
              winner[i] = (winner[i] & ~take) | (tap & take);
            }
          }
        }
      tap = 0;
      for (int64_t s = h0; s < h1; s++)
        for (int64_t t = w0; t < w1; t++, tap++) {
          T *o1 = dx + (ah + s) * width + (aw + t) * c + b;
          _Pragma("GCC ivdep") for (int64_t i = 0; i < m; i++) {
            const T g = d[i], z = (T)0;
            o1[i] += winner[i] == tap ? g : z;
          }
        }
    }
  }
}

#undef WINS
#undef NAME
#undef T
#undef I
