/* TopKV2: the k largest elements of each row with their positions; of equal ones the first. */
#include "order.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  const tfsdk_view *v = array_value(c, 1);
  tfsdk_shape y = *x;
  TFSDK_TRY(array_scalar_arg(c, 1));
  if (x->rank == 0) return TFSDK_FAIL(c, INVALID_ARGUMENT, "'input' is a scalar: it has no rows");
  if (x->rank < 0) return NULL;
  y.dim[y.rank - 1] = -1;
  if (v != NULL) {
    int64_t k = tfsdk_view_int(v, 0), n = x->dim[x->rank - 1];
    if (k < 0 || (n >= 0 && k > n))
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "k = %lld is out of range [0, %lld] for rows of shape %s", (long long)k,
                        (long long)n, tfsdk_shape_text(x).s);
    y.dim[y.rank - 1] = k;
  }
  c->out[0].shape = c->out[1].shape = y;
  return NULL;
}

static void set_index(const tfsdk_view *y, int64_t i, int64_t at) {
  if (y->dtype == TFSDK_INT16)
    ((int16_t *)y->data)[i] = (int16_t)at;
  else
    array_set_index(y, i, at);
}

/* The k largest of x[first .. first + n), kept in order while the row is read: for small k. */
static void keep_best(const tfsdk_view *x, int64_t first, int64_t n, int64_t k, int64_t *at) {
  int64_t have = 0;
  for (int64_t i = first; i < first + n; i++) {
    int64_t p = have;
    if (have == k && array_compare(x, i, x, at[k - 1]) <= 0) continue;
    if (have < k)
      have++;
    else
      p--;
    for (; p > 0 && array_compare(x, i, x, at[p - 1]) > 0; p--) at[p] = at[p - 1];
    at[p] = i;
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t n = x->dim[x->rank - 1], k = tfsdk_view_int(&r->in[1], 0), rows, *at;
  size_t size = tfsdk_dtype_size(x->dtype);
  void *room;
  if (r->out[0].n_elem == 0) return NULL;
  rows = x->n_elem / n;
  TFSDK_TRY(r->api->workspace(r, 2 * (size_t)n * sizeof *at, &room));
  at = (int64_t *)room;
  for (int64_t row = 0; row < rows; row++) {
    if (k <= 16) {
      keep_best(x, row * n, n, k, at);
    } else {
      for (int64_t i = 0; i < n; i++) at[i] = row * n + i;
      array_sort(x, at, n, 1, at + n);
    }
    for (int64_t i = 0; i < k; i++) {
      memcpy((char *)r->out[0].data + (size_t)(row * k + i) * size,
             (const char *)x->data + (size_t)at[i] * size, size);
      set_index(&r->out[1], row * k + i, at[i] - row * n);
    }
  }
  return NULL;
}

/* Back to the places that the values came from: each row is a gather with one batch axis per axis.
 */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_attrval batch = tfsdk_a_int("batch_dims", -1);
  tfsdk_val in[4];
  if (!tfsdk_has_dy(g, 0)) return NULL;
  in[0] = tfsdk_input(g, 0);
  in[1] = tfsdk_output(g, 1);
  in[2] = tfsdk_int_scalar(c, -1);
  in[3] = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "GatherV2Grad", in, 4, &batch, 1));
}

static const tfsdk_arg in[] = {{"input", "T", "rank 1 or more; the last axis is searched", 0, 0},
                               {"k", "Tk", "scalar: how many", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"values", "T", "[rows..., k]: falling", 0, 0},
                                {"indices", "index_type", "[rows..., k]: their positions", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"sorted", "bool", "true", "has no effect: the results always fall", 0, 0},
    {"T", ARRAY_REAL_TYPES, NULL, "type of the elements", 0, 0},
    {"Tk", "dtype{int16,int32,int64}", "int32", "type of k", 0, 0},
    {"index_type", ARRAY_INDEX_TYPES, "int32", "type of the positions", 0, 0}};
static const char *const samples[] = {"T[2,5] ; int32(3)", "float32[4] ; int32(4)",
                                      "float32[2,3] ; int32(0)",
                                      "nograd float32{1,3,3,2} ; int32(2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("TopKV2", "the k largest elements of each row"),
     .doc =
         "Values fall; of equal elements the one with the lower index comes first; NaN comes last. "
         "The gradient goes to the elements taken.\n\nSource: TensorFlow `TopKV2` (`tf.nn.top_k`).",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute, .grad = grad,
     .grad_out = 2, .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(top_k_v2, ops);
