/* batch_gemm.c - see batch_gemm.h. */
#include "batch_gemm.h"
#include <tfsdk/shape.h>
#include "gemm.h"

/* The batch axes of a shape; unknown stays unknown. */
static tfsdk_shape batch_of(const tfsdk_shape *s) {
  tfsdk_shape b = *s;
  if (b.rank >= 2) b.rank -= 2;
  return b;
}

tfsdk_status *nn_batch_gemm_infer(tfsdk_infer *c, int broadcast) {
  const tfsdk_shape *x = &c->in[0].shape, *y = &c->in[1].shape;
  int ax = tfsdk_attr_int(&c->attr, "adj_x") != 0, ay = tfsdk_attr_int(&c->attr, "adj_y") != 0;
  tfsdk_shape bx, by, *out = &c->out[0].shape;
  for (int i = 0; i < 2; i++)
    TFSDK_REQUIRE(c, c->in[i].shape.rank < 0 || c->in[i].shape.rank >= 2,
                  "'%s' must have rank 2 or more, but its shape is %s", c->op->in[i].name,
                  tfsdk_shape_text(&c->in[i].shape).s);
  if (x->rank >= 0 && y->rank >= 0) {
    int64_t kx = x->dim[x->rank - (ax ? 2 : 1)], ky = y->dim[y->rank - (ay ? 1 : 2)];
    TFSDK_REQUIRE(c, kx < 0 || ky < 0 || kx == ky,
                  "'x' %s%s and 'y' %s%s do not fit: the inner extents %lld and %lld must be equal",
                  tfsdk_shape_text(x).s, ax ? " adjoint" : "", tfsdk_shape_text(y).s,
                  ay ? " adjoint" : "", (long long)kx, (long long)ky);
  }
  bx = batch_of(x);
  by = batch_of(y);
  if (broadcast)
    TFSDK_TRY(tfsdk_broadcast(c, &bx, &by, out));
  else
    TFSDK_TRY(tfsdk_merge(c, &bx, &by, "batch axes of 'x' and 'y'", out));
  if (out->rank < 0) return NULL;
  TFSDK_REQUIRE(c, out->rank + 2 <= TFSDK_MAX_RANK,
                "the product would have rank %d, but %d is the most", (int)out->rank + 2,
                TFSDK_MAX_RANK);
  out->rank += 2;
  out->dim[out->rank - 2] = x->rank < 0 ? -1 : x->dim[x->rank - (ax ? 1 : 2)];
  out->dim[out->rank - 1] = y->rank < 0 ? -1 : y->dim[y->rank - (ay ? 2 : 1)];
  return NULL;
}

/* Elements to step along batch axis `axis` of the product in an operand: 0 where it is
 * broadcast. */
static int64_t batch_step(const tfsdk_view *v, int32_t rank, int32_t axis) {
  int32_t own = axis - (rank - v->rank);
  int64_t step = 1;
  if (own < 0 || v->dim[own] == 1) return 0;
  for (int32_t i = own + 1; i < v->rank; i++) step *= v->dim[i];
  return step;
}

tfsdk_status *nn_batch_gemm_compute(tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->in[1], *z = &r->out[0];
  int32_t rank = z->rank;
  int64_t index[TFSDK_MAX_RANK] = {0}, step_x[TFSDK_MAX_RANK], step_y[TFSDK_MAX_RANK], at_x = 0,
          at_y = 0;
  nn_gemm g = {.m = z->dim[rank - 2],
               .n = z->dim[rank - 1],
               .transpose_a = tfsdk_attr_int(&r->attr, "adj_x") != 0,
               .transpose_b = tfsdk_attr_int(&r->attr, "adj_y") != 0,
               .a_dtype = x->dtype,
               .b_dtype = y->dtype,
               .c_dtype = z->dtype};
  void *work;
  if (z->n_elem == 0) return NULL;
  g.k = x->dim[x->rank - (g.transpose_a ? 2 : 1)];
  TFSDK_TRY(nn_gemm_workspace(r, &g, &work));
  for (int32_t i = 0; i < rank - 2; i++) {
    step_x[i] = batch_step(x, rank, i);
    step_y[i] = batch_step(y, rank, i);
  }
  for (int64_t at = 0; at < z->n_elem; at += g.m * g.n) {
    nn_gemm_run(&g, x->data, at_x, y->data, at_y, z->data, at, work);
    for (int32_t i = rank - 3; i >= 0; i--) { /* the next batch index, as an odometer counts */
      at_x += step_x[i];
      at_y += step_y[i];
      if (++index[i] < z->dim[i]) break;
      at_x -= index[i] * step_x[i];
      at_y -= index[i] * step_y[i];
      index[i] = 0;
    }
  }
  return NULL;
}

static tfsdk_val product(tfsdk_ctx *c, const char *op, tfsdk_val x, int ax, tfsdk_val y, int ay) {
  tfsdk_val in[2] = {x, y};
  tfsdk_attrval attr[2] = {tfsdk_a_bool("adj_x", ax), tfsdk_a_bool("adj_y", ay)};
  return tfsdk_emit(c, op, in, 2, attr, 2);
}

tfsdk_status *nn_batch_gemm_grad(tfsdk_ctx *c, tfsdk_gradcall *g, int broadcast) {
  const char *op = broadcast ? "BatchMatMulV2" : "BatchMatMul";
  int ax = tfsdk_attr_int(&g->attr, "adj_x") != 0, ay = tfsdk_attr_int(&g->attr, "adj_y") != 0;
  tfsdk_val dz = tfsdk_dy(g, 0), x = tfsdk_input(g, 0), y = tfsdk_input(g, 1), d;
  if (tfsdk_wants(g, 0)) {
    d = ax ? product(c, op, y, ay, dz, 1) : product(c, op, dz, 0, y, !ay);
    TFSDK_TRY(tfsdk_set_dx(g, 0, broadcast ? tfsdk_sum_like(c, d, x) : d));
  }
  if (tfsdk_wants(g, 1)) {
    d = ay ? product(c, op, dz, 1, x, ax) : product(c, op, x, !ax, dz, 0);
    TFSDK_TRY(tfsdk_set_dx(g, 1, broadcast ? tfsdk_sum_like(c, d, y) : d));
  }
  return NULL;
}
