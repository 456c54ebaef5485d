/* gemm.c - drivers of the matrix product: cutting, packing, threads, and the choice between our own
 * tile kernels and the BLAS library.
 *
 * Order of the loops: a block of CPU_GEMM_KC k's times a few panels of packed columns stays in the
 * second-level cache while the rows pass by; a tile of rows stays in the first-level cache while it
 * meets the panels of the block.
 */
#include "gemm.h"

#include <string.h>

#define PANEL_BYTES  40960 /* most bytes of one packed panel of a block: KC * two vectors of 64 */
#define BLOCK_BYTES  (256 << 10) /* of packed columns that stay in the second-level cache */
#define PACKED_BYTES (8 << 20)   /* most bytes that are packed at a time */
#define PIECE_WORK   1e6  /* multiply-adds worth a piece of their own: about 20 microseconds */
#define LIBRARY_WORK 4e8  /* multiply-adds from which the library is the better choice */
#define ALIAS_BYTES  4096 /* rows this far apart compete for the same few lines of the cache */

typedef uint32_t quad32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t pair64 __attribute__((vector_size(16), aligned(8), may_alias));

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static const char *at(const void *p, int64_t elements, size_t size) {
  return (const char *)p + elements * (int64_t)size;
}

/* -------------------------------------------------------------------------------------- packing */

int64_t cpu_pack_width(const cpu_kernels *kr, int64_t n) {
  return (n + kr->vector - 1) / kr->vector * kr->vector;
}

static int64_t panel_width(const cpu_kernels *kr, int64_t n, int64_t p) {
  int64_t left = n - p * 2 * kr->vector;
  return left > kr->vector ? 2 * kr->vector : kr->vector;
}

/* Columns that lie along k: blocks of 4 by 4 (2 by 2) are turned in registers. Loads fill whole
 * blocks only, the rest goes one by one. */
static void turn32(const uint32_t *b, int64_t b_col, int64_t k, int64_t cols, int64_t width,
                   uint32_t *out) {
  int64_t j = 0;
  for (; j + 4 <= cols; j += 4) {
    const uint32_t *c0 = b + j * b_col, *c1 = c0 + b_col, *c2 = c1 + b_col, *c3 = c2 + b_col;
    int64_t i = 0;
    for (; i + 4 <= k; i += 4) {
      quad32 v0 = *(const quad32 *)(c0 + i), v1 = *(const quad32 *)(c1 + i);
      quad32 v2 = *(const quad32 *)(c2 + i), v3 = *(const quad32 *)(c3 + i);
      quad32 a0 = __builtin_shuffle(v0, v1, (quad32){0, 4, 1, 5});
      quad32 a1 = __builtin_shuffle(v0, v1, (quad32){2, 6, 3, 7});
      quad32 a2 = __builtin_shuffle(v2, v3, (quad32){0, 4, 1, 5});
      quad32 a3 = __builtin_shuffle(v2, v3, (quad32){2, 6, 3, 7});
      uint32_t *o = out + i * width + j;
      *(quad32 *)o = __builtin_shuffle(a0, a2, (quad32){0, 1, 4, 5});
      *(quad32 *)(o + width) = __builtin_shuffle(a0, a2, (quad32){2, 3, 6, 7});
      *(quad32 *)(o + 2 * width) = __builtin_shuffle(a1, a3, (quad32){0, 1, 4, 5});
      *(quad32 *)(o + 3 * width) = __builtin_shuffle(a1, a3, (quad32){2, 3, 6, 7});
    }
    for (; i < k; i++) {
      uint32_t *o = out + i * width + j;
      o[0] = c0[i], o[1] = c1[i], o[2] = c2[i], o[3] = c3[i];
    }
  }
  for (; j < cols; j++)
    for (int64_t i = 0; i < k; i++) out[i * width + j] = b[j * b_col + i];
}

