/* resize_linear.h - what the resizes whose result is linear in the pixels share: schema, shapes, gradients. A file that
 * includes it is one such op. */
#ifndef OPS_IMAGE_RESIZE_LINEAR_H
#define OPS_IMAGE_RESIZE_LINEAR_H

#include "resize.h"

static const tfsdk_arg resize_in[] = {
    {"images", "T", "[batch, height, width, channels]", 0, 0},
    {"size", "int32", "new height and width", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg resize_out[] = {
    {"resized_images", "float32", "[batch, size[0], size[1], channels]", 0, 0}};
static const tfsdk_arg resize_grad_in[] = {
    {"grads", "float32", "[batch, new height, new width, channels]", 0, 0},
    {"original_image", "T", "the images that were resized: their type and shape",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0}};
static const tfsdk_arg resize_grad_out[] = {
    {"output", "T", "the gradient of the images, of their shape", 0, 0}};
#define RESIZE_ATTRS(types)                                                                        \
  {"T", types, NULL, "type of the images", 0, 0},                                                  \
      {"align_corners", "bool", "false", "first and last pixels stay where they are", 0, 0}, {     \
    "half_pixel_centers", "bool", "false", "pixels are squares: the grid of other libraries", 0, 0 \
  }
static const tfsdk_attrdef resize_attr[] = {RESIZE_ATTRS(TFSDK_T_NUMBERS)};
static const tfsdk_attrdef resize_grad_attr[] = {RESIZE_ATTRS(TFSDK_T_FLOATS)};

static inline tfsdk_status *resize_infer_grad(tfsdk_infer *c) {
  tfsdk_shape dy = tfsdk_shape_unknown(), images = tfsdk_shape_unknown();
  int64_t same;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 4, &dy));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 4, &images));
  TFSDK_TRY(tfsdk_merge_dim(c, dy.dim[0], images.dim[0], "the numbers of images", &same));
  TFSDK_TRY(tfsdk_merge_dim(c, dy.dim[3], images.dim[3], "the numbers of channels", &same));
  for (int i = 1; i <= 2; i++)
    TFSDK_REQUIRE(c, images.dim[i] != 0 && dy.dim[i] != 0, "images without pixels: %s and %s",
                  tfsdk_shape_text(&images).s, tfsdk_shape_text(&dy).s);
  c->out[0].shape = images;
  return NULL;
}

/* ------------------------------------------------------------------------------------ gradients */

#define RESIZE_STORE_(id, S, C, LOAD, STORE, unused)                                               \
  case TFSDK_##id:                                                                                 \
    for (int64_t i = 0; i < n; i++) ((S *)r->out[0].data)[i] = STORE(S, (*sum)[i]);                \
    break;
/* fn for each image; *sum, which fn's `user` holds, are zeros that it adds to, and what is stored as output 0. */
static inline tfsdk_status *resize_add_up(tfsdk_run *r, tfsdk_range_fn *fn, void *user,
                                          double **sum) {
  const int64_t n = r->out[0].n_elem;
  void *room;
  TFSDK_TRY(r->api->workspace(r, (size_t)n * sizeof(double), &room));
  *sum = (double *)room;
  memset(room, 0, (size_t)n * sizeof(double));
  r->api->par_for(r, r->out[0].dim[0], 1, fn, user);
  switch (r->out[0].dtype) {
    TFSDK_EW_FLOATS(RESIZE_STORE_, 0)
  default: return tfsdk_ew_no_type(r);
  }
  return NULL;
}

static inline tfsdk_val resize_emit(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op, tfsdk_val a,
                                    tfsdk_val b) {
  tfsdk_val in[2] = {a, b};
  tfsdk_attrval attr[2] = {
      tfsdk_a_bool("align_corners", tfsdk_attr_int(&g->attr, "align_corners")),
      tfsdk_a_bool("half_pixel_centers", tfsdk_attr_int(&g->attr, "half_pixel_centers"))};
  return tfsdk_emit(c, op, in, 2, attr, 2);
}
/* `op` of dy and the images. */
static inline tfsdk_status *resize_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op) {
  tfsdk_val x = tfsdk_input(g, 0);
  if (tfsdk_dtype_kind(tfsdk_type(c, x).dtype) != 'f') return tfsdk_ctx_error(c);
  return tfsdk_set_dx(g, 0, resize_emit(c, g, op, tfsdk_dy(g, 0), x));
}
/* `op`, the resize itself, of dy and the size of the images that were resized: input 0 of the gradient. */
static inline tfsdk_status *resize_grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op) {
  static const int64_t from[1] = {1}, count[1] = {2};
  tfsdk_val size = tfsdk_emit1(c, "Shape", tfsdk_input(g, 0));
  size = tfsdk_emit3(c, "Slice", size, tfsdk_int_vector(c, from, 1), tfsdk_int_vector(c, count, 1));
  return tfsdk_set_dx(g, 0, resize_emit(c, g, op, tfsdk_dy(g, 0), size));
}

#endif
