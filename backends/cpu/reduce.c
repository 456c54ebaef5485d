/* reduce.c - see reduce.h.
 *
 * Axes that can be taken as one are, so that reduced and kept axes alternate. If the innermost is
 * reduced, each element of the output is a sum over stretches of neighbours ("rows"); if it is
 * kept, rows of neighbours are added to a row of accumulators ("columns"). Either way a piece of
 * work is some of the outputs times some of the rows; if the rows had to be cut, a last pass joins
 * the parts.
 */
#include "reduce.h"

#include <math.h>
#include <string.h>

#define STRETCH     8192  /* elements of a row that one call takes */
#define STRIP       32    /* columns that are summed together */
#define STRIPS      16    /* strips of a piece */
#define PIECE       32768 /* elements worth a piece */
#define MOST_PIECES 64
#define SUPPLY      2048 /* elements that are asked for at once, where rows are short */

typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t v8i __attribute__((vector_size(32), may_alias));
typedef double v8d __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t v8l __attribute__((vector_size(64), may_alias));

/* The folds of one type: F(x, s) of an element or a vector x into s. Sums are in double; extremes
 * stay in the type, in which they are exact. */
#define BETTER_MAX(x, s) ((x > s) | (x != x))
#define BETTER_MIN(x, s) ((x < s) | (x != x))

/* rows of n neighbours, `stride` apart, into acc[0..rows) */
#define SUM_ROWS(name, T, V)                                                                       \
  CPU_CLONES static void name(const void *in, int64_t rows, int64_t stride, int64_t n,             \
                              double *acc) {                                                       \
    for (int64_t r = 0; r < rows; r++) {                                                           \
      const T *x = (const T *)in + r * stride;                                                     \
      v8d a = {0}, b = {0};                                                                        \
      double s = 0;                                                                                \
      int64_t i = 0;                                                                               \
      for (; i + 16 <= n; i += 16) {                                                               \
        a += __builtin_convertvector(*(const V *)(x + i), v8d);                                    \
        b += __builtin_convertvector(*(const V *)(x + i + 8), v8d);                                \
      }                                                                                            \
      for (; i < n; i++) s += (double)x[i];                                                        \
      a += b;                                                                                      \
      acc[r] += ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])) + s;             \
    }                                                                                              \
  }
#define BEST_ROWS(name, T, V, I, BETTER)                                                           \
  CPU_CLONES static void name(const void *in, int64_t rows, int64_t stride, int64_t n,             \
                              double *acc) {                                                       \
    for (int64_t r = 0; r < rows; r++) {                                                           \
      const T *x = (const T *)in + r * stride;                                                     \
      T s = (T)acc[r];                                                                             \
      int64_t i = 0;                                                                               \
      if (n >= 16) {                                                                               \
        V best = *(const V *)x;                                                                    \
        for (i = 8; i + 8 <= n; i += 8) {                                                          \
          V v = *(const V *)(x + i);                                                               \
          I take = (I)BETTER(v, best);                                                             \
          best = (V)(((I)v & take) | ((I)best & ~take));                                           \
        }                                                                                          \
        for (int j = 0; j < 8; j++) s = BETTER(best[j], s) ? best[j] : s;                          \
      }                                                                                            \
      for (; i < n; i++) s = BETTER(x[i], s) ? x[i] : s;                                           \
      acc[r] = (double)s;                                                                          \
    }                                                                                              \
  }
/* rows of n columns into acc[0..n) */
#define SUM_COLUMNS(name, T, V)                                                                    \
  CPU_CLONES static void name(const void *in, int64_t rows, int64_t stride, int64_t n,             \
                              double *acc) {                                                       \
    int64_t j = 0;                                                                                 \
    for (; j + STRIP <= n; j += STRIP) {                                                           \
      const T *x = (const T *)in + j;                                                              \
      v8d *o = (v8d *)(acc + j), a = o[0], b = o[1], c = o[2], d = o[3];                           \
      for (int64_t r = 0; r < rows; r++, x += stride) {                                            \
        a += __builtin_convertvector(*(const V *)x, v8d);                                          \
        b += __builtin_convertvector(*(const V *)(x + 8), v8d);                                    \
        c += __builtin_convertvector(*(const V *)(x + 16), v8d);                                   \
        d += __builtin_convertvector(*(const V *)(x + 24), v8d);                                   \
      }                                                                                            \
      o[0] = a, o[1] = b, o[2] = c, o[3] = d;                                                      \
    }                                                                                              \
    for (; j + 8 <= n; j += 8) {                                                                   \
      const T *x = (const T *)in + j;                                                              \
      v8d a = *(v8d *)(acc + j);                                                                   \
      for (int64_t r = 0; r < rows; r++, x += stride)                                              \
        a += __builtin_convertvector(*(const V *)x, v8d);                                          \
      *(v8d *)(acc + j) = a;                                                                       \
    }                                                                                              \
    for (; j < n; j++)                                                                             \
      for (int64_t r = 0; r < rows; r++) acc[j] += (double)((const T *)in)[r * stride + j];        \
  }
