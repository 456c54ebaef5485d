/* CTCLoss: TensorFlow 1's loss; the blank is the last class, labels come as a sparse matrix. */
#include "ctc.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape x, indices, values;
  int64_t batch = -1;
  TFSDK_TRY(ctc_infer(c, 3, &x, &batch));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 2, &indices));
  TFSDK_TRY(tfsdk_with_rank(c, 2, 1, &values));
  TFSDK_REQUIRE(c, indices.dim[1] < 0 || indices.dim[1] == 2,
                "'labels_indices' must have 2 columns (row, place), not %lld",
                (long long)indices.dim[1]);
  TFSDK_REQUIRE(c, indices.dim[0] < 0 || values.dim[0] < 0 || indices.dim[0] == values.dim[0],
                "%lld rows of 'labels_indices' for %lld 'labels_values'", (long long)indices.dim[0],
                (long long)values.dim[0]);
  c->out[0].shape = tfsdk_shape_of_rank(1);
  c->out[0].shape.dim[0] = batch;
  c->out[1].shape = x;
  return NULL;
}

/* The labels of a row, in the order in which they are given. */
static tfsdk_status *labels_of(const tfsdk_run *r, int64_t b, int64_t batch, int64_t blank,
                               int collapse, int64_t *out, int64_t *n) {
  const int64_t *index = (const int64_t *)r->in[1].data;
  const int32_t *value = (const int32_t *)r->in[2].data;
  *n = 0;
  for (int64_t i = 0; i < r->in[2].n_elem; i++) {
    const int64_t row = index[2 * i], label = value[i];
    TFSDK_REQUIRE(r, row >= 0 && row < batch, "label %lld is of row %lld; there are %lld rows",
                  (long long)i, (long long)row, (long long)batch);
    if (row != b) continue;
    TFSDK_REQUIRE(
        r, label >= 0 && label < blank,
        "row %lld has the label %lld; labels are 0 to %lld, and the last class is the blank",
        (long long)b, (long long)label, (long long)blank - 1);
    if (collapse && *n > 0 && out[*n - 1] == label) continue;
    out[(*n)++] = label;
  }
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  const int64_t steps = x->dim[0], batch = x->dim[1], k = x->dim[2], most = r->in[2].n_elem;
  const int collapse = tfsdk_attr_int(&r->attr, "preprocess_collapse_repeated") != 0;
  const int ignore = tfsdk_attr_int(&r->attr, "ignore_longer_outputs_than_inputs") != 0;
  ctc_row c = {.classes = k,
               .blank = k - 1,
               .stride = batch * k,
               .merge = tfsdk_attr_int(&r->attr, "ctc_merge_repeated") != 0};
  void *room;
  (void)state;
  TFSDK_REQUIRE(r, k > 0 || batch == 0, "the logits have no classes; the last one is the blank");
  TFSDK_TRY(
      r->api->workspace(r, (size_t)(ctc_room(steps, k, most) + most + 1) * sizeof(double), &room));
  int64_t *label = (int64_t *)room;
  if (r->out[1].byte_size > 0) memset(r->out[1].data, 0, (size_t)r->out[1].byte_size);
  for (int64_t b = 0; b < batch; b++) {
    double loss = 0;
    c.steps = ((const int32_t *)r->in[3].data)[b];
    TFSDK_TRY(ctc_check_length(r, b, c.steps, steps));
    TFSDK_TRY(labels_of(r, b, batch, c.blank, collapse, label, &c.n_label));
    c.label = label;
    c.at = b * k;
    TFSDK_REQUIRE(r, c.n_label > 0, "Labels length is zero in batch %lld", (long long)b);
    TFSDK_REQUIRE(r, ignore || c.n_label <= c.steps,
                  "Not enough time for target transition sequence (required: %lld, available: "
                  "%lld), row %lld; ignore_longer_outputs_than_inputs leaves such rows out",
                  (long long)c.n_label, (long long)c.steps, (long long)b);
    if (c.n_label <= c.steps)
      loss = ctc_solve(&c, x->dtype, x->data, r->out[1].data, (double *)room + most + 1);
    nn_store_f(x->dtype, r->out[0].data, b, 1, 1, &loss);
  }
  return NULL;
}

static const tfsdk_arg in[] = {
    {"inputs", "T", "logits [time, batch, classes]; the last class is the blank", 0, 0},
    {"labels_indices", "int64", "[labels, 2]: row and place of each label", TFSDK_ARG_NONDIFF, 0},
    {"labels_values", "int32", "[labels]: 0 to classes - 2", TFSDK_ARG_NONDIFF, 0},
    {"sequence_length", "int32", "[batch]: how many steps of a row count", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"loss", "T", "[batch]: -log of the probability of the labels", 0, 0},
    {"gradient", "T", "like `inputs`: d loss / d inputs", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"preprocess_collapse_repeated", "bool", "false", "merge equal neighbours of the labels first",
     0, 0},
    {"ctc_merge_repeated", "bool", "true", "repeats in a path are one label", 0, 0},
    {"ignore_longer_outputs_than_inputs", "bool", "false",
     "rows with more labels than steps: loss and gradient 0, no error", 0, 0},
    {"T", "dtype{float32,float64}", "float32", "the type of logits and loss", 0, 0}};
/* The check of gradients asks for that of `gradient`, too. Recorded values have them: tests/train/ctc.lua */
static const char *const samples[] = {
    "nograd T[4,2,3] ; int64{{0,0},{0,1},{1,0}} ; int32{0,1,1} ; int32{4,3}",
    "nograd float64[4,1,3] ; int64{{0,0},{0,1}} ; int32{1,1} ; int32{4} | ctc_merge_repeated=false",
    "nograd float64[4,1,3] ; int64{{0,0},{0,1}} ; int32{1,1} ; int32{4} | "
    "preprocess_collapse_repeated=true",
    "nograd float32[0,0,3] ; int64[0,2] ; int32[0] ; int32[0]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("CTCLoss", "connectionist temporal classification"),
     .doc =
         "Graves et al., 2006: -log of the probability that the logits' softmax gives to all "
         "paths of classes that become the labels when repeats are merged and blanks left out. "
         "Errors: no labels in a row; more labels than steps; labels outside of 0 to "
         "classes - 2. Two equal labels need a blank between them: where there are too few steps "
         "for that the loss is infinite and the gradient softmax(inputs), as in TensorFlow.",
     .in = in, .n_in = 4, .out = out, .n_out = 2, .attr = attr, .n_attr = 4, .infer = infer,
     .reference = compute, .grad = ctc_grad, .grad_out = 2, .samples = samples}};
TFSDK_UNIT_OPS(ctc_loss, ops);