static void turn64(const uint64_t *b, int64_t b_col, int64_t k, int64_t cols, int64_t width,
                   uint64_t *out) {
  int64_t j = 0;
  for (; j + 2 <= cols; j += 2) {
    const uint64_t *c0 = b + j * b_col, *c1 = c0 + b_col;
    int64_t i = 0;
    for (; i + 2 <= k; i += 2) {
      pair64 v0 = *(const pair64 *)(c0 + i), v1 = *(const pair64 *)(c1 + i);
      uint64_t *o = out + i * width + j;
      *(pair64 *)o = __builtin_shuffle(v0, v1, (pair64){0, 2});
      *(pair64 *)(o + width) = __builtin_shuffle(v0, v1, (pair64){1, 3});
    }
    for (; i < k; i++) out[i * width + j] = c0[i], out[i * width + j + 1] = c1[i];
  }
  for (; j < cols; j++)
    for (int64_t i = 0; i < k; i++) out[i * width + j] = b[j * b_col + i];
}

void cpu_turn(size_t size, const void *b, int64_t b_col, int64_t k, int64_t cols, int64_t width,
              void *out) {
  if (size == 4)
    turn32((const uint32_t *)b, b_col, k, cols, width, (uint32_t *)out);
  else
    turn64((const uint64_t *)b, b_col, k, cols, width, (uint64_t *)out);
}

/* k rows of `cols` columns into [k][width], zeros behind. */
static void pack(size_t size, const void *b, int64_t b_row, int64_t b_col, int64_t k, int64_t cols,
                 int64_t width, void *out) {
  if (cols < width)
    for (int64_t i = 0; i < k; i++)
      memset((char *)out + (size_t)(i * width + cols) * size, 0, (size_t)(width - cols) * size);
  if (b_col == 1 && cols == width && width * (int64_t)size == 128) {
    for (int64_t i = 0; i < k; i++) memcpy((char *)out + i * 128, at(b, i * b_row, size), 128);
  } else if (b_col == 1) {
    for (int64_t i = 0; i < k; i++)
      memcpy((char *)out + (size_t)(i * width) * size, at(b, i * b_row, size), (size_t)cols * size);
  } else if (b_row == 1) {
    cpu_turn(size, b, b_col, k, cols, width, out);
  } else {
    for (int64_t i = 0; i < k; i++)
      for (int64_t j = 0; j < cols; j++)
        memcpy((char *)out + (size_t)(i * width + j) * size, at(b, i * b_row + j * b_col, size),
               size);
  }
}

void cpu_pack_panel(const cpu_kernels *kr, size_t size, const void *b, int64_t b_row, int64_t b_col,
                    int64_t k, int64_t n, int64_t p, int64_t packed_rows, int64_t k0,
                    void *packed) {
  int64_t first = p * 2 * kr->vector, width = panel_width(kr, n, p);
  pack(size, at(b, first * b_col, size), b_row, b_col, k, min64(n - first, width), width,
       (char *)packed + (size_t)(first * packed_rows + k0 * width) * size);
}

/* ---------------------------------------------------------------------------------------- tiles */

static void tile(const cpu_kernels *kr, const cpu_tile *t, int64_t rows) {
  kr->fn[(rows - 1) * 2 + (t->cols > kr->vector)](t);
}

void cpu_tiles_packed(const cpu_kernels *kr, size_t size, cpu_tile *t, int64_t rows, int64_t n,
                      int64_t p0, int64_t p1, const void *packed, int64_t packed_rows, int64_t k0,
                      void *c) {
  for (int64_t p = p0; p < p1; p++) {
    int64_t first = p * 2 * kr->vector, width = panel_width(kr, n, p);
    t->cols = (int32_t)min64(n - first, width);
    t->b = at(packed, first * packed_rows + k0 * width, size);
    t->b_row = width;
    t->c = (char *)c + (size_t)first * size;
    tile(kr, t, rows);
  }
}

/* Points the tile at `rows` rows of a from row i and column k0 on; copies them into `room` where
 * their addresses would fight for the cache: whole rows a power of two apart, or one short run from
 * each page. */
