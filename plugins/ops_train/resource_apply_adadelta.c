/* ResourceApplyAdadelta and its sparse form (TensorFlow's ops).
 *
 *     accum = rho accum + (1 - rho) grad^2
 *     u = grad sqrt(accum_update + epsilon) / sqrt(accum + epsilon)
 *     accum_update = rho accum_update + (1 - rho) u^2
 *     var -= lr u
 *
 * Zeiler, "ADADELTA: an adaptive learning rate method", arXiv:1212.5701, 2012.
 */
#include "train.h"

enum { LR, RHO, ONE_RHO, EPSILON };
TRAIN_STEP(step, 3, s1 = s1 * k[RHO] + g * g * k[ONE_RHO];
           number u = g * sqrt(s2 + k[EPSILON]) / sqrt(s1 + k[EPSILON]);
           s2 = s2 * k[RHO] + u * u * k[ONE_RHO]; var -= u * k[LR];)

/* var accum accum_update lr rho epsilon grad [indices] */
static tfsdk_status *run(tfsdk_run *r, int sparse) {
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 3),
      [RHO] = train_number(r, 4),
      [ONE_RHO] = 1 - train_number(r, 4),
      [EPSILON] = train_number(r, 5),
  };
  return sparse ? train_sparse(r, &step, 6, 7, k) : train_dense(r, &step, 6, k);
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
  TRAIN_VAR("the variable"), TRAIN_SLOT("accum", "the mean of squared gradients"),                 \
      TRAIN_SLOT("accum_update", "the mean of squared updates"),                                   \
      TRAIN_NUMBER("lr", "the learning rate"), TRAIN_NUMBER("rho", "how much of the means stays"), \
      TRAIN_NUMBER("epsilon", "added under both roots")
static const tfsdk_arg in[] = {STATE, TRAIN_GRAD("grad")};
static const tfsdk_arg in_sparse[] = {STATE, TRAIN_ROWS, TRAIN_INDICES};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const tfsdk_attrdef attr_sparse[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3](0.1,2) ; var:T[2,3](0.1,2) ; T[](0.1,1) ; T[](0.1,0.9) ; "
    "T[](0.01,0.1) ; T[2,3]",
    NULL,
};
static const char *const samples_sparse[] = {
    "var:T[4,3] ; var:T[4,3](0.1,2) ; var:T[4,3](0.1,2) ; T[](0.1,1) ; T[](0.1,0.9) ; "
    "T[](0.01,0.1) ; T[2,3] ; int32{2,0}",
    NULL,
};
#define DOC                                                                                        \
  "`accum = rho * accum + (1 - rho) * grad^2; "                                                    \
  "u = grad * sqrt(accum_update + epsilon) / sqrt(accum + epsilon); "                              \
  "accum_update = rho * accum_update + (1 - rho) * u^2; var -= lr * u`."
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("ResourceApplyAdadelta", "one step of Adadelta"),
        .doc = DOC,
        TRAIN_RECORD(in, attr, compute, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyAdadelta", "one step of Adadelta on some rows"),
        .doc = DOC TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_sparse, attr_sparse, compute_sparse, samples_sparse),
    }};
TFSDK_UNIT_OPS(resource_apply_adadelta, ops);
