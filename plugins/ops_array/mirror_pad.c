/* MirrorPad: a border that mirrors the tensor, and MirrorPadGrad, its backward op.
 *
 *     REFLECT    c b | a b c | b a      the edge itself is not repeated: at most n - 1 on each side
 *     SYMMETRIC  b a | a b c | c b      the edge is repeated:            at most n
 */
#include "accumulate.h"
#include "axis_map.h"

static int reflects(const tfsdk_attrs *a) {
  return strcmp(tfsdk_attr_string(a, "mode"), "REFLECT") == 0;
}

/* Checks paddings for a tensor of the inner shape; sign +1 gives the padded shape, -1 takes it
 * back. */
static tfsdk_status *shapes(tfsdk_infer *c, int sign) {
  const tfsdk_shape *x = &c->in[0].shape, *p = &c->in[1].shape;
  const tfsdk_view *v = array_value(c, 1);
  int reflect = reflects(&c->attr);
  if (p->rank >= 0 && (p->rank != 2 || (p->dim[1] >= 0 && p->dim[1] != 2) ||
                       (x->rank >= 0 && p->dim[0] >= 0 && p->dim[0] != x->rank)))
    return TFSDK_FAIL(
        c, INVALID_ARGUMENT,
        "'paddings' must have the shape [rank, 2] for an input of shape %s, but it is %s",
        tfsdk_shape_text(x).s, tfsdk_shape_text(p).s);
  if (x->rank < 0) return NULL;
  c->out[0].shape = tfsdk_shape_of_rank(x->rank);
  for (int32_t i = 0; v != NULL && i < x->rank; i++) {
    int64_t before = tfsdk_view_int(v, 2 * i), after = tfsdk_view_int(v, 2 * i + 1), n = x->dim[i];
    if (before < 0 || after < 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "paddings[%d] = (%lld, %lld) must not be negative",
                        (int)i, (long long)before, (long long)after);
    if (n < 0) continue;
    if (sign < 0) {
      if (before > n || after > n - before)
        return TFSDK_FAIL(c, INVALID_ARGUMENT, "paddings[%d] = (%lld, %lld) pass extent %lld",
                          (int)i, (long long)before, (long long)after, (long long)n);
      n -= before + after;
    }
    if (before > n - reflect || after > n - reflect)
      return TFSDK_FAIL(
          c, INVALID_ARGUMENT,
          "paddings[%d] = (%lld, %lld): an extent of %lld can be mirrored at most %lld far", (int)i,
          (long long)before, (long long)after, (long long)n,
          (long long)(n > reflect ? n - reflect : 0));
    c->out[0].shape.dim[i] = sign > 0 ? n + before + after : n;
  }
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) { return shapes(c, 1); }
static tfsdk_status *infer_back(tfsdk_infer *c) { return shapes(c, -1); }

/* From the padded tensor's positions to those of the inner one. */
static tfsdk_status *make_map(tfsdk_run *r, const tfsdk_view *outer, const tfsdk_view *inner,
                              array_axis_map *m) {
  int64_t stride[TFSDK_MAX_RANK];
  int reflect = reflects(&r->attr);
  array_strides(inner->dim, inner->rank, stride);
  TFSDK_TRY(array_axis_map_begin(r, outer->dim, outer->rank, m));
  for (int32_t k = 0; k < outer->rank; k++) {
    int64_t before = tfsdk_view_int(&r->in[1], 2 * k), n = inner->dim[k];
    for (int64_t i = 0; i < outer->dim[k]; i++) {
      int64_t at = i - before;
      if (at < 0)
        at = -at - 1 + reflect;
      else if (at >= n)
        at = 2 * n - 1 - at - reflect;
      m->at[k][i] = at * stride[k];
    }
  }
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  array_axis_map m;
  if (r->out[0].n_elem == 0) return NULL;
  TFSDK_TRY(make_map(r, &r->out[0], &r->in[0], &m));
  return array_axis_map_copy(r, &m);
}

