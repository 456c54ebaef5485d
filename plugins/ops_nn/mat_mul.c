/* MatMul: c[i, j] = sum over k of a[i, k] * b[k, j], with either matrix transposed on the way.
 *
 * Gradient (matrix calculus): dA = dC B', dB = A' dC, transposed where a or b was. It is made of
 * MatMul, so it has gradients of every order. An inner extent of 0 gives zeros. */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>
#include <tfsdk/rewrite.h>
#include "gemm.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape a, b;
  int ta = tfsdk_attr_int(&c->attr, "transpose_a") != 0;
  int tb = tfsdk_attr_int(&c->attr, "transpose_b") != 0;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 2, &a));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 2, &b));
  int64_t ka = a.dim[ta ? 0 : 1], kb = b.dim[tb ? 1 : 0];
  TFSDK_REQUIRE(c, ka < 0 || kb < 0 || ka == kb,
                "'a' %s%s and 'b' %s%s do not fit: the inner extents %lld and %lld must be equal",
                tfsdk_shape_text(&a).s, ta ? " transposed" : "", tfsdk_shape_text(&b).s,
                tb ? " transposed" : "", (long long)ka, (long long)kb);
  c->out[0].shape = tfsdk_shape_of_rank(2);
  c->out[0].shape.dim[0] = a.dim[ta ? 1 : 0];
  c->out[0].shape.dim[1] = b.dim[tb ? 0 : 1];
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *a = &r->in[0], *b = &r->in[1];
  nn_gemm g = {.m = r->out[0].dim[0],
               .n = r->out[0].dim[1],
               .transpose_a = tfsdk_attr_int(&r->attr, "transpose_a") != 0,
               .transpose_b = tfsdk_attr_int(&r->attr, "transpose_b") != 0,
               .a_dtype = a->dtype,
               .b_dtype = b->dtype,
               .c_dtype = r->out[0].dtype};
  void *work;
  (void)state;
  g.k = a->dim[g.transpose_a ? 0 : 1];
  TFSDK_TRY(nn_gemm_workspace(r, &g, &work));
  nn_gemm_run(&g, a->data, 0, b->data, 0, r->out[0].data, 0, work);
  return NULL;
}

static tfsdk_val product(tfsdk_ctx *c, tfsdk_val a, int ta, tfsdk_val b, int tb) {
  tfsdk_val in[2] = {a, b};
  tfsdk_attrval attr[2] = {tfsdk_a_bool("transpose_a", ta), tfsdk_a_bool("transpose_b", tb)};
  return tfsdk_emit(c, "MatMul", in, 2, attr, 2);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  int ta = tfsdk_attr_int(&g->attr, "transpose_a") != 0;
  int tb = tfsdk_attr_int(&g->attr, "transpose_b") != 0;
  tfsdk_val dy = tfsdk_dy(g, 0);
  if (tfsdk_wants(g, 0)) {
    tfsdk_val b = tfsdk_input(g, 1);
    TFSDK_TRY(tfsdk_set_dx(g, 0, ta ? product(c, b, tb, dy, 1) : product(c, dy, 0, b, !tb)));
  }
  if (tfsdk_wants(g, 1)) {
    tfsdk_val a = tfsdk_input(g, 0);
    TFSDK_TRY(tfsdk_set_dx(g, 1, tb ? product(c, dy, 1, a, ta) : product(c, a, !ta, dy, 0)));
  }
  return NULL;
}

static const tfsdk_arg in[] = {{"a", "T", "a matrix [m, k] ([k, m] with transpose_a)", 0, 0},
                               {"b", "T", "a matrix [k, n] ([n, k] with transpose_b)", 0, 0}};
static const tfsdk_arg out[] = {{"product", "T", "the matrix [m, n]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"transpose_a", "bool", "false", "use the transpose of `a`", 0, 0},
    {"transpose_b", "bool", "false", "use the transpose of `b`", 0, 0},
    {"T", "dtype{float16,bfloat16,float32,float64,int32,int64,uint8,uint16,uint32,uint64}", NULL,
     "the elements' type", 0, 0},
    {"grad_a", "bool", "false", "accepted for TensorFlow's sake; has no effect", 0, 0},
    {"grad_b", "bool", "false", "accepted for TensorFlow's sake; has no effect", 0, 0}};
static const char *const samples[] = {"T[3,4] ; T[4,2]",
                                      "T[4,3] ; T[4,2] | transpose_a=true",
                                      "T[3,4] ; T[2,4] | transpose_b=true",
                                      "T[4,3] ; T[2,4] | transpose_a=true ; transpose_b=true",
                                      "float32[33,70] ; float32[70,65]",
                                      "T[2,0] ; T[0,3]",
                                      "T[0,3] ; T[3,2]",
                                      NULL};

/* A transposed factor is read as it was, with the flag turned. */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  tfsdk_val a = w->in[0], b = w->in[1];
  int ta = tfsdk_attr_int(&w->attr, "transpose_a") != 0;
  int tb = tfsdk_attr_int(&w->attr, "transpose_b") != 0;
  if (tfsdk_untransposed(c, w, w->in[0], &a)) ta = !ta;
  if (tfsdk_untransposed(c, w, w->in[1], &b)) tb = !tb;
  if (a.id == w->in[0].id && b.id == w->in[1].id) return NULL;
  return tfsdk_set_rewritten(w, 0, product(c, a, ta, b, tb));
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MatMul", "the product of two matrices"),
     .doc = "`product[i, j] = sum over k of a[i, k] * b[k, j]`. With `transpose_a` or "
            "`transpose_b` the matrix is transposed first.\n\n"
            "Floats are summed in double precision by the reference kernel; integers wrap. If the "
            "inner extent is 0 the product is zeros. Inner extents that differ are an error.",
     .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 3,
     .rewrite = rewrite, .samples = samples}};
TFSDK_UNIT_OPS(mat_mul, ops);
