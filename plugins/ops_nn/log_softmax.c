/* LogSoftmax: y = x - max x - log sum exp(x - max x) over the last axis. Gradient: dx = dy -
 * exp(y) sum(dy). */
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
    for (int64_t i = 0; i < n; i++) sum += exp(row[i] - top);
    /* Two subtractions: top + log(sum) would lose log(sum) beside a huge top. */
    for (int64_t i = 0; i < n; i++) row[i] = row[i] - top - log(sum);
    nn_store_f(x->dtype, r->out[0].data, at, 1, n, row);
  }
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val dy = tfsdk_dy(g, 0), in[2] = {dy, tfsdk_int_scalar(c, -1)};
  tfsdk_attrval keep = tfsdk_a_bool("keep_dims", 1);
  tfsdk_val sum = tfsdk_emit(c, "Sum", in, 2, &keep, 1), y = tfsdk_output(g, 0);
  tfsdk_val share = tfsdk_emit2(c, "Mul", tfsdk_emit1(c, "Exp", y), sum);
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Sub", dy, share));
}

static const tfsdk_arg in[] = {
    {"logits", "T", "rank 1 or more; classes along the last axis", 0, 0}};
static const tfsdk_arg out[] = {{"logsoftmax", "T", "of logits' shape", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the elements' type", 0, 0}};
static const char *const samples[] = {"T[3,4]", "T[2,2,5]", "T[6]", "T[3,1]",
                                      "T[0,3]", "T[3,131]", NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("LogSoftmax", "the logarithm of Softmax"),
     .doc = "`logsoftmax[i] = logits[i] - log(sum over j of exp(logits[j]))` along the last axis, "
            "computed with logits shifted by their maximum. More accurate than the logarithm of "
            "Softmax, which is -inf where that underflows.",
     .in = in, .n_in = 1, .out = out, .n_out = 1, .attr = attr, .n_attr = 1, .infer = infer,
     .reference = compute, .grad = grad, .grad_out = 1, .samples = samples}};
TFSDK_UNIT_OPS(log_softmax, ops);
