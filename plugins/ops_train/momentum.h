/* Momentum in TensorFlow's form and in Keras', dense and sparse.
 *
 *     accum = momentum accum + grad            Keras:  accum = momentum accum - lr grad
 *     var -= lr accum                                  var += accum
 *     Nesterov: var -= lr (grad + momentum accum)      var += momentum accum - lr grad
 *
 * The two differ once lr changes: Keras' velocity has the rates of the past in it. Nesterov's form
 * is that of Sutskever et al., "On the importance of initialization and momentum in deep learning",
 * 2013.
 */
#ifndef OPS_TRAIN_MOMENTUM_H
#define OPS_TRAIN_MOMENTUM_H

#include "train.h"

enum { LR, MOMENTUM };
/* s1 is accum. */
#define MOMENTUM_STEPS                                                                             \
  TRAIN_STEP(plain, 2, s1 = s1 * k[MOMENTUM] + g; var -= s1 * k[LR];)                              \
  TRAIN_STEP(nesterov, 2, s1 = s1 * k[MOMENTUM] + g; var -= (g + s1 * k[MOMENTUM]) * k[LR];)
#define KERAS_MOMENTUM_STEPS                                                                       \
  TRAIN_STEP(plain, 2, s1 = s1 * k[MOMENTUM] - g * k[LR]; var += s1;)                              \
  TRAIN_STEP(nesterov, 2, s1 = s1 * k[MOMENTUM] - g * k[LR]; var += s1 * k[MOMENTUM] - g * k[LR];)

/* Dense: var accum lr grad momentum. Sparse: var accum lr grad indices momentum. */
static inline tfsdk_status *momentum_run(tfsdk_run *r, const train_step *plain,
                                         const train_step *nesterov, int sparse) {
  const train_step *step = train_flag(r, "use_nesterov") ? nesterov : plain;
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 2), [MOMENTUM] = train_number(r, sparse ? 5 : 4)};
  return sparse ? train_sparse(r, step, 3, 4, k) : train_dense(r, step, 3, k);
}

#define MOMENTUM_STATE                                                                             \
  TRAIN_VAR("the variable"), TRAIN_SLOT("accum", "its velocity"),                                  \
      TRAIN_NUMBER("lr", "the learning rate")
#define MOMENTUM_NUMBER TRAIN_NUMBER("momentum", "how much of the velocity stays")
#define MOMENTUM_ATTR                                                                              \
  { "use_nesterov", "bool", "false", "look ahead along the velocity", 0, 0 }
#define MOMENTUM_DOC                                                                               \
  "`accum = momentum * accum + grad; var -= lr * accum`, or with `use_nesterov` "                  \
  "`var -= lr * (grad + momentum * accum)`."
#define KERAS_MOMENTUM_DOC                                                                         \
  "`accum = momentum * accum - lr * grad; var += accum`, or with `use_nesterov` "                  \
  "`var += momentum * accum - lr * grad`."

#endif
