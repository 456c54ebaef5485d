/* ResourceApplyAdagrad, ResourceApplyAdagradV2 and their sparse forms (TensorFlow's ops).
 *
 *     accum += grad^2
 *     var -= lr grad / sqrt(accum)             V2:  var -= lr grad / (sqrt(accum) + epsilon)
 *
 * Duchi, Hazan, Singer, "Adaptive subgradient methods", JMLR 12, 2011. Without update_slots accum
 * stays.
 */
#include "train.h"

enum { LR, EPSILON };
TRAIN_STEP(learn, 2, s1 += g * g; var -= k[LR] * g / (sqrt(s1) + k[EPSILON]);)
TRAIN_STEP(keep, 2, var -= k[LR] * g / (sqrt(s1) + k[EPSILON]);)

/* var accum lr [epsilon] grad [indices] */
static tfsdk_status *run(tfsdk_run *r, int v2, int sparse) {
  const train_step *step = train_flag(r, "update_slots") ? &learn : &keep;
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 2), [EPSILON] = v2 ? train_number(r, 3) : 0};
  uint32_t grad = v2 ? 4 : 3;
  return sparse ? train_sparse(r, step, grad, grad + 1, k) : train_dense(r, step, grad, k);
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
      TRAIN_NUMBER("lr", "the learning rate")
#define STATE_V2 STATE, TRAIN_NUMBER("epsilon", "added to the root")
static const tfsdk_arg in[] = {STATE, TRAIN_GRAD("grad")};
static const tfsdk_arg in_sparse[] = {STATE, TRAIN_ROWS, TRAIN_INDICES};
static const tfsdk_arg in_v2[] = {STATE_V2, TRAIN_GRAD("grad")};
static const tfsdk_arg in_v2_sparse[] = {STATE_V2, TRAIN_ROWS, TRAIN_INDICES};
#define UPDATE_SLOTS                                                                               \
  { "update_slots", "bool", "true", "false: `accum` stays as it is", 0, 0 }
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING, UPDATE_SLOTS};
static const tfsdk_attrdef attr_sparse[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING,
                                            UPDATE_SLOTS};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3](0.1,2) ; T[](0.1,1) ; T[2,3]",
    "var:float32[4] ; var:float32[4](0.1,2) ; float32[](0.1,1) ; float32[4] | update_slots=false",
    NULL,
};
static const char *const samples_sparse[] = {
    "var:T[4,3] ; var:T[4,3](0.1,2) ; T[](0.1,1) ; T[2,3] ; int32{2,0}",
    "var:float32[4] ; var:float32[4](0.1,2) ; float32[](0.1,1) ; float32[2] ; int64{1,1} | "
    "update_slots=false",
    NULL,
};
static const char *const samples_v2[] = {
    "var:T[2,3] ; var:T[2,3](0.1,2) ; T[](0.1,1) ; T[](0.01,0.1) ; T[2,3]",
    NULL,
};
static const char *const samples_v2_sparse[] = {
    "var:T[4,3] ; var:T[4,3](0.1,2) ; T[](0.1,1) ; T[](0.01,0.1) ; T[2,3] ; int32{2,0}",
    NULL,
};
#define DOC "`accum += grad^2` (unless `update_slots` is false); `var -= lr * grad / sqrt(accum)`."
#define DOC_V2                                                                                     \
  "`accum += grad^2` (unless `update_slots` is false); "                                           \
  "`var -= lr * grad / (sqrt(accum) + epsilon)`."
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("ResourceApplyAdagrad", "one step of Adagrad"),
        .doc = DOC " `accum` must be positive.",
        TRAIN_RECORD(in, attr, compute, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyAdagrad", "one step of Adagrad on some rows"),
        .doc = DOC " `accum` must be positive." TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_sparse, attr_sparse, compute_sparse, samples_sparse),
    },
    {
        TFSDK_OP_HEAD("ResourceApplyAdagradV2", "one step of Adagrad with an epsilon"),
        .doc = DOC_V2,
        TRAIN_RECORD(in_v2, attr, compute_v2, samples_v2),
    },
    {
        TFSDK_OP_HEAD("ResourceSparseApplyAdagradV2",
                      "one step of Adagrad with an epsilon on some rows"),
        .doc = DOC_V2 TRAIN_SPARSE_DOC,
        TRAIN_RECORD(in_v2_sparse, attr_sparse, compute_v2_sparse, samples_v2_sparse),
    }};
TFSDK_UNIT_OPS(resource_apply_adagrad, ops);
