/* Follow the regularised leader, without and with shrinkage, dense and sparse.
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
#ifndef OPS_TRAIN_FTRL_H
#define OPS_TRAIN_FTRL_H

#include "train.h"

/* Both forms are one: RATE multiplies the gradient, INVERSE the powers; one of them is 1. */
enum { RATE, INVERSE, L1, TWO_L2, TWO_SHRINKAGE, POWER };
/* s1 is accum, s2 linear. */
#define FTRL_FORMULA(P)                                                                            \
  number n = s1 + g * g, root = P(n);                                                              \
  s2 += k[RATE] * (g + k[TWO_SHRINKAGE] * var) - (root - P(s1)) * k[INVERSE] * var;                \
  number over = fabs(s2) - k[L1];                                                                  \
  number quotient = -TRAIN_SIGN(s2) * over / (root * k[INVERSE] + k[TWO_L2]);                      \
  var = over > 0 ? quotient : 0;                                                                   \
  s1 = n;
#define FTRL_ROOT(x)      sqrt(x)
#define FTRL_ANY_POWER(x) pow(x, k[POWER])
TRAIN_STEP(half, 3, FTRL_FORMULA(FTRL_ROOT))
TRAIN_STEP(any, 3, FTRL_FORMULA(FTRL_ANY_POWER))

/* var accum linear grad [indices] lr l1 l2 [l2_shrinkage] lr_power */
static inline tfsdk_status *ftrl_run(tfsdk_run *r, int v2, int sparse) {
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

#define FTRL_STATE                                                                                 \
  TRAIN_VAR("the variable"), TRAIN_SLOT("accum", "the sum of squared gradients"),                  \
      TRAIN_SLOT("linear", "the linear term of the leader's problem")
#define FTRL_NUMBERS                                                                               \
  TRAIN_NUMBER("lr", "the learning rate"), TRAIN_NUMBER("l1", "strength of the absolute penalty"), \
      TRAIN_NUMBER("l2", "strength of the squared penalty")
#define FTRL_SHRINKAGE                                                                             \
  TRAIN_NUMBER("l2_shrinkage", "strength of the squared penalty on the gradient")
#define FTRL_POWER TRAIN_NUMBER("lr_power", "how the rate falls; -0.5 is Adagrad's way")
#define FTRL_ATTR                                                                                  \
  { "multiply_linear_by_lr", "bool", "false", "`linear` is kept multiplied by lr", 0, 0 }
#define FTRL_DOC                                                                                   \
  "`n = accum + grad^2; linear += grad - (n^-lr_power - accum^-lr_power) / lr * var; "             \
  "var = (sign(linear) * l1 - linear) / (n^-lr_power / lr + 2 * l2)` where `abs(linear) > l1`, "   \
  "else 0; `accum = n`."
#define FTRL_V2_DOC FTRL_DOC " To the gradient in `linear` `2 * l2_shrinkage * var` is added."

#endif
