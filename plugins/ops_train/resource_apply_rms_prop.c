/* ResourceApplyRMSProp, ResourceApplyCenteredRMSProp and their sparse forms (TensorFlow's ops).
 *
 *     ms = rho ms + (1 - rho) grad^2
 *     centered: mg = rho mg + (1 - rho) grad, d = ms - mg^2 + epsilon;  else d = ms + epsilon
 *     mom = momentum mom + lr grad / sqrt(d)
 *     var -= mom
 *
 * Tieleman and Hinton, "Neural networks for machine learning", lecture 6.5, 2012; centered: Graves,
 * "Generating sequences with recurrent neural networks", arXiv:1308.0850, 2013. epsilon is inside
 * the root.
 */
#include "train.h"

enum { LR, ONE_RHO, MOMENTUM, EPSILON };
TRAIN_STEP(plain, 3, s1 += (g * g - s1) * k[ONE_RHO];
           s2 = s2 * k[MOMENTUM] + k[LR] * g / sqrt(s1 + k[EPSILON]); var -= s2;)
/* s1 is mg, s2 ms, s3 mom. */
TRAIN_STEP(centered, 4, s2 += (g * g - s2) * k[ONE_RHO]; s1 += (g - s1) * k[ONE_RHO];
           s3 = s3 * k[MOMENTUM] + k[LR] * g / sqrt(s2 - s1 * s1 + k[EPSILON]); var -= s3;)

/* var [mg] ms mom lr rho momentum epsilon grad [indices] */
static tfsdk_status *run(tfsdk_run *r, const train_step *step, int sparse) {
  uint32_t at = step->n_state;
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, at),
      [ONE_RHO] = 1 - train_number(r, at + 1),
      [MOMENTUM] = train_number(r, at + 2),
      [EPSILON] = train_number(r, at + 3),
  };
  return sparse ? train_sparse(r, step, at + 4, at + 5, k) : train_dense(r, step, at + 4, k);
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &plain, 0);
}
static tfsdk_status *compute_sparse(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &plain, 1);
}
static tfsdk_status *compute_centered(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &centered, 0);
}
static tfsdk_status *compute_centered_sparse(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &centered, 1);
}

#define NUMBERS                                                                                    \
  TRAIN_SLOT("ms", "the mean of squared gradients"), TRAIN_SLOT("mom", "the velocity"),            \
      TRAIN_NUMBER("lr", "the learning rate"), TRAIN_NUMBER("rho", "how much of the means stays"), \
      TRAIN_NUMBER("momentum", "how much of the velocity stays"),                                  \
      TRAIN_NUMBER("epsilon", "added under the root")
#define STATE          TRAIN_VAR("the variable"), NUMBERS
#define STATE_CENTERED TRAIN_VAR("the variable"), TRAIN_SLOT("mg", "the mean of gradients"), NUMBERS
static const tfsdk_arg in[] = {STATE, TRAIN_GRAD("grad")};
static const tfsdk_arg in_sparse[] = {STATE, TRAIN_ROWS, TRAIN_INDICES};
static const tfsdk_arg in_centered[] = {STATE_CENTERED, TRAIN_GRAD("grad")};
static const tfsdk_arg in_centered_sparse[] = {STATE_CENTERED, TRAIN_ROWS, TRAIN_INDICES};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const tfsdk_attrdef attr_sparse[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3](0.1,2) ; var:T[2,3] ; T[](0.1,1) ; T[](0.1,0.9) ; T[](0.1,0.9) ; "
    "T[](0.01,0.1) ; T[2,3]",
    NULL,
};
static const char *const samples_sparse[] = {
    "var:T[4,3] ; var:T[4,3](0.1,2) ; var:T[4,3] ; T[](0.1,1) ; T[](0.1,0.9) ; T[](0.1,0.9) ; "
    "T[](0.01,0.1) ; T[2,3] ; int32{2,0}",
    NULL,
};
static const char *const samples_centered[] = {
    "var:T[2,3] ; var:T[2,3](0.1,0.5) ; var:T[2,3](1,2) ; var:T[2,3] ; T[](0.1,1) ; T[](0.1,0.9) ; "
    "T[](0.1,0.9) ; T[](0.01,0.1) ; T[2,3]",
    NULL,
};
static const char *const samples_centered_sparse[] = {
    "var:T[4,3] ; var:T[4,3](0.1,0.5) ; var:T[4,3](1,2) ; var:T[4,3] ; T[](0.1,1) ; T[](0.1,0.9) ; "
    "T[](0.1,0.9) ; T[](0.01,0.1) ; T[2,3] ; int32{2,0}",
    NULL,
};
#define DOC                                                                                        \
  "`ms = rho * ms + (1 - rho) * grad^2; mom = momentum * mom + lr * grad / sqrt(ms + epsilon); "   \
  "var -= mom`."
#define DOC_CENTERED                                                                               \
  "`ms = rho * ms + (1 - rho) * grad^2; mg = rho * mg + (1 - rho) * grad; "                        \
  "mom = momentum * mom + lr * grad / sqrt(ms - mg^2 + epsilon); var -= mom`."
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("ResourceApplyRMSProp", "one step of RMSProp"),
        .doc = DOC,
        TRAIN_RECORD(in, attr, compute, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyRMSProp", "one step of RMSProp on some rows"),
        .doc = DOC TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_sparse, attr_sparse, compute_sparse, samples_sparse),
    },
    {
        TFSDK_OP_HEAD("ResourceApplyCenteredRMSProp", "one step of centered RMSProp"),
        .doc = DOC_CENTERED,
        TRAIN_RECORD(in_centered, attr, compute_centered, samples_centered),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyCenteredRMSProp",
                      "one step of centered RMSProp on some rows"),
        .doc = DOC_CENTERED TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_centered_sparse, attr_sparse, compute_centered_sparse,
                     samples_centered_sparse),
    }};
TFSDK_UNIT_OPS(resource_apply_rms_prop, ops);
