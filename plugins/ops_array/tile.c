/* Tile: repeats a tensor `multiples` times along each axis, and TileGrad, its backward op: the sum
 * over the copies. */
#include "accumulate.h"

/* -------------------------------------------------------------------------------------- forward */

/* The rank that x and multiples agree on; -1 unknown. */
static tfsdk_status *common_rank(const tfsdk_infer *c, int32_t *out) {
  const tfsdk_shape *x = &c->in[0].shape, *m = &c->in[1].shape;
  *out = x->rank;
  if (m->rank >= 0 && (m->rank != 1 || (x->rank >= 0 && m->dim[0] >= 0 && m->dim[0] != x->rank)))
    return TFSDK_FAIL(
        c, INVALID_ARGUMENT,
        "'multiples' must have one member for each axis of shape %s, but its shape is %s",
        tfsdk_shape_text(x).s, tfsdk_shape_text(m).s);
  if (x->rank < 0 && m->rank == 1 && m->dim[0] >= 0 && m->dim[0] <= TFSDK_MAX_RANK)
    *out = (int32_t)m->dim[0];
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  const tfsdk_view *v = array_value(c, 1);
  int32_t rank;
  TFSDK_TRY(common_rank(c, &rank));
  if (rank < 0) return NULL;
  c->out[0].shape = tfsdk_shape_of_rank(rank);
  for (int32_t i = 0; v != NULL && i < rank; i++) {
    int64_t m = tfsdk_view_int(v, i);
    if (m < 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "multiples[%d] = %lld must not be negative", (int)i,
                        (long long)m);
    if (x->rank >= 0 && x->dim[i] >= 0)
      TFSDK_TRY(array_mul(c, x->dim[i], m, "'multiples'", &c->out[0].shape.dim[i]));
  }
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t stride[TFSDK_MAX_RANK];
  array_walk w = {0};
  array_strides(x->dim, x->rank, stride);
  for (int32_t i = 0; i < x->rank; i++) {
    array_walk_axis(&w, tfsdk_view_int(&r->in[1], i), 0);
    array_walk_axis(&w, x->dim[i], stride[i]);
  }
  return array_copy_walk(r, 0, 0, &w);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(
      g, 0, tfsdk_emit3(c, "TileGrad", tfsdk_dy(g, 0), tfsdk_input(g, 1), tfsdk_input(g, 0)));
}

/* ------------------------------------------------------------------------------------- backward */

/* The output is like input 2, and the copies of that must make dy. */
static tfsdk_status *like_shape(tfsdk_infer *c, const tfsdk_view *v) {
  const tfsdk_shape *y = &c->in[0].shape, *x = &c->in[2].shape;
  c->out[0].shape = *x;
  if (y->rank < 0 || x->rank < 0) return NULL;
  for (int32_t i = x->rank == y->rank ? 0 : -1; i < x->rank; i++)
    if (i < 0 || (v != NULL && x->dim[i] >= 0 && y->dim[i] >= 0 &&
                  (uint64_t)x->dim[i] * (uint64_t)tfsdk_view_int(v, i) != (uint64_t)y->dim[i]))
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "dy of shape %s is not made of copies of shape %s",
                        tfsdk_shape_text(y).s, tfsdk_shape_text(x).s);
  return NULL;
}

static tfsdk_status *infer_back(tfsdk_infer *c) {
  const tfsdk_shape *y = &c->in[0].shape;
  const tfsdk_view *v = array_value(c, 1);
  int32_t rank;
  TFSDK_TRY(common_rank(c, &rank));
  if (c->n_in > 2 && !(c->in[2].flags & TFSDK_VIEW_ABSENT)) return like_shape(c, v);
  if (rank < 0) return NULL;
  c->out[0].shape = tfsdk_shape_of_rank(rank);
  for (int32_t i = 0; v != NULL && i < rank; i++) {
    int64_t m = tfsdk_view_int(v, i);
    /* A multiple of 0 hides the extent: it cannot be had back from dy. */
    if (m < 1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "multiples[%d] = %lld must be at least 1", (int)i,
                        (long long)m);
    if (y->rank < 0 || y->dim[i] < 0) continue;
    if (y->dim[i] % m != 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "extent %lld of axis %d is no multiple of %lld",
                        (long long)y->dim[i], (int)i, (long long)m);
    c->out[0].shape.dim[i] = y->dim[i] / m;
  }
  return NULL;
}

