/* NthElement: the n-th smallest (or largest) element of each row, counted from 0. */
#include "order.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  const tfsdk_view *v = array_value(c, 1);
  TFSDK_TRY(array_scalar_arg(c, 1));
  if (x->rank == 0) return TFSDK_FAIL(c, INVALID_ARGUMENT, "'input' is a scalar: it has no rows");
  if (x->rank < 0) return NULL;
  if (v != NULL) {
    int64_t n = tfsdk_view_int(v, 0), last = x->dim[x->rank - 1];
    if (n < 0 || (last >= 0 && n >= last))
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "n = %lld is out of range [0, %lld) for rows of shape %s", (long long)n,
                        (long long)last, tfsdk_shape_text(x).s);
  }
  c->out[0].shape = *x;
  c->out[0].shape.rank--;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t n = x->dim[x->rank - 1], nth = tfsdk_view_int(&r->in[1], 0), *at;
  int falling = tfsdk_attr_int(&r->attr, "reverse") != 0;
  size_t size = tfsdk_dtype_size(x->dtype);
  void *room;
  TFSDK_TRY(r->api->workspace(r, (2 * (size_t)n + 1) * sizeof *at, &room));
  at = (int64_t *)room;
  for (int64_t row = 0; row < r->out[0].n_elem; row++) {
    for (int64_t i = 0; i < n; i++) at[i] = row * n + i;
    array_sort(x, at, n, falling, at + n);
    memcpy((char *)r->out[0].data + (size_t)row * size,
           (const char *)x->data + (size_t)at[nth] * size, size);
  }
  return NULL;
}

/* Elements that tie share equally. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), last = tfsdk_int_scalar(c, -1), in[2], is, ties, share;
  tfsdk_attrval to = tfsdk_a_dtype("DstT", tfsdk_type(c, x).dtype),
                keep = tfsdk_a_bool("keep_dims", 1);
  is = tfsdk_emit2(c, "Equal", x, tfsdk_emit2(c, "ExpandDims", tfsdk_output(g, 0), last));
  is = tfsdk_emit(c, "Cast", &is, 1, &to, 1);
  in[0] = is;
  in[1] = last;
  ties = tfsdk_emit(c, "Sum", in, 2, &keep, 1);
  share = tfsdk_emit2(c, "RealDiv", tfsdk_emit2(c, "ExpandDims", tfsdk_dy(g, 0), last), ties);
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Mul", share, is));
}

static const tfsdk_arg in[] = {{"input", "T", "rank 1 or more; the last axis is searched", 0, 0},
                               {"n", "int32", "scalar: counted from 0", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"values", "T", "input's shape without its last axis", 0, 0}};
static const tfsdk_attrdef attr[] = {{"reverse", "bool", "false", "count from the largest", 0, 0},
                                     {"T", ARRAY_REAL_TYPES, NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[2,5] ; int32(3)", "float32[4] ; int32(0) | reverse=true",
                                      "float32[0,3] ; int32(1)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("NthElement", "the n-th smallest element of each row"),
     .doc = "`reverse` counts from the largest. Elements that tie share the gradient equally.\n\n"
            "Source: TensorFlow `NthElement`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 1, .grad_out = 1, .samples = samples}};
TFSDK_UNIT_OPS(nth_element, ops);
