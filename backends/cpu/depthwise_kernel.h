/* depthwise_kernel.h - the loops of depthwise.h for one instruction set; included once for each by
 * depthwise_f32.c.
 *
 * The includer defines NAME(x), VECTOR, VT (a vector of floats, unaligned and aliasing anything),
 * TARGET, FMA(a, b, c) = a b + c. All of it is undefined again at the end. Channels behind the last whole vector go one by one.
 */

#define EACH_TAP(X) X(0, 0) X(0, 1) X(0, 2) X(1, 0) X(1, 1) X(1, 2) X(2, 0) X(2, 1) X(2, 2)
#define LOAD(p)     (*(const VT *)(p))

/* `rows`, `columns` and `dense` are constants once this is inlined. Four neighbours are done at a
 * time; dense: their pixels are neighbours, too, and so are those of the taps of a row: most are
 * loaded for several of them at once. */
TARGET CPU_INLINE void NAME(sum)(const int rows, const int columns, const int dense,
                                 const cpu_depthwise *d, const float *f, float *y, int64_t y_step) {
  const int64_t row = d->row, column = d->column, step = dense ? column : d->step;
  const int64_t whole = d->channels / VECTOR * VECTOR, f_row = d->f_row, f_column = d->f_column;
  int64_t first = 0;
  for (; first + 4 <= d->count; first += 4) {
    const float *x = d->x + first * d->step, *tap = f;
    float *to = y + first * y_step;
    for (int64_t c = 0; c < whole; c += VECTOR, x += VECTOR, to += VECTOR, tap += VECTOR) {
      VT s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
#define ADD(i, j)                                                                                  \
  if (rows > i && columns > j) {                                                                   \
    const VT t_ = LOAD(tap + i * f_row + j * f_column);                                            \
    s0 = FMA(t_, LOAD(x + i * row + j * column), s0);                                              \
    s1 = FMA(t_, LOAD(x + i * row + (dense ? (j + 1) * column : j * column + step)), s1);          \
    s2 = FMA(t_, LOAD(x + i * row + (dense ? (j + 2) * column : j * column + 2 * step)), s2);      \
    s3 = FMA(t_, LOAD(x + i * row + (dense ? (j + 3) * column : j * column + 3 * step)), s3);      \
  }
      EACH_TAP(ADD)
#undef ADD
      *(VT *)to = s0;
      *(VT *)(to + y_step) = s1;
      *(VT *)(to + 2 * y_step) = s2;
      *(VT *)(to + 3 * y_step) = s3;
    }
  }
  for (; first < d->count; first++) {
    const float *x = d->x + first * d->step, *tap = f;
    float *to = y + first * y_step;
    for (int64_t c = 0; c < whole; c += VECTOR, x += VECTOR, to += VECTOR, tap += VECTOR) {
      VT s = {0};
#define ADD(i, j)                                                                                  \
  if (rows > i && columns > j)                                                                     \
    s = FMA(LOAD(tap + i * f_row + j * f_column), LOAD(x + i * row + j * column), s);
      EACH_TAP(ADD)
#undef ADD
      *(VT *)to = s;
    }
  }
  for (int64_t c = whole; c < d->channels; c++)
    for (int64_t o = 0; o < d->count; o++) {
      float s = 0;
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
          s += f[i * f_row + j * f_column + c] * d->x[o * d->step + i * row + j * column + c];
      y[o * y_step + c] = s;
    }
}

/* Few channels: the sums stay in registers while the pixels pass by. */
TARGET CPU_INLINE void NAME(grad_few)(const int rows, const int columns, const cpu_depthwise *d,
                                      const float *dy, int64_t dy_step, float *f) {
  const int64_t row = d->row, column = d->column, step = d->step;
  const int64_t whole = d->channels / VECTOR * VECTOR;
  for (int64_t c = 0; c < whole; c += VECTOR) {
    const float *x = d->x + c, *from = dy + c;
#define TAKE(i, j)                                                                                 \
  VT f##i##j = {0};                                                                                \
  if (rows > i && columns > j) f##i##j = LOAD(f + i * d->f_row + j * d->f_column + c);
    EACH_TAP(TAKE)
#undef TAKE
    for (int64_t o = d->count; o > 0; o--, x += step, from += dy_step) {
      const VT g = LOAD(from);
#define ADD(i, j)                                                                                  \
  if (rows > i && columns > j) f##i##j = FMA(g, LOAD(x + i * row + j * column), f##i##j);
      EACH_TAP(ADD)
#undef ADD
    }
#define PUT(i, j)                                                                                  \
  if (rows > i && columns > j) *(VT *)(f + i * d->f_row + j * d->f_column + c) = f##i##j;
    EACH_TAP(PUT)
#undef PUT
  }
}