#define BEST_COLUMNS(name, T, BETTER)                                                              \
  CPU_CLONES static void name(const void *in, int64_t rows, int64_t stride, int64_t n,             \
                              double *acc) {                                                       \
    for (int64_t r = 0; r < rows; r++) {                                                           \
      const T *x = (const T *)in + r * stride;                                                     \
      _Pragma("GCC ivdep") for (int64_t j = 0; j < n; j++) {                                       \
        const double v = (double)x[j], s = acc[j];                                                 \
        acc[j] = BETTER(v, s) ? v : s;                                                             \
      }                                                                                            \
    }                                                                                              \
  }

SUM_ROWS(sum_rows_f32, float, v8f)
SUM_ROWS(sum_rows_f64, double, v8d)
SUM_COLUMNS(sum_columns_f32, float, v8f)
SUM_COLUMNS(sum_columns_f64, double, v8d)
BEST_ROWS(max_rows_f32, float, v8f, v8i, BETTER_MAX)
BEST_ROWS(max_rows_f64, double, v8d, v8l, BETTER_MAX)
BEST_ROWS(min_rows_f32, float, v8f, v8i, BETTER_MIN)
BEST_ROWS(min_rows_f64, double, v8d, v8l, BETTER_MIN)
BEST_COLUMNS(max_columns_f32, float, BETTER_MAX)
BEST_COLUMNS(max_columns_f64, double, BETTER_MAX)
BEST_COLUMNS(min_columns_f32, float, BETTER_MIN)
BEST_COLUMNS(min_columns_f64, double, BETTER_MIN)

typedef void fold_fn(const void *in, int64_t rows, int64_t stride, int64_t n, double *acc);
static fold_fn *const folds[3][2][2] =
    {/* [fold][double][columns] */
     {{sum_rows_f32, sum_columns_f32}, {sum_rows_f64, sum_columns_f64}},
     {{max_rows_f32, max_columns_f32}, {max_rows_f64, max_columns_f64}},
     {{min_rows_f32, min_columns_f32}, {min_rows_f64, min_columns_f64}}};
static const double starts[3] = {0, -INFINITY, INFINITY};

/* ----------------------------------------------------------------------------------------- plan */

typedef struct odometer { /* axes outside of the innermost, with their strides in x */
  int64_t dim[TFSDK_MAX_RANK], stride[TFSDK_MAX_RANK];
  int32_t n;
  int64_t count; /* product of dim */
} odometer;

typedef struct plan {
  tfsdk_run *supplier; /* who computes x as it is read; NULL: it lies in memory */
  const char *x;
  char *out;
  int64_t size;
  int32_t wide; /* float64 */
  enum cpu_fold fold;
  double divisor;
  fold_fn *fn;
  int columns;
  int64_t n;       /* extent of the innermost axis: a row's length, or the columns */
  int64_t outputs; /* of everything */
  odometer kept, gone;
  int64_t chunk,
      chunks;        /* rows: outputs of a piece; columns: columns of a piece, and how many such */
  int64_t stretches; /* rows: parts of a row */
  int64_t parts;     /* the rows of an output are cut into so many */
  double *partial;   /* [parts][outputs]; NULL if parts is 1 */
} plan;

static void add_axis(odometer *o, int64_t dim, int64_t stride) {
  o->dim[o->n] = dim;
  o->stride[o->n++] = stride;
  o->count *= dim;
}
static int64_t offset_of(const odometer *o, int64_t index) {
  int64_t at = 0;
  for (int32_t d = o->n - 1; d >= 0; d--) {
    at += index % o->dim[d] * o->stride[d];
    index /= o->dim[d];
  }
  return at;
}

