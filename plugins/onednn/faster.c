/* The shapes at which oneDNN's kernels are chosen by themselves: where the CPU backend's have a known
 * weakness, and where measuring (bench/) found oneDNN at least a tenth faster. Everything else is as
 * fast or faster without. */
#include "onednn.h"

/* Opening the library costs some 5 ms and 5 MB, making a primitive up to a millisecond: a node that
 * has fewer multiply-adds will hardly earn that. */
enum { LEAST_WORK = 10000000 };

static int64_t stride_of(const tfsdk_kbuild *b) {
  uint32_t n;
  const int64_t *strides = tfsdk_attr_ints(&b->attr, "strides", &n);
  return n != 4 ? 0 : strides[1] > strides[2] ? strides[1] : strides[2];
}

static int undilated(const tfsdk_kbuild *b) {
  uint32_t n;
  const int64_t *dilations = tfsdk_attr_ints(&b->attr, "dilations", &n);
  return n == 0 || (n == 4 && dilations[1] == 1 && dilations[2] == 1);
}

static int images(const tfsdk_shape *s) { return s->rank == 4; }
static int64_t positions(const tfsdk_shape *s) { return s->dim[0] * s->dim[1] * s->dim[2]; }

/* With a stride, rows of few positions: measured, the reason was not looked for. */
enum { SHORT_ROW = 8 };

/* A 1 x 1 convolution between few channels: a tile has few multiply-adds for what it writes. */
static int few_for_each(const tfsdk_shape *f) {
  return f->dim[0] == 1 && f->dim[1] == 1 && f->dim[2] <= 64 && f->dim[2] * f->dim[3] <= 8192;
}

static int conv_is_faster(const tfsdk_kbuild *b) {
  const tfsdk_shape *x = &b->in_shape[0], *f = &b->in_shape[1];
  const int64_t stride = stride_of(b);
  int64_t work;
  if (!images(x) || !images(f) || x->dim[3] != f->dim[2] || stride < 1) return 0;
  work = positions(x) / (stride * stride) * f->dim[0] * f->dim[1] * f->dim[2] * f->dim[3];
  if (work < LEAST_WORK) return 0;
  if (stride == 1) return few_for_each(f);
  return x->dim[2] <= SHORT_ROW * stride && f->dim[0] > 1 && f->dim[2] >= 64;
}

/* The gradient of the images. With a stride the CPU backend computes each residue of the position
 * with every second tap or so and writes pixels with gaps between them: not worth it when a pixel is
 * one or two vectors. And a vector for up to 4 channels is mostly empty. */
static int conv_input_is_faster(const tfsdk_kbuild *b) {
  const tfsdk_shape *f = &b->in_shape[1], *dy = &b->in_shape[2];
  int64_t work;
  if (!images(f) || !images(dy) || dy->dim[3] != f->dim[3]) return 0;
  work = positions(dy) * f->dim[0] * f->dim[1] * f->dim[2] * f->dim[3];
  if (work < LEAST_WORK) return 0;
  if (stride_of(b) == 1) return (f->dim[2] <= 4 && f->dim[3] <= 32) || few_for_each(f);
  return f->dim[2] <= 32 || dy->dim[2] <= SHORT_ROW;
}

/* Each channel by itself: rows of few pixels are mostly edges. */
static int depthwise_is_faster(const tfsdk_kbuild *b) {
  const tfsdk_shape *x = &b->in_shape[0], *f = &b->in_shape[1];
  if (!images(x) || !images(f) || f->dim[3] != 1 || stride_of(b) != 1) return 0;
  return x->dim[2] <= 8 && x->dim[3] >= 64 &&
         positions(x) * x->dim[3] * f->dim[0] * f->dim[1] >= LEAST_WORK / 4;
}

/* The gradient of its filter: sums of few products each, or with a stride. */
static int depthwise_filter_is_faster(const tfsdk_kbuild *b) {
  const tfsdk_shape *x = &b->in_shape[0], *dy = &b->in_shape[2];
  if (!images(x) || !images(dy) || x->dim[3] != dy->dim[3]) return 0;
  return (dy->dim[2] <= 32 || stride_of(b) > 1) && x->dim[3] >= 64 &&
         positions(dy) * x->dim[3] * 9 >= LEAST_WORK / 4;
}

tfsdk_status *dn_supports_faster(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n) {
  static const struct {
    const char *op;
    int (*is_faster)(const tfsdk_kbuild *b);
  } rules[] = {{"Conv2D", conv_is_faster},
               {"Conv2DBackpropInput", conv_input_is_faster},
               {"DepthwiseConv2dNative", depthwise_is_faster},
               {"DepthwiseConv2dNativeBackpropFilter", depthwise_filter_is_faster}};
  const char *text;
  *yes = 0;
  if (strcmp(tfsdk_attr_string(&b->attr, "data_format"), "NHWC") == 0 && undilated(b))
    for (size_t i = 0; i < TFSDK_COUNT(rules); i++)
      if (strcmp(rules[i].op, b->op->name) == 0) *yes = rules[i].is_faster(b);
  if (!*yes)
    snprintf(why, why_n, "no faster for these shapes");
  else if (dn_library_get(&text) == NULL) {
    *yes = 0;
    snprintf(why, why_n, "%s", text);
  }
  return NULL;
}
