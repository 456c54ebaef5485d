/* AdjustContrastv2: (x - mean) * factor + mean, with the mean of each channel of each image. */
#include <tfsdk/elementwise.h>

/* Channels of images: sum of the means in double, then a second pass. */
#define CONTRAST_(id, S, C, LOAD, STORE, unused)                                                   \
  case TFSDK_##id:                                                                                 \
    for (int64_t k = begin; k < end; k++) {                                                        \
      const S *x = (const S *)j->x->data + k / depth * pixels * depth + k % depth;                 \
      S *y = (S *)j->y->data + k / depth * pixels * depth + k % depth;                             \
      double mean = 0;                                                                             \
      for (int64_t i = 0; i < pixels; i++) mean += (double)LOAD(C, x[i * depth]);                  \
      mean /= (double)pixels;                                                                      \
      for (int64_t i = 0; i < pixels; i++) {                                                       \
        double v = ((double)LOAD(C, x[i * depth]) - mean) * j->factor + mean;                      \
        y[i * depth] = STORE(S, v);                                                                \
      }                                                                                            \
    }                                                                                              \
    break;
typedef struct job {
  const tfsdk_view *x, *y;
  double factor;
} job;
static void channels(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t depth = j->x->dim[j->x->rank - 1];
  const int64_t pixels = j->x->dim[j->x->rank - 2] * j->x->dim[j->x->rank - 3];
  switch (j->x->dtype) {
    TFSDK_EW_FLOATS(CONTRAST_, 0)
  default: break;
  }
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  job j = {&r->in[0], &r->out[0], (double)((const float *)r->in[1].data)[0]};
  int64_t pixels;
  (void)state;
  if (r->out[0].n_elem == 0) return NULL;
  pixels = j.x->dim[j.x->rank - 2] * j.x->dim[j.x->rank - 3];
  r->api->par_for(r, j.x->n_elem / pixels, 1 + 16384 / pixels, channels, &j);
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s;
  TFSDK_TRY(tfsdk_with_rank(c, 1, 0, &s));
  c->out[0].shape = c->in[0].shape;
  TFSDK_REQUIRE(c, c->out[0].shape.rank < 0 || c->out[0].shape.rank >= 3,
                "'images' must have the axes height, width, channels, but their shape is %s",
                tfsdk_shape_text(&c->out[0].shape).s);
  return NULL;
}
/* dx = factor dy + (1 - factor) mean(dy); d factor = sum(dy (x - mean(x))) */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  static const int64_t axes[2] = {-3, -2};
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0), factor = tfsdk_input(g, 1), d;
  tfsdk_attrval keep = tfsdk_a_bool("keep_dims", 1);
  tfsdk_attrval to = tfsdk_a_dtype("DstT", tfsdk_type(c, x).dtype);
  tfsdk_attrval back = tfsdk_a_dtype("DstT", TFSDK_FLOAT32);
  tfsdk_val mean[2] = {dy, tfsdk_int_vector(c, axes, 2)};
  tfsdk_val f = tfsdk_emit(c, "Cast", &factor, 1, &to, 1);
  d = tfsdk_emit(c, "Mean", mean, 2, &keep, 1);
  d = tfsdk_emit2(c, "AddV2", tfsdk_emit2(c, "Mul", dy, f),
                  tfsdk_emit2(c, "Mul", d, tfsdk_emit2(c, "Sub", tfsdk_scalar_like(c, x, 1), f)));
  TFSDK_TRY(tfsdk_set_dx(g, 0, d));
  if (!tfsdk_wants(g, 1)) return tfsdk_ctx_error(c);
  mean[0] = x;
  d = tfsdk_emit2(c, "Sub", x, tfsdk_emit(c, "Mean", mean, 2, &keep, 1));
  d = tfsdk_sum_like(c, tfsdk_emit2(c, "Mul", d, dy), f);
  return tfsdk_set_dx(g, 1, tfsdk_emit(c, "Cast", &d, 1, &back, 1));
}

static const tfsdk_arg in[] = {{"images", "T", "[..., height, width, channels]", 0, 0},
                               {"contrast_factor", "float32",
                                "scalar: the factor; 0 leaves each channel's mean", TFSDK_ARG_HOST,
                                0}};
static const tfsdk_arg out[] = {{"output", "T", "of the images' shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", TFSDK_T_FLOATS, NULL, "type of the images", 0, 0}};
static const char *const samples[] = {"T[2,3,4,2] ; float32(0.5)", "T[3,2,1] ; float32(2)",
                                      "float32[0,3,2,3] ; float32(2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("AdjustContrastv2", "brings colours nearer to their mean, or further from it"),
     .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer,
     .doc = "`(x - mean) factor + mean`, with the mean of each channel of each image.\n\n"
            "Source: TensorFlow `AdjustContrastv2`.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples}};
TFSDK_UNIT_OPS(adjust_contrast, ops);
