/* ResourceApplyAddSign and ResourceApplyPowerSign (TensorFlow's ops).
 *
 *     m = beta m + (1 - beta) grad;  s = sign(grad) sign(m)
 *     AddSign:   var -= lr (alpha + sign_decay s) grad
 *     PowerSign: var -= lr exp(logbase sign_decay s) grad
 *
 * Bello, Zoph, Vasudevan, Le, "Neural optimizer search with reinforcement learning", 2017.
 */
#include "train.h"

enum { LR, ALPHA, DECAY, ONE_BETA, UP, DOWN };
TRAIN_STEP(add, 2, s1 += (g - s1) * k[ONE_BETA];
           var -= k[LR] * (k[ALPHA] + k[DECAY] * TRAIN_SIGN(g) * TRAIN_SIGN(s1)) * g;)
/* exp() takes three values only: UP = exp(logbase sign_decay), 1 and DOWN = 1 / UP. */
TRAIN_STEP(power, 2, s1 += (g - s1) * k[ONE_BETA]; number s = TRAIN_SIGN(g) * TRAIN_SIGN(s1);
           number p = s > 0 ? k[UP] : k[DOWN]; p = s == 0 ? 1 : p; var -= k[LR] * p * g;)

/* var m lr alpha sign_decay beta grad */
static tfsdk_status *compute_add(void *state, tfsdk_run *r) {
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 2),
      [ALPHA] = train_number(r, 3),
      [DECAY] = train_number(r, 4),
      [ONE_BETA] = 1 - train_number(r, 5),
  };
  (void)state;
  return train_dense(r, &add, 6, k);
}
/* var m lr logbase sign_decay beta grad */
static tfsdk_status *compute_power(void *state, tfsdk_run *r) {
  double exponent = train_number(r, 3) * train_number(r, 4);
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 2),
      [ONE_BETA] = 1 - train_number(r, 5),
      [UP] = exp(exponent),
      [DOWN] = exp(-exponent),
  };
  (void)state;
  return train_dense(r, &power, 6, k);
}

#define STATE                                                                                      \
  TRAIN_VAR("the variable"), TRAIN_SLOT("m", "the mean of gradients"),                             \
      TRAIN_NUMBER("lr", "the learning rate")
#define DECAY_AND_BETA                                                                             \
  TRAIN_NUMBER("sign_decay", "how much the signs count"),                                          \
      TRAIN_NUMBER("beta", "how much of m stays")
static const tfsdk_arg in_add[] = {STATE, TRAIN_NUMBER("alpha", "what the signs are added to"),
                                   DECAY_AND_BETA, TRAIN_GRAD("grad")};
static const tfsdk_arg in_power[] = {STATE,
                                     TRAIN_NUMBER("logbase", "logarithm of the power's base"),
                                     DECAY_AND_BETA, TRAIN_GRAD("grad")};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3] ; T[](0.1,1) ; T[](0.5,1) ; T[](0.1,0.9) ; T[](0.1,0.9) ; T[2,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("ResourceApplyAddSign", "one step of AddSign"),
        .doc = "`m = beta * m + (1 - beta) * grad; "
               "var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad`.",
        TRAIN_RECORD(in_add, attr, compute_add, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceApplyPowerSign", "one step of PowerSign"),
        .doc = "`m = beta * m + (1 - beta) * grad; "
               "var -= lr * exp(logbase * sign_decay * sign(grad) * sign(m)) * grad`.",
        TRAIN_RECORD(in_power, attr, compute_power, samples),
    }};
TFSDK_UNIT_OPS(resource_apply_add_sign, ops);
