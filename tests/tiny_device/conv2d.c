/* conv2d.c - Conv2D of the pretend accelerator: every layout, stride, dilation and padding, slowly.
 */
#include "tiny.h"
#include <tfsdk/window.h>

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_shape images = tfsdk_shape_of_view(&r->in[0]), filter = tfsdk_shape_of_view(&r->in[1]);
  tfsdk_geometry g;
  float *x, *f, *y;
  (void)state;
  TFSDK_TRY(tfsdk_geometry_conv(r->host, &r->attr, 2, &images, &filter, &g));
  TFSDK_TRY(tiny_floats(r, &r->in[0], &x));
  TFSDK_TRY(tiny_floats(r, &r->in[1], &f));
  TFSDK_TRY(tiny_floats(r, &r->out[0], &y));
  const tfsdk_layout in = tfsdk_layout_in(&g), out = tfsdk_layout_out(&g);
  const tfsdk_span *h = &g.axis[TFSDK_AXIS_H], *w = &g.axis[TFSDK_AXIS_W];
  if (r->out[0].n_elem == 0) return NULL;
  const int64_t part_in = g.in_c / g.groups, part_out = g.out_c / g.groups;
  for (int64_t i = 0; i < r->out[0].n_elem; i++) {
    int64_t n = i / (h->out * w->out * g.out_c), o = i % g.out_c;
    int64_t oh = i / (w->out * g.out_c) % h->out, ow = i / g.out_c % w->out;
    int64_t top, left, h0, h1, w0, w1, first = o / part_out * part_in;
    double sum = 0;
    tfsdk_span_taps(h, oh, &top, &h0, &h1);
    tfsdk_span_taps(w, ow, &left, &w0, &w1);
    for (int64_t a = h0; a < h1; a++)
      for (int64_t b = w0; b < w1; b++) {
        const float *px = x + n * in.batch + (top + a * h->dilation) * in.axis[TFSDK_AXIS_H] +
                          (left + b * w->dilation) * in.axis[TFSDK_AXIS_W];
        const float *pf = f + (a * w->window + b) * part_in * g.out_c + o;
        for (int64_t c = 0; c < part_in; c++)
          sum += (double)px[(first + c) * in.channel] * (double)pf[c * g.out_c];
      }
    y[n * out.batch + oh * out.axis[TFSDK_AXIS_H] + ow * out.axis[TFSDK_AXIS_W] + o * out.channel] =
        (float)sum;
  }
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {{TINY_KERNEL("Conv2D", compute)}};
TFSDK_UNIT_KERNELS(conv2d, kernels);
