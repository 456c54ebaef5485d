/* The kernel that Select and SelectV2 share: elements are moved by their size, whatever they mean.
 */
#ifndef OPS_MATH_SELECT_H
#define OPS_MATH_SELECT_H

#include <tfsdk/elementwise.h>
#include "calc.h"

#define SELECT_CASE_(bytes, S)                                                                     \
  case bytes: {                                                                                    \
    const S *t = (const S *)in[1].data, *e = (const S *)in[2].data;                                \
    S *y = (S *)r->out[0].data;                                                                    \
    for (tfsdk_walk_begin(&w, in, 3, &r->out[0]); w.rows > 0; tfsdk_walk_next(&w))                 \
      for (int64_t i = 0; i < w.n; i++)                                                            \
        y[w.out + i] = condition[w.at[0] + i * w.step[0]] ? t[w.at[1] + i * w.step[1]]             \
                                                          : e[w.at[2] + i * w.step[2]];            \
    return NULL;                                                                                   \
  }

/* in: condition, t, e, which broadcast to the output. */
static inline tfsdk_status *select_run(tfsdk_run *r, const tfsdk_view *in) {
  const uint8_t *condition = (const uint8_t *)in[0].data;
  tfsdk_walk w;
  switch (tfsdk_dtype_size(r->out[0].dtype)) {
    SELECT_CASE_(1, uint8_t)
    SELECT_CASE_(2, uint16_t)
    SELECT_CASE_(4, uint32_t)
    SELECT_CASE_(8, uint64_t)
  default:
    return TFSDK_FAIL(r, UNIMPLEMENTED, "no reference kernel for %s",
                      tfsdk_dtype_name(r->out[0].dtype));
  }
}

#endif
