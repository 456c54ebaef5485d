/* winograd_kernel.h - the transforms of winograd.h for one instruction set; included once for each
 * by winograd_f32.c.
 *
 * The includer defines NAME(x), VECTOR, VT (a vector of floats, unaligned and aliasing anything),
 * TARGET, SET1(x), FMA(a, b, c) = a b + c. All of it is undefined again at the end.
 *
 * Each transform of two axes is one of the short transforms below, of the columns and then of the
 * rows. Vectors run over channels.
 */

typedef struct NAME(six) {
  VT a, b, c, d, e, f;
} NAME(six);
typedef struct NAME(five) {
  VT a, b, c, d, e;
} NAME(five);
typedef struct NAME(four) {
  VT a, b, c, d;
} NAME(four);
typedef struct NAME(three) {
  VT a, b, c;
} NAME(three);
typedef struct NAME(two) {
  VT a, b;
} NAME(two);

#define LOAD(p)     (*(const VT *)(p))
#define STORE(p, v) (*(VT *)(p) = (v))
#define K(x)        SET1((float)(x))
#define FUNCTION    TARGET CPU_INLINE

/* ------------------------------------------------------------------------- one axis, to 6 points */

/* the input: values at 6 neighbours */
FUNCTION NAME(six) NAME(spread_input)(NAME(six) x) {
  NAME(six) y;
  VT u = FMA(K(-WB * WB), x.c, x.e), v = K(WA) * FMA(K(-WB * WB), x.b, x.d);
  VT w = FMA(K(-WA * WA), x.c, x.e), z = K(WB) * FMA(K(-WA * WA), x.b, x.d);
  y.a = FMA(K(WA * WA * WB * WB), x.a, FMA(K(-(WA * WA + WB * WB)), x.c, x.e));
  y.b = u + v;
  y.c = u - v;
  y.d = w + z;
  y.e = w - z;
  y.f = FMA(K(WA * WA * WB * WB), x.b, FMA(K(-(WA * WA + WB * WB)), x.d, x.f));
  return y;
}

/* a filter of 3 or 5 taps */
FUNCTION NAME(six) NAME(spread_filter3)(NAME(three) g) {
  NAME(six) y;
  VT u = FMA(K(WA * WA / WDA), g.c, K(1 / WDA) * g.a), v = K(WA / WDA) * g.b;
  VT w = FMA(K(WB * WB / WDB), g.c, K(1 / WDB) * g.a), z = K(WB / WDB) * g.b;
  y.a = K(1 / WD0) * g.a;
  y.b = u + v;
  y.c = u - v;
  y.d = w + z;
  y.e = w - z;
  y.f = g.c;
  return y;
}
FUNCTION NAME(six) NAME(spread_filter5)(NAME(five) g) {
  NAME(six) y;
  VT u = K(1 / WDA) * FMA(K(WA * WA), FMA(K(WA * WA), g.e, g.c), g.a);
  VT v = K(WA / WDA) * FMA(K(WA * WA), g.d, g.b);
  VT w = K(1 / WDB) * FMA(K(WB * WB), FMA(K(WB * WB), g.e, g.c), g.a);
  VT z = K(WB / WDB) * FMA(K(WB * WB), g.d, g.b);
  y.a = K(1 / WD0) * g.a;
  y.b = u + v;
  y.c = u - v;
  y.d = w + z;
  y.e = w - z;
  y.f = g.e;
  return y;
}

/* the gradient of 4 or 2 outputs */
FUNCTION NAME(six) NAME(spread_output4)(NAME(four) x) {
  NAME(six) y;
  VT u = FMA(K(WA * WA), x.c, x.a), v = K(WA) * FMA(K(WA * WA), x.d, x.b);
  VT w = FMA(K(WB * WB), x.c, x.a), z = K(WB) * FMA(K(WB * WB), x.d, x.b);
  y.a = x.a;
  y.b = u + v;
  y.c = u - v;
  y.d = w + z;
  y.e = w - z;
  y.f = x.d;
  return y;
}
FUNCTION NAME(six) NAME(spread_output2)(NAME(two) x) {
  NAME(six) y;
  y.a = x.a;
  y.b = FMA(K(WA), x.b, x.a);
  y.c = FMA(K(-WA), x.b, x.a);
  y.d = FMA(K(WB), x.b, x.a);
  y.e = FMA(K(-WB), x.b, x.a);
  y.f = x.b;
  return y;
}

/* ----------------------------------------------------------------------- one axis, from 6 points */

