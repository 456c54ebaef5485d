/* MatrixDiagPartV3: the diagonals of matrices (see diagonals.h). */
#include "diagonals.h"

static const array_diag_args where = {1, -1, -1, 2};

static tfsdk_status *infer(tfsdk_infer *c) { return array_diag_part_infer(c, &where); }
static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_diag_part_run(r, &where); }
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_diag_part_grad(c, g, "V3");
}

static const tfsdk_arg in[] = {{"input", "T", "[..., m, n]: matrices", 0, 0},
                               ARRAY_DIAG_K("output"),
                               {"padding_value", "T",
                                "scalar: what fills the rows of short diagonals; no gradient",
                                TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"diagonal", "T", "[..., longest], or [..., diagonals, longest]", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0},
                                     ARRAY_DIAG_ALIGN};
static const char *const samples[] = {
    "T[3,4] ; int32(1) ; T[]", "float32[2,3,3] ; int32{-1,1} ; float32(9)",
    "float32[4,3] ; int32{-2,1} ; float32(0) | align=LEFT_LEFT", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MatrixDiagPartV3", "the diagonals of matrices"),
     .doc = "Diagonals `k[0]` to `k[1]` (k one number: just that one) become the rows of the "
            "output, the uppermost first; `padding_value` fills short ones up. `align` says where "
            "they stand in their row.\n\n"
            "Source: TensorFlow `MatrixDiagPartV3`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 2, .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(matrix_diag_part_v3, ops);
