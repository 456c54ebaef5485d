/* equality.h - what Equal and NotEqual share: each element is compared, strings byte by byte; NaN equals nothing. With
 * incompatible_shape_error = false, shapes that do not broadcast count as different as a whole. */
#ifndef OPS_MATH_EQUALITY_H
#define OPS_MATH_EQUALITY_H

#include <tfsdk/elementwise.h>

/* The rule of broadcasting as a question, for whole shapes. */
static inline int equality_compatible(const tfsdk_shape *a, const tfsdk_shape *b) {
  for (int32_t i = 1; i <= a->rank && i <= b->rank; i++) {
    int64_t x = a->dim[a->rank - i], y = b->dim[b->rank - i];
    if (x >= 0 && y >= 0 && x != y && x != 1 && y != 1) return 0;
  }
  return 1;
}

static inline tfsdk_status *equality_infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *y = &c->in[1].shape;
  if (!tfsdk_attr_int(&c->attr, "incompatible_shape_error")) {
    if (!tfsdk_shape_whole(x) || !tfsdk_shape_whole(y)) return NULL; /* either is possible */
    if (!equality_compatible(x, y)) return tfsdk_infer_scalar(c);
  }
  return tfsdk_ew_infer2(c);
}

/* The bool `when_equal` where the inputs are equal, its opposite elsewhere; `plain` compares numbers. */
static inline tfsdk_status *equality_run(void *state, tfsdk_run *r, int when_equal,
                                         tfsdk_status *(*plain)(void *state, tfsdk_run *r)) {
  tfsdk_shape x = tfsdk_shape_of_view(&r->in[0]), y = tfsdk_shape_of_view(&r->in[1]);
  uint8_t *z = (uint8_t *)r->out[0].data;
  tfsdk_walk w;
  if (!equality_compatible(&x, &y)) {
    z[0] = !when_equal;
    return NULL;
  }
  if (r->in[0].dtype != TFSDK_STRING) return plain(state, r);
  for (tfsdk_walk_begin(&w, r->in, 2, &r->out[0]); w.rows > 0; tfsdk_walk_next(&w))
    for (int64_t i = 0; i < w.n; i++) {
      uint64_t n, m;
      const char *a = tfsdk_view_string(&r->in[0], w.at[0] + i * w.step[0], &n);
      const char *b = tfsdk_view_string(&r->in[1], w.at[1] + i * w.step[1], &m);
      z[w.out + i] = (n == m && memcmp(a, b, n) == 0) == when_equal;
    }
  return NULL;
}

#define EQUALITY_ATTRS(otherwise)                                                                  \
  {"T",                                                                                            \
   "dtype{float32,float64,float16,bfloat16,int8,int16,int32,int64,uint8,uint16,uint32,uint64,"     \
   "bool,string}",                                                                                 \
   NULL,                                                                                           \
   "element type",                                                                                 \
   0,                                                                                              \
   0},                                                                                             \
  {                                                                                                \
    "incompatible_shape_error", "bool", "true",                                                    \
        "false: shapes that do not broadcast give the scalar " otherwise " instead of an error",   \
        0, 0                                                                                       \
  }

#endif
