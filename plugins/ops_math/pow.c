/* Pow: z = x^y. Integers by repeated squaring, wrapping around; a negative exponent is an error for
 * them. dx = y x^(y - 1) dz; dy = ln(x) z dz where x > 0, else 0 (the function of y has no
 * derivative there). */
#include <tfsdk/elementwise.h>
#include <tfsdk/rewrite.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_BINARY(compute_float, TFSDK_EW_FLOATS, pow(a, b))

static inline uint64_t power(uint64_t x, uint64_t n) {
  uint64_t y = 1;
  for (; n != 0; n >>= 1) {
    if (n & 1) y *= x;
    x *= x;
  }
  return y;
}
/* Modulo 2^64 and then 2^n: sign extension of x keeps the low bits right. */
TFSDK_BINARY(compute_int, TFSDK_EW_INTS, power((uint64_t)a, (uint64_t)b))

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  char kind = tfsdk_dtype_kind(r->in[0].dtype);
  if (kind == 'f') return compute_float(state, r);
  for (int64_t i = 0; kind == 'i' && r->out[0].n_elem > 0 && i < r->in[1].n_elem; i++)
    TFSDK_REQUIRE(r, tfsdk_view_int(&r->in[1], i) >= 0,
                  "integers to negative powers are not integers: the exponent is %lld",
                  (long long)tfsdk_view_int(&r->in[1], i));
  return compute_int(state, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val dx = tfsdk_none(), dy = tfsdk_none();
  if (tfsdk_wants(g, 0)) {
    tfsdk_val below = tfsdk_emit2(c, "Pow", x, v_plus(c, y, -1));
    dx = v_mul(c, dz, v_mul(c, y, below));
  }
  if (tfsdk_wants(g, 1)) { /* the logarithm sees 1 where its value is not taken */
    tfsdk_val ok = tfsdk_emit2(c, "Greater", x, v_num(c, x, 0));
    tfsdk_val safe = tfsdk_emit3(c, "SelectV2", ok, x, v_num(c, x, 1));
    tfsdk_val ln = v_where(c, ok, tfsdk_emit1(c, "Log", safe));
    dy = v_mul(c, dz, v_mul(c, tfsdk_output(g, 0), ln));
  }
  return v_set_dx2(c, g, dx, dy);
}

static const char *const samples[] = {"T[2,3](0.3,2) ; T[2,3](0,3)",
                                      "T[2,1,3](0.3,2) ; T[4,1](0,3)",
                                      "nograd float32{-2,-1,0} ; float32{3,2,0}", NULL};
/* x^1 = x; of floats, x^2 = x * x */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  if (!tfsdk_covers(c, w->in[0], w->in[1])) return NULL;
  if (tfsdk_all_are(c, w->in[1], 1)) return tfsdk_set_rewritten(w, 0, w->in[0]);
  if (tfsdk_all_are(c, w->in[1], 2) && tfsdk_dtype_kind(tfsdk_type(c, w->in[0]).dtype) == 'f')
    return tfsdk_set_rewritten(w, 0, tfsdk_emit1(c, "Square", w->in[0]));
  return NULL;
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Pow", "x to the power of y"), TFSDK_EW_BINARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc =
         "z = x^y as the C library's pow defines it. Integer powers wrap around, and a negative "
         "integer exponent is an error. dx = y x^(y - 1) dz; dy = ln(x) z dz where x > 0, else 0.",
     .reference = compute, .grad = grad, .grad_in = 3, .grad_out = 1, .rewrite = rewrite,
     .samples = samples},
};
TFSDK_UNIT_OPS(pow, ops);
