/* tfsdk/window.h - the geometry of convolution and pooling: one reading of strides, dilations,
 * padding and data format for shape rules and kernels alike. Header only.
 *
 * There are always three window axes: depth, height, width (TFSDK_AXIS_D, _H, _W). An op with two
 * has a depth of extent 1 everywhere, so a kernel for three axes serves both. Output position o
 * looks through tap t at the input position  o * stride - before + t * dilation;  outside of the
 * input there is padding.
 *
 *   tfsdk_geometry g;                                          // in a Conv2D kernel
 *   tfsdk_shape x = tfsdk_shape_of_view(&r->in[0]), f = tfsdk_shape_of_view(&r->in[1]);
 *   TFSDK_TRY(tfsdk_geometry_conv(r->host, &r->attr, 2, &x, &f, &g));
 *   const tfsdk_span *h = &g.axis[TFSDK_AXIS_H];        // h->in, h->window, h->out
 *
 * Layouts. Images are [batch, axes..., channels], or [batch, channels, axes...] with
 * channels_first; the filter is [axes..., in_c / groups, out_c] in both, a depthwise one
 * [axes..., in_c, multiplier]. A depthwise convolution is the grouped one with groups = in_c:
 * its filter has the same elements in the same order. */
#ifndef TFSDK_WINDOW_H
#define TFSDK_WINDOW_H

#include <tfsdk/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tfsdk_window_axis { TFSDK_AXIS_D = 0, TFSDK_AXIS_H = 1, TFSDK_AXIS_W = 2 };

/* One axis. Extents are -1 where a shape rule does not know them; in a kernel all are known. */
typedef struct tfsdk_span {
  int64_t in, window, out, stride, dilation;
  int64_t before; /* padding in front of the input */
} tfsdk_span;

typedef struct tfsdk_geometry {
  int32_t n_axes;         /* 2 or 3 */
  int32_t channels_first; /* NCHW, NCDHW */
  int64_t batch, in_c, out_c;
  int64_t groups;   /* convolution: channels are cut into so many independent parts; else 1 */
  int64_t window_c; /* pooling over channels: so many give one; else 1 */
  tfsdk_span axis[3];
} tfsdk_geometry;

/* What attributes say. Lists have n_axes + 2 members in the order of the data format, `paddings`
 * twice as many (before, after of each); a list of n = 0 stands for ones, for no padding. */
typedef struct tfsdk_window_spec {
  const int64_t *strides, *dilations, *ksize, *paddings;
  uint32_t n_strides, n_dilations, n_ksize, n_paddings;
  int32_t padding; /* TFSDK_PAD_* */
  int32_t channels_first;
} tfsdk_window_spec;

/* Reads the attributes strides, dilations, ksize, explicit_paddings, padding, data_format; those
 * that the op has not got stay empty. */
static inline void tfsdk_window_spec_read(const tfsdk_attrs *attr, tfsdk_window_spec *out) {
  memset(out, 0, sizeof *out);
  out->strides = tfsdk_attr_ints(attr, "strides", &out->n_strides);
  out->dilations = tfsdk_attr_ints(attr, "dilations", &out->n_dilations);
  out->ksize = tfsdk_attr_ints(attr, "ksize", &out->n_ksize);
  out->paddings = tfsdk_attr_ints(attr, "explicit_paddings", &out->n_paddings);
  out->padding = tfsdk_padding_of(tfsdk_attr_string(attr, "padding"));
  out->channels_first = strncmp(tfsdk_attr_string(attr, "data_format"), "NC", 2) == 0;
}

/* Checks a list of n_axes + 2 positive members: those of batch and channels must be 1 unless the
 * latter is asked for, the others go to out[3], depth first. */
static inline tfsdk_status *tfsdk_window_list(const tfsdk_infer *c, const char *what,
                                              const int64_t *list, uint32_t n, int32_t n_axes,
                                              int32_t channels_first, int64_t *out,
                                              int64_t *out_channel) {
  int32_t channel = channels_first ? 1 : n_axes + 1, at = 3 - n_axes;
  out[0] = out[1] = out[2] = 1;
  if (out_channel != NULL) *out_channel = 1;
  if (n == 0) return NULL;
  if (n != (uint32_t)n_axes + 2)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'%s' must have %d members, not %u", what,
                      (int)n_axes + 2, (unsigned)n);
  for (int32_t i = 0; i < n_axes + 2; i++) {
    if (list[i] < 1 || list[i] > INT32_MAX)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "'%s' must be positive, but member %d is %lld", what,
                        (int)i, (long long)list[i]);
    if (i == channel && out_channel != NULL)
      *out_channel = list[i];
    else if (i != 0 && i != channel)
      out[at++] = list[i];
    else if (list[i] != 1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "'%s' of batch and channels must be 1, but member %d is %lld", what, (int)i,
                        (long long)list[i]);
  }
  return NULL;
}

