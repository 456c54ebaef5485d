/* Proximal gradient descent, dense and sparse.
 *
 *     p = var - alpha delta
 *     var = sign(p) max(|p| - alpha l1, 0) / (1 + alpha l2)
 *
 * Duchi and Singer, "Efficient online and batch learning using forward backward splitting", JMLR
 * 10, 2009.
 */
#ifndef OPS_TRAIN_PROXIMAL_GRADIENT_DESCENT_H
#define OPS_TRAIN_PROXIMAL_GRADIENT_DESCENT_H

#include "train.h"

enum { ALPHA, ALPHA_L1, DIVISOR };
TRAIN_STEP(step, 1, number p = var - k[ALPHA] * g; number over = fabs(p) - k[ALPHA_L1];
           over = over > 0 ? over : 0; var = TRAIN_SIGN(p) * over / k[DIVISOR];)

/* var alpha l1 l2 delta [indices] */
static inline tfsdk_status *proximal_run(tfsdk_run *r, int sparse) {
  double alpha = train_number(r, 1);
  const double k[TRAIN_MAX_NUMBERS] = {
      [ALPHA] = alpha,
      [ALPHA_L1] = alpha * train_number(r, 2),
      [DIVISOR] = 1 + alpha * train_number(r, 3),
  };
  return sparse ? train_sparse(r, &step, 4, 5, k) : train_dense(r, &step, 4, k);
}

#define PROXIMAL_STATE                                                                             \
  TRAIN_VAR("the variable"), TRAIN_NUMBER("alpha", "the learning rate"),                           \
      TRAIN_NUMBER("l1", "strength of the absolute penalty"),                                      \
      TRAIN_NUMBER("l2", "strength of the squared penalty")
#define PROXIMAL_DOC(gradient)                                                                     \
  "`p = var - alpha * " gradient                                                                   \
  "; var = sign(p) * max(abs(p) - alpha * l1, 0) / (1 + alpha * l2)`."

#endif
