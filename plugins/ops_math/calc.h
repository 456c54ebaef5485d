/* Arithmetic on emitted values, for the gradients of this folder: v_mul(c, a, b) emits "Mul" and so
 * on. Errors are sticky (emit.h), so expressions are written in one piece. */
#ifndef OPS_MATH_CALC_H
#define OPS_MATH_CALC_H

#include <tfsdk/emit.h>

static inline tfsdk_val v_add(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b) {
  return tfsdk_emit2(c, "AddV2", a, b);
}
static inline tfsdk_val v_sub(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b) {
  return tfsdk_emit2(c, "Sub", a, b);
}
static inline tfsdk_val v_mul(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b) {
  return tfsdk_emit2(c, "Mul", a, b);
}
static inline tfsdk_val v_div(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b) {
  return tfsdk_emit2(c, "RealDiv", a, b);
}
static inline tfsdk_val v_neg(tfsdk_ctx *c, tfsdk_val a) { return tfsdk_emit1(c, "Neg", a); }
static inline tfsdk_val v_square(tfsdk_ctx *c, tfsdk_val a) { return tfsdk_emit1(c, "Square", a); }
/* A scalar of a's dtype. */
static inline tfsdk_val v_num(tfsdk_ctx *c, tfsdk_val a, double value) {
  return tfsdk_scalar_like(c, a, value);
}
/* a * value, and value + a, for a number */
static inline tfsdk_val v_scale(tfsdk_ctx *c, tfsdk_val a, double value) {
  return v_mul(c, a, v_num(c, a, value));
}
static inline tfsdk_val v_plus(tfsdk_ctx *c, tfsdk_val a, double value) {
  return v_add(c, a, v_num(c, a, value));
}
/* value - a */
static inline tfsdk_val v_from(tfsdk_ctx *c, double value, tfsdk_val a) {
  return v_sub(c, v_num(c, a, value), a);
}
/* Where `condition` holds a, else zero; no element of a that is not chosen counts, be it NaN. */
static inline tfsdk_val v_where(tfsdk_ctx *c, tfsdk_val condition, tfsdk_val a) {
  return tfsdk_emit3(c, "SelectV2", condition, a, v_num(c, a, 0));
}
/* a cast to the dtype of `like` */
static inline tfsdk_val v_cast_like(tfsdk_ctx *c, tfsdk_val a, tfsdk_val like) {
  tfsdk_attrval to = tfsdk_a_dtype("DstT", tfsdk_type(c, like).dtype);
  return tfsdk_emit(c, "Cast", &a, 1, &to, 1);
}
/* a cast to float64, for slopes that cancel in single precision */
static inline tfsdk_val v_double(tfsdk_ctx *c, tfsdk_val a) {
  tfsdk_attrval to = tfsdk_a_dtype("DstT", TFSDK_FLOAT64);
  return tfsdk_emit(c, "Cast", &a, 1, &to, 1);
}
/* A reduction op with the attribute keep_dims. */
static inline tfsdk_val v_reduce(tfsdk_ctx *c, const char *op, tfsdk_val a, tfsdk_val axis,
                                 int64_t keep_dims) {
  tfsdk_val in[2];
  tfsdk_attrval keep = tfsdk_a_bool("keep_dims", keep_dims);
  in[0] = a;
  in[1] = axis;
  return tfsdk_emit(c, op, in, 2, &keep, 1);
}
/* The gradient of a sum over `axis`: a, of the sum's shape, spread over the shape of `like`. */
static inline tfsdk_val v_spread(tfsdk_ctx *c, tfsdk_val a, tfsdk_val like, tfsdk_val axis,
                                 int64_t keep_dims) {
  tfsdk_val in[3];
  tfsdk_attrval keep = tfsdk_a_bool("keep_dims", keep_dims);
  in[0] = a;
  in[1] = like;
  in[2] = axis;
  return tfsdk_emit(c, "BroadcastToLike", in, 3, &keep, 1);
}

/* Sets the gradients of a broadcasting op's two inputs from values of the output's shape. */
static inline tfsdk_status *v_set_dx2(tfsdk_ctx *c, tfsdk_gradcall *g, tfsdk_val dx, tfsdk_val dy) {
  if (dx.id != 0) TFSDK_TRY(tfsdk_set_dx(g, 0, tfsdk_sum_like(c, dx, tfsdk_input(g, 0))));
  if (dy.id != 0) TFSDK_TRY(tfsdk_set_dx(g, 1, tfsdk_sum_like(c, dy, tfsdk_input(g, 1))));
  return tfsdk_ctx_error(c);
}

#endif
