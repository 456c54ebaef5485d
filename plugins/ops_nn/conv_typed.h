/* conv_typed.h - the three kernels in one computing type. Included with ACC, LOAD, STORE, MUL_ADD,
 * NAME(x).
 *
 * `filter` points to the whole filter unpacked to ACC: [taps][in_c / groups][out_c]. `row` has
 * room for a row of channels of either side. Each loop order keeps a contiguous innermost loop
 * over output channels. */

/* y[o, oc] = sum over taps and input channels of x[i(o, t), ic] * f[t, ic, oc] */
static void NAME(forward)(const tfsdk_geometry *g, const tfsdk_view *x, const ACC *filter,
                          const tfsdk_view *y, ACC *row, ACC *acc) {
  const tfsdk_span *d = &g->axis[0], *h = &g->axis[1], *w = &g->axis[2];
  tfsdk_layout in = tfsdk_layout_in(g), out = tfsdk_layout_out(g);
  int64_t in_g = g->in_c / g->groups, out_g = g->out_c / g->groups;
  int each = in_g == 1 && out_g == 1; /* channel by channel */
  for (int64_t n = 0; n < g->batch; n++)
    for (int64_t od = 0; od < d->out; od++)
      for (int64_t oh = 0; oh < h->out; oh++)
        for (int64_t ow = 0; ow < w->out; ow++) {
          int64_t ad, ah, aw, d0, d1, h0, h1, w0, w1;
          tfsdk_span_taps(d, od, &ad, &d0, &d1);
          tfsdk_span_taps(h, oh, &ah, &h0, &h1);
          tfsdk_span_taps(w, ow, &aw, &w0, &w1);
          for (int64_t c = 0; c < g->out_c; c++) acc[c] = 0;
          for (int64_t td = d0; td < d1; td++)
            for (int64_t th = h0; th < h1; th++)
              for (int64_t tw = w0; tw < w1; tw++) {
                const ACC *f = filter + ((td * h->window + th) * w->window + tw) * in_g * g->out_c;
                LOAD(x->dtype, x->data,
                     n * in.batch + (ad + td * d->dilation) * in.axis[0] +
                         (ah + th * h->dilation) * in.axis[1] +
                         (aw + tw * w->dilation) * in.axis[2],
                     in.channel, g->in_c, row);
                if (each)
                  for (int64_t c = 0; c < g->in_c; c++) acc[c] = MUL_ADD(acc[c], row[c], f[c]);
                for (int64_t group = each ? g->groups : 0; group < g->groups; group++)
                  for (int64_t ic = 0; ic < in_g; ic++) {
                    const ACC *weight = f + ic * g->out_c + group * out_g;
                    ACC *sum = acc + group * out_g, v = row[group * in_g + ic];
                    for (int64_t oc = 0; oc < out_g; oc++)
                      sum[oc] = MUL_ADD(sum[oc], v, weight[oc]);
                  }
              }
          STORE(y->dtype, y->data,
                n * out.batch + od * out.axis[0] + oh * out.axis[1] + ow * out.axis[2], out.channel,
                g->out_c, acc);
        }
}

