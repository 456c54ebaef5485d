/* Adam and Adam with AMSGrad.
 *
 *     lr_t = lr sqrt(1 - beta2_power) / (1 - beta1_power)
 *     m = beta1 m + (1 - beta1) grad
 *     v = beta2 v + (1 - beta2) grad^2
 *     var -= lr_t m / (sqrt(v) + epsilon)
 *     Nesterov: var -= lr_t (beta1 m + (1 - beta1) grad) / (sqrt(v) + epsilon)
 *     AMSGrad:  vhat = max(vhat, v), and its root in the place of v's
 *
 * Kingma and Ba, "Adam: a method for stochastic optimization", 2015, in the form that its section 2
 * ends with, as TensorFlow has it: epsilon is added before the bias of v is corrected, and is thus
 * epsilon-hat. Reddi, Kale, Kumar, "On the convergence of Adam and beyond", 2018. Rows whose m and
 * v are zero do not move.
 */
#ifndef OPS_TRAIN_ADAM_H
#define OPS_TRAIN_ADAM_H

#include "train.h"

enum { LR, BETA1, ONE_BETA1, ONE_BETA2, EPSILON };

/* How much of the new comes in. In float32 1 - beta loses digits: of 0.999 it is 0.00099998713. */
static inline double adam_gain(const tfsdk_run *r, const char *attr, uint32_t beta) {
  double gain = tfsdk_attr_float(&r->attr, attr);
  return gain != 0 ? gain : 1 - train_number(r, beta);
}

/* var m v [vhat] beta1_power beta2_power lr beta1 beta2 epsilon grad */
static inline tfsdk_status *adam_run(tfsdk_run *r, const train_step *step) {
  uint32_t at = step->n_state;
  double power1 = train_number(r, at), power2 = train_number(r, at + 1);
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, at + 2) * sqrt(1 - power2) / (1 - power1),
      [BETA1] = train_number(r, at + 3),
      [ONE_BETA1] = adam_gain(r, "_gain1", at + 3),
      [ONE_BETA2] = adam_gain(r, "_gain2", at + 4),
      [EPSILON] = train_number(r, at + 5),
  };
  return train_dense(r, step, at + 6, k);
}

/* Not TensorFlow's, which passes over attributes whose names begin so. */
#define ADAM_GAINS                                                                                 \
  {"_gain1", "float", "0", "1 - beta1 in all its digits; 0: out of beta1", 0, 0}, {                \
    "_gain2", "float", "0", "1 - beta2 in all its digits; 0: out of beta2", 0, 0                   \
  }
#define ADAM_STATE                                                                                 \
  TRAIN_VAR("the variable"), TRAIN_SLOT("m", "the mean of gradients"),                             \
      TRAIN_SLOT("v", "the mean of squared gradients")
#define ADAM_NUMBERS                                                                               \
  TRAIN_NUMBER("beta1_power", "beta1 to the power of the step's number, from 1"),                  \
      TRAIN_NUMBER("beta2_power", "beta2 to the same power"),                                      \
      TRAIN_NUMBER("lr", "the learning rate"), TRAIN_NUMBER("beta1", "how much of m stays"),       \
      TRAIN_NUMBER("beta2", "how much of v stays"), TRAIN_NUMBER("epsilon", "added to the root")

#endif
