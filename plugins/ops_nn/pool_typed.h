/* pool_typed.h - the search for the winners of one output position, in one computing type.
 * Included with ACC, LOAD, IS_NAN, NAME. `row` and `best` have room for a row of channels. */
static void NAME(const tfsdk_geometry *g, const tfsdk_view *x, int64_t n, const int64_t o[3],
                 ACC *row, ACC *best, int64_t *winner) {
  const tfsdk_span *d = &g->axis[0], *h = &g->axis[1], *w = &g->axis[2];
  tfsdk_layout in = tfsdk_layout_in(g);
  int64_t ad, ah, aw, d0, d1, h0, h1, w0, w1;
  tfsdk_span_taps(d, o[0], &ad, &d0, &d1);
  tfsdk_span_taps(h, o[1], &ah, &h0, &h1);
  tfsdk_span_taps(w, o[2], &aw, &w0, &w1);
  for (int64_t c = 0; c < g->out_c; c++) winner[c] = -1;
  for (int64_t td = d0; td < d1; td++)
    for (int64_t th = h0; th < h1; th++)
      for (int64_t tw = w0; tw < w1; tw++) {
        int64_t at = n * in.batch + (ad + td * d->dilation) * in.axis[0] +
                     (ah + th * h->dilation) * in.axis[1] + (aw + tw * w->dilation) * in.axis[2];
        LOAD(x->dtype, x->data, at, in.channel, g->in_c, row);
        for (int64_t c = 0; c < g->in_c; c++) {
          int64_t oc = c / g->window_c;
          if (winner[oc] < 0 || row[c] > best[oc] || (IS_NAN(row[c]) && !IS_NAN(best[oc]))) {
            winner[oc] = at + c * in.channel;
            best[oc] = row[c];
          }
        }
      }
}
#undef ACC
#undef LOAD
#undef IS_NAN
#undef NAME
