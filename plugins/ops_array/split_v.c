/* SplitV: cuts a tensor into pieces of given sizes along an axis; one size may be -1, "the rest".
 */
#include "array.h"

/* Fills in the -1 and checks the sum; extent -1: unknown. */
static tfsdk_status *sizes_of(const array_host *c, const tfsdk_view *v, int64_t n, int64_t extent,
                              int64_t *out_open, int64_t *out_rest) {
  int64_t sum = 0, open = -1;
  for (int64_t i = 0; i < n; i++) {
    int64_t s = tfsdk_view_int(v, i);
    TFSDK_REQUIRE(c, s >= -1, "size_splits[%lld] = %lld is negative", (long long)i, (long long)s);
    TFSDK_REQUIRE(c, s >= 0 || open < 0, "size_splits may hold only one -1");
    if (s < 0)
      open = i;
    else
      TFSDK_REQUIRE(c, s <= INT64_MAX - sum, "the sum of size_splits passes 2^63 - 1");
    if (s >= 0) sum += s;
  }
  *out_open = open;
  *out_rest = extent < 0 ? -1 : extent - sum;
  if (extent < 0) return NULL;
  TFSDK_REQUIRE(c, open >= 0 ? sum <= extent : sum == extent,
                "size_splits add up to %lld, but the axis has extent %lld", (long long)sum,
                (long long)extent);
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *s = &c->in[1].shape;
  const tfsdk_view *v = array_value(c, 1);
  int64_t open = -1, rest = -1, n = c->n_out;
  tfsdk_shape y;
  int32_t axis = -1;
  if (s->rank >= 0 && (s->rank != 1 || (s->dim[0] >= 0 && s->dim[0] != n)))
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "'size_splits' must be a vector of %lld sizes, but its shape is %s",
                      (long long)n, tfsdk_shape_text(s).s);
  TFSDK_TRY(array_axis_arg(c, 2, x->rank, &axis));
  if (x->rank < 0) return NULL;
  if (x->rank == 0) return TFSDK_FAIL(c, INVALID_ARGUMENT, "a scalar cannot be split");
  y = axis < 0 ? tfsdk_shape_of_rank(x->rank) : *x;
  if (v != NULL && axis >= 0)
    TFSDK_TRY(sizes_of(array_host_of(c), v, n, x->dim[axis], &open, &rest));
  for (uint32_t i = 0; i < c->n_out; i++) {
    if (axis >= 0) y.dim[axis] = v == NULL ? -1 : i == open ? rest : tfsdk_view_int(v, i);
    c->out[i].shape = y;
  }
  return NULL;
}

typedef struct piece {
  const tfsdk_view *x;
  int64_t outer, row, inner, first;
} piece;

static void write(array_sink *s, const void *user) {
  const piece *p = (const piece *)user;
  for (int64_t o = 0; o < p->outer; o++) array_put(s, p->x, o * p->row + p->first, 1, p->inner);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t open = -1, rest = 0, unit;
  piece p = {x, 0, 0, 0, 0};
  int32_t axis = (int32_t)tfsdk_view_int(&r->in[2], 0);
  if (axis < 0) axis += x->rank;
  TFSDK_TRY(sizes_of(array_host_of(r), &r->in[1], r->n_out, x->dim[axis], &open, &rest));
  p.outer = array_extent(x->dim, 0, axis);
  p.row = array_extent(x->dim, axis, x->rank);
  unit = array_extent(x->dim, axis + 1, x->rank);
  for (uint32_t i = 0; i < r->n_out; i++, p.first += p.inner) {
    p.inner = unit * (i == open ? rest : tfsdk_view_int(&r->in[1], i));
    TFSDK_TRY(array_write(r, i, write, &p));
  }
  return NULL;
}

/* Outputs without a gradient count as zeros; their sizes come from cutting zeros like x the same
 * way. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  uint32_t n = g->n_out, missing = 0;
  size_t bytes = (2 * (size_t)n + 1) * sizeof(tfsdk_val);
  tfsdk_val *join = (tfsdk_val *)g->host->realloc(g->host, NULL, 0, bytes), *zero, dx;
  if (join == NULL)
    return TFSDK_FAIL(g, RESOURCE_EXHAUSTED, "no memory for %u pieces", (unsigned)n);
  zero = join + n + 1;
  for (uint32_t i = 0; i < n; i++)
    if (!tfsdk_has_dy(g, i)) missing++;
  if (missing > 0) {
    tfsdk_val split[3];
    tfsdk_attrval num = tfsdk_a_int("num_split", n);
    split[0] = tfsdk_emit1(c, "ZerosLike", tfsdk_input(g, 0));
    split[1] = tfsdk_input(g, 1);
    split[2] = tfsdk_input(g, 2);
    tfsdk_emit_n(c, "SplitV", split, 3, &num, 1, zero, n);
  }
  for (uint32_t i = 0; i < n; i++) join[i] = tfsdk_has_dy(g, i) ? tfsdk_dy(g, i) : zero[i];
  join[n] = tfsdk_input(g, 2);
  dx = tfsdk_emit(c, "ConcatV2", join, n + 1, NULL, 0);
  g->host->realloc(g->host, join, bytes, 0);
  return tfsdk_set_dx(g, 0, dx);
}

static const tfsdk_arg in[] = {
    {"value", "T", "rank 1 or more", 0, 0},
    {"size_splits", "Tlen", "vector: the extents of the pieces; one may be -1, the rest",
     ARRAY_SHAPE_ARG, 0},
    {"split_dim", "int32", "scalar: the axis; negative counts from the end", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "num_split*T", "the pieces in order", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"num_split", "int", NULL, "number of pieces", 1, 65536},
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Tlen", "dtype{int8,int32,int64}", "int64", "type of size_splits", 0, 0}};
static const char *const samples[] = {"T[4,3] ; int32{1,3} ; int32(0) | num_split=2",
                                      "float32[2,5] ; int64{2,-1,0} ; int32(-1) | num_split=3",
                                      "float32[0] ; int32{0,0} ; int32(0) | num_split=2", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SplitV", "cuts a tensor into pieces of given sizes along an axis"),
     .doc = "The sizes must add up to the extent of the axis.\n\nSource: TensorFlow `SplitV`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 6, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 6, .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(split_v, ops);
