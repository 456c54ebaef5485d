/* Transpose of elements of 4 and 8 bytes.
 *
 * Axes that stay neighbours are taken as one. If the innermost axis stays innermost, rows are
 * copied; else the plane of the axis that was innermost and the axis that becomes so is turned in
 * tiles that fit the first-level cache, whatever the other axes are.
 */
#include "common.h"
#include "gemm.h"

#include <tfsdk/shape.h>

#define TILE 32

typedef struct job {
  const char *x;
  char *y;
  size_t size;
  int32_t n; /* axes of y outside of the plane or row */
  int64_t dim[TFSDK_MAX_RANK], from[TFSDK_MAX_RANK], to[TFSDK_MAX_RANK]; /* and their strides */
  int64_t rows, cols;       /* of the plane: cols along y's innermost axis */
  int64_t row_to, col_from; /* stride of rows in y, of columns in x; rows are adjacent in x */
  int64_t tiles;            /* of a plane's rows */
} job;

static void offsets(const job *j, int64_t index, int64_t *from, int64_t *to) {
  *from = *to = 0;
  for (int32_t d = j->n - 1; d >= 0; d--) {
    *from += index % j->dim[d] * j->from[d];
    *to += index % j->dim[d] * j->to[d];
    index /= j->dim[d];
  }
}

static void copy_rows(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  for (int64_t i = begin; i < end; i++) {
    int64_t from, to;
    offsets(j, i, &from, &to);
    memcpy(j->y + (size_t)to * j->size, j->x + (size_t)from * j->size, (size_t)j->cols * j->size);
  }
}

static void turn_planes(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  for (int64_t i = begin; i < end; i++) {
    const int64_t row = i % j->tiles * TILE, rows = cpu_min(TILE, j->rows - row);
    int64_t from, to;
    offsets(j, i / j->tiles, &from, &to);
    for (int64_t col = 0; col < j->cols; col += TILE)
      cpu_turn(j->size, j->x + (size_t)(from + row + col * j->col_from) * j->size, j->col_from,
               rows, cpu_min(TILE, j->cols - col), j->row_to,
               j->y + (size_t)(to + row * j->row_to + col) * j->size);
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  int64_t dim[TFSDK_MAX_RANK], from[TFSDK_MAX_RANK], to[TFSDK_MAX_RANK], stride[TFSDK_MAX_RANK],
      s = 1;
  int32_t n = 0, inner = -1;
  job j = {.x = (const char *)x->data, .y = (char *)y->data, .size = tfsdk_dtype_size(x->dtype)};
  (void)state;
  if (y->n_elem == 0) return NULL;
  for (int32_t d = x->rank - 1; d >= 0; d--) {
    stride[d] = s;
    s *= x->dim[d];
  }
  for (int32_t d = 0; d < y->rank; d++) { /* y's axes, merged */
    int64_t axis = tfsdk_view_int(&r->in[1], d);
    if (axis < 0) axis += x->rank;
    if (x->dim[axis] == 1) continue;
    if (n > 0 && from[n - 1] == stride[axis] * x->dim[axis]) {
      dim[n - 1] *= x->dim[axis];
      from[n - 1] = stride[axis];
    } else {
      dim[n] = x->dim[axis];
      from[n++] = stride[axis];
    }
  }
  if (n <= 1) {
    memcpy(y->data, x->data, y->byte_size);
    return NULL;
  }
  s = 1;
  for (int32_t d = n - 1; d >= 0; d--) {
    to[d] = s;
    s *= dim[d];
    if (from[d] == 1) inner = d; /* innermost in x */
  }
  for (int32_t d = 0; d < n - 1; d++) {
    if (d == inner) continue;
    j.dim[j.n] = dim[d], j.from[j.n] = from[d], j.to[j.n++] = to[d];
  }
  s = 1;
  for (int32_t d = 0; d < j.n; d++) s *= j.dim[d];
  j.cols = dim[n - 1];
  if (inner == n - 1) {
    r->api->par_for(r, s, cpu_row_grain(j.cols, CPU_GRAIN_COPY), copy_rows, &j);
  } else {
    j.rows = dim[inner], j.row_to = to[inner], j.col_from = from[n - 1];
    j.tiles = (j.rows + TILE - 1) / TILE;
    r->api->par_for(r, s * j.tiles, cpu_row_grain(j.cols * TILE, CPU_GRAIN_COPY / 2), turn_planes,
                    &j);
  }
  return NULL;
}

static const int32_t types[] = {
    TFSDK_FLOAT32, TFSDK_FLOAT64, TFSDK_INT32, TFSDK_INT64, TFSDK_UINT32, TFSDK_UINT64, 0};
static const tfsdk_where where[] = {{"T", types}};
static const tfsdk_kerneldef kernels[] = {{TFSDK_KERNEL_HEAD("Transpose", "cpu", 100),
                                           .label = "tiles", .where = where, .n_where = 1,
                                           .host_in = 2, .compute = compute}};
TFSDK_UNIT_KERNELS(transpose, kernels);
