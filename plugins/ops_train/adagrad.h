/* Adagrad, without and with epsilon, dense and sparse.
 *
 *     accum += grad^2
 *     var -= lr grad / sqrt(accum)             V2:  var -= lr grad / (sqrt(accum) + epsilon)
 *
 * Duchi, Hazan, Singer, "Adaptive subgradient methods", JMLR 12, 2011. Without update_slots accum
 * stays.
 */
#ifndef OPS_TRAIN_ADAGRAD_H
#define OPS_TRAIN_ADAGRAD_H

#include "train.h"

enum { LR, EPSILON };
/* s1 is accum. */
TRAIN_STEP(learn, 2, s1 += g * g; var -= k[LR] * g / (sqrt(s1) + k[EPSILON]);)
TRAIN_STEP(keep, 2, var -= k[LR] * g / (sqrt(s1) + k[EPSILON]);)

/* var accum lr [epsilon] grad [indices] */
static inline tfsdk_status *adagrad_run(tfsdk_run *r, int v2, int sparse) {
  const train_step *step = train_flag(r, "update_slots") ? &learn : &keep;
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 2), [EPSILON] = v2 ? train_number(r, 3) : 0};
  uint32_t grad = v2 ? 4 : 3;
  return sparse ? train_sparse(r, step, grad, grad + 1, k) : train_dense(r, step, grad, k);
}

#define ADAGRAD_STATE                                                                              \
  TRAIN_VAR("the variable"), TRAIN_SLOT("accum", "the sum of squared gradients"),                  \
      TRAIN_NUMBER("lr", "the learning rate")
#define ADAGRAD_V2_STATE ADAGRAD_STATE, TRAIN_NUMBER("epsilon", "added to the root")
#define ADAGRAD_ATTR                                                                               \
  { "update_slots", "bool", "true", "false: `accum` stays as it is", 0, 0 }
#define ADAGRAD_DOC                                                                                \
  "`accum += grad^2` (unless `update_slots` is false); `var -= lr * grad / sqrt(accum)`. "         \
  "`accum` must be positive."
#define ADAGRAD_V2_DOC                                                                             \
  "`accum += grad^2` (unless `update_slots` is false); "                                           \
  "`var -= lr * grad / (sqrt(accum) + epsilon)`."

#endif
