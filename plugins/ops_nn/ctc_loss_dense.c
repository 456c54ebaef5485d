/* CtcLossDense: the loss of TensorFlow 2 and PyTorch: any class may be the blank, labels are a matrix with
 * lengths, a row without labels is as good as another. */
#include "ctc.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape x, labels, lengths;
  int64_t batch = -1;
  TFSDK_TRY(ctc_infer(c, 3, &x, &batch));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 2, &labels));
  TFSDK_TRY(tfsdk_with_rank(c, 2, 1, &lengths));
  TFSDK_REQUIRE(c, batch < 0 || labels.dim[0] < 0 || labels.dim[0] == batch,
                "%lld rows of labels for a batch of %lld", (long long)labels.dim[0],
                (long long)batch);
  TFSDK_REQUIRE(c, batch < 0 || lengths.dim[0] < 0 || lengths.dim[0] == batch,
                "%lld label lengths for a batch of %lld", (long long)lengths.dim[0],
                (long long)batch);
  c->out[0].shape = tfsdk_shape_of_rank(1);
  c->out[0].shape.dim[0] = batch;
  c->out[1].shape = x;
  return NULL;
}

static tfsdk_status *read_labels(const tfsdk_run *r, int64_t b, const ctc_row *c, int64_t n,
                                 int64_t *out) {
  const int64_t most = r->in[1].dim[1];
  const int32_t *label = (const int32_t *)r->in[1].data + b * most;
  TFSDK_REQUIRE(r, n >= 0 && n <= most, "row %lld has the label length %lld; there are %lld labels",
                (long long)b, (long long)n, (long long)most);
  for (int64_t i = 0; i < n; i++) {
    TFSDK_REQUIRE(r, label[i] >= 0 && label[i] < c->classes && label[i] != c->blank,
                  "row %lld has the label %d; labels are 0 to %lld, but not %lld, the blank",
                  (long long)b, (int)label[i], (long long)c->classes - 1, (long long)c->blank);
    out[i] = label[i];
  }
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  const int64_t steps = x->dim[0], batch = x->dim[1], k = x->dim[2], most = r->in[1].dim[1];
  const int zero = tfsdk_attr_int(&r->attr, "zero_infinity") != 0;
  ctc_row c = {.classes = k,
               .blank = tfsdk_attr_int(&r->attr, "blank_index"),
               .stride = batch * k,
               .merge = 1};
  void *room;
  (void)state;
  if (c.blank < 0) c.blank += k;
  TFSDK_REQUIRE(r, batch == 0 || (c.blank >= 0 && c.blank < k),
                "'blank_index' is %lld for %lld classes",
                (long long)tfsdk_attr_int(&r->attr, "blank_index"), (long long)k);
  TFSDK_TRY(
      r->api->workspace(r, (size_t)(ctc_room(steps, k, most) + most + 1) * sizeof(double), &room));
  int64_t *label = (int64_t *)room;
  if (r->out[1].byte_size > 0) memset(r->out[1].data, 0, (size_t)r->out[1].byte_size);
  for (int64_t b = 0; b < batch; b++) {
    c.steps = ((const int32_t *)r->in[3].data)[b];
    c.n_label = ((const int32_t *)r->in[2].data)[b];
    TFSDK_TRY(ctc_check_length(r, b, c.steps, steps));
    TFSDK_TRY(read_labels(r, b, &c, c.n_label, label));
    c.label = label;
    c.at = b * k;
    double loss = ctc_solve(&c, x->dtype, x->data, r->out[1].data, (double *)room + most + 1);
    if (zero && isinf(loss)) {
      double *nothing = (double *)room + most + 1;
      memset(nothing, 0, (size_t)k * sizeof *nothing);
      for (int64_t t = 0; t < c.steps; t++)
        nn_store_f(x->dtype, r->out[1].data, c.at + t * c.stride, 1, k, nothing);
      loss = 0;
    }
    nn_store_f(x->dtype, r->out[0].data, b, 1, 1, &loss);
  }
  return NULL;
}

static const tfsdk_arg in[] = {
    {"inputs", "T", "logits [time, batch, classes]", 0, 0},
    {"labels", "int32", "[batch, most labels]; what lies behind a row's length does not matter",
     TFSDK_ARG_NONDIFF, 0},
    {"label_length", "int32", "[batch]", TFSDK_ARG_NONDIFF, 0},
    {"sequence_length", "int32", "[batch]: how many steps of a row count", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"loss", "T", "[batch]: -log of the probability of the labels", 0, 0},
    {"gradient", "T", "like `inputs`: d loss / d inputs", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"blank_index", "int", "0", "the class that is the blank; negative counts from the end", 0, 0},
    {"zero_infinity", "bool", "false", "rows that no path fits: loss and gradient 0", 0, 0},
    {"T", "dtype{float32,float64}", "float32", "the type of logits and loss", 0, 0}};
/* The check of gradients asks for that of `gradient`, too. Recorded values have them: tests/train/ctc.lua */
static const char *const samples[] = {
    "nograd T[4,2,3] ; int32{{1,2},{2,0}} ; int32{2,1} ; int32{4,3}",
    "nograd float64[3,2,3] ; int32{{0,0},{1,2}} ; int32{0,1} ; int32{3,2} | blank_index=-1",
    "nograd float32[0,0,3] ; int32[0,2] ; int32[0] ; int32[0]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("CtcLossDense", "CTC loss of labels in a matrix"),
     .doc =
         "As CTCLoss, with any class as the blank, and rows without labels, whose loss is that of "
         "blanks alone. Where no path fits (two equal labels need a blank between them) the loss "
         "is infinite and the gradient softmax(inputs); with `zero_infinity` both are 0, as in "
         "PyTorch.",
     .in = in, .n_in = 4, .out = out, .n_out = 2, .attr = attr, .n_attr = 3, .infer = infer,
     .reference = compute, .grad = ctc_grad, .grad_out = 2, .samples = samples}};
TFSDK_UNIT_OPS(ctc_loss_dense, ops);
