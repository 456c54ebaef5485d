/* What AddSign and PowerSign share.
 *
 *     m = beta m + (1 - beta) grad;  s = sign(grad) sign(m)
 *
 * Bello, Zoph, Vasudevan, Le, "Neural optimizer search with reinforcement learning", 2017.
 */
#ifndef OPS_TRAIN_SIGN_H
#define OPS_TRAIN_SIGN_H

#include "train.h"

#define SIGN_STATE                                                                                 \
  TRAIN_VAR("the variable"), TRAIN_SLOT("m", "the mean of gradients"),                             \
      TRAIN_NUMBER("lr", "the learning rate")
#define SIGN_NUMBERS                                                                               \
  TRAIN_NUMBER("sign_decay", "how much the signs count"),                                          \
      TRAIN_NUMBER("beta", "how much of m stays")
#define SIGN_SAMPLE                                                                                \
  "var:T[2,3] ; var:T[2,3] ; T[](0.1,1) ; T[](0.5,1) ; T[](0.1,0.9) ; T[](0.1,0.9) ; T[2,3]"

#endif
