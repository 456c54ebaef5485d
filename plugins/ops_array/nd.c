/* nd.c - see nd.h. */
#include "nd.h"

/* ---------------------------------------------------------------------------------- shape rules */

tfsdk_status *array_nd_shape(const array_host *c, const tfsdk_shape *x, const tfsdk_shape *indices,
                             tfsdk_shape *out) {
  int64_t depth;
  *out = tfsdk_shape_unknown();
  if (indices->rank < 0) return NULL;
  TFSDK_REQUIRE(c, indices->rank >= 1, "'indices' must have at least rank 1, but is a scalar");
  depth = indices->dim[indices->rank - 1];
  if (x->rank < 0 || depth < 0) return NULL;
  TFSDK_REQUIRE(c, depth <= x->rank,
                "the last axis of indices %s names %lld axes, but shape %s has %d",
                tfsdk_shape_text(indices).s, (long long)depth, tfsdk_shape_text(x).s, (int)x->rank);
  TFSDK_REQUIRE(c, indices->rank - 1 + x->rank - depth <= TFSDK_MAX_RANK,
                "the result would have rank %lld; %d is the highest",
                (long long)(indices->rank - 1 + x->rank - depth), TFSDK_MAX_RANK);
  *out = *indices;
  out->rank--;
  for (int32_t i = (int32_t)depth; i < x->rank; i++) out->dim[out->rank++] = x->dim[i];
  return NULL;
}

tfsdk_status *array_nd_check_updates(tfsdk_infer *c, const tfsdk_shape *x, uint32_t indices,
                                     uint32_t updates) {
  tfsdk_shape want, merged;
  TFSDK_TRY(array_nd_shape(array_host_of(c), x, &c->in[indices].shape, &want));
  return tfsdk_merge(c, &c->in[updates].shape, &want,
                     "'updates' must have the shape that the indices name", &merged);
}

/* -------------------------------------------------------------------------------------- kernels */

tfsdk_status *array_nd_begin(const tfsdk_run *r, const tfsdk_view *indices, const int64_t *dim,
                             int32_t rank, array_nd *out) {
  const tfsdk_attrval *policy = tfsdk_attr_find(&r->attr, "bad_indices_policy");
  out->indices = indices;
  out->dim = dim;
  out->depth = indices->dim[indices->rank - 1];
  out->rows = array_extent(indices->dim, 0, indices->rank - 1);
  out->inner = array_extent(dim, (int32_t)out->depth, rank);
  out->ignore = policy != NULL && strcmp(policy->v.s, "IGNORE") == 0;
  TFSDK_REQUIRE(r,
                policy == NULL || out->ignore || *policy->v.s == 0 ||
                    strcmp(policy->v.s, "ERROR") == 0 || strcmp(policy->v.s, "DEFAULT") == 0,
                "bad_indices_policy is '%s'; it must be IGNORE, ERROR, DEFAULT or empty",
                policy->v.s);
  if (out->ignore) return NULL;
  for (int64_t k = 0; k < indices->n_elem; k++) {
    int64_t at = array_index(indices, k), n = dim[k % out->depth];
    if (at < 0 || at >= n)
      return TFSDK_FAIL(r, INVALID_ARGUMENT,
                        "indices[%lld][%lld] = %lld is out of range [0, %lld) of axis %lld",
                        (long long)(k / out->depth), (long long)(k % out->depth), (long long)at,
                        (long long)n, (long long)(k % out->depth));
  }
  return NULL;
}

int64_t array_nd_slice(const array_nd *n, int64_t k) {
  int64_t slice = 0;
  for (int64_t i = 0; i < n->depth; i++) {
    int64_t at = array_index(n->indices, k * n->depth + i);
    if (at < 0 || at >= n->dim[i]) return -1;
    slice = slice * n->dim[i] + at;
  }
  return slice;
}

tfsdk_status *array_nd_combine(const tfsdk_run *r, const array_nd *n, int op, int32_t dtype,
                               void *x, const tfsdk_view *updates) {
  size_t row = (size_t)n->inner * tfsdk_dtype_size(dtype);
  if (n->inner == 0) return NULL;
  for (int64_t k = 0; k < n->rows; k++) {
    int64_t slice = array_nd_slice(n, k);
    if (slice >= 0)
      TFSDK_TRY(array_combine(array_host_of(r), op, dtype, (char *)x + (size_t)slice * row,
                              (const char *)updates->data + (size_t)k * row, 1, n->inner));
  }
  return NULL;
}

tfsdk_status *array_tensor_scatter_infer(tfsdk_infer *c) {
  if (c->in[0].shape.rank == 0)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'tensor' is a scalar: there is nothing to index");
  c->out[0].shape = c->in[0].shape;
  return array_nd_check_updates(c, &c->in[0].shape, 1, 2);
}

