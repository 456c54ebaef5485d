/* SparseMatMul: MatMul of matrices that are float32 or bfloat16 each, with a float32 product.
 * The hints a_is_sparse and b_is_sparse promise zeros; they change no value. The gradient is
 * that of MatMul in float32. */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>
#include "gemm.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape a = tfsdk_shape_unknown(), b = tfsdk_shape_unknown();
  int ta = tfsdk_attr_int(&c->attr, "transpose_a") != 0;
  int tb = tfsdk_attr_int(&c->attr, "transpose_b") != 0;
  int64_t k;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 2, &a));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 2, &b));
  TFSDK_TRY(tfsdk_merge_dim(c, a.dim[ta ? 0 : 1], b.dim[tb ? 1 : 0],
                            "the inner extents of 'a' and 'b'", &k));
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

static tfsdk_val as_float(tfsdk_ctx *c, tfsdk_val v, int32_t to) {
  tfsdk_attrval dst = tfsdk_a_dtype("DstT", to);
  return tfsdk_type(c, v).dtype == to ? v : tfsdk_emit(c, "Cast", &v, 1, &dst, 1);
}

static tfsdk_val product(tfsdk_ctx *c, tfsdk_val a, int ta, tfsdk_val b, int tb) {
  tfsdk_val in[2] = {as_float(c, a, TFSDK_FLOAT32), as_float(c, b, TFSDK_FLOAT32)};
  tfsdk_attrval attr[2] = {tfsdk_a_bool("transpose_a", ta), tfsdk_a_bool("transpose_b", tb)};
  return tfsdk_emit(c, "MatMul", in, 2, attr, 2);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  int ta = tfsdk_attr_int(&g->attr, "transpose_a") != 0;
  int tb = tfsdk_attr_int(&g->attr, "transpose_b") != 0;
  tfsdk_val dy = tfsdk_dy(g, 0), a = tfsdk_input(g, 0), b = tfsdk_input(g, 1), d;
  if (tfsdk_wants(g, 0)) {
    d = ta ? product(c, b, tb, dy, 1) : product(c, dy, 0, b, !tb);
    TFSDK_TRY(tfsdk_set_dx(g, 0, as_float(c, d, tfsdk_type(c, a).dtype)));
  }
  if (tfsdk_wants(g, 1)) {
    d = tb ? product(c, dy, 1, a, ta) : product(c, a, !ta, dy, 0);
    TFSDK_TRY(tfsdk_set_dx(g, 1, as_float(c, d, tfsdk_type(c, b).dtype)));
  }
  return NULL;
}

static const tfsdk_arg in[] = {{"a", "Ta", "a matrix [m, k] ([k, m] with transpose_a)", 0, 0},
                               {"b", "Tb", "a matrix [k, n] ([n, k] with transpose_b)", 0, 0}};
static const tfsdk_arg out[] = {{"product", "float32", "the matrix [m, n]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"transpose_a", "bool", "false", "use the transpose of `a`", 0, 0},
    {"transpose_b", "bool", "false", "use the transpose of `b`", 0, 0},
    {"a_is_sparse", "bool", "false", "`a` is mostly zeros; has no effect on values", 0, 0},
    {"b_is_sparse", "bool", "false", "`b` is mostly zeros; has no effect on values", 0, 0},
    {"Ta", "dtype{float32,bfloat16}", NULL, "the type of `a`", 0, 0},
    {"Tb", "dtype{float32,bfloat16}", NULL, "the type of `b`", 0, 0}};
static const char *const samples[] = {"float32[3,4] ; float32[4,2] | a_is_sparse=true",
                                      "bfloat16[4,3] ; float32[4,2] | transpose_a=true",
                                      "float32[3,4] ; bfloat16[2,4] | transpose_b=true", NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SparseMatMul", "the product of two matrices that are mostly zeros"),
     .doc = "MatMul in float32 of float32 or bfloat16 matrices. The hints about sparsity change no "
            "value.",
     .in = in, .n_in = 2, .out = out, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer, .reference = compute, .grad = grad, .grad_in = 3, .samples = samples}};
TFSDK_UNIT_OPS(sparse_mat_mul, ops);
