/* Borders that are added to one to three axes, or taken away. */
#ifndef TFSDK_KERAS_BORDER_H
#define TFSDK_KERAS_BORDER_H

#include "keras.h"

tfsdk_status *border_add(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                         tfsdk_val *out);
tfsdk_status *border_cut(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                         tfsdk_val *out);

/* The record, whose `build` stands before it. */
#define BORDER_LAYERS(name_, param_, dflt_, doc_)                                                  \
  static const tfsdk_arg in[] = {KERAS_IMAGES};                                                    \
  static const tfsdk_attrdef param[] = {                                                           \
      {param_, "list(int)", dflt_,                                                                 \
       "one number; one for each axis; or one for either side of each axis", 0, 0},                \
      KERAS_FORMAT};                                                                               \
  static const tfsdk_layerdef layers[] = {{TFSDK_LAYER_HEAD(#name_, doc_), .param = param,         \
                                           .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1,     \
                                           .build = build}}

#endif
