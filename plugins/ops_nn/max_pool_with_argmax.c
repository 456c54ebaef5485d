/* MaxPoolWithArgmax: the maximum of each window and where it stands; its gradient adds to those
 * places, and the gradient of that reads them. Images are NHWC; the place is the flat index ((n
 * H + y) W + x) C + c, without n H unless include_batch_in_index. */
#include <tfsdk/unit.h>
#include "emit_nn.h"
#include "pool.h"
#include "row.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_geometry g;
  TFSDK_TRY(tfsdk_geometry_pool(c->host, &c->attr, 2, &c->in[0].shape, &g));
  c->out[0].shape = c->out[1].shape = tfsdk_geometry_out(&g);
  return NULL;
}

/* Inputs input, grad, argmax; the last two (or in the second derivative argmax alone) have the
 * output's shape. */
static tfsdk_status *infer_back(tfsdk_infer *c, int second) {
  tfsdk_geometry g;
  tfsdk_shape y, same;
  TFSDK_TRY(tfsdk_geometry_pool(c->host, &c->attr, 2, &c->in[0].shape, &g));
  y = tfsdk_geometry_out(&g);
  TFSDK_TRY(tfsdk_merge(c, &c->in[2].shape, &y,
                        "'argmax' must have the shape of the pooling's output", &y));
  TFSDK_TRY(tfsdk_merge(c, &c->in[1].shape, second ? &c->in[0].shape : &y,
                        second ? "'grad' must have the shape of 'input'"
                               : "'grad' must have the shape of the pooling's output",
                        &same));
  c->out[0].shape = second ? y : c->in[0].shape;
  return NULL;
}
static tfsdk_status *infer_grad(tfsdk_infer *c) { return infer_back(c, 0); }
static tfsdk_status *infer_grad_grad(tfsdk_infer *c) { return infer_back(c, 1); }

typedef struct both {
  nn_copy values;
  const tfsdk_view *places;
  int64_t image_in, image_out; /* elements of one image; image_in 0: the batch counts */
} both;

static void store_both(void *user, int64_t at, int64_t step, int64_t n, const int64_t *winner) {
  both *b = (both *)user;
  int64_t before = b->image_in == 0 ? 0 : at / b->image_out * b->image_in;
  nn_copy_winners(&b->values, at, step, n, winner);
  for (int64_t i = 0; i < n; i++) {
    int64_t place = winner[i] - before;
    nn_store_i(b->places->dtype, b->places->data, at + i * step, 1, 1, &place);
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_shape shape = tfsdk_shape_of_view(&r->in[0]);
  tfsdk_geometry g;
  both b = {.values = {&r->in[0], &r->out[0]}, .places = &r->out[1]};
  (void)state;
  TFSDK_TRY(tfsdk_geometry_pool(r->host, &r->attr, 2, &shape, &g));
  b.image_out = tfsdk_layout_out(&g).batch;
  if (!tfsdk_attr_int(&r->attr, "include_batch_in_index")) b.image_in = tfsdk_layout_in(&g).batch;
  return nn_max_winners(r, &g, &r->in[0], store_both, &b);
}

/* The element of the whole input that argmax[i] says; checked. */
static tfsdk_status *place_of(tfsdk_run *r, int64_t i, int64_t *out) {
  const tfsdk_view *x = &r->in[0], *argmax = &r->in[2]; /* of x only the shape is there */
  int64_t images = x->dim[0], image_in = x->dim[1] * x->dim[2] * x->dim[3];
  int64_t image_out = images > 0 ? argmax->n_elem / images : 0, place = tfsdk_view_int(argmax, i);
  int64_t limit = image_in;
  if (tfsdk_attr_int(&r->attr, "include_batch_in_index")) {
    limit = images * image_in;
    image_in = 0;
  }
  TFSDK_REQUIRE(r, place >= 0 && place < limit,
                "argmax element %lld is %lld, but must be in 0..%lld", (long long)i,
                (long long)place, (long long)limit - 1);
  *out = i / image_out * image_in + place;
  return NULL;
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  nn_scatter scatter;
  (void)state;
  TFSDK_TRY(nn_scatter_open(r, &r->in[1], &r->out[0], &scatter));
  for (int64_t i = 0; i < r->in[2].n_elem; i++) {
    int64_t place;
    TFSDK_TRY(place_of(r, i, &place));
    nn_scatter_winners(&scatter, i, 1, 1, &place);
  }
  nn_scatter_close(&scatter);
  return NULL;
}

static tfsdk_status *compute_grad_grad(void *state, tfsdk_run *r) {
  nn_copy copy = {&r->in[1], &r->out[0]};
  (void)state;
  for (int64_t i = 0; i < r->in[2].n_elem; i++) {
    int64_t place;
    TFSDK_TRY(place_of(r, i, &place));
    nn_copy_winners(&copy, i, 1, 1, &place);
  }
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val in[3];
  if (!tfsdk_has_dy(g, 0)) return NULL;
  in[0] = tfsdk_input(g, 0);
  in[1] = tfsdk_dy(g, 0);
  in[2] = tfsdk_output(g, 1);
  return tfsdk_set_dx(g, 0, nn_emit_like(c, g, "MaxPoolGradWithArgmax", in, 3));
}
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val in[3] = {tfsdk_input(g, 0), tfsdk_dy(g, 0), tfsdk_input(g, 2)};
  return tfsdk_set_dx(g, 1, nn_emit_like(c, g, "MaxPoolGradGradWithArgmax", in, 3));
}
static tfsdk_status *grad_grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val in[3] = {tfsdk_input(g, 0), tfsdk_dy(g, 0), tfsdk_input(g, 2)};
  return tfsdk_set_dx(g, 1, nn_emit_like(c, g, "MaxPoolGradWithArgmax", in, 3));
}

