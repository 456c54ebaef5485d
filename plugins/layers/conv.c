#include "conv.h"

const char *conv_axes_text(uint32_t n, int first) {
  static const char *const text[2][3] = {
      {"batch, steps, channels", "batch, height, width, channels",
       "batch, depth, height, width, channels"},
      {"batch, channels, steps", "batch, channels, height, width",
       "batch, channels, depth, height, width"}};
  return text[first][n - 1];
}

/* The extents of the window's axes behind ones for the others. */
static void spread(const conv_window *w, const int64_t *from, int64_t *to) {
  uint32_t at = w->first ? 2 : 1;
  for (uint32_t i = 0; i < w->axes + 2; i++) to[i] = 1;
  for (uint32_t i = 0; i < w->n; i++) to[at + w->axes - w->n + i] = from[i];
}

tfsdk_status *conv_window_read(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, conv_window *w) {
  static const char *const formats[2][2] = {{"NHWC", "NDHWC"}, {"NCHW", "NCDHW"}};
  const char *padding = tfsdk_attr_string(cfg, "padding");
  memset(w, 0, sizeof *w);
  w->n = n;
  w->axes = n == 1 ? 2 : n;
  w->first = layer_first(cfg);
  TFSDK_TRY(layer_ints(c, cfg, "kernel_size", n, 1, w->kernel));
  TFSDK_TRY(layer_ints(c, cfg, "strides", n, 1, w->stride));
  for (uint32_t i = 0; i < n; i++) w->rate[i] = 1;
  if (tfsdk_attr_find(cfg, "dilation_rate") != NULL)
    TFSDK_TRY(layer_ints(c, cfg, "dilation_rate", n, 1, w->rate));
  for (uint32_t i = 0; i < n; i++)
    TFSDK_REQUIRE(c, w->stride[i] == 1 || w->rate[i] == 1,
                  "strides above 1 (%lld) and dilation_rate above 1 (%lld) do not go together",
                  (long long)w->stride[i], (long long)w->rate[i]);
  spread(w, w->stride, w->strides);
  spread(w, w->rate, w->dilations);
  w->attr[w->n_attr++] = tfsdk_a_ints("strides", w->strides, w->axes + 2);
  w->attr[w->n_attr++] = tfsdk_a_ints("dilations", w->dilations, w->axes + 2);
  w->attr[w->n_attr++] = tfsdk_a_string("data_format", formats[w->first][w->axes == 3]);
  if (strcmp(padding, "causal") == 0) {
    w->explicit_paddings[w->first ? 6 : 4] = (w->kernel[0] - 1) * w->rate[0];
    w->attr[w->n_attr++] = tfsdk_a_ints("explicit_paddings", w->explicit_paddings, 8);
    w->attr[w->n_attr++] = tfsdk_a_string("padding", "EXPLICIT");
  } else {
    w->attr[w->n_attr++] =
        tfsdk_a_string("padding", strcmp(padding, "same") == 0 ? "SAME" : "VALID");
  }
  return NULL;
}

tfsdk_val conv_widen(tfsdk_ctx *c, const conv_window *w, tfsdk_val x) {
  return w->n == 1 ? layer_expand(c, x, w->first ? 2 : 1) : x;
}
tfsdk_val conv_narrow(tfsdk_ctx *c, const conv_window *w, tfsdk_val y) {
  return w->n == 1 ? layer_squeeze(c, y, w->first ? 2 : 1) : y;
}

tfsdk_status *conv_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                         tfsdk_val *out) {
  conv_window w;
  tfsdk_typed_shape t;
  int64_t channels, filters = tfsdk_attr_int(cfg, "filters"),
                    groups = tfsdk_attr_int(cfg, "groups");
  int64_t kernel[5];
  TFSDK_TRY(conv_window_read(c, cfg, n, &w));
  int32_t rank = (int32_t)n + 2;
  TFSDK_TRY(layer_float_input(c, x, rank, rank, conv_axes_text(n, w.first), &t));
  TFSDK_TRY(layer_known_extent(c, &t, layer_channel_axis(cfg, rank), &channels));
  TFSDK_REQUIRE(c, channels % groups == 0 && filters % groups == 0,
                "%lld groups must divide the %lld channels and the %lld filters", (long long)groups,
                (long long)channels, (long long)filters);
  for (uint32_t i = 0; i < n; i++) kernel[i] = w.kernel[i];
  kernel[n] = channels / groups;
  kernel[n + 1] = filters;
  tfsdk_val in[2] = {conv_widen(c, &w, x), tfsdk_weight(c, "kernel", t.dtype, n + 2, kernel, NULL)};
  if (n == 1) in[1] = layer_expand(c, in[1], 0);
  tfsdk_val y = tfsdk_emit(c, n == 3 ? "Conv3D" : "Conv2D", in, 2, w.attr, w.n_attr);
  *out = layer_finish(c, cfg, conv_narrow(c, &w, y), t.dtype, filters, w.first);
  return tfsdk_ctx_error(c);
}
