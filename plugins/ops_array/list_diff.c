/* ListDiff: the elements of x that are not in y, in order, with their positions (see distinct.h).
 */
#include "distinct.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 1, &s));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &s));
  c->out[0].shape = c->out[1].shape = tfsdk_shape_vector(-1);
  return NULL;
}

typedef struct left {
  const tfsdk_view *x;
  const int64_t *at;
  int64_t n;
} left;

static void write(array_sink *s, const void *user) {
  const left *l = (const left *)user;
  for (int64_t i = 0; i < l->n; i++) array_put(s, l->x, l->at[i], 1, 1);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  array_items x = {&r->in[0], 1, r->in[0].n_elem, 1}, y = {&r->in[1], 1, r->in[1].n_elem, 1};
  array_table table;
  left l = {&r->in[0], NULL, 0};
  int64_t *at;
  void *room;
  TFSDK_TRY(array_table_begin(r, &y, &table));
  TFSDK_TRY(r->api->workspace(r, ((size_t)x.n + 1) * sizeof *at, &room));
  at = (int64_t *)room;
  for (int64_t i = 0; i < y.n; i++) array_table_find(&table, &y, i, 1);
  for (int64_t i = 0; i < x.n; i++)
    if (array_table_find(&table, &x, i, 0) < 0) at[l.n++] = i;
  l.at = at;
  TFSDK_TRY(array_write_as(r, 0, 1, &l.n, write, &l));
  TFSDK_TRY(array_alloc(r, 1, 1, &l.n));
  for (int64_t i = 0; i < l.n; i++) array_set_index(&r->out[1], i, at[i]);
  return NULL;
}

static const tfsdk_arg in[] = {{"x", "T", "vector", TFSDK_ARG_NONDIFF, 0},
                               {"y", "T", "vector: what to leave out", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"out", "T", "vector: what is in x but not in y", 0, 0},
                                {"idx", "out_idx", "vector: where in x", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"out_idx", ARRAY_INDEX_TYPES, "int32", "type of the positions", 0, 0}};
static const char *const samples[] = {"int32{1,2,3,4,5,6} ; int32{1,3,5}", "T[3] ; T[2]",
                                      "float32{} ; float32{1}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ListDiff", "what is in one list but not in another"),
     .doc = "Keeps order and repetitions of x; `out[i] = x[idx[i]]`.\n\n"
            "Source: TensorFlow `ListDiff` (`tf.setdiff1d`).",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "which elements are equal is a step function", .samples = samples}};
TFSDK_UNIT_OPS(list_diff, ops);