FUNCTION NAME(four) NAME(gather_output4)(NAME(six) m) {
  NAME(four) y;
  VT s = m.b + m.c, d = m.b - m.c, t = m.d + m.e, e = m.d - m.e;
  y.a = m.a + (s + t);
  y.b = FMA(K(WA), d, K(WB) * e);
  y.c = FMA(K(WA * WA), s, K(WB * WB) * t);
  y.d = FMA(K(WA * WA * WA), d, FMA(K(WB * WB * WB), e, m.f));
  return y;
}
FUNCTION NAME(two) NAME(gather_output2)(NAME(six) m) {
  NAME(two) y;
  y.a = m.a + ((m.b + m.c) + (m.d + m.e));
  y.b = FMA(K(WA), m.b - m.c, FMA(K(WB), m.d - m.e, m.f));
  return y;
}
FUNCTION NAME(three) NAME(gather_filter3)(NAME(six) m) {
  NAME(three) g;
  VT s = m.b + m.c, d = m.b - m.c, t = m.d + m.e, e = m.d - m.e;
  g.a = FMA(K(1 / WD0), m.a, FMA(K(1 / WDA), s, K(1 / WDB) * t));
  g.b = FMA(K(WA / WDA), d, K(WB / WDB) * e);
  g.c = FMA(K(WA * WA / WDA), s, FMA(K(WB * WB / WDB), t, m.f));
  return g;
}
FUNCTION NAME(five) NAME(gather_filter5)(NAME(six) m) {
  NAME(five) g;
  VT s = K(1 / WDA) * (m.b + m.c), d = K(WA / WDA) * (m.b - m.c);
  VT t = K(1 / WDB) * (m.d + m.e), e = K(WB / WDB) * (m.d - m.e);
  g.a = FMA(K(1 / WD0), m.a, s + t);
  g.b = d + e;
  g.c = FMA(K(WA * WA), s, K(WB * WB) * t);
  g.d = FMA(K(WA * WA), d, K(WB * WB) * e);
  g.e = FMA(K(WA * WA * WA * WA), s, FMA(K(WB * WB * WB * WB), t, m.f));
  return g;
}

/* ------------------------------------------------------------------------------------- both axes
 *
 * COLUMN_n and ROW_n are the short transforms of n values, the rows' results put somewhere. */

#define STORE_SIX(to, i, y)                                                                        \
  do {                                                                                             \
    float *o_ = (to) + (i)*6 * step;                                                               \
    STORE(o_, y.a);                                                                                \
    STORE(o_ + step, y.b);                                                                         \
    STORE(o_ + 2 * step, y.c);                                                                     \
    STORE(o_ + 3 * step, y.d);                                                                     \
    STORE(o_ + 4 * step, y.e);                                                                     \
    STORE(o_ + 5 * step, y.f);                                                                     \
  } while (0)
#define LOAD_SIX(from, j)                                                                          \
  {                                                                                                \
    LOAD((from) + (j)*step), LOAD((from) + (6 + (j)) * step), LOAD((from) + (12 + (j)) * step),    \
        LOAD((from) + (18 + (j)) * step), LOAD((from) + (24 + (j)) * step),                        \
        LOAD((from) + (30 + (j)) * step)                                                           \
  }

/* 36 pixels, row by row, to 36 points `step` apart */
TARGET static void NAME(input)(const float *const *x, int64_t n, float *to, int64_t step) {
  for (int64_t i = 0; i < n; i += VECTOR, to += VECTOR) {
#define COLUMN(j)                                                                                  \
  NAME(spread_input)                                                                               \
  ((NAME(six)){LOAD(x[j] + i), LOAD(x[6 + j] + i), LOAD(x[12 + j] + i), LOAD(x[18 + j] + i),       \
               LOAD(x[24 + j] + i), LOAD(x[30 + j] + i)})
    const NAME(six) p = COLUMN(0), q = COLUMN(1), r = COLUMN(2), s = COLUMN(3), t = COLUMN(4),
                    u = COLUMN(5);
#undef COLUMN
#define ROW(k, m)                                                                                  \
  do {                                                                                             \
    const NAME(six) y_ = NAME(spread_input)((NAME(six)){p.m, q.m, r.m, s.m, t.m, u.m});            \
    STORE_SIX(to, k, y_);                                                                          \
  } while (0)
    ROW(0, a);
    ROW(1, b);
    ROW(2, c);
    ROW(3, d);
    ROW(4, e);
    ROW(5, f);
#undef ROW
  }
}

