/* nd.h - indices into several axes at once, for GatherNd, ScatterNd and their kin.
 *
 * indices has the shape [outer..., K]: each row of K numbers names a slice x[i0, ..., iK-1] of
 * shape x.shape[K:]. bad_indices_policy "IGNORE" skips rows that lie outside; "", "DEFAULT" and
 * "ERROR" refuse them. */
#ifndef OPS_ARRAY_ND_H
#define OPS_ARRAY_ND_H

#include "combine.h"

#define ARRAY_ND_POLICY                                                                            \
  {                                                                                                \
    "bad_indices_policy", "string", "",                                                            \
        "what to do with an index outside: IGNORE skips it; ERROR, DEFAULT and empty refuse it",   \
        0, 0                                                                                       \
  }

/* [outer...] + x[K:]: the shape of the slices that the indices name; unknown while K is. */
tfsdk_status *array_nd_shape(const array_host *c, const tfsdk_shape *x, const tfsdk_shape *indices,
                             tfsdk_shape *out);
/* The shape rule of scatters: updates (flat input u) must have that shape. */
tfsdk_status *array_nd_check_updates(tfsdk_infer *c, const tfsdk_shape *x, uint32_t indices,
                                     uint32_t updates);

typedef struct array_nd {
  const tfsdk_view *indices;
  const int64_t *dim; /* of x */
  int64_t rows, depth, inner;
  int ignore;
} array_nd;

/* Prepares, and checks every index against x's extents unless the policy is IGNORE. */
tfsdk_status *array_nd_begin(const tfsdk_run *r, const tfsdk_view *indices, const int64_t *dim,
                             int32_t rank, array_nd *out);
/* The number of the slice that row k names, -1 if it lies outside. */
int64_t array_nd_slice(const array_nd *n, int64_t k);
/* x[slices] = x[slices] OP updates, one row after another, in place. */
tfsdk_status *array_nd_combine(const tfsdk_run *r, const array_nd *n, int op, int32_t dtype,
                               void *x, const tfsdk_view *updates);

/* The whole of TensorScatter...: (tensor, indices, updates). */
tfsdk_status *array_tensor_scatter_infer(tfsdk_infer *c);
tfsdk_status *array_tensor_scatter_run(tfsdk_run *r, int op);
/* Gradient of Update, Add and Sub. */
tfsdk_status *array_tensor_scatter_grad(tfsdk_ctx *c, tfsdk_gradcall *g, int op);
/* Gradient of Max and Min: what ties shares equally. */
tfsdk_status *array_tensor_scatter_grad_ties(tfsdk_ctx *c, tfsdk_gradcall *g);
/* The whole of ResourceScatterNd...: (ref, indices, updates). */
tfsdk_status *array_resource_nd_infer(tfsdk_infer *c);
tfsdk_status *array_resource_nd_run(tfsdk_run *r, int op);

#endif
