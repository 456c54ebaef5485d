/* Prod: multiplies over axes; the product of nothing is 1. Accumulates in double; integers wrap
 * around.
 *
 * Gradient: dy times the product of the *others* (ProdOthers), made of the products of those before
 * and of those behind, so that zeros need no special case and nothing is divided.
 *
 * Second order: the derivative of ProdOthers along v comes from the same two passes with dual
 * numbers x + e v, e^2 = 0 (ProdOthersTangent). The matrix of second derivatives of a product is
 * symmetric, so that this is the gradient too. */
#include "reduce.h"
#include "calc.h"

REDUCE(compute, REDUCE_NUMBERS, 1, (s * x), s)

static void store(const tfsdk_view *y, int64_t i, double v) {
  switch (y->dtype) {
  case TFSDK_FLOAT32: ((float *)y->data)[i] = (float)v; break;
  case TFSDK_FLOAT64: ((double *)y->data)[i] = v; break;
  case TFSDK_FLOAT16: ((uint16_t *)y->data)[i] = tfsdk_to_half(tfsdk_round_to_odd(v)); break;
  case TFSDK_BFLOAT16: ((uint16_t *)y->data)[i] = tfsdk_to_bfloat16(tfsdk_round_to_odd(v)); break;
  default: break;
  }
}

/* Writes the products of the others, or, when a tangent v of x is given, their derivative along it.
 * Rows are walked forwards and then backwards. All in double: a partial product may leave a float's
 * range. */
static tfsdk_status *others(tfsdk_run *r, const tfsdk_view *x, const tfsdk_view *v,
                            const tfsdk_view *axes) {
  reduce_job job;
  tfsdk_walk w;
  int64_t n_rows, n = x->n_elem, n_out, *at;
  double *p, *pt, *y, *yt;
  void *room = NULL;
  reduce_begin(&job, x, axes);
  n_out = job.kept.n_elem;
  tfsdk_walk_begin(&w, &job.kept, 1, x);
  n_rows = w.rows;
  if (n == 0) return NULL;
  TFSDK_TRY(r->api->workspace(r, (size_t)(n_rows + 2 * n_out + 2 * n) * 8, &room));
  at = (int64_t *)room;
  p = (double *)(at + n_rows);
  pt = p + n_out;
  y = pt + n_out;
  yt = y + n;
  for (int64_t i = 0; i < n_out; i++) {
    p[i] = 1;
    pt[i] = 0;
  }
  for (int64_t row = 0; w.rows > 0; tfsdk_walk_next(&w), row++) {
    at[row] = w.at[0];
    for (int64_t i = w.out; i < w.out + w.n; i++) {
      int64_t o = w.at[0] + (i - w.out) * w.step[0];
      double e = tfsdk_view_number(x, i), d = v != NULL ? tfsdk_view_number(v, i) : 0;
      y[i] = p[o];
      yt[i] = pt[o];
      pt[o] = pt[o] * e + p[o] * d;
      p[o] *= e;
    }
  }
  for (int64_t i = 0; i < n_out; i++) {
    p[i] = 1;
    pt[i] = 0;
  }
  for (int64_t row = n_rows - 1; row >= 0; row--)
    for (int64_t i = (row + 1) * w.n - 1; i >= row * w.n; i--) {
      int64_t o = at[row] + (i - row * w.n) * w.step[0];
      double e = tfsdk_view_number(x, i), d = v != NULL ? tfsdk_view_number(v, i) : 0;
      store(&r->out[0], i, v != NULL ? yt[i] * p[o] + y[i] * pt[o] : y[i] * p[o]);
      pt[o] = pt[o] * e + p[o] * d;
      p[o] *= e;
    }
  return NULL;
}
static tfsdk_status *compute_others(void *state, tfsdk_run *r) {
  (void)state;
  return others(r, &r->in[0], NULL, &r->in[1]);
}
static tfsdk_status *compute_tangent(void *state, tfsdk_run *r) {
  (void)state;
  return others(r, &r->in[0], &r->in[1], &r->in[2]);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), axis = tfsdk_input(g, 1);
  tfsdk_val dy = v_spread(c, tfsdk_dy(g, 0), x, axis, tfsdk_attr_int(&g->attr, "keep_dims"));
  return tfsdk_set_dx(g, 0, v_mul(c, dy, tfsdk_emit2(c, "ProdOthers", x, axis)));
}
static tfsdk_status *others_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(
      g, 0,
      tfsdk_emit3(c, "ProdOthersTangent", tfsdk_input(g, 0), tfsdk_dy(g, 0), tfsdk_input(g, 1)));
}

/* Same shape as x; the axes are checked where they are known. */
static tfsdk_status *others_infer(tfsdk_infer *c) {
  tfsdk_shape unused = tfsdk_shape_unknown();
  TFSDK_TRY(reduce_shape(c, &c->in[0].shape, c->n_in - 1, 0, &unused));
  return tfsdk_infer_same(c);
}

REDUCE_ARGS("T")
REDUCE_ATTRS(TFSDK_T_NUMBERS)
#define AXIS                                                                                       \
  { "axis", "Tidx", "the axes of the product", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0 }
static const tfsdk_arg others_in[] = {{"x", "T", "any shape", 0, 0}, AXIS};
static const tfsdk_arg tangent_in[] = {
    {"x", "T", "any shape", 0, 0}, {"v", "T", "a direction, of x's shape", 0, 0}, AXIS};
static const tfsdk_arg others_out[] = {{"output", "T", "of x's shape", 0, 0}};
static const tfsdk_attrdef others_attr[] = {{"T", TFSDK_T_FLOATS, NULL, "element type", 0, 0},
                                            REDUCE_ATTR_TIDX};
#define OTHERS(in_)                                                                                \
  .in = in_, .n_in = TFSDK_COUNT(in_), .out = others_out, .n_out = 1, .attr = others_attr,         \
  .n_attr = TFSDK_COUNT(others_attr), .infer = others_infer,                                       \
  .const_in = 1u << (TFSDK_COUNT(in_) - 1)
static const char *const samples[] = {REDUCE_SAMPLES, "float64{2,0,3,4} ; int32{0}", NULL};
static const char *const others_samples[] = {"T[2,3,4] ; int32{0,2}", "T[2,3] ; int64(1)",
                                             "float64{2,0,3,0} ; int32{0}", NULL};
static const char *const tangent_samples[] = {"T[2,3,4] ; T[2,3,4] ; int32{0,2}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Prod", "product over axes"), REDUCE_SCHEMA,
     .doc =
         "Multiplies the elements along the axes. Floating numbers are multiplied in double and "
         "rounded once, integers wrap around. The product of nothing is 1. The gradient is exact "
         "where elements are zero.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
    {TFSDK_OP_HEAD("ProdOthers", "for each element the product of the others"), OTHERS(others_in),
     .doc =
         "output[i] is the product of all elements along the axes except x[i]: the derivative of "
         "their product.",
     .reference = compute_others, .grad = others_grad, .grad_in = 3, .samples = others_samples},
    {TFSDK_OP_HEAD("ProdOthersTangent", "the derivative of ProdOthers in a direction"),
     OTHERS(tangent_in),
     .doc =
         "output[i] is the sum over k of v[k] times the product of all elements but x[i] and x[k].",
     .reference = compute_tangent,
     .no_grad_reason = "third derivatives of a product are not implemented",
     .samples = tangent_samples},
};
TFSDK_UNIT_OPS(prod, ops);