/* 36 points to 16 or 4 pixels */
TARGET static void NAME(output4)(const float *m, int64_t step, int64_t n, float *const *y) {
  for (int64_t i = 0; i < n; i += VECTOR, m += VECTOR) {
#define COLUMN(j) NAME(gather_output4)((NAME(six))LOAD_SIX(m, j))
    const NAME(four) p = COLUMN(0), q = COLUMN(1), r = COLUMN(2), s = COLUMN(3), t = COLUMN(4),
                     u = COLUMN(5);
#undef COLUMN
#define ROW(k, v)                                                                                  \
  do {                                                                                             \
    const NAME(four) y_ = NAME(gather_output4)((NAME(six)){p.v, q.v, r.v, s.v, t.v, u.v});         \
    STORE(y[4 * k] + i, y_.a);                                                                     \
    STORE(y[4 * k + 1] + i, y_.b);                                                                 \
    STORE(y[4 * k + 2] + i, y_.c);                                                                 \
    STORE(y[4 * k + 3] + i, y_.d);                                                                 \
  } while (0)
    ROW(0, a);
    ROW(1, b);
    ROW(2, c);
    ROW(3, d);
#undef ROW
  }
}
TARGET static void NAME(output2)(const float *m, int64_t step, int64_t n, float *const *y) {
  for (int64_t i = 0; i < n; i += VECTOR, m += VECTOR) {
#define COLUMN(j) NAME(gather_output2)((NAME(six))LOAD_SIX(m, j))
    const NAME(two) p = COLUMN(0), q = COLUMN(1), r = COLUMN(2), s = COLUMN(3), t = COLUMN(4),
                    u = COLUMN(5);
#undef COLUMN
    const NAME(two) above = NAME(gather_output2)((NAME(six)){p.a, q.a, r.a, s.a, t.a, u.a});
    const NAME(two) below = NAME(gather_output2)((NAME(six)){p.b, q.b, r.b, s.b, t.b, u.b});
    STORE(y[0] + i, above.a);
    STORE(y[1] + i, above.b);
    STORE(y[2] + i, below.a);
    STORE(y[3] + i, below.b);
  }
}

/* 16 or 4 pixels to 36 points: the adjoints of the above */
TARGET static void NAME(upstream4)(const float *const *x, int64_t n, float *to, int64_t step) {
  for (int64_t i = 0; i < n; i += VECTOR, to += VECTOR) {
#define COLUMN(j)                                                                                  \
  NAME(spread_output4)                                                                             \
  ((NAME(four)){LOAD(x[j] + i), LOAD(x[4 + j] + i), LOAD(x[8 + j] + i), LOAD(x[12 + j] + i)})
    const NAME(six) p = COLUMN(0), q = COLUMN(1), r = COLUMN(2), s = COLUMN(3);
#undef COLUMN
#define ROW(k, m)                                                                                  \
  do {                                                                                             \
    const NAME(six) y_ = NAME(spread_output4)((NAME(four)){p.m, q.m, r.m, s.m});                   \
    STORE_SIX(to, k, y_);                                                                          \
  } while (0)
    ROW(0, a);
    ROW(1, b);
    ROW(2, c);
    ROW(3, d);
    ROW(4, e);
    ROW(5, f);
#undef ROW
  }
}
TARGET static void NAME(upstream2)(const float *const *x, int64_t n, float *to, int64_t step) {
  for (int64_t i = 0; i < n; i += VECTOR, to += VECTOR) {
    const NAME(six) p = NAME(spread_output2)((NAME(two)){LOAD(x[0] + i), LOAD(x[2] + i)});
    const NAME(six) q = NAME(spread_output2)((NAME(two)){LOAD(x[1] + i), LOAD(x[3] + i)});
#define ROW(k, m)                                                                                  \
  do {                                                                                             \
    const NAME(six) y_ = NAME(spread_output2)((NAME(two)){p.m, q.m});                              \
    STORE_SIX(to, k, y_);                                                                          \
  } while (0)
    ROW(0, a);
    ROW(1, b);
    ROW(2, c);
    ROW(3, d);
    ROW(4, e);
    ROW(5, f);
#undef ROW
  }
}

