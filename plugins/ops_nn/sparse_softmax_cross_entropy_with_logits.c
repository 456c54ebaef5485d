/* SparseSoftmaxCrossEntropyWithLogits: loss[i] = -logsoftmax(features[i])[labels[i]], and its
 * gradient backprop = softmax(features) - onehot(labels). Log-sum-exp after a shift by the
 * maximum. */
#include <math.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>
#include "row.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape x = tfsdk_shape_unknown(), labels = tfsdk_shape_unknown();
  TFSDK_TRY(tfsdk_with_rank(c, 0, 2, &x));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &labels));
  TFSDK_TRY(tfsdk_merge_dim(c, x.dim[0], labels.dim[0], "rows of 'features' and length of 'labels'",
                            &x.dim[0]));
  TFSDK_REQUIRE(c, x.dim[1] != 0 || x.dim[0] == 0, "'features' %s has no classes",
                tfsdk_shape_text(&x).s);
  c->out[0].shape = tfsdk_shape_vector(x.dim[0]);
  c->out[1].shape = x;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *labels = &r->in[1];
  int64_t rows = x->dim[0], n = x->dim[1];
  void *work;
  (void)state;
  TFSDK_TRY(r->api->workspace(r, ((size_t)n + 1) * sizeof(double), &work));
  double *row = (double *)work;
  for (int64_t i = 0; i < rows; i++) {
    int64_t label = tfsdk_view_int(labels, i);
    double top = -HUGE_VAL, sum = 0, loss;
    TFSDK_REQUIRE(r, label >= 0 && label < n,
                  "labels[%lld] is %lld, but there are %lld classes: 0..%lld", (long long)i,
                  (long long)label, (long long)n, (long long)n - 1);
    nn_load_f(x->dtype, x->data, i * n, 1, n, row);
    for (int64_t j = 0; j < n; j++)
      if (row[j] > top || isnan(row[j])) top = row[j];
    for (int64_t j = 0; j < n; j++) sum += exp(row[j] - top);
    loss = log(sum) - (row[label] - top);
    for (int64_t j = 0; j < n; j++) row[j] = exp(row[j] - top) / sum;
    row[label] -= 1;
    nn_store_f(x->dtype, r->out[0].data, i, 1, 1, &loss);
    nn_store_f(x->dtype, r->out[1].data, i * n, 1, n, row);
  }
  return NULL;
}

/* With p = softmax(x), u and v upstream of loss and backprop: dx = u backprop + p (v - sum(v
 * p)). */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val last = tfsdk_int_scalar(c, -1), dx = tfsdk_none();
  if (tfsdk_has_dy(g, 0)) {
    tfsdk_val u = tfsdk_emit2(c, "ExpandDims", tfsdk_dy(g, 0), last);
    dx = tfsdk_emit2(c, "Mul", u, tfsdk_output(g, 1));
  }
  if (tfsdk_has_dy(g, 1)) {
    tfsdk_val v = tfsdk_dy(g, 1), p = tfsdk_emit1(c, "Softmax", tfsdk_input(g, 0));
    tfsdk_val in[2] = {tfsdk_emit2(c, "Mul", v, p), last};
    tfsdk_attrval keep = tfsdk_a_bool("keep_dims", 1);
    tfsdk_val rest = tfsdk_emit2(c, "Sub", v, tfsdk_emit(c, "Sum", in, 2, &keep, 1));
    tfsdk_val more = tfsdk_emit2(c, "Mul", p, rest);
    dx = dx.id == 0 ? more : tfsdk_emit2(c, "Add", dx, more);
  }
  return tfsdk_set_dx(g, 0, dx);
}

static const tfsdk_arg in[] = {
    {"features", "T", "logits [batch, classes]", 0, 0},
    {"labels", "Tlabels", "[batch]: the number of the right class, from 0", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"loss", "T", "[batch]", 0, 0},
                                {"backprop", "T", "[batch, classes]: d loss / d features", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the type of features and loss", 0, 0},
    {"Tlabels", "dtype{int32,int64}", NULL, "the type of labels", 0, 0}};
static const char *const samples[] = {"T[3,4] ; int32{0,3,1}", "T[2,3] ; int64{2,2}",
                                      "T[0,4] ; int32[0]", NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SparseSoftmaxCrossEntropyWithLogits",
                   "cross entropy of softmax and class numbers"),
     .doc = "`loss[i] = -logsoftmax(features[i])[labels[i]]`; `backprop` is its gradient with "
            "respect to `features`, `softmax - onehot`. A label outside of 0..classes-1 is an "
            "error.",
     .in = in, .n_in = 2, .out = out, .n_out = 2, .attr = attr, .n_attr = 2, .infer = infer,
     .reference = compute, .grad = grad, .grad_in = 1, .grad_out = 2, .samples = samples}};
TFSDK_UNIT_OPS(sparse_softmax_cross_entropy_with_logits, ops);
