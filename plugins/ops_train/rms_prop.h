/* RMSProp, plain and centered, dense and sparse.
 *
 *     ms = rho ms + (1 - rho) grad^2
 *     centered: mg = rho mg + (1 - rho) grad, d = ms - mg^2 + epsilon;  else d = ms + epsilon
 *     mom = momentum mom + lr grad / sqrt(d)
 *     var -= mom
 *
 * Tieleman and Hinton, "Neural networks for machine learning", lecture 6.5, 2012; centered: Graves,
 * "Generating sequences with recurrent neural networks", arXiv:1308.0850, 2013. epsilon is inside
 * the root.
 */
#ifndef OPS_TRAIN_RMS_PROP_H
#define OPS_TRAIN_RMS_PROP_H

#include "train.h"

enum { LR, ONE_RHO, MOMENTUM, EPSILON };
/* s1 is ms, s2 mom. */
#define RMS_PROP_STEP                                                                              \
  TRAIN_STEP(step, 3, s1 += (g * g - s1) * k[ONE_RHO];                                             \
             s2 = s2 * k[MOMENTUM] + k[LR] * g / sqrt(s1 + k[EPSILON]); var -= s2;)
/* s1 is mg, s2 ms, s3 mom. */
#define CENTERED_RMS_PROP_STEP                                                                     \
  TRAIN_STEP(step, 4, s2 += (g * g - s2) * k[ONE_RHO]; s1 += (g - s1) * k[ONE_RHO];                \
             s3 = s3 * k[MOMENTUM] + k[LR] * g / sqrt(s2 - s1 * s1 + k[EPSILON]); var -= s3;)

/* var [mg] ms mom lr rho momentum epsilon grad [indices] */
static inline tfsdk_status *rms_prop_run(tfsdk_run *r, const train_step *step, int sparse) {
  uint32_t at = step->n_state;
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, at),
      [ONE_RHO] = 1 - train_number(r, at + 1),
      [MOMENTUM] = train_number(r, at + 2),
      [EPSILON] = train_number(r, at + 3),
  };
  return sparse ? train_sparse(r, step, at + 4, at + 5, k) : train_dense(r, step, at + 4, k);
}

#define RMS_PROP_NUMBERS                                                                           \
  TRAIN_SLOT("ms", "the mean of squared gradients"), TRAIN_SLOT("mom", "the velocity"),            \
      TRAIN_NUMBER("lr", "the learning rate"), TRAIN_NUMBER("rho", "how much of the means stays"), \
      TRAIN_NUMBER("momentum", "how much of the velocity stays"),                                  \
      TRAIN_NUMBER("epsilon", "added under the root")
#define RMS_PROP_STATE TRAIN_VAR("the variable"), RMS_PROP_NUMBERS
#define CENTERED_RMS_PROP_STATE                                                                    \
  TRAIN_VAR("the variable"), TRAIN_SLOT("mg", "the mean of gradients"), RMS_PROP_NUMBERS
#define RMS_PROP_DOC                                                                               \
  "`ms = rho * ms + (1 - rho) * grad^2; mom = momentum * mom + lr * grad / sqrt(ms + epsilon); "   \
  "var -= mom`."
#define CENTERED_RMS_PROP_DOC                                                                      \
  "`ms = rho * ms + (1 - rho) * grad^2; mg = rho * mg + (1 - rho) * grad; "                        \
  "mom = momentum * mom + lr * grad / sqrt(ms - mg^2 + epsilon); var -= mom`."

#endif
