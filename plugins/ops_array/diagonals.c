/* diagonals.c - see diagonals.h. */
#include "diagonals.h"

typedef struct band {
  int64_t lower, upper;        /* diagonals */
  int64_t rows, cols, longest; /* -1: not known */
  int super_left, sub_left;    /* how short ones are aligned */
} band;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Length of diagonal d, and where it begins in its packed row. */
static int64_t length(const band *b, int64_t d) {
  return least(b->rows + least(d, 0), b->cols - most(d, 0));
}
static int64_t margin(const band *b, int64_t d) {
  int left = (d >= 0 && b->super_left) || (d <= 0 && b->sub_left);
  return left ? 0 : b->longest - length(b, d);
}
/* The place in the packed rows of element (i, j), which lies in the band. */
static int64_t packed(const band *b, int64_t i, int64_t j) {
  int64_t d = j - i;
  return (b->upper - d) * b->longest + j - most(d, 0) + margin(b, d);
}

/* Lowest and highest diagonal. k: the value, or NULL for the main one. */
static tfsdk_status *read_k(const array_host *c, const tfsdk_attrs *attr, const tfsdk_view *k,
                            band *b) {
  const tfsdk_attrval *align = tfsdk_attr_find(attr, "align");
  memset(b, 0, sizeof *b);
  b->rows = b->cols = b->longest = -1;
  b->super_left = align == NULL || strncmp(align->v.s, "LEFT", 4) == 0;
  b->sub_left = align == NULL || strcmp(strchr(align->v.s, '_'), "_LEFT") == 0;
  if (k == NULL) return NULL;
  TFSDK_REQUIRE(c, k->n_elem == 1 || k->n_elem == 2, "'k' must have 1 or 2 members, but has %lld",
                (long long)k->n_elem);
  b->lower = tfsdk_view_int(k, 0);
  b->upper = tfsdk_view_int(k, k->n_elem - 1);
  TFSDK_REQUIRE(c, b->lower <= b->upper, "'k' (%lld, %lld) must not fall", (long long)b->lower,
                (long long)b->upper);
  return NULL;
}

static tfsdk_status *in_matrix(const array_host *c, const band *b) {
  for (int i = 0; i < 2; i++) {
    int64_t d = i == 0 ? b->lower : b->upper;
    TFSDK_REQUIRE(c, d == 0 || (d > -b->rows && d < b->cols),
                  "diagonal %lld does not exist in a matrix of %lld x %lld", (long long)d,
                  (long long)b->rows, (long long)b->cols);
  }
  return NULL;
}

/* In a shape rule: the band, if the diagonals are known. *known = 0: they are not. */
static tfsdk_status *band_arg(const tfsdk_infer *c, int k, band *b, int *known) {
  const tfsdk_view *v = k < 0 ? NULL : array_value(c, (uint32_t)k);
  if (k >= 0 && c->in[k].shape.rank > 1)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'k' must be a scalar or vector, but its shape is %s",
                      tfsdk_shape_text(&c->in[k].shape).s);
  *known = k < 0 || v != NULL;
  return read_k(array_host_of(c), &c->attr, v, b);
}

/* The extents of matrices in flat input i; needs rank 2 if known. */
static tfsdk_status *matrix_arg(const tfsdk_infer *c, uint32_t i, band *b) {
  const tfsdk_shape *x = &c->in[i].shape;
  if (x->rank < 0) return NULL;
  if (x->rank < 2)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'%s' must have at least rank 2, but its shape is %s",
                      c->op->in[i].name, tfsdk_shape_text(x).s);
  b->rows = x->dim[x->rank - 2];
  b->cols = x->dim[x->rank - 1];
  return NULL;
}

/* matrix[:-2] + [diagonals,] + [longest] */
static tfsdk_status *packed_shape(const tfsdk_infer *c, const tfsdk_shape *matrix, band *b,
                                  tfsdk_shape *out) {
  *out = *matrix;
  out->rank -= 2;
  if (b->rows >= 0 && b->cols >= 0) {
    TFSDK_TRY(in_matrix(array_host_of(c), b));
    b->longest = least(b->rows + least(b->upper, 0), b->cols - most(b->lower, 0));
  }
  if (b->upper > b->lower) out->dim[out->rank++] = b->upper - b->lower + 1;
  out->dim[out->rank++] = b->longest;
  return NULL;
}

/* ------------------------------------------------------------------------ diagonals to matrices */

/* Rows and columns wanted, -1 for "as few as hold the diagonals"; if both are, the matrix is
 * square. */
static tfsdk_status *extents(const array_host *c, band *b, int64_t rows, int64_t cols) {
  int64_t min_rows = b->longest - least(b->upper, 0), min_cols = b->longest + most(b->lower, 0);
  if (rows < 0 && cols < 0) rows = cols = most(min_rows, min_cols);
  if (rows < 0) rows = min_rows;
  if (cols < 0) cols = min_cols;
  TFSDK_REQUIRE(c, rows >= min_rows && cols >= min_cols && (rows == min_rows || cols == min_cols),
                "diagonals %lld..%lld of length %lld do not make a matrix of %lld x %lld",
                (long long)b->lower, (long long)b->upper, (long long)b->longest, (long long)rows,
                (long long)cols);
  b->rows = rows;
  b->cols = cols;
  return NULL;
}

