/* CTCGreedyDecoder: the largest class of each step, repeats merged, blanks left out. */
#include "ctc.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape x;
  int64_t batch = -1;
  TFSDK_TRY(ctc_infer(c, 1, &x, &batch));
  c->out[0].shape = tfsdk_shape_of_rank(2);
  c->out[0].shape.dim[1] = 2;
  c->out[1].shape = tfsdk_shape_of_rank(1);
  c->out[2].shape = tfsdk_shape_of_rank(1);
  c->out[2].shape.dim[0] = 2;
  c->out[3].shape = tfsdk_shape_of_rank(2);
  c->out[3].shape.dim[0] = batch;
  c->out[3].shape.dim[1] = 1;
  return NULL;
}

/* Of equal ones the first. */
static int64_t largest(const tfsdk_view *x, int64_t at, double *out) {
  const int64_t k = x->dim[2];
  int64_t best = 0;
  *out = -INFINITY;
  for (int64_t i = 0; i < k; i++) {
    const double v = tfsdk_view_number(x, at + i);
    if (v > *out) {
      best = i;
      *out = v;
    }
  }
  return best;
}

/* Decodes row b; writes the labels unless `out` is NULL, gives how many there are. */
static int64_t decode(const tfsdk_run *r, int64_t b, int64_t blank, int merge, int64_t *out,
                      double *score) {
  const tfsdk_view *x = &r->in[0];
  int64_t n = 0, before = -1;
  *score = 0;
  for (int64_t t = 0; t < ((const int32_t *)r->in[1].data)[b]; t++) {
    double top;
    const int64_t label = largest(x, (t * x->dim[1] + b) * x->dim[2], &top);
    *score -= top;
    if (label != blank && !(merge && label == before)) {
      if (out != NULL) out[n] = label;
      n++;
    }
    before = label;
  }
  return n;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  const int64_t batch = x->dim[1], k = x->dim[2];
  const int merge = tfsdk_attr_int(&r->attr, "merge_repeated") != 0;
  int64_t blank = tfsdk_attr_int(&r->attr, "blank_index"), total = 0, most = 0, dim[2];
  (void)state;
  if (blank < 0) blank += k;
  TFSDK_REQUIRE(r, batch == 0 || (blank >= 0 && blank < k),
                "'blank_index' is %lld for %lld classes",
                (long long)tfsdk_attr_int(&r->attr, "blank_index"), (long long)k);
  for (int64_t b = 0; b < batch; b++) {
    double score;
    TFSDK_TRY(ctc_check_length(r, b, ((const int32_t *)r->in[1].data)[b], x->dim[0]));
    const int64_t n = decode(r, b, blank, merge, NULL, &score);
    nn_store_f(x->dtype, r->out[3].data, b, 1, 1, &score);
    total += n;
    most = n > most ? n : most;
  }
  dim[0] = total;
  dim[1] = 2;
  TFSDK_TRY(r->api->alloc_out(r, 0, 2, dim));
  TFSDK_TRY(r->api->alloc_out(r, 1, 1, dim));
  int64_t *index = (int64_t *)r->out[0].data, *value = (int64_t *)r->out[1].data;
  for (int64_t b = 0; b < batch; b++) {
    double score;
    const int64_t n = decode(r, b, blank, merge, value, &score);
    for (int64_t i = 0; i < n; i++) {
      *index++ = b;
      *index++ = i;
    }
    value += n;
  }
  ((int64_t *)r->out[2].data)[0] = batch;
  ((int64_t *)r->out[2].data)[1] = most;
  return NULL;
}

static const tfsdk_arg in[] = {
    {"inputs", "T", "logits [time, batch, classes]", TFSDK_ARG_NONDIFF, 0},
    {"sequence_length", "int32", "[batch]: how many steps of a row count", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"decoded_indices", "int64", "[labels, 2]: row and place of each label", 0, 0},
    {"decoded_values", "int64", "[labels]", 0, 0},
    {"decoded_shape", "int64", "batch, and the length of the longest row", 0, 0},
    {"log_probability", "T", "[batch, 1]: minus the sum of the largest logits", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"merge_repeated", "bool", "false", "equal neighbours are one label", 0, 0},
    {"blank_index", "int", "-1", "the class that is the blank; negative counts from the end", 0, 0},
    {"T", "dtype{float32,float64}", "float32", "the type of the logits", 0, 0}};
static const char *const samples[] = {"T[4,2,3] ; int32{4,3} | merge_repeated=true",
                                      "float32[4,2,3] ; int32{0,2} | blank_index=0",
                                      "float32[0,0,3] ; int32[0]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("CTCGreedyDecoder", "the best path of CTC logits"),
     .doc =
         "Takes the largest class of each step (of equal ones the first), merges repeats if "
         "`merge_repeated`, and leaves blanks out. A label behind a blank is a label of its own.",
     .in = in, .n_in = 2, .out = out, .n_out = 4, .attr = attr, .n_attr = 3, .infer = infer,
     .reference = compute, .no_grad_reason = "a choice of classes: a step function",
     .samples = samples}};
TFSDK_UNIT_OPS(ctc_greedy_decoder, ops);
