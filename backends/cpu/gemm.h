/* gemm.h - the matrix product that MatMul, the convolutions and others are made of.
 *
 * Two layers. A *tile kernel* computes a few rows by a few vectors of columns, all in registers;
 * there is one set of them for each instruction set and element type. The drivers cut a product
 * into tiles, pack what must be packed, and spread the tiles over the threads.
 *
 * Each element of the result is a sum over k in one order, in blocks of CPU_GEMM_KC, whatever the
 * cut: results do not depend on the number of threads. Strides count elements.
 */
#ifndef TFSDK_CPU_GEMM_H
#define TFSDK_CPU_GEMM_H

#include "cpu.h"

/* c[rows, cols] (+)= sum over s < segs, k: a[row * a_row + s * a_seg + k * a_col] * b[..., cols]
 * where b advances by b_row for each k, through all segments. The kernel reads whole vectors of b:
 * `cols` rounded up to the vector length must be readable at each k. */
typedef struct cpu_tile {
  const void *a, *b;
  void *c;
  int64_t a_row, a_col, a_seg, b_row, c_row;
  int64_t k, segs;
  int32_t cols, add; /* add: to what c holds */
  void *copy;        /* not NULL, for two whole vectors: what is read of b goes here as well */
  /* Memory that is read soon: a line is fetched into the second-level cache for each k, this many
   * bytes from the last. */
  const void *next;
  int64_t next_step;
} cpu_tile;

typedef void cpu_tile_fn(const cpu_tile *t);

#define CPU_GEMM_MAX_ROWS 12
#define CPU_GEMM_KC       512 /* k's of a block */
#define CPU_GEMM_FETCH_K  24  /* k's from which a tile fetches what it will write */

typedef struct cpu_kernels {
  int32_t rows;           /* most rows of a tile */
  int32_t vector;         /* elements of a vector; a tile has one or two vectors of columns */
  cpu_tile_fn *const *fn; /* [(rows - 1) * 3 + (vectors - 1)]; 2: two vectors, with a copy */
} cpu_kernels;

const cpu_kernels *cpu_kernels_f32(void); /* for this processor */
const cpu_kernels *cpu_kernels_f64(void);
static inline const cpu_kernels *cpu_kernels_of(int32_t dtype) {
  return dtype == TFSDK_FLOAT64 ? cpu_kernels_f64() : cpu_kernels_f32();
}

/* c[m,n] (+)= a[m,k] b[k,n], each with its strides; c's columns are adjacent. */
typedef struct cpu_gemm {
  int32_t dtype, add;
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t a_row, a_col, b_row, b_col, c_row;
  uint64_t b_stamp; /* of b's view, when b is that whole view; 0: b is not kept packed */
  /* c is (part of) output 0: the run's `finish` is called for its rows, the first of which has the
   * number finish_from. Not by cpu_gemm_serial. */
  int64_t finish_from;
  int32_t finish;
} cpu_gemm;

/* On all threads. */
tfsdk_status *cpu_gemm_run(tfsdk_run *r, const cpu_gemm *g);
/* The same by the BLAS library; 0 where there is none or it would not be faster. */
int cpu_gemm_library(tfsdk_run *r, const cpu_gemm *g);
/* Calls the run's `finish` for `rows` rows of n elements, on all threads. */
void cpu_finish_rows(tfsdk_run *r, int64_t from, int64_t rows, int64_t n);
/* In the calling thread, without workspace: for small products, and for many that are spread over
 * the threads by the caller. */
void cpu_gemm_serial(const cpu_gemm *g);

static inline void cpu_tile_run(const cpu_kernels *kr, const cpu_tile *t, int64_t rows) {
  kr->fn[(rows - 1) * 3 + (t->copy != NULL ? 2 : t->cols > kr->vector)](t);
}

/* b[k, cols], with its strides, into [k][width], zeros behind the columns. */
void cpu_pack(size_t size, const void *b, int64_t b_row, int64_t b_col, int64_t k, int64_t cols,
              int64_t width, void *out);
/* Packed columns: panels of two vectors (the last may be one), each [k][panel width], zeros behind
 * the last column. */
int64_t cpu_pack_width(const cpu_kernels *kr, int64_t n); /* n rounded up: elements per k */
static inline int64_t cpu_pack_panels(const cpu_kernels *kr, int64_t n) {
  return (n + 2 * kr->vector - 1) / (2 * kr->vector);
}
/* Packs panel p of b[k,n] as the rows from k0 on of a packed matrix of `packed_rows` rows. */
void cpu_pack_panel(const cpu_kernels *kr, size_t size, const void *b, int64_t b_row, int64_t b_col,
                    int64_t k, int64_t n, int64_t p, int64_t packed_rows, int64_t k0, void *packed);

/* Runs tile t of `rows` rows over panels p0..p1 of a packed matrix, from its row k0 on; c is where
 * the tile's rows begin in the result. Sets t->b, c, cols. */
void cpu_tiles_packed(const cpu_kernels *kr, size_t size, cpu_tile *t, int64_t rows, int64_t n,
                      int64_t p0, int64_t p1, const void *packed, int64_t packed_rows, int64_t k0,
                      void *c);

/* out[i * width + j] = b[j * b_col + i] for i < k, j < cols: a transposition of elements of 4 or 8
 * bytes. */
void cpu_turn(size_t size, const void *b, int64_t b_col, int64_t k, int64_t cols, int64_t width,
              void *out);

/* How a length is cut into pieces of at most `most` that differ by one at most. */
static inline int64_t cpu_even_pieces(int64_t n, int64_t most) { return (n + most - 1) / most; }
static inline int64_t cpu_even_begin(int64_t n, int64_t pieces, int64_t i) {
  return n / pieces * i + (i < n % pieces ? i : n % pieces);
}

#endif