tfsdk_status *array_diag_make_infer(tfsdk_infer *c, const array_diag_args *a) {
  const tfsdk_shape *x = &c->in[0].shape;
  const tfsdk_view *rows, *cols;
  tfsdk_shape y;
  band b;
  int known = 0;
  TFSDK_TRY(band_arg(c, a->k, &b, &known));
  if (a->rows >= 0) TFSDK_TRY(array_scalar_arg(c, (uint32_t)a->rows));
  if (a->cols >= 0) TFSDK_TRY(array_scalar_arg(c, (uint32_t)a->cols));
  if (a->padding >= 0) TFSDK_TRY(array_scalar_arg(c, (uint32_t)a->padding));
  if (x->rank < 0 || !known) return NULL;
  if (x->rank < 1 + (b.upper > b.lower))
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "'diagonal' must have at least rank %d, but its shape is %s",
                      1 + (b.upper > b.lower), tfsdk_shape_text(x).s);
  y = *x;
  y.rank--;
  b.longest = x->dim[x->rank - 1];
  if (b.upper > b.lower) {
    y.rank--;
    if (x->dim[y.rank] >= 0 && x->dim[y.rank] != b.upper - b.lower + 1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "k names %lld diagonals, but 'diagonal' has the shape %s",
                        (long long)(b.upper - b.lower + 1), tfsdk_shape_text(x).s);
  }
  if (y.rank + 2 > TFSDK_MAX_RANK)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "the result would have a rank above %d", TFSDK_MAX_RANK);
  rows = a->rows < 0 ? NULL : array_value(c, (uint32_t)a->rows);
  cols = a->cols < 0 ? NULL : array_value(c, (uint32_t)a->cols);
  if (b.longest >= 0 && (a->rows < 0 || rows != NULL) && (a->cols < 0 || cols != NULL))
    TFSDK_TRY(extents(array_host_of(c), &b, rows != NULL ? tfsdk_view_int(rows, 0) : -1,
                      cols != NULL ? tfsdk_view_int(cols, 0) : -1));
  y.dim[y.rank++] = b.rows;
  y.dim[y.rank++] = b.cols;
  c->out[0].shape = y;
  return NULL;
}

typedef struct job {
  band b;
  const tfsdk_view *base, *diagonals,
      *padding; /* base: matrices whose other elements stay, or NULL */
  int64_t n;    /* matrices */
} job;

static void rest(array_sink *s, const job *j, int64_t first, int64_t n) {
  if (j->base != NULL)
    array_put(s, j->base, first, 1, n);
  else if (j->padding != NULL)
    array_put(s, j->padding, 0, 0, n);
  else
    array_put_zeros(s, n);
}

static void write_matrices(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  const band *b = &j->b;
  int64_t size = (b->upper - b->lower + 1) * b->longest;
  for (int64_t row = 0; row < j->n * b->rows; row++) {
    int64_t n = row / b->rows, i = row % b->rows;
    int64_t from = least(most(i + b->lower, 0), b->cols),
            to = least(most(i + b->upper + 1, from), b->cols);
    rest(s, j, row * b->cols, from);
    for (int64_t k = from; k < to; k++)
      array_put(s, j->diagonals, n * size + packed(b, i, k), 1, 1);
    rest(s, j, row * b->cols + to, b->cols - to);
  }
}

static tfsdk_status *begin(tfsdk_run *r, const array_diag_args *a, job *j) {
  memset(j, 0, sizeof *j);
  j->padding = a->padding < 0 ? NULL : &r->in[a->padding];
  return read_k(array_host_of(r), &r->attr, a->k < 0 ? NULL : &r->in[a->k], &j->b);
}

tfsdk_status *array_diag_make_run(tfsdk_run *r, const array_diag_args *a) {
  const tfsdk_view *y = &r->out[0];
  job j;
  TFSDK_TRY(begin(r, a, &j));
  j.diagonals = &r->in[0];
  j.b.rows = y->dim[y->rank - 2];
  j.b.cols = y->dim[y->rank - 1];
  j.b.longest = r->in[0].dim[r->in[0].rank - 1];
  j.n = array_extent(y->dim, 0, y->rank - 2);
  return array_write(r, 0, write_matrices, &j);
}

/* ------------------------------------------------------------------------ matrices to diagonals */

tfsdk_status *array_diag_part_infer(tfsdk_infer *c, const array_diag_args *a) {
  band b;
  int known = 0;
  TFSDK_TRY(band_arg(c, a->k, &b, &known));
  TFSDK_TRY(matrix_arg(c, 0, &b));
  if (a->padding >= 0) TFSDK_TRY(array_scalar_arg(c, (uint32_t)a->padding));
  if (c->in[0].shape.rank < 0 || !known) return NULL;
  return packed_shape(c, &c->in[0].shape, &b, &c->out[0].shape);
}

