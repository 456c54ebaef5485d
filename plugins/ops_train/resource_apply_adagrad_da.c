/* ResourceApplyAdagradDA and its sparse form (TensorFlow's ops): Adagrad by dual averaging.
 *
 *     ga += grad;  gga += grad^2
 *     u = sign(ga) max(|ga| - l1 step, 0)
 *     var = -lr u / (l2 step lr + sqrt(gga))
 *
 * Duchi, Hazan, Singer, "Adaptive subgradient methods", JMLR 12, 2011. `global_step` counts from 1.
 * The variable's old value plays no part.
 */
#include "train.h"

enum { LR, L1_STEP, L2_STEP_LR };
TRAIN_STEP(step, 3, s1 += g; s2 += g * g; number over = fabs(s1) - k[L1_STEP];
           over = over > 0 ? over : 0;
           var = -k[LR] * TRAIN_SIGN(s1) * over / (k[L2_STEP_LR] + sqrt(s2));)

/* Dense: the three variables, grad, numbers; sparse: indices follow grad. */
static tfsdk_status *run(tfsdk_run *r, int sparse) {
  uint32_t at = sparse ? 5 : 4;
  double count = (double)tfsdk_view_int(&r->in[at + 3], 0);
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, at),
      [L1_STEP] = train_number(r, at + 1) * count,
      [L2_STEP_LR] = train_number(r, at + 2) * count * train_number(r, at),
  };
  return sparse ? train_sparse(r, &step, 3, 4, k) : train_dense(r, &step, 3, k);
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, 0);
}
static tfsdk_status *compute_sparse(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, 1);
}

#define STATE                                                                                      \
  TRAIN_VAR("the variable"), TRAIN_SLOT("gradient_accumulator", "the sum of gradients"),           \
      TRAIN_SLOT("gradient_squared_accumulator", "the sum of squared gradients")
#define NUMBERS                                                                                    \
  TRAIN_NUMBER("lr", "the learning rate"), TRAIN_NUMBER("l1", "strength of the absolute penalty"), \
      TRAIN_NUMBER("l2", "strength of the squared penalty"), {                                     \
    "global_step", "int64", "a scalar: the number of this step, from 1", 0, 0                      \
  }
static const tfsdk_arg in[] = {STATE, TRAIN_GRAD("grad"), NUMBERS};
static const tfsdk_arg in_sparse[] = {STATE, TRAIN_ROWS, TRAIN_INDICES, NUMBERS};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const tfsdk_attrdef attr_sparse[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3] ; var:T[2,3](0.1,2) ; T[2,3] ; T[](0.1,1) ; T[](0,0.1) ; T[](0,0.1) ; "
    "int64(3)",
    NULL,
};
static const char *const samples_sparse[] = {
    "var:T[4,3] ; var:T[4,3] ; var:T[4,3](0.1,2) ; T[2,3] ; int32{2,0} ; T[](0.1,1) ; T[](0,0.1) ; "
    "T[](0,0.1) ; int64(3)",
    NULL,
};
#define DOC                                                                                        \
  "With `ga` and `gga` for the two accumulators: `ga += grad; gga += grad^2; "                     \
  "var = -lr * sign(ga) * max(abs(ga) - l1 * global_step, 0) / "                                   \
  "(l2 * global_step * lr + sqrt(gga))`."
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("ResourceApplyAdagradDA", "one step of Adagrad by dual averaging"),
        .doc = DOC,
        TRAIN_RECORD(in, attr, compute, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyAdagradDA",
                      "one step of Adagrad by dual averaging on some rows"),
        .doc = DOC TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_sparse, attr_sparse, compute_sparse, samples_sparse),
    }};
TFSDK_UNIT_OPS(resource_apply_adagrad_da, ops);
