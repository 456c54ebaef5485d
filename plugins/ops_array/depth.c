/* depth.c - see depth.h. */
#include "depth.h"

typedef struct layout {
  int32_t rank, h, w, c; /* axes */
  int32_t unit;          /* channels that lie behind one step of c: 4 for NCHW_VECT_C */
} layout;

static layout layout_of(const tfsdk_attrs *a) {
  static const layout nhwc = {4, 1, 2, 3, 1}, nchw = {4, 2, 3, 1, 1}, vect = {5, 2, 3, 1, 4};
  const char *f = tfsdk_attr_string(a, "data_format");
  return strcmp(f, "NCHW") == 0 ? nchw : strcmp(f, "NCHW_VECT_C") == 0 ? vect : nhwc;
}

tfsdk_status *array_depth_infer(tfsdk_infer *c, int to_depth) {
  layout l = layout_of(&c->attr);
  int64_t block = tfsdk_attr_int(&c->attr, "block_size"), *y;
  tfsdk_shape s;
  TFSDK_TRY(tfsdk_with_rank(c, 0, l.rank, &s));
  if (l.unit == 4 && s.dim[4] >= 0 && s.dim[4] != 4)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "the last extent of shape %s must be 4 for NCHW_VECT_C",
                      tfsdk_shape_text(&s).s);
  y = s.dim;
  for (int i = 0; i < 2; i++) {
    int32_t axis = i == 0 ? l.h : l.w;
    if (y[axis] < 0) continue;
    if (!to_depth)
      TFSDK_TRY(array_mul(c, y[axis], block, "block_size", &y[axis]));
    else if (y[axis] % block != 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "extent %lld of axis %d is no multiple of block_size %lld",
                        (long long)y[axis], (int)axis, (long long)block);
    else
      y[axis] /= block;
  }
  if (y[l.c] >= 0) {
    if (to_depth)
      TFSDK_TRY(array_mul(c, y[l.c], block * block, "block_size", &y[l.c]));
    else if (y[l.c] * l.unit % (block * block) != 0 || y[l.c] % (block * block) != 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "%lld channels are no multiple of block_size squared, %lld",
                        (long long)(y[l.c] * l.unit), (long long)(block * block));
    else
      y[l.c] /= block * block;
  }
  c->out[0].shape = s;
  return NULL;
}

/* The wide image as the axes [n, i, p, j, q, c, u], the deep one as [n, i, j, p, q, c, u]: each is
 * read in the order in which the other is written. */
tfsdk_status *array_depth_run(tfsdk_run *r, int to_depth) {
  layout l = layout_of(&r->attr);
  const tfsdk_view *x = &r->in[0], *wide = to_depth ? x : &r->out[0],
                   *deep = to_depth ? &r->out[0] : x;
  int64_t b = tfsdk_attr_int(&r->attr, "block_size"), sw[TFSDK_MAX_RANK], sd[TFSDK_MAX_RANK];
  int64_t n = wide->dim[0], h = deep->dim[l.h], w = deep->dim[l.w], c = wide->dim[l.c], u = l.unit;
  array_walk walk = {0};
  array_strides(wide->dim, wide->rank, sw);
  array_strides(deep->dim, deep->rank, sd);
  array_walk_axis(&walk, n, to_depth ? sw[0] : sd[0]);
  if (to_depth) { /* in the order of the deep image's memory, through the wide one */
    if (l.c == 1) {
      array_walk_axis(&walk, b, sw[l.h]);
      array_walk_axis(&walk, b, sw[l.w]);
      array_walk_axis(&walk, c, sw[l.c]);
    }
    array_walk_axis(&walk, h, b * sw[l.h]);
    array_walk_axis(&walk, w, b * sw[l.w]);
    if (l.c != 1) {
      array_walk_axis(&walk, b, sw[l.h]);
      array_walk_axis(&walk, b, sw[l.w]);
      array_walk_axis(&walk, c, sw[l.c]);
    }
  } else {
    if (l.c == 1) array_walk_axis(&walk, c, sd[l.c]);
    array_walk_axis(&walk, h, sd[l.h]);
    array_walk_axis(&walk, b, b * c * sd[l.c]);
    array_walk_axis(&walk, w, sd[l.w]);
    array_walk_axis(&walk, b, c * sd[l.c]);
    if (l.c != 1) array_walk_axis(&walk, c, sd[l.c]);
  }
  if (u > 1) array_walk_axis(&walk, u, 1);
  return array_copy_walk(r, 0, 0, &walk);
}

tfsdk_status *array_depth_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *opposite) {
  tfsdk_val dy = tfsdk_dy(g, 0);
  tfsdk_attrval a[2];
  a[0] = tfsdk_a_int("block_size", tfsdk_attr_int(&g->attr, "block_size"));
  a[1] = tfsdk_a_string("data_format", tfsdk_attr_string(&g->attr, "data_format"));
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, opposite, &dy, 1, a, 2));
}
