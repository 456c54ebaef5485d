/* MatrixSetDiagV3: matrices with their diagonals replaced (see diagonals.h). */
#include "diagonals.h"

static const array_diag_args where = {2, -1, -1, -1};

static tfsdk_status *infer(tfsdk_infer *c) { return array_diag_set_infer(c, &where); }
static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_diag_set_run(r, &where); }
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_diag_set_grad(c, g, "V3");
}

static const tfsdk_arg in[] = {
    {"input", "T", "[..., m, n]: matrices", 0, 0},
    {"diagonal", "T", "[..., longest], or [..., diagonals, longest]: the new diagonals", 0, 0},
    ARRAY_DIAG_K("diagonal")};
static const tfsdk_arg out[] = {{"output", "T", "of input's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0},
                                     ARRAY_DIAG_ALIGN};
static const char *const samples[] = {
    "T[3,4] ; T[3] ; int32(1)", "float32[2,3,3] ; float32[2,3,3] ; int32{-1,1}",
    "float32[4,3] ; float32[4,3] ; int32{-2,1} | align=RIGHT_RIGHT", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MatrixSetDiagV3", "matrices with their diagonals replaced"),
     .doc = "`input` with the diagonals of `diagonal`, which are packed as `MatrixDiagPartV3` "
            "gives them.\n\n"
            "Source: TensorFlow `MatrixSetDiagV3`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 4, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 4, .grad_shape = 2, .samples = samples}};
TFSDK_UNIT_OPS(matrix_set_diag_v3, ops);
