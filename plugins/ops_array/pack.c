/* Pack: puts N tensors of one shape side by side along a new axis. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape x = tfsdk_shape_unknown(), y;
  int32_t axis = 0;
  for (uint32_t i = 0; i < c->n_in; i++)
    TFSDK_TRY(tfsdk_merge(c, &x, &c->in[i].shape, "all inputs of Pack must have one shape", &x));
  if (x.rank < 0) return NULL;
  TFSDK_TRY(tfsdk_axis(c, tfsdk_attr_int(&c->attr, "axis"), x.rank + 1, &axis));
  if (x.rank == TFSDK_MAX_RANK)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "inputs of shape %s have the highest rank, %d, already",
                      tfsdk_shape_text(&x).s, TFSDK_MAX_RANK);
  y = tfsdk_shape_of_rank(x.rank + 1);
  for (int32_t i = 0; i < y.rank; i++)
    y.dim[i] = i < axis ? x.dim[i] : i == axis ? (int64_t)c->n_in : x.dim[i - 1];
  c->out[0].shape = y;
  return NULL;
}

static void write(array_sink *s, const void *user) {
  const tfsdk_run *r = (const tfsdk_run *)user;
  const tfsdk_view *x = &r->in[0];
  int64_t axis = tfsdk_attr_int(&r->attr, "axis"), outer, inner;
  if (axis < 0) axis += x->rank + 1;
  outer = array_extent(x->dim, 0, (int32_t)axis);
  inner = array_extent(x->dim, (int32_t)axis, x->rank);
  for (int64_t o = 0; o < outer; o++)
    for (uint32_t i = 0; i < r->n_in; i++) array_put(s, &r->in[i], o * inner, 1, inner);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_write(r, 0, write, r); }

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  size_t bytes = g->n_in * sizeof(tfsdk_val);
  tfsdk_val *dx = (tfsdk_val *)g->host->realloc(g->host, NULL, 0, bytes), dy = tfsdk_dy(g, 0);
  tfsdk_attrval a[2];
  tfsdk_status *status = NULL;
  if (dx == NULL) return TFSDK_FAIL(g, RESOURCE_EXHAUSTED, "no memory for %u inputs", g->n_in);
  a[0] = tfsdk_a_int("num", g->n_in);
  a[1] = tfsdk_a_int("axis", tfsdk_attr_int(&g->attr, "axis"));
  tfsdk_emit_n(c, "Unpack", &dy, 1, a, 2, dx, g->n_in);
  for (uint32_t i = 0; i < g->n_in && status == NULL; i++) status = tfsdk_set_dx(g, i, dx[i]);
  g->host->realloc(g->host, dx, bytes, 0);
  return status;
}

static const tfsdk_arg in[] = {{"values", "N*T", "tensors of one shape", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "the values along a new axis of extent N", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"N", "int", NULL, "number of values", 1, 65536},
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"axis", "int", "0", "where the new axis stands; -1: last", 0, 0}};
static const char *const samples[] = {
    "[T[2,3] ; T[2,3]]", "[float32[2,3] ; float32[2,3]] | axis=-1",
    "[float32[] ; float32[] ; float32[]]", "[float32[0]] | axis=1", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Pack", "stacks tensors along a new axis"),
     .doc = "`y[..., i, ...] = values[i][...]`.\n\nSource: TensorFlow `Pack` (`tf.stack`).",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad,
     .samples = samples}};
TFSDK_UNIT_OPS(pack, ops);
