/* tfsdk/rewrite.h - what rewriting rules (op.h: `rewrite`) have in common. Header only.
 *
 *     static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {      // x * 1 = x
 *       if (tfsdk_all_are(c, w->in[1], 1) && tfsdk_covers(c, w->in[0], w->in[1]))
 *         return tfsdk_set_rewritten(w, 0, w->in[0]);
 *       return NULL;
 *     }
 */
#ifndef TFSDK_REWRITE_H
#define TFSDK_REWRITE_H

#include <tfsdk/emit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nonzero if v is known, a float or integer, and all its elements are that number. */
static inline int tfsdk_all_are(tfsdk_ctx *c, tfsdk_val v, double number) {
  tfsdk_view x;
  if (!tfsdk_known(c, v, &x) || x.n_elem == 0) return 0;
#define TFSDK_ALL_(type)                                                                           \
  do {                                                                                             \
    const type *p_ = (const type *)x.data;                                                         \
    for (int64_t i_ = 0; i_ < x.n_elem; i_++)                                                      \
      if (!((double)p_[i_] >= number && (double)p_[i_] <= number)) return 0;                       \
    return 1;                                                                                      \
  } while (0)
  switch (x.dtype) {
  case TFSDK_FLOAT32: TFSDK_ALL_(float);
  case TFSDK_FLOAT64: TFSDK_ALL_(double);
  case TFSDK_INT32: TFSDK_ALL_(int32_t);
  case TFSDK_INT64: TFSDK_ALL_(int64_t);
  }
#undef TFSDK_ALL_
  return 0;
}

/* Nonzero if broadcasting with b leaves a's shape as it is, as far as static shapes tell. */
static inline int tfsdk_covers(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b) {
  tfsdk_typed_shape x = tfsdk_type(c, a), y = tfsdk_type(c, b);
  int32_t lead = x.shape.rank - y.shape.rank;
  if (x.shape.rank < 0 || y.shape.rank < 0 || lead < 0) return 0;
  for (int32_t i = 0; i < y.shape.rank; i++)
    if (y.shape.dim[i] != 1 && (y.shape.dim[i] < 0 || y.shape.dim[i] != x.shape.dim[lead + i]))
      return 0;
  return 1;
}

/* Nonzero if the permutation is known and swaps the last two of `rank` axes, and only these. */
static inline int tfsdk_swaps_last(tfsdk_ctx *c, tfsdk_val perm) {
  tfsdk_view p;
  if (!tfsdk_known(c, perm, &p) || p.rank != 1 || p.n_elem < 2) return 0;
  for (int64_t i = 0; i < p.n_elem; i++) {
    int64_t want = i < p.n_elem - 2 ? i : 2 * p.n_elem - 3 - i;
    int64_t have = p.dtype == TFSDK_INT64 ? ((const int64_t *)p.data)[i]
                                          : (int64_t)((const int32_t *)p.data)[i];
    if (have < 0) have += p.n_elem;
    if (have != want) return 0;
  }
  return 1;
}

/* The matrix that v is the transpose of, if it is made so: for products, which can read either. */
static inline int tfsdk_untransposed(tfsdk_ctx *c, tfsdk_rewriting *w, tfsdk_val v,
                                     tfsdk_val *out) {
  tfsdk_maker m;
  if (!tfsdk_made_by(w, v, "Transpose", &m) || !tfsdk_swaps_last(c, m.in[1])) return 0;
  *out = m.in[0];
  return 1;
}

#ifdef __cplusplus
}
#endif
#endif