/* Merges neighbouring axes of one kind; the innermost goes to p->n. */
static void read_axes(plan *p, const tfsdk_view *x, uint32_t mask) {
  int64_t dim[TFSDK_MAX_RANK], stride = 1;
  int gone[TFSDK_MAX_RANK];
  int32_t n = 0;
  for (int32_t d = 0; d < x->rank; d++) {
    int g = (mask >> d & 1u) != 0;
    if (x->dim[d] == 1) continue;
    if (n > 0 && gone[n - 1] == g)
      dim[n - 1] *= x->dim[d];
    else
      dim[n] = x->dim[d], gone[n++] = g;
  }
  if (n == 0) dim[n] = 1, gone[n++] = 1;
  p->n = dim[n - 1];
  p->columns = !gone[n - 1];
  p->kept.count = p->gone.count = 1;
  for (int32_t d = 0; d < n - 1; d++) stride *= dim[d + 1];
  for (int32_t d = 0; d < n - 1; d++) {
    add_axis(gone[d] ? &p->gone : &p->kept, dim[d], stride);
    stride /= dim[d + 1];
  }
  p->outputs = p->kept.count * (p->columns ? p->n : 1);
}

static void store(const plan *p, int64_t at, const double *acc, int64_t n) {
  const double divisor = p->divisor;
  for (int64_t i = 0; i < n; i++) {
    double v = divisor == 1 ? acc[i] : acc[i] / divisor;
    if (p->wide)
      ((double *)p->out)[at + i] = v;
    else
      ((float *)p->out)[at + i] = (float)v;
  }
}

/* The sums of one piece: straight to the output, or to its part. */
static void finish(const plan *p, int64_t part, int64_t at, const double *acc, int64_t n) {
  if (p->parts == 1)
    store(p, at, acc, n);
  else
    memcpy(p->partial + part * p->outputs + at, acc, (size_t)n * sizeof(double));
}

/* `rows` rows of n elements from element `at` of x. */
static void fold_some(const plan *p, int64_t at, int64_t rows, int64_t stride, int64_t n,
                      double *acc) {
  CPU_ALIGNED(64) char room[STRETCH * sizeof(double)];
  int64_t step = stride == n && n <= SUPPLY ? SUPPLY / n : 1;
  if (p->supplier == NULL) {
    p->fn(p->x + at * p->size, rows, stride, n, acc);
    return;
  }
  for (int64_t i = 0; i < rows; i += step) {
    const int64_t m = rows - i < step ? rows - i : step, from = at + i * stride;
    const void *x = p->supplier->api->supply(p->supplier, from, from + (m - 1) * stride + n, room);
    p->fn(x, m, stride, n, p->columns ? acc : acc + i);
  }
}

static void rows_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  double acc[STRIP];
  for (int64_t piece = begin; piece < end; piece++) {
    const int64_t part = piece % p->parts, first = piece / p->parts * p->chunk;
    const int64_t last = first + p->chunk < p->outputs ? first + p->chunk : p->outputs;
    const int64_t total = p->gone.count * p->stretches;
    const int64_t r0 = total * part / p->parts, r1 = total * (part + 1) / p->parts;
    /* outputs whose rows are neighbours are folded in one call */
    const int32_t inner = p->kept.n - 1;
    const int64_t run_dim = inner >= 0 ? p->kept.dim[inner] : 1;
    for (int64_t o = first; o < last;) {
      int64_t run = run_dim - o % run_dim, base = offset_of(&p->kept, o);
      if (run > last - o) run = last - o;
      if (run > STRIP) run = STRIP;
      for (int64_t i = 0; i < run; i++) acc[i] = starts[p->fold];
      for (int64_t row = r0; row < r1; row++) {
        const int64_t s = row % p->stretches, n0 = p->n * s / p->stretches;
        const int64_t at = base + offset_of(&p->gone, row / p->stretches) + n0;
        fold_some(p, at, run, inner >= 0 ? p->kept.stride[inner] : 0,
                  p->n * (s + 1) / p->stretches - n0, acc);
      }
      finish(p, part, o, acc, run);
      o += run;
    }
  }
}