typedef struct fold {
  array_sum sum;
  const tfsdk_view *dy;
  int64_t from;
} fold;

static void add_run(void *user, int64_t first, int64_t n) {
  fold *f = (fold *)user;
  array_sum_add(&f->sum, first, f->dy, f->from, n, 1);
  f->from += n;
}

static tfsdk_status *compute_back(void *state, tfsdk_run *r) {
  array_axis_map m;
  fold f;
  if (r->out[0].n_elem == 0) return NULL;
  f.dy = &r->in[0];
  f.from = 0;
  TFSDK_TRY(array_sum_begin(r, r->out[0].dtype, r->out[0].n_elem, &f.sum));
  TFSDK_TRY(make_map(r, &r->in[0], &r->out[0], &m));
  array_axis_map_runs(&m, add_run, &f);
  array_sum_end(&f.sum, &r->out[0]);
  return NULL;
}

static tfsdk_status *emit_other(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op) {
  tfsdk_attrval mode = tfsdk_a_string("mode", tfsdk_attr_string(&g->attr, "mode"));
  tfsdk_val in[2];
  in[0] = tfsdk_dy(g, 0);
  in[1] = tfsdk_input(g, 1);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, op, in, 2, &mode, 1));
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return emit_other(c, g, "MirrorPadGrad");
}
static tfsdk_status *grad_back(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return emit_other(c, g, "MirrorPad");
}

#define PADDINGS                                                                                   \
  { "paddings", "Tpaddings", "[rank, 2]: how far before and after each axis", ARRAY_SHAPE_ARG, 0 }
#define ATTRS(types)                                                                               \
  {"T", types, NULL, "type of the elements", 0, 0},                                                \
      {"Tpaddings", ARRAY_INDEX_TYPES, "int32", "type of paddings", 0, 0}, {                       \
    "mode", "string{REFLECT,SYMMETRIC}", NULL, "without or with the edge itself", 0, 0             \
  }
static const tfsdk_arg in[] = {{"input", "T", "any shape", 0, 0}, PADDINGS};
static const tfsdk_arg out[] = {{"output", "T", "input within its mirror images", 0, 0}};
static const tfsdk_attrdef attr[] = {ATTRS("dtype")};
static const char *const samples[] = {"T[2,3] ; int32{{1,0},{0,2}} | mode=REFLECT",
                                      "float32[2,3] ; int64{{2,1},{3,3}} | mode=SYMMETRIC",
                                      "float32[0] ; int32{{0,0}} | mode=SYMMETRIC", NULL};
static const tfsdk_arg in_back[] = {{"input", "T", "dy, of the padded shape", 0, 0}, PADDINGS};
static const tfsdk_arg out_back[] = {{"output", "T", "of the inner shape", 0, 0}};
static const tfsdk_attrdef attr_back[] = {ATTRS(ARRAY_NUMBER_TYPES)};
static const char *const samples_back[] = {"T[3,5] ; int32{{1,0},{0,2}} | mode=REFLECT",
                                           "float32[5] ; int32{{2,1}} | mode=SYMMETRIC", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MirrorPad", "adds a border of mirror images"),
     .doc = "REFLECT mirrors at the edge elements (`b | a b c | b`), SYMMETRIC behind them "
            "(`a | a b c | c`). The border is at most n - 1, or n, wide.\n\n"
            "Source: TensorFlow `MirrorPad`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 2, .samples = samples},
    {TFSDK_OP_HEAD("MirrorPadGrad", "the gradient of MirrorPad"),
     .doc = "Adds each element of the border to the one that it mirrors.\n\n"
            "Source: TensorFlow `MirrorPadGrad`.",
     ARRAY_SCHEMA(in_back, out_back, attr_back), .const_in = 2, .infer = infer_back,
     .reference = compute_back, .grad = grad_back, .grad_in = 2, .samples = samples_back}};
TFSDK_UNIT_OPS(mirror_pad, ops);