static void take_rows(const cpu_gemm *g, size_t size, int64_t i, int64_t rows, int64_t k0,
                      int64_t k, int64_t panels, void *room, cpu_tile *t) {
  const char *a = at(g->a, i * g->a_row + k0 * g->a_col, size);
  t->a = a;
  t->a_row = g->a_row;
  t->a_col = g->a_col;
  t->a_seg = 0;
  t->k = k;
  t->segs = 1;
  if (panels < 2) return;
  if (g->a_col == 1 && rows > 4 && (g->a_row * (int64_t)size) % ALIAS_BYTES == 0) {
    int64_t step = k + 16;
    for (int64_t r = 0; r < rows; r++)
      memcpy((char *)room + (size_t)(r * step) * size, a + (size_t)(r * g->a_row) * size,
             (size_t)k * size);
    t->a = room;
    t->a_row = step;
  } else if (g->a_row == 1 && g->a_col * (int64_t)size >= 1024) {
    for (int64_t j = 0; j < k; j++)
      memcpy((char *)room + (size_t)(j * rows) * size, a + (size_t)(j * g->a_col) * size,
             (size_t)rows * size);
    t->a = room;
    t->a_col = rows;
  }
}

/* ----------------------------------------------------------------------------------- one thread */

void cpu_gemm_serial(const cpu_gemm *g) {
  const size_t size = tfsdk_dtype_size(g->dtype);
  const cpu_kernels *kr = cpu_kernels_of(g->dtype);
  const int64_t width = 2 * kr->vector;
  CPU_ALIGNED(64) char panel[PANEL_BYTES];
  const int64_t tiles = cpu_even_pieces(g->m, kr->rows);
  if (g->m == 0 || g->n == 0) return;
  if (g->k == 0 && !g->add)
    for (int64_t i = 0; i < g->m; i++)
      memset((char *)g->c + (size_t)(i * g->c_row) * size, 0, (size_t)g->n * size);
  for (int64_t k0 = 0; k0 < g->k; k0 += CPU_GEMM_KC) {
    int64_t k = min64(g->k - k0, CPU_GEMM_KC);
    for (int64_t j = 0; j < g->n; j += width) {
      cpu_tile t = {.c_row = g->c_row, .add = g->add || k0 > 0};
      const char *b = at(g->b, k0 * g->b_row + j * g->b_col, size);
      int64_t w = g->n - j > kr->vector ? width : kr->vector;
      t.cols = (int32_t)min64(g->n - j, w);
      if (g->b_col == 1 && tiles <= 2 && t.cols == w) { /* too few rows to pay for packing */
        t.b = b;
        t.b_row = g->b_row;
      } else {
        pack(size, b, g->b_row, g->b_col, k, t.cols, w, panel);
        t.b = panel;
        t.b_row = w;
      }
      for (int64_t i = 0; i < tiles; i++) {
        int64_t row = cpu_even_begin(g->m, tiles, i), end = cpu_even_begin(g->m, tiles, i + 1);
        take_rows(g, size, row, end - row, k0, k, 1, NULL, &t);
        t.c = (char *)g->c + (size_t)(row * g->c_row + j) * size;
        tile(kr, &t, end - row);
      }
    }
  }
}

/* ---------------------------------------------------------------------------------- all threads */

typedef struct plan {
  const cpu_gemm *g;
  const cpu_kernels *kr;
  size_t size;
  int64_t panels, tiles;          /* of all columns, of all rows */
  int64_t row_pieces, col_pieces; /* how they are cut for the threads */
  int64_t block;                  /* panels that stay in the cache together */
  int64_t k0, k;                  /* the part of k that is packed */
  char *packed;
} plan;

static void pack_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const cpu_gemm *g = p->g;
  for (int64_t i = begin; i < end; i++)
    cpu_pack_panel(p->kr, p->size, at(g->b, p->k0 * g->b_row, p->size), g->b_row, g->b_col, p->k,
                   g->n, i, p->k, 0, p->packed);
}

