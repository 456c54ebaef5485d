/* MatrixDiag: matrices with given diagonals (see diagonals.h). */
#include "diagonals.h"

static const array_diag_args where = {-1, -1, -1, -1};

static tfsdk_status *infer(tfsdk_infer *c) { return array_diag_make_infer(c, &where); }
static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_diag_make_run(r, &where); }
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_diag_make_grad(c, g, "");
}

static const tfsdk_arg in[] = {{"diagonal", "T", "[..., n]: diagonals", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "[..., rows, columns]: matrices", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[3]", "float32[2,3]", "float32[2,0]", NULL};
static const tfsdk_opdef ops[] = {{TFSDK_OP_HEAD("MatrixDiag", "matrices with given diagonals"),
                                   .doc = "`y[..., i, i] = diagonal[..., i]`, zeros elsewhere.\n\n"
                                          "Source: TensorFlow `MatrixDiag`.",
                                   ARRAY_SCHEMA(in, out, attr), .infer = infer,
                                   .reference = compute, .grad = grad, .samples = samples}};
TFSDK_UNIT_OPS(matrix_diag, ops);
