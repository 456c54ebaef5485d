/* Adadelta, dense and sparse.
 *
 *     accum = rho accum + (1 - rho) grad^2
 *     u = grad sqrt(accum_update + epsilon) / sqrt(accum + epsilon)
 *     accum_update = rho accum_update + (1 - rho) u^2
 *     var -= lr u
 *
 * Zeiler, "ADADELTA: an adaptive learning rate method", arXiv:1212.5701, 2012.
 */
#ifndef OPS_TRAIN_ADADELTA_H
#define OPS_TRAIN_ADADELTA_H

#include "train.h"

enum { LR, RHO, ONE_RHO, EPSILON };
/* s1 is accum, s2 accum_update. */
TRAIN_STEP(step, 3, s1 = s1 * k[RHO] + g * g * k[ONE_RHO];
           number u = g * sqrt(s2 + k[EPSILON]) / sqrt(s1 + k[EPSILON]);
           s2 = s2 * k[RHO] + u * u * k[ONE_RHO]; var -= u * k[LR];)

/* var accum accum_update lr rho epsilon grad [indices] */
static inline tfsdk_status *adadelta_run(tfsdk_run *r, int sparse) {
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 3),
      [RHO] = train_number(r, 4),
      [ONE_RHO] = 1 - train_number(r, 4),
      [EPSILON] = train_number(r, 5),
  };
  return sparse ? train_sparse(r, &step, 6, 7, k) : train_dense(r, &step, 6, k);
}

#define ADADELTA_STATE                                                                             \
  TRAIN_VAR("the variable"), TRAIN_SLOT("accum", "the mean of squared gradients"),                 \
      TRAIN_SLOT("accum_update", "the mean of squared updates"),                                   \
      TRAIN_NUMBER("lr", "the learning rate"), TRAIN_NUMBER("rho", "how much of the means stays"), \
      TRAIN_NUMBER("epsilon", "added under both roots")
#define ADADELTA_DOC                                                                               \
  "`accum = rho * accum + (1 - rho) * grad^2; "                                                    \
  "u = grad * sqrt(accum_update + epsilon) / sqrt(accum + epsilon); "                              \
  "accum_update = rho * accum_update + (1 - rho) * u^2; var -= lr * u`."

#endif
