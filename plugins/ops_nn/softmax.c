/* Softmax: y = exp(x - max x) / sum exp(x - max x) over the last axis. The shift by the maximum
 * keeps every exponential in (0, 1], so nothing overflows. Gradient: dx = y (dy - sum(dy y)). */
#include <math.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>
#include "row.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  TFSDK_REQUIRE(c, c->in[0].shape.rank != 0, "'logits' must have rank 1 or more, not be a scalar");
  return tfsdk_infer_same(c);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t n = x->dim[x->rank - 1];
  void *work;
  (void)state;
  if (x->n_elem == 0) return NULL;
  TFSDK_TRY(r->api->workspace(r, (size_t)n * sizeof(double), &work));
  double *row = (double *)work;
  for (int64_t at = 0; at < x->n_elem; at += n) {
    double top = -HUGE_VAL, sum = 0;
    nn_load_f(x->dtype, x->data, at, 1, n, row);
    for (int64_t i = 0; i < n; i++)
      if (row[i] > top || isnan(row[i])) top = row[i];
    for (int64_t i = 0; i < n; i++) sum += row[i] = exp(row[i] - top);
    for (int64_t i = 0; i < n; i++) row[i] /= sum;
    nn_store_f(x->dtype, r->out[0].data, at, 1, n, row);
  }
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val y = tfsdk_output(g, 0), dy = tfsdk_dy(g, 0);
  tfsdk_val in[2] = {tfsdk_emit2(c, "Mul", dy, y), tfsdk_int_scalar(c, -1)};
  tfsdk_attrval keep = tfsdk_a_bool("keep_dims", 1);
  tfsdk_val sum = tfsdk_emit(c, "Sum", in, 2, &keep, 1);
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Mul", tfsdk_emit2(c, "Sub", dy, sum), y));
}

static const tfsdk_arg in[] = {
    {"logits", "T", "rank 1 or more; classes along the last axis", 0, 0}};
static const tfsdk_arg out[] = {
    {"softmax", "T", "of logits' shape; sums to 1 along the last axis", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the elements' type", 0, 0}};
static const char *const samples[] = {"T[3,4]", "T[2,2,5]", "T[6]", "T[3,1]",
                                      "T[0,3]", "T[3,131]", NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Softmax", "exponentials divided by their sum"),
     .doc = "`softmax[i] = exp(logits[i]) / sum over j of exp(logits[j])` along the last axis, "
            "computed with logits shifted by their maximum: large logits are no problem. A row of "
            "-inf gives NaN.",
     .in = in, .n_in = 1, .out = out, .n_out = 1, .attr = attr, .n_attr = 1, .infer = infer,
     .reference = compute, .grad = grad, .grad_out = 1, .samples = samples}};
TFSDK_UNIT_OPS(softmax, ops);