/* Fills batch, in_c and the axes from an image's shape and the windows' extents (window[3],
 * depth first, -1 unknown); out_c = in_c, groups = 1. */
static inline tfsdk_status *tfsdk_geometry_axes(const tfsdk_infer *c, const tfsdk_window_spec *s,
                                                int32_t n_axes, const tfsdk_shape *in,
                                                const int64_t *window, tfsdk_geometry *g) {
  int64_t stride[3], dilation[3], pad[6] = {0, 0, 0, 0, 0, 0}, stride_c;
  int32_t first = s->channels_first ? 2 : 1, lead = 3 - n_axes;
  memset(g, 0, sizeof *g);
  g->n_axes = n_axes;
  g->channels_first = s->channels_first;
  g->groups = g->window_c = 1;
  if (in->rank >= 0 && in->rank != n_axes + 2)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "the images must have rank %d, but their shape is %s",
                      (int)n_axes + 2, tfsdk_shape_text(in).s);
  TFSDK_TRY(tfsdk_window_list(c, "strides", s->strides, s->n_strides, n_axes, s->channels_first,
                              stride, s->n_ksize > 0 ? &stride_c : NULL));
  TFSDK_TRY(tfsdk_window_list(c, "dilations", s->dilations, s->n_dilations, n_axes,
                              s->channels_first, dilation, NULL));
  if (s->padding == TFSDK_PAD_EXPLICIT) {
    if (s->n_paddings != 2 * ((uint32_t)n_axes + 2))
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "'explicit_paddings' must have %d members, not %u",
                        2 * ((int)n_axes + 2), (unsigned)s->n_paddings);
    for (int32_t i = 0; i < 2 * (n_axes + 2); i++) {
      int32_t a = i / 2 - first;
      if (s->paddings[i] < 0 || s->paddings[i] > INT32_MAX)
        return TFSDK_FAIL(c, INVALID_ARGUMENT,
                          "'explicit_paddings' must not be negative, but member %d is %lld", (int)i,
                          (long long)s->paddings[i]);
      if (a >= 0 && a < n_axes)
        pad[2 * (lead + a) + i % 2] = s->paddings[i];
      else if (s->paddings[i] != 0)
        return TFSDK_FAIL(
            c, INVALID_ARGUMENT,
            "'explicit_paddings' of batch and channels must be 0, but member %d is %lld", (int)i,
            (long long)s->paddings[i]);
    }
  } else if (s->n_paddings != 0) {
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'explicit_paddings' needs padding EXPLICIT");
  }
  g->batch = in->rank < 0 ? -1 : in->dim[0];
  g->in_c = in->rank < 0 ? -1 : in->dim[s->channels_first ? 1 : n_axes + 1];
  g->out_c = g->in_c;
  for (int32_t a = 0; a < 3; a++) {
    tfsdk_span *p = &g->axis[a];
    p->stride = stride[a];
    p->dilation = dilation[a];
    p->in = a < lead ? 1 : in->rank < 0 ? -1 : in->dim[first + a - lead];
    p->window = a < lead ? 1 : window[a];
    /* With SAME the output's extent does not depend on the window's. */
    TFSDK_TRY(tfsdk_window(c, p->in, p->window < 0 && s->padding == TFSDK_PAD_SAME ? 1 : p->window,
                           p->stride, p->dilation, s->padding, pad[2 * a], pad[2 * a + 1], &p->out,
                           &p->before));
  }
  return NULL;
}