tfsdk_status *array_tensor_scatter_run(tfsdk_run *r, int op) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  array_nd n;
  TFSDK_TRY(array_nd_begin(r, &r->in[1], x->dim, x->rank, &n));
  if (y->data != x->data && y->n_elem > 0)
    memcpy(y->data, x->data, (size_t)y->n_elem * tfsdk_dtype_size(y->dtype));
  return array_nd_combine(r, &n, op, y->dtype, y->data, &r->in[2]);
}

tfsdk_status *array_resource_nd_infer(tfsdk_infer *c) {
  return array_nd_check_updates(c, &c->in[0].shape, 1, 2);
}

tfsdk_status *array_resource_nd_run(tfsdk_run *r, int op) {
  const tfsdk_view *updates = &r->in[2];
  tfsdk_shape x, want, given = tfsdk_shape_of_view(updates),
                       indices = tfsdk_shape_of_view(&r->in[1]);
  tfsdk_view v;
  array_nd n;
  TFSDK_TRY(r->api->var_mutable(r, 0, &v)); /* nothing is changed before all is checked */
  TFSDK_REQUIRE(r, v.dtype == updates->dtype, "the variable has type %s, but updates has %s",
                tfsdk_dtype_name(v.dtype), tfsdk_dtype_name(updates->dtype));
  x = tfsdk_shape_of_view(&v);
  TFSDK_TRY(array_nd_shape(array_host_of(r), &x, &indices, &want));
  TFSDK_REQUIRE(r, tfsdk_same_shape(&want, &given), "updates must have the shape %s, but has %s",
                tfsdk_shape_text(&want).s, tfsdk_shape_text(&given).s);
  TFSDK_TRY(array_nd_begin(r, &r->in[1], v.dim, v.rank, &n));
  return array_nd_combine(r, &n, op, v.dtype, v.data, updates);
}

/* ------------------------------------------------------------------------------------ gradients */

static tfsdk_val with_policy(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op, const tfsdk_val *in,
                             size_t n) {
  tfsdk_attrval a =
      tfsdk_a_string("bad_indices_policy", tfsdk_attr_string(&g->attr, "bad_indices_policy"));
  return tfsdk_emit(c, op, in, n, &a, 1);
}

static tfsdk_val gather(tfsdk_ctx *c, tfsdk_gradcall *g, tfsdk_val x) {
  tfsdk_val in[2];
  in[0] = x;
  in[1] = tfsdk_input(g, 1);
  return with_policy(c, g, "GatherNd", in, 2);
}

tfsdk_status *array_tensor_scatter_grad(tfsdk_ctx *c, tfsdk_gradcall *g, int op) {
  tfsdk_val dy = tfsdk_dy(g, 0), dx = dy, du, in[3];
  if (op == ARRAY_SET && tfsdk_wants(g, 0)) { /* what was overwritten does not count */
    in[0] = dy;
    in[1] = tfsdk_input(g, 1);
    in[2] = tfsdk_emit1(c, "ZerosLike", tfsdk_input(g, 2));
    dx = with_policy(c, g, "TensorScatterUpdate", in, 3);
  }
  TFSDK_TRY(tfsdk_set_dx(g, 0, dx));
  if (!tfsdk_wants(g, 2)) return NULL;
  du = gather(c, g, dy);
  return tfsdk_set_dx(g, 2, op == ARRAY_SUB ? tfsdk_emit1(c, "Neg", du) : du);
}

tfsdk_status *array_tensor_scatter_grad_ties(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), u = tfsdk_input(g, 2), y = tfsdk_output(g, 0), in[3], ties,
            share;
  tfsdk_attrval to = tfsdk_a_dtype("DstT", tfsdk_type(c, x).dtype);
  tfsdk_val x_wins = tfsdk_emit2(c, "Equal", x, y),
            u_wins = tfsdk_emit2(c, "Equal", u, gather(c, g, y));
  x_wins = tfsdk_emit(c, "Cast", &x_wins, 1, &to, 1);
  u_wins = tfsdk_emit(c, "Cast", &u_wins, 1, &to, 1);
  in[0] = x_wins;
  in[1] = tfsdk_input(g, 1);
  in[2] = u_wins;
  ties = with_policy(c, g, "TensorScatterAdd", in, 3);
  share = tfsdk_emit2(c, "RealDiv", tfsdk_dy(g, 0), ties);
  TFSDK_TRY(tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Mul", share, x_wins)));
  return tfsdk_set_dx(g, 2, tfsdk_emit2(c, "Mul", gather(c, g, share), u_wins));
}
