/* RandomShuffle: the rows of a tensor in random order.
 *
 *     output[i] = value[p[i]], p a random permutation       (TensorFlow's RandomShuffle)
 *
 * Fisher and Yates' shuffle: of n! orders each is equally likely (up to the bias of draw_below64).
 */
#include "draw.h"

static tfsdk_status *permute(tfsdk_run *r, int64_t n, int64_t *p) {
  draw_stream s;
  TFSDK_TRY(draw_open(r, n, &s));
  for (int64_t i = 0; i < n; i++) p[i] = i;
  for (int64_t i = n - 1; i > 0; i--) {
    uint32_t w[4];
    int64_t j, t = p[i];
    tfsdk_philox(s.key, s.counter + (uint64_t)i, w);
    j = (int64_t)draw_below64(w, (uint64_t)i + 1);
    p[i] = p[j];
    p[j] = t;
  }
  return NULL;
}

/* Strings: rows are runs of offsets and of text. */
static tfsdk_status *move_strings(tfsdk_run *r, int64_t n, int64_t row, const int64_t *p) {
  const tfsdk_view *v = &r->in[0];
  const uint64_t *from = (const uint64_t *)v->data;
  const char *text = (const char *)(from + v->n_elem + 1);
  uint64_t *to, at = 0;
  char *bytes;
  TFSDK_TRY(r->api->alloc_strings(r, 0, v->rank, v->dim, from[v->n_elem] - from[0]));
  to = (uint64_t *)r->out[0].data;
  bytes = (char *)(to + v->n_elem + 1);
  to[0] = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < row; k++) {
      int64_t e = (p != NULL ? p[i] : i) * row + k;
      uint64_t size = from[e + 1] - from[e];
      memcpy(bytes + at, text + from[e], (size_t)size);
      at += size;
      to[i * row + k + 1] = at;
    }
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *v = &r->in[0];
  int64_t n = v->rank > 0 ? v->dim[0] : 1, row = n > 0 ? v->n_elem / n : 0, *p = NULL;
  void *memory;
  size_t bytes;
  (void)state;
  if (n > 1 && row > 0) {
    TFSDK_TRY(r->api->workspace(r, (size_t)n * sizeof *p, &memory));
    p = (int64_t *)memory;
    TFSDK_TRY(permute(r, n, p));
  }
  if (v->dtype == TFSDK_STRING) return move_strings(r, n, row, p);
  bytes = (size_t)row * tfsdk_dtype_size(v->dtype);
  for (int64_t i = 0; i < n && bytes > 0; i++)
    memcpy((char *)r->out[0].data + (size_t)i * bytes,
           (const char *)v->data + (size_t)(p != NULL ? p[i] : i) * bytes, bytes);
  return NULL;
}

static const tfsdk_arg in[] = {{"value", "T", "any tensor; a scalar is passed on", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "its rows in random order", 0, 0}};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"T", "dtype", NULL, "the element type", 0, 0},
};
static const char *const samples[] = {
    "T[5,2] | seed=1; seed2=2",
    "float32[0,3] | seed=1; seed2=2",
    "float32[] | seed=1; seed2=2",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("RandomShuffle", "the rows of a tensor in random order"),
    .doc = "Permutes `value` along its first axis, so that each row appears once. Each order is "
           "equally likely (Fisher and Yates). " DRAW_SEED_DOC,
    .flags = TFSDK_OP_RANDOM | TFSDK_OP_STATEFUL,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = tfsdk_infer_same,
    .reference = compute,
    .no_grad_reason = "the order is not an output: shuffle an index vector and gather with it",
    .samples = samples,
}};
TFSDK_UNIT_OPS(random_shuffle, ops);