/* One vector of a filter: taps[r * r] at g + i * column, + j * row, to 36 points. */
TARGET static void NAME(filter3)(const float *g, int64_t row, int64_t column, float *to,
                                 int64_t step) {
#define COLUMN(j)                                                                                  \
  NAME(spread_filter3)                                                                             \
  ((NAME(three)){LOAD(g + (j)*column), LOAD(g + row + (j)*column), LOAD(g + 2 * row + (j)*column)})
  const NAME(six) p = COLUMN(0), q = COLUMN(1), r = COLUMN(2);
#undef COLUMN
#define ROW(k, m)                                                                                  \
  do {                                                                                             \
    const NAME(six) y_ = NAME(spread_filter3)((NAME(three)){p.m, q.m, r.m});                       \
    STORE_SIX(to, k, y_);                                                                          \
  } while (0)
  ROW(0, a);
  ROW(1, b);
  ROW(2, c);
  ROW(3, d);
  ROW(4, e);
  ROW(5, f);
#undef ROW
}
TARGET static void NAME(filter5)(const float *g, int64_t row, int64_t column, float *to,
                                 int64_t step) {
#define COLUMN(j)                                                                                  \
  NAME(spread_filter5)                                                                             \
  ((NAME(five)){LOAD(g + (j)*column), LOAD(g + row + (j)*column), LOAD(g + 2 * row + (j)*column),  \
                LOAD(g + 3 * row + (j)*column), LOAD(g + 4 * row + (j)*column)})
  const NAME(six) p = COLUMN(0), q = COLUMN(1), r = COLUMN(2), s = COLUMN(3), t = COLUMN(4);
#undef COLUMN
#define ROW(k, m)                                                                                  \
  do {                                                                                             \
    const NAME(six) y_ = NAME(spread_filter5)((NAME(five)){p.m, q.m, r.m, s.m, t.m});              \
    STORE_SIX(to, k, y_);                                                                          \
  } while (0)
  ROW(0, a);
  ROW(1, b);
  ROW(2, c);
  ROW(3, d);
  ROW(4, e);
  ROW(5, f);
#undef ROW
}

/* And its adjoint: 36 points to the gradient of a filter. */
TARGET static void NAME(filter_grad3)(const float *m, int64_t step, float *g, int64_t row,
                                      int64_t column) {
#define COLUMN(j) NAME(gather_filter3)((NAME(six))LOAD_SIX(m, j))
  const NAME(three) p = COLUMN(0), q = COLUMN(1), r = COLUMN(2), s = COLUMN(3), t = COLUMN(4),
                    u = COLUMN(5);
#undef COLUMN
#define ROW(k, v)                                                                                  \
  do {                                                                                             \
    const NAME(three) y_ = NAME(gather_filter3)((NAME(six)){p.v, q.v, r.v, s.v, t.v, u.v});        \
    STORE(g + (k)*row, y_.a);                                                                      \
    STORE(g + (k)*row + column, y_.b);                                                             \
    STORE(g + (k)*row + 2 * column, y_.c);                                                         \
  } while (0)
  ROW(0, a);
  ROW(1, b);
  ROW(2, c);
#undef ROW
}
TARGET static void NAME(filter_grad5)(const float *m, int64_t step, float *g, int64_t row,
                                      int64_t column) {
#define COLUMN(j) NAME(gather_filter5)((NAME(six))LOAD_SIX(m, j))
  const NAME(five) p = COLUMN(0), q = COLUMN(1), r = COLUMN(2), s = COLUMN(3), t = COLUMN(4),
                   u = COLUMN(5);
#undef COLUMN
#define ROW(k, v)                                                                                  \
  do {                                                                                             \
    const NAME(five) y_ = NAME(gather_filter5)((NAME(six)){p.v, q.v, r.v, s.v, t.v, u.v});         \
    STORE(g + (k)*row, y_.a);                                                                      \
    STORE(g + (k)*row + column, y_.b);                                                             \
    STORE(g + (k)*row + 2 * column, y_.c);                                                         \
    STORE(g + (k)*row + 3 * column, y_.d);                                                         \
    STORE(g + (k)*row + 4 * column, y_.e);                                                         \
  } while (0)
  ROW(0, a);
  ROW(1, b);
  ROW(2, c);
  ROW(3, d);
  ROW(4, e);
#undef ROW
}

static const cpu_winograd_set NAME(set) = {VECTOR,
                                           NAME(input),
                                           {NAME(output4), NAME(output2)},
                                           {NAME(upstream4), NAME(upstream2)},
                                           {NAME(filter3), NAME(filter5)},
                                           {NAME(filter_grad3), NAME(filter_grad5)}};

#undef STORE_SIX
#undef LOAD_SIX
#undef LOAD
#undef STORE
#undef K
#undef FUNCTION
#undef NAME
#undef VECTOR
#undef VT
#undef TARGET
#undef SET1
#undef FMA
