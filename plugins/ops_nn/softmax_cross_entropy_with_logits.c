/* SoftmaxCrossEntropyWithLogits: loss = -sum(labels * logsoftmax(features)) for each row, and
 * its gradient backprop = sum(labels) softmax(features) - labels, which is softmax - labels for
 * labels that sum to 1. Computed with log-sum-exp after a shift by the maximum (no overflow, and
 * a label of 0 meets no 0 * -inf). */
#include <math.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>
#include "row.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape both;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 2, &both));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 2, &both));
  TFSDK_TRY(tfsdk_infer_broadcast(c, 0, 1, &both));
  if (both.rank < 0) both = tfsdk_shape_of_rank(2);
  c->out[0].shape = tfsdk_shape_vector(both.dim[0]);
  c->out[1].shape = both;
  return NULL;
}

/* Row i of a matrix that is broadcast to n columns. */
static void load_row(const tfsdk_view *v, int64_t i, int64_t n, double *out) {
  int64_t columns = v->dim[1];
  nn_load_f(v->dtype, v->data, (v->dim[0] == 1 ? 0 : i) * columns, columns == 1 ? 0 : 1, n, out);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *y = &r->out[1];
  int64_t rows = y->dim[0], n = y->dim[1];
  void *work;
  (void)state;
  TFSDK_TRY(r->api->workspace(r, (2 * (size_t)n + 1) * sizeof(double), &work));
  double *x = (double *)work, *label = x + n;
  for (int64_t i = 0; i < rows; i++) {
    double top = -HUGE_VAL, sum = 0, loss = 0, weight = 0;
    load_row(&r->in[0], i, n, x);
    load_row(&r->in[1], i, n, label);
    for (int64_t j = 0; j < n; j++)
      if (x[j] > top || isnan(x[j])) top = x[j];
    for (int64_t j = 0; j < n; j++) sum += exp(x[j] - top);
    for (int64_t j = 0; j < n; j++) {
      if (label[j] != 0) loss -= label[j] * (x[j] - top - log(sum));
      weight += label[j];
    }
    for (int64_t j = 0; j < n; j++) x[j] = weight * (exp(x[j] - top) / sum) - label[j];
    nn_store_f(r->out[0].dtype, r->out[0].data, i, 1, 1, &loss);
    nn_store_f(y->dtype, y->data, i * n, 1, n, x);
  }
  return NULL;
}

/* With p = softmax(x), l the labels, u and v upstream of loss and backprop, s = sum(l):
 *   dx = u (s p - l) + s p (v - sum(v p)),    dl = -u logsoftmax(x) + sum(v p) - v. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), labels = tfsdk_input(g, 1), dx = tfsdk_none(), dl = tfsdk_none();
  tfsdk_val last = tfsdk_int_scalar(c, -1), v = tfsdk_dy(g, 1);
  tfsdk_attrval keep = tfsdk_a_bool("keep_dims", 1);
  if (tfsdk_has_dy(g, 0)) {
    tfsdk_val u = tfsdk_emit2(c, "ExpandDims", tfsdk_dy(g, 0), last);
    if (tfsdk_wants(g, 0)) dx = tfsdk_emit2(c, "Mul", u, tfsdk_output(g, 1));
    if (tfsdk_wants(g, 1))
      dl = tfsdk_emit1(c, "Neg", tfsdk_emit2(c, "Mul", u, tfsdk_emit1(c, "LogSoftmax", x)));
  }
  if (tfsdk_has_dy(g, 1)) {
    tfsdk_val p = tfsdk_emit1(c, "Softmax", x), in[2] = {tfsdk_emit2(c, "Mul", v, p), last};
    tfsdk_val vp = tfsdk_emit(c, "Sum", in, 2, &keep, 1), rest = tfsdk_emit2(c, "Sub", v, vp);
    if (tfsdk_wants(g, 0)) {
      tfsdk_val sum_in[2] = {labels, last}, s = tfsdk_emit(c, "Sum", sum_in, 2, &keep, 1);
      tfsdk_val more = tfsdk_emit2(c, "Mul", tfsdk_emit2(c, "Mul", s, p), rest);
      dx = dx.id == 0 ? more : tfsdk_emit2(c, "Add", dx, more);
    }
    if (tfsdk_wants(g, 1))
      dl = dl.id == 0 ? tfsdk_emit1(c, "Neg", rest) : tfsdk_emit2(c, "Sub", dl, rest);
  }
  if (dx.id != 0) TFSDK_TRY(tfsdk_set_dx(g, 0, tfsdk_sum_like(c, dx, x)));
  if (dl.id != 0) TFSDK_TRY(tfsdk_set_dx(g, 1, tfsdk_sum_like(c, dl, labels)));
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"features", "T", "logits [batch, classes]", 0, 0},
                               {"labels", "T", "probabilities [batch, classes]", 0, 0}};
static const tfsdk_arg out[] = {{"loss", "T", "[batch]", 0, 0},
                                {"backprop", "T", "[batch, classes]: d loss / d features", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the elements' type", 0, 0}};
static const char *const samples[] = {"T[3,4] ; T[3,4](0.1,1)", "T[3,4] ; T[1,4](0.1,1)",
                                      "T[0,4] ; T[0,4]", NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SoftmaxCrossEntropyWithLogits",
                   "cross entropy of softmax and given probabilities"),
     .doc = "`loss = -sum(labels * logsoftmax(features))` for each row; `backprop` is its gradient "
            "with respect to `features`, `sum(labels) * softmax - labels`. Both arguments are "
            "broadcast to a common shape.\n\n"
            "Labels need not sum to 1: the gradient is that of the formula all the same "
            "(TensorFlow leaves the factor sum(labels) out). A label of 0 adds 0 to the loss, even "
            "for a logit of -inf.",
     .in = in, .n_in = 2, .out = out, .n_out = 2, .attr = attr, .n_attr = 1, .infer = infer,
     .reference = compute, .grad = grad, .grad_in = 3, .grad_out = 2, .samples = samples}};
TFSDK_UNIT_OPS(softmax_cross_entropy_with_logits, ops);
