/* ResourceApplyMomentum, ResourceApplyKerasMomentum and their sparse forms (TensorFlow's ops).
 *
 *     accum = momentum accum + grad            Keras:  accum = momentum accum - lr grad
 *     var -= lr accum                                  var += accum
 *     Nesterov: var -= lr (grad + momentum accum)      var += momentum accum - lr grad
 *
 * The two differ once lr changes: Keras' velocity has the rates of the past in it. Nesterov's form
 * is that of Sutskever et al., "On the importance of initialization and momentum in deep learning",
 * 2013.
 */
#include "train.h"

enum { LR, MOMENTUM };
TRAIN_STEP(plain, 2, s1 = s1 * k[MOMENTUM] + g; var -= s1 * k[LR];)
TRAIN_STEP(nesterov, 2, s1 = s1 * k[MOMENTUM] + g; var -= (g + s1 * k[MOMENTUM]) * k[LR];)
TRAIN_STEP(keras_plain, 2, s1 = s1 * k[MOMENTUM] - g * k[LR]; var += s1;)
TRAIN_STEP(keras_nesterov, 2, s1 = s1 * k[MOMENTUM] - g * k[LR];
           var += s1 * k[MOMENTUM] - g * k[LR];)

/* Dense: var accum lr grad momentum. Sparse: var accum lr grad indices momentum. */
static tfsdk_status *run(tfsdk_run *r, const train_step *without, const train_step *with,
                         int sparse) {
  const train_step *step = train_flag(r, "use_nesterov") ? with : without;
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 2), [MOMENTUM] = train_number(r, sparse ? 5 : 4)};
  return sparse ? train_sparse(r, step, 3, 4, k) : train_dense(r, step, 3, k);
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &plain, &nesterov, 0);
}
static tfsdk_status *compute_sparse(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &plain, &nesterov, 1);
}
static tfsdk_status *compute_keras(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &keras_plain, &keras_nesterov, 0);
}
static tfsdk_status *compute_keras_sparse(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &keras_plain, &keras_nesterov, 1);
}

static const tfsdk_arg in[] = {
    TRAIN_VAR("the variable"),
    TRAIN_SLOT("accum", "its velocity"),
    TRAIN_NUMBER("lr", "the learning rate"),
    TRAIN_GRAD("grad"),
    TRAIN_NUMBER("momentum", "how much of the velocity stays"),
};
static const tfsdk_arg in_sparse[] = {
    TRAIN_VAR("the variable"),
    TRAIN_SLOT("accum", "its velocity"),
    TRAIN_NUMBER("lr", "the learning rate"),
    TRAIN_ROWS,
    TRAIN_INDICES,
    TRAIN_NUMBER("momentum", "how much of the velocity stays"),
};
#define NESTEROV                                                                                   \
  { "use_nesterov", "bool", "false", "look ahead along the velocity", 0, 0 }
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING, NESTEROV};
static const tfsdk_attrdef attr_sparse[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING,
                                            NESTEROV};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3] ; T[](0.1,1) ; T[2,3] ; T[](0.1,1)",
    "var:float32[2,3] ; var:float32[2,3] ; float32[](0.1,1) ; float32[2,3] ; float32[](0.1,1) | "
    "use_nesterov=true",
    NULL,
};
static const char *const samples_sparse[] = {
    "var:T[4,3] ; var:T[4,3] ; T[](0.1,1) ; T[2,3] ; int32{2,0} ; T[](0.1,1)",
    "var:float32[4] ; var:float32[4] ; float32[](0.1,1) ; float32[2] ; int64{1,1} ; "
    "float32[](0.1,1) | use_nesterov=true",
    NULL,
};
#define DOC                                                                                        \
  "`accum = momentum * accum + grad; var -= lr * accum`, or with `use_nesterov` "                  \
  "`var -= lr * (grad + momentum * accum)`."
#define DOC_KERAS                                                                                  \
  "`accum = momentum * accum - lr * grad; var += accum`, or with `use_nesterov` "                  \
  "`var += momentum * accum - lr * grad`."
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("ResourceApplyMomentum", "one step of gradient descent with momentum"),
        .doc = DOC,
        TRAIN_RECORD(in, attr, compute, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyMomentum", "one step of momentum on some rows"),
        .doc = DOC TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_sparse, attr_sparse, compute_sparse, samples_sparse),
    },
    {
        TFSDK_OP_HEAD("ResourceApplyKerasMomentum",
                      "one step of momentum, the rate part of the velocity"),
        .doc = DOC_KERAS,
        TRAIN_RECORD(in, attr, compute_keras, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyKerasMomentum",
                      "one step of momentum on some rows, the rate part of the velocity"),
        .doc = DOC_KERAS TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_sparse, attr_sparse, compute_keras_sparse, samples_sparse),
    }};
TFSDK_UNIT_OPS(resource_apply_momentum, ops);
