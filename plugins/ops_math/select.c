/* Select: TensorFlow 1's choice between two tensors of one shape. The condition has that shape too,
 * or is a scalar, or a vector that chooses whole rows. SelectV2 is the one that broadcasts. */
#include "select.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *condition = &c->in[0].shape;
  tfsdk_shape s = tfsdk_shape_unknown();
  TFSDK_TRY(tfsdk_merge(c, &c->in[1].shape, &c->in[2].shape, "t and e", &s));
  if (condition->rank > 0 && s.rank >= 0) {
    if (condition->rank == 1 && s.rank > 1) {
      TFSDK_TRY(tfsdk_merge_dim(c, s.dim[0], condition->dim[0],
                                "rows of t and elements of the condition", &s.dim[0]));
    } else {
      TFSDK_TRY(tfsdk_merge(c, &s, condition, "t and the condition", &s));
    }
  } else if (condition->rank > 1) {
    s = *condition;
  }
  c->out[0].shape = s;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_view in[3];
  int64_t dim[TFSDK_MAX_RANK];
  (void)state;
  memcpy(in, r->in, sizeof in);
  if (in[0].rank == 1 && in[1].rank > 1) { /* a choice of rows: a column that broadcasts */
    for (int32_t d = 0; d < in[1].rank; d++) dim[d] = d == 0 ? in[0].dim[0] : 1;
    in[0].dim = dim;
    in[0].rank = in[1].rank;
  }
  return select_run(r, in);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val condition = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0);
  tfsdk_val zero = tfsdk_emit1(c, "ZerosLike", dy);
  TFSDK_TRY(tfsdk_set_dx(g, 1, tfsdk_emit3(c, "Select", condition, dy, zero)));
  return tfsdk_set_dx(g, 2, tfsdk_emit3(c, "Select", condition, zero, dy));
}

static const tfsdk_arg in[] = {
    {"condition", "bool", "t's shape, a scalar, or a vector with an element for each row of t",
     TFSDK_ARG_NONDIFF, 0},
    {"t", "T", "taken where the condition holds", 0, 0},
    {"e", "T", "taken elsewhere; of t's shape", 0, 0},
};
static const tfsdk_arg out[] = {{"output", "T", "of t's shape", 0, 0}};
static const char *const samples[] = {"bool[2,3] ; T[2,3] ; T[2,3]", "bool[2] ; T[2,3] ; T[2,3]",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Select", "t where the condition holds, else e, without broadcasting"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), TFSDK_EW_T(TFSDK_T_ANY),
     .infer = infer,
     .doc = "Chooses element by element, or row by row if the condition is a vector and t is not. "
            "The branch that is not taken gets a gradient of exactly zero.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(select, ops);