/* A convolution of n_axes axes (2, 3). The filter has in_c / groups input channels. */
static inline tfsdk_status *tfsdk_geometry_conv(const tfsdk_host *host, const tfsdk_attrs *attr,
                                                int32_t n_axes, const tfsdk_shape *in,
                                                const tfsdk_shape *filter, tfsdk_geometry *g) {
  tfsdk_infer c;
  tfsdk_window_spec s;
  int64_t window[3] = {-1, -1, -1}, filter_in = -1, filter_out = -1;
  memset(&c, 0, sizeof c);
  c.host = host;
  tfsdk_window_spec_read(attr, &s);
  if (filter->rank >= 0 && filter->rank != n_axes + 2)
    return TFSDK_FAIL(&c, INVALID_ARGUMENT, "the filter must have rank %d, but its shape is %s",
                      (int)n_axes + 2, tfsdk_shape_text(filter).s);
  if (filter->rank >= 0) {
    for (int32_t a = 0; a < n_axes; a++) window[3 - n_axes + a] = filter->dim[a];
    filter_in = filter->dim[n_axes];
    filter_out = filter->dim[n_axes + 1];
  }
  TFSDK_TRY(tfsdk_geometry_axes(&c, &s, n_axes, in, window, g));
  g->out_c = filter_out;
  if (g->in_c < 0 || filter_in < 0) {
    g->groups = -1;
    return NULL;
  }
  if (g->in_c != filter_in) {
    if (filter_in == 0 || g->in_c == 0 || g->in_c % filter_in != 0)
      return TFSDK_FAIL(
          &c, INVALID_ARGUMENT,
          "the images have %lld channels, but the filter takes %lld (images %s, filter %s)",
          (long long)g->in_c, (long long)filter_in, tfsdk_shape_text(in).s,
          tfsdk_shape_text(filter).s);
    g->groups = g->in_c / filter_in;
  }
  if (filter_out >= 0 && filter_out % g->groups != 0)
    return TFSDK_FAIL(&c, INVALID_ARGUMENT,
                      "%lld output channels cannot be cut into %lld groups (images %s, filter %s)",
                      (long long)filter_out, (long long)g->groups, tfsdk_shape_text(in).s,
                      tfsdk_shape_text(filter).s);
  return NULL;
}

/* A depthwise convolution of two axes: groups = in_c, out_c = in_c * multiplier; output channel
 * c * multiplier + m is input channel c under filter [.., c, m]. */
static inline tfsdk_status *tfsdk_geometry_depthwise(const tfsdk_host *host,
                                                     const tfsdk_attrs *attr, const tfsdk_shape *in,
                                                     const tfsdk_shape *filter, tfsdk_geometry *g) {
  tfsdk_infer c;
  tfsdk_window_spec s;
  int64_t window[3] = {1, -1, -1}, multiplier = -1;
  memset(&c, 0, sizeof c);
  c.host = host;
  tfsdk_window_spec_read(attr, &s);
  if (filter->rank >= 0 && filter->rank != 4)
    return TFSDK_FAIL(&c, INVALID_ARGUMENT, "the filter must have rank 4, but its shape is %s",
                      tfsdk_shape_text(filter).s);
  if (filter->rank >= 0) {
    window[1] = filter->dim[0];
    window[2] = filter->dim[1];
    multiplier = filter->dim[3];
  }
  TFSDK_TRY(tfsdk_geometry_axes(&c, &s, 2, in, window, g));
  if (filter->rank >= 0)
    TFSDK_TRY(
        tfsdk_merge_dim(&c, g->in_c, filter->dim[2], "channels of images and filter", &g->in_c));
  if (g->in_c > 0 && multiplier > INT64_MAX / g->in_c)
    return TFSDK_FAIL(&c, INVALID_ARGUMENT, "%lld times %lld channels are too many",
                      (long long)g->in_c, (long long)multiplier);
  g->groups = g->in_c;
  g->out_c = g->in_c < 0 || multiplier < 0 ? -1 : g->in_c * multiplier;
  return NULL;
}

/* Pooling by a spec whose ksize is set (MaxPoolV2 takes it from tensors). The window over
 * channels must be their stride and divide them, as in TensorFlow. */
