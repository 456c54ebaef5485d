/* ResourceApplyPowerSign (TensorFlow's op).
 *
 *     var -= lr exp(logbase sign_decay s) grad
 */
#include "sign.h"

enum { LR, ONE_BETA, UP, DOWN };
/* exp() takes three values only: UP = exp(logbase sign_decay), 1 and DOWN = 1 / UP. */
TRAIN_STEP(step, 2, s1 += (g - s1) * k[ONE_BETA]; number s = TRAIN_SIGN(g) * TRAIN_SIGN(s1);
           number p = s > 0 ? k[UP] : k[DOWN]; p = s == 0 ? 1 : p; var -= k[LR] * p * g;)

/* var m lr logbase sign_decay beta grad */
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  double exponent = train_number(r, 3) * train_number(r, 4);
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 2),
      [ONE_BETA] = 1 - train_number(r, 5),
      [UP] = exp(exponent),
      [DOWN] = exp(-exponent),
  };
  (void)state;
  return train_dense(r, &step, 6, k);
}

static const tfsdk_arg in[] = {SIGN_STATE, TRAIN_NUMBER("logbase", "logarithm of the power's base"),
                               SIGN_NUMBERS, TRAIN_GRAD("grad")};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {SIGN_SAMPLE, NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyPowerSign", "one step of PowerSign"),
    .doc = "`m = beta * m + (1 - beta) * grad; "
           "var -= lr * exp(logbase * sign_decay * sign(grad) * sign(m)) * grad`.",
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_power_sign, ops);