/* dx[i, ic] = sum over taps and output channels of dy[o(i, t), oc] * f[t, ic, oc] */
static void NAME(input_grad)(const tfsdk_geometry *g, const ACC *filter, const tfsdk_view *dy,
                             const tfsdk_view *dx, ACC *row, ACC *acc) {
  const tfsdk_span *d = &g->axis[0], *h = &g->axis[1], *w = &g->axis[2];
  tfsdk_layout in = tfsdk_layout_in(g), out = tfsdk_layout_out(g);
  int64_t in_g = g->in_c / g->groups, out_g = g->out_c / g->groups;
  int each = in_g == 1 && out_g == 1; /* channel by channel */
  for (int64_t n = 0; n < g->batch; n++)
    for (int64_t id = 0; id < d->in; id++)
      for (int64_t ih = 0; ih < h->in; ih++)
        for (int64_t iw = 0; iw < w->in; iw++) {
          for (int64_t c = 0; c < g->in_c; c++) acc[c] = 0;
          for (int64_t td = 0; td < d->window; td++)
            for (int64_t th = 0; th < h->window; th++)
              for (int64_t tw = 0; tw < w->window; tw++) {
                const ACC *f = filter + ((td * h->window + th) * w->window + tw) * in_g * g->out_c;
                int64_t od = tfsdk_span_output(d, id, td), oh = tfsdk_span_output(h, ih, th);
                int64_t ow = tfsdk_span_output(w, iw, tw);
                if (od < 0 || oh < 0 || ow < 0) continue;
                LOAD(dy->dtype, dy->data,
                     n * out.batch + od * out.axis[0] + oh * out.axis[1] + ow * out.axis[2],
                     out.channel, g->out_c, row);
                if (each)
                  for (int64_t c = 0; c < g->in_c; c++) acc[c] = MUL_ADD(acc[c], row[c], f[c]);
                for (int64_t group = each ? g->groups : 0; group < g->groups; group++)
                  for (int64_t ic = 0; ic < in_g; ic++) {
                    const ACC *weight = f + ic * g->out_c + group * out_g, *v = row + group * out_g;
                    ACC part[4] = {0, 0, 0, 0}; /* independent sums, so that this vectorises */
                    int64_t oc = 0;
                    for (; oc + 4 <= out_g; oc += 4)
                      for (int k = 0; k < 4; k++)
                        part[k] = MUL_ADD(part[k], v[oc + k], weight[oc + k]);
                    for (; oc < out_g; oc++) part[0] = MUL_ADD(part[0], v[oc], weight[oc]);
                    for (int k = 0; k < 4; k++)
                      acc[group * in_g + ic] = MUL_ADD(acc[group * in_g + ic], part[k], 1);
                  }
              }
          STORE(dx->dtype, dx->data,
                n * in.batch + id * in.axis[0] + ih * in.axis[1] + iw * in.axis[2], in.channel,
                g->in_c, acc);
        }
}

/* df[t, ic, oc] = sum over batch and positions of x[i(o, t), ic] * dy[o, oc]; acc has in_c /
 * groups * out_c elements. */
static void NAME(filter_grad)(const tfsdk_geometry *g, const tfsdk_view *x, const tfsdk_view *dy,
                              const tfsdk_view *df, ACC *row, ACC *acc) {
  const tfsdk_span *d = &g->axis[0], *h = &g->axis[1], *w = &g->axis[2];
  tfsdk_layout in = tfsdk_layout_in(g), out = tfsdk_layout_out(g);
  int64_t in_g = g->in_c / g->groups, out_g = g->out_c / g->groups, tap = 0;
  int each = in_g == 1 && out_g == 1;
  ACC *row_y = row + g->in_c;
  for (int64_t td = 0; td < d->window; td++)
    for (int64_t th = 0; th < h->window; th++)
      for (int64_t tw = 0; tw < w->window; tw++, tap++) {
        for (int64_t i = 0; i < in_g * g->out_c; i++) acc[i] = 0;
        for (int64_t n = 0; n < g->batch; n++)
          for (int64_t od = 0; od < d->out; od++)
            for (int64_t oh = 0; oh < h->out; oh++)
              for (int64_t ow = 0; ow < w->out; ow++) {
                int64_t id = od * d->stride - d->before + td * d->dilation;
                int64_t ih = oh * h->stride - h->before + th * h->dilation;
                int64_t iw = ow * w->stride - w->before + tw * w->dilation;
                if (id < 0 || id >= d->in || ih < 0 || ih >= h->in || iw < 0 || iw >= w->in)
                  continue;
                LOAD(x->dtype, x->data,
                     n * in.batch + id * in.axis[0] + ih * in.axis[1] + iw * in.axis[2], in.channel,
                     g->in_c, row);
                LOAD(dy->dtype, dy->data,
                     n * out.batch + od * out.axis[0] + oh * out.axis[1] + ow * out.axis[2],
                     out.channel, g->out_c, row_y);
                if (each)
                  for (int64_t c = 0; c < g->in_c; c++) acc[c] = MUL_ADD(acc[c], row[c], row_y[c]);
                for (int64_t group = each ? g->groups : 0; group < g->groups; group++)
                  for (int64_t ic = 0; ic < in_g; ic++) {
                    ACC *sum = acc + ic * g->out_c + group * out_g, v = row[group * in_g + ic];
                    const ACC *dv = row_y + group * out_g;
                    for (int64_t oc = 0; oc < out_g; oc++) sum[oc] = MUL_ADD(sum[oc], v, dv[oc]);
                  }
              }
        STORE(df->dtype, df->data, tap * in_g * g->out_c, 1, in_g * g->out_c, acc);
      }
}
#undef ACC
#undef LOAD
#undef STORE
#undef MUL_ADD
#undef NAME