static void columns_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  CPU_ALIGNED(64) double acc[STRIP * STRIPS];
  const int32_t inner = p->gone.n - 1;
  for (int64_t piece = begin; piece < end; piece++) {
    const int64_t part = piece % p->parts, chunk = piece / p->parts % p->chunks;
    const int64_t k = piece / p->parts / p->chunks, j0 = chunk * p->chunk;
    const int64_t n = j0 + p->chunk < p->n ? p->chunk : p->n - j0;
    const int64_t base = offset_of(&p->kept, k) + j0;
    int64_t row = p->gone.count * part / p->parts, last = p->gone.count * (part + 1) / p->parts;
    for (int64_t j = 0; j < n; j++) acc[j] = starts[p->fold];
    while (row < last) {
      int64_t run = inner < 0 ? 1 : p->gone.dim[inner] - row % p->gone.dim[inner];
      if (run > last - row) run = last - row;
      fold_some(p, base + offset_of(&p->gone, row), run, inner < 0 ? 0 : p->gone.stride[inner], n,
                acc);
      row += run;
    }
    finish(p, part, k * p->n + j0, acc, n);
  }
}

static void join_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  for (int64_t o = begin; o < end; o++) {
    double s = p->partial[o];
    for (int64_t part = 1; part < p->parts; part++) {
      double v = p->partial[part * p->outputs + o];
      if (p->fold == CPU_FOLD_SUM)
        s += v;
      else if (p->fold == CPU_FOLD_MAX ? BETTER_MAX(v, s) : BETTER_MIN(v, s))
        s = v;
    }
    store(p, o, &s, 1);
  }
}

tfsdk_status *cpu_reduce(tfsdk_run *r, const tfsdk_view *x, uint32_t mask, enum cpu_fold fold,
                         double divisor, void *out) {
  plan p;
  int64_t pieces, rows, outputs = 1;
  void *room;
  memset(&p, 0, sizeof p);
  p.supplier = x->flags & TFSDK_VIEW_SUPPLIED ? r : NULL;
  p.x = (const char *)x->data, p.out = (char *)out;
  p.wide = x->dtype == TFSDK_FLOAT64;
  p.size = p.wide ? 8 : 4;
  p.fold = fold, p.divisor = divisor;
  for (int32_t d = 0; d < x->rank; d++)
    if (!(mask >> d & 1u)) outputs *= x->dim[d];
  if (outputs == 0) return NULL;
  if (x->n_elem == 0) {
    for (int64_t i = 0; i < outputs; i++) store(&p, i, &starts[fold], 1);
    return NULL;
  }
  read_axes(&p, x, mask);
  p.fn = folds[fold][p.wide][p.columns];
  p.stretches = p.columns ? 1 : (p.n + STRETCH - 1) / STRETCH;
  rows = p.gone.count * p.stretches;
  if (p.columns) {
    p.chunk = p.n < STRIP * STRIPS ? p.n : STRIP * STRIPS;
    p.chunks = (p.n + p.chunk - 1) / p.chunk;
    pieces = p.kept.count * p.chunks;
  } else {
    int64_t each = x->n_elem / p.outputs;
    p.chunk = PIECE / each + 1;
    pieces = (p.outputs + p.chunk - 1) / p.chunk;
  }
  p.parts = 1;
  while (pieces * p.parts * 2 <= MOST_PIECES && p.parts * 2 <= rows &&
         x->n_elem / (pieces * p.parts * 2) >= PIECE / 2)
    p.parts *= 2;
  if (p.parts > 1) {
    TFSDK_TRY(r->api->workspace(r, (size_t)(p.parts * p.outputs) * sizeof(double), &room));
    p.partial = (double *)room;
  }
  pieces *= p.parts;
  r->api->par_for(r, pieces, PIECE / (x->n_elem / pieces + 1) + 1,
                  p.columns ? columns_range : rows_range, &p);
  if (p.parts > 1) r->api->par_for(r, p.outputs, 4096, join_range, &p);
  return NULL;
}

uint32_t cpu_reduce_mask(const tfsdk_view *axes, int32_t rank) {
  uint32_t mask = 0;
  for (int64_t i = 0; i < axes->n_elem; i++) {
    int64_t d = axes->dtype == TFSDK_INT64 ? ((const int64_t *)axes->data)[i]
                                           : ((const int32_t *)axes->data)[i];
    mask |= 1u << (d < 0 ? d + rank : d);
  }
  return mask;
}

uint32_t cpu_reduce_mask_like(const tfsdk_view *x, const tfsdk_view *like) {
  uint32_t mask = 0;
  const int32_t lead = x->rank - like->rank;
  for (int32_t d = 0; d < x->rank; d++)
    if (d < lead || (like->dim[d - lead] == 1 && x->dim[d] != 1)) mask |= 1u << d;
  return mask;
}
