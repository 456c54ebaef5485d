/* SegmentRows: gives each row the value of its segment, rows[k] = x[segment_ids[k]], and zeros
 * where the id is negative. With combiner "mean" ("sqrtn") it is divided by the number of the
 * segment's rows (its root): the gradient of the segment sums and means. */
#include <math.h>
#include "segment.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *ids = &c->in[1].shape;
  tfsdk_shape y;
  if (x->rank == 0) return TFSDK_FAIL(c, INVALID_ARGUMENT, "'x' must have an axis of segments");
  if (x->rank < 0 || ids->rank < 0) return NULL;
  y = *ids;
  if (ids->rank + x->rank - 1 > TFSDK_MAX_RANK)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "the result would have rank %d; %d is the highest",
                      (int)(ids->rank + x->rank - 1), TFSDK_MAX_RANK);
  for (int32_t i = 1; i < x->rank; i++) y.dim[y.rank++] = x->dim[i];
  c->out[0].shape = y;
  return NULL;
}

static void write(array_sink *s, const void *user) {
  const tfsdk_run *r = (const tfsdk_run *)user;
  int64_t inner = array_extent(r->in[0].dim, 1, r->in[0].rank);
  for (int64_t k = 0; k < r->in[1].n_elem; k++) {
    int64_t id = array_index(&r->in[1], k);
    if (id < 0)
      array_put_zeros(s, inner);
    else
      array_put(s, &r->in[0], id * inner, 1, inner);
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *ids = &r->in[1];
  int op = array_combiner(tfsdk_attr_string(&r->attr, "combiner"));
  int64_t segments = x->dim[0], inner = array_extent(x->dim, 1, x->rank), *count;
  array_sum sum;
  void *room;
  for (int64_t k = 0; k < ids->n_elem; k++)
    if (array_index(ids, k) >= segments)
      return array_bad_index(r, "segment_ids", array_index(ids, k), k, segments);
  if (op == ARRAY_SEG_SUM) return array_write(r, 0, write, r);
  if (r->out[0].n_elem == 0) return NULL;
  TFSDK_TRY(r->api->workspace(r, (size_t)segments * sizeof *count, &room));
  count = (int64_t *)room;
  memset(count, 0, (size_t)segments * sizeof *count);
  for (int64_t k = 0; k < ids->n_elem; k++)
    if (array_index(ids, k) >= 0) count[array_index(ids, k)]++;
  TFSDK_TRY(array_sum_begin(r, x->dtype, r->out[0].n_elem, &sum));
  for (int64_t k = 0; k < ids->n_elem; k++) {
    int64_t id = array_index(ids, k);
    if (id < 0) continue;
    array_sum_add(&sum, k * inner, x, id * inner, inner, 1);
    array_sum_divide(&sum, k * inner, inner,
                     op == ARRAY_SEG_MEAN ? (double)count[id] : sqrt((double)count[id]));
  }
  array_sum_end(&sum, &r->out[0]);
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  int op = array_combiner(tfsdk_attr_string(&g->attr, "combiner"));
  tfsdk_typed_shape t = tfsdk_type(c, tfsdk_input(g, 0));
  tfsdk_val ids = tfsdk_input(g, 1), dy = tfsdk_dy(g, 0), zero = tfsdk_int_scalar(c, 0), segments,
            in[4];
  if (t.shape.rank > 0 && t.shape.dim[0] >= 0 && t.shape.dim[0] <= INT32_MAX)
    segments = tfsdk_int_scalar(c, (int32_t)t.shape.dim[0]);
  else
    segments =
        tfsdk_emit3(c, "GatherV2", array_emit_shape(c, tfsdk_input(g, 0), TFSDK_INT32), zero, zero);
  if (op == ARRAY_SEG_SUM)
    return tfsdk_set_dx(g, 0, tfsdk_emit3(c, "UnsortedSegmentSum", dy, ids, segments));
  in[0] = dy;
  in[1] = tfsdk_emit3(c, "Range", zero, tfsdk_emit1(c, "Size", ids), tfsdk_int_scalar(c, 1));
  in[2] = ids;
  in[3] = segments;
  return tfsdk_set_dx(g, 0,
                      tfsdk_emit(c,
                                 op == ARRAY_SEG_MEAN ? "SparseSegmentMeanWithNumSegments"
                                                      : "SparseSegmentSqrtNWithNumSegments",
                                 in, 4, NULL, 0));
}

static const tfsdk_arg in[] = {{"x", "T", "[segments, inner...]", 0, 0},
                               {"segment_ids", "Tindices",
                                "any shape; the segment of each row, or less than 0 for none",
                                TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"rows", "T", "segment_ids.shape + [inner...]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_NUMBER_TYPES, NULL, "type of the elements", 0, 0},
    {"Tindices", ARRAY_INDEX_TYPES, NULL, "type of segment_ids", 0, 0},
    {"combiner", "string{sum,mean,sqrtn}", "sum", "what to divide by: 1, rows, root of rows", 0,
     0}};
static const char *const samples[] = {"T[3,2] ; int32{0,0,2}", "float32[3] ; int64{{1,-1},{1,0}}",
                                      "float32[3,2] ; int32{0,0,2} | combiner=mean",
                                      "float32[3,2] ; int32{0,0,2} | combiner=sqrtn", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SegmentRows", "the value of its segment for each row"),
     .doc =
         "`rows[k] = x[segment_ids[k]]`; zeros for a negative id. With `combiner` mean or sqrtn it "
         "is divided by the number of rows in the segment, or its root. This is the transpose of "
         "the segment sums, and so their gradient.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 2,
     .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(segment_rows, ops);
