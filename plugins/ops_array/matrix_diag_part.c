/* MatrixDiagPart: the diagonals of matrices (see diagonals.h). */
#include "diagonals.h"

static const array_diag_args where = {-1, -1, -1, -1};

static tfsdk_status *infer(tfsdk_infer *c) { return array_diag_part_infer(c, &where); }
static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_diag_part_run(r, &where); }
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_diag_part_grad(c, g, "");
}

static const tfsdk_arg in[] = {{"input", "T", "[..., m, n]: matrices", 0, 0}};
static const tfsdk_arg out[] = {{"diagonal", "T", "[..., min(m, n)]: the main diagonals", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[3,4]", "float32[2,3,2]", "float32[0,3]", NULL};
static const tfsdk_opdef ops[] = {{TFSDK_OP_HEAD("MatrixDiagPart", "the diagonals of matrices"),
                                   .doc = "`y[..., i] = input[..., i, i]`.\n\n"
                                          "Source: TensorFlow `MatrixDiagPart`.",
                                   ARRAY_SCHEMA(in, out, attr), .infer = infer,
                                   .reference = compute, .grad = grad, .grad_shape = 1,
                                   .samples = samples}};
TFSDK_UNIT_OPS(matrix_diag_part, ops);
