/* Adagrad by dual averaging, dense and sparse.
 *
 *     ga += grad;  gga += grad^2
 *     u = sign(ga) max(|ga| - l1 step, 0)
 *     var = -lr u / (l2 step lr + sqrt(gga))
 *
 * Duchi, Hazan, Singer, "Adaptive subgradient methods", JMLR 12, 2011. `global_step` counts from 1.
 * The variable's old value plays no part.
 */
#ifndef OPS_TRAIN_ADAGRAD_DA_H
#define OPS_TRAIN_ADAGRAD_DA_H

#include "train.h"

enum { LR, L1_STEP, L2_STEP_LR };
/* s1 is ga, s2 gga. */
TRAIN_STEP(step, 3, s1 += g; s2 += g * g; number over = fabs(s1) - k[L1_STEP];
           over = over > 0 ? over : 0;
           var = -k[LR] * TRAIN_SIGN(s1) * over / (k[L2_STEP_LR] + sqrt(s2));)

/* var ga gga grad [indices] lr l1 l2 global_step */
static inline tfsdk_status *adagrad_da_run(tfsdk_run *r, int sparse) {
  uint32_t at = sparse ? 5 : 4;
  double count = (double)tfsdk_view_int(&r->in[at + 3], 0);
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, at),
      [L1_STEP] = train_number(r, at + 1) * count,
      [L2_STEP_LR] = train_number(r, at + 2) * count * train_number(r, at),
  };
  return sparse ? train_sparse(r, &step, 3, 4, k) : train_dense(r, &step, 3, k);
}

#define ADAGRAD_DA_STATE                                                                           \
  TRAIN_VAR("the variable"), TRAIN_SLOT("gradient_accumulator", "the sum of gradients"),           \
      TRAIN_SLOT("gradient_squared_accumulator", "the sum of squared gradients")
#define ADAGRAD_DA_NUMBERS                                                                         \
  TRAIN_NUMBER("lr", "the learning rate"), TRAIN_NUMBER("l1", "strength of the absolute penalty"), \
      TRAIN_NUMBER("l2", "strength of the squared penalty"), {                                     \
    "global_step", "int64", "a scalar: the number of this step, from 1", 0, 0                      \
  }
#define ADAGRAD_DA_DOC                                                                             \
  "With `ga` and `gga` for the two accumulators: `ga += grad; gga += grad^2; "                     \
  "var = -lr * sign(ga) * max(abs(ga) - l1 * global_step, 0) / "                                   \
  "(l2 * global_step * lr + sqrt(gga))`."

#endif
