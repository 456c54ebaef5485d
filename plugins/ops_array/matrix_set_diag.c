/* MatrixSetDiag: matrices with their diagonals replaced (see diagonals.h). */
#include "diagonals.h"

static const array_diag_args where = {-1, -1, -1, -1};

static tfsdk_status *infer(tfsdk_infer *c) { return array_diag_set_infer(c, &where); }
static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_diag_set_run(r, &where); }
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) { return array_diag_set_grad(c, g, ""); }

static const tfsdk_arg in[] = {
    {"input", "T", "[..., m, n]: matrices", 0, 0},
    {"diagonal", "T", "[..., min(m, n)]: their new main diagonals", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of input's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[3,4] ; T[3]", "float32[2,3,2] ; float32[2,2]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MatrixSetDiag", "matrices with their diagonals replaced"),
     .doc = "`input` with the diagonals of `diagonal`, which are packed as `MatrixDiagPart` gives "
            "them.\n\n"
            "Source: TensorFlow `MatrixSetDiag`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad,
     .grad_shape = 2, .samples = samples}};
TFSDK_UNIT_OPS(matrix_set_diag, ops);
