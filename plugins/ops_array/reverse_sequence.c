/* ReverseSequence: turns the first seq_lengths[b] steps of each sequence b round and leaves the
 * rest. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  int64_t seq = tfsdk_attr_int(&c->attr, "seq_dim"), batch = tfsdk_attr_int(&c->attr, "batch_dim"),
          n;
  tfsdk_shape lengths;
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &lengths));
  if (seq == batch)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "seq_dim and batch_dim are both %lld", (long long)seq);
  c->out[0].shape = *x;
  if (x->rank < 0) return NULL;
  if (seq >= x->rank || batch >= x->rank)
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "seq_dim %lld or batch_dim %lld is out of range for shape %s", (long long)seq,
                      (long long)batch, tfsdk_shape_text(x).s);
  return tfsdk_merge_dim(c, x->dim[batch], lengths.dim[0],
                         "one length for each sequence of the batch", &n);
}

/* x as [outer, a, middle, b, inner], where a and b are the two axes. */
typedef struct job {
  const tfsdk_view *x, *lengths;
  int64_t outer, a, middle, b, inner;
  int batch_first;
} job;

static void write(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  for (int64_t o = 0; o < j->outer; o++) {
    for (int64_t a = 0; a < j->a; a++) {
      for (int64_t m = 0; m < j->middle; m++) {
        for (int64_t b = 0; b < j->b; b++) {
          int64_t n = array_index(j->lengths, j->batch_first ? a : b),
                  step = j->batch_first ? b : a;
          int64_t from = step < n ? n - 1 - step : step;
          int64_t fa = j->batch_first ? a : from, fb = j->batch_first ? from : b;
          array_put(s, j->x, (((o * j->a + fa) * j->middle + m) * j->b + fb) * j->inner, 1,
                    j->inner);
        }
      }
    }
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *lengths = &r->in[1];
  int32_t seq = (int32_t)tfsdk_attr_int(&r->attr, "seq_dim");
  int32_t batch = (int32_t)tfsdk_attr_int(&r->attr, "batch_dim");
  int32_t a = seq < batch ? seq : batch, b = seq < batch ? batch : seq;
  job j = {x, lengths, 0, 0, 0, 0, 0, batch < seq};
  for (int64_t i = 0; i < lengths->n_elem; i++) {
    int64_t n = array_index(lengths, i);
    TFSDK_REQUIRE(r, n >= 0 && n <= x->dim[seq],
                  "seq_lengths[%lld] = %lld is out of range [0, %lld]", (long long)i, (long long)n,
                  (long long)x->dim[seq]);
  }
  j.outer = array_extent(x->dim, 0, a);
  j.a = x->dim[a];
  j.middle = array_extent(x->dim, a + 1, b);
  j.b = x->dim[b];
  j.inner = array_extent(x->dim, b + 1, x->rank);
  return array_write(r, 0, write, &j);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_attrval a[2];
  tfsdk_val in[2];
  a[0] = tfsdk_a_int("seq_dim", tfsdk_attr_int(&g->attr, "seq_dim"));
  a[1] = tfsdk_a_int("batch_dim", tfsdk_attr_int(&g->attr, "batch_dim"));
  in[0] = tfsdk_dy(g, 0);
  in[1] = tfsdk_input(g, 1);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "ReverseSequence", in, 2, a, 2));
}

static const tfsdk_arg in[] = {
    {"input", "T", "rank 2 or more", 0, 0},
    {"seq_lengths", "Tlen", "vector: the length of each sequence, at most the extent of seq_dim",
     TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of input's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"seq_dim", "int", NULL, "the axis of steps", 0, TFSDK_MAX_RANK},
    {"batch_dim", "int", "0", "the axis of sequences", 0, TFSDK_MAX_RANK},
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Tlen", ARRAY_INDEX_TYPES, "int64", "type of seq_lengths", 0, 0}};
static const char *const samples[] = {"T[3,4] ; int32{4,2,0} | seq_dim=1",
                                      "float32[4,2,3] ; int64{1,3} | seq_dim=0;batch_dim=1",
                                      "float32[2,0] ; int32{0,0} | seq_dim=1", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ReverseSequence", "turns the beginnings of sequences round"),
     .doc =
         "The first `seq_lengths[b]` steps of sequence b come out in the opposite order; the rest "
         "stays. Done twice it changes nothing. A length outside 0..extent is an error.\n\n"
         "Source: TensorFlow `ReverseSequence`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 2,
     .samples = samples}};
TFSDK_UNIT_OPS(reverse_sequence, ops);