typedef struct fold {
  const array_sum *sum;
  const tfsdk_view *dy;
  int64_t at; /* the next element of dx; starts anew for each copy */
} fold;

static void add_row(void *user, int64_t first, int64_t stride, int64_t n) {
  fold *f = (fold *)user;
  while (n > 0) {
    int64_t run = stride == 1 ? f->sum->n - f->at : 1;
    if (run > n) run = n;
    array_sum_add(f->sum, f->at, f->dy, first, run, 1);
    first += run * stride;
    n -= run;
    f->at = (f->at + run) % f->sum->n;
  }
}

static tfsdk_status *compute_back(void *state, tfsdk_run *r) {
  const tfsdk_view *dy = &r->in[0], *dx = &r->out[0];
  int64_t stride[TFSDK_MAX_RANK];
  array_walk w = {0};
  array_sum sum;
  fold f = {&sum, dy, 0};
  if (dx->n_elem == 0) return NULL;
  TFSDK_TRY(array_sum_begin(r, dx->dtype, dx->n_elem, &sum));
  array_strides(dy->dim, dy->rank, stride);
  for (int32_t i = 0; i < dx->rank; i++)
    array_walk_axis(&w, tfsdk_view_int(&r->in[1], i), dx->dim[i] * stride[i]);
  for (int32_t i = 0; i < dx->rank; i++) array_walk_axis(&w, dx->dim[i], stride[i]);
  array_walk_rows(&w, add_row, &f);
  array_sum_end(&sum, dx);
  return NULL;
}

static tfsdk_status *grad_back(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Tile", tfsdk_dy(g, 0), tfsdk_input(g, 1)));
}

static const tfsdk_arg in[] = {
    {"input", "T", "any shape", 0, 0},
    {"multiples", "Tmultiples", "vector: how often along each axis", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "the copies side by side", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Tmultiples", ARRAY_INDEX_TYPES, "int32", "type of multiples", 0, 0}};
static const char *const samples[] = {"T[2,3] ; int32{2,1}",       "float32[2,3] ; int64{2,3}",
                                      "float32[] ; int32{}",       "float32[2] ; int32{0}",
                                      "float32[0,2] ; int32{2,2}", NULL};
static const tfsdk_arg in_back[] = {
    {"input", "T", "of Tile's output shape", 0, 0},
    {"multiples", "Tmultiples", "vector: as given to Tile, at least 1", ARRAY_SHAPE_ARG, 0},
    {"like", "T?", "x: says the shape, so that multiples may be 0",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0}};
static const tfsdk_arg out_back[] = {{"output", "T", "the sum of the copies", 0, 0}};
static const tfsdk_attrdef attr_back[] = {
    {"T", ARRAY_NUMBER_TYPES, NULL, "type of the elements", 0, 0},
    {"Tmultiples", ARRAY_INDEX_TYPES, "int32", "type of multiples", 0, 0}};
static const char *const samples_back[] = {"T[4,3] ; int32{2,1} ; -",
                                           "float32[4,6] ; int64{2,3} ; float32[2,2]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Tile", "repeats a tensor along its axes"),
     .doc = "Axis i becomes `multiples[i]` times as long; `y[i] = x[i mod n]`.\n\n"
            "Source: TensorFlow `Tile`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 2, .grad_shape = 1, .samples = samples},
    {TFSDK_OP_HEAD("TileGrad", "the gradient of Tile: the sum of the copies"),
     .doc = "`dx[i] = sum over k of dy[i + k n]`.\n\nSource: TensorFlow `TileGrad`.",
     ARRAY_SCHEMA(in_back, out_back, attr_back), .const_in = 2, .infer = infer_back,
     .reference = compute_back, .grad = grad_back, .grad_in = 2, .samples = samples_back}};
TFSDK_UNIT_OPS(tile, ops);