static const tfsdk_arg in[] = {{"input", "T", "images [batch, height, width, channels]", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "images", 0, 0},
                                {"argmax", "Targmax",
                                 "of output's shape: the flat index of each maximum",
                                 TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg in_grad[] = {
    {"input", "T", "the pooling's input; only its shape matters",
     TFSDK_ARG_SHAPE_ONLY | TFSDK_ARG_NONDIFF, 0},
    {"grad", "T", "the gradient of the output", 0, 0},
    {"argmax", "Targmax", "the pooling's second output", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg in_grad_grad[] = {
    {"input", "T", "the pooling's input; only its shape matters",
     TFSDK_ARG_SHAPE_ONLY | TFSDK_ARG_NONDIFF, 0},
    {"grad", "T", "of the shape of `input`", 0, 0},
    {"argmax", "Targmax", "the pooling's second output", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out_one[] = {{"output", "T", "images", 0, 0}};

#define TYPE "dtype{float16,bfloat16,float32,float64,int32,int64,uint8,int16,int8,uint16}"
#define WINDOW_ATTRS                                                                               \
  {"T", TYPE, NULL, "the elements' type", 0, 0},                                                   \
      {"ksize", "list(int)", NULL, "4 extents of the window; 1 for batch and channels", 0, 0},     \
      {"strides", "list(int)", NULL, "4 steps of the window, as `ksize`", 0, 0},                   \
      {"padding",                                                                                  \
       "string{SAME,VALID}",                                                                       \
       NULL,                                                                                       \
       "SAME: ceil(extent / stride) outputs, the odd pixel of padding at the end; VALID: none",    \
       0,                                                                                          \
       0},                                                                                         \
  {                                                                                                \
    "include_batch_in_index", "bool", "false", "the index counts through the whole batch", 0, 0    \
  }
static const tfsdk_attrdef attr[] = {
    WINDOW_ATTRS, {"Targmax", "dtype{int32,int64}", "int64", "the type of `argmax`", 0, 0}};
static const tfsdk_attrdef attr_grad[] = {
    WINDOW_ATTRS, {"Targmax", "dtype{int32,int64}", NULL, "the type of `argmax`", 0, 0}};

static const char *const samples[] = {
    "T[2,4,5,2] | ksize=[1,2,2,1] ; strides=[1,2,2,1] ; padding=SAME",
    "T[2,4,5,2] | ksize=[1,2,2,1] ; strides=[1,2,2,1] ; padding=VALID ; "
    "include_batch_in_index=true ; "
    "Targmax=int32",
    NULL};
static const char *const samples_grad[] = {"T[1,2,4,1] ; T[1,1,2,1] ; int64{{{{1},{7}}}} | "
                                           "ksize=[1,2,2,1] ; strides=[1,2,2,1] ; padding=VALID",
                                           NULL};
static const char *const samples_grad_grad[] = {
    "T[1,2,4,1] ; T[1,2,4,1] ; int64{{{{1},{7}}}} | ksize=[1,2,2,1] ; strides=[1,2,2,1] ; "
    "padding=VALID",
    NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MaxPoolWithArgmax", "the maximum of each window and its place"),
     .doc = "MaxPool that also tells where each maximum stands: `argmax` is `(y * width + x) * "
            "channels + c`, with `include_batch_in_index` `((n * height + y) * width + x) * "
            "channels + c`. Of equal elements the first in row order wins.",
     .in = in, .n_in = 1, .out = out, .n_out = 2, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer, .reference = compute, .grad = grad, .grad_out = 2, .grad_shape = 1,
     .samples = samples},
    {TFSDK_OP_HEAD("MaxPoolGradWithArgmax", "the gradient of MaxPoolWithArgmax"),
     .doc = "Adds each element of `grad` to the place that `argmax` says. A place outside of the "
            "image is an error.",
     .in = in_grad, .n_in = 3, .out = out_one, .n_out = 1, .attr = attr_grad,
     .n_attr = TFSDK_COUNT(attr_grad), .infer = infer_grad, .reference = compute_grad,
     .grad = grad_grad, .grad_in = 4, .grad_shape = 1, .samples = samples_grad},
    {TFSDK_OP_HEAD("MaxPoolGradGradWithArgmax",
                   "the gradient of MaxPoolGradWithArgmax with respect to its gradient"),
     .doc = "`output[i] = grad[argmax[i]]`, within the same image unless `include_batch_in_index`.",
     .in = in_grad_grad, .n_in = 3, .out = out_one, .n_out = 1, .attr = attr_grad,
     .n_attr = TFSDK_COUNT(attr_grad), .infer = infer_grad_grad, .reference = compute_grad_grad,
     .grad = grad_grad_grad, .grad_in = 4, .grad_shape = 1, .samples = samples_grad_grad}};
TFSDK_UNIT_OPS(max_pool_with_argmax, ops);
