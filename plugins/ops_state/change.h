/* Changing a variable in place by a tensor of its type and shape.
 *
 * Integers wrap around. 16-bit floating numbers are added in binary32 and rounded once.
 */
#ifndef OPS_STATE_CHANGE_H
#define OPS_STATE_CHANGE_H

#include "state.h"

/* x += sign * y. Integers are added as unsigned numbers of their width, where wrapping is defined.
 */
#define CHANGE_LOOP(U)                                                                             \
  do {                                                                                             \
    U *x = (U *)v.data;                                                                            \
    const U *y = (const U *)d->data;                                                               \
    if (minus)                                                                                     \
      for (int64_t i = 0; i < v.n_elem; i++) x[i] = (U)(x[i] - y[i]);                              \
    else                                                                                           \
      for (int64_t i = 0; i < v.n_elem; i++) x[i] = (U)(x[i] + y[i]);                              \
  } while (0)

/* Adds input 1 to the variable, or takes it away. */
static inline tfsdk_status *change_variable(tfsdk_run *r, int minus) {
  const tfsdk_view *d = &r->in[1];
  tfsdk_view v;
  tfsdk_shape have, want = tfsdk_shape_of_view(d);
  TFSDK_TRY(r->api->var_mutable(r, 0, &v));
  TFSDK_REQUIRE(r, v.dtype == d->dtype, "the variable holds %s, but 'value' is %s",
                tfsdk_dtype_name(v.dtype), tfsdk_dtype_name(d->dtype));
  have = tfsdk_shape_of_view(&v);
  TFSDK_REQUIRE(r, tfsdk_same_shape(&have, &want), "the variable has shape %s, but 'value' has %s",
                tfsdk_shape_text(&have).s, tfsdk_shape_text(&want).s);
  switch (v.dtype) {
  case TFSDK_FLOAT32: CHANGE_LOOP(float); break;
  case TFSDK_FLOAT64: CHANGE_LOOP(double); break;
  case TFSDK_FLOAT16:
  case TFSDK_BFLOAT16: {
    uint16_t *x = (uint16_t *)v.data;
    for (int64_t i = 0; i < v.n_elem; i++) {
      float y = (float)tfsdk_view_number(d, i), sum;
      sum = (float)tfsdk_view_number(&v, i) + (minus ? -y : y);
      x[i] = v.dtype == TFSDK_FLOAT16 ? tfsdk_to_half(sum) : tfsdk_to_bfloat16(sum);
    }
    break;
  }
  default:
    switch (tfsdk_dtype_size(v.dtype)) {
    case 1: CHANGE_LOOP(uint8_t); break;
    case 2: CHANGE_LOOP(uint16_t); break;
    case 4: CHANGE_LOOP(uint32_t); break;
    default: CHANGE_LOOP(uint64_t); break;
    }
  }
  return NULL;
}

#endif
