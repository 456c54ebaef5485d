/* ResourceApplyAddSign (TensorFlow's op).
 *
 *     var -= lr (alpha + sign_decay s) grad
 */
#include "sign.h"

enum { LR, ALPHA, DECAY, ONE_BETA };
TRAIN_STEP(step, 2, s1 += (g - s1) * k[ONE_BETA];
           var -= k[LR] * (k[ALPHA] + k[DECAY] * TRAIN_SIGN(g) * TRAIN_SIGN(s1)) * g;)

/* var m lr alpha sign_decay beta grad */
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 2),
      [ALPHA] = train_number(r, 3),
      [DECAY] = train_number(r, 4),
      [ONE_BETA] = 1 - train_number(r, 5),
  };
  (void)state;
  return train_dense(r, &step, 6, k);
}

static const tfsdk_arg in[] = {SIGN_STATE, TRAIN_NUMBER("alpha", "what the signs are added to"),
                               SIGN_NUMBERS, TRAIN_GRAD("grad")};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {SIGN_SAMPLE, NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyAddSign", "one step of AddSign"),
    .doc = "`m = beta * m + (1 - beta) * grad; "
           "var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad`.",
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_add_sign, ops);
