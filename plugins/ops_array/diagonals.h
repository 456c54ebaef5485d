/* diagonals.h - what the MatrixDiag, MatrixDiagPart and MatrixSetDiag ops share, in their three
 * versions.
 *
 * Diagonal d of a matrix holds the elements (i, i + d). The diagonals lower..upper are packed as
 * the rows of [upper - lower + 1, longest], the uppermost first; a single one as a vector. Shorter
 * ones stand at the left or right of their row, as `align` says: the part before '_' for d >= 0,
 * the other for d <= 0; the main diagonal is at the left if either says so. Versions 1 and 2 know
 * LEFT_LEFT only, version 1 the main diagonal only. */
#ifndef OPS_ARRAY_DIAGONALS_H
#define OPS_ARRAY_DIAGONALS_H

#include "array.h"

#define ARRAY_DIAG_ALIGN                                                                           \
  {                                                                                                \
    "align", "string{LEFT_RIGHT,RIGHT_LEFT,LEFT_LEFT,RIGHT_RIGHT}", "RIGHT_LEFT",                  \
        "where short diagonals stand: those from the main one up, and down", 0, 0                  \
  }
#define ARRAY_DIAG_K(who)                                                                          \
  {                                                                                                \
    "k", "int32", "scalar or vector of two: the diagonal, or the lowest and highest, of " who,     \
        ARRAY_SHAPE_ARG, 0                                                                         \
  }

/* Which input holds what; -1: the version has none. */
typedef struct array_diag_args {
  int k, rows, cols, padding;
} array_diag_args;

/* diagonals -> matrices (MatrixDiag) */
tfsdk_status *array_diag_make_infer(tfsdk_infer *c, const array_diag_args *a);
tfsdk_status *array_diag_make_run(tfsdk_run *r, const array_diag_args *a);
/* matrices -> diagonals (MatrixDiagPart) */
tfsdk_status *array_diag_part_infer(tfsdk_infer *c, const array_diag_args *a);
tfsdk_status *array_diag_part_run(tfsdk_run *r, const array_diag_args *a);
/* matrices with other diagonals (MatrixSetDiag): inputs (matrices, diagonals[, k]) */
tfsdk_status *array_diag_set_infer(tfsdk_infer *c, const array_diag_args *a);
tfsdk_status *array_diag_set_run(tfsdk_run *r, const array_diag_args *a);

/* Gradients; version is "", "V2" or "V3". */
tfsdk_status *array_diag_make_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *version);
tfsdk_status *array_diag_part_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *version);
tfsdk_status *array_diag_set_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *version);

#endif
