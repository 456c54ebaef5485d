/* What ArgMax and ArgMin share. Including file defines BETTER as `>` or `<` first. Of equal
 * elements the first counts; a NaN counts as the extreme one, as in NumPy. */
#ifndef OPS_MATH_ARG_EXTREME_H
#define OPS_MATH_ARG_EXTREME_H

#include <tfsdk/elementwise.h>

static tfsdk_status *arg_infer(tfsdk_infer *c) {
  const tfsdk_shape *in = &c->in[0].shape;
  tfsdk_shape s = tfsdk_shape_scalar();
  int32_t axis = 0;
  if (in->rank < 0) return NULL;
  if (c->value[1] == NULL) {
    if (in->rank > 0) c->out[0].shape = tfsdk_shape_of_rank(in->rank - 1);
    return NULL;
  }
  TFSDK_REQUIRE(c, c->value[1]->n_elem == 1, "dimension must be a scalar");
  TFSDK_TRY(tfsdk_axis(c, tfsdk_view_int(c->value[1], 0), in->rank, &axis));
  for (int32_t d = 0; d < in->rank; d++)
    if (d != axis) s.dim[s.rank++] = in->dim[d];
  TFSDK_REQUIRE(c, in->dim[axis] != 0 || tfsdk_shape_elements(&s) == 0,
                "axis %d of shape %s is empty: it has no extreme element", (int)axis,
                tfsdk_shape_text(in).s);
  c->out[0].shape = s;
  return NULL;
}

/* The input as outer x n x inner, n along the axis.
 * The first NaN wins and ends the search. */
#define ARG_CASE_(id, S, C, LOAD, STORE, ...)                                                      \
  case TFSDK_##id: {                                                                               \
    const S *x = (const S *)r->in[0].data;                                                         \
    for (int64_t o = 0; o < outer; o++)                                                            \
      for (int64_t i = 0; i < inner; i++) {                                                        \
        const S *line = x + o * n * inner + i;                                                     \
        C best = LOAD(C, line[0]);                                                                 \
        int64_t at = 0;                                                                            \
        for (int64_t k = 1; k < n && best == best; k++) {                                          \
          const C v = LOAD(C, line[k * inner]);                                                    \
          if (v BETTER best || v != v) {                                                           \
            best = v;                                                                              \
            at = k;                                                                                \
          }                                                                                        \
        }                                                                                          \
        if (wide)                                                                                  \
          ((int64_t *)r->out[0].data)[o * inner + i] = at;                                         \
        else                                                                                       \
          ((int32_t *)r->out[0].data)[o * inner + i] = (int32_t)at;                                \
      }                                                                                            \
    break;                                                                                         \
  }
static tfsdk_status *arg_compute(void *state, tfsdk_run *r) {
  const tfsdk_view *in = &r->in[0];
  int64_t axis = tfsdk_view_int(&r->in[1], 0), outer = 1, n, inner = 1;
  const int wide = r->out[0].dtype == TFSDK_INT64;
  (void)state;
  if (r->out[0].n_elem == 0) return NULL;
  if (axis < 0) axis += in->rank;
  for (int64_t d = 0; d < axis; d++) outer *= in->dim[d];
  n = in->dim[axis];
  for (int64_t d = axis + 1; d < in->rank; d++) inner *= in->dim[d];
  switch (in->dtype) {
    TFSDK_EW_ANY(ARG_CASE_, )
  default: return tfsdk_ew_no_type(r);
  }
  return NULL;
}

static const tfsdk_arg arg_in[] = {
    {"input", "T", "rank 1 or more", TFSDK_ARG_NONDIFF, 0},
    {"dimension", "Tidx", "the axis: a scalar, negative counts from the end",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg arg_out[] = {
    {"output", "output_type", "input's shape without the axis", 0, 0}};
static const tfsdk_attrdef arg_attr[] = {
    {"T", TFSDK_T_ANY, NULL, "element type", 0, 0},
    {"Tidx", "dtype{int32,int64}", "int32", "type of the axis", 0, 0},
    {"output_type", "dtype{int32,int64}", "int64", "type of the positions", 0, 0},
};
#define ARG_SCHEMA                                                                                 \
  .in = arg_in, .n_in = TFSDK_COUNT(arg_in), .out = arg_out, .n_out = TFSDK_COUNT(arg_out),        \
  .attr = arg_attr, .n_attr = TFSDK_COUNT(arg_attr), .infer = arg_infer, .const_in = 2,            \
  .reference = arg_compute, .no_grad_reason = "positions are integers"

#endif
