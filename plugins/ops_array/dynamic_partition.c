/* DynamicPartition: deals rows out to num_partitions outputs. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *p = &c->in[1].shape;
  tfsdk_shape y = tfsdk_shape_vector(-1);
  int64_t n;
  if (x->rank < 0 || p->rank < 0) return NULL;
  if (p->rank > x->rank)
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "the shape of partitions %s must begin the shape of data %s",
                      tfsdk_shape_text(p).s, tfsdk_shape_text(x).s);
  for (int32_t i = 0; i < p->rank; i++)
    TFSDK_TRY(tfsdk_merge_dim(c, x->dim[i], p->dim[i],
                              "the shape of partitions must begin the shape of data", &n));
  for (int32_t i = p->rank; i < x->rank; i++) {
    if (y.rank == TFSDK_MAX_RANK)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "the results would have a rank above %d",
                        TFSDK_MAX_RANK);
    y.dim[y.rank++] = x->dim[i];
  }
  for (uint32_t i = 0; i < c->n_out; i++) c->out[i].shape = y;
  return NULL;
}

/* The rows of one output: positions order[0 .. n). */
typedef struct job {
  const tfsdk_view *data;
  const int64_t *order;
  int64_t n, inner;
} job;

static void write(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  for (int64_t k = 0; k < j->n; k++) array_put(s, j->data, j->order[k] * j->inner, 1, j->inner);
}

/* Sorts the positions by their partition, by counting: one pass over the rows whatever their
 * number. */
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *p = &r->in[1];
  const int32_t *part = (const int32_t *)p->data;
  job j = {x, NULL, 0, array_extent(x->dim, p->rank, x->rank)};
  int64_t dim[TFSDK_MAX_RANK + 1], *end, *order;
  uint32_t rank = 1;
  void *room;
  TFSDK_TRY(array_check_indices(r, 1, "partitions", r->n_out));
  TFSDK_TRY(r->api->workspace(r, ((size_t)r->n_out + 1 + (size_t)p->n_elem) * sizeof *end, &room));
  end = (int64_t *)room; /* end[i]: where output i ends in order, once all are put there */
  order = end + r->n_out + 1;
  memset(end, 0, ((size_t)r->n_out + 1) * sizeof *end);
  for (int64_t k = 0; k < p->n_elem; k++) end[part[k] + 1]++;
  for (uint32_t o = 0; o < r->n_out; o++) end[o + 1] += end[o];
  for (int64_t k = 0; k < p->n_elem; k++) order[end[part[k]]++] = k;
  for (int32_t i = p->rank; i < x->rank; i++) dim[rank++] = x->dim[i];
  for (uint32_t o = 0; o < r->n_out; o++) {
    int64_t begin = o > 0 ? end[o - 1] : 0;
    j.order = order + begin;
    j.n = dim[0] = end[o] - begin;
    TFSDK_TRY(array_write_as(r, o, rank, dim, write, &j));
  }
  return NULL;
}

/* dx: the pieces put back at the places they were taken from. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  uint32_t n = g->n_out;
  size_t bytes = 4 * (size_t)n * sizeof(tfsdk_val);
  tfsdk_val *v = (tfsdk_val *)g->host->realloc(g->host, NULL, 0, bytes), *places, *zeros;
  tfsdk_val partitions = tfsdk_input(g, 1), numbers, in[2], flat;
  tfsdk_attrval num = tfsdk_a_int("num_partitions", n);
  int missing = 0;
  if (v == NULL)
    return TFSDK_FAIL(g, RESOURCE_EXHAUSTED, "no memory for %u partitions", (unsigned)n);
  places = v;
  zeros = v + 2 * n;
  /* The numbers 0.. in the shape of partitions, dealt out in the same way. */
  flat = tfsdk_emit3(c, "Range", tfsdk_int_scalar(c, 0), tfsdk_emit1(c, "Size", partitions),
                     tfsdk_int_scalar(c, 1));
  numbers = tfsdk_emit2(c, "Reshape", flat, array_shape_of(c, partitions, TFSDK_INT32));
  in[0] = numbers;
  in[1] = partitions;
  tfsdk_emit_n(c, "DynamicPartition", in, 2, &num, 1, places, n);
  for (uint32_t i = 0; i < n; i++) missing |= !tfsdk_has_dy(g, i);
  if (missing) {
    in[0] = tfsdk_emit1(c, "ZerosLike", tfsdk_input(g, 0));
    tfsdk_emit_n(c, "DynamicPartition", in, 2, &num, 1, zeros, n);
  }
  for (uint32_t i = 0; i < n; i++) v[n + i] = tfsdk_has_dy(g, i) ? tfsdk_dy(g, i) : zeros[i];
  flat = tfsdk_emit(c, "DynamicStitch", v, 2 * n, NULL, 0);
  g->host->realloc(g->host, v, bytes, 0);
  return tfsdk_set_dx(g, 0, array_reshape_like(c, flat, tfsdk_input(g, 0)));
}

static const tfsdk_arg in[] = {
    {"data", "T", "its shape begins with the shape of partitions", 0, 0},
    {"partitions", "int32", "any shape: the output that each row goes to", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"outputs", "num_partitions*T", "[rows] + data.shape[partitions.rank:], in order", 0, 0}};
static const tfsdk_attrdef attr[] = {{"num_partitions", "int", NULL, "number of outputs", 1, 65536},
                                     {"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[4,3] ; int32{1,0,1,1} | num_partitions=2",
                                      "float32[2,2] ; int32{{0,2},{2,0}} | num_partitions=3",
                                      "float32[0,2] ; int32{} | num_partitions=2", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DynamicPartition", "deals rows out to several outputs"),
     .doc = "Row `data[k]` goes to output `partitions[k]`, where rows keep their order. A number "
            "outside "
            "0..num_partitions-1 is an error.\n\nSource: TensorFlow `DynamicPartition`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 2,
     .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(dynamic_partition, ops);