static void tiles_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const cpu_gemm *g = p->g;
  CPU_ALIGNED(64) char room[CPU_GEMM_MAX_ROWS * (CPU_GEMM_KC + 16) * 8];
  for (int64_t piece = begin; piece < end; piece++) {
    int64_t ri = piece % p->row_pieces, ci = piece / p->row_pieces;
    int64_t t0 = cpu_even_begin(p->tiles, p->row_pieces, ri);
    int64_t t1 = cpu_even_begin(p->tiles, p->row_pieces, ri + 1);
    int64_t p0 = cpu_even_begin(p->panels, p->col_pieces, ci);
    int64_t p1 = cpu_even_begin(p->panels, p->col_pieces, ci + 1);
    for (int64_t k0 = 0; k0 < p->k; k0 += CPU_GEMM_KC) {
      int64_t k = min64(p->k - k0, CPU_GEMM_KC);
      for (int64_t q0 = p0; q0 < p1; q0 += p->block) {
        int64_t q1 = min64(q0 + p->block, p1);
        for (int64_t i = t0; i < t1; i++) {
          int64_t row = cpu_even_begin(g->m, p->tiles, i);
          int64_t rows = cpu_even_begin(g->m, p->tiles, i + 1) - row;
          cpu_tile t = {.c_row = g->c_row, .add = g->add || p->k0 + k0 > 0};
          take_rows(g, p->size, row, rows, p->k0 + k0, k, q1 - q0, room, &t);
          cpu_tiles_packed(p->kr, p->size, &t, rows, g->n, q0, q1, p->packed, p->k, k0,
                           (char *)g->c + (size_t)(row * g->c_row) * p->size);
        }
      }
    }
  }
}

static tfsdk_status *run_packed(tfsdk_run *r, const cpu_gemm *g) {
  plan p = {.g = g, .kr = cpu_kernels_of(g->dtype), .size = tfsdk_dtype_size(g->dtype)};
  int64_t width = cpu_pack_width(p.kr, g->n), part, grain;
  double work = (double)g->m * (double)g->n * (double)g->k;
  void *packed;
  p.panels = (g->n + 2 * p.kr->vector - 1) / (2 * p.kr->vector);
  p.tiles = cpu_even_pieces(g->m, p.kr->rows);
  p.block = BLOCK_BYTES / PANEL_BYTES;
  p.row_pieces = cpu_even_pieces(p.tiles, 8);
  p.col_pieces = cpu_even_pieces(p.panels, p.block);
  while (p.row_pieces * p.col_pieces < 16 &&
         work / (double)(p.row_pieces * p.col_pieces) > PIECE_WORK) {
    if (p.row_pieces * 2 <= p.tiles && p.tiles * p.col_pieces >= p.panels * p.row_pieces)
      p.row_pieces *= 2;
    else if (p.col_pieces * 2 <= p.panels)
      p.col_pieces *= 2;
    else if (p.row_pieces * 2 <= p.tiles)
      p.row_pieces *= 2;
    else
      break;
  }
  part = PACKED_BYTES / (width * (int64_t)p.size) / CPU_GEMM_KC * CPU_GEMM_KC;
  if (part < CPU_GEMM_KC) part = CPU_GEMM_KC;
  if (part > g->k) part = g->k;
  TFSDK_TRY(r->api->workspace(r, (size_t)(part * width) * p.size, &packed));
  p.packed = (char *)packed;
  grain = (int64_t)(PIECE_WORK / (work / (double)(p.row_pieces * p.col_pieces) + 1)) + 1;
  for (p.k0 = 0; p.k0 < g->k; p.k0 += part) {
    p.k = min64(part, g->k - p.k0);
    r->api->par_for(r, p.panels, 1 + 65536 / (p.k * 2 * p.kr->vector), pack_range, &p);
    r->api->par_for(r, p.row_pieces * p.col_pieces, grain, tiles_range, &p);
  }
  return NULL;
}

/* Few rows: the columns are read where they are, each once. */
static void columns_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  cpu_gemm part = *p->g;
  int64_t first = begin * 2 * p->kr->vector;
  part.n = min64(part.n, end * 2 * p->kr->vector) - first;
  part.b = at(part.b, first * part.b_col, p->size);
  part.c = (char *)part.c + (size_t)first * p->size;
  cpu_gemm_serial(&part);
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

/* Below this size our own kernels are as fast, and nothing need be loaded. */
static int for_library(const cpu_gemm *g) {
  const int64_t most = INT32_MAX, least = 256;
  return (g->a_col == 1 || g->a_row == 1) && (g->b_col == 1 || g->b_row == 1) && g->m >= least &&
         g->n >= least && g->k >= least && g->m <= most && g->n <= most && g->k <= most &&
         g->a_row <= most && g->a_col <= most && g->b_row <= most && g->b_col <= most &&
         (double)g->m * (double)g->n * (double)g->k >= LIBRARY_WORK;
}

