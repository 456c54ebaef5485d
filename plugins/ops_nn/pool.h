/* pool.h - what the pooling ops share. Geometry: tfsdk/window.h.
 *
 * Maximum pooling is one search: which input element wins each window. The forward op copies the
 * winners, its gradient adds to them, and the gradient of that gradient copies them from another
 * tensor. Of equal elements the first in row order wins; a NaN wins over numbers; padding never
 * wins. */
#ifndef NN_POOL_H
#define NN_POOL_H

#include <tfsdk/emit.h>
#include <tfsdk/window.h>

/* Where the geometry comes from: attributes, or (V2) the inputs of that number for ksize and
 * strides. */
typedef struct nn_pool {
  const char *forward, *grad, *grad_grad; /* op names */
  int32_t n_axes;
  uint32_t
      sizes_at; /* the forward op's inputs sizes_at, + 1 are ksize and strides; 0: attributes */
} nn_pool;

/* Inputs: (x), (x, y, dy), (x, y, v), each followed by ksize and strides in V2. */
tfsdk_status *nn_max_infer(const nn_pool *f, tfsdk_infer *c);
tfsdk_status *nn_max_infer_grad(const nn_pool *f, tfsdk_infer *c);
tfsdk_status *nn_max_infer_grad_grad(const nn_pool *f, tfsdk_infer *c);
tfsdk_status *nn_max_compute(const nn_pool *f, tfsdk_run *r);
tfsdk_status *nn_max_compute_grad(const nn_pool *f, tfsdk_run *r);
tfsdk_status *nn_max_compute_grad_grad(const nn_pool *f, tfsdk_run *r);
tfsdk_status *nn_max_grad(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g);
tfsdk_status *nn_max_grad_grad(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g);
tfsdk_status *nn_max_grad_grad_grad(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g);

/* Told for each output position: `winner[c]` is the input element that wins output element at +
 * c * step, or -1 where the window holds padding only. */
typedef void nn_winners_fn(void *user, int64_t at, int64_t step, int64_t n, const int64_t *winner);
tfsdk_status *nn_max_winners(tfsdk_run *r, const tfsdk_geometry *g, const tfsdk_view *x,
                             nn_winners_fn *fn, void *user);

/* Element by element, on tensors of one type: dst[at + c * step] = src[winner[c]], the lowest
 * value for -1. */
typedef struct nn_copy {
  const tfsdk_view *src, *dst;
} nn_copy;
nn_winners_fn nn_copy_winners;

/* Adds dy's elements to the winners; sums are kept in double or int64_t in `sums`, one for each
 * element of the input, and stored by nn_scatter_close. */
typedef struct nn_scatter {
  const tfsdk_view *dy, *dx;
  void *sums;
} nn_scatter;
tfsdk_status *nn_scatter_open(tfsdk_run *r, const tfsdk_view *dy, const tfsdk_view *dx,
                              nn_scatter *out);
void nn_scatter_close(nn_scatter *s);
nn_winners_fn nn_scatter_winners;

/* Average pooling: inputs (x), (orig_input_shape, dy). Padding is left out of the divisor. */
tfsdk_status *nn_avg_infer(const nn_pool *f, tfsdk_infer *c);
tfsdk_status *nn_avg_infer_grad(const nn_pool *f, tfsdk_infer *c);
tfsdk_status *nn_avg_compute(const nn_pool *f, tfsdk_run *r);
tfsdk_status *nn_avg_compute_grad(const nn_pool *f, tfsdk_run *r);
tfsdk_status *nn_avg_grad(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g);
tfsdk_status *nn_avg_grad_grad(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g);

#endif
