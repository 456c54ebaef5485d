/* ChannelMoments: mean and population variance of each channel, over all other axes; the channels
 * are the last axis. Plans take batch normalisation apart into this and element-wise ops.
 *
 *     m_c = 1/n sum x,  v_c = 1/n sum (x - m_c)^2;  dx = (dm_c + 2 (x - m_c) dv_c) / n
 */
#include <tfsdk/emit.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>
#include "row.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  c->out[0].shape = c->out[1].shape = tfsdk_shape_vector(-1);
  if (x->rank < 0) return NULL;
  TFSDK_REQUIRE(c, x->rank >= 1, "'x' must have rank 1 or more, but it is a scalar");
  c->out[0].shape.dim[0] = c->out[1].shape.dim[0] = x->dim[x->rank - 1];
  return NULL;
}

/* Two passes, so that nothing cancels. Without elements both are NaN, as means of nothing are. */
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t n = x->dim[x->rank - 1], rows = n > 0 ? x->n_elem / n : 0;
  void *work;
  (void)state;
  TFSDK_TRY(r->api->workspace(r, (3 * (size_t)n + 1) * sizeof(double), &work));
  double *mean = (double *)work, *variance = mean + n, *row = variance + n;
  for (int64_t c = 0; c < n; c++) mean[c] = variance[c] = 0;
  for (int64_t i = 0; i < rows; i++) {
    nn_load_f(x->dtype, x->data, i * n, 1, n, row);
    for (int64_t c = 0; c < n; c++) mean[c] += row[c];
  }
  for (int64_t c = 0; c < n; c++) mean[c] /= (double)rows;
  for (int64_t i = 0; i < rows; i++) {
    nn_load_f(x->dtype, x->data, i * n, 1, n, row);
    for (int64_t c = 0; c < n; c++) variance[c] += (row[c] - mean[c]) * (row[c] - mean[c]);
  }
  for (int64_t c = 0; c < n; c++) variance[c] /= (double)rows;
  nn_store_f(x->dtype, r->out[0].data, 0, 1, n, mean);
  nn_store_f(x->dtype, r->out[1].data, 0, 1, n, variance);
  return NULL;
}

/* How many elements a channel has, as a scalar of x's type. */
static tfsdk_val count(tfsdk_ctx *c, tfsdk_val x) {
  tfsdk_val size = tfsdk_emit1(c, "Size", x);
  tfsdk_typed_shape t = tfsdk_type(c, x);
  tfsdk_attrval to = tfsdk_a_dtype("DstT", t.dtype);
  tfsdk_val n = tfsdk_emit(c, "Cast", &size, 1, &to, 1);
  int64_t channels = t.shape.rank > 0 ? t.shape.dim[t.shape.rank - 1] : -1;
  if (channels > 0) return tfsdk_emit2(c, "RealDiv", n, tfsdk_scalar(c, t.dtype, (double)channels));
  size = tfsdk_emit1(c, "Size", tfsdk_emit1(c, "ChannelMoments", x));
  return tfsdk_emit2(c, "RealDiv", n, tfsdk_emit(c, "Cast", &size, 1, &to, 1));
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dx = tfsdk_none(), n = count(c, x);
  if (tfsdk_has_dy(g, 1)) {
    tfsdk_val away = tfsdk_emit2(c, "Sub", x, tfsdk_output(g, 0));
    tfsdk_val slope = tfsdk_emit2(c, "Mul", tfsdk_dy(g, 1), tfsdk_scalar_like(c, x, 2));
    dx = tfsdk_emit2(c, "Mul", away, slope);
    if (tfsdk_has_dy(g, 0)) dx = tfsdk_emit2(c, "AddV2", dx, tfsdk_dy(g, 0));
  } else {
    dx = tfsdk_emit2(c, "BroadcastLike", tfsdk_dy(g, 0), x);
  }
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "RealDiv", dx, n));
}

static const tfsdk_arg in[] = {{"x", "T", "[..., channels]", 0, 0}};
static const tfsdk_arg out[] = {{"mean", "T", "[channels]", 0, 0},
                                {"variance", "T", "[channels], n in the divisor", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float32,float64}", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[2,3,4]", "T[5,2](3,5)", "T[4]", "float64[2,2,3,2]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ChannelMoments", "mean and variance of each channel"),
     .doc = "Mean and population variance over all axes but the last. Of no elements they are "
            "NaN.",
     .in = in, .n_in = 1, .out = out, .n_out = 2, .attr = attr, .n_attr = 1, .infer = infer,
     .reference = compute, .grad = grad, .grad_in = 1, .grad_out = 1, .samples = samples}};
TFSDK_UNIT_OPS(channel_moments, ops);
