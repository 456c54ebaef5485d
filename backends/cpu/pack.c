/* pack.c - packed columns; see gemm.h. */
#include "gemm.h"

#include <string.h>

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static const char *at(const void *p, int64_t elements, size_t size) {
  return (const char *)p + elements * (int64_t)size;
}

int64_t cpu_pack_width(const cpu_kernels *kr, int64_t n) {
  return (n + kr->vector - 1) / kr->vector * kr->vector;
}

static int64_t panel_width(const cpu_kernels *kr, int64_t n, int64_t p) {
  int64_t left = n - p * 2 * kr->vector;
  return left > kr->vector ? 2 * kr->vector : kr->vector;
}

typedef char bytes16 __attribute__((vector_size(16), aligned(1), may_alias));

/* Rows of `bytes`, one or two vectors long: by whole sixteens, the last of which overlaps. `row` is a
 * multiple of 16. */
static void pack_short(const char *b, int64_t step, int64_t k, int64_t bytes, int64_t row,
                       char *to) {
  const int64_t whole = bytes / 16 * 16;
  for (int64_t i = 0; i < k; i++, b += step, to += row) {
    for (int64_t o = whole; o < row; o += 16) *(bytes16 *)(to + o) = (bytes16){0};
    for (int64_t o = 0; o < whole; o += 16) *(bytes16 *)(to + o) = *(const bytes16 *)(b + o);
    if (whole < bytes) *(bytes16 *)(to + bytes - 16) = *(const bytes16 *)(b + bytes - 16);
  }
}

void cpu_pack(size_t size, const void *b, int64_t b_row, int64_t b_col, int64_t k, int64_t cols,
              int64_t width, void *out) {
  if (b_col == 1 && cols < width && cols * (int64_t)size >= 16) {
    pack_short((const char *)b, b_row * (int64_t)size, k, cols * (int64_t)size,
               width * (int64_t)size, (char *)out);
    return;
  }
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
  cpu_pack(size, at(b, first * b_col, size), b_row, b_col, k, min64(n - first, width), width,
           (char *)packed + (size_t)(first * packed_rows + k0 * width) * size);
}

/* ---------------------------------------------------------------------------------------- tiles */

void cpu_tiles_packed(const cpu_kernels *kr, size_t size, cpu_tile *t, int64_t rows, int64_t n,
                      int64_t p0, int64_t p1, const void *packed, int64_t packed_rows, int64_t k0,
                      void *c) {
  for (int64_t p = p0; p < p1; p++) {
    int64_t first = p * 2 * kr->vector, width = panel_width(kr, n, p);
    t->cols = (int32_t)min64(n - first, width);
    t->b = at(packed, first * packed_rows + k0 * width, size);
    t->b_row = width;
    t->c = (char *)c + (size_t)first * size;
    cpu_tile_run(kr, t, rows);
  }
}
