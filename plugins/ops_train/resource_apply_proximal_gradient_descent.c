/* ResourceApplyProximalGradientDescent and its sparse form (TensorFlow's ops).
 *
 *     p = var - alpha delta
 *     var = sign(p) max(|p| - alpha l1, 0) / (1 + alpha l2)
 *
 * Duchi and Singer, "Efficient online and batch learning using forward backward splitting", JMLR
 * 10, 2009.
 */
#include "train.h"

enum { ALPHA, ALPHA_L1, DIVISOR };
TRAIN_STEP(step, 1, number p = var - k[ALPHA] * g; number over = fabs(p) - k[ALPHA_L1];
           over = over > 0 ? over : 0; var = TRAIN_SIGN(p) * over / k[DIVISOR];)

/* var alpha l1 l2 delta [indices] */
static tfsdk_status *run(tfsdk_run *r, int sparse) {
  double alpha = train_number(r, 1);
  const double k[TRAIN_MAX_NUMBERS] = {
      [ALPHA] = alpha,
      [ALPHA_L1] = alpha * train_number(r, 2),
      [DIVISOR] = 1 + alpha * train_number(r, 3),
  };
  return sparse ? train_sparse(r, &step, 4, 5, k) : train_dense(r, &step, 4, k);
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
  TRAIN_VAR("the variable"), TRAIN_NUMBER("alpha", "the learning rate"),                           \
      TRAIN_NUMBER("l1", "strength of the absolute penalty"),                                      \
      TRAIN_NUMBER("l2", "strength of the squared penalty")
static const tfsdk_arg in[] = {STATE, TRAIN_GRAD("delta")};
static const tfsdk_arg in_sparse[] = {STATE, TRAIN_ROWS, TRAIN_INDICES};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const tfsdk_attrdef attr_sparse[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; T[](0.1,1) ; T[](0,0.5) ; T[](0,0.5) ; T[2,3]",
    NULL,
};
static const char *const samples_sparse[] = {
    "var:T[4,3] ; T[](0.1,1) ; T[](0,0.5) ; T[](0,0.5) ; T[2,3] ; int32{2,0}",
    NULL,
};
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("ResourceApplyProximalGradientDescent", "one step of proximal descent"),
        .doc = "`p = var - alpha * delta; "
               "var = sign(p) * max(abs(p) - alpha * l1, 0) / (1 + alpha * l2)`.",
        TRAIN_RECORD(in, attr, compute, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyProximalGradientDescent",
                      "one step of proximal descent on some rows"),
        .doc = "`p = var - alpha * grad; "
               "var = sign(p) * max(abs(p) - alpha * l1, 0) / (1 + alpha * l2)`." TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_sparse, attr_sparse, compute_sparse, samples_sparse),
    }};
TFSDK_UNIT_OPS(resource_apply_proximal_gradient_descent, ops);
