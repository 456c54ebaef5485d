/* in_top.c - see in_top.h. */
#include <math.h>
#include "in_top.h"

tfsdk_status *array_in_top_infer(tfsdk_infer *c) {
  tfsdk_shape p, t;
  int64_t n = -1;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 2, &p));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &t));
  TFSDK_TRY(tfsdk_merge_dim(c, p.dim[0], t.dim[0], "one target for each row of predictions", &n));
  c->out[0].shape = tfsdk_shape_vector(n);
  return NULL;
}

tfsdk_status *array_in_top_run(tfsdk_run *r, int64_t k) {
  const float *p = (const float *)r->in[0].data;
  uint8_t *y = (uint8_t *)r->out[0].data;
  int64_t classes = r->in[0].dim[1];
  for (int64_t b = 0; b < r->out[0].n_elem; b++, p += classes) {
    int64_t target = array_index(&r->in[1], b), greater = 0;
    int bad = target < 0 || target >= classes || !isfinite(p[target]);
    for (int64_t i = 0; i < classes && !bad; i++) {
      if (!isfinite(p[i]))
        bad = 1;
      else if (p[i] > p[target])
        greater++;
    }
    y[b] = !bad && greater < k;
  }
  return NULL;
}
