/* BatchMatMulV2: matrix products along equal or broadcast batch axes. Gradients are made of
 * BatchMatMulV2, summed over what was broadcast. */
#include <tfsdk/unit.h>
#include <tfsdk/rewrite.h>
#include "batch_gemm.h"

static tfsdk_status *infer(tfsdk_infer *c) { return nn_batch_gemm_infer(c, 1); }

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return nn_batch_gemm_compute(r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) { return nn_batch_gemm_grad(c, g, 1); }

static const tfsdk_arg in[] = {{"x", "T", "matrices [..., m, k] ([..., k, m] with adj_x)", 0, 0},
                               {"y", "T", "matrices [..., k, n] ([..., n, k] with adj_y)", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "matrices [..., m, n]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64,int16,int32,int64,uint8,uint16,uint32,uint64}",
     NULL, "the elements' type", 0, 0},
    {"adj_x", "bool", "false",
     "use the adjoint (for real numbers: the transpose) of each matrix of `x`", 0, 0},
    {"adj_y", "bool", "false", "use the adjoint of each matrix of `y`", 0, 0},
    {"grad_x", "bool", "false", "accepted for TensorFlow's sake; has no effect", 0, 0},
    {"grad_y", "bool", "false", "accepted for TensorFlow's sake; has no effect", 0, 0}};
static const char *const samples[] = {"T[2,3,4] ; T[2,4,5]",
                                      "T[2,4,3] ; T[2,4,2] | adj_x=true",
                                      "T[2,3,4] ; T[2,2,4] | adj_y=true",
                                      "T[2,4,3] ; T[2,2,4] | adj_x=true ; adj_y=true",
                                      "T[3,4] ; T[2,4,2]",
                                      "T[2,1,3,2] ; T[1,3,2,4]",
                                      "T[0,2,3] ; T[1,3,2]",
                                      "T[2,3,0] ; T[2,0,2]",
                                      "T[0,2,3] ; T[0,3,2]",
                                      NULL};

/* Factors whose matrices were transposed are read as they were, with the flag turned. */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  tfsdk_val factor[2] = {w->in[0], w->in[1]};
  int adj_x = tfsdk_attr_int(&w->attr, "adj_x") != 0,
      adj_y = tfsdk_attr_int(&w->attr, "adj_y") != 0;
  if (tfsdk_untransposed(c, w, w->in[0], &factor[0])) adj_x = !adj_x;
  if (tfsdk_untransposed(c, w, w->in[1], &factor[1])) adj_y = !adj_y;
  if (factor[0].id == w->in[0].id && factor[1].id == w->in[1].id) return NULL;
  tfsdk_attrval flags[2] = {tfsdk_a_bool("adj_x", adj_x), tfsdk_a_bool("adj_y", adj_y)};
  return tfsdk_set_rewritten(w, 0, tfsdk_emit(c, "BatchMatMulV2", factor, 2, flags, 2));
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BatchMatMulV2", "products of matrices, batch axes broadcast"),
     .doc = "`output[..., i, j] = sum over k of x[..., i, k] * y[..., k, j]`. The axes before the "
            "last two are broadcast by NumPy's rule. Summation and empty matrices as in MatMul.",
     .in = in, .n_in = 2, .out = out, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer, .reference = compute, .grad = grad, .grad_in = 3, .rewrite = rewrite,
     .samples = samples}};
TFSDK_UNIT_OPS(batch_mat_mul_v2, ops);
