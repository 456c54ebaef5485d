/* avg_pool_typed.h - average pooling for one element type, a row of outputs at a time; see
 * pool_rows.h. The includer defines T and NAME(x). */

CPU_CLONES static void NAME(avg)(const pool_rows *p, int64_t n, int64_t o) {
  const int64_t c = p->channels, width = p->w.in * c;
  const T *x = (const T *)p->x + n * p->h.in * width;
  T *y = (T *)p->y + (n * p->h.out + o) * p->w.out * c;
  int64_t ah, aw, h0, h1, w0, w1;
  double sum[POOL_BLOCK];
  tfsdk_span_taps(&p->h, o, &ah, &h0, &h1);
  for (int64_t q = 0; q < p->w.out; q++, y += c) {
    int64_t count;
    tfsdk_span_taps(&p->w, q, &aw, &w0, &w1);
    count = (h1 - h0) * (w1 - w0);
    for (int64_t b = 0; b < c; b += POOL_BLOCK) {
      const int64_t m = cpu_min(c - b, POOL_BLOCK);
      for (int64_t i = 0; i < m; i++) sum[i] = 0;
      for (int64_t s = h0; s < h1; s++)
        for (int64_t t = w0; t < w1; t++) {
          const T *v = x + (ah + s) * width + (aw + t) * c + b;
          for (int64_t i = 0; i < m; i++) sum[i] += (double)v[i];
        }
      for (int64_t i = 0; i < m; i++) y[b + i] = count > 0 ? (T)(sum[i] / (double)count) : 0;
    }
  }
}

CPU_CLONES static void NAME(avg_grad)(const pool_rows *p, int64_t n, int64_t o, int64_t c0,
                                      int64_t c1) {
  const int64_t c = p->channels, width = p->w.in * c;
  const T *dy = (const T *)p->dy + (n * p->h.out + o) * p->w.out * c;
  T *dx = (T *)p->y + n * p->h.in * width;
  int64_t ah, aw, h0, h1, w0, w1;
  tfsdk_span_taps(&p->h, o, &ah, &h0, &h1);
  for (int64_t q = 0; q < p->w.out; q++, dy += c) {
    T share;
    tfsdk_span_taps(&p->w, q, &aw, &w0, &w1);
    share = (T)1 / (T)((h1 - h0) * (w1 - w0));
    for (int64_t s = h0; s < h1; s++)
      for (int64_t t = w0; t < w1; t++) {
        T *o1 = dx + (ah + s) * width + (aw + t) * c;
        _Pragma("GCC ivdep") for (int64_t i = c0; i < c1; i++) o1[i] += dy[i] * share;
      }
  }
}

#undef NAME
#undef T