static inline tfsdk_status *tfsdk_geometry_pool_spec(const tfsdk_host *host,
                                                     const tfsdk_window_spec *s, int32_t n_axes,
                                                     const tfsdk_shape *in, tfsdk_geometry *g) {
  tfsdk_infer c;
  int64_t window[3], stride[3], window_c, stride_c;
  memset(&c, 0, sizeof c);
  c.host = host;
  if (s->n_ksize == 0 || s->n_strides == 0)
    return TFSDK_FAIL(&c, INVALID_ARGUMENT, "'ksize' and 'strides' must have %d members",
                      (int)n_axes + 2);
  TFSDK_TRY(tfsdk_window_list(&c, "ksize", s->ksize, s->n_ksize, n_axes, s->channels_first, window,
                              &window_c));
  TFSDK_TRY(tfsdk_window_list(&c, "strides", s->strides, s->n_strides, n_axes, s->channels_first,
                              stride, &stride_c));
  TFSDK_TRY(tfsdk_geometry_axes(&c, s, n_axes, in, window, g));
  if (window_c != stride_c || (g->in_c >= 0 && g->in_c % window_c != 0))
    return TFSDK_FAIL(
        &c, INVALID_ARGUMENT,
        "a window over channels must be as long as its stride and divide the channels: window "
        "%lld, stride %lld, channels %lld",
        (long long)window_c, (long long)stride_c, (long long)g->in_c);
  g->window_c = window_c;
  g->out_c = g->in_c < 0 ? -1 : g->in_c / window_c;
  return NULL;
}
static inline tfsdk_status *tfsdk_geometry_pool(const tfsdk_host *host, const tfsdk_attrs *attr,
                                                int32_t n_axes, const tfsdk_shape *in,
                                                tfsdk_geometry *g) {
  tfsdk_window_spec s;
  tfsdk_window_spec_read(attr, &s);
  return tfsdk_geometry_pool_spec(host, &s, n_axes, in, g);
}

/* The shape of the images on the output side. */
static inline tfsdk_shape tfsdk_geometry_out(const tfsdk_geometry *g) {
  tfsdk_shape s = tfsdk_shape_of_rank(g->n_axes + 2);
  int32_t first = g->channels_first ? 2 : 1;
  s.dim[0] = g->batch;
  s.dim[g->channels_first ? 1 : g->n_axes + 1] = g->out_c;
  for (int32_t a = 0; a < g->n_axes; a++) s.dim[first + a] = g->axis[3 - g->n_axes + a].out;
  return s;
}

/* How many elements lie between neighbours of images. */
typedef struct tfsdk_layout {
  int64_t batch, axis[3], channel;
} tfsdk_layout;

static inline tfsdk_layout tfsdk_layout_make(int32_t channels_first, int64_t d, int64_t h,
                                             int64_t w, int64_t c) {
  tfsdk_layout l;
  l.batch = d * h * w * c;
  l.channel = channels_first ? d * h * w : 1;
  l.axis[TFSDK_AXIS_W] = channels_first ? 1 : c;
  l.axis[TFSDK_AXIS_H] = l.axis[TFSDK_AXIS_W] * w;
  l.axis[TFSDK_AXIS_D] = l.axis[TFSDK_AXIS_H] * h;
  return l;
}
static inline tfsdk_layout tfsdk_layout_in(const tfsdk_geometry *g) {
  return tfsdk_layout_make(g->channels_first, g->axis[0].in, g->axis[1].in, g->axis[2].in, g->in_c);
}
static inline tfsdk_layout tfsdk_layout_out(const tfsdk_geometry *g) {
  return tfsdk_layout_make(g->channels_first, g->axis[0].out, g->axis[1].out, g->axis[2].out,
                           g->out_c);
}

/* The taps *first <= t < *end of output position o that lie inside the input; position of tap 0:
 * *at. */
static inline void tfsdk_span_taps(const tfsdk_span *p, int64_t o, int64_t *at, int64_t *first,
                                   int64_t *end) {
  int64_t start = o * p->stride - p->before;
  int64_t lo = start < 0 ? (-start + p->dilation - 1) / p->dilation : 0;
  int64_t hi = p->in <= start ? 0 : (p->in - start + p->dilation - 1) / p->dilation;
  *at = start;
  *end = hi < p->window ? hi : p->window;
  *first = lo < *end ? lo : *end;
}
/* The output position that looks at input position i through tap t, or -1. */
static inline int64_t tfsdk_span_output(const tfsdk_span *p, int64_t i, int64_t t) {
  int64_t at = i + p->before - t * p->dilation;
  if (at < 0 || at % p->stride != 0 || at / p->stride >= p->out) return -1;
  return at / p->stride;
}

#ifdef __cplusplus
}
#endif
#endif