static void run_library(tfsdk_run *r, const cpu_gemm *g, const cpu_blas *blas) {
  library_plan p = {.g = g, .blas = blas};
  int wide = g->n > g->m;
  p.row_pieces = cpu_even_pieces(g->m, wide ? 256 : 512);
  p.col_pieces = cpu_even_pieces(g->n, wide ? 512 : 256);
  r->api->par_for(r, p.row_pieces * p.col_pieces, 1, library_range, &p);
}

/* One row or column at a time, both operands along k: sums of products. */
CPU_CLONES static float dot_f32(const float *a, const float *b, int64_t n) {
  float lane[16] = {0}, sum = 0;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int j = 0; j < 16; j++) lane[j] += a[i + j] * b[i + j];
  for (; i < n; i++) sum += a[i] * b[i];
  for (int j = 0; j < 16; j++) sum += lane[j];
  return sum;
}
CPU_CLONES static double dot_f64(const double *a, const double *b, int64_t n) {
  double lane[8] = {0}, sum = 0;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; j++) lane[j] += a[i + j] * b[i + j];
  for (; i < n; i++) sum += a[i] * b[i];
  for (int j = 0; j < 8; j++) sum += lane[j];
  return sum;
}

static void dots_range(void *user, int64_t begin, int64_t end) {
  const cpu_gemm *g = (const cpu_gemm *)user;
  for (int64_t i = begin; i < end; i++) {
    int64_t row = i / g->n, col = i % g->n, o = row * g->c_row + col;
    if (g->dtype == TFSDK_FLOAT32) {
      float s =
          dot_f32((const float *)g->a + row * g->a_row, (const float *)g->b + col * g->b_col, g->k);
      ((float *)g->c)[o] = g->add ? ((float *)g->c)[o] + s : s;
    } else {
      double s = dot_f64((const double *)g->a + row * g->a_row,
                         (const double *)g->b + col * g->b_col, g->k);
      ((double *)g->c)[o] = g->add ? ((double *)g->c)[o] + s : s;
    }
  }
}

tfsdk_status *cpu_gemm_run(tfsdk_run *r, const cpu_gemm *whole) {
  cpu_gemm g = *whole;
  const cpu_kernels *kr = cpu_kernels_of(g.dtype);
  const double work = (double)g.m * (double)g.n * (double)g.k;
  if (g.m == 1) g.a_row = g.k; /* strides that are never taken need not look odd */
  if (g.n == 1) g.b_col = g.b_row == 1 ? g.k : 1;
  if (g.a_col == 1 && g.b_row == 1 && (g.m <= 2 || g.n == 1) && g.k >= 16) {
    r->api->par_for(r, g.m * g.n, (int64_t)(PIECE_WORK / 8 / (double)g.k) + 1, dots_range, &g);
    return NULL;
  }
  if (g.n == 1 && g.a_row == 1 && g.c_row == 1) { /* the transposed product has one row */
    cpu_gemm t = g;
    t.m = 1, t.n = g.m, t.c_row = g.m;
    t.a = g.b, t.a_row = g.k, t.a_col = g.b_row;
    t.b = g.a, t.b_row = g.a_col, t.b_col = 1;
    g = t;
  }
  if (work < PIECE_WORK) {
    cpu_gemm_serial(&g);
    return NULL;
  }
  if (g.m <= 2 * kr->rows && g.b_col == 1) {
    plan p = {.g = &g, .kr = kr, .size = tfsdk_dtype_size(g.dtype)};
    int64_t panels = (g.n + 2 * kr->vector - 1) / (2 * kr->vector);
    r->api->par_for(r, panels, (int64_t)(PIECE_WORK / 4 / (work / (double)panels)) + 1,
                    columns_range, &p);
    return NULL;
  }
  if (for_library(&g)) {
    const cpu_blas *blas = cpu_blas_get(r->host);
    if (blas != NULL) {
      run_library(r, &g, blas);
      return NULL;
    }
  }
  return run_packed(r, &g);
}
