/* pool_rows.h - what max and average pooling of channels-last images share.
 *
 * Forward a piece of work is some rows of outputs. Backward, windows that overlap add to the same
 * pixels: where they do not a piece is again some rows, where they do it is some channels of one
 * image, for all its rows in order. So the sums do not depend on the threads.
 */
#ifndef TFSDK_CPU_POOL_ROWS_H
#define TFSDK_CPU_POOL_ROWS_H

#include "common.h"

#include <math.h>
#include <tfsdk/window.h>

#define POOL_BLOCK 128   /* channels that are worked on together */
#define POOL_PIECE 16384 /* elements worth a piece */

typedef struct pool_rows pool_rows;
typedef void pool_row_fn(const pool_rows *p, int64_t n, int64_t o);
typedef void pool_grad_fn(const pool_rows *p, int64_t n, int64_t o, int64_t c0, int64_t c1);

struct pool_rows {
  const void *x, *dy;
  void *y; /* the result: y or dx */
  int64_t batch, channels;
  tfsdk_span h, w;
  int64_t cuts; /* of the channels; in max_pool_typed.h: gaps between windows */
  pool_row_fn *row;
  pool_grad_fn *grad;
};

static inline tfsdk_status *pool_open(tfsdk_run *r, const tfsdk_shape *in, pool_rows *p) {
  tfsdk_geometry g;
  memset(p, 0, sizeof *p);
  TFSDK_TRY(tfsdk_geometry_pool(r->host, &r->attr, 2, in, &g));
  p->batch = g.batch;
  p->channels = g.in_c;
  p->h = g.axis[TFSDK_AXIS_H];
  p->w = g.axis[TFSDK_AXIS_W];
  p->y = r->out[0].data;
  return NULL;
}

static void pool_rows_range(void *user, int64_t begin, int64_t end) {
  const pool_rows *p = (const pool_rows *)user;
  for (int64_t i = begin; i < end; i++) p->row(p, i / p->h.out, i % p->h.out);
}
static void pool_grad_rows_range(void *user, int64_t begin, int64_t end) {
  const pool_rows *p = (const pool_rows *)user;
  for (int64_t i = begin; i < end; i++) p->grad(p, i / p->h.out, i % p->h.out, 0, p->channels);
}
static void pool_grad_images_range(void *user, int64_t begin, int64_t end) {
  const pool_rows *p = (const pool_rows *)user;
  for (int64_t i = begin; i < end; i++) {
    const int64_t c0 = p->channels * (i % p->cuts) / p->cuts;
    const int64_t c1 = p->channels * (i % p->cuts + 1) / p->cuts;
    for (int64_t o = 0; o < p->h.out; o++) p->grad(p, i / p->cuts, o, c0, c1);
  }
}

static inline tfsdk_status *pool_run(tfsdk_run *r, pool_rows *p) {
  const int64_t row = p->w.out * p->channels * p->h.window * p->w.window;
  if (r->out[0].n_elem > 0)
    r->api->par_for(r, p->batch * p->h.out, cpu_row_grain(row, POOL_PIECE), pool_rows_range, p);
  return NULL;
}

static inline tfsdk_status *pool_run_grad(tfsdk_run *r, pool_rows *p) {
  const int64_t row = p->w.out * p->channels * p->h.window * p->w.window;
  if (r->out[0].n_elem == 0) return NULL;
  memset(p->y, 0, r->out[0].byte_size);
  if (p->h.out == 0 || p->w.out == 0) return NULL;
  if (p->h.stride >= p->h.window) {
    r->api->par_for(r, p->batch * p->h.out, cpu_row_grain(row, POOL_PIECE), pool_grad_rows_range,
                    p);
    return NULL;
  }
  p->cuts = p->batch >= 16 ? 1 : cpu_max(p->channels / 16, 1);
  r->api->par_for(r, p->batch * p->cuts, cpu_row_grain(row * p->h.out / p->cuts, POOL_PIECE),
                  pool_grad_images_range, p);
  return NULL;
}

static inline tfsdk_status *pool_supports(const tfsdk_kbuild *b, int32_t *yes, char *why,
                                          size_t why_n) {
  uint32_t n;
  const int64_t *ksize = tfsdk_attr_ints(&b->attr, "ksize", &n);
  if (strcmp(tfsdk_attr_string(&b->attr, "data_format"), "NHWC") != 0)
    CPU_CANNOT("only data_format NHWC");
  if (n == 4 && ksize[3] != 1) CPU_CANNOT("no windows over channels");
  *yes = 1;
  return NULL;
}

#endif
