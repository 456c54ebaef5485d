/* MatrixDiagV2: matrices with given diagonals (see diagonals.h). */
#include "diagonals.h"

static const array_diag_args where = {1, 2, 3, 4};

static tfsdk_status *infer(tfsdk_infer *c) { return array_diag_make_infer(c, &where); }
static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_diag_make_run(r, &where); }
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_diag_make_grad(c, g, "V2");
}

static const tfsdk_arg in[] = {
    {"diagonal", "T", "[..., longest], or [..., diagonals, longest]", 0, 0},
    ARRAY_DIAG_K("diagonal"),
    {"num_rows", "int32", "scalar: rows of the matrices; -1: as few as possible", ARRAY_SHAPE_ARG,
     0},
    {"num_cols", "int32", "scalar: columns, likewise; both -1: square", ARRAY_SHAPE_ARG, 0},
    {"padding_value", "T", "scalar: what stands elsewhere; no gradient", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"output", "T", "[..., rows, columns]: matrices", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {
    "T[3] ; int32(1) ; int32(-1) ; int32(-1) ; T[]",
    "float32[2,3,3] ; int32{-1,1} ; int32(3) ; int32(-1) ; float32(9)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MatrixDiagV2", "matrices with given diagonals"),
     .doc = "Diagonals `k[0]` to `k[1]` (k one number: just that one) come from the rows of "
            "`diagonal`, the uppermost first; `padding_value` stands elsewhere. Short diagonals "
            "stand at the left of their row.\n\n"
            "Source: TensorFlow `MatrixDiagV2`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 14, .infer = infer, .reference = compute,
     .grad = grad, .grad_in = 2, .samples = samples}};
TFSDK_UNIT_OPS(matrix_diag_v2, ops);
