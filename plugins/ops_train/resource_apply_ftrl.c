/* ResourceApplyFtrl, ResourceApplyFtrlV2 and their sparse forms (TensorFlow's ops): follow the
 * regularised leader.
 *
 *     n = accum + grad^2;  p(x) = x^(-lr_power)
 *     linear += grad + 2 l2_shrinkage var - (p(n) - p(accum)) / lr var
 *     var = (sign(linear) l1 - linear) / (p(n) / lr + 2 l2) if |linear| > l1, else 0
 *     accum = n
 *
 * McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013. Without V2
 * l2_shrinkage is 0. With multiply_linear_by_lr `linear` is kept multiplied by lr:
 *
 *     linear += lr (grad + 2 l2_shrinkage var) - (p(n) - p(accum)) var
 *     var = (sign(linear) lr l1 - linear) / (p(n) + 2 lr l2) if |linear| > lr l1, else 0
 */
#include "train.h"

/* Both forms are one: RATE multiplies the gradient, INVERSE the powers; one of them is 1. */
enum { RATE, INVERSE, L1, TWO_L2, TWO_SHRINKAGE, POWER };
#define FTRL(P)                                                                                    \
  number n = s1 + g * g, root = P(n);                                                              \
  s2 += k[RATE] * (g + k[TWO_SHRINKAGE] * var) - (root - P(s1)) * k[INVERSE] * var;                \
  number over = fabs(s2) - k[L1];                                                                  \
  number quotient = -TRAIN_SIGN(s2) * over / (root * k[INVERSE] + k[TWO_L2]);                      \
  var = over > 0 ? quotient : 0;                                                                   \
  s1 = n;
#define ROOT(x)      sqrt(x)
#define ANY_POWER(x) pow(x, k[POWER])
/* s1 is accum, s2 linear. */
TRAIN_STEP(half, 3, FTRL(ROOT))
TRAIN_STEP(any, 3, FTRL(ANY_POWER))

/* var accum linear grad [indices] lr l1 l2 [l2_shrinkage] lr_power */
static tfsdk_status *run(tfsdk_run *r, int v2, int sparse) {
  uint32_t at = sparse ? 5 : 4;
  double lr = train_number(r, at), power = -train_number(r, at + (v2 ? 4 : 3));
  double rate = train_flag(r, "multiply_linear_by_lr") ? lr : 1;
  const train_step *step = power == 0.5 ? &half : &any;
  const double k[TRAIN_MAX_NUMBERS] = {
      [RATE] = rate,
      [INVERSE] = rate / lr,
      [L1] = train_number(r, at + 1) * rate,
      [TWO_L2] = train_number(r, at + 2) * rate * 2,
      [TWO_SHRINKAGE] = v2 ? train_number(r, at + 3) * 2 : 0,
      [POWER] = power,
  };
  return sparse ? train_sparse(r, step, 3, 4, k) : train_dense(r, step, 3, k);
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, 0, 0);
}
static tfsdk_status *compute_sparse(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, 0, 1);
}
static tfsdk_status *compute_v2(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, 1, 0);
}
static tfsdk_status *compute_v2_sparse(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, 1, 1);
}

#define STATE                                                                                      \
  TRAIN_VAR("the variable"), TRAIN_SLOT("accum", "the sum of squared gradients"),                  \
      TRAIN_SLOT("linear", "the linear term of the leader's problem")
#define NUMBERS                                                                                    \
  TRAIN_NUMBER("lr", "the learning rate"), TRAIN_NUMBER("l1", "strength of the absolute penalty"), \
      TRAIN_NUMBER("l2", "strength of the squared penalty")
#define SHRINKAGE TRAIN_NUMBER("l2_shrinkage", "strength of the squared penalty on the gradient")
#define POWER_ARG TRAIN_NUMBER("lr_power", "how the rate falls; -0.5 is Adagrad's way")
static const tfsdk_arg in[] = {STATE, TRAIN_GRAD("grad"), NUMBERS, POWER_ARG};
static const tfsdk_arg in_sparse[] = {STATE, TRAIN_ROWS, TRAIN_INDICES, NUMBERS, POWER_ARG};
static const tfsdk_arg in_v2[] = {STATE, TRAIN_GRAD("grad"), NUMBERS, SHRINKAGE, POWER_ARG};
static const tfsdk_arg in_v2_sparse[] = {STATE,   TRAIN_ROWS, TRAIN_INDICES,
                                         NUMBERS, SHRINKAGE,  POWER_ARG};
#define BY_LR                                                                                      \
  { "multiply_linear_by_lr", "bool", "false", "`linear` is kept multiplied by lr", 0, 0 }
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING, BY_LR};
static const tfsdk_attrdef attr_sparse[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING,
                                            BY_LR};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3](0.1,2) ; var:T[2,3] ; T[2,3] ; T[](0.1,1) ; T[](0,0.1) ; T[](0,0.1) ; "
    "T(-0.5)",
    "var:float32[3] ; var:float32[3](0.1,2) ; var:float32[3] ; float32[3] ; float32[](0.1,1) ; "
    "float32[](0,0.1) ; float32[](0,0.1) ; float32(-0.7) | multiply_linear_by_lr=true",
    NULL,
};
static const char *const samples_sparse[] = {
    "var:T[4,3] ; var:T[4,3](0.1,2) ; var:T[4,3] ; T[2,3] ; int32{2,0} ; T[](0.1,1) ; T[](0,0.1) ; "
    "T[](0,0.1) ; T(-0.5)",
    NULL,
};
static const char *const samples_v2[] = {
    "var:T[2,3] ; var:T[2,3](0.1,2) ; var:T[2,3] ; T[2,3] ; T[](0.1,1) ; T[](0,0.1) ; T[](0,0.1) ; "
    "T[](0,0.1) ; T(-0.5)",
    NULL,
};
static const char *const samples_v2_sparse[] = {
    "var:T[4,3] ; var:T[4,3](0.1,2) ; var:T[4,3] ; T[2,3] ; int32{2,0} ; T[](0.1,1) ; T[](0,0.1) ; "
    "T[](0,0.1) ; T[](0,0.1) ; T(-0.5)",
    NULL,
};
#define DOC                                                                                        \
  "`n = accum + grad^2; linear += grad - (n^-lr_power - accum^-lr_power) / lr * var; "             \
  "var = (sign(linear) * l1 - linear) / (n^-lr_power / lr + 2 * l2)` where `abs(linear) > l1`, "   \
  "else 0; `accum = n`."
#define DOC_V2 DOC " To the gradient in `linear` `2 * l2_shrinkage * var` is added."
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("ResourceApplyFtrl", "one step of FTRL"),
        .doc = DOC,
        TRAIN_RECORD(in, attr, compute, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyFtrl", "one step of FTRL on some rows"),
        .doc = DOC TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_sparse, attr_sparse, compute_sparse, samples_sparse),
    },
    {
        TFSDK_OP_HEAD("ResourceApplyFtrlV2", "one step of FTRL with shrinkage"),
        .doc = DOC_V2,
        TRAIN_RECORD(in_v2, attr, compute_v2, samples_v2),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyFtrlV2", "one step of FTRL with shrinkage on some rows"),
        .doc = DOC_V2 TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_v2_sparse, attr_sparse, compute_v2_sparse, samples_v2_sparse),
    }};
TFSDK_UNIT_OPS(resource_apply_ftrl, ops);
