/* ResourceApplyProximalAdagrad and its sparse form (TensorFlow's ops).
 *
 *     accum += grad^2;  a = lr / sqrt(accum);  p = var - a grad
 *     var = sign(p) max(|p| - a l1, 0) / (1 + a l2)
 *
 * Duchi and Singer, "Efficient online and batch learning using forward backward splitting", JMLR
 * 10, 2009, with Adagrad's rates.
 */
#include "train.h"

enum { LR, L1, L2 };
TRAIN_STEP(step, 2, s1 += g * g; number a = k[LR] / sqrt(s1); number p = var - a * g;
           number over = fabs(p) - a * k[L1]; over = over > 0 ? over : 0;
           var = TRAIN_SIGN(p) * over / (1 + a * k[L2]);)

/* var accum lr l1 l2 grad [indices] */
static tfsdk_status *run(tfsdk_run *r, int sparse) {
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 2),
      [L1] = train_number(r, 3),
      [L2] = train_number(r, 4),
  };
  return sparse ? train_sparse(r, &step, 5, 6, k) : train_dense(r, &step, 5, k);
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
  TRAIN_VAR("the variable"), TRAIN_SLOT("accum", "the sum of squared gradients, positive"),        \
      TRAIN_NUMBER("lr", "the learning rate"),                                                     \
      TRAIN_NUMBER("l1", "strength of the absolute penalty"),                                      \
      TRAIN_NUMBER("l2", "strength of the squared penalty")
static const tfsdk_arg in[] = {STATE, TRAIN_GRAD("grad")};
static const tfsdk_arg in_sparse[] = {STATE, TRAIN_ROWS, TRAIN_INDICES};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const tfsdk_attrdef attr_sparse[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3](0.1,2) ; T[](0.1,1) ; T[](0,0.5) ; T[](0,0.5) ; T[2,3]",
    NULL,
};
static const char *const samples_sparse[] = {
    "var:T[4,3] ; var:T[4,3](0.1,2) ; T[](0.1,1) ; T[](0,0.5) ; T[](0,0.5) ; T[2,3] ; int32{2,0}",
    NULL,
};
#define DOC                                                                                        \
  "`accum += grad^2; a = lr / sqrt(accum); p = var - a * grad; "                                   \
  "var = sign(p) * max(abs(p) - a * l1, 0) / (1 + a * l2)`."
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("ResourceApplyProximalAdagrad", "one step of proximal Adagrad"),
        .doc = DOC,
        TRAIN_RECORD(in, attr, compute, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyProximalAdagrad",
                      "one step of proximal Adagrad on some rows"),
        .doc = DOC TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_sparse, attr_sparse, compute_sparse, samples_sparse),
    }};
TFSDK_UNIT_OPS(resource_apply_proximal_adagrad, ops);