static void write_diagonals(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  const band *b = &j->b;
  for (int64_t n = 0; n < j->n; n++) {
    for (int64_t d = b->upper; d >= b->lower; d--) {
      int64_t len = most(length(b, d), 0), before = margin(b, d);
      int64_t at = (n * b->rows + most(-d, 0)) * b->cols + most(d, 0);
      rest(s, j, 0, before);
      array_put(s, j->diagonals, at, b->cols + 1, len);
      rest(s, j, 0, b->longest - before - len);
    }
  }
}

tfsdk_status *array_diag_part_run(tfsdk_run *r, const array_diag_args *a) {
  const tfsdk_view *x = &r->in[0];
  job j;
  TFSDK_TRY(begin(r, a, &j));
  j.diagonals = x; /* read along its diagonals */
  j.b.rows = x->dim[x->rank - 2];
  j.b.cols = x->dim[x->rank - 1];
  j.b.longest = r->out[0].dim[r->out[0].rank - 1];
  j.n = array_extent(x->dim, 0, x->rank - 2);
  return array_write(r, 0, write_diagonals, &j);
}

/* ---------------------------------------------------------------- matrices with other diagonals */

tfsdk_status *array_diag_set_infer(tfsdk_infer *c, const array_diag_args *a) {
  tfsdk_shape want, merged;
  band b;
  int known = 0;
  TFSDK_TRY(band_arg(c, a->k, &b, &known));
  TFSDK_TRY(matrix_arg(c, 0, &b));
  c->out[0].shape = c->in[0].shape;
  if (c->in[0].shape.rank < 0 || !known) return NULL;
  TFSDK_TRY(packed_shape(c, &c->in[0].shape, &b, &want));
  return tfsdk_merge(c, &c->in[1].shape, &want, "'diagonal' must have the shape of the diagonals",
                     &merged);
}

tfsdk_status *array_diag_set_run(tfsdk_run *r, const array_diag_args *a) {
  const tfsdk_view *x = &r->in[0];
  job j;
  TFSDK_TRY(begin(r, a, &j));
  j.base = x;
  j.diagonals = &r->in[1];
  j.b.rows = x->dim[x->rank - 2];
  j.b.cols = x->dim[x->rank - 1];
  j.b.longest = r->in[1].dim[r->in[1].rank - 1];
  j.n = array_extent(x->dim, 0, x->rank - 2);
  return array_write(r, 0, write_matrices, &j);
}

/* ------------------------------------------------------------------------------------ gradients */

/* `base` + version, with the node's align. */
static tfsdk_val emit_version(tfsdk_ctx *c, tfsdk_gradcall *g, const char *base,
                              const char *version, const tfsdk_val *in, size_t n) {
  const tfsdk_attrval *align = tfsdk_attr_find(&g->attr, "align");
  char name[32];
  snprintf(name, sizeof name, "%s%s", base, version);
  return tfsdk_emit(c, name, in, n, align, align != NULL ? 1 : 0);
}

static tfsdk_val zero_scalar(tfsdk_ctx *c, int32_t dtype) {
  static const double zeros[2] = {0, 0}; /* zero bits of every number type */
  return tfsdk_constant(c, dtype, 0, NULL, zeros);
}

static tfsdk_val part(tfsdk_ctx *c, tfsdk_gradcall *g, const char *version, tfsdk_val x,
                      tfsdk_val k) {
  tfsdk_val in[3];
  in[0] = x;
  in[1] = k;
  in[2] = zero_scalar(c, tfsdk_type(c, x).dtype);
  return emit_version(c, g, "MatrixDiagPart", version, in, *version == 0 ? 1 : 3);
}

static tfsdk_val set(tfsdk_ctx *c, tfsdk_gradcall *g, const char *version, tfsdk_val x,
                     tfsdk_val diagonals, tfsdk_val k) {
  tfsdk_val in[3];
  in[0] = x;
  in[1] = diagonals;
  in[2] = k;
  return emit_version(c, g, "MatrixSetDiag", version, in, *version == 0 ? 2 : 3);
}

tfsdk_status *array_diag_make_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *version) {
  tfsdk_val k = *version == 0 ? tfsdk_none() : tfsdk_input(g, 1);
  return tfsdk_set_dx(g, 0, part(c, g, version, tfsdk_dy(g, 0), k));
}

tfsdk_status *array_diag_part_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *version) {
  tfsdk_val k = *version == 0 ? tfsdk_none() : tfsdk_input(g, 1);
  tfsdk_val zeros = tfsdk_emit1(c, "ZerosLike", tfsdk_input(g, 0));
  return tfsdk_set_dx(g, 0, set(c, g, version, zeros, tfsdk_dy(g, 0), k));
}

tfsdk_status *array_diag_set_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *version) {
  tfsdk_val k = *version == 0 ? tfsdk_none() : tfsdk_input(g, 2), dy = tfsdk_dy(g, 0);
  tfsdk_val zeros = tfsdk_emit1(c, "ZerosLike", tfsdk_input(g, 1));
  TFSDK_TRY(tfsdk_set_dx(g, 0, set(c, g, version, dy, zeros, k)));
  return tfsdk_set_dx(g, 1, part(c, g, version, dy, k));
}