/* Many: four pixels at a time, for all channels; see above. */
TARGET CPU_INLINE void NAME(grad_many)(const int rows, const int columns, const int dense,
                                       const cpu_depthwise *d, const float *dy, int64_t dy_step,
                                       float *f) {
  const int64_t row = d->row, column = d->column, step = dense ? column : d->step;
  const int64_t whole = d->channels / VECTOR * VECTOR, f_row = d->f_row, f_column = d->f_column;
  int64_t first = 0;
  for (; first + 4 <= d->count; first += 4) {
    const float *x = d->x + first * d->step, *from = dy + first * dy_step;
    float *tap = f;
    for (int64_t c = 0; c < whole; c += VECTOR, x += VECTOR, from += VECTOR, tap += VECTOR) {
      const VT g0 = LOAD(from), g1 = LOAD(from + dy_step), g2 = LOAD(from + 2 * dy_step);
      const VT g3 = LOAD(from + 3 * dy_step);
#define ADD(i, j)                                                                                  \
  VT f##i##j = {0};                                                                                \
  if (rows > i && columns > j) {                                                                   \
    f##i##j = LOAD(tap + i * f_row + j * f_column);                                                \
    f##i##j = FMA(g0, LOAD(x + i * row + j * column), f##i##j);                                    \
    f##i##j =                                                                                      \
        FMA(g1, LOAD(x + i * row + (dense ? (j + 1) * column : j * column + step)), f##i##j);      \
    f##i##j =                                                                                      \
        FMA(g2, LOAD(x + i * row + (dense ? (j + 2) * column : j * column + 2 * step)), f##i##j);  \
    f##i##j =                                                                                      \
        FMA(g3, LOAD(x + i * row + (dense ? (j + 3) * column : j * column + 3 * step)), f##i##j);  \
  }
      EACH_TAP(ADD)
#undef ADD
#define PUT(i, j)                                                                                  \
  if (rows > i && columns > j) *(VT *)(tap + i * f_row + j * f_column) = f##i##j;
      EACH_TAP(PUT)
#undef PUT
    }
  }
  if (first < d->count) {
    cpu_depthwise rest = *d;
    rest.x += first * d->step;
    rest.count -= first;
    NAME(grad_few)(rows, columns, &rest, dy + first * dy_step, dy_step, f);
  }
}

TARGET CPU_INLINE void NAME(grad)(const int rows, const int columns, const cpu_depthwise *d,
                                  const float *dy, int64_t dy_step, float *f) {
  const int64_t whole = d->channels / VECTOR * VECTOR;
  if (d->channels <= 128)
    NAME(grad_few)(rows, columns, d, dy, dy_step, f);
  else if (d->step == d->column)
    NAME(grad_many)(rows, columns, 1, d, dy, dy_step, f);
  else
    NAME(grad_many)(rows, columns, 0, d, dy, dy_step, f);
  for (int64_t c = whole; c < d->channels; c++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++) {
        float s = f[i * d->f_row + j * d->f_column + c];
        for (int64_t o = 0; o < d->count; o++)
          s += dy[o * dy_step + c] * d->x[o * d->step + i * d->row + j * d->column + c];
        f[i * d->f_row + j * d->f_column + c] = s;
      }
}

#define EACH_SIZE(X) X(1, 1) X(1, 2) X(1, 3) X(2, 1) X(2, 2) X(2, 3) X(3, 1) X(3, 2) X(3, 3)
#define DEFINE(r, c)                                                                               \
  TARGET static void NAME(sum##r##c)(const cpu_depthwise *d, const float *f, float *y,             \
                                     int64_t y_step) {                                             \
    if (d->step == d->column)                                                                      \
      NAME(sum)(r, c, 1, d, f, y, y_step);                                                         \
    else                                                                                           \
      NAME(sum)(r, c, 0, d, f, y, y_step);                                                         \
  }                                                                                                \
  TARGET static void NAME(grad##r##c)(const cpu_depthwise *d, const float *dy, int64_t dy_step,    \
                                      float *f) {                                                  \
    NAME(grad)(r, c, d, dy, dy_step, f);                                                           \
  }
EACH_SIZE(DEFINE)
#undef DEFINE

static const cpu_depthwise_set NAME(set) = {{{NAME(sum11), NAME(sum12), NAME(sum13)},
                                             {NAME(sum21), NAME(sum22), NAME(sum23)},
                                             {NAME(sum31), NAME(sum32), NAME(sum33)}},
                                            {{NAME(grad11), NAME(grad12), NAME(grad13)},
                                             {NAME(grad21), NAME(grad22), NAME(grad23)},
                                             {NAME(grad31), NAME(grad32), NAME(grad33)}}};

#undef EACH_SIZE
#undef EACH_TAP
#undef LOAD
#undef NAME
#undef VECTOR
#undef VT
#undef TARGET
#undef FMA
