/* What the ops of this folder share: variables seen by shape rules and kernels. */
#ifndef OPS_STATE_STATE_H
#define OPS_STATE_STATE_H

#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

/* The numbers that a variable can be added to. */
#define STATE_NUMBERS                                                                              \
  "dtype{float32,float64,float16,bfloat16,int8,int16,int32,int64,uint8,uint16,uint32,uint64}"

#define STATE_NO_GRAD "changes a variable; the gradient goes through reading it"

/* Inputs (resource, value): the value must fit the variable's static shape. */
static inline tfsdk_status *state_infer_assign(tfsdk_infer *c) {
  tfsdk_shape both;
  return tfsdk_merge(c, &c->in[0].shape, &c->in[1].shape, "the variable and the new value", &both);
}

#endif
