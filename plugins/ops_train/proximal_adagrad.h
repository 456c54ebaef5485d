/* Proximal Adagrad, dense and sparse.
 *
 *     accum += grad^2;  a = lr / sqrt(accum);  p = var - a grad
 *     var = sign(p) max(|p| - a l1, 0) / (1 + a l2)
 *
 * Duchi and Singer, "Efficient online and batch learning using forward backward splitting", JMLR
 * 10, 2009, with Adagrad's rates.
 */
#ifndef OPS_TRAIN_PROXIMAL_ADAGRAD_H
#define OPS_TRAIN_PROXIMAL_ADAGRAD_H

#include "train.h"

enum { LR, L1, L2 };
/* s1 is accum. */
TRAIN_STEP(step, 2, s1 += g * g; number a = k[LR] / sqrt(s1); number p = var - a * g;
           number over = fabs(p) - a * k[L1]; over = over > 0 ? over : 0;
           var = TRAIN_SIGN(p) * over / (1 + a * k[L2]);)

/* var accum lr l1 l2 grad [indices] */
static inline tfsdk_status *proximal_run(tfsdk_run *r, int sparse) {
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 2),
      [L1] = train_number(r, 3),
      [L2] = train_number(r, 4),
  };
  return sparse ? train_sparse(r, &step, 5, 6, k) : train_dense(r, &step, 5, k);
}

#define PROXIMAL_STATE                                                                             \
  TRAIN_VAR("the variable"), TRAIN_SLOT("accum", "the sum of squared gradients, positive"),        \
      TRAIN_NUMBER("lr", "the learning rate"),                                                     \
      TRAIN_NUMBER("l1", "strength of the absolute penalty"),                                      \
      TRAIN_NUMBER("l2", "strength of the squared penalty")
#define PROXIMAL_DOC                                                                               \
  "`accum += grad^2; a = lr / sqrt(accum); p = var - a * grad; "                                   \
  "var = sign(p) * max(abs(p) - a * l1, 0) / (1 + a * l2)`."

#endif
