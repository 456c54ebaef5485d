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

/* Vectors of 32 bytes: gcc 12 takes comparisons of longer ones apart. */
typedef T NAME(vector) __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
typedef I NAME(mask) __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
#define V     NAME(vector)
#define M     NAME(mask)
#define LANES ((int64_t)(32 / sizeof(T)))

/* For output row o of image n: which tap of each window has the first of the largest elements. */
CPU_CLONES static void NAME(winners)(const pool_rows *p, int64_t n, int64_t o, void *to) {
  const int64_t c = p->channels, width = p->w.in * c;
  const T *x = (const T *)p->x + n * p->h.in * width;
  I *winner = (I *)to;
  int64_t ah, aw, h0, h1, w0, w1;
  tfsdk_span_taps(&p->h, o, &ah, &h0, &h1);
  for (int64_t q = 0; q < p->w.out; q++, winner += c) {
    tfsdk_span_taps(&p->w, q, &aw, &w0, &w1);
    if (h0 >= h1 || w0 >= w1) {
      for (int64_t i = 0; i < c; i++) winner[i] = -1;
      continue;
    }
    const T *first = x + (ah + h0) * width + (aw + w0) * c;
    int64_t i = 0;
    for (; i + LANES <= c; i += LANES) {
      V best = *(const V *)(first + i);
      M win = (M){0} + (I)(h0 * p->w.window + w0);
      for (int64_t s = h0; s < h1; s++)
        for (int64_t t = w0; t < w1; t++) {
          const V v = *(const V *)(x + (ah + s) * width + (aw + t) * c + i);
          const M take = (v > best) | ((v != v) & (best == best));
          best = (V)(((M)v & take) | ((M)best & ~take));
          win = (((M){0} + (I)(s * p->w.window + t)) & take) | (win & ~take);
        }
      *(M *)(winner + i) = win;
    }
    for (; i < c; i++) {
      T best = first[i];
      winner[i] = (I)(h0 * p->w.window + w0);
      for (int64_t s = h0; s < h1; s++)
        for (int64_t t = w0; t < w1; t++) {
          const T v = x[(ah + s) * width + (aw + t) * c + i];
          if (WINS(v, best)) best = v, winner[i] = (I)(s * p->w.window + t);
        }
    }
  }
}

/* dx (+)= dy where `tap` has won */
CPU_CLONES static void NAME(hand_down)(const void *dy_, const void *winner_, int64_t tap_,
                                       int first, void *dx_, int64_t c) {
  const T *dy = (const T *)dy_;
  const I *winner = (const I *)winner_, tap = (I)tap_;
  T *dx = (T *)dx_;
  int64_t i = 0;
  for (; i + LANES <= c; i += LANES) {
    const M won = *(const M *)(winner + i) == tap;
    V g = (V)(*(const M *)(dy + i) & won);
    if (!first) g += *(const V *)(dx + i);
    *(V *)(dx + i) = g;
  }
  for (; i < c; i++) {
    const T g = winner[i] == tap ? dy[i] : (T)0;
    dx[i] = first ? g : dx[i] + g;
  }
}

/* The gradient where windows do not overlap: row o of them, and what lies behind it. */
CPU_CLONES static void NAME(apart)(const pool_rows *p, int64_t n, int64_t o) {
  const int64_t c = p->channels, width = p->w.in * c;
  const T *x = (const T *)p->x + n * p->h.in * width;
  const T *dy = (const T *)p->dy + (n * p->h.out + o) * p->w.out * c;
  T *dx = (T *)p->y + n * p->h.in * width;
  const int64_t y0 = o == 0 ? 0 : o * p->h.stride - p->h.before;
  const int64_t y1 = o + 1 == p->h.out ? p->h.in : (o + 1) * p->h.stride - p->h.before;
  int64_t ah, aw, h0, h1, w0, w1;
  tfsdk_span_taps(&p->h, o, &ah, &h0, &h1);
  if (p->cuts) memset(dx + y0 * width, 0, (size_t)((y1 - y0) * width) * sizeof *dx); /* gaps */
  for (int64_t q = 0; q < p->w.out; q++, dy += c) {
    tfsdk_span_taps(&p->w, q, &aw, &w0, &w1);
    if (h0 >= h1 || w0 >= w1) continue;
    const int64_t first = (ah + h0) * width + (aw + w0) * c;
    int64_t i = 0;
    for (; i + LANES <= c; i += LANES) {
      V best = *(const V *)(x + first + i);
      M win = {0}, tap = {0}, g = *(const M *)(dy + i);
      for (int64_t s = h0; s < h1; s++)
        for (int64_t t = w0; t < w1; t++, tap += 1) {
          const V v = *(const V *)(x + (ah + s) * width + (aw + t) * c + i);
          const M take = (v > best) | ((v != v) & (best == best));
          best = (V)(((M)v & take) | ((M)best & ~take));
          win = (tap & take) | (win & ~take);
        }
      tap = (M){0};
      for (int64_t s = h0; s < h1; s++)
        for (int64_t t = w0; t < w1; t++, tap += 1)
          *(M *)(dx + (ah + s) * width + (aw + t) * c + i) = g & (win == tap);
    }
    for (; i < c; i++) {
      T best = x[first + i];
      int64_t at = first + i;
      for (int64_t s = h0; s < h1; s++)
        for (int64_t t = w0; t < w1; t++) {
          const int64_t k = (ah + s) * width + (aw + t) * c + i;
          if (WINS(x[k], best)) best = x[k], at = k;
          dx[k] = 0;
        }
      dx[at] = dy[i];
    }
  }
}

#undef V
#undef M
#undef LANES
#undef WINS
#undef NAME
#undef T
#undef I
